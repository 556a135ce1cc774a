"""Tuned kernels of order: neighbours along each sender, one topological pass over all delivery orders."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.delivery_cycle import Logs, inversion, located, narrowed, on_cycles
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.native.codes import DEFERRED, FALSE, SEND, SEND_NOT_LOGGED
from precedes.native.compiled_functions import Int32Out, MatrixOut


class SendersMet(NamedTuple):
    """What the receipt log that is gone through has of each sender.

    seen      the receipt log in which the sender was met last, or -1
    logged    its last message there whose send was logged, or -1
    others    how many of its messages there were
    unlogged  and how many whose send was not logged
    """

    seen: npt.NDArray[np.int64]
    logged: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]
    unlogged: npt.NDArray[np.int64]


def order_preserving(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """1994, §2.2: in each receipt log, what comes from one sender ascends in the sender's log.

    A log with two messages of one sender is undetermined where the send of one was not logged, or where the order of
    the log or of the sender's is not known.
    """
    widest = most_entries(first, last, columns.entity_offsets)
    senders = SendersMet(
        np.full(widest, -1, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
    )
    preserved(first, last, columns, senders, values, places)


def preserved(
    first: int, last: int, columns: Columns, senders: SendersMet, values: Int32Out, places: MatrixOut
) -> None:
    """Whether order is preserved, with room for the senders of a log."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender, send_logged, send_position = columns.sender, columns.send_logged, columns.send_position
    history_doubt = columns.history_doubt
    seen, logged, others, unlogged = senders
    for x in range(first, last):
        begin, end, base, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            here = history_doubt[entity]
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                message = delivered[k]
                origin = sender[base + message]
                if origin < 0:
                    continue
                doubt = here | history_doubt[begin + origin]
                if seen[origin] != entity:
                    seen[origin] = entity
                    logged[origin] = -1
                    others[origin] = 0
                    unlogged[origin] = 0
                others[origin] += 1
                if send_logged[base + message]:
                    previous = logged[origin]
                    if (
                        doubt == 0
                        and previous >= 0
                        and send_position[base + previous] > send_position[base + message]
                    ):
                        value = FALSE
                        places[x, 0] = entity - begin
                        places[x, 1] = origin
                        places[x, 2] = message
                        places[x, 3] = previous
                        break
                    logged[origin] = message
                else:
                    unlogged[origin] += 1
                if others[origin] > 1 and unlogged[origin] > 0:
                    value |= SEND_NOT_LOGGED | here
                if others[origin] - unlogged[origin] > 1:
                    value |= doubt
            if value == FALSE:
                break
        values[x] = value


class Fronts(NamedTuple):
    """What is at the fronts of logs from which messages are taken.

    holders       messages: how many logs hold it
    heads         messages: and how many of these it heads
    waiting       messages: the first log that waits for the others to have it at their heads, -1 for none
    next_waiting  logs: the next log that waits for the same
    pointer       logs: where the front is
    stack         messages that head every log that holds them
    """

    holders: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    waiting: npt.NDArray[np.int64]
    next_waiting: npt.NDArray[np.int64]
    pointer: npt.NDArray[np.int64]
    stack: npt.NDArray[np.int64]


def fronts_of(first: int, last: int, columns: Columns) -> Fronts:
    """Room for the fronts of any execution."""
    most = most_entries(first, last, columns.message_offsets)
    widest = most_entries(first, last, columns.entity_offsets)
    return Fronts(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(most, np.int64),
    )


def drained(logs: Logs, messages: int, fronts: Fronts) -> bool:
    """Take messages off the fronts of the logs, each when it heads every log that holds it.

    True if all logs empty: then the union of their orders has no cycle. Else `pointer` shows where each log
    stays stuck.
    """
    begin, end, offsets, entries = logs
    holders, heads, waiting, next_waiting, pointer, stack = fronts
    for m in range(messages):
        holders[m] = 0
        heads[m] = 0
        waiting[m] = -1
    for e in range(begin, end):
        for k in range(offsets[e], offsets[e + 1]):
            holders[entries[k]] += 1
    left = 0
    top = 0
    for e in range(begin, end):
        pointer[e - begin] = offsets[e]
        left += offsets[e + 1] - offsets[e]
        if offsets[e] < offsets[e + 1]:
            m = entries[offsets[e]]
            next_waiting[e - begin] = waiting[m]
            waiting[m] = e - begin
            heads[m] += 1
            if heads[m] == holders[m]:
                stack[top] = m
                top += 1
    while top > 0:
        top -= 1
        e = waiting[stack[top]]
        while e >= 0:
            following = next_waiting[e]
            pointer[e] += 1
            left -= 1
            if pointer[e] < offsets[begin + e + 1]:
                m = entries[pointer[e]]
                next_waiting[e] = waiting[m]
                waiting[m] = e
                heads[m] += 1
                if heads[m] == holders[m]:
                    stack[top] = m
                    top += 1
            e = following
    return left == 0


def doubted(begin: int, end: int, columns: Columns) -> int:
    """Why the order of receipt logs with more than one message is not known; 0 where all are."""
    reasons = 0
    for e in range(begin, end):
        if columns.delivered_offsets[e + 1] - columns.delivered_offsets[e] > 1:
            reasons |= columns.history_doubt[e]
    return reasons


def known_logs(begin: int, end: int, columns: Columns) -> Logs:
    """The logs `begin` to `end`, those whose order is not known as empty."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    offsets = np.empty(end - begin + 1, np.int64)
    entries = np.empty(delivered_offsets[end] - delivered_offsets[begin], np.int32)
    length = 0
    for e in range(begin, end):
        offsets[e - begin] = length
        if columns.history_doubt[e] == 0:
            for k in range(delivered_offsets[e], delivered_offsets[e + 1]):
                entries[length] = delivered[k]
                length += 1
    offsets[end - begin] = length
    return Logs(0, end - begin, offsets, entries)


def acyclic_order(
    first: int,
    last: int,
    columns: Columns,
    values: Int32Out,
    places: MatrixOut,  # noqa: ARG001 - a cycle has no fixed number of places; see `witness`
) -> None:
    """Défago, Schiper, Urbán 2004: the union of all delivery orders has no cycle."""
    untangled(first, last, columns, values)


def untangled(first: int, last: int, columns: Columns, values: Int32Out) -> None:
    """Set `FALSE` where the union of the orders that are known has a cycle; else why others are not known, or 0."""
    fronts = fronts_of(first, last, columns)
    all_drained(first, last, columns, fronts, values)
    for x in range(first, last):
        if values[x] > 0:
            begin, end, base, stop = span_of(x, columns)
            if not drained(known_logs(begin, end, columns), stop - base, fronts):
                values[x] = FALSE


def all_drained(first: int, last: int, columns: Columns, fronts: Fronts, values: Int32Out) -> None:
    """The same of executions of which all orders are known; of others why they are not."""
    for x in range(first, last):
        begin, end, base, stop = span_of(x, columns)
        values[x] = doubted(begin, end, columns)
        if values[x] == 0:
            logs = Logs(begin, end, columns.delivered_offsets, columns.delivered)
            values[x] = 0 if drained(logs, stop - base, fronts) else FALSE


def order_equivalent(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """1994, §2.2: any two receipt logs have what they share in one order.

    Where the union of the orders has no cycle that is so. Else two messages in different orders are both on a
    cycle, so only these are looked at. Logs whose order is not known are left out, and make it unknown at best.
    """
    untangled(first, last, columns, values)
    for x in range(first, last):
        if values[x] == FALSE:
            begin, end, base, stop = span_of(x, columns)
            reasons = doubted(begin, end, columns)
            if reasons == 0:
                logs = Logs(begin, end, columns.delivered_offsets, columns.delivered)
                inverted = disagree(logs, stop - base, places[x])
            else:
                inverted = disagree(known_logs(begin, end, columns), stop - base, places[x])
            values[x] = FALSE if inverted else reasons


def disagree(logs: Logs, messages: int, places: Int32Out) -> bool:
    """Whether two of the logs have two messages in different orders, and which."""
    tangled = np.empty(messages, np.int32)
    on_cycles(logs, messages, tangled)
    kept = narrowed(logs, tangled, 0)
    return inversion(kept, located(kept, messages), places)


class Constraints(NamedTuple):
    """What must come before what in one order of all messages: entries, linked by the message that comes first.

    earlier    messages: how many entries say that something comes before it
    heads      messages: the first of the entries for what comes after it, -1 for none
    later      entries: what comes after
    following  entries: the next entry for the same message
    met        messages: the entity that delivered it last
    stack      messages that nothing is left to come before
    """

    earlier: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    later: npt.NDArray[np.int64]
    following: npt.NDArray[np.int64]
    met: npt.NDArray[np.int64]
    stack: npt.NDArray[np.int64]


def one_order(
    first: int,
    last: int,
    columns: Columns,
    values: Int32Out,
    places: MatrixOut,  # noqa: ARG001 - where there may be a cycle, the compiled formula shows it
) -> None:
    """Whether one order of all messages agrees with every log and with what each sender had delivered before a send.

    0 where it does, whatever is not known of the execution; else the compiled formula decides.
    """
    most = most_entries(first, last, columns.message_offsets)
    entries = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        entries = max(entries, 2 * (columns.event_offsets[end] - columns.event_offsets[begin]))
    constraints = Constraints(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    all_ordered(first, last, columns, constraints, values)


def all_ordered(first: int, last: int, columns: Columns, constraints: Constraints, values: Int32Out) -> None:
    """The same, with room for what must come before what."""
    for x in range(first, last):
        span = span_of(x, columns)
        known = constrained(span, columns, constraints)
        values[x] = 0 if ordered(span.stop - span.base, constraints) and known else DEFERRED


def constrained(span: Span, columns: Columns, constraints: Constraints) -> bool:
    """Write what must come before what in an execution; whether the order of all events is known."""
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    earlier, heads, later, following, met, _ = constraints
    for m in range(span.stop - span.base):
        earlier[m] = 0
        heads[m] = -1
        met[m] = -1
    count = 0
    known = True
    for entity in range(span.begin, span.end):
        known = known and columns.interleaved[entity]
        sent = -1
        got = -1
        for k in range(event_offsets[entity], event_offsets[entity + 1]):
            m = event_message[k]
            sends = event_kind[k] == SEND
            if m < 0 or not (sends or (event_kind[k] == columns.delivery and met[m] != entity)):
                continue
            for before in (got, sent if sends else -1):
                if before >= 0:
                    later[count] = m
                    following[count] = heads[before]
                    heads[before] = count
                    earlier[m] += 1
                    count += 1
            if sends:
                sent = m
            else:
                got = m
                met[m] = entity
    return bool(known)


def ordered(messages: int, constraints: Constraints) -> bool:
    """Whether the messages can be taken one after the other, each when nothing is left to come before it."""
    earlier, heads, later, following, _, stack = constraints
    left = messages
    top = 0
    for m in range(messages):
        if earlier[m] == 0:
            stack[top] = m
            top += 1
    while top > 0:
        top -= 1
        left -= 1
        entry = heads[stack[top]]
        while entry >= 0:
            earlier[later[entry]] -= 1
            if earlier[later[entry]] == 0:
                stack[top] = later[entry]
                top += 1
            entry = following[entry]
    return left == 0


KNOWN_LOGS: Final = ("delivered_offsets", "delivered", "history_doubt")
"""What `known_logs` reads."""

SCREEN_KERNELS: Final = {"one_order": Kernel(one_order, ("event_kind", "event_message", "interleaved"))}
"""Kernels that only tell where a definition cannot be violated."""

_EQUIVALENT: Final = Kernel(order_equivalent, KNOWN_LOGS)

ORDER_KERNELS: Final = {
    "order_preserving": Kernel(order_preserving, (*KNOWN_LOGS, "sender", "send_logged", "send_position")),
    "order_equivalent": _EQUIVALENT,
    "nonuniform_total_order": _EQUIVALENT.of_correct(),
    "acyclic_order": Kernel(acyclic_order, KNOWN_LOGS),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
