"""Where the events and arrows of a space-time diagram stand: rows for events, tracks for messages under way.

Rows follow one order in which everything may have happened, the times where there are some. Events that do not get in
each other's way share a row. A message that cannot go straight across runs down a track beside its sender until it is
delivered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from precedes.core.execution import Event, EventKind, Execution

EventPlace: TypeAlias = tuple[int, int]
"""The place of an entity in the cluster and of an event in its history, from 0."""


class Side(Enum):
    """On which side of its sender's lifeline an arrow leaves."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A message on its way from a sender, on one side: `ends` are receivers with the rows of their deliveries.

    `track`: its number in the gutter beside the sender; None where the arrow goes straight across. `is_open`: a
    destination on this side never delivers it; the sender itself is none.
    """

    message: str
    sender: int
    row: int
    side: Side
    ends: tuple[tuple[int, int], ...]
    is_open: bool
    track: int | None


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows from 0; `tracks` is how many run in the gutter to the right of each entity. `kept_back` are the sends of
    what is addressed to its own sender and never delivered there: no arrow stands for that.
    """

    rows: Mapping[EventPlace, int]
    arrows: tuple[Arrow, ...]
    tracks: tuple[int, ...]
    height: int
    kept_back: frozenset[EventPlace]


def laid_out(execution: Execution) -> Layout:
    """The layout of an execution."""
    return _Laying(execution).layout()


class _Laying:
    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.entities = {entity: place for place, entity in enumerate(execution.entities)}
        self.rows: dict[EventPlace, int] = {}
        self.sent: dict[str, EventPlace] = {}
        self.taken: dict[tuple[int, int], set[str]] = {}
        """What stands in a row and gutter: the message of the event or line there."""
        self.crossed: set[tuple[int, int]] = set()
        """Rows and entities whose lifeline is crossed there, where no event may stand."""

    def layout(self) -> Layout:
        following = [0] * len(self.entities)
        earliest = 0
        for place, event, is_later in ordered(self.execution):
            entity = place[0]
            if is_later:
                earliest = max(self.rows.values()) + 1
            row = max(following[entity], earliest)
            origin = self._origin(event)
            if origin is not None:
                row = max(row, self.rows[origin] + (origin[0] == entity))
            while not self._free(row, entity, event, origin):
                row += 1
            self._take(row, entity, event, origin)
            self.rows[place] = row
            following[entity] = row + 1
            if event.kind is EventKind.SEND and event.message is not None:
                self.sent.setdefault(event.message, place)
        height = max(self.rows.values(), default=-1) + 1
        arrows, tracks = self._arrows(height)
        return Layout(self.rows, tuple(arrows), tracks, height, self._kept_back())

    def _kept_back(self) -> frozenset[EventPlace]:
        return frozenset(
            place
            for name, place in self.sent.items()
            if self.execution.entities[place[0]] in (self.execution.messages[name].destinations or ())
            and place[0] not in {entity for entity, _ in self._deliveries(name)}
        )

    def _origin(self, event: Event) -> EventPlace | None:
        """The send that an arrow comes from."""
        if event.kind is not self.execution.delivery or event.message is None:
            return None
        return self.sent.get(event.message)

    def _span(self, entity: int, origin: EventPlace) -> range:
        """The gutters that a line from the track of a sender to an entity goes through."""
        sender = origin[0]
        if entity > sender:
            return range(sender, entity)
        return range(entity, sender) if entity < sender else range(sender, sender + 1)

    def _free(self, row: int, entity: int, event: Event, origin: EventPlace | None) -> bool:
        name = event.message or event.kind.value
        gutters = {entity, *(self._span(entity, origin) if origin is not None else ())}
        if any(self.taken.get((row, gutter), {name}) != {name} for gutter in gutters):
            return False
        if (row, entity) in self.crossed:
            return False
        between = self._between(entity, origin)
        return not any(at == row and place[0] in between for place, at in self.rows.items())

    def _between(self, entity: int, origin: EventPlace | None) -> range:
        if origin is None:
            return range(0)
        return range(min(entity, origin[0]) + 1, max(entity, origin[0]))

    def _take(self, row: int, entity: int, event: Event, origin: EventPlace | None) -> None:
        name = event.message or event.kind.value
        for gutter in {entity, *(self._span(entity, origin) if origin is not None else ())}:
            self.taken.setdefault((row, gutter), set()).add(name)
        self.crossed |= {(row, k) for k in self._between(entity, origin)}

    def _arrows(self, height: int) -> tuple[list[Arrow], tuple[int, ...]]:
        busy: dict[tuple[int, int], int] = {}
        """The last row of what runs in a gutter's track."""
        counts = [0] * max(1, len(self.entities))
        arrows: list[Arrow] = []
        for name, place in sorted(self.sent.items(), key=lambda item: self.rows[item[1]]):
            for side in Side:
                arrow = self._arrow(name, place, side, height, busy, counts)
                if arrow is not None:
                    arrows.append(arrow)
        return arrows, tuple(counts)

    def _arrow(
        self,
        name: str,
        place: EventPlace,
        side: Side,
        height: int,
        busy: dict[tuple[int, int], int],
        counts: list[int],
    ) -> Arrow | None:
        sender, row = place[0], self.rows[place]
        ends = tuple(
            (entity, at) for entity, at in self._deliveries(name) if (entity < sender) is (side is Side.LEFT)
        )
        to = self.execution.messages[name].destinations or frozenset()
        missing = [
            k
            for entity in to
            if (k := self.entities.get(entity)) is not None
            and k != sender
            and (k < sender) is (side is Side.LEFT)
            and k not in {entity for entity, _ in ends}
        ]
        if not ends and not missing:
            return None
        if not missing and all(at == row for _, at in ends):
            return Arrow(name, sender, row, side, ends, is_open=False, track=None)
        last = height if missing else max(at for _, at in ends)
        gutter = sender if side is Side.RIGHT else sender - 1
        track = 0
        while busy.get((gutter, track), -1) >= row:
            track += 1
        busy[gutter, track] = last
        counts[gutter] = max(counts[gutter], track + 1)
        return Arrow(name, sender, row, side, ends, bool(missing), track)

    def _deliveries(self, name: str) -> Iterator[tuple[int, int]]:
        for entity, history in enumerate(self.execution.histories):
            for number, event in enumerate(history.events):
                if event.kind is self.execution.delivery and event.message == name:
                    yield entity, self.rows[entity, number]
                    break


def ordered(execution: Execution) -> Iterator[tuple[EventPlace, Event, bool]]:
    """The events in one order in which they may have happened: by time, else each message soon after its send; and
    whether one is known to be later than what came before, so that it stands below all of it.

    Of a history whose interleaving is not known the sends come first. What could never come (a delivery before its
    send) comes last, in the order of its history.
    """
    heads = [0] * len(execution.histories)
    logged = {
        e.message for history in execution.histories for e in history.events if e.kind is EventKind.SEND
    }
    sent: set[str | None] = set()
    time: int | None = None
    while True:
        open_ = [
            (entity, history.events[heads[entity]])
            for entity, history in enumerate(execution.histories)
            if heads[entity] < len(history.events)
        ]
        if not open_:
            return
        ready = [
            (entity, event)
            for entity, event in open_
            if event.kind
            in (
                EventKind.SEND,
                EventKind.CRASH,
                EventKind.RECOVER,
                EventKind.VIEW,
                EventKind.LOCAL,
            )
            or event.message in sent
            or event.message not in logged
        ] or open_
        entity, event = min(
            ready,
            key=lambda item: (
                item[1].time if item[1].time is not None else -1,
                item[1].kind is EventKind.SEND,
                item[0],
            ),
        )
        yield (
            (entity, heads[entity]),
            event,
            event.time is not None and time is not None and event.time > time,
        )
        time = time if event.time is None else event.time
        heads[entity] += 1
        if event.kind is EventKind.SEND:
            sent.add(event.message)
