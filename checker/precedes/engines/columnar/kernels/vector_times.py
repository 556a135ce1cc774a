"""Vector times of the messages of an execution, some senders at a time.

The vector time V(m) of a message counts, for each entity, the sends that happen before the send of m or are it. A
message m happens before another message m' exactly if V(m)[i] <= V(m')[i], i being the sender of m (CMD paper, Lemma
4). The components of vector time do not depend on each other, so they are computed for `BLOCK` senders at a time:
memory grows with the messages and not with messages times entities.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.kernel import Span, most_entries
from precedes.engines.columnar.kernels.turns import (
    Turns,
    edges_told,
    most_edges,
    most_linked_events,
    turns_taken,
    well_known,
)
from precedes.native.codes import SEND

BLOCK: Final = 16
"""Senders whose components of vector time are computed together: they fill a line of the cache."""


class Block(NamedTuple):
    """The senders `low` to `low + width`, and how many turns the events of the execution take."""

    low: int
    width: int
    turns: int


class VectorTimes(NamedTuple):
    """Vector times, as wide as a block.

    vector    messages: V(m) is at `vector[m * width]`
    current   entities: what each knows of
    slot      events: the number of one that some clock puts before another, -1 for the others
    snapshot  numbered events: what was known there
    """

    vector: npt.NDArray[np.int32]
    current: npt.NDArray[np.int32]
    slot: npt.NDArray[np.int32]
    snapshot: npt.NDArray[np.int32]


def widest_block(first: int, last: int, columns: Columns) -> int:
    """The most senders of an execution whose components are computed together."""
    return min(most_entries(first, last, columns.entity_offsets), BLOCK)


def vector_times_of(first: int, last: int, columns: Columns) -> VectorTimes:
    """Room for the vector times of any execution."""
    width = widest_block(first, last, columns)
    return VectorTimes(
        np.empty(most_entries(first, last, columns.message_offsets) * width, np.int32),
        np.empty(most_entries(first, last, columns.entity_offsets) * width, np.int32),
        np.empty(most_linked_events(first, last, columns), np.int32),
        np.empty(most_edges(first, last, columns) * width, np.int32),
    )


def numbered_sources(span: Span, columns: Columns, times: VectorTimes) -> None:
    """Number the events that some clock puts before another."""
    event_offsets, edge_offsets, edge_earlier = (
        columns.event_offsets,
        columns.edge_offsets,
        columns.edge_earlier,
    )
    slot = times.slot
    first = event_offsets[span.begin]
    for k in range(event_offsets[span.end] - first):
        slot[k] = -1
    count = 0
    for edge in range(edge_offsets[first], edge_offsets[event_offsets[span.end]]):
        k = edge_earlier[edge] - first
        if slot[k] < 0:
            slot[k] = count
            count += 1


def vector_times(block: Block, span: Span, columns: Columns, turns: Turns, times: VectorTimes) -> None:
    """Write the components of the block of V(m) of every message, along turns.

    Events that clocks put before others have been numbered.
    """
    low, width, count = block
    begin, end, base, _ = span
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    edge_offsets, edge_earlier = columns.edge_offsets, columns.edge_earlier
    sender, delivery = columns.sender, columns.delivery
    taker, until, pointer = turns.taker, turns.until, turns.pointer
    vector, current, slot, snapshot = times
    told = edges_told(begin, end, columns) > 0
    first = event_offsets[begin]
    for k in range((end - begin) * width):
        current[k] = 0
    for e in range(end - begin):
        pointer[e] = event_offsets[begin + e]
    for t in range(count):
        e = taker[t]
        row = e * width
        for event in range(pointer[e], until[t]):
            if told:
                for edge in range(edge_offsets[event], edge_offsets[event + 1]):
                    at = slot[edge_earlier[edge] - first] * width
                    for k in range(width):
                        current[row + k] = max(current[row + k], snapshot[at + k])
            kind = event_kind[event]
            if kind == SEND:
                if low <= e < low + width:
                    current[row + e - low] += 1
                at = event_message[event] * width
                for k in range(width):
                    vector[at + k] = current[row + k]
            elif kind == delivery and sender[base + event_message[event]] >= 0:
                at = event_message[event] * width
                for k in range(width):
                    current[row + k] = max(current[row + k], vector[at + k])
            if told and slot[event - first] >= 0:
                at = slot[event - first] * width
                for k in range(width):
                    snapshot[at + k] = current[row + k]
        pointer[e] = until[t]


def turns_and_sources(x: int, span: Span, columns: Columns, turns: Turns, times: VectorTimes) -> int:
    """Make ready what `vector_times` needs: how many turns there are; -1 where a send was not logged, the order of some
    events is not known, or happens-before has a cycle.
    """
    if columns.order_doubt[x] != 0 or not well_known(span, columns):
        return -1
    count = turns_taken(span, columns, turns)
    if count >= 0 and edges_told(span.begin, span.end, columns) > 0:
        numbered_sources(span, columns, times)
    return count
