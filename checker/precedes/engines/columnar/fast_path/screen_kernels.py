"""Several predicates in one pass over the numbers of a laid-out row group: who surely satisfies them all.

Most executions of most traces are in order. For those one pass over their rows decides, and neither a batch nor a
kernel is needed; the others are judged as ever. Written in the subset of Python that numba compiles; what the
rows claim is checked on the way, as in `column_kernels`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from precedes.engines.columnar.fast_path.coded_rows import CodedRows, is_kind
from precedes.native.codes import SEND
from precedes.native.compiled_functions import BoolOut, Int32Out, Int64Out, UInt32Out
from precedes.traces.layout.columnar_file import EVERYBODY, MOST_BITS

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
        "nonuniform_total_order",
        "nonuniform_fifo_delivery",
        "begins",
        "prefix_order",
        "gap_free_order",
        "nothing_skipped",
        "validity",
        "every_delivery_in_order",
        "repeats_in_place",
        "only_in_flight_repeats",
    }
)
"""The definitions that hold where `screen` says so, by their names in `recognition.DEFINITIONS`."""

CAUSAL: Final = frozenset(
    {
        "causal_order",
        "process_causal_order",
        "causal_delivery",
        "delta_causal_order",
        "local_order",
        "nonuniform_local_order",
        "nonuniform_causal_delivery",
        "one_order",
    }
)
"""And these, where it is told to look at them."""


class Question(NamedTuple):
    """What is asked: the kind that counts as delivery, whether for `SCREENED`, and for `CAUSAL`, too.

    `bits`: sets may be numbers.
    """

    delivery: int
    ordered: bool
    causal: bool
    bits: bool


class Screened(NamedTuple):
    """Where executions begin in the rows, how many messages each has, and whether it surely satisfies everything."""

    row_offsets: Int64Out
    message_counts: Int32Out
    fine: BoolOut


class Sets(NamedTuple):
    """Sets of entities and messages as numbers, by message.

    due     the entities that it is addressed to
    got     those that delivered it
    before  the messages that must come before it
    """

    due: Int64Out
    got: Int64Out
    before: Int64Out


class LogFronts(NamedTuple):
    """Logs of messages, and what is at their fronts.

    logs_with     messages: how many logs have it
    heads         messages: and how many of these it heads
    waiting       messages: the first log that waits for the others to have it at their heads
    ready         messages that head every log that has them
    entries       what the logs have, thrice as long as the rows
    log_at        logs: where the front is in `entries`; of logs there are at most twice as many as rows
    log_end       logs: where it ends
    next_waiting  logs: the next log that waits for the same; its length stands for none
    """

    logs_with: UInt32Out
    heads: UInt32Out
    waiting: UInt32Out
    ready: UInt32Out
    entries: UInt32Out
    log_at: UInt32Out
    log_end: UInt32Out
    next_waiting: UInt32Out


def sets_of(rows: int) -> Sets:
    """Room for so many rows."""
    return Sets(*(np.empty(rows, np.int64) for _ in range(3)))


def fronts_of(rows: int) -> LogFronts:
    """Room for so many rows."""
    return LogFronts(*(np.empty(rows * times, np.uint32) for times in (1, 1, 1, 1, 3, 2, 2, 2)))


def screen(rows: CodedRows, question: Question, screened: Screened, sets: Sets, fronts: LogFronts) -> bool:
    """Set `fine` for executions that surely satisfy all of `SCREENED` (1994, §2.2), and, if `causal`, of `CAUSAL`.

    Where it is not asked whether they are `ordered`, it is set for all.

    They do where nothing is delivered twice, what was delivered at an entity is what was addressed to it, and one
    total order of the messages agrees with all send and receipt logs. If it also has every message after those that
    its sender had delivered, it agrees with happens-before. With `bits`, executions of few messages are judged by sets
    that are numbers; without, all are by lists. False where the rows are not in the layout, or need `dest_numbers`.
    """
    row = 0
    executions = len(screened.fine)
    for x in range(executions):
        screened.row_offsets[x] = row
        following = _TOO_MANY
        if question.bits:
            following = by_bits(x, row, rows, question, screened, sets)
        if following == _TOO_MANY:
            following = by_lists(x, rows, question, screened, sets, fronts)
        if following < 0:
            return False
        row = following
    screened.row_offsets[executions] = row
    return bool(row == len(rows.execution))


def by_bits(x: int, first: int, rows: CodedRows, question: Question, screened: Screened, sets: Sets) -> int:
    """Judge execution x from row `first` on, in one pass. Returns the row after it, `_DAMAGED` or `_TOO_MANY`."""
    execution, entity, event, message = rows.execution, rows.entity, rows.event, rows.message
    due, got, before = sets
    row = first
    count = 0
    here = 0
    met = 0
    sent = 0
    sent_here = 0
    got_here = 0
    everybody = False
    while row < len(execution) and execution[row] == x:
        kind = event[row]
        m = message[row]
        e = entity[row]
        if e != here:
            if e < here:
                return _DAMAGED
            if e > MOST_BITS:
                return _TOO_MANY
            here = e
            sent_here = 0
            got_here = 0
        if not is_kind(kind, m):
            return _DAMAGED
        if m >= MOST_BITS:
            return _TOO_MANY
        if m >= 0:
            one = 1 << m
            if met & one == 0:
                met |= one
                due[m] = 0
                got[m] = 0
                before[m] = 0
                count = max(count, m + 1)
            if kind == question.delivery:
                # What is delivered twice comes before itself.
                before[m] |= got_here
                got_here |= one
                got[m] |= 1 << e
            elif kind == SEND:
                addressed = rows.dest[row]
                if sent & one != 0 or not is_set(addressed):
                    return _DAMAGED
                due[m] = addressed
                everybody = everybody or addressed == EVERYBODY
                before[m] |= sent_here
                if question.causal:
                    before[m] |= got_here
                sent_here |= one
                sent |= one
        row += 1
    if row == first or count > row - first:
        return _DAMAGED
    screened.message_counts[x] = count
    if everybody:
        for m in range(count):
            if met >> m & 1 == 0:
                due[m] = 0
        spell_out(here + 1, count, sets)
    screened.fine[x] = not question.ordered or (
        all_delivered(count, met, sets) and has_order(count, met, before)
    )
    return row


def is_set(bits: int) -> bool:
    """Whether this stands for destinations: everybody, or a set of entities as bits."""
    return bits >= EVERYBODY and bits >> MOST_BITS <= 0


def spell_out(entities: int, count: int, sets: Sets) -> None:
    """Write destinations that are everybody as a set, where so many entities have rows."""
    due = sets.due
    for m in range(count):
        if due[m] > 0:
            while due[m] >> entities > 0:
                entities += 1
    for m in range(count):
        if due[m] == EVERYBODY:
            due[m] = (1 << entities) - 1


def all_delivered(count: int, met: int, sets: Sets) -> bool:
    """Whether every message was delivered by those that it is addressed to, and by nobody else."""
    good = True
    for m in range(count):
        if met >> m & 1 != 0 and sets.due[m] != sets.got[m]:
            good = False
    return good


def has_order(count: int, met: int, before: Int64Out) -> bool:
    """Whether messages, or views, can be put in an order in which each comes after what must be before it."""
    left = met
    moved = True
    while left != 0 and moved:
        moved = False
        for m in range(count):
            if left >> m & 1 != 0 and before[m] & left == 0:
                left ^= 1 << m
                moved = True
    return left == 0


class Entries(NamedTuple):
    """How many entries and logs have been written, and how many deliveries were not written, for they repeat one."""

    length: int
    logs: int
    repeats: int


def by_lists(
    x: int, rows: CodedRows, question: Question, screened: Screened, sets: Sets, fronts: LogFronts
) -> int:
    """Judge execution x from the row where it begins on, whatever its size. Returns the row after it, or `_DAMAGED`."""
    first = screened.row_offsets[x]
    row, count = checked(x, first, rows)
    if row == first or count > row - first:
        return _DAMAGED
    screened.message_counts[x] = count
    if rows.entity[row - 1] > MOST_BITS:
        # Where all messages go to everybody, a cluster may be larger than sets of entities are.
        screened.fine[x] = not question.ordered
        return row
    for m in range(count):
        sets.due[m] = 0
        sets.got[m] = 0
        fronts.logs_with[m] = 0
        fronts.heads[m] = 0
        fronts.waiting[m] = len(fronts.next_waiting)
    written = Entries(0, 0, 0)
    at = first
    while at < row:
        stop = at
        while stop < row and rows.entity[stop] == rows.entity[at]:
            stop += 1
        written = receipt_log(at, stop, rows, question, (sets, fronts), written)
        written = send_log(at, stop, rows, (sets, fronts), written)
        if written.logs < 0:
            return _DAMAGED
        if question.causal:
            written = logs_of_two(at, stop, rows, question, fronts, written)
        at = stop
    everybody = False
    for m in range(count):
        everybody = everybody or sets.due[m] == EVERYBODY
    if everybody:
        spell_out(rows.entity[row - 1] + 1, count, sets)
    good = written.repeats == 0
    for m in range(count):
        good = good and sets.due[m] == sets.got[m]
    screened.fine[x] = not question.ordered or (good and emptied(written, fronts))
    return row


def checked(x: int, first: int, rows: CodedRows) -> tuple[int, int]:
    """The row after execution x, and how many messages it has; the row `first` where a row is damaged."""
    execution, entity, event, message = rows.execution, rows.entity, rows.event, rows.message
    row = first
    count = 0
    previous = 0
    while row < len(execution) and execution[row] == x:
        if entity[row] < previous or not is_kind(event[row], message[row]):
            return first, 0
        count = max(count, message[row] + 1)
        previous = entity[row]
        row += 1
    return row, count


def receipt_log(
    at: int, stop: int, rows: CodedRows, question: Question, work: tuple[Sets, LogFronts], written: Entries
) -> Entries:
    """Write the log of the deliveries of an entity, whose rows are `at` to `stop`."""
    event, message, delivery = rows.event, rows.message, question.delivery
    sets, fronts = work
    got, entries, logs_with = sets.got, fronts.entries, fronts.logs_with
    length, logs, repeats = written
    bit = 1 << rows.entity[at]
    for k in range(at, stop):
        if event[k] == delivery:
            m = np.uint32(message[k])
            if got[m] & bit:
                repeats += 1
            else:
                got[m] |= bit
                logs_with[m] += 1
                entries[length] = m
                length += 1
    return closed(Entries(length, logs, repeats), written.length, fronts)


def send_log(at: int, stop: int, rows: CodedRows, work: tuple[Sets, LogFronts], written: Entries) -> Entries:
    """Write the log of the sends of an entity, whose rows are `at` to `stop`; `logs` is -1 for a damaged row."""
    event, message, dest = rows.event, rows.message, rows.dest
    sets, fronts = work
    due, entries, logs_with = sets.due, fronts.entries, fronts.logs_with
    length, logs, repeats = written
    for k in range(at, stop):
        if event[k] == SEND:
            m = np.uint32(message[k])
            if not is_set(dest[k]):
                return Entries(0, -1, 0)
            due[m] = dest[k]
            logs_with[m] += 1
            entries[length] = m
            length += 1
    return closed(Entries(length, logs, repeats), written.length, fronts)


def closed(written: Entries, begin: int, fronts: LogFronts) -> Entries:
    """End a log that begins at an entry, if it has any."""
    length, logs, repeats = written
    if length == begin:
        return written
    fronts.log_at[logs] = begin
    fronts.log_end[logs] = length
    return Entries(length, logs + 1, repeats)


def logs_of_two(
    at: int, stop: int, rows: CodedRows, question: Question, fronts: LogFronts, written: Entries
) -> Entries:
    """Write what an entity delivered last before each of its sends, and the send, as a log of two."""
    event, message, delivery = rows.event, rows.message, question.delivery
    entries, logs_with = fronts.entries, fronts.logs_with
    length, logs, repeats = written
    last = -1
    for k in range(at, stop):
        m = message[k]
        if event[k] == delivery:
            last = m
        elif event[k] == SEND and last >= 0:
            logs_with[last] += 1
            logs_with[m] += 1
            entries[length] = last
            entries[length + 1] = m
            fronts.log_at[logs] = length
            length += 2
            fronts.log_end[logs] = length
            logs += 1
    return Entries(length, logs, repeats)


def emptied(written: Entries, fronts: LogFronts) -> bool:
    """Take messages off the heads of all logs that have them: if nothing is left, there is a total order."""
    logs_with, heads, waiting, ready, entries, log_at, log_end, next_waiting = fronts
    none = len(next_waiting)
    left = written.length
    top = 0
    for number in range(written.logs):
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
    return left == 0
