"""Tuned kernels of the strict orders: what comes before a message has been delivered, and not only in order.

Where happens-before has a third value, or a cycle, the compiled formula decides.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.codes import DEFERRED, FALSE
from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.information import ADDRESSES, addressed
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.engines.columnar.kernels.turns import TURNS, Turns, all_logged, turns_of
from precedes.engines.columnar.kernels.vector_times import (
    BLOCK,
    Block,
    VectorTimes,
    turns_and_sources,
    vector_times,
    vector_times_of,
)
from precedes.engines.columnar.native import Int32Out, MatrixOut

Int64 = npt.NDArray[np.int64]


class Gaps(NamedTuple):
    """Where the logs of senders have been gone through by a receiver.

    pointer  entities, or senders of a block: how far
    held     messages: the receiver, and block, that has delivered it
    """

    pointer: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]


def gaps_of(first: int, last: int, columns: Columns) -> Gaps:
    """Room for any execution."""
    return Gaps(
        np.empty(most_entries(first, last, columns.entity_offsets), np.int64),
        np.empty(most_entries(first, last, columns.message_offsets), np.int64),
    )


def passed(place: int, limit: int, i: int, base: int, columns: Columns, held: tuple[Int64, int]) -> int:
    """The first place, from one in a send log on to a limit, of a message for receiver i that it has not delivered."""
    marks, mark = held
    while place < limit:
        m = columns.sent[place]
        if marks[m] != mark and addressed(i, base + m, columns):
            break
        place += 1
    return place


def causal_delivery(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, causal order, strict: what comes before has been delivered.

    For each sender, the first message addressed to the receiver that it has not delivered tells.
    """
    work = (
        turns_of(first, last, columns),
        vector_times_of(first, last, columns),
        gaps_of(first, last, columns),
    )
    strictly_ordered(first, last, columns, work, values, places)


def strictly_ordered(
    first: int,
    last: int,
    columns: Columns,
    work: tuple[Turns, VectorTimes, Gaps],
    values: Int32Out,
    places: MatrixOut,
) -> None:
    """Strict causal order, with room for any execution."""
    turns, times, gaps = work
    for x in range(first, last):
        span = span_of(x, columns)
        count = turns_and_sources(x, span, columns, turns, times)
        if count < 0:
            values[x] = DEFERRED
            continue
        for m in range(span.stop - span.base):
            gaps.held[m] = -1
        n = span.end - span.begin
        worst = n
        place = 0
        for low in range(0, n, BLOCK):
            block = Block(low, min(BLOCK, n - low), count)
            vector_times(block, span, columns, turns, times)
            for i in range(min(n, worst + 1)):
                end_of_log = place if i == worst else columns.delivered_offsets[span.begin + i + 1]
                position = first_gap(i, end_of_log, block, span, columns, (times, gaps, places[x]))
                if position < end_of_log:
                    worst = i
                    place = position
                    values[x] = FALSE
                    break


def first_gap(
    i: int,
    end_of_log: int,
    block: Block,
    span: Span,
    columns: Columns,
    work: tuple[VectorTimes, Gaps, Int32Out],
) -> int:
    """The place of the first message that receiver i delivers while one that was sent before it, by a sender in the
    block, is missing; `end_of_log` where there is none. Writes which are the two.
    """
    low, width, _ = block
    times, gaps, places = work
    sender, sent, sent_offsets, delivered = (
        columns.sender,
        columns.sent,
        columns.sent_offsets,
        columns.delivered,
    )
    vector, pointer, held = times.vector, gaps.pointer, gaps.held
    mark = low * (span.end - span.begin) + i
    for k in range(width):
        pointer[k] = sent_offsets[span.begin + low + k]
    for position in range(columns.delivered_offsets[span.begin + i], end_of_log):
        q = delivered[position]
        if sender[span.base + q] >= 0:
            for k in range(width):
                limit = sent_offsets[span.begin + low + k] + vector[q * width + k]
                pointer[k] = passed(pointer[k], limit, i, span.base, columns, (held, mark))
                if pointer[k] < limit and sent[pointer[k]] != q:
                    places[0] = i
                    places[2] = sent[pointer[k]]
                    places[3] = q
                    return position
        held[q] = mark
    return end_of_log


def fifo_delivery(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, FIFO order, strict: what was sent before has been delivered."""
    strictly_in_turn(first, last, columns, gaps_of(first, last, columns), values, places)


def strictly_in_turn(
    first: int, last: int, columns: Columns, gaps: Gaps, values: Int32Out, places: MatrixOut
) -> None:
    """Strict FIFO order, with room for any execution."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender, send_position = columns.sender, columns.send_position
    sent_offsets, sent = columns.sent_offsets, columns.sent
    pointer, held = gaps.pointer, gaps.held
    for x in range(first, last):
        span = span_of(x, columns)
        begin, end, base, stop = span
        n = end - begin
        if columns.order_doubt[x] != 0 or not all_logged(span, columns):
            values[x] = DEFERRED
            continue
        for m in range(stop - base):
            held[m] = -1
        for i in range(n):
            for k in range(n):
                pointer[k] = sent_offsets[begin + k]
            for position in range(delivered_offsets[begin + i], delivered_offsets[begin + i + 1]):
                q = delivered[position]
                origin = sender[base + q]
                if origin >= 0:
                    limit = sent_offsets[begin + origin] + send_position[base + q]
                    pointer[origin] = passed(pointer[origin], limit, i, base, columns, (held, i))
                    if pointer[origin] < limit:
                        values[x] = FALSE
                        places[x, 0] = i
                        places[x, 1] = origin
                        places[x, 2] = sent[pointer[origin]]
                        places[x, 3] = q
                        break
                held[q] = i
            if values[x] != 0:
                break


_STRICT: Final = ("delivered_offsets", "delivered", "sent_offsets", "sent", *ADDRESSES, "order_doubt")

STRICT_KERNELS: Final = {
    "causal_delivery": Kernel(causal_delivery, (*TURNS, *_STRICT)),
    "fifo_delivery": Kernel(fifo_delivery, ("sender", "send_logged", "send_position", *_STRICT)),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
