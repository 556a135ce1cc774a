"""Several predicates in one pass over the numbers of a laid-out row group: who surely satisfies them all.

Most executions of most traces are in order. For those one pass over their rows decides, and neither a batch nor a
kernel is needed; the others are judged as ever. Written in the subset of Python that numba compiles; what the
rows claim is checked on the way, as in `kernels_layout`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_SEND: Final = 0
_KINDS: Final = 7
_FIRST_WITHOUT_MESSAGE: Final = 4
_EVERYBODY: Final = -1
_MOST_BITS: Final = 62

SCREENED: Final = frozenset(
    {
        "order_preserving",
        "order_equivalent",
        "acyclic_order",
        "no_duplication",
        "no_creation",
        "agreement",
        "selectively_information_preserving",
        "fifo_delivery",
    }
)
"""The definitions that `screen` decides, by their names in `recognise.DEFINITIONS`."""

CAUSAL: Final = frozenset({"causal_order", "process_causal_order", "causal_delivery"})
"""And these, where it is told to look at them."""


def screen(
    executions: int,
    execution: Any,
    entity: Any,
    event: Any,
    message: Any,
    dest: Any,
    delivery: int,
    causal: bool,
    row_offsets: Any,
    message_counts: Any,
    fine: Any,
    due: Any,
    got: Any,
    logs_with: Any,
    heads: Any,
    waiting: Any,
    ready: Any,
    entries: Any,
    log_at: Any,
    log_end: Any,
    next_waiting: Any,
) -> bool:
    """Set `fine` for executions that surely satisfy all of `SCREENED` (1994, §2.2), and, if `causal`, of `CAUSAL`.

    They do where nothing is delivered twice, what was delivered at an entity is what was addressed to it, and one
    total order of the messages agrees with all send and receipt logs: messages can be taken off the heads of
    all logs that have them until nothing is left. If it also has every message after those that its sender had
    delivered, it agrees with happens-before. Also writes where executions begin in the rows and how many
    messages they have. The arrays from `due` on are scratch: `entries` thrice as long as the rows, those of logs
    twice, the others once. False where the rows are not in the layout, or need `dest_numbers`.
    """
    rows = len(execution)
    none = len(next_waiting)
    row = 0
    for x in range(executions):
        first = row
        row_offsets[x] = first
        count = 0
        previous = 0
        while row < rows and execution[row] == x:
            kind = event[row]
            m = message[row]
            e = entity[row]
            if e < previous or e > _MOST_BITS or kind < 0 or kind >= _KINDS or m < -1:
                return False
            if (m < 0) != (kind >= _FIRST_WITHOUT_MESSAGE):
                return False
            count = max(count, m + 1)
            previous = e
            row += 1
        if row == first or count > row - first:
            return False
        message_counts[x] = count
        for m in range(count):
            due[m] = 0
            got[m] = 0
            logs_with[m] = 0
            heads[m] = 0
            waiting[m] = none
        good = True
        everybody = False
        length = 0
        log = 0
        at = first
        while at < row:
            e = entity[at]
            bit = 1 << e
            stop = at
            begin = length
            sends = 0
            while stop < row and entity[stop] == e:
                if event[stop] == delivery:
                    m = np.uint32(message[stop])
                    if got[m] & bit:
                        good = False
                    else:
                        got[m] |= bit
                        logs_with[m] += 1
                        entries[length] = m
                        length += 1
                elif event[stop] == _SEND:
                    sends += 1
                stop += 1
            if length > begin:
                log_at[log] = begin
                log_end[log] = length
                log += 1
            if sends > 0:
                begin = length
                for k in range(at, stop):
                    if event[k] == _SEND:
                        m = np.uint32(message[k])
                        bits = dest[k]
                        if bits < _EVERYBODY or bits >> _MOST_BITS > 0:
                            return False
                        everybody = everybody or bits == _EVERYBODY
                        due[m] = bits
                        logs_with[m] += 1
                        entries[length] = m
                        length += 1
                log_at[log] = begin
                log_end[log] = length
                log += 1
                if causal:
                    last = -1
                    for k in range(at, stop):
                        m = message[k]
                        if event[k] == delivery:
                            last = m
                        elif event[k] == _SEND and last >= 0:
                            # What was delivered last before a send comes first, as a log of two.
                            logs_with[last] += 1
                            logs_with[m] += 1
                            entries[length] = last
                            entries[length + 1] = m
                            log_at[log] = length
                            length += 2
                            log_end[log] = length
                            log += 1
            at = stop
        if everybody:
            entities = previous + 1
            for m in range(count):
                if due[m] > 0:
                    while due[m] >> entities > 0:
                        entities += 1
            for m in range(count):
                if due[m] == _EVERYBODY:
                    due[m] = (1 << entities) - 1
        for m in range(count):
            good = good and due[m] == got[m]
        if good:
            left = length
            top = 0
            for number in range(log):
                m = entries[log_at[number]]
                next_waiting[number] = waiting[m]
                waiting[m] = number
                heads[m] += 1
                if heads[m] == logs_with[m]:
                    ready[top] = m
                    top += 1
            while top > 0:
                top -= 1
                k = waiting[ready[top]]
                while k != none:
                    following = next_waiting[k]
                    left -= 1
                    log_at[k] += 1
                    if log_at[k] < log_end[k]:
                        m = entries[log_at[k]]
                        next_waiting[k] = waiting[m]
                        waiting[m] = k
                        heads[m] += 1
                        if heads[m] == logs_with[m]:
                            ready[top] = m
                            top += 1
                    k = following
            good = left == 0
        fine[x] = good
    row_offsets[executions] = row
    return bool(row == rows)
