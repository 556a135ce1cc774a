"""Tuned kernels of happens-before: causal order by vector time, without pairs.

The vector time V(m) of a message counts, for each entity, the sends that happen before the send of m or are
it; m happens before another message m' exactly if V(m)[i] <= V(m')[i], i being the sender of m (CMD paper,
Lemma 4). The components of vector time do not depend on each other, so they are computed for `BLOCK` senders at a
time: memory grows with the messages and not with messages times entities. An execution with a send that was not
logged, or a history whose interleaving is not known, is left to the compiled formula: there happens-before has a
third value.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from precedes.engines.columnar.kernels import DEFERRED, Kernel
from precedes.engines.columnar.kernels_information import addressed

BLOCK: Final = 16
"""Senders whose components of vector time are computed together: they fill a line of the cache."""

TURN: Final = 32
"""Events after which a history gives way to another: what is sent is then delivered while it is in the cache."""

_FALSE: Final = -1
_CYCLE: Final = 1 << 4
_SEND: Final = 0
_GONE: Final = -2


def widest(first: int, last: int, offsets: Any) -> int:
    """The most entries that an execution from `first` to `last` has."""
    most = 0
    for x in range(first, last):
        most = max(most, offsets[x + 1] - offsets[x])
    return most


def longest(first: int, last: int, entity_offsets: Any, event_offsets: Any) -> int:
    """The most turns that `turns_taken` takes in an execution from `first` to `last`, at most."""
    most = 0
    for x in range(first, last):
        begin = entity_offsets[x]
        end = entity_offsets[x + 1]
        # A turn ends after `TURN` events, at a history's end, or before a delivery that has to wait, once for each.
        most = max(most, 2 * (event_offsets[end] - event_offsets[begin]) + end - begin)
    return most


def well_known(
    begin: int, end: int, base: int, stop: int, interleaved: Any, sender: Any, send_logged: Any
) -> bool:
    """Whether all sends of the execution were logged and the order of each entity's events is known."""
    for entity in range(begin, end):
        if not interleaved[entity]:
            return False
    known = True
    for m in range(base, stop):
        known = known and (sender[m] < 0 or send_logged[m])
    return bool(known)


def turns_taken(
    begin: int,
    end: int,
    base: int,
    messages: int,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    sender: Any,
    delivery: int,
    pointer: Any,
    waiting: Any,
    next_waiting: Any,
    ready: Any,
    turns: Any,
    until: Any,
) -> int:
    """An order of all events in which every send comes before its deliveries, as turns.

    In turn k entity `turns[k]` goes on to event `until[k]`. Histories take turns until they deliver what has not been
    sent yet; the send takes them up again. Returns how many turns there are; -1 if some history is never finished:
    then happens-before has a cycle.
    """
    n = end - begin
    for m in range(messages):
        waiting[m] = -1
    left = event_offsets[end] - event_offsets[begin]
    for e in range(n):
        pointer[e] = event_offsets[begin + e]
        ready[e] = e
    head = 0
    queued = n
    count = 0
    while queued > 0:
        e = ready[head]
        head = (head + 1) % n
        queued -= 1
        k = pointer[e]
        stop = event_offsets[begin + e + 1]
        pause = min(stop, k + TURN)
        while k < pause:
            kind = event_kind[k]
            m = event_message[k]
            if kind == _SEND:
                w = waiting[m]
                while w >= 0:
                    ready[(head + queued) % n] = w
                    queued += 1
                    w = next_waiting[w]
                waiting[m] = _GONE
            elif kind == delivery and sender[base + m] >= 0 and waiting[m] != _GONE:
                next_waiting[e] = waiting[m]
                waiting[m] = e
                break
            k += 1
        if k == pause and k < stop:
            ready[(head + queued) % n] = e
            queued += 1
        left -= k - pointer[e]
        pointer[e] = k
        turns[count] = e
        until[count] = k
        count += 1
    return count if left == 0 else -1


def vector_times(
    low: int,
    width: int,
    begin: int,
    end: int,
    base: int,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    sender: Any,
    delivery: int,
    count: int,
    turns: Any,
    until: Any,
    pointer: Any,
    current: Any,
    vector: Any,
) -> None:
    """Write V(m)[low + k] of every message to `vector[m * width + k]`, k below `width`, along turns."""
    n = end - begin
    for k in range(n * width):
        current[k] = 0
    for e in range(n):
        pointer[e] = event_offsets[begin + e]
    for t in range(count):
        e = turns[t]
        row = e * width
        for event in range(pointer[e], until[t]):
            kind = event_kind[event]
            if kind == _SEND:
                if low <= e < low + width:
                    current[row + e - low] += 1
                at = event_message[event] * width
                for k in range(width):
                    vector[at + k] = current[row + k]
            elif kind == delivery and sender[base + event_message[event]] >= 0:
                at = event_message[event] * width
                for k in range(width):
                    current[row + k] = max(current[row + k], vector[at + k])
        pointer[e] = until[t]


def causal_order(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    send_position: Any,
    interleaved: Any,
    delivery: int,
    values: Any,
    places: Any,
) -> None:
    """Δ-causal paper, Definition 3 and Theorem 1; CMD paper, Lemma 6.

    With D the join of the vector times of what the receiver has delivered so far, it holds exactly when D[i]
    <= V(m)[i] - 1, the place of m among the sends of i, at every delivery of an m sent by i. D differs from the
    receiver's own vector time in its own component only: so stated, an entity may deliver its own messages.
    """
    n_most = widest(first, last, entity_offsets)
    m_most = widest(first, last, message_offsets)
    width = min(n_most, BLOCK)
    vector = np.empty(m_most * width, np.int32)
    current = np.empty(n_most * width, np.int32)
    own = np.empty(n_most, np.int32)
    log = np.empty(n_most, np.int64)
    pointer = np.empty(n_most, np.int64)
    next_waiting = np.empty(n_most, np.int64)
    ready = np.empty(n_most, np.int64)
    waiting = np.empty(m_most, np.int64)
    most = longest(first, last, entity_offsets, event_offsets)
    turns = np.empty(most, np.int32)
    until = np.empty(most, np.int64)
    for x in range(first, last):
        begin, end, base, stop = (
            entity_offsets[x],
            entity_offsets[x + 1],
            message_offsets[x],
            message_offsets[x + 1],
        )
        n = end - begin
        if not well_known(begin, end, base, stop, interleaved, sender, send_logged):
            values[x] = DEFERRED
            continue
        count = turns_taken(
            begin, end, base, stop - base, event_offsets, event_kind, event_message, sender, delivery,
            pointer, waiting, next_waiting, ready, turns, until,
        )  # fmt: skip
        if count < 0:
            values[x] = _CYCLE
            continue
        # The first receiver with a violation, and the place of the first in its log.
        worst = n
        place = 0
        for low in range(0, n, BLOCK):
            width = min(BLOCK, n - low)
            found = False
            for k in range(n * width):
                current[k] = 0
            for e in range(n):
                pointer[e] = event_offsets[begin + e]
                log[e] = delivered_offsets[begin + e]
                own[e] = 0
            for t in range(count):
                e = turns[t]
                row = e * width
                for event in range(pointer[e], until[t]):
                    kind = event_kind[event]
                    if kind == _SEND:
                        if low <= e < low + width:
                            current[row + e - low] += 1
                        at = event_message[event] * width
                        for k in range(width):
                            vector[at + k] = current[row + k]
                    elif kind == delivery:
                        m = event_message[event]
                        position = log[e]
                        again = position == delivered_offsets[begin + e + 1] or delivered[position] != m
                        if not again:
                            log[e] += 1
                        if sender[base + m] < 0:
                            continue
                        at = m * width
                        origin = sender[base + m] - low
                        if 0 <= origin < width and not again:
                            known = own[e] if origin + low == e else current[row + origin]
                            if known > send_position[base + m] and (
                                e < worst or (e == worst and position < place)
                            ):
                                worst = e
                                place = position
                                found = True
                        for k in range(width):
                            current[row + k] = max(current[row + k], vector[at + k])
                        if low <= e < low + width:
                            own[e] = max(own[e], vector[at + e - low])
                pointer[e] = until[t]
            if found:
                m = delivered[place]
                values[x] = _FALSE
                places[x, 0] = worst
                places[x, 2] = m
                for earlier in range(delivered_offsets[begin + worst], place):
                    q = delivered[earlier]
                    if (
                        sender[base + q] >= 0
                        and vector[q * width + sender[base + m] - low] > send_position[base + m]
                    ):
                        places[x, 3] = q
                        break


def causal_delivery(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    sent_offsets: Any,
    sent: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    interleaved: Any,
    delivery: int,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, causal order, strict: what comes before has been delivered.

    For each sender, the first message addressed to the receiver that it has not delivered tells.
    """
    n_most = widest(first, last, entity_offsets)
    m_most = widest(first, last, message_offsets)
    width = min(n_most, BLOCK)
    vector = np.empty(m_most * width, np.int32)
    current = np.empty(n_most * width, np.int32)
    pointer = np.empty(n_most, np.int64)
    next_waiting = np.empty(n_most, np.int64)
    ready = np.empty(n_most, np.int64)
    waiting = np.empty(m_most, np.int64)
    most = longest(first, last, entity_offsets, event_offsets)
    turns = np.empty(most, np.int32)
    until = np.empty(most, np.int64)
    for x in range(first, last):
        begin, end, base, stop = (
            entity_offsets[x],
            entity_offsets[x + 1],
            message_offsets[x],
            message_offsets[x + 1],
        )
        n = end - begin
        if not well_known(begin, end, base, stop, interleaved, sender, send_logged):
            values[x] = DEFERRED
            continue
        count = turns_taken(
            begin, end, base, stop - base, event_offsets, event_kind, event_message, sender, delivery,
            pointer, waiting, next_waiting, ready, turns, until,
        )  # fmt: skip
        if count < 0:
            values[x] = DEFERRED
            continue
        held = waiting
        for m in range(stop - base):
            held[m] = -1
        worst = n
        place = 0
        for low in range(0, n, BLOCK):
            width = min(BLOCK, n - low)
            vector_times(
                low, width, begin, end, base, event_offsets, event_kind, event_message, sender, delivery,
                count, turns, until, pointer, current, vector,
            )  # fmt: skip
            for i in range(min(n, worst + 1)):
                end_of_log = place if i == worst else delivered_offsets[begin + i + 1]
                for k in range(width):
                    pointer[k] = sent_offsets[begin + low + k]
                for position in range(delivered_offsets[begin + i], end_of_log):
                    q = delivered[position]
                    if sender[base + q] >= 0:
                        for k in range(width):
                            limit = sent_offsets[begin + low + k] + vector[q * width + k]
                            while pointer[k] < limit and (
                                held[sent[pointer[k]]] == low * n + i
                                or not addressed(
                                    i, base + sent[pointer[k]], to_all, destination_offsets, destinations
                                )
                            ):
                                pointer[k] += 1
                            if pointer[k] < limit and sent[pointer[k]] != q:
                                worst = i
                                place = position
                                values[x] = _FALSE
                                places[x, 0] = i
                                places[x, 2] = sent[pointer[k]]
                                places[x, 3] = q
                                break
                        if worst == i and place == position:
                            break
                    held[q] = low * n + i
                if worst == i:
                    break


def fifo_delivery(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    sent_offsets: Any,
    sent: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    send_position: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, FIFO order, strict: what was sent before has been delivered."""
    n_most = widest(first, last, entity_offsets)
    m_most = widest(first, last, message_offsets)
    pointer = np.empty(n_most, np.int64)
    held = np.empty(m_most, np.int64)
    for x in range(first, last):
        begin, end, base, stop = (
            entity_offsets[x],
            entity_offsets[x + 1],
            message_offsets[x],
            message_offsets[x + 1],
        )
        n = end - begin
        for m in range(base, stop):
            held[m - base] = -1
            if sender[m] >= 0 and not send_logged[m]:
                values[x] = DEFERRED
        if values[x] == DEFERRED:
            continue
        for i in range(n):
            for k in range(n):
                pointer[k] = sent_offsets[begin + k]
            for position in range(delivered_offsets[begin + i], delivered_offsets[begin + i + 1]):
                q = delivered[position]
                origin = sender[base + q]
                if origin >= 0:
                    limit = sent_offsets[begin + origin] + send_position[base + q]
                    while pointer[origin] < limit and (
                        held[sent[pointer[origin]]] == i
                        or not addressed(
                            i, base + sent[pointer[origin]], to_all, destination_offsets, destinations
                        )
                    ):
                        pointer[origin] += 1
                    if pointer[origin] < limit:
                        values[x] = _FALSE
                        places[x, 0] = i
                        places[x, 1] = origin
                        places[x, 2] = sent[pointer[origin]]
                        places[x, 3] = q
                        break
                held[q] = i
            if values[x] != 0:
                break


VECTOR_TIME: Final = (widest, longest, well_known, turns_taken, vector_times)
"""What a kernel that needs vector times calls."""

CAUSAL_KERNELS: Final = {
    "causal_order": Kernel(causal_order, VECTOR_TIME),
    "process_causal_order": Kernel(causal_order, VECTOR_TIME),
    "causal_delivery": Kernel(causal_delivery, (*VECTOR_TIME, addressed)),
    "fifo_delivery": Kernel(fifo_delivery, (widest, addressed)),
}
"""By the name of the definition in `recognise.DEFINITIONS`.

The two forms of causal order agree on the executions that are judged here (Δ-causal paper, Theorem 1).
"""
