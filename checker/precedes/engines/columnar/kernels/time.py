"""Tuned kernels of time: deadlines, and causal order within them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.kernel import Kernel, Span, span_of
from precedes.engines.columnar.kernels.turns import (
    TURNS,
    Turns,
    all_logged,
    turns_of,
)
from precedes.engines.columnar.kernels.vector_times import (
    BLOCK,
    Block,
    VectorTimes,
    turns_and_sources,
    vector_times,
    vector_times_of,
    widest_block,
)
from precedes.native.codes import (
    CLOCKS,
    DEFERRED,
    EPSILON,
    FALSE,
    NO_DELTA,
    NO_TIME,
    NO_TIME_GIVEN,
    SEND_NOT_LOGGED,
)
from precedes.native.compiled_functions import Int32Out, MatrixOut


class Limit(NamedTuple):
    """How late a delivery may be; `fit`: no delivery is earlier than its send by more than epsilon."""

    delta: int
    epsilon: int
    fit: bool


def limit_of(span: Span, columns: Columns) -> Limit:
    """The limit for the deliveries of an execution."""
    return Limit(columns.delta, columns.epsilon, clocks_fit(span, columns))


def clocks_fit(span: Span, columns: Columns) -> bool:
    """Whether no delivery is earlier than its send by more than epsilon."""
    delivered, delivered_time, send_time = columns.delivered, columns.delivered_time, columns.send_time
    for k in range(columns.delivered_offsets[span.begin], columns.delivered_offsets[span.end]):
        sent = send_time[span.base + delivered[k]]
        got = delivered_time[k]
        if NO_TIME_GIVEN not in (sent, got) and sent - got > columns.epsilon:
            return False
    return True


def within(later: int, earlier: int, limit: Limit) -> int:
    """The value of `later <= earlier + delta`, 0 for true."""
    reasons = 0
    if limit.delta == NO_TIME_GIVEN:
        reasons |= NO_DELTA
    if not limit.fit:
        reasons |= CLOCKS
    elif min(later, earlier) == NO_TIME_GIVEN:
        reasons |= NO_TIME
    if reasons != 0:
        return reasons
    over = later - earlier - limit.delta
    if abs(over) < limit.epsilon:
        return EPSILON
    return 0 if over <= 0 else FALSE


def unlogged(later: int, limit: Limit) -> int:
    """The same where the send of a message, and so its time, was not logged."""
    reasons = SEND_NOT_LOGGED
    if limit.delta == NO_TIME_GIVEN:
        reasons |= NO_DELTA
    if not limit.fit:
        reasons |= CLOCKS
    elif later == NO_TIME_GIVEN:
        reasons |= NO_TIME
    return reasons


def deadline(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Δ-causal paper, §2.2: everything is delivered no later than delta after its send."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    delivered_time, repeated, history_doubt = columns.delivered_time, columns.repeated, columns.history_doubt
    sender, send_logged, send_time = columns.sender, columns.send_logged, columns.send_time
    for x in range(first, last):
        span = span_of(x, columns)
        limit = limit_of(span, columns)
        value = 0
        for entity in range(span.begin, span.end):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = span.base + delivered[k]
                if sender[m] < 0:
                    continue
                if history_doubt[entity] != 0 and repeated[k]:
                    # Which delivery is the first is not known.
                    value = DEFERRED
                    break
                if send_logged[m]:
                    judged = within(delivered_time[k], send_time[m], limit)
                else:
                    judged = unlogged(delivered_time[k], limit)
                if judged == FALSE:
                    value = FALSE
                    places[x, 0] = entity - span.begin
                    places[x, 2] = delivered[k]
                    break
                value |= judged
            if value in (FALSE, DEFERRED):
                break
        values[x] = value


def temporal_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Veríssimo and Rodrigues 2001, temporal order: each entity delivers in the order of the times of sends.

    The latest send so far tells. A message that nobody sent has no time to compare; the compiled formula decides then.
    """
    for x in range(first, last):
        span = span_of(x, columns)
        fit = clocks_fit(span, columns)
        value = 0
        if columns.order_doubt[x] != 0 or not all_logged(span, columns):
            value = DEFERRED
        for entity in range(span.begin, span.end):
            if value < 0:
                break
            here = sent_in_turn(x, entity, columns, fit, places)
            value = here if here < 0 else value | here
        values[x] = value


def sent_in_turn(x: int, entity: int, columns: Columns, fit: bool, places: MatrixOut) -> int:
    """The value of temporal order at one entity."""
    begin, _, base, _ = span_of(x, columns)
    start, stop = columns.delivered_offsets[entity], columns.delivered_offsets[entity + 1]
    latest = -1
    lacking = 0
    value = 0
    for k in range(start, stop):
        m = columns.delivered[k]
        if columns.sender[base + m] < 0:
            if stop - start > 1:
                return DEFERRED
            continue
        time = columns.send_time[base + m]
        if time == NO_TIME_GIVEN:
            lacking += 1
            continue
        if latest >= 0:
            over = columns.send_time[base + latest] - time
            if fit and over > 0 and over >= columns.epsilon:
                places[x, 0] = entity - begin
                places[x, 2] = latest
                places[x, 3] = m
                return FALSE
            if fit and abs(over) < columns.epsilon:
                value |= EPSILON
        if latest < 0 or time > columns.send_time[base + latest]:
            latest = m
    if stop - start > 1:
        value |= NO_TIME if lacking > 0 else 0
        value |= 0 if fit else CLOCKS
    return value


def delta_causal_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Δ-causal paper, Definition 4 and Theorem 2: causal order among what was delivered in time.

    As for causal order, but late deliveries are not joined; where the join tells of a message out of order,
    the ones before it are gone through. On consistent clocks one of them is a violation then, so that happens
    at most once.
    """
    known = np.empty(widest_block(first, last, columns), np.int32)
    work = turns_of(first, last, columns), vector_times_of(first, last, columns), known
    ordered_in_time(first, last, columns, work, values, places)


def ordered_in_time(
    first: int,
    last: int,
    columns: Columns,
    work: tuple[Turns, VectorTimes, npt.NDArray[np.int32]],
    values: Int32Out,
    places: MatrixOut,
) -> None:
    """The same, with room for any execution; the last array for what a receiver knows of the senders of a block."""
    turns, times, known = work
    for x in range(first, last):
        span = span_of(x, columns)
        count = turns_and_sources(x, span, columns, turns, times)
        if count < 0:
            values[x] = DEFERRED
            continue
        limit = limit_of(span, columns)
        n = span.end - span.begin
        value = 0
        worst = n
        place = 0
        for low in range(0, n, BLOCK):
            block = Block(low, min(BLOCK, n - low), count)
            vector_times(block, span, columns, turns, times)
            for i in range(min(n, worst + 1)):
                end_of_log = place if i == worst else columns.delivered_offsets[span.begin + i + 1]
                receipt = Receipt(i, end_of_log, value)
                position, value = first_overtaken(
                    receipt, block, span, columns, limit, (times, known, places[x])
                )
                if position < end_of_log:
                    worst = i
                    place = position
                    break
        values[x] = value if worst == n else FALSE


class Receipt(NamedTuple):
    """The log of receiver i up to a place; `value` has the reasons that were met so far."""

    i: int
    end_of_log: int
    value: int


def first_overtaken(
    receipt: Receipt,
    block: Block,
    span: Span,
    columns: Columns,
    limit: Limit,
    work: tuple[VectorTimes, npt.NDArray[np.int32], Int32Out],
) -> tuple[int, int]:
    """The place of the first message, of a sender in the block, that a receiver delivers after one that was sent later,
    all in time, or the end of the log; and the reasons why it is not known of others.
    """
    low, width, _ = block
    i, end_of_log, value = receipt
    times, known, places = work
    sender, send_position, send_time = columns.sender, columns.send_position, columns.send_time
    start = columns.delivered_offsets[span.begin + i]
    for k in range(width):
        known[k] = 0
    for position in range(start, end_of_log):
        p = columns.delivered[position]
        if sender[span.base + p] < 0:
            continue
        origin = sender[span.base + p] - low
        in_time = within(columns.delivered_time[position], send_time[span.base + p], limit)
        if in_time == FALSE:
            continue
        if (
            0 <= origin < width
            and known[origin] > send_position[span.base + p]
            and value & (NO_DELTA | CLOCKS) == 0
        ):
            late = Overtaken(position, in_time, origin)
            q, reasons = overtaking(late, start, (span, block), columns, limit, times.vector)
            if q >= 0:
                places[0] = i
                places[2] = p
                places[3] = q
                return position, value
            value |= reasons
        for k in range(width):
            known[k] = max(known[k], times.vector[p * width + k])
    return end_of_log, value


class Overtaken(NamedTuple):
    """A delivery by its place in the log, whether it is in time, and its sender's number in the block."""

    position: int
    in_time: int
    origin: int


def overtaking(
    late: Overtaken,
    start: int,
    where: tuple[Span, Block],
    columns: Columns,
    limit: Limit,
    vector: npt.NDArray[np.int32],
) -> tuple[int, int]:
    """A message that was sent after the late one and delivered before it, from place `start` on, in time; -1 for none.
    And why that is not known of others.
    """
    span, block = where
    delivered, sender, send_time = columns.delivered, columns.sender, columns.send_time
    p = span.base + delivered[late.position]
    reasons = 0
    for earlier in range(start, late.position):
        q = delivered[earlier]
        if sender[span.base + q] < 0 or vector[q * block.width + late.origin] <= columns.send_position[p]:
            continue
        in_time = within(columns.delivered_time[earlier], send_time[span.base + q], limit)
        close = within(send_time[span.base + q], send_time[p], limit)
        if in_time | close == FALSE:
            continue
        if late.in_time == 0 and in_time == 0 and close == 0:
            return int(q), reasons
        reasons |= late.in_time | in_time | close
    return -1, reasons


_TIMES: Final = ("delivered_offsets", "delivered", "delivered_time", "send_time")

TIME_KERNELS: Final = {
    "temporal_order": Kernel(temporal_order, (*_TIMES, "sender", "send_logged", "order_doubt")),
    "deadline": Kernel(deadline, (*_TIMES, "repeated", "history_doubt", "sender", "send_logged")),
    "delta_causal_order": Kernel(delta_causal_order, (*TURNS, *_TIMES, "send_position", "order_doubt")),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
