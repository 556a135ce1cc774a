"""A batch of recorded executions as columns that direct runs are compared with."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NOBODY, Batch, Int64
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.protocol.conformance.observation import MODELED

SEND: Final = EVENT_CODES[EventKind.SEND]
DELIVER: Final = EVENT_CODES[EventKind.DELIVER]

Flags = npt.NDArray[np.bool_]


class RecordedColumns:
    """The columns of a batch that a run is compared with; events that no model has are left out.

    Entities and messages have their numbers in the batch, from 0, and so have the events that are left.

    Attributes:
        plain: Of each execution, whether it has sends and deliveries only, whose order and whose messages are known.
        event_offsets: Of each entity, where its events begin; one more at the end.
        is_send: Of each event, whether it is a send; else it is a delivery.
        message: Of each event, its message.
        sender: Of each message, the entity that sent it; without meaning where an execution is not plain.
        number: Of each message, the how many-th of its sender it is, from 1.
    """

    def __init__(self, batch: Batch, ignored: frozenset[str]) -> None:
        modeled = [EVENT_CODES[kind] for kind in MODELED if kind.value not in ignored]
        seen: Flags = np.isin(batch.event_kind, modeled)
        before = np.concatenate([[0], np.cumsum(seen)])
        self.executions = batch.executions
        self.plain = _plain(batch, seen)
        self.names = batch.entity_names
        self.entity_offsets = batch.entity_offsets
        self.message_offsets = batch.message_offsets
        self.event_offsets: Int64 = before[batch.event_offsets]
        self.is_send: Flags = batch.event_kind[seen] == SEND
        self.message: Int64 = (
            batch.event_message.astype(np.int64) + _of_executions(batch, batch.message_offsets)
        )[seen]
        self.sender: Int64 = batch.sender.astype(np.int64) + np.repeat(
            batch.entity_offsets[:-1], np.diff(batch.message_offsets)
        )
        self.number: Int64 = batch.send_position.astype(np.int64) + 1
        self.to_all = batch.to_all
        self.destination_offsets = batch.destination_offsets
        self.destinations = batch.destinations
        self._clocks = None if "clock" in ignored else batch.clocks
        self._events = np.flatnonzero(seen)
        self._first_entity: Int64 = _of_executions(batch, batch.entity_offsets)[seen]

    def clocks(self, events: slice, place: Int64, first: int, size: int) -> tuple[Int64, Flags]:
        """The clocks of some events, and whether each is recorded.

        Args:
            events: Whose.
            place: Of each of some entities, its place in the model; entities of these events among them.
            first: The first of these entities.
            size: How many entities the model has.

        Returns:
            For each event a component for each entity of the model, 0 where none is recorded; and flags.
        """
        kept = self._events[events]
        counts = np.zeros((len(kept), size), np.int64)
        clocks = self._clocks
        if clocks is None:
            return counts, np.zeros(len(kept), np.bool_)
        lengths = clocks.offsets[kept + 1] - clocks.offsets[kept]
        row = np.repeat(np.arange(len(kept)), lengths)
        component = spread(clocks.offsets[kept], lengths)
        entity = self._first_entity[events][row] + clocks.entities[component] - first
        counts[row, place[entity]] = clocks.counts[component]
        return counts, clocks.recorded[kept]


def spread(starts: Int64, lengths: Int64) -> Int64:
    """The numbers from each start on, as many as its length, one list after the other."""
    before = np.cumsum(lengths) - lengths
    found: Int64 = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return found


def _of_executions(batch: Batch, offsets: Int64) -> Int64:
    """Of each event, what `offsets` say of its execution."""
    found: Int64 = np.repeat(offsets[:-1], np.diff(batch.event_offsets[batch.entity_offsets]))
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
