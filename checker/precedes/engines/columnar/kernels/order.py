"""Tuned kernels of order: neighbours along each sender, one topological pass over all delivery orders."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from precedes.engines.columnar.kernels.delivery_cycle import (
    INVERSION,
    inversion,
    located,
    narrowed,
    on_cycles,
)
from precedes.engines.columnar.kernels.kernel import DEFERRED, Kernel

_FALSE: Final = -1
_SEND: Final = 0
_SEND_NOT_LOGGED: Final = 1 << 2


def order_preserving(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    send_position: Any,
    history_doubt: Any,
    values: Any,
    places: Any,
) -> None:
    """1994, §2.2: in each receipt log, what comes from one sender ascends in the sender's log.

    A log with two messages of one sender is undetermined where the send of one was not logged, or where the order of
    the log or of the sender's is not known.
    """
    widest = 0
    for x in range(first, last):
        widest = max(widest, entity_offsets[x + 1] - entity_offsets[x])
    seen = np.full(widest, -1, np.int64)  # the receipt log in which the sender was met last
    logged = np.empty(widest, np.int64)  # its last message there whose send was logged, or -1
    others = np.empty(widest, np.int64)  # how many of its messages there were
    unlogged = np.empty(widest, np.int64)  # and how many whose send was not
    for x in range(first, last):
        base = message_offsets[x]
        value = 0
        for entity in range(entity_offsets[x], entity_offsets[x + 1]):
            here = history_doubt[entity]
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                message = delivered[k]
                origin = sender[base + message]
                if origin < 0:
                    continue
                doubt = here | history_doubt[entity_offsets[x] + origin]
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
                        value = _FALSE
                        places[x, 0] = entity - entity_offsets[x]
                        places[x, 1] = origin
                        places[x, 2] = message
                        places[x, 3] = previous
                        break
                    logged[origin] = message
                else:
                    unlogged[origin] += 1
                if others[origin] > 1 and unlogged[origin] > 0:
                    value |= _SEND_NOT_LOGGED | here
                if others[origin] - unlogged[origin] > 1:
                    value |= doubt
            if value == _FALSE:
                break
        values[x] = value


def largest(first: int, last: int, offsets: Any) -> int:
    """The most entries that an item from `first` to `last` has."""
    most = 0
    for x in range(first, last):
        most = max(most, offsets[x + 1] - offsets[x])
    return most


def drained(
    begin: int,
    end: int,
    messages: int,
    delivered_offsets: Any,
    delivered: Any,
    holders: Any,
    heads: Any,
    waiting: Any,
    next_waiting: Any,
    pointer: Any,
    stack: Any,
) -> bool:
    """Take messages off the fronts of the logs `begin` to `end`, each when it heads every log that holds it.

    True if all logs empty: then the union of their orders has no cycle. Else `pointer` shows where each log
    stays stuck.
    """
    for m in range(messages):
        holders[m] = 0
        heads[m] = 0
        waiting[m] = -1
    for e in range(begin, end):
        for k in range(delivered_offsets[e], delivered_offsets[e + 1]):
            holders[delivered[k]] += 1
    left = 0
    top = 0
    for e in range(begin, end):
        pointer[e - begin] = delivered_offsets[e]
        left += delivered_offsets[e + 1] - delivered_offsets[e]
        if delivered_offsets[e] < delivered_offsets[e + 1]:
            m = delivered[delivered_offsets[e]]
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
            if pointer[e] < delivered_offsets[begin + e + 1]:
                m = delivered[pointer[e]]
                next_waiting[e] = waiting[m]
                waiting[m] = e
                heads[m] += 1
                if heads[m] == holders[m]:
                    stack[top] = m
                    top += 1
            e = following
    return left == 0


def doubted(begin: int, end: int, delivered_offsets: Any, history_doubt: Any) -> int:
    """Why the order of receipt logs with more than one message is not known; 0 where all are."""
    reasons = 0
    for e in range(begin, end):
        if delivered_offsets[e + 1] - delivered_offsets[e] > 1:
            reasons |= history_doubt[e]
    return reasons


def known_logs(
    begin: int, end: int, delivered_offsets: Any, delivered: Any, history_doubt: Any, offsets: Any, log: Any
) -> None:
    """Write the logs `begin` to `end`, those whose order is not known as empty."""
    length = 0
    for e in range(begin, end):
        offsets[e - begin] = length
        if history_doubt[e] == 0:
            for k in range(delivered_offsets[e], delivered_offsets[e + 1]):
                log[length] = delivered[k]
                length += 1
    offsets[end - begin] = length


def acyclic_order(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    history_doubt: Any,
    values: Any,
    places: Any,  # noqa: ARG001 - a cycle has no fixed number of places; see `kernels_witness`
) -> None:
    """Défago, Schiper, Urbán 2004: the union of all delivery orders has no cycle."""
    most = largest(first, last, message_offsets)
    widest = largest(first, last, entity_offsets)
    holders = np.empty(most, np.int64)
    heads = np.empty(most, np.int64)
    waiting = np.empty(most, np.int64)
    stack = np.empty(most, np.int64)
    next_waiting = np.empty(widest, np.int64)
    pointer = np.empty(widest, np.int64)
    for x in range(first, last):
        begin = entity_offsets[x]
        end = entity_offsets[x + 1]
        messages = message_offsets[x + 1] - message_offsets[x]
        reasons = doubted(begin, end, delivered_offsets, history_doubt)
        if reasons == 0:
            acyclic = drained(
                begin, end, messages, delivered_offsets, delivered, holders, heads, waiting, next_waiting, pointer,
                stack,
            )  # fmt: skip
        else:
            offsets = np.empty(end - begin + 1, np.int64)
            log = np.empty(delivered_offsets[end] - delivered_offsets[begin], np.int32)
            known_logs(begin, end, delivered_offsets, delivered, history_doubt, offsets, log)
            acyclic = drained(
                0, end - begin, messages, offsets, log, holders, heads, waiting, next_waiting, pointer, stack
            )
        values[x] = reasons if acyclic else _FALSE


def order_equivalent(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    history_doubt: Any,
    values: Any,
    places: Any,
) -> None:
    """1994, §2.2: any two receipt logs have what they share in one order.

    Where the union of the orders has no cycle that is so. Else two messages in different orders are both on a
    cycle, so only these are looked at. Logs whose order is not known are left out, and make it unknown at best.
    """
    most = largest(first, last, message_offsets)
    widest = largest(first, last, entity_offsets)
    holders = np.empty(most, np.int64)
    heads = np.empty(most, np.int64)
    waiting = np.empty(most, np.int64)
    stack = np.empty(most, np.int64)
    next_waiting = np.empty(widest, np.int64)
    pointer = np.empty(widest, np.int64)
    for x in range(first, last):
        begin = entity_offsets[x]
        end = entity_offsets[x + 1]
        messages = message_offsets[x + 1] - message_offsets[x]
        reasons = doubted(begin, end, delivered_offsets, history_doubt)
        if reasons == 0:
            if drained(
                begin, end, messages, delivered_offsets, delivered, holders, heads, waiting, next_waiting, pointer,
                stack,
            ):  # fmt: skip
                continue
            inverted = disagree(begin, end, messages, delivered_offsets, delivered, places[x])
        else:
            offsets = np.empty(end - begin + 1, np.int64)
            log = np.empty(delivered_offsets[end] - delivered_offsets[begin], np.int32)
            known_logs(begin, end, delivered_offsets, delivered, history_doubt, offsets, log)
            inverted = disagree(0, end - begin, messages, offsets, log, places[x])
        values[x] = _FALSE if inverted else reasons


def disagree(
    begin: int, end: int, messages: int, delivered_offsets: Any, delivered: Any, places: Any
) -> bool:
    """Whether two of the logs `begin` to `end` have two messages in different orders, and which."""
    tangled = np.empty(messages, np.int32)
    on_cycles(begin, end, messages, delivered_offsets, delivered, tangled)
    offsets = np.empty(end - begin + 1, np.int64)
    log = np.empty(delivered_offsets[end] - delivered_offsets[begin], np.int32)
    length = narrowed(begin, end, delivered_offsets, delivered, tangled, 0, offsets, log)
    start = np.empty(messages + 1, np.int64)
    holder = np.empty(length, np.int32)
    place = np.empty(length, np.int64)
    located(end - begin, messages, offsets, log, start, holder, place)
    return bool(inversion(end - begin, offsets, log, start, holder, place, places))


def one_order(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    interleaved: Any,
    delivery: int,
    values: Any,
    places: Any,  # noqa: ARG001 - where there may be a cycle, the compiled formula shows it
) -> None:
    """Whether one order of all messages agrees with every log and with what each sender had delivered before a send.

    0 where it does, whatever is not known of the execution; else the compiled formula decides.
    """
    most = largest(first, last, message_offsets)
    entries = 0
    for x in range(first, last):
        entries = max(entries, 2 * (event_offsets[entity_offsets[x + 1]] - event_offsets[entity_offsets[x]]))
    earlier = np.empty(most, np.int64)  # how many entries say that something comes before the message
    heads = np.empty(most, np.int64)  # the first of the entries for what comes after it
    later = np.empty(entries, np.int64)
    following = np.empty(entries, np.int64)
    met = np.empty(most, np.int64)  # the entity that delivered it last
    stack = np.empty(most, np.int64)
    for x in range(first, last):
        messages = message_offsets[x + 1] - message_offsets[x]
        for m in range(messages):
            earlier[m] = 0
            heads[m] = -1
            met[m] = -1
        count = 0
        known = True
        for entity in range(entity_offsets[x], entity_offsets[x + 1]):
            known = known and interleaved[entity]
            sent = -1
            got = -1
            for k in range(event_offsets[entity], event_offsets[entity + 1]):
                m = event_message[k]
                sends = event_kind[k] == _SEND
                if m < 0 or not (sends or (event_kind[k] == delivery and met[m] != entity)):
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
        values[x] = 0 if known and left == 0 else DEFERRED


SCREEN_KERNELS: Final = {"one_order": Kernel(one_order, (largest,))}
"""Kernels that only tell where a definition cannot be violated."""


ORDER_KERNELS: Final = {
    "order_preserving": Kernel(order_preserving),
    "order_equivalent": Kernel(
        order_equivalent, (largest, drained, doubted, known_logs, *INVERSION, disagree)
    ),
    "acyclic_order": Kernel(acyclic_order, (largest, drained, doubted, known_logs)),
}
"""By the name of the definition in `recognise.DEFINITIONS`."""
