"""The order of events by recorded vector clocks, on columns.

The clock of an event counts, for each entity, the events that this event knows of. An event is *counted* if its own
clock counts it. Then every event whose clock has at least this count for its entity came after it. Not every clock
counts every kind of event: a clock that counts only sends does not change at deliveries. So a kind of event is counted
in an execution if no event of the kind has a count of 0 for its own entity, and if none shares its count with another
event that has a better claim to it.

For a counted event e of entity k and another event f with a clock, e comes before f exactly if V(e)[k] <= V(f)[k]. If
every event is counted, that is V(e) < V(f) (CMD paper, Lemma 4). `compared` finds where the clocks disagree with the
order of rows, and what they add to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.core.execution import EventKind

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]

_NONE: Final = -1
"""No event, or no place."""

_PREFERENCE: Final = {
    kind: place
    for place, kind in enumerate(
        (
            EventKind.SEND,
            EventKind.DELIVER,
            EventKind.LOCAL,
            EventKind.ARRIVE,
            EventKind.DISCARD,
            EventKind.ACK,
            EventKind.NACK,
            EventKind.CRASH,
            EventKind.RECOVER,
            EventKind.VIEW,
        )
    )
}
"""Of two events of an entity with one count for it, the clock counts the one whose kind comes first here."""

_RANK: Final = np.array([_PREFERENCE[kind] for kind in EventKind], np.int64)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks recorded with events, aligned with the events of a batch.

    recorded             events      whether the event has a clock; one without components is a clock of zeros
    counted              events      whether the clock is known to count the event itself
    offsets              events + 1
    entities                         local entities, ascending; those left out count 0
    counts
    """

    recorded: Bool
    counted: Bool
    offsets: Int64
    entities: Int32
    counts: Int64


@dataclass(frozen=True, slots=True)
class ClockEdges:
    """What recorded clocks say of the order of events beyond the order of rows, aligned with the events of a batch.

    offsets              events + 1
    earlier                          events, by their numbers in the batch, that happened before
    """

    offsets: Int64
    earlier: Int64


@dataclass(frozen=True, slots=True)
class Histories:
    """The events of some executions, in columns as those of a batch.

    entity_offsets       E + 1
    event_offsets        N + 1
    event_kind           events
    source               events      the send that a delivery is of, by its number; -1 where there is none
    """

    entity_offsets: Int64
    event_offsets: Int64
    event_kind: Int8
    source: Int64

    @property
    def entity(self) -> Int64:
        """The entity of each event, by its number over all executions."""
        return np.repeat(np.arange(len(self.event_offsets) - 1), np.diff(self.event_offsets))

    @property
    def execution(self) -> Int64:
        """The execution of each entity."""
        return np.repeat(np.arange(len(self.entity_offsets) - 1), np.diff(self.entity_offsets))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Events `first` and `second`, by their numbers."""

    first: Int64
    second: Int64

    def where(self, kept: Bool) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.first[kept], self.second[kept])

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(np.append(self.first, other.first), np.append(self.second, other.second))


NO_PAIRS: Final = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(frozen=True, slots=True)
class Compared:
    """The clocks beside the order of rows.

    within    pairs of one entity whose rows are in an order that their clocks contradict
    across    pairs of which the first comes before the second, by the rows or by one clock, while the clocks as
              a whole say otherwise
    edges     what the clocks say beyond the rows: who comes before each event
    """

    within: Pairs
    across: Pairs
    edges: ClockEdges


def histories(
    entity_offsets: Int64,
    message_offsets: Int64,
    event_offsets: Int64,
    event_kind: Int8,
    event_message: Int32,
    delivery: EventKind,
) -> Histories:
    """The events of a batch, from its columns."""
    kinds = list(EventKind)
    execution = np.repeat(np.arange(len(entity_offsets) - 1), np.diff(event_offsets[entity_offsets]))
    message = np.where(event_message >= 0, event_message + message_offsets[execution], 0)
    sends = np.flatnonzero(event_kind == kinds.index(EventKind.SEND))
    send = np.full(max(1, int(message_offsets[-1])), _NONE, np.int64)
    send[message[sends[::-1]]] = sends[::-1]
    receipts = (event_kind == kinds.index(delivery)) & (event_message >= 0)
    return Histories(entity_offsets, event_offsets, event_kind, np.where(receipts, send[message], _NONE))


def own_counts(of: Histories, clocks: Clocks) -> Int64:
    """Of each event, the count of its clock for the entity that it is of; 0 without a clock."""
    return _Table(of, clocks).own


def counted_events(of: Histories, clocks: Clocks) -> Bool:
    """Which events are counted by their own clocks."""
    own, entity = own_counts(of, clocks), of.entity
    execution = of.execution[entity] if len(entity) else entity
    kinds = len(EventKind)
    found = np.flatnonzero(clocks.recorded)
    order = found[np.lexsort((_RANK[of.event_kind[found]], own[found], entity[found]))]
    again = (entity[order[1:]] == entity[order[:-1]]) & (own[order[1:]] == own[order[:-1]])
    stands_still = np.append(order[1:][again], found[own[found] <= 0])
    uncounted = np.zeros(len(of.entity_offsets) * kinds, np.bool_)
    uncounted[execution[stands_still] * kinds + of.event_kind[stands_still]] = True
    counted: Bool = clocks.recorded & ~uncounted[execution * kinds + of.event_kind]
    return counted


def in_clock_order(of: Histories, clocks: Clocks) -> Int64:
    """The numbers of the events with each history in the order of its entity's own count.

    An event that is not counted stays behind the last one before it that is.
    """
    own, entity = own_counts(of, clocks), of.entity
    places = np.where(clocks.counted, np.arange(len(entity)), _NONE)
    last = np.maximum.accumulate(places) if len(places) else places
    known = (last >= 0) & (entity[last] == entity)
    return np.lexsort((np.where(known, own[last], _NONE), entity))


def compared(of: Histories, clocks: Clocks) -> Compared:
    """Where the clocks and the order of rows disagree, and what the clocks add."""
    return _Comparison(_Table(of, clocks), clocks.counted).result()


def has_cycle(of: Histories, edges: ClockEdges, x: int) -> bool:
    """Whether the rows of an execution and what the clocks add have a cycle that the rows alone have not."""
    first, stop = (int(of.event_offsets[e]) for e in of.entity_offsets[x : x + 2])
    followed: dict[int, list[int]] = {event: [] for event in range(first, stop)}
    entity = of.entity[first:stop].tolist()
    source = of.source[first:stop].tolist()
    for event in range(first, stop):
        if event > first and entity[event - first] == entity[event - 1 - first]:
            followed[event].append(event - 1)
        if source[event - first] >= 0:
            followed[event].append(source[event - first])
    if _runs_in_circles(followed):
        return False
    for event in followed:
        followed[event] += edges.earlier[edges.offsets[event] : edges.offsets[event + 1]].tolist()
    return _runs_in_circles(followed)


def _runs_in_circles(followed: dict[int, list[int]]) -> bool:
    try:
        TopologicalSorter(followed).prepare()
    except CycleError:
        return True
    return False


class _Table:
    """The clocks of events, looked up by event and entity. Entities have their numbers over all executions."""

    def __init__(self, histories: Histories, clocks: Clocks) -> None:
        self.histories = histories
        self.recorded = clocks.recorded
        self.offsets = clocks.offsets
        self.counts = clocks.counts
        self.entity = histories.entity
        events = np.arange(len(self.entity))
        self.event = np.repeat(events, np.diff(clocks.offsets))
        execution = histories.execution
        first = histories.entity_offsets[execution[self.entity]] if len(events) else events
        self.of = first[self.event] + clocks.entities
        self._width = len(histories.event_offsets)
        self._keys = self.event * self._width + self.of
        self.own = np.zeros(len(events), np.int64)
        mine = self.of == self.entity[self.event]
        self.own[self.event[mine]] = self.counts[mine]

    def entries(self, events: Int64) -> tuple[Int64, Int64]:
        """The places of the components of some events, and for each of them whose it is: an index into `events`."""
        lengths = self.offsets[events + 1] - self.offsets[events]
        owner = np.repeat(np.arange(len(events)), lengths)
        before = np.cumsum(lengths) - lengths
        return np.arange(int(lengths.sum())) + (self.offsets[events] - before)[owner], owner

    def place(self, events: Int64, of: Int64) -> Int64:
        """Where the components of events for entities are; _NONE where these are left out."""
        wanted = events * self._width + of
        if not len(self._keys):
            return np.full(len(wanted), _NONE, np.int64)
        found = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[found] == wanted, found, _NONE)

    def component(self, events: Int64, of: Int64) -> Int64:
        """The components of the clocks of events for entities; one that is left out counts 0."""
        place = self.place(events, of)
        return (
            np.where(place >= 0, self.counts[place], 0) if len(self.counts) else np.zeros(len(of), np.int64)
        )

    def no_more(self, pairs: Pairs) -> Bool:
        """Whether the clock of the first has nothing beyond that of the second."""
        places, owner = self.entries(pairs.first)
        beyond = self.counts[places] > self.component(pairs.second[owner], self.of[places])
        found = np.ones(len(pairs.first), np.bool_)
        found[owner[beyond]] = False
        return found


class _Comparison:
    def __init__(self, table: _Table, counted: Bool) -> None:
        self.table = table
        self.counted = counted
        entity, own = table.entity, table.own
        events = np.flatnonzero(counted)
        self.by_count = events[np.lexsort((own[events], entity[events]))]
        self.neighbours = self._neighbours(np.flatnonzero(table.recorded))
        source = table.histories.source
        receipts = np.flatnonzero(source >= 0)
        told = table.recorded[receipts] & table.recorded[source[receipts]]
        self.messages = Pairs(source[receipts[told]], receipts[told])
        self.known = self._last_known()

    def result(self) -> Compared:
        edges = self._beyond_rows()
        within, across = self._within(), self._across()
        return Compared(within, across, edges)

    def _neighbours(self, events: Int64) -> Pairs:
        """Events, given in their order, that follow each other at one entity."""
        first, second = events[:-1], events[1:]
        return Pairs(first, second).where(self.table.entity[first] == self.table.entity[second])

    def _last_known(self) -> Int64:
        """For every component of a clock the place in `by_count` of the last event that it counts; _NONE for none.

        An event's own component is left out.
        """
        table = self.table
        entity, own = table.entity[self.by_count], table.own[self.by_count]
        values, ranks = np.unique(np.append(own, table.counts), return_inverse=True)
        width = len(values) + 1
        keys = entity * width + ranks[: len(own)]
        asked = table.of * width + ranks[len(own) :]
        found = np.searchsorted(keys, asked, "right") - 1
        if len(self.by_count):
            found = np.where((found >= 0) & (entity[found] == table.of), found, _NONE)
        found[table.of == table.entity[table.event]] = _NONE
        return found

    def _within(self) -> Pairs:
        table = self.table
        counted = np.flatnonzero(self.counted)
        back = self._neighbours(counted)
        falling = back.where(table.own[back.second] <= table.own[back.first])
        # What an entity knew once it knows at its next counted event.
        events = np.flatnonzero(table.recorded)
        following = np.searchsorted(counted, events, "right")
        there = following < len(counted)
        next_counted = Pairs(events[there], counted[following[there]])
        next_counted = next_counted.where(
            table.entity[next_counted.first] == table.entity[next_counted.second]
        )
        return falling + next_counted.where(~table.no_more(next_counted))

    def _across(self) -> Pairs:
        """Deliveries that do not know of their send, and events that know of another without what that one knew."""
        table = self.table
        counted = self.messages.where(self.counted[self.messages.first])
        known = table.component(counted.second, table.entity[counted.first])
        ignorant = counted.where(known < table.own[counted.first])
        explained = np.zeros(len(self.known), np.bool_)
        for pairs in (self.neighbours, self.messages):
            # What the one knew the other knows from it; where it knew the same event, nothing new is to be compared.
            kept = pairs.where(table.no_more(pairs))
            places, owner = table.entries(kept.second)
            before = table.place(kept.first[owner], table.of[places])
            same = before >= 0
            same[same] = self.known[before[same]] == self.known[places[same]]
            sends = self._rank_of(kept.first)[owner] == self.known[places]
            explained[places[same | (sends & (self.known[places] >= 0))]] = True
        rest = np.flatnonzero((self.known >= 0) & ~explained)
        pairs = Pairs(self.by_count[self.known[rest]], table.event[rest])
        return ignorant + pairs.where(~table.no_more(pairs))

    def _rank_of(self, events: Int64) -> Int64:
        """The places of events in `by_count`; _NONE for those that are not counted."""
        ranks = np.full(len(self.table.entity), _NONE, np.int64)
        ranks[self.by_count] = np.arange(len(self.by_count))
        return ranks[events]

    def _beyond_rows(self) -> ClockEdges:
        """Who comes before each event by its clock, without what its entity or its message knew already."""
        table, known = self.table, self.known
        told = known >= 0
        order = np.lexsort((table.event, table.of, table.entity[table.event]))
        one, other = order[:-1], order[1:]
        again = (
            (table.of[one] == table.of[other])
            & (table.entity[table.event[one]] == table.entity[table.event[other]])
            & (known[one] >= known[other])
        )
        told[other[again]] = False
        places, owner = table.entries(self.messages.second)
        sends = self.messages.first[owner]
        before = table.place(sends, table.of[places])
        brought = np.where(before >= 0, known[before], _NONE) if len(known) else before
        mine = table.entity[sends] == table.of[places]
        brought = np.where(mine, self._rank_of(sends), brought)
        told[places[brought >= known[places]]] = False
        kept = np.flatnonzero(told)
        return ClockEdges(
            offsets=np.append(0, np.cumsum(np.bincount(table.event[kept], minlength=len(table.entity)))),
            earlier=self.by_count[known[kept]],
        )
