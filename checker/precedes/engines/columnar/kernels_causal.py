"""Tuned kernels of happens-before: causal order by vector time, without pairs.

The vector time V(m) of a message counts, for each entity, the sends that happen before the send of m or are
it; m happens before another message m' exactly if V(m)[i] <= V(m')[i], i being the sender of m (CMD paper,
Lemma 4). An execution with a send that was not logged, or a history whose interleaving is not known, is left
to the compiled formula: there happens-before has a third value.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from precedes.engines.columnar.kernels import DEFERRED, Kernel
from precedes.engines.columnar.kernels_information import addressed

_FALSE: Final = -1
_CYCLE: Final = 1 << 4
_SEND: Final = 0


def widest(first: int, last: int, offsets: Any) -> int:
    """The most entries that an execution from `first` to `last` has."""
    most = 0
    for x in range(first, last):
        most = max(most, offsets[x + 1] - offsets[x])
    return most


def vectors(first: int, last: int, entity_offsets: Any, message_offsets: Any) -> int:
    """The most numbers that the vector times of all messages of one execution need."""
    most = 0
    for x in range(first, last):
        messages = message_offsets[x + 1] - message_offsets[x]
        most = max(most, messages * (entity_offsets[x + 1] - entity_offsets[x]))
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


def vector_times(
    begin: int,
    end: int,
    base: int,
    messages: int,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    sender: Any,
    delivery: int,
    vector: Any,
    current: Any,
    pointer: Any,
    waiting: Any,
    next_waiting: Any,
    ready: Any,
) -> bool:
    """Write V(m)[i] of every message to `vector[m * n + i]`, in O(events * entities).

    Each history is followed until it delivers what has not been sent yet; the send takes it up again. False
    if some history is never finished: then happens-before has a cycle.
    """
    n = end - begin
    for k in range(n * n):
        current[k] = 0
    for m in range(messages):
        waiting[m] = -1
        if n > 0:
            vector[m * n] = -1  # not sent yet
    left = 0
    top = 0
    for e in range(n):
        pointer[e] = event_offsets[begin + e]
        left += event_offsets[begin + e + 1] - pointer[e]
        ready[top] = e
        top += 1
    while top > 0:
        top -= 1
        e = ready[top]
        while pointer[e] < event_offsets[begin + e + 1]:
            kind = event_kind[pointer[e]]
            m = event_message[pointer[e]]
            if kind == _SEND:
                if vector[m * n] < 0:
                    current[e * n + e] += 1
                    for k in range(n):
                        vector[m * n + k] = current[e * n + k]
                    w = waiting[m]
                    while w >= 0:
                        ready[top] = w
                        top += 1
                        w = next_waiting[w]
                    waiting[m] = -1
            elif kind == delivery and sender[base + m] >= 0:
                if vector[m * n] < 0:
                    next_waiting[e] = waiting[m]
                    waiting[m] = e
                    break
                for k in range(n):
                    current[e * n + k] = max(current[e * n + k], vector[m * n + k])
            pointer[e] += 1
            left -= 1
    return left == 0


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
    < V(m)[i] at every delivery of an m sent by i. So stated, an entity may deliver its own messages.
    """
    n_most = widest(first, last, entity_offsets)
    m_most = widest(first, last, message_offsets)
    vector = np.empty(vectors(first, last, entity_offsets, message_offsets), np.int32)
    current = np.empty(n_most * n_most, np.int32)
    joined = np.empty(n_most, np.int32)
    pointer = np.empty(n_most, np.int64)
    next_waiting = np.empty(n_most, np.int64)
    ready = np.empty(n_most, np.int64)
    waiting = np.empty(m_most, np.int64)
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
        if not vector_times(
            begin, end, base, stop - base, event_offsets, event_kind, event_message, sender, delivery,
            vector, current, pointer, waiting, next_waiting, ready,
        ):  # fmt: skip
            values[x] = _CYCLE
            continue
        for i in range(n):
            for k in range(n):
                joined[k] = 0
            for position in range(delivered_offsets[begin + i], delivered_offsets[begin + i + 1]):
                m = delivered[position]
                origin = sender[base + m]
                if origin < 0:
                    continue
                if joined[origin] > send_position[base + m]:
                    values[x] = _FALSE
                    places[x, 0] = i
                    places[x, 2] = m
                    for earlier in range(delivered_offsets[begin + i], position):
                        q = delivered[earlier]
                        if sender[base + q] >= 0 and vector[q * n + origin] > send_position[base + m]:
                            places[x, 3] = q
                            break
                    break
                for k in range(n):
                    joined[k] = max(joined[k], vector[m * n + k])
            if values[x] != 0:
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
    vector = np.empty(vectors(first, last, entity_offsets, message_offsets), np.int32)
    current = np.empty(n_most * n_most, np.int32)
    pointer = np.empty(n_most, np.int64)
    next_waiting = np.empty(n_most, np.int64)
    ready = np.empty(n_most, np.int64)
    waiting = np.empty(m_most, np.int64)
    for x in range(first, last):
        begin, end, base, stop = (
            entity_offsets[x],
            entity_offsets[x + 1],
            message_offsets[x],
            message_offsets[x + 1],
        )
        n = end - begin
        if not well_known(begin, end, base, stop, interleaved, sender, send_logged) or not vector_times(
            begin, end, base, stop - base, event_offsets, event_kind, event_message, sender, delivery,
            vector, current, pointer, waiting, next_waiting, ready,
        ):  # fmt: skip
            values[x] = DEFERRED
            continue
        held = waiting
        for m in range(stop - base):
            held[m] = -1
        for i in range(n):
            for k in range(n):
                pointer[k] = sent_offsets[begin + k]
            for position in range(delivered_offsets[begin + i], delivered_offsets[begin + i + 1]):
                q = delivered[position]
                if sender[base + q] >= 0:
                    for k in range(n):
                        limit = sent_offsets[begin + k] + vector[q * n + k]
                        while pointer[k] < limit and (
                            held[sent[pointer[k]]] == i
                            or not addressed(
                                i, base + sent[pointer[k]], to_all, destination_offsets, destinations
                            )
                        ):
                            pointer[k] += 1
                        if pointer[k] < limit and sent[pointer[k]] != q:
                            values[x] = _FALSE
                            places[x, 0] = i
                            places[x, 2] = sent[pointer[k]]
                            places[x, 3] = q
                            break
                if values[x] != 0:
                    break
                held[q] = i
            if values[x] != 0:
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


CAUSAL_KERNELS: Final = {
    "causal_order": Kernel(causal_order, (widest, vectors, well_known, vector_times)),
    "process_causal_order": Kernel(causal_order, (widest, vectors, well_known, vector_times)),
    "causal_delivery": Kernel(causal_delivery, (widest, vectors, well_known, vector_times, addressed)),
    "fifo_delivery": Kernel(fifo_delivery, (widest, addressed)),
}
"""By the name of the definition in `recognise.DEFINITIONS`.

The two forms of causal order agree on the executions that are judged here (Δ-causal paper, Theorem 1).
"""
