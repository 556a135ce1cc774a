"""Tuned kernels of what two entities deliver of the messages that are addressed to both, without pairs of messages.

The shared part of a receipt log and another entity has the messages that are addressed to both owners. Two entities go
through their shared parts together, as long as these are the same; the definitions differ in what may follow where they
part. That takes time in proportion to deliveries times entities.

Where destinations or an order are not known, the compiled formula decides.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.information import ADDRESSES, addressed
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.engines.columnar.kernels.turns import all_logged
from precedes.native.codes import DEFERRED, FALSE
from precedes.native.compiled_functions import Int32Out, MatrixOut

BOTH_END: Final = 0
ONE_ENDS: Final = 1
NOTHING_AGAIN: Final = 2
"""What is asked where two shared parts are no longer the same: that both end, that one does, or that nothing that
follows in one follows in the other."""


class SharedLogs(NamedTuple):
    """The receipt logs without what is addressed to their owners alone, or not to them at all.

    offsets, entries  log e has the messages `offsets[e]` to `offsets[e + 1]` of `entries`
    met               messages: the pair of logs of which the first has it where they have parted
    """

    offsets: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int32]
    met: npt.NDArray[np.int64]


def begins(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Défago, Schiper, Urbán 2004, half of prefix order, asked both ways: the shared parts are the same."""
    compared(first, last, columns, BOTH_END, values, places)


def prefix_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Défago, Schiper, Urbán 2004, prefix order: one of the shared parts begins the other."""
    compared(first, last, columns, ONE_ENDS, values, places)


def gap_free_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Défago, Schiper, Urbán 2004, gap-free total order: up to the last message that both have, both are the same."""
    compared(first, last, columns, NOTHING_AGAIN, values, places)


def compared(
    first: int, last: int, columns: Columns, asked: int, values: Int32Out, places: MatrixOut
) -> None:
    """Whether the shared parts of any two entities are as asked."""
    longest = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        longest = max(longest, columns.delivered_offsets[end] - columns.delivered_offsets[begin])
    logs = SharedLogs(
        np.empty(most_entries(first, last, columns.entity_offsets) + 1, np.int64),
        np.empty(longest, np.int32),
        np.empty(most_entries(first, last, columns.message_offsets), np.int64),
    )
    all_compared(first, last, columns, logs, asked, (values, places))


def all_compared(
    first: int,
    last: int,
    columns: Columns,
    logs: SharedLogs,
    asked: int,
    found: tuple[Int32Out, MatrixOut],
) -> None:
    """The same, with room for the logs of any execution."""
    values, places = found
    for x in range(first, last):
        span = span_of(x, columns)
        if columns.order_doubt[x] != 0 or not all_logged(span, columns):
            values[x] = DEFERRED
            continue
        shared(span, columns, logs)
        n = span.end - span.begin
        for i in range(n):
            for j in range(i + 1, n):
                if values[x] == 0 and parted((i, j), asked, span.base, columns, logs, places[x]):
                    values[x] = FALSE


def shared(span: Span, columns: Columns, logs: SharedLogs) -> None:
    """Write the shared logs of an execution."""
    offsets, entries, met = logs
    for m in range(span.stop - span.base):
        met[m] = -1
    length = 0
    for entity in range(span.begin, span.end):
        offsets[entity - span.begin] = length
        for k in range(columns.delivered_offsets[entity], columns.delivered_offsets[entity + 1]):
            m = columns.delivered[k]
            g = span.base + m
            several = columns.destination_offsets[g + 1] - columns.destination_offsets[g] > 1
            if (several or columns.to_all[g]) and addressed(entity - span.begin, g, columns):
                entries[length] = m
                length += 1
    offsets[span.end - span.begin] = length


def passed_alone(place: int, stop: int, other: int, base: int, columns: Columns, logs: SharedLogs) -> int:
    """The first place, from one in a shared log on to its end, of a message that is addressed to the other, too."""
    while place < stop and not addressed(other, base + logs.entries[place], columns):
        place += 1
    return place


def parted(
    pair: tuple[int, int], asked: int, base: int, columns: Columns, logs: SharedLogs, places: Int32Out
) -> bool:
    """Whether the shared parts of two entities are not as asked. Writes which messages show it."""
    i, j = pair
    offsets, entries, _ = logs
    here = offsets[i]
    there = offsets[j]
    while True:
        here = passed_alone(here, offsets[i + 1], j, base, columns, logs)
        there = passed_alone(there, offsets[j + 1], i, base, columns, logs)
        if here == offsets[i + 1] or there == offsets[j + 1] or entries[here] != entries[there]:
            break
        here += 1
        there += 1
    both = here < offsets[i + 1] and there < offsets[j + 1]
    if asked == NOTHING_AGAIN:
        return both and found_again(pair, (here, there), base, columns, logs, places)
    if asked == ONE_ENDS and not both:
        return False
    if here < offsets[i + 1]:
        places[0] = i
        places[1] = j
        places[2] = entries[here]
        places[3] = entries[there] if both else -1
        return True
    if there < offsets[j + 1]:
        places[0] = j
        places[1] = i
        places[2] = entries[there]
        return True
    return False


def found_again(
    pair: tuple[int, int],
    fronts: tuple[int, int],
    base: int,
    columns: Columns,
    logs: SharedLogs,
    places: Int32Out,
) -> bool:
    """Whether a message follows in both shared parts where they have parted.

    The first that does in the log of j comes after the front of i there, or it is this front; then it comes after the
    front of j in the log of j.
    """
    i, j = pair
    here, there = fronts
    offsets, entries, met = logs
    mark = i * (len(offsets) - 1) + j
    for k in range(here, offsets[i + 1]):
        if addressed(j, base + entries[k], columns):
            met[entries[k]] = mark
    for k in range(there, offsets[j + 1]):
        q = entries[k]
        if met[q] == mark:
            first_is_late = q == entries[here]
            places[0] = j if first_is_late else i
            places[1] = i if first_is_late else j
            places[2] = entries[there] if first_is_late else entries[here]
            places[3] = q
            return True
    return False


_SHARED: Final = ("delivered_offsets", "delivered", "order_doubt", "sender", "send_logged", *ADDRESSES)

SHARED_LOG_KERNELS: Final = {
    "begins": Kernel(begins, _SHARED),
    "prefix_order": Kernel(prefix_order, _SHARED),
    "gap_free_order": Kernel(gap_free_order, _SHARED),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
