"""Direct runs: every packet of a message comes in where the message is delivered, and nothing comes in before.

Such a run is found without a search, by about one look-up for each event, and most executions of a program that does
its protocol have one. Where there is none, nothing is known: the search decides. It is a run of the model only where
the network lets packets come in at any time and in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from precedes.core.columns import Batch, offsets_of
from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import batch_of
from precedes.protocol.conformance.local_steps import SHIFT, LocalSteps, Logged, Taken
from precedes.protocol.conformance.observation import Reading, places
from precedes.protocol.conformance.recorded_columns import RecordedColumns
from precedes.protocol.conformance.run_waves import MOST_ENTITIES, Placed, Waves
from precedes.protocol.model import Protocol
from precedes.protocol.moves import Began, Move
from precedes.protocol.network import Reliable

_MOST_REMEMBERED: Final = 150_000
"""Steps after which they are forgotten, so that a trace of any length is judged in bounded memory."""
_AT_A_TIME: Final = 16_384
"""Executions that are followed together: so many that most of what is done for each of them is done by numpy, and so
few that what is remembered of them is not much more than the limit."""
_MOST_SLOTS: Final = 1 << 24
"""Pairs of a message and an entity of these."""


class _Placing(NamedTuple):
    """The place of each entity of an execution in the model, and how many the model has."""

    places: tuple[int, ...]
    size: int


class DirectRuns:
    """The direct runs of one model. `quiescent`: nothing may be in flight at the end of a run. Recorded states are left
    to the search. `together`: many executions are followed at once; without it the answers are the same.
    """

    def __init__(
        self, protocol: Protocol[Any], reading: Reading, *, quiescent: bool, together: bool = True
    ) -> None:
        self.protocol = protocol
        self.reading = reading
        self.quiescent = quiescent
        self.together = together
        self.possible = not reading.state and _is_possible(protocol, quiescent=quiescent)
        self._steps: dict[int, LocalSteps] = {}
        self._placings: dict[tuple[str, ...], _Placing] = {}

    def has_run(self, batch: Batch) -> Iterator[bool]:
        """Of each execution, whether a direct run has what was recorded. PrecedesError for mistakes of the model."""
        if not self.possible:
            yield from (False for _ in range(batch.executions))
            return
        columns = RecordedColumns(batch, self.reading.ignored)
        for first in range(0, columns.executions, _AT_A_TIME):
            part = range(first, min(first + _AT_A_TIME, columns.executions))
            known = self._together(columns, part) if self.together else {}
            for execution in part:
                if execution in known:
                    yield known[execution]
                else:
                    yield bool(columns.plain[execution]) and self._run(columns, execution) is not None

    def behavior(self, execution: Execution) -> tuple[Move, ...] | None:
        """The moves of a direct run; None where there is none."""
        if not self.possible:
            return None
        columns = RecordedColumns(batch_of([execution]), self.reading.ignored)
        run = self._run(columns, 0) if columns.plain[0] else None
        return None if run is None else (Began(), *run.moves())

    def _together(self, columns: RecordedColumns, part: range) -> dict[int, bool]:
        """What is known after following executions together."""
        of_size: dict[int, list[int]] = {}
        for execution in part:
            if columns.plain[execution]:
                of_size.setdefault(self._placing(columns, execution).size, []).append(execution)
        found: dict[int, bool] = {}
        for size, executions in of_size.items():
            messages = int(columns.message_offsets[part.stop] - columns.message_offsets[part.start])
            if size > MOST_ENTITIES or messages * size > _MOST_SLOTS:
                continue
            placings = [self._placing(columns, execution).places for execution in executions]
            places_of = np.array([place for each in placings for place in each], np.int64)
            placed = Placed(np.array(executions, np.int64), offsets_of(list(map(len, placings))), places_of)
            try:
                found |= Waves(self._of_size(size), columns, placed, part).answers(quiescent=self.quiescent)
            except PrecedesError:
                # A mistake of the model is told of the first execution that shows it: one by one.
                return {}
        return found

    def _run(self, columns: RecordedColumns, execution: int) -> _Run | None:
        placing = self._placing(columns, execution)
        run = _Run(self._of_size(placing.size), columns, execution, placing.places)
        return run if run.has_everything() and not (self.quiescent and run.in_flight) else None

    def _placing(self, columns: RecordedColumns, execution: int) -> _Placing:
        first, stop = columns.entity_offsets[execution : execution + 2]
        names = tuple(columns.names[first:stop].tolist())
        known = self._placings.get(names)
        if known is None:
            found = places(self.protocol, names, self.reading.entities)
            known = self._placings[names] = _Placing(tuple(found[name] for name in names), len(found))
        return known

    def _of_size(self, size: int) -> LocalSteps:
        steps = self._steps.get(size)
        if steps is None or steps.size > _MOST_REMEMBERED:
            steps = self._steps[size] = LocalSteps(self.protocol, size, self.reading.ignored)
        return steps


class _Run:
    """One direct run, as far as it has come. `place`: of each entity of the execution the place in the model."""

    def __init__(
        self, steps: LocalSteps, columns: RecordedColumns, execution: int, place: Sequence[int]
    ) -> None:
        self.steps = steps
        self.columns = columns
        self.place = place
        first = int(columns.entity_offsets[execution])
        offsets = columns.event_offsets[first : first + len(place) + 1]
        events = slice(int(offsets[0]), int(offsets[-1]))
        limits: list[int] = (offsets - offsets[0]).tolist()
        self.first = first
        self.next, self.stop = limits[:-1], limits[1:]
        self.is_send: list[bool] = columns.is_send[events].tolist()
        self.message: list[int] = columns.message[events].tolist()
        counts, recorded = columns.clocks(events, np.array(place, np.int64), first, steps.entities)
        self.clocks = [
            tuple(clock) if known else None
            for clock, known in zip(counts.tolist(), recorded.tolist(), strict=True)
        ]
        self.keys = [steps.start[k] for k in place]
        self.numbers: dict[int, int] = {}
        self.packets: dict[int, dict[int, int]] = {}
        """What is in flight of each message, by its receivers."""
        self.in_flight = 0
        self.taken: list[tuple[bool, int, Taken]] = []
        """Its steps: whether each is of a request, and what was asked."""

    def moves(self) -> Iterator[Move]:
        """The moves of the run."""
        steps = self.steps
        for is_send, asked, taken in self.taken:
            yield steps.request(asked, taken) if is_send else steps.arrival(asked, taken)

    def has_everything(self) -> bool:
        """Whether the run has all events: entity after entity, each as far as it comes without a message that has not
        been sent yet."""
        waiting = [k for k, stop in enumerate(self.stop) if self.next[k] < stop]
        while waiting:
            before = sum(self.next)
            if not all(self._goes_on(k) for k in waiting):
                return False
            if sum(self.next) == before:
                return False
            waiting = [k for k in waiting if self.next[k] < self.stop[k]]
        return True

    def _goes_on(self, k: int) -> bool:
        """Follow one entity; False where it does something else than was recorded."""
        steps, entity = self.steps, self.place[k]
        event, stop, key = self.next[k], self.stop[k], self.keys[k]
        while event < stop:
            message = self.message[event]
            if self.is_send[event]:
                number = self.numbers[message] = self._number(message, entity)
                asked = key << SHIFT | number
                found = steps.sent(asked)
            else:
                packets = self.packets.get(message)
                if packets is None:
                    break
                flight = packets.pop(entity, None)
                if flight is None:
                    return False
                self.in_flight -= 1
                asked = key << SHIFT | flight
                found = steps.arrived(asked)
            for step in found:
                if self._is_recorded(step.logged, event, stop):
                    break
            else:
                return False
            if self.is_send[event]:
                self.packets[message] = step.packets.copy()
            self.taken.append((self.is_send[event], asked, step))
            self.in_flight += len(step.packets)
            key = step.after
            event += len(step.logged)
        self.next[k], self.keys[k] = event, key
        return True

    def _number(self, message: int, entity: int) -> int:
        """The number of a recorded message of an entity."""
        columns, place = self.columns, self.place
        if columns.to_all[message]:
            to = place
        else:
            first, stop = columns.destination_offsets[message : message + 2]
            to = [place[k] for k in columns.destinations[first:stop].tolist()]
        return self.steps.message(entity, int(columns.number[message]), to)

    def _is_recorded(self, logged: Sequence[Logged], event: int, stop: int) -> bool:
        """Whether the events from one on are what a step logs, at least one. A clock counts where both have one."""
        if not logged or event + len(logged) > stop:
            return False
        for place, (is_send, message, clock) in enumerate(logged, event):
            recorded = self.clocks[place]
            if self.is_send[place] is not is_send or self.numbers.get(self.message[place]) != message:
                return False
            if clock is not None and recorded is not None and clock != recorded:
                return False
        return True


def _is_possible(protocol: Protocol[Any], *, quiescent: bool) -> bool:
    """Whether direct runs are runs of a model, and whether one that is over is known to be."""
    network = protocol.network
    if not isinstance(network, Reliable) or network.fifo:
        return False
    has_timers = type(protocol).timers is not Protocol.timers
    rearranges = type(protocol).receipt_log is not Protocol.receipt_log
    return not rearranges and not (quiescent and has_timers)
