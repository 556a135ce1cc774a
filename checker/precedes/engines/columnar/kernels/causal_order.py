"""Tuned kernels of causal order by vector time, without pairs.

An execution with a send that was not logged, or a history whose interleaving is not known, is left to the compiled
formula: there happens-before has a third value.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.engines.columnar.kernels.turns import (
    TURNS,
    Turns,
    edges_told,
    most_edges,
    turns_of,
    turns_taken,
    well_known,
)
from precedes.engines.columnar.kernels.vector_times import (
    BLOCK,
    Block,
    VectorTimes,
    numbered_sources,
    vector_times,
    vector_times_of,
    widest_block,
)
from precedes.native.codes import CYCLE, DEFERRED, FALSE, SEND
from precedes.native.compiled_functions import Int32Out, MatrixOut


def delivers_two(begin: int, end: int, base: int, at_one: bool, columns: Columns) -> bool:
    """Whether two messages that were sent are delivered: at one entity, or anywhere."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    met = -1
    for entity in range(begin, end):
        if at_one:
            met = -1
        for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
            m = delivered[k]
            if columns.sender[base + m] >= 0:
                if met >= 0 and met != m:
                    return True
                met = m
    return False


def causal_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Δ-causal paper, Definition 3."""
    causally_ordered(first, last, columns, causal_work(first, last, columns, False), values, places)


def process_causal_order(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """Δ-causal paper, Theorem 1."""
    causally_ordered(first, last, columns, causal_work(first, last, columns, True), values, places)


class Deliveries(NamedTuple):
    """What has been delivered, and the first delivery that comes too late.

    log        entities: the place in its log
    own        entities: the most of its own sends that a message tells of that it delivered
    seen, by   entities, as wide as a block: what has been delivered, and the messages that say so
    sent_seen, sent_by  messages: the same at their sends
    kept_seen, kept_by  numbered events: the same there
    at_one     whether what was delivered here counts, or what was delivered before by anybody
    late       the receiver that delivers a message too late, the place in its log, the message, and one before it
    """

    log: npt.NDArray[np.int64]
    own: npt.NDArray[np.int32]
    seen: npt.NDArray[np.int32]
    by: npt.NDArray[np.int32]
    sent_seen: npt.NDArray[np.int32]
    sent_by: npt.NDArray[np.int32]
    kept_seen: npt.NDArray[np.int32]
    kept_by: npt.NDArray[np.int32]
    at_one: bool
    late: npt.NDArray[np.int64]


def deliveries_of(first: int, last: int, columns: Columns, at_one: bool) -> Deliveries:
    """Room for the deliveries of any execution."""
    width = widest_block(first, last, columns)
    entities = most_entries(first, last, columns.entity_offsets)
    edges = most_edges(first, last, columns)
    wide = entities * width if edges > 0 else 0
    sends = most_entries(first, last, columns.message_offsets) * width if edges > 0 else 0
    return Deliveries(
        np.empty(entities, np.int64),
        np.empty(entities, np.int32),
        np.empty(wide, np.int32),
        np.empty(wide, np.int32),
        np.empty(sends, np.int32),
        np.empty(sends, np.int32),
        np.empty(edges * width, np.int32),
        np.empty(edges * width, np.int32),
        at_one,
        np.empty(4, np.int64),
    )


Work = tuple[Turns, VectorTimes, Deliveries]


def causal_work(first: int, last: int, columns: Columns, at_one: bool) -> Work:
    """Room for any execution."""
    return (
        turns_of(first, last, columns),
        vector_times_of(first, last, columns),
        deliveries_of(first, last, columns, at_one),
    )


def joined(
    row: int, at: int, width: int, into: tuple[Int32Out, Int32Out], more: tuple[Int32Out, Int32Out]
) -> None:
    """Take what has been delivered, and by which messages, from place `at` of one table into row `row` of another."""
    seen, by = into
    other_seen, other_by = more
    for k in range(width):
        if other_seen[at + k] > seen[row + k]:
            seen[row + k] = other_seen[at + k]
            by[row + k] = other_by[at + k]


def copied(
    row: int, at: int, width: int, source: tuple[Int32Out, Int32Out], target: tuple[Int32Out, Int32Out]
) -> None:
    """Copy row `row` of one table to place `at` of another."""
    seen, by = source
    other_seen, other_by = target
    for k in range(width):
        other_seen[at + k] = seen[row + k]
        other_by[at + k] = by[row + k]


def earlier_than(entity: int, position: int, late: npt.NDArray[np.int64]) -> bool:
    """Whether a delivery, by its place in a log, comes before the late one that was found so far."""
    return bool(entity < late[0] or (entity == late[0] and position < late[1]))


def late_by_clocks(block: Block, span: Span, columns: Columns, work: Work) -> None:
    """Find the first receiver that delivers a message, of a sender in the block, after one that was sent later.

    Where clocks tell of messages that are in no row, who knows of a send need not have delivered anything. So what is
    propagated is what has been delivered: with D[k] the number of sends of k that come before the send of some q that
    was delivered, here (`at_one`) or at any event that comes before, a message p of k is late exactly if its place
    among the sends of k is below D[k]. `by` says which q.
    """
    turns, times, deliveries = work
    event_offsets, edge_offsets, edge_earlier = (
        columns.event_offsets,
        columns.edge_offsets,
        columns.edge_earlier,
    )
    slot, pointer, width = times.slot, turns.pointer, block.width
    here = deliveries.seen, deliveries.by
    kept = deliveries.kept_seen, deliveries.kept_by
    first = event_offsets[span.begin]
    for k in range((span.end - span.begin) * width):
        deliveries.seen[k] = 0
        deliveries.by[k] = -1
    for e in range(span.end - span.begin):
        pointer[e] = event_offsets[span.begin + e]
        deliveries.log[e] = columns.delivered_offsets[span.begin + e]
    for t in range(block.turns):
        e = turns.taker[t]
        row = e * width
        for event in range(pointer[e], turns.until[t]):
            if not deliveries.at_one:
                for edge in range(edge_offsets[event], edge_offsets[event + 1]):
                    joined(row, slot[edge_earlier[edge] - first] * width, width, here, kept)
            kind = columns.event_kind[event]
            m = columns.event_message[event]
            if kind == SEND:
                copied(row, m * width, width, here, (deliveries.sent_seen, deliveries.sent_by))
            elif kind == columns.delivery:
                if columns.sender[span.base + m] >= 0 and not deliveries.at_one:
                    joined(row, m * width, width, here, (deliveries.sent_seen, deliveries.sent_by))
                taken_up(e, m, block, span, columns, (times, deliveries))
            if slot[event - first] >= 0:
                copied(row, slot[event - first] * width, width, here, kept)
        pointer[e] = turns.until[t]


def taken_up(
    e: int, m: int, block: Block, span: Span, columns: Columns, work: tuple[VectorTimes, Deliveries]
) -> None:
    """Take a delivery up, if it is the first of its message at the entity, and see whether it is late."""
    low, width, _ = block
    times, deliveries = work
    seen, by, late = deliveries.seen, deliveries.by, deliveries.late
    position = deliveries.log[e]
    if position == columns.delivered_offsets[span.begin + e + 1] or columns.delivered[position] != m:
        return
    deliveries.log[e] += 1
    if columns.sender[span.base + m] < 0:
        return
    row = e * width
    origin = columns.sender[span.base + m] - low
    if (
        0 <= origin < width
        and seen[row + origin] > columns.send_position[span.base + m]
        and earlier_than(e, position, late)
    ):
        late[0] = e
        late[1] = position
        late[2] = m
        late[3] = by[row + origin]
    for k in range(width):
        before = times.vector[m * width + k] - (1 if k == origin else 0)
        if before > seen[row + k]:
            seen[row + k] = before
            by[row + k] = m


def late_by_rows(block: Block, span: Span, columns: Columns, work: Work) -> None:
    """Find the first receiver that delivers a message, of a sender in the block, after one that was sent later.

    Where rows alone make happens-before, who knows of a send by a message that it delivered has delivered it too late.
    """
    low, width, count = block
    begin, end, base, _ = span
    turns, times, deliveries = work
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender, send_position, delivery = columns.sender, columns.send_position, columns.delivery
    taker, until, pointer = turns.taker, turns.until, turns.pointer
    vector, current = times.vector, times.current
    log, own, late = deliveries.log, deliveries.own, deliveries.late
    found = False
    for k in range((end - begin) * width):
        current[k] = 0
    for e in range(end - begin):
        pointer[e] = event_offsets[begin + e]
        log[e] = delivered_offsets[begin + e]
        own[e] = 0
    for t in range(count):
        e = taker[t]
        row = e * width
        for event in range(pointer[e], until[t]):
            kind = event_kind[event]
            if kind == SEND:
                if low <= e < low + width:
                    current[row + e - low] += 1
                at = event_message[event] * width
                for k in range(width):
                    vector[at + k] = current[row + k]
            elif kind == delivery:
                m = event_message[event]
                position = log[e]
                again = position == delivered_offsets[begin + e + 1] or delivered[position] != m
                if not again:
                    log[e] += 1
                if sender[base + m] < 0:
                    continue
                at = m * width
                origin = sender[base + m] - low
                if 0 <= origin < width and not again:
                    known = own[e] if origin + low == e else current[row + origin]
                    if known > send_position[base + m] and earlier_than(e, position, late):
                        late[0] = e
                        late[1] = position
                        found = True
                for k in range(width):
                    current[row + k] = max(current[row + k], vector[at + k])
                if low <= e < low + width:
                    own[e] = max(own[e], vector[at + e - low])
        pointer[e] = until[t]
    if found:
        late[2] = delivered[late[1]]
        late[3] = delivered_before(block, span, columns, times, late)


def delivered_before(
    block: Block, span: Span, columns: Columns, times: VectorTimes, late: npt.NDArray[np.int64]
) -> int:
    """A message that the receiver of the late message delivered before that one, and that was sent after it."""
    sender, delivered = columns.sender, columns.delivered
    origin = sender[span.base + late[2]] - block.low
    for earlier in range(columns.delivered_offsets[span.begin + late[0]], late[1]):
        q = delivered[earlier]
        if (
            sender[span.base + q] >= 0
            and times.vector[q * block.width + origin] > columns.send_position[span.base + late[2]]
        ):
            return int(q)
    return -1


def causally_ordered(
    first: int, last: int, columns: Columns, work: Work, values: Int32Out, places: MatrixOut
) -> None:
    """Δ-causal paper, Definition 3 and Theorem 1; CMD paper, Lemma 6.

    With `at_one` of deliveries at one entity. Where rows alone make happens-before, that is the same (Theorem 1).

    With D the join of the vector times of what the receiver has delivered so far, it holds exactly when D[i]
    <= V(m)[i] - 1, the place of m among the sends of i, at every delivery of an m sent by i. D differs from the
    receiver's own vector time in its own component only: so stated, an entity may deliver its own messages.
    """
    turns, times, deliveries = work
    late = deliveries.late
    for x in range(first, last):
        span = span_of(x, columns)
        begin, end, base, _ = span
        if columns.order_doubt[x] != 0:
            # Nothing is known of any two events, but that no event is before itself.
            if delivers_two(begin, end, base, deliveries.at_one, columns):
                values[x] = columns.order_doubt[x]
            continue
        if not well_known(span, columns):
            values[x] = DEFERRED
            continue
        count = turns_taken(span, columns, turns)
        if count < 0:
            values[x] = CYCLE
            continue
        n = end - begin
        late[0] = n
        told = edges_told(begin, end, columns) > 0
        if told:
            numbered_sources(span, columns, times)
        for low in range(0, n, BLOCK):
            block = Block(low, min(BLOCK, n - low), count)
            if told:
                vector_times(block, span, columns, turns, times)
                late_by_clocks(block, span, columns, work)
            else:
                late_by_rows(block, span, columns, work)
        if late[0] < n:
            values[x] = FALSE
            places[x, 0] = late[0]
            places[x, 2] = late[2]
            places[x, 3] = late[3]


_CAUSAL: Final = (*TURNS, "delivered_offsets", "delivered", "send_position", "order_doubt")

CAUSAL_KERNELS: Final = {
    "causal_order": Kernel(causal_order, _CAUSAL),
    "process_causal_order": Kernel(process_causal_order, _CAUSAL),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
