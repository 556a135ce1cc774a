"""An order of all events of an execution in which every send comes before its deliveries, as turns."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.kernel import Span, most_entries, span_of
from precedes.native.codes import SEND

TURN: Final = 32
"""Events after which a history gives way to another: what is sent is then delivered while it is in the cache."""

_SENT: Final = -2
"""The mark of a message that nobody waits for any more."""


class Turns(NamedTuple):
    """In turn k entity `taker[k]` goes on to event `until[k]`. What is needed to find this order:

    pointer       entities: the next event
    ready         entities that can go on, a ring
    needed        entities: the event that each waits for by a clock
    held          entities: the first of those that wait for one of its events, -1 for none
    waiting       messages: the first of the entities that wait for its send, -1 for none
    next_waiting  entities: the next that waits for the same
    """

    taker: npt.NDArray[np.int32]
    until: npt.NDArray[np.int64]
    pointer: npt.NDArray[np.int64]
    ready: npt.NDArray[np.int64]
    needed: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]
    waiting: npt.NDArray[np.int64]
    next_waiting: npt.NDArray[np.int64]


def turns_of(first: int, last: int, columns: Columns) -> Turns:
    """Room for the turns of any execution."""
    most = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        # A turn ends after `TURN` events, at a history's end, or before an event that has to wait for another, once
        # for each of those.
        turns = 2 * (columns.event_offsets[end] - columns.event_offsets[begin]) + end - begin
        most = max(most, turns + edges_told(begin, end, columns))
    entities = most_entries(first, last, columns.entity_offsets)
    return Turns(
        np.empty(most, np.int32),
        np.empty(most, np.int64),
        np.empty(entities, np.int64),
        np.empty(entities, np.int64),
        np.empty(entities, np.int64),
        np.empty(entities, np.int64),
        np.empty(most_entries(first, last, columns.message_offsets), np.int64),
        np.empty(entities, np.int64),
    )


def edges_told(begin: int, end: int, columns: Columns) -> int:
    """How much recorded clocks say of the order of the execution's events beyond its rows."""
    if len(columns.edge_offsets) == 0:
        return 0
    event_offsets, edge_offsets = columns.event_offsets, columns.edge_offsets
    return int(edge_offsets[event_offsets[end]] - edge_offsets[event_offsets[begin]])


def most_edges(first: int, last: int, columns: Columns) -> int:
    """The most that recorded clocks say of one execution beyond its rows."""
    most = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        most = max(most, edges_told(begin, end, columns))
    return most


def most_linked_events(first: int, last: int, columns: Columns) -> int:
    """The most events of an execution of which recorded clocks say more than its rows."""
    most = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        if edges_told(begin, end, columns) > 0:
            most = max(most, columns.event_offsets[end] - columns.event_offsets[begin])
    return most


def well_known(span: Span, columns: Columns) -> bool:
    """Whether all sends of the execution were logged and the order of each entity's events is known."""
    for entity in range(span.begin, span.end):
        if not columns.interleaved[entity]:
            return False
    return all_logged(span, columns)


def all_logged(span: Span, columns: Columns) -> bool:
    """Whether all sends of the execution were logged."""
    sender, send_logged = columns.sender, columns.send_logged
    known = True
    for m in range(span.base, span.stop):
        known = known and (sender[m] < 0 or send_logged[m])
    return bool(known)


def owner(event: int, span: Span, columns: Columns) -> int:
    """The local entity of an event."""
    event_offsets = columns.event_offsets
    low = span.begin
    high = span.end
    while high - low > 1:
        middle = (low + high) // 2
        if event_offsets[middle] <= event:
            low = middle
        else:
            high = middle
    return low - span.begin


def awaited(event: int, span: Span, columns: Columns, pointer: npt.NDArray[np.int64]) -> int:
    """An event that a clock puts before this one and that has not been taken up, -1 for none."""
    found = -1
    for edge in range(columns.edge_offsets[event], columns.edge_offsets[event + 1]):
        earlier = columns.edge_earlier[edge]
        if earlier >= pointer[owner(earlier, span, columns)]:
            found = earlier
    return found


def turns_taken(span: Span, columns: Columns, turns: Turns) -> int:
    """Write the turns.

    Histories take turns until they deliver what has not been sent yet; the send takes them up again. An event that
    comes after another by its clock waits for it likewise. Returns how many turns there are; -1 if some history is
    never finished: then happens-before has a cycle.
    """
    begin, end, base, stop = span
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    sender, delivery = columns.sender, columns.delivery
    taker, until, pointer, ready, needed, held, waiting, next_waiting = turns
    n = end - begin
    told = edges_told(begin, end, columns) > 0
    for m in range(stop - base):
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
        last = event_offsets[begin + e + 1]
        pause = min(last, k + TURN)
        while k < pause:
            if told:
                needed[e] = awaited(k, span, columns, pointer)
                if needed[e] >= 0:
                    source = owner(needed[e], span, columns)
                    next_waiting[e] = held[source]
                    held[source] = e
                    break
            kind = event_kind[k]
            m = event_message[k]
            if kind == SEND:
                queued = released(waiting[m], head, queued, n, turns)
                waiting[m] = _SENT
            elif kind == delivery and sender[base + m] >= 0 and waiting[m] != _SENT:
                next_waiting[e] = waiting[m]
                waiting[m] = e
                break
            k += 1
        if k == pause and k < last:
            ready[(head + queued) % n] = e
            queued += 1
        left -= k - pointer[e]
        pointer[e] = k
        queued = released_by_clocks(e, head, queued, n, turns)
        taker[count] = e
        until[count] = k
        count += 1
    return count if left == 0 else -1


def released(first: int, head: int, queued: int, entities: int, turns: Turns) -> int:
    """Make those that wait for a message ready, from the first of them on; how many are ready then."""
    ready, next_waiting = turns.ready, turns.next_waiting
    w = first
    while w >= 0:
        ready[(head + queued) % entities] = w
        queued += 1
        w = next_waiting[w]
    return queued


def released_by_clocks(e: int, head: int, queued: int, entities: int, turns: Turns) -> int:
    """Make those ready that waited for an event that an entity has taken up; how many are ready then."""
    ready, needed, held, next_waiting = turns.ready, turns.needed, turns.held, turns.next_waiting
    w = held[e]
    held[e] = -1
    while w >= 0:
        following = next_waiting[w]
        if needed[w] < turns.pointer[e]:
            ready[(head + queued) % entities] = w
            queued += 1
        else:
            next_waiting[w] = held[e]
            held[e] = w
        w = following
    return queued


TURNS: Final = (
    "event_kind",
    "event_message",
    "sender",
    "send_logged",
    "interleaved",
    "edge_offsets",
    "edge_earlier",
)
"""What is read to find turns and vector times."""
