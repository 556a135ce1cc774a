"""A batch of recorded executions as lists of Python's numbers, which a loop over events reads faster than arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NOBODY, Batch
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.protocol.conformance.observation import MODELED

SEND: Final = EVENT_CODES[EventKind.SEND]
DELIVER: Final = EVENT_CODES[EventKind.DELIVER]

Clock: TypeAlias = tuple[int, ...]
Flags: TypeAlias = npt.NDArray[np.bool_]


class RecordedColumns:
    """The columns of a batch that a run is compared with; events that no model has are left out.

    `plain`: of each execution, whether it has sends and deliveries only, whose order and whose messages are known.
    """

    def __init__(self, batch: Batch, ignored: frozenset[str]) -> None:
        modeled = [EVENT_CODES[kind] for kind in MODELED if kind.value not in ignored]
        seen: Flags = np.isin(batch.event_kind, modeled)
        before = np.concatenate([[0], np.cumsum(seen)])
        of_message = np.repeat(batch.message_offsets[:-1], np.diff(batch.event_offsets[batch.entity_offsets]))
        self.plain: list[bool] = _plain(batch, seen).tolist()
        self.names = batch.entity_names
        self.entity_offsets: list[int] = batch.entity_offsets.tolist()
        self.event_offsets: list[int] = before[batch.event_offsets].tolist()
        self.is_send: list[bool] = (batch.event_kind[seen] == SEND).tolist()
        self.message: list[int] = (batch.event_message + of_message)[seen].tolist()
        self.number: list[int] = (batch.send_position + 1).tolist()
        self.to_all: list[bool] = batch.to_all.tolist()
        self._destination_offsets: list[int] = batch.destination_offsets.tolist()
        self._destinations: list[int] = batch.destinations.tolist()
        self.width = int(np.diff(batch.entity_offsets).max(initial=0))
        """How many components a clock has here: as many as the largest execution has entities."""
        self.clocks: Sequence[Clock | None] = self._clocks(batch, seen, read="clock" not in ignored)

    def destinations(self, message: int) -> tuple[int, ...]:
        """The local numbers of the entities that a message is for."""
        offsets = self._destination_offsets
        return tuple(self._destinations[offsets[message] : offsets[message + 1]])

    def placed(self, events: range, place: Sequence[int], size: int) -> Mapping[int, Clock | None]:
        """The clocks of events of an execution whose entities have other places among the `size` of the model."""
        found: dict[int, Clock | None] = {}
        for event in events:
            clock = self.clocks[event]
            if clock is not None:
                counts = [0] * size
                for count, k in zip(clock, place, strict=False):
                    counts[k] = count
                clock = tuple(counts)
            found[event] = clock
        return found

    def _clocks(self, batch: Batch, seen: Flags, *, read: bool) -> list[Clock | None]:
        """The clock of each event with a component for each entity, None where none is recorded."""
        clocks = batch.clocks
        if clocks is None or not read:
            return [None] * int(seen.sum())
        counts = np.zeros((len(batch.event_kind), self.width), np.int64)
        counts[np.repeat(np.arange(len(counts)), np.diff(clocks.offsets)), clocks.entities] = clocks.counts
        found: list[Clock | None] = list(map(tuple, counts[seen].tolist()))
        for event in np.flatnonzero(~clocks.recorded[seen]).tolist():
            found[event] = None
        return found


def _plain(batch: Batch, seen: Flags) -> Flags:
    """See `RecordedColumns.plain`."""
    if not batch.complete or batch.groups is not None:
        return np.zeros(batch.executions, np.bool_)
    others = seen & ~np.isin(batch.event_kind, [SEND, DELIVER])
    unsent = (batch.sender == NOBODY) | ~batch.send_logged
    doubtful = np.zeros(len(batch.entity_names), np.bool_)
    if batch.interleaved is not None:
        doubtful |= ~batch.interleaved
    if batch.history_doubt is not None:
        doubtful |= batch.history_doubt != 0
    found: Flags = (
        (batch.unknown == 0)
        & ~_any(others, batch.event_offsets[batch.entity_offsets])
        & ~_any(unsent, batch.message_offsets)
        & ~_any(doubtful, batch.entity_offsets)
    )
    return found


def _any(flags: Flags, offsets: npt.NDArray[np.int64]) -> Flags:
    """Whether there is one among those of each list."""
    before = np.concatenate([[0], np.cumsum(flags)])
    found: Flags = before[offsets[1:]] > before[offsets[:-1]]
    return found
