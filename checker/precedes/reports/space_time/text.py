"""Space-time diagrams as text: a lifeline for each entity, time from top to bottom, an arrow from every send to every
delivery of its message.

    E1               E2           E3
    │                │            │
    ● a{3} ─╮        │            │
    ● b{2} ─┼──────▶ ● b          │
    │       │        ● c{3} ────▶ ● c
    │       ╰─────────────────────▶ ● a

`layout` says what is laid out where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from precedes.core.execution import Event, EventKind, Execution
from precedes.core.printable import columns as width
from precedes.language.quoting import written
from precedes.language.scenario_printer import view_name
from precedes.reports.places import Place, place_of
from precedes.reports.prose.times import clock_of
from precedes.reports.space_time.layout import Arrow, Layout, Side, laid_out

_UP, _RIGHT, _DOWN, _LEFT = 1, 2, 4, 8
_STROKES: Final = {
    _UP: "╵",
    _DOWN: "╷",
    _LEFT: "╴",
    _RIGHT: "╶",
    _UP | _DOWN: "│",
    _LEFT | _RIGHT: "─",
    _UP | _RIGHT: "╰",
    _UP | _LEFT: "╯",
    _DOWN | _RIGHT: "╭",
    _DOWN | _LEFT: "╮",
    _UP | _DOWN | _RIGHT: "├",
    _UP | _DOWN | _LEFT: "┤",
    _LEFT | _RIGHT | _DOWN: "┬",
    _LEFT | _RIGHT | _UP: "┴",
    _UP | _RIGHT | _DOWN | _LEFT: "┼",
}


def diagram(
    execution: Execution, marked: frozenset[Place] = frozenset(), loop: frozenset[Place] = frozenset()
) -> str:
    """Draw an execution; events at the places `marked` have another dot. What is never delivered is an arrow that ends
    below the last event, at a cross; a cross beside a send is of what the sender does not deliver itself. Lifelines are
    heavy from the first event on that is in a `loop`.
    """
    return "\n".join(_Canvas(execution, laid_out(execution), marked, loop).lines())


def label(
    execution: Execution, event: Event, name: Callable[[str], str] = written, most: int | None = None
) -> str:
    """What stands beside the dot of an event; nothing beside a local one, but for its time.

    `name` writes ids. Of destinations or members that take more than `most` characters only the first are written.
    """
    everybody = frozenset(execution.entities)
    if event.kind is EventKind.VIEW:
        view = view_name(execution, event)
        text = "view" if view is None else f"view {name(view.text)}"
        text += _set([_place(execution, member, name) for member in event.members], most)
    elif event.kind is EventKind.LOCAL:
        text = ""
    elif event.message is None:
        text = event.kind.value
    elif event.kind is EventKind.SEND:
        to = execution.messages[event.message].destinations
        groups = execution.messages[event.message].groups
        text = name(event.message)
        if to is not None and (groups or to != everybody):
            named = [f"group:{name(group)}" for group in sorted(groups)]
            places = [_place(execution, entity, name) for entity in execution.entities if entity in to]
            text += _set([*places, *named], most, len(to - everybody))
    elif event.kind is execution.delivery:
        text = name(event.message)
    else:
        text = f"{event.kind.value}({name(event.message)})"
    return text if event.time is None else text + clock_of(execution).mark(event.time)


def _set(names: Sequence[str], most: int | None, others: int = 0) -> str:
    """`{1,2,3}`, or `{1,2,+7}` where the names take too much room, or others are not in the picture."""
    kept = len(names)
    if most is not None and sum(map(len, names)) > most:
        kept = max(1, sum(end <= most for end in accumulate(len(name) + 1 for name in names)))
    more = len(names) - kept + others
    return "{" + ",".join([*names[:kept], *([f"+{more}"] if more else [])]) + "}"


def _place(execution: Execution, entity: str, name: Callable[[str], str]) -> str:
    """As figures write destinations: the number where the cluster is E1, E2 and so on, the name otherwise."""
    numbered = all(other == f"E{place}" for place, other in enumerate(execution.entities, start=1))
    return entity[1:] if numbered else name(entity)


def _cells(text: str) -> list[str]:
    """A text cell by cell: marks with the character that they are on, nothing in the second cell of a wide one."""
    cells: list[str] = []
    for character in text:
        taken = width(character)
        if not taken and cells:
            cells[-1] += character
        cells += [character, ""][:taken]
    return cells


class _Canvas:
    """Cells of strokes and of text, row by row."""

    def __init__(
        self, execution: Execution, layout: Layout, marked: frozenset[Place], loop: frozenset[Place]
    ) -> None:
        self.execution = execution
        self.marked = marked
        self.loop = loop
        self.layout = layout
        self.strokes: dict[tuple[int, int], int] = {}
        self.texts: dict[tuple[int, int], str] = {}
        self.labels = {
            place: label(execution, execution.histories[place[0]].events[place[1]])
            + (" ×" if place in layout.kept_back else "")
            for place in layout.rows
        }
        self.names = [written(entity) for entity in execution.entities]
        self.columns = self._columns()
        self.height = layout.height

    def _columns(self) -> list[int]:
        """Where the lifelines are: each as far from the one before as names, labels and tracks need."""
        columns = [0] if self.names else []
        for entity, name in enumerate(self.names[:-1]):
            texts = [width(self.labels[place]) for place in self.layout.rows if place[0] == entity]
            inner = max(texts, default=0) + 3
            tracks = self.layout.tracks[entity]
            columns.append(columns[-1] + max(width(name) + 3, inner + 2 * tracks + 4))
        return columns

    def _track(self, gutter: int, number: int) -> int:
        if gutter < 0:
            return -2 - 2 * number
        return self._after_labels(gutter) + 2 * number

    def _after_labels(self, entity: int) -> int:
        texts = [width(self.labels[place]) for place in self.layout.rows if place[0] == entity]
        return self.columns[entity] + max(texts, default=0) + 4

    def lines(self) -> list[str]:
        """The diagram, line by line."""
        for entity in range(len(self.columns)):
            for row in range(-1, self.height):
                self._stroke(row, self.columns[entity], _UP | _DOWN)
        for arrow in self.layout.arrows:
            self._draw(arrow)
        for (entity, number), row in self.layout.rows.items():
            column = self.columns[entity]
            self.texts[row, column] = self._sign(entity, number)
            for k, cell in enumerate(_cells(self.labels[entity, number])):
                self.texts[row, column + 2 + k] = cell
        self._draw_loop()
        names = ""
        for column, name in zip(self.columns, self.names, strict=True):
            names += " " * (column - width(names)) + name
        return [names, *(self._line(row) for row in range(-1, self.height + (1 if self._open() else 0)))]

    def _draw_loop(self) -> None:
        """The lifelines of what goes on for ever, where nothing crosses them."""
        first: dict[int, int] = {}
        for (entity, number), row in self.layout.rows.items():
            history = self.execution.histories[entity]
            if place_of(history.entity, history.events[number]) in self.loop:
                first[entity] = min(row, first.get(entity, row))
        for entity, begin in first.items():
            column = self.columns[entity]
            for row in range(begin, self.height):
                if self.strokes.get((row, column)) == _UP | _DOWN:
                    self.texts.setdefault((row, column), "┃")
            self.texts[self.height, column] = "↻"

    def _sign(self, entity: int, number: int) -> str:
        if self.execution.histories[entity].events[number].kind is EventKind.LOCAL:
            return "∙"
        return "◆" if self._is_marked(entity, number) else "●"

    def _is_marked(self, entity: int, number: int) -> bool:
        history = self.execution.histories[entity]
        event = history.events[number]
        return place_of(history.entity, event) in self.marked

    def _open(self) -> bool:
        return any(row == self.height for row, _ in self.texts)

    def _line(self, row: int) -> str:
        cells = [column for r, column in (*self.strokes, *self.texts) if r == row]
        return "".join(
            self.texts[row, column]
            if (row, column) in self.texts
            else _STROKES.get(self.strokes.get((row, column), 0), " ")
            for column in range(max(cells, default=-1) + 1)
        ).rstrip()

    def _stroke(self, row: int, column: int, bits: int) -> None:
        self.strokes[row, column] = self.strokes.get((row, column), 0) | bits

    def _across(self, row: int, start: int, stop: int) -> None:
        """A stroke from a full cell to the middle of another, either way."""
        step = 1 if start < stop else -1
        for column in range(start, stop, step):
            self._stroke(row, column, _LEFT | _RIGHT)
        self._stroke(row, stop, _LEFT if step > 0 else _RIGHT)

    def _draw(self, arrow: Arrow) -> None:
        start = self._beside(arrow.sender, arrow.row, arrow.side)
        if arrow.track is None:
            self._stroke(arrow.row, start, _LEFT | _RIGHT)
            for receiver, row in arrow.ends:
                self._head(receiver, row, start)
            return
        gutter = arrow.sender if arrow.side is Side.RIGHT else arrow.sender - 1
        column = self._track(gutter, arrow.track)
        self._across(arrow.row, start, column)
        last = max([row for _, row in arrow.ends] + ([self.height] if arrow.is_open else []))
        for row in range(arrow.row, last + 1):
            up, down = row > arrow.row, row < last
            self._stroke(row, column, (_UP if up else 0) | (_DOWN if down else 0))
        if arrow.is_open:
            self.texts[self.height, column] = "×"
        for receiver, row in arrow.ends:
            self._head(receiver, row, column)

    def _beside(self, entity: int, row: int, side: Side) -> int:
        """Where a line from an event begins: after its label to the right, before its dot to the left."""
        if side is Side.LEFT:
            return self.columns[entity] - 2
        texts = [
            width(self.labels[place])
            for place, at in self.layout.rows.items()
            if at == row and place[0] == entity
        ]
        return self.columns[entity] + max(texts, default=0) + 3

    def _head(self, receiver: int, row: int, column: int) -> None:
        """A line from a column to the event of a receiver, with its head."""
        if column < self.columns[receiver]:
            end = self.columns[receiver] - 2
            self._across(row, end, column)
            self.texts[row, end] = "▶"
        else:
            end = self._beside(receiver, row, Side.RIGHT)
            self._across(row, end, column)
            self.texts[row, end] = "◀"
