"""Executions drawn as text, as the papers draw logs, with the places of a witness marked.

A figure shows send and receipt logs if only these are known or if the witness concerns nothing else, and
histories otherwise. Its lines are those of the language, so that a figure can be pasted into a .prec file;
the marks are in comments. A figure that is too large for a page is cut to what the witness concerns, with
`...` for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from precedes.core.execution import Event, EventKind, Execution, History
from precedes.core.formula import GroupNamed
from precedes.core.printable import columns
from precedes.core.traversal import walk
from precedes.core.witness import Witness
from precedes.language.printer import BETWEEN_LOGS, carried_text
from precedes.language.quoting import written
from precedes.language.scenario_printer import carried, view_name
from precedes.reports.places import (
    Place,
    needs_histories,
    place_of,
    places,
    speaks_of_crashes,
    speaks_of_views,
)
from precedes.reports.prose.sentence import sentence
from precedes.reports.prose.times import Clock, clock_of

__all__ = ["figure", "sentence"]

WIDTH: Final = 100
"""The longest line of a figure that is not cut."""
ENTITIES: Final = 8
"""The largest cluster that is drawn with the entities that a witness does not concern."""


def figure(execution: Execution, witness: Witness | None = None, *, whole: bool = False) -> str:
    """Draw an execution; with a witness, the places that it is about are underlined. A `whole` figure is not cut,
    however large it is.
    """
    return "\n".join(_Drawing(execution, witness, whole).lines())


@dataclass(frozen=True, slots=True)
class _Entry:
    """One event in a line. `kept` where it stays when the line is cut."""

    text: str
    marked: bool = False
    kept: bool = False


@dataclass(slots=True)
class _Line:
    """One log or history: its label, its entries, and after layout its text with the marks below it.

    `is_lacking` where something that the witness is about is not in it; the mark is then below the end.
    """

    label: str
    entries: Sequence[_Entry]
    text: str = ""
    carets: str = ""
    is_cut: bool = False
    is_lacking: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether a part of the line stays in any case."""
        return self.is_lacking or any(entry.kept for entry in self.entries)

    def lay_out(self, width: int | None) -> None:
        """Write the line, cut where it is wider than `width`."""
        shown: list[_Entry] = list(self.entries)
        if (
            width is not None
            and columns(self.label) + 7 + sum(columns(entry.text) + 1 for entry in shown) > width
        ):
            shown = self._cut()
            self.is_cut = True
        self.text = f"{self.label}: <"
        self.carets = " " * columns(self.text)
        for entry in shown:
            self.text += f" {entry.text}"
            self.carets += f" {('^' if entry.marked else ' ') * columns(entry.text)}"
        self.text += " ]"
        self.carets = f"{self.carets} {'^' if self.is_lacking else ' '}".rstrip()

    def _cut(self) -> list[_Entry]:
        last = len(self.entries) - 1
        wanted = {n + step for n, entry in enumerate(self.entries) if entry.kept for step in (-1, 0, 1)}
        wanted = wanted or {0, 1, 2, last}
        shown: list[_Entry] = []
        before = -1
        for n in sorted(n for n in wanted if 0 <= n <= last):
            if n != before + 1:
                shown.append(_Entry("..."))
            shown.append(self.entries[n])
            before = n
        if before != last:
            shown.append(_Entry("..."))
        return shown


@dataclass(slots=True)
class _Drawing:
    execution: Execution
    witness: Witness | None
    whole: bool
    marked: frozenset[Place] = field(init=False)
    clock: Clock = field(init=False)
    timed: bool = field(init=False)
    numbered: bool = field(init=False)
    selective: bool = field(init=False)

    def __post_init__(self) -> None:
        self.marked = frozenset() if self.witness is None else places(self.execution, self.witness)
        self.clock = clock_of(self.execution)
        self.timed = self.witness is None or needs_histories(self.witness)
        entities = self.execution.entities
        everybody = frozenset(entities)
        self.selective = any(
            m.logged and (m.destinations != everybody or m.groups) for m in self.execution.messages.values()
        )
        self.numbered = all(entity == f"E{place}" for place, entity in enumerate(entities, start=1))

    def lines(self) -> list[str]:
        """The figure, line by line."""
        rows = {history.entity: self._row(history) for history in self.execution.histories}
        every = len(rows)
        large = (not self.whole and every > ENTITIES) or any(
            line.is_cut for row in rows.values() for line in row
        )
        if large and self.witness is not None:
            rows = self._concerned(rows)
        drawn = [] if self.numbered else ["cluster " + " ".join(map(written, self.execution.entities))]
        drawn += self._groups()
        pairs = [row for row in rows.values() if len(row) == 2]
        beside = max((columns(row[0].text) for row in pairs), default=0) + BETWEEN_LOGS
        side_by_side = beside + max((columns(row[1].text) for row in pairs), default=0) <= WIDTH
        for row in rows.values():
            if len(row) == 2 and side_by_side:
                drawn += _line(*(line.text for line in row), at=beside)
                drawn += _line(*(line.carets for line in row), at=beside)
            else:
                for line in row:
                    drawn += [*_line(line.text), *_line(line.carets)]
        if len(rows) < every:
            drawn.append(f"# {every - len(rows)} more of the cluster's {every} entities")
        return drawn

    def _groups(self) -> list[str]:
        """The groups that a message is addressed to, or the witness names."""
        named = {group for message in self.execution.messages.values() for group in message.groups}
        for fact in () if self.witness is None else self.witness.facts:
            named |= {node.name for node in walk(fact.formula) if isinstance(node, GroupNamed)}
        return [
            f"group {written(group)}:" + "".join(f" {member}" for member in self._members(members))
            for group, members in self.execution.groups.items()
            if group in named
        ]

    def _concerned(self, rows: Mapping[str, Sequence[_Line]]) -> dict[str, Sequence[_Line]]:
        """The lines that show something of the witness, of the entities that it is about."""
        about = {*(self.witness.entities if self.witness else ()), *(entity for entity, _, _ in self.marked)}
        kept = {entity: [line for line in rows[entity] if line.is_kept] for entity in rows if entity in about}
        return {entity: row or rows[entity][:1] for entity, row in kept.items()} or dict(rows)

    def _row(self, history: History) -> Sequence[_Line]:
        if (history.interleaved and self.timed) or self._stops(history):
            events = [self._event(event, history) for event in history.events]
            row = [self._line("H", history, events, tuple(EventKind))]
        else:
            row = [self._receipt_log(history), self._send_log(history)]
        for line in row:
            line.lay_out(None if self.whole else WIDTH)
        return row

    def _stops(self, history: History) -> bool:
        """Whether a log would leave out a crash, a recovery or a view that the witness may be about."""
        if self.witness is None:
            return False
        kinds = {EventKind.CRASH, EventKind.RECOVER} if speaks_of_crashes(self.witness) else set()
        kinds |= {EventKind.VIEW} if speaks_of_views(self.witness) else set()
        return any(event.kind in kinds for event in history.events)

    def _line(
        self, log: str, history: History, entries: Sequence[_Entry], kinds: Sequence[EventKind]
    ) -> _Line:
        entity = history.entity
        label = f"{log}{entity[1:]}" if self.numbered else f"{log}[{written(entity)}]"
        there = {place_of(entity, event) for event in history.events}
        wanted = {place for place in self.marked if place[0] == entity and place[1] in kinds}
        return _Line(label, entries, is_lacking=not wanted <= there)

    def _receipt_log(self, history: History) -> _Line:
        delivery = self.execution.delivery
        entries = [self._about(event, history) for event in history.events if event.kind is delivery]
        mark = self.execution.marks.get(history.entity)
        if mark is not None:
            entries.insert(mark, _Entry("||", kept=True))
        return self._line("RL", history, entries, (delivery,))

    def _send_log(self, history: History) -> _Line:
        entries = [self._about(event, history) for event in history.events if event.kind is EventKind.SEND]
        return self._line("SL", history, entries, (EventKind.SEND,))

    def _event(self, event: Event, history: History) -> _Entry:
        match event.kind:
            case EventKind.SEND:
                return self._about(event, history, "!")
            case EventKind.DELIVER:
                return self._about(event, history, "?")
            case EventKind.ARRIVE | EventKind.DISCARD | EventKind.ACK | EventKind.NACK:
                return self._about(event, history, f"{event.kind.value}(", ")")
            case EventKind.CRASH | EventKind.RECOVER | EventKind.LOCAL:
                return _Entry(event.kind.value + self._time(event))
            case EventKind.VIEW:
                return self._view(event, history)
            case _:
                assert_never(event.kind)

    def _view(self, event: Event, history: History) -> _Entry:
        marked = place_of(history.entity, event) in self.marked
        name = view_name(self.execution, event)
        text = f"view{'' if name is None else f' {written(name.text)}'}{self._set(event.members)}"
        return _Entry(text + self._time(event), marked, marked)

    def _about(self, event: Event, history: History, opening: str = "", closing: str = "") -> _Entry:
        """The entry of an event that is about a message."""
        message = event.message or ""
        text = f"{opening}{written(message)}{closing}"
        if event.kind is EventKind.SEND:
            destinations = self.execution.messages[message].destinations
            if self.selective and destinations is not None:
                text += self._set(destinations, self.execution.messages[message].groups)
        if event.kind is EventKind.SEND or not self.execution.messages[message].logged:
            text += carried_text(carried(self.execution.messages[message].attributes))
        text += carried_text(carried(event.attributes))
        marked = (history.entity, event.kind, message) in self.marked
        about = self.witness is not None and message in self.witness.messages
        return _Entry(text + self._time(event), marked, marked or about)

    def _time(self, event: Event) -> str:
        return self.clock.mark(event.time) if self.timed and event.time is not None else ""

    def _set(self, entities: Iterable[str], groups: Iterable[str] = ()) -> str:
        named = [f"group:{written(group)}" for group in sorted(groups)]
        return "{" + ",".join((*self._members(entities), *named)) + "}"

    def _members(self, entities: Iterable[str]) -> list[str]:
        """Entities by their places where the cluster is E1, E2 and so on, by name otherwise."""
        members = set(entities)
        return [
            str(place) if self.numbered else written(entity)
            for place, entity in enumerate(self.execution.entities, start=1)
            if entity in members
        ]


def _line(left: str, right: str = "", *, at: int = 0) -> list[str]:
    """One line of two columns, or none where both are empty; marks become a comment of the language."""
    text = f"{left}{' ' * (at - columns(left))}{right}".rstrip()
    if text and not text.strip(" ^"):
        text = "#" + text[1:]
    return [text] if text else []
