"""Tuned kernels of the strict orders: what comes before a message has been delivered, and not only in order.

Where happens-before has a third value, or a cycle, the compiled formula decides.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.information import ADDRESSES, addressed
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.engines.columnar.kernels.turns import (
    TURNS,
    Turns,
    all_logged,
    turns_of,
    turns_taken,
    well_known,
)
from precedes.engines.columnar.kernels.vector_times import (
    BLOCK,
    Block,
    VectorTimes,
    turns_and_sources,
    vector_times,
    vector_times_of,
)
from precedes.native.codes import DEFERRED, FALSE, SEND
from precedes.native.compiled_functions import Int32Out, MatrixOut

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]


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


class Receiver(NamedTuple):
    """Who is asked: a local entity, where the messages of its execution begin, and its mark on what it delivered."""

    entity: int
    base: int
    mark: int


def passed(log: Int32, place: int, limit: int, receiver: Receiver, columns: Columns, held: Int64) -> int:
    """The first place, from one in a log on to a limit, of a message for a receiver that it has not delivered."""
    while place < limit:
        m = log[place]
        if held[m] != receiver.mark and addressed(receiver.entity, receiver.base + m, columns):
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
    receiver = Receiver(i, span.base, low * (span.end - span.begin) + i)
    for k in range(width):
        pointer[k] = sent_offsets[span.begin + low + k]
    for position in range(columns.delivered_offsets[span.begin + i], end_of_log):
        q = delivered[position]
        if sender[span.base + q] >= 0:
            for k in range(width):
                limit = sent_offsets[span.begin + low + k] + vector[q * width + k]
                pointer[k] = passed(sent, pointer[k], limit, receiver, columns, held)
                if pointer[k] < limit and sent[pointer[k]] != q:
                    places[0] = i
                    places[2] = sent[pointer[k]]
                    places[3] = q
                    return position
        held[q] = receiver.mark
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
            receiver = Receiver(i, base, i)
            for k in range(n):
                pointer[k] = sent_offsets[begin + k]
            for position in range(delivered_offsets[begin + i], delivered_offsets[begin + i + 1]):
                q = delivered[position]
                origin = sender[base + q]
                if origin >= 0:
                    limit = sent_offsets[begin + origin] + send_position[base + q]
                    pointer[origin] = passed(sent, pointer[origin], limit, receiver, columns, held)
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


class Ends(NamedTuple):
    """The places in the logs of senders of the first and the last message that a receiver delivers, and its number."""

    lowest: npt.NDArray[np.int64]
    highest: npt.NDArray[np.int64]
    receiver: npt.NDArray[np.int64]


def nothing_skipped(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """What a sender sent to an entity between two messages that the entity delivers is delivered there, too."""
    widest = most_entries(first, last, columns.entity_offsets)
    ends = Ends(np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64))
    none_skipped(first, last, columns, (ends, gaps_of(first, last, columns)), values, places)


def none_skipped(
    first: int, last: int, columns: Columns, work: tuple[Ends, Gaps], values: Int32Out, places: MatrixOut
) -> None:
    """The same, with room for any execution."""
    ends, gaps = work
    for x in range(first, last):
        span = span_of(x, columns)
        if columns.order_doubt[x] != 0 or not all_logged(span, columns):
            values[x] = DEFERRED
            continue
        for m in range(span.stop - span.base):
            gaps.held[m] = -1
        for k in range(span.end - span.begin):
            ends.receiver[k] = -1
        for i in range(span.end - span.begin):
            if skipped_between(i, span, columns, ends, gaps, places[x]):
                values[x] = FALSE
                break


def skipped_between(i: int, span: Span, columns: Columns, ends: Ends, gaps: Gaps, places: Int32Out) -> bool:
    """Whether receiver i delivers messages of a sender before and after one that it does not; which three."""
    receiver = Receiver(i, span.base, i)
    sent = columns.sent
    for k in range(columns.delivered_offsets[span.begin + i], columns.delivered_offsets[span.begin + i + 1]):
        m = columns.delivered[k]
        gaps.held[m] = i
        origin = columns.sender[span.base + m]
        if origin < 0:
            continue
        place = columns.sent_offsets[span.begin + origin] + columns.send_position[span.base + m]
        if ends.receiver[origin] != i:
            ends.receiver[origin] = i
            ends.lowest[origin] = place
            ends.highest[origin] = place
        ends.lowest[origin] = min(ends.lowest[origin], place)
        ends.highest[origin] = max(ends.highest[origin], place)
    for j in range(span.end - span.begin):
        if ends.receiver[j] == i:
            place = passed(sent, ends.lowest[j], ends.highest[j], receiver, columns, gaps.held)
            if place < ends.highest[j]:
                places[0] = i
                places[1] = j
                places[2] = sent[ends.lowest[j]]
                places[3] = sent[place]
                places[4] = sent[ends.highest[j]]
                return True
    return False


class Delivered(NamedTuple):
    """What each entity has delivered, and of each message how much of it its sender had before the send.

    offsets, entries  entity e first delivers the messages `offsets[e]` to `offsets[e + 1]` of `entries`
    before            messages: the place in `entries` up to which its sender had delivered
    """

    offsets: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]


def local_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, local order, strict: what the sender had delivered before a send has been delivered.

    For each sender, the first message addressed to the receiver that it has not delivered tells.
    """
    longest = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        longest = max(longest, columns.event_offsets[end] - columns.event_offsets[begin])
    work = (
        turns_of(first, last, columns),
        gaps_of(first, last, columns),
        Delivered(
            np.empty(most_entries(first, last, columns.entity_offsets) + 1, np.int64),
            np.empty(longest, np.int32),
            np.empty(most_entries(first, last, columns.message_offsets), np.int64),
        ),
    )
    locally_ordered(first, last, columns, work, values, places)


def locally_ordered(
    first: int,
    last: int,
    columns: Columns,
    work: tuple[Turns, Gaps, Delivered],
    values: Int32Out,
    places: MatrixOut,
) -> None:
    """Strict local order, with room for any execution."""
    turns, gaps, logs = work
    for x in range(first, last):
        span = span_of(x, columns)
        known = columns.order_doubt[x] == 0 and well_known(span, columns)
        if not known or turns_taken(span, columns, turns) < 0:
            values[x] = DEFERRED
            continue
        delivered_before_sends(span, columns, gaps, logs)
        for m in range(span.stop - span.base):
            gaps.held[m] = -1
        for i in range(span.end - span.begin):
            if first_not_passed_on(i, span, columns, gaps, logs, places[x]):
                values[x] = FALSE
                break


def delivered_before_sends(span: Span, columns: Columns, gaps: Gaps, logs: Delivered) -> None:
    """Write what each entity first delivers, and how much of it before each send."""
    for m in range(span.stop - span.base):
        gaps.held[m] = -1
    length = 0
    for entity in range(span.begin, span.end):
        logs.offsets[entity - span.begin] = length
        for k in range(columns.event_offsets[entity], columns.event_offsets[entity + 1]):
            kind = columns.event_kind[k]
            m = columns.event_message[k]
            if kind == SEND:
                logs.before[m] = length
            elif kind == columns.delivery and gaps.held[m] != entity:
                gaps.held[m] = entity
                logs.entries[length] = m
                length += 1
    logs.offsets[span.end - span.begin] = length


def first_not_passed_on(
    i: int, span: Span, columns: Columns, gaps: Gaps, logs: Delivered, places: Int32Out
) -> bool:
    """Whether receiver i delivers a message while one that the sender had delivered before is missing; which two."""
    receiver = Receiver(i, span.base, i)
    pointer, held = gaps
    for k in range(span.end - span.begin):
        pointer[k] = logs.offsets[k]
    for position in range(
        columns.delivered_offsets[span.begin + i], columns.delivered_offsets[span.begin + i + 1]
    ):
        q = columns.delivered[position]
        origin = columns.sender[span.base + q]
        if origin >= 0:
            limit = logs.before[q]
            pointer[origin] = passed(logs.entries, pointer[origin], limit, receiver, columns, held)
            if pointer[origin] < limit:
                places[0] = i
                places[2] = logs.entries[pointer[origin]]
                places[3] = q
                return True
        held[q] = i
    return False


_STRICT: Final = ("delivered_offsets", "delivered", "sent_offsets", "sent", *ADDRESSES, "order_doubt")

_CAUSAL: Final = Kernel(causal_delivery, (*TURNS, *_STRICT))
_LOCAL: Final = Kernel(local_order, (*TURNS, "delivered_offsets", "delivered", *ADDRESSES, "order_doubt"))
_FIFO: Final = Kernel(fifo_delivery, ("sender", "send_logged", "send_position", *_STRICT))

STRICT_KERNELS: Final = {
    "causal_delivery": _CAUSAL,
    "fifo_delivery": _FIFO,
    "nothing_skipped": Kernel(nothing_skipped, _FIFO.reads),
    "local_order": _LOCAL,
    "nonuniform_local_order": _LOCAL.of_correct(),
    "nonuniform_causal_delivery": _CAUSAL.of_correct(),
    "nonuniform_fifo_delivery": _FIFO.of_correct(),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
