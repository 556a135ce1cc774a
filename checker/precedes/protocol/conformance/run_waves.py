"""Direct runs of many executions at once: in each wave every entity that can makes the step of its next event.

What is done for each event is done by numpy for all events of a wave. A step is looked up, or the model asked, only
once for all entities that are in one state and have the same request or packet before them. What each wave finds is
what a run alone finds: a step depends on the entity and on what comes in, and a packet is known once it was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from precedes.core.columns import Bool, Int64, offsets_of
from precedes.protocol.conformance.local_steps import SHIFT, Clock, LocalSteps, Taken
from precedes.protocol.conformance.recorded_columns import RecordedColumns, spread

MOST_ENTITIES: Final = 62
"""The destinations of a message are the bits of a number here."""
_FEW: Final = 48
"""Where no more entities have events left, their executions are followed one by one: a wave costs as much as some 50
events of a run alone."""
_NOT_SENT: Final = -1
_WHOLE: Final = frozenset({int})


class Placed(NamedTuple):
    """Some executions of a batch, where the entities of each begin in `places`, and the place of each in the model."""

    executions: Int64
    offsets: Int64
    places: Int64


class _Steps(NamedTuple):
    """Steps as columns. Of each cause, in which order it does not matter, the first of its steps and how many there
    are; of each step the key after it, and lists of what it logs and of the packets that it transmits.
    """

    first: Int64
    choices: Int64
    after: Int64
    log_offsets: Int64
    is_send: Bool
    message: Int64
    clock: Int64
    has_clock: Bool
    packet_offsets: Int64
    receiver: Int64
    flight: Int64


class Waves:
    """The direct runs of executions of one size, as far as they have come.

    `part`: all executions whose messages are numbered, those that are followed among them.
    """

    def __init__(self, steps: LocalSteps, columns: RecordedColumns, placed: Placed, part: range) -> None:
        self.steps = steps
        self.columns = columns
        self.executions = placed.executions
        size = steps.entities
        counts = np.diff(placed.offsets)
        entity = spread(columns.entity_offsets[placed.executions], counts)
        first, stop = columns.entity_offsets[[part.start, part.stop]]
        place = np.zeros(stop - first, np.int64)
        place[entity - first] = placed.places
        self.place = placed.places
        self.execution = np.repeat(np.arange(len(counts)), counts)
        self.next: Int64 = columns.event_offsets[entity].copy()
        self.stop: Int64 = columns.event_offsets[entity + 1]
        self.key: Int64 = np.array(steps.start, np.int64)[placed.places]
        self.failed: Bool = np.zeros(len(counts), np.bool_)
        self.in_flight = np.zeros(len(counts), np.int64)
        events = slice(int(columns.event_offsets[first]), int(columns.event_offsets[stop]))
        self.first_event = events.start
        self.clocks, self.recorded = columns.clocks(events, place, int(first), size)
        self.first_message = int(columns.message_offsets[part.start])
        messages = int(columns.message_offsets[part.stop]) - self.first_message
        self.number = self._numbers(messages, placed, place, int(first))
        self.sent: Bool = np.zeros(messages, np.bool_)
        self.slots: Int64 = np.full((messages, size), _NOT_SENT, np.int64)
        """The packet that is in flight of each message to each entity."""

    def answers(self, *, quiescent: bool) -> dict[int, bool]:
        """Whether each execution has a direct run; those that would have to be followed one by one are left out.
        PrecedesError for mistakes of the model.
        """
        active = np.flatnonzero(self.next < self.stop)
        while len(active) > _FEW:
            self._wave(active)
            active = active[(self.next[active] < self.stop[active]) & ~self.failed[self.execution[active]]]
        known = np.ones(len(self.executions), np.bool_)
        known[self.execution[active]] = False
        found = ~self.failed
        if quiescent:
            found &= self.in_flight == 0
        return dict(zip(self.executions[known].tolist(), found[known].tolist(), strict=True))

    def _numbers(self, messages: int, placed: Placed, place: Int64, first: int) -> Int64:
        """The number in the model of each message of the executions that are followed."""
        columns = self.columns
        starts = columns.message_offsets[placed.executions]
        lengths = columns.message_offsets[placed.executions + 1] - starts
        mine = spread(starts, lengths)
        bits = np.left_shift(1, place)
        sums = offsets_of(bits[_entities(columns, placed) - first])
        to_all = sums[placed.offsets[1:]] - sums[placed.offsets[:-1]]
        starts, stops = columns.destination_offsets[mine], columns.destination_offsets[mine + 1]
        of_message = np.repeat(columns.entity_offsets[placed.executions] - first, lengths)
        entity = np.repeat(of_message, stops - starts) + columns.destinations[spread(starts, stops - starts)]
        # No destination stands twice in a list, so that a sum of bits is a set of them.
        sums, offsets = offsets_of(bits[entity]), offsets_of(stops - starts)
        to = sums[offsets[1:]] - sums[offsets[:-1]]
        to = np.where(columns.to_all[mine], np.repeat(to_all, lengths), to)
        named = np.stack([place[columns.sender[mine] - first], columns.number[mine], to])
        found = np.full(messages, _NOT_SENT, np.int64)
        distinct, which = np.unique(named, axis=1, return_inverse=True)
        numbers = [
            self.steps.message(sender, number, [k for k in range(self.steps.entities) if bits_of >> k & 1])
            for sender, number, bits_of in distinct.T.tolist()
        ]
        found[mine - self.first_message] = np.array(numbers, np.int64)[which.reshape(-1)]
        return found

    def _wave(self, active: Int64) -> None:
        """One step of each entity that can make one."""
        event = self.next[active]
        message = self.columns.message[event] - self.first_message
        is_send = self.columns.is_send[event]
        ready = is_send | self.sent[message]
        self.failed |= self._among(active) & ~self._among(active[ready])
        sends, arrivals = active[is_send], active[ready & ~is_send]
        requested, came = message[is_send], message[ready & ~is_send]
        # Before anything is compared: what a step logs may be what another entity sends in the same wave.
        self.sent[requested] = True
        flight = self.slots[came, self.place[arrivals]]
        self.slots[came, self.place[arrivals]] = _NOT_SENT
        there = flight != _NOT_SENT
        self.failed[self.execution[arrivals[~there]]] = True
        arrivals, flight = arrivals[there], flight[there]
        np.subtract.at(self.in_flight, self.execution[arrivals], 1)
        self._step(sends, self.number[requested], self.steps.sent, requested)
        self._step(arrivals, flight, self.steps.arrived, None)

    def _among(self, entities: Int64) -> Bool:
        """Which executions these entities are of."""
        found: Bool = np.zeros(len(self.failed), np.bool_)
        found[self.execution[entities]] = True
        return found

    def _step(
        self,
        entities: Int64,
        cause: Int64,
        look_up: Callable[[int], tuple[Taken, ...]],
        requested: Int64 | None,
    ) -> None:
        """The step of each entity that logs what was recorded, the first of several.

        `requested`: the messages that are sent.
        """
        asked, which = np.unique(self.key[entities] << SHIFT | cause, return_inverse=True)
        steps = _columns(list(map(look_up, asked.tolist())), self.clocks.shape[1])
        taken = np.full(len(entities), -1, np.int64)
        for choice in range(int(steps.choices.max(initial=0))):
            open_ones = np.flatnonzero((taken < 0) & (steps.choices[which] > choice))
            step = steps.first[which[open_ones]] + choice
            fits = self._is_recorded(entities[open_ones], step, steps)
            taken[open_ones[fits]] = step[fits]
        made = taken >= 0
        self.failed[self.execution[entities[~made]]] = True
        entities, taken = entities[made], taken[made]
        self.key[entities] = steps.after[taken]
        self.next[entities] += steps.log_offsets[taken + 1] - steps.log_offsets[taken]
        packets = steps.packet_offsets[taken + 1] - steps.packet_offsets[taken]
        np.add.at(self.in_flight, self.execution[entities], packets)
        if requested is not None:
            packet = spread(steps.packet_offsets[taken], packets)
            self.slots[np.repeat(requested[made], packets), steps.receiver[packet]] = steps.flight[packet]

    def _is_recorded(self, entities: Int64, step: Int64, steps: _Steps) -> Bool:
        """Whether the next events of each entity are what a step logs, at least one. A clock counts where both have
        one."""
        event, length = self.next[entities], steps.log_offsets[step + 1] - steps.log_offsets[step]
        found: Bool = (length > 0) & (event + length <= self.stop[entities])
        for place in range(int(length.max(initial=0))):
            rows = np.flatnonzero(found & (length > place))
            at, logged = event[rows] + place, steps.log_offsets[step[rows]] + place
            message = self.columns.message[at] - self.first_message
            same = (self.columns.is_send[at] == steps.is_send[logged]) & self.sent[message]
            same &= self.number[message] == steps.message[logged]
            mine = at - self.first_event
            differs = (self.clocks[mine] != steps.clock[logged]).any(axis=1)
            found[rows] = same & ~(differs & self.recorded[mine] & steps.has_clock[logged])
        return found


def _entities(columns: RecordedColumns, placed: Placed) -> Int64:
    """The entities of executions, one list after the other."""
    return spread(columns.entity_offsets[placed.executions], np.diff(placed.offsets))


def _columns(found: Sequence[tuple[Taken, ...]], size: int) -> _Steps:
    """The steps of some causes as columns; clocks have `size` components."""
    count = np.array(list(map(len, found)), np.int64)
    steps = list(chain.from_iterable(found))
    logged = list(chain.from_iterable(step.logged for step in steps))
    packets = [step.packets for step in steps]
    return _Steps(
        np.cumsum(count) - count,
        count,
        np.array([step.after for step in steps], np.int64),
        offsets_of([len(step.logged) for step in steps]),
        np.array([each[0] for each in logged], np.bool_),
        np.array([each[1] for each in logged], np.int64),
        _clocks([each[2] for each in logged], size),
        np.array([each[2] is not None for each in logged], np.bool_),
        offsets_of(list(map(len, packets))),
        np.array(list(chain.from_iterable(packets)), np.int64),
        np.array(list(chain.from_iterable(each.values() for each in packets)), np.int64),
    )


def _clocks(clocks: Sequence[Clock | None], size: int) -> Int64:
    """The clocks that a model logs as rows. One that is not `size` whole numbers is none that is recorded: then the
    search compares it.
    """
    none, never = (0,) * size, (-1,) * size
    rows = [none if each is None else each if _is_whole(each, size) else never for each in clocks]
    found: Int64 = np.array(rows, np.int64).reshape(-1, size)
    return found


def _is_whole(clock: Clock, size: int) -> bool:
    return len(clock) == size and _WHOLE.issuperset(map(type, clock))
