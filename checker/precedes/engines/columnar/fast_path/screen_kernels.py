"""Several predicates in one pass over the numbers of a laid-out row group: who surely satisfies them all.

Most executions of most traces are in order. For those one pass over their rows decides, and neither a batch nor a
kernel is needed; the others are judged as ever. Written in the subset of Python that numba compiles; what the
rows claim is checked on the way, as in `kernels_layout`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

_SEND: Final = 0
_KINDS: Final = 8
_FIRST_WITHOUT_MESSAGE: Final = 4
_EVERYBODY: Final = -1
_MOST_BITS: Final = 62
_DAMAGED: Final = -1
_TOO_MANY: Final = -2

SCREENED: Final = frozenset(
    {
        "order_preserving",
        "order_equivalent",
        "acyclic_order",
        "no_duplication",
        "no_creation",
        "agreement",
        "uniform_agreement",
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
    bits: bool,
    row_offsets: Any,
    message_counts: Any,
    fine: Any,
    due: Any,
    got: Any,
    before: Any,
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
    total order of the messages agrees with all send and receipt logs. If it also has every message after those that
    its sender had delivered, it agrees with happens-before. Also writes where executions begin in the rows and how
    many messages they have. With `bits`, executions of few messages are judged by sets that are numbers; without,
    all are by lists. The arrays from `due` on are scratch: `entries` thrice as long as the rows, those of logs
    twice, the others once. False where the rows are not in the layout, or need `dest_numbers`.
    """
    row = 0
    for x in range(executions):
        row_offsets[x] = row
        following = _TOO_MANY
        if bits:
            following = by_bits(
                x, row, execution, entity, event, message, dest, delivery, causal, message_counts, fine, due, got,
                before,
            )  # fmt: skip
        if following == _TOO_MANY:
            following = by_lists(
                x, row, execution, entity, event, message, dest, delivery, causal, message_counts, fine, due, got,
                logs_with, heads, waiting, ready, entries, log_at, log_end, next_waiting,
            )  # fmt: skip
        if following < 0:
            return False
        row = following
    row_offsets[executions] = row
    return bool(row == len(execution))


def by_bits(
    x: int,
    first: int,
    execution: Any,
    entity: Any,
    event: Any,
    message: Any,
    dest: Any,
    delivery: int,
    causal: bool,
    message_counts: Any,
    fine: Any,
    due: Any,
    got: Any,
    before: Any,
) -> int:
    """Judge execution x from row `first` on, in one pass; `before[m]` are the messages that must come before m.

    Returns the row after it, `_DAMAGED` or `_TOO_MANY`.
    """
    rows = len(execution)
    row = first
    count = 0
    here = 0
    met = 0
    sent = 0
    sent_here = 0
    got_here = 0
    good = True
    everybody = False
    while row < rows and execution[row] == x:
        kind = event[row]
        m = message[row]
        e = entity[row]
        if e != here:
            if e < here or e > _MOST_BITS:
                return _DAMAGED
            here = e
            sent_here = 0
            got_here = 0
        if kind < 0 or kind >= _KINDS or m < -1 or (m < 0) != (kind >= _FIRST_WITHOUT_MESSAGE):
            return _DAMAGED
        if m >= _MOST_BITS:
            return _TOO_MANY
        if m >= 0:
            one = 1 << m
            if met & one == 0:
                met |= one
                due[m] = 0
                got[m] = 0
                before[m] = 0
                count = max(count, m + 1)
            if kind == delivery:
                # What is delivered twice comes before itself.
                before[m] |= got_here
                got_here |= one
                got[m] |= 1 << e
            elif kind == _SEND:
                addressed = dest[row]
                if sent & one != 0 or addressed < _EVERYBODY or addressed >> _MOST_BITS > 0:
                    return _DAMAGED
                due[m] = addressed
                everybody = everybody or addressed == _EVERYBODY
                before[m] |= sent_here
                if causal:
                    before[m] |= got_here
                sent_here |= one
                sent |= one
        row += 1
    if row == first or count > row - first:
        return _DAMAGED
    message_counts[x] = count
    if everybody:
        entities = here + 1
        for m in range(count):
            if met >> m & 1 != 0 and due[m] > 0:
                while due[m] >> entities > 0:
                    entities += 1
        for m in range(count):
            if met >> m & 1 != 0 and due[m] == _EVERYBODY:
                due[m] = (1 << entities) - 1
    for m in range(count):
        if met >> m & 1 != 0 and due[m] != got[m]:
            good = False
    left = met
    moved = good
    while left != 0 and moved:
        moved = False
        for m in range(count):
            if left >> m & 1 != 0 and before[m] & left == 0:
                left ^= 1 << m
                moved = True
    fine[x] = good and left == 0
    return row


def by_lists(
    x: int,
    first: int,
    execution: Any,
    entity: Any,
    event: Any,
    message: Any,
    dest: Any,
    delivery: int,
    causal: bool,
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
) -> int:
    """Judge execution x from row `first` on, whatever its size; as `by_bits`.

    Messages are taken off the heads of all logs that have them: if nothing is left, there is a total order.
    """
    rows = len(execution)
    none = len(next_waiting)
    row = first
    count = 0
    previous = 0
    while row < rows and execution[row] == x:
        kind = event[row]
        m = message[row]
        e = entity[row]
        if e < previous or e > _MOST_BITS or kind < 0 or kind >= _KINDS or m < -1:
            return _DAMAGED
        if (m < 0) != (kind >= _FIRST_WITHOUT_MESSAGE):
            return _DAMAGED
        count = max(count, m + 1)
        previous = e
        row += 1
    if row == first or count > row - first:
        return _DAMAGED
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
                        return _DAMAGED
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
    return row
