"""Tuned kernels of time: deadlines, and causal order within them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from precedes.core.columns import MISSING_TIME
from precedes.engines.columnar.kernels.causal_order import (
    BLOCK,
    VECTOR_TIME,
    edges_told,
    longest,
    most_events,
    most_told,
    numbered_sources,
    turns_taken,
    vector_times,
    well_known,
    widest,
)
from precedes.engines.columnar.kernels.kernel import DEFERRED, Kernel

_FALSE: Final = -1
_SEND_NOT_LOGGED: Final = 1 << 2
_NO_TIME: Final = 1 << 5
_NO_DELTA: Final = 1 << 6
_EPSILON: Final = 1 << 7
_CLOCKS: Final = 1 << 8
_MISSING: Final = int(MISSING_TIME)


def clocks_fit(
    begin: int,
    end: int,
    base: int,
    delivered_offsets: Any,
    delivered: Any,
    delivered_time: Any,
    send_time: Any,
    epsilon: int,
) -> bool:
    """Whether no delivery is earlier than its send by more than epsilon."""
    for k in range(delivered_offsets[begin], delivered_offsets[end]):
        sent = send_time[base + delivered[k]]
        if sent != _MISSING and delivered_time[k] != _MISSING and sent - delivered_time[k] > epsilon:
            return False
    return True


def within(later: int, earlier: int, delta: int, epsilon: int, fit: bool) -> int:
    """The value of `later <= earlier + delta`, 0 for true."""
    reasons = 0
    if delta == _MISSING:
        reasons |= _NO_DELTA
    if not fit:
        reasons |= _CLOCKS
    elif min(later, earlier) == _MISSING:
        reasons |= _NO_TIME
    if reasons != 0:
        return reasons
    over = later - earlier - delta
    if abs(over) < epsilon:
        return _EPSILON
    return 0 if over <= 0 else _FALSE


def deadline(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    delivered_time: Any,
    repeated: Any,
    history_doubt: Any,
    sender: Any,
    send_logged: Any,
    send_time: Any,
    delta: int,
    epsilon: int,
    values: Any,
    places: Any,
) -> None:
    """Δ-causal paper, §2.2: everything is delivered no later than delta after its send."""
    for x in range(first, last):
        begin, end, base = entity_offsets[x], entity_offsets[x + 1], message_offsets[x]
        fit = clocks_fit(begin, end, base, delivered_offsets, delivered, delivered_time, send_time, epsilon)
        value = 0
        for entity in range(begin, end):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = base + delivered[k]
                if sender[m] < 0:
                    continue
                if history_doubt[entity] != 0 and repeated[k]:
                    # Which delivery is the first is not known.
                    value = DEFERRED
                    break
                if send_logged[m]:
                    judged = within(delivered_time[k], send_time[m], delta, epsilon, fit)
                else:
                    judged = _SEND_NOT_LOGGED
                    if delta == _MISSING:
                        judged |= _NO_DELTA
                    if not fit:
                        judged |= _CLOCKS
                    elif delivered_time[k] == _MISSING:
                        judged |= _NO_TIME
                if judged == _FALSE:
                    value = _FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = delivered[k]
                    break
                value |= judged
            if value in (_FALSE, DEFERRED):
                break
        values[x] = value


def delta_causal_order(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    delivered_offsets: Any,
    delivered: Any,
    delivered_time: Any,
    sender: Any,
    send_logged: Any,
    send_position: Any,
    send_time: Any,
    interleaved: Any,
    order_doubt: Any,
    edge_offsets: Any,
    edge_earlier: Any,
    delivery: int,
    delta: int,
    epsilon: int,
    values: Any,
    places: Any,
) -> None:
    """Δ-causal paper, Definition 4 and Theorem 2: causal order among what was delivered in time.

    As for causal order, but late deliveries are not joined; where the join tells of a message out of order,
    the ones before it are gone through. On consistent clocks one of them is a violation then, so that happens
    at most once.
    """
    n_most = widest(first, last, entity_offsets)
    m_most = widest(first, last, message_offsets)
    width = min(n_most, BLOCK)
    vector = np.empty(m_most * width, np.int32)
    current = np.empty(n_most * width, np.int32)
    joined = np.empty(width, np.int32)
    pointer = np.empty(n_most, np.int64)
    next_waiting = np.empty(n_most, np.int64)
    ready = np.empty(n_most, np.int64)
    waiting = np.empty(m_most, np.int64)
    held = np.empty(n_most, np.int64)
    needed = np.empty(n_most, np.int64)
    most = longest(first, last, entity_offsets, event_offsets, edge_offsets)
    turns = np.empty(most, np.int32)
    until = np.empty(most, np.int64)
    slot = np.empty(most_events(first, last, entity_offsets, event_offsets, edge_offsets), np.int32)
    told = most_told(first, last, entity_offsets, event_offsets, edge_offsets)
    snapshot = np.empty(told * width, np.int32)
    for x in range(first, last):
        begin, end, base, stop = (
            entity_offsets[x],
            entity_offsets[x + 1],
            message_offsets[x],
            message_offsets[x + 1],
        )
        n = end - begin
        if order_doubt[x] != 0 or not well_known(begin, end, base, stop, interleaved, sender, send_logged):
            values[x] = DEFERRED
            continue
        count = turns_taken(
            begin, end, base, stop - base, event_offsets, event_kind, event_message, sender, delivery,
            edge_offsets, edge_earlier, pointer, waiting, next_waiting, ready, held, needed, turns, until,
        )  # fmt: skip
        if count < 0:
            values[x] = DEFERRED
            continue
        if edges_told(begin, end, event_offsets, edge_offsets) > 0:
            numbered_sources(begin, end, event_offsets, edge_offsets, edge_earlier, slot)
        fit = clocks_fit(begin, end, base, delivered_offsets, delivered, delivered_time, send_time, epsilon)
        value = 0
        worst = n
        place = 0
        for low in range(0, n, BLOCK):
            width = min(BLOCK, n - low)
            vector_times(
                low, width, begin, end, base, event_offsets, event_kind, event_message, sender, delivery,
                count, turns, until, edge_offsets, edge_earlier, slot, snapshot, pointer, current, vector,
            )  # fmt: skip
            for i in range(min(n, worst + 1)):
                start = delivered_offsets[begin + i]
                end_of_log = place if i == worst else delivered_offsets[begin + i + 1]
                for k in range(width):
                    joined[k] = 0
                for position in range(start, end_of_log):
                    p = delivered[position]
                    if sender[base + p] < 0:
                        continue
                    origin = sender[base + p] - low
                    p_in_time = within(delivered_time[position], send_time[base + p], delta, epsilon, fit)
                    if p_in_time == _FALSE:
                        continue
                    if (
                        0 <= origin < width
                        and joined[origin] > send_position[base + p]
                        and value & (_NO_DELTA | _CLOCKS) == 0
                    ):
                        for earlier in range(start, position):
                            q = delivered[earlier]
                            if sender[base + q] < 0 or vector[q * width + origin] <= send_position[base + p]:
                                continue
                            q_in_time = within(
                                delivered_time[earlier], send_time[base + q], delta, epsilon, fit
                            )
                            close = within(send_time[base + q], send_time[base + p], delta, epsilon, fit)
                            if q_in_time | close == _FALSE:
                                continue
                            if p_in_time == 0 and q_in_time == 0 and close == 0:
                                worst = i
                                place = position
                                places[x, 0] = i
                                places[x, 2] = p
                                places[x, 3] = q
                                break
                            value |= p_in_time | q_in_time | close
                        if worst == i and place == position:
                            break
                    for k in range(width):
                        joined[k] = max(joined[k], vector[p * width + k])
                if worst == i:
                    break
        values[x] = value if worst == n else _FALSE


TIME_KERNELS: Final = {
    "deadline": Kernel(deadline, (clocks_fit, within)),
    "delta_causal_order": Kernel(delta_causal_order, (*VECTOR_TIME, clocks_fit, within)),
}
"""By the name of the definition in `recognise.DEFINITIONS`."""
