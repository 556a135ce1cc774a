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

from precedes.engines.columnar.kernels.information import addressed
from precedes.engines.columnar.kernels.kernel import DEFERRED, Kernel

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


def longest(first: int, last: int, entity_offsets: Any, event_offsets: Any, edge_offsets: Any) -> int:
    """The most turns that `turns_taken` takes in an execution from `first` to `last`, at most."""
    most = 0
    for x in range(first, last):
        begin = entity_offsets[x]
        end = entity_offsets[x + 1]
        # A turn ends after `TURN` events, at a history's end, or before an event that has to wait for another, once
        # for each of those.
        turns = 2 * (event_offsets[end] - event_offsets[begin]) + end - begin
        most = max(most, turns + edges_told(begin, end, event_offsets, edge_offsets))
    return most


def most_told(first: int, last: int, entity_offsets: Any, event_offsets: Any, edge_offsets: Any) -> int:
    """The most that recorded clocks say of one execution beyond its rows."""
    most = 0
    for x in range(first, last):
        told = edges_told(entity_offsets[x], entity_offsets[x + 1], event_offsets, edge_offsets)
        most = max(most, told)
    return most


def most_events(first: int, last: int, entity_offsets: Any, event_offsets: Any, edge_offsets: Any) -> int:
    """The most events of an execution of which recorded clocks say more than its rows."""
    most = 0
    for x in range(first, last):
        begin = entity_offsets[x]
        end = entity_offsets[x + 1]
        if edges_told(begin, end, event_offsets, edge_offsets) > 0:
            most = max(most, event_offsets[end] - event_offsets[begin])
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


def edges_told(begin: int, end: int, event_offsets: Any, edge_offsets: Any) -> int:
    """How much recorded clocks say of the order of the execution's events beyond its rows."""
    if len(edge_offsets) == 0:
        return 0
    return int(edge_offsets[event_offsets[end]] - edge_offsets[event_offsets[begin]])


def owner(event: int, begin: int, end: int, event_offsets: Any) -> int:
    """The local entity of an event."""
    low = begin
    high = end
    while high - low > 1:
        middle = (low + high) // 2
        if event_offsets[middle] <= event:
            low = middle
        else:
            high = middle
    return low - begin


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
    edge_offsets: Any,
    edge_earlier: Any,
    pointer: Any,
    waiting: Any,
    next_waiting: Any,
    ready: Any,
    held: Any,
    needed: Any,
    turns: Any,
    until: Any,
) -> int:
    """An order of all events in which every send comes before its deliveries, as turns.

    In turn k entity `turns[k]` goes on to event `until[k]`. Histories take turns until they deliver what has not been
    sent yet; the send takes them up again. An event that comes after another by its clock waits for it likewise.
    Returns how many turns there are; -1 if some history is never finished: then happens-before has a cycle.
    """
    n = end - begin
    told = edges_told(begin, end, event_offsets, edge_offsets) > 0
    for m in range(messages):
        waiting[m] = -1
    left = event_offsets[end] - event_offsets[begin]
    for e in range(n):
        pointer[e] = event_offsets[begin + e]
        ready[e] = e
        held[e] = -1
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
            if told:
                source = -1
                for edge in range(edge_offsets[k], edge_offsets[k + 1]):
                    earlier = edge_earlier[edge]
                    at = owner(earlier, begin, end, event_offsets)
                    if earlier >= pointer[at]:
                        source = at
                        needed[e] = earlier
                if source >= 0:
                    next_waiting[e] = held[source]
                    held[source] = e
                    break
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
        w = held[e]
        held[e] = -1
        while w >= 0:
            following = next_waiting[w]
            if needed[w] < k:
                ready[(head + queued) % n] = w
                queued += 1
            else:
                next_waiting[w] = held[e]
                held[e] = w
            w = following
        turns[count] = e
        until[count] = k
        count += 1
    return count if left == 0 else -1


def numbered_sources(
    begin: int, end: int, event_offsets: Any, edge_offsets: Any, edge_earlier: Any, slot: Any
) -> None:
    """Number the events that some clock puts before another; `slot` is -1 at all other events of the execution."""
    first = event_offsets[begin]
    for k in range(event_offsets[end] - first):
        slot[k] = -1
    count = 0
    for edge in range(edge_offsets[first], edge_offsets[event_offsets[end]]):
        k = edge_earlier[edge] - first
        if slot[k] < 0:
            slot[k] = count
            count += 1


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
    edge_offsets: Any,
    edge_earlier: Any,
    slot: Any,
    snapshot: Any,
    pointer: Any,
    current: Any,
    vector: Any,
) -> None:
    """Write V(m)[low + k] of every message to `vector[m * width + k]`, k below `width`, along turns.

    `slot` is from `numbered_sources`, and `snapshot` keeps what was known at those events.
    """
    n = end - begin
    told = edges_told(begin, end, event_offsets, edge_offsets) > 0
    first = event_offsets[begin]
    for k in range(n * width):
        current[k] = 0
    for e in range(n):
        pointer[e] = event_offsets[begin + e]
    for t in range(count):
        e = turns[t]
        row = e * width
        for event in range(pointer[e], until[t]):
            if told:
                for edge in range(edge_offsets[event], edge_offsets[event + 1]):
                    at = slot[edge_earlier[edge] - first] * width
                    for k in range(width):
                        current[row + k] = max(current[row + k], snapshot[at + k])
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
            if told and slot[event - first] >= 0:
                at = slot[event - first] * width
                for k in range(width):
                    snapshot[at + k] = current[row + k]
        pointer[e] = until[t]


def delivers_two(
    begin: int, end: int, base: int, at_one: bool, delivered_offsets: Any, delivered: Any, sender: Any
) -> bool:
    """Whether two messages that were sent are delivered: at one entity, or anywhere."""
    met = -1
    for entity in range(begin, end):
        if at_one:
            met = -1
        for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
            m = delivered[k]
            if sender[base + m] >= 0:
                if met >= 0 and met != m:
                    return True
                met = m
    return False


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
    order_doubt: Any,
    edge_offsets: Any,
    edge_earlier: Any,
    delivery: int,
    values: Any,
    places: Any,
) -> None:
    """Δ-causal paper, Definition 3."""
    causally_ordered(
        first, last, entity_offsets, message_offsets, event_offsets, event_kind, event_message, delivered_offsets,
        delivered, sender, send_logged, send_position, interleaved, order_doubt, edge_offsets, edge_earlier, delivery,
        False, values, places,
    )  # fmt: skip


def process_causal_order(
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
    order_doubt: Any,
    edge_offsets: Any,
    edge_earlier: Any,
    delivery: int,
    values: Any,
    places: Any,
) -> None:
    """Δ-causal paper, Theorem 1."""
    causally_ordered(
        first, last, entity_offsets, message_offsets, event_offsets, event_kind, event_message, delivered_offsets,
        delivered, sender, send_logged, send_position, interleaved, order_doubt, edge_offsets, edge_earlier, delivery,
        True, values, places,
    )  # fmt: skip


def inverted_by_clocks(
    low: int,
    width: int,
    begin: int,
    end: int,
    base: int,
    event_offsets: Any,
    event_kind: Any,
    event_message: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_position: Any,
    delivery: int,
    count: int,
    turns: Any,
    until: Any,
    edge_offsets: Any,
    edge_earlier: Any,
    slot: Any,
    vector: Any,
    at_one: bool,
    pointer: Any,
    log: Any,
    seen: Any,
    by: Any,
    sent_seen: Any,
    sent_by: Any,
    kept_seen: Any,
    kept_by: Any,
    worst: int,
    place: int,
    places: Any,
) -> tuple[int, int]:
    """The first receiver that delivers a message, of a sender in the block, after one that was sent later, and the
    place of the message in its log; `worst` and `place` where none is before these.

    Where clocks tell of messages that are in no row, who knows of a send need not have delivered anything. So what is
    propagated is what has been delivered: with D[k] the number of sends of k that come before the send of some q that
    was delivered, here (`at_one`) or at any event that comes before, a message p of k is late exactly if its place
    among the sends of k is below D[k]. `by` says which q.
    """
    n = end - begin
    first = event_offsets[begin]
    for k in range(n * width):
        seen[k] = 0
        by[k] = -1
    for e in range(n):
        pointer[e] = event_offsets[begin + e]
        log[e] = delivered_offsets[begin + e]
    for t in range(count):
        e = turns[t]
        row = e * width
        for event in range(pointer[e], until[t]):
            if not at_one:
                for edge in range(edge_offsets[event], edge_offsets[event + 1]):
                    at = slot[edge_earlier[edge] - first] * width
                    for k in range(width):
                        if kept_seen[at + k] > seen[row + k]:
                            seen[row + k] = kept_seen[at + k]
                            by[row + k] = kept_by[at + k]
            kind = event_kind[event]
            m = event_message[event]
            at = m * width
            if kind == _SEND:
                for k in range(width):
                    sent_seen[at + k] = seen[row + k]
                    sent_by[at + k] = by[row + k]
            elif kind == delivery:
                position = log[e]
                again = position == delivered_offsets[begin + e + 1] or delivered[position] != m
                if not again:
                    log[e] += 1
                if sender[base + m] >= 0 and not at_one:
                    for k in range(width):
                        if sent_seen[at + k] > seen[row + k]:
                            seen[row + k] = sent_seen[at + k]
                            by[row + k] = sent_by[at + k]
                if sender[base + m] >= 0 and not again:
                    origin = sender[base + m] - low
                    if (
                        0 <= origin < width
                        and seen[row + origin] > send_position[base + m]
                        and (e < worst or (e == worst and position < place))
                    ):
                        worst = e
                        place = position
                        places[0] = e
                        places[2] = m
                        places[3] = by[row + origin]
                    for k in range(width):
                        before = vector[at + k] - (1 if k == origin else 0)
                        if before > seen[row + k]:
                            seen[row + k] = before
                            by[row + k] = m
            if slot[event - first] >= 0:
                at = slot[event - first] * width
                for k in range(width):
                    kept_seen[at + k] = seen[row + k]
                    kept_by[at + k] = by[row + k]
        pointer[e] = until[t]
    return worst, place


def causally_ordered(
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
    order_doubt: Any,
    edge_offsets: Any,
    edge_earlier: Any,
    delivery: int,
    at_one: bool,
    values: Any,
    places: Any,
) -> None:
    """Δ-causal paper, Definition 3 and Theorem 1; CMD paper, Lemma 6.

    `at_one`: of deliveries at one entity. Where rows alone make happens-before, that is the same (Theorem 1).

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
    held = np.empty(n_most, np.int64)
    needed = np.empty(n_most, np.int64)
    waiting = np.empty(m_most, np.int64)
    most = longest(first, last, entity_offsets, event_offsets, edge_offsets)
    turns = np.empty(most, np.int32)
    until = np.empty(most, np.int64)
    edges = most_told(first, last, entity_offsets, event_offsets, edge_offsets)
    slot = np.empty(most_events(first, last, entity_offsets, event_offsets, edge_offsets), np.int32)
    snapshot = np.empty(edges * width, np.int32)
    # What has been delivered, and the messages that say so: at entities, with messages, at the sources of edges.
    seen = np.empty((n_most if edges > 0 else 0) * width, np.int32)
    by = np.empty((n_most if edges > 0 else 0) * width, np.int32)
    sent_seen = np.empty((m_most if edges > 0 else 0) * width, np.int32)
    sent_by = np.empty((m_most if edges > 0 else 0) * width, np.int32)
    kept_seen = np.empty(edges * width, np.int32)
    kept_by = np.empty(edges * width, np.int32)
    for x in range(first, last):
        begin, end, base, stop = (
            entity_offsets[x],
            entity_offsets[x + 1],
            message_offsets[x],
            message_offsets[x + 1],
        )
        n = end - begin
        if order_doubt[x] != 0:
            # Nothing is known of any two events, but that no event is before itself.
            if delivers_two(begin, end, base, at_one, delivered_offsets, delivered, sender):
                values[x] = order_doubt[x]
            continue
        if not well_known(begin, end, base, stop, interleaved, sender, send_logged):
            values[x] = DEFERRED
            continue
        count = turns_taken(
            begin, end, base, stop - base, event_offsets, event_kind, event_message, sender, delivery,
            edge_offsets, edge_earlier, pointer, waiting, next_waiting, ready, held, needed, turns, until,
        )  # fmt: skip
        if count < 0:
            values[x] = _CYCLE
            continue
        # The first receiver with a violation, and the place of the first in its log.
        worst = n
        place = 0
        if edges_told(begin, end, event_offsets, edge_offsets) > 0:
            numbered_sources(begin, end, event_offsets, edge_offsets, edge_earlier, slot)
            for low in range(0, n, BLOCK):
                width = min(BLOCK, n - low)
                vector_times(
                    low, width, begin, end, base, event_offsets, event_kind, event_message, sender, delivery, count,
                    turns, until, edge_offsets, edge_earlier, slot, snapshot, pointer, current, vector,
                )  # fmt: skip
                worst, place = inverted_by_clocks(
                    low, width, begin, end, base, event_offsets, event_kind, event_message, delivered_offsets,
                    delivered, sender, send_position, delivery, count, turns, until, edge_offsets, edge_earlier, slot,
                    vector, at_one, pointer, log, seen, by, sent_seen, sent_by, kept_seen, kept_by, worst, place,
                    places[x],
                )  # fmt: skip
            if worst < n:
                values[x] = _FALSE
            continue
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
    order_doubt: Any,
    edge_offsets: Any,
    edge_earlier: Any,
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
    holding = np.empty(n_most, np.int64)
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
            edge_offsets, edge_earlier, pointer, waiting, next_waiting, ready, holding, needed, turns, until,
        )  # fmt: skip
        if count < 0:
            values[x] = DEFERRED
            continue
        if edges_told(begin, end, event_offsets, edge_offsets) > 0:
            numbered_sources(begin, end, event_offsets, edge_offsets, edge_earlier, slot)
        held = waiting
        for m in range(stop - base):
            held[m] = -1
        worst = n
        place = 0
        for low in range(0, n, BLOCK):
            width = min(BLOCK, n - low)
            vector_times(
                low, width, begin, end, base, event_offsets, event_kind, event_message, sender, delivery,
                count, turns, until, edge_offsets, edge_earlier, slot, snapshot, pointer, current, vector,
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
    order_doubt: Any,
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
        if order_doubt[x] != 0:
            values[x] = DEFERRED
            continue
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


VECTOR_TIME: Final = (
    widest,
    edges_told,
    longest,
    most_told,
    most_events,
    well_known,
    owner,
    turns_taken,
    numbered_sources,
    vector_times,
)
"""What a kernel that needs vector times calls."""

_CAUSAL: Final = (*VECTOR_TIME, delivers_two, inverted_by_clocks, causally_ordered)

CAUSAL_KERNELS: Final = {
    "causal_order": Kernel(causal_order, _CAUSAL),
    "process_causal_order": Kernel(process_causal_order, _CAUSAL),
    "causal_delivery": Kernel(causal_delivery, (*VECTOR_TIME, addressed)),
    "fifo_delivery": Kernel(fifo_delivery, (widest, addressed)),
}
"""By the name of the definition in `recognise.DEFINITIONS`."""
