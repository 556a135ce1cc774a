"""The tuned kernel of how far messages of one sender overtake each other at a receiver.

Of the messages of a sender that a receiver has delivered, the last one in the sender's log is the farthest ahead of any
that follows. So each delivery is compared with one message. Places in the log of what a sender sent to a receiver are
counted only where places among all that it sent are too far apart, once for each sender and receiver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.information import ADDRESSES, addressed
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.engines.columnar.kernels.turns import all_logged
from precedes.native.codes import DEFERRED, FALSE
from precedes.native.compiled_functions import Int32Out, MatrixOut


class Overtakers(NamedTuple):
    """What a receiver has delivered of each sender.

    receiver  senders: the receiver that delivered something of it last, -1 for none
    farthest  senders: of what this receiver delivered of it, the last message in the sender's log
    counted   senders: the receiver for which places were counted last, -1 for none
    place     messages: the place among what the sender sent to that receiver
    """

    receiver: npt.NDArray[np.int64]
    farthest: npt.NDArray[np.int64]
    counted: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]


def bounded_disorder(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Kafka 4.0, max.in.flight.requests.per.connection: only the next `bound` messages overtake a message."""
    widest = most_entries(first, last, columns.entity_offsets)
    overtakers = Overtakers(
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(most_entries(first, last, columns.message_offsets), np.int64),
    )
    all_bounded(first, last, columns, overtakers, values, places)


def all_bounded(
    first: int, last: int, columns: Columns, overtakers: Overtakers, values: Int32Out, places: MatrixOut
) -> None:
    """The same, with room for any execution."""
    for x in range(first, last):
        span = span_of(x, columns)
        if columns.order_doubt[x] != 0 or not all_logged(span, columns):
            values[x] = DEFERRED
            continue
        for k in range(span.end - span.begin):
            overtakers.receiver[k] = -1
            overtakers.counted[k] = -1
        for i in range(span.end - span.begin):
            if overtaken_from_afar(i, span, columns, overtakers, places[x]):
                values[x] = FALSE
                break


def overtaken_from_afar(
    i: int, span: Span, columns: Columns, overtakers: Overtakers, places: Int32Out
) -> bool:
    """Whether a message is overtaken at receiver i by one that is too far behind it; which two."""
    receiver, farthest, counted, place = overtakers
    sender, send_position = columns.sender, columns.send_position
    base = span.base
    for k in range(columns.delivered_offsets[span.begin + i], columns.delivered_offsets[span.begin + i + 1]):
        m = columns.delivered[k]
        origin = sender[base + m]
        if origin < 0 or not addressed(i, base + m, columns):
            continue
        if receiver[origin] != i:
            receiver[origin] = i
            farthest[origin] = m
        far = farthest[origin]
        ahead = send_position[base + far] - send_position[base + m]
        if ahead < 0:
            farthest[origin] = m
        elif ahead > columns.bound:
            if counted[origin] != i:
                counted[origin] = i
                count_places(i, origin, span, columns, place)
            if place[far] - place[m] > columns.bound:
                places[0] = i
                places[1] = origin
                places[2] = m
                places[3] = far
                return True
    return False


def count_places(i: int, origin: int, span: Span, columns: Columns, place: npt.NDArray[np.int64]) -> None:
    """Write the places of messages among those that a sender sent to receiver i."""
    count = 0
    for k in range(columns.sent_offsets[span.begin + origin], columns.sent_offsets[span.begin + origin + 1]):
        m = columns.sent[k]
        if addressed(i, span.base + m, columns):
            place[m] = count
            count += 1


class Overtaken(NamedTuple):
    """Who delivers it too late, a message, and the one that overtakes it, which its sender sent after it."""

    receiver: int
    message: int
    overtaker: int


def messages_between(
    columns: Columns, x: int, pair: Overtaken, bound: int, part: Sequence[int]
) -> tuple[int, ...]:
    """The messages that alone show a violation: the two, and between them so many that the sender sent to the receiver.

    `part`: the part (M) that each message is in; only messages of the part of the two are counted.
    """
    span = span_of(x, columns)
    start, stop = (columns.send_position[span.base + m] for m in (pair.message, pair.overtaker))
    log = columns.sent[columns.sent_offsets[span.begin + columns.sender[span.base + pair.message]] :]
    between = [
        m
        for m in log[start + 1 : stop].tolist()
        if part[m] == part[pair.message] and addressed(pair.receiver, span.base + m, columns)
    ]
    return (pair.message, *between[:bound], pair.overtaker)


SELECTED: Final = ("sender", "send_logged", "send_position", "sent_offsets", "sent", *ADDRESSES)
"""What is read to tell what a sender sent to a receiver."""

DISORDER_KERNELS: Final = {
    "bounded_disorder": Kernel(bounded_disorder, (*SELECTED, "delivered_offsets", "delivered", "order_doubt"))
}
"""By the name of the family in `families`."""
