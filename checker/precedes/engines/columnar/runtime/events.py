"""What generated code calls about events: happens-before by vector time (CMD paper, Lemmas 2 and 4).

See `runtime` for what such code may be, and for the parameters in common.
"""

from __future__ import annotations

from typing import Final

from precedes.engines.columnar.runtime.logs import Column, Scratch

SEND: Final = 0
ARRIVE: Final = 2
LOCAL: Final = 7
"""Places in `EventKind`, written out: numba keeps compiled code by the text of this file."""


def event_places(
    n: int,
    m: int,
    first_entity: int,
    first_message: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    sender: Column,
    send_logged: Column,
    delivery_kind: int,
    send_event: Scratch,
    delivery_event: Scratch,
    arrival_event: Scratch,
    event_owner: Scratch,
) -> int:
    """Number the events of an execution from 0, and after them, by message, the sends that were not logged.
    Returns how many were logged.

    `send_event` has the send of every message, `delivery_event` and `arrival_event` the first delivery and
    arrival at every entity, -1 for none; `event_owner` the entity of every event. The kinds are those of
    `EventKind`, in its order: 0 send, 1 deliver, 2 arrive.
    """
    base = event_offsets[first_entity]
    count = event_offsets[first_entity + n] - base
    for message in range(m):
        unlogged = sender[first_message + message] >= 0 and not send_logged[first_message + message]
        send_event[message] = count + message if unlogged else -1
        event_owner[count + message] = sender[first_message + message]
    for place in range(n * m):
        delivery_event[place] = -1
        arrival_event[place] = -1
    for entity in range(n):
        for event in range(
            event_offsets[first_entity + entity] - base, event_offsets[first_entity + entity + 1] - base
        ):
            event_owner[event] = entity
            message = event_message[base + event]
            if message < 0:
                continue
            kind = event_kind[base + event]
            if kind == SEND:
                if send_event[message] < 0:
                    send_event[message] = event
            else:
                if kind == delivery_kind and delivery_event[entity * m + message] < 0:
                    delivery_event[entity * m + message] = event
                if kind == ARRIVE and arrival_event[entity * m + message] < 0:
                    arrival_event[entity * m + message] = event
    return count


def order_doubts(x: int, order_doubt: Column) -> int:
    """Why happens-before is not known on the execution, or 0."""
    return order_doubt[x]


def any_doubt(n: int, first_entity: int, history_doubt: Column) -> int:
    """Why the order of some entity's events is not known, or 0."""
    reasons = 0
    for entity in range(first_entity, first_entity + n):
        reasons |= history_doubt[entity]
    return reasons


def vector_times(
    n: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    delivery_kind: int,
    send_event: Column,
    event_owner: Column,
    edge_offsets: Column,
    edge_earlier: Column,
    done: Scratch,
    vector: Scratch,
) -> int:
    """The vector time of every logged event, counting all events of an entity: row e of `vector`, n wide.
    Returns the reason `CYCLE` or 0. What recorded clocks add to the order of rows is taken in.
    """
    return ordered_times(
        n,
        count,
        first_entity,
        event_offsets,
        event_kind,
        event_message,
        delivery_kind,
        send_event,
        event_owner,
        edge_offsets,
        edge_earlier,
        len(edge_offsets) > 0,
        done,
        vector,
    )


def row_times(
    n: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    delivery_kind: int,
    send_event: Column,
    event_owner: Column,
    edge_offsets: Column,
    edge_earlier: Column,
    done: Scratch,
    row_vector: Scratch,
) -> int:
    """The same by the rows alone."""
    return ordered_times(
        n,
        count,
        first_entity,
        event_offsets,
        event_kind,
        event_message,
        delivery_kind,
        send_event,
        event_owner,
        edge_offsets,
        edge_earlier,
        False,
        done,
        row_vector,
    )


def ordered_times(
    n: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    delivery_kind: int,
    send_event: Column,
    event_owner: Column,
    edge_offsets: Column,
    edge_earlier: Column,
    by_clocks: bool,
    done: Scratch,
    vector: Scratch,
) -> int:
    """Vector times, with or without what recorded clocks say.

    An event is taken up when those before it are done, whatever the order of the entities; what remains is
    a cycle or comes after one.
    """
    base = event_offsets[first_entity]
    for entity in range(n):
        done[entity] = event_offsets[first_entity + entity] - base
    remaining = count
    advanced = True
    while advanced and remaining > 0:
        advanced = False
        for entity in range(n):
            start = event_offsets[first_entity + entity] - base
            stop = event_offsets[first_entity + entity + 1] - base
            event = done[entity]
            while event < stop:
                source = -1
                message = event_message[base + event]
                if message >= 0 and event_kind[base + event] == delivery_kind:
                    source = send_event[message]
                    if source >= count:
                        source = -1
                    elif source >= 0 and source >= done[event_owner[source]]:
                        break
                if by_clocks and not all_done(
                    base + event, base, edge_offsets, edge_earlier, event_owner, done
                ):
                    break
                row = event * n
                for k in range(n):
                    vector[row + k] = vector[row - n + k] if event > start else 0
                if source >= 0:
                    for k in range(n):
                        vector[row + k] = max(vector[row + k], vector[source * n + k])
                if by_clocks:
                    for edge in range(edge_offsets[base + event], edge_offsets[base + event + 1]):
                        earlier = edge_earlier[edge] - base
                        for k in range(n):
                            vector[row + k] = max(vector[row + k], vector[earlier * n + k])
                vector[row + entity] = event - start + 1
                event += 1
                done[entity] = event
                remaining -= 1
                advanced = True
    return 16 if remaining > 0 else 0


def all_done(
    event: int, base: int, edge_offsets: Column, edge_earlier: Column, event_owner: Column, done: Column
) -> bool:
    """Whether the events are done that a clock puts before an event, by its number in the batch."""
    for edge in range(edge_offsets[event], edge_offsets[event + 1]):
        earlier = edge_earlier[edge] - base
        if earlier >= done[event_owner[earlier]]:
            return False
    return True


def happens_before(
    first: int, second: int, doubt: int, cycle: int, n: int, event_owner: Column, vector: Column
) -> int:
    """`first ~> second` where every send was logged (CMD paper, Lemma 4). Events that do not exist are -1."""
    if first < 0 or second < 0:
        return -1
    if doubt > 0:
        return -1 if first == second else doubt
    if cycle > 0:
        return cycle
    owner = event_owner[first]
    return 0 if first != second and vector[first * n + owner] <= vector[second * n + owner] else -1


def certainly_before(
    first: int,
    second: int,
    n: int,
    m: int,
    count: int,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
) -> bool:
    """Whether the edges that are known lead from `first` to `second`: nothing leads to a send that was not
    logged.
    """
    if second >= count or first == second:
        return False
    if first < count:
        owner = event_owner[first]
        return vector[first * n + owner] <= vector[second * n + owner]
    for entity in range(n):
        delivery = delivery_event[entity * m + first - count]
        if delivery >= 0 and vector[delivery * n + entity] <= vector[second * n + entity]:
            return True
    return False


def certainly_until(
    first: int,
    second: int,
    n: int,
    m: int,
    count: int,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
) -> bool:
    """Whether `first` certainly happens before `second` or is it."""
    return first == second or certainly_before(
        first, second, n, m, count, event_owner, delivery_event, vector
    )


def possible_times(
    n: int,
    m: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    delivery_kind: int,
    send_event: Column,
    delivery_event: Column,
    event_owner: Column,
    edge_offsets: Column,
    edge_earlier: Column,
    vector: Column,
    possible: Scratch,
) -> None:
    """What may happen before every event, with what recorded clocks add to the order of rows; see `reachable_times`."""
    reachable_times(
        n,
        m,
        count,
        first_entity,
        event_offsets,
        event_kind,
        event_message,
        delivery_kind,
        send_event,
        delivery_event,
        event_owner,
        edge_offsets,
        edge_earlier,
        len(edge_offsets) > 0,
        vector,
        possible,
    )


def row_possible_times(
    n: int,
    m: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    delivery_kind: int,
    send_event: Column,
    delivery_event: Column,
    event_owner: Column,
    edge_offsets: Column,
    edge_earlier: Column,
    row_vector: Column,
    row_possible: Scratch,
) -> None:
    """The same by the rows alone."""
    reachable_times(
        n,
        m,
        count,
        first_entity,
        event_offsets,
        event_kind,
        event_message,
        delivery_kind,
        send_event,
        delivery_event,
        event_owner,
        edge_offsets,
        edge_earlier,
        False,
        row_vector,
        row_possible,
    )


def reachable_times(
    n: int,
    m: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    event_kind: Column,
    event_message: Column,
    delivery_kind: int,
    send_event: Column,
    delivery_event: Column,
    event_owner: Column,
    edge_offsets: Column,
    edge_earlier: Column,
    by_clocks: bool,
    vector: Column,
    possible: Scratch,
) -> None:
    """What may happen before every event where sends of unknown place are put wherever they do no harm.

    A send of entity s that was not logged may come before every event of s, and after those that it does
    not certainly precede; two such sends of s may follow each other either way. So all of them reach, and
    are reached by, the same other events: one more row for each entity, after those of the events, stands
    for them. A row of `possible` is 2 n wide: per entity, how many of its events may come before the event
    of the row or are it; then, per entity, whether its unlogged sends may.
    """
    width = 2 * n
    base = event_offsets[first_entity]
    for place in range((count + n) * width):
        possible[place] = 0
    for event in range(count):
        for k in range(n):
            possible[event * width + k] = vector[event * n + k]
    changed = True
    while changed:
        changed = False
        for entity in range(n):
            start = event_offsets[first_entity + entity] - base
            stop = event_offsets[first_entity + entity + 1] - base
            missing = False
            latest = 0
            for message in range(m):
                send = count + message
                if send_event[message] == send and event_owner[send] == entity:
                    missing = True
                    event = stop
                    while event > start and certainly_before(
                        send, event - 1, n, m, count, event_owner, delivery_event, vector
                    ):
                        event -= 1
                    latest = max(latest, event - start)
            sends = (count + entity) * width
            if latest > 0:
                for k in range(width):
                    if possible[(start + latest - 1) * width + k] > possible[sends + k]:
                        possible[sends + k] = possible[(start + latest - 1) * width + k]
                        changed = True
            for event in range(start, stop):
                row = event * width
                source = -1
                message = event_message[base + event]
                if message >= 0 and event_kind[base + event] == delivery_kind:
                    source = send_event[message]
                if missing and possible[row + n + entity] == 0:
                    possible[row + n + entity] = 1
                    changed = True
                if source >= count and possible[row + n + event_owner[source]] == 0:
                    possible[row + n + event_owner[source]] = 1
                    changed = True
                for k in range(width):
                    most = possible[row + k]
                    if event > start:
                        most = max(most, possible[row - width + k])
                    if missing:
                        most = max(most, possible[sends + k])
                    if source >= count:
                        most = max(most, possible[(count + event_owner[source]) * width + k])
                    elif source >= 0:
                        most = max(most, possible[source * width + k])
                    if by_clocks:
                        for edge in range(edge_offsets[base + event], edge_offsets[base + event + 1]):
                            most = max(most, possible[(edge_earlier[edge] - base) * width + k])
                    if most > possible[row + k]:
                        possible[row + k] = most
                        changed = True


def happens_before_with_gaps(
    first: int,
    second: int,
    doubt: int,
    cycle: int,
    n: int,
    m: int,
    count: int,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
    possible: Column,
) -> int:
    """`first ~> second` where sends may not have been logged: unknown (`SEND_NOT_LOGGED`) where their place
    may matter.
    """
    if first < 0 or second < 0:
        return -1
    if doubt > 0:
        return -1 if first == second else doubt
    if cycle > 0:
        return cycle
    if first == second:
        return -1
    if certainly_before(first, second, n, m, count, event_owner, delivery_event, vector):
        return 0
    if certainly_before(second, first, n, m, count, event_owner, delivery_event, vector):
        return -1
    owner = event_owner[first]
    row = (second if second < count else count + event_owner[second]) * 2 * n
    if first < count:
        return 4 if possible[row + owner] >= vector[first * n + owner] else -1
    if second >= count and event_owner[second] == owner:
        return 4
    return 4 if possible[row + n + owner] > 0 else -1


# ---- vector times as numbers ----


def arrivals_recorded(
    n: int, first_entity: int, event_offsets: Column, event_kind: Column, event_message: Column
) -> bool:
    """Whether the execution has an arrival."""
    for event in range(event_offsets[first_entity], event_offsets[first_entity + n]):
        if event_kind[event] == ARRIVE and event_message[event] >= 0:
            return True
    return False


def clocks_count(kind: int, delivery_kind: int) -> bool:
    """Whether vector time counts events of a kind: sends, deliveries and local events."""
    return kind in (SEND, delivery_kind, LOCAL)


def counted_events(
    n: int,
    m: int,
    first_entity: int,
    first_message: int,
    event_offsets: Column,
    event_kind: Column,
    delivery_kind: int,
    sender: Column,
    send_logged: Column,
    event_own: Column,
    counted: Scratch,
) -> None:
    """For every event, how many events that clocks count its entity has up to it.

    Where the execution has no local events, and every send was logged, a gap in an entity's own clock (`event_own`, 0
    where the clock does not count its event) stands for local events.
    """
    gaps = True
    for event in range(event_offsets[first_entity], event_offsets[first_entity + n]):
        if event_kind[event] == LOCAL:
            gaps = False
    for message in range(first_message, first_message + m):
        if sender[message] >= 0 and not send_logged[message]:
            gaps = False
    base = event_offsets[first_entity]
    for entity in range(n):
        count = 0
        for event in range(event_offsets[first_entity + entity], event_offsets[first_entity + entity + 1]):
            if clocks_count(event_kind[event], delivery_kind):
                count = max(count + 1, event_own[event] if gaps else 0)
            counted[event - base] = count


def counted_rows(
    n: int, first_entity: int, event_offsets: Column, event_kind: Column, delivery_kind: int, counted: Scratch
) -> None:
    """The same of rows alone, which is the least that it can be where some may be missing."""
    base = event_offsets[first_entity]
    for entity in range(n):
        count = 0
        for event in range(event_offsets[first_entity + entity], event_offsets[first_entity + entity + 1]):
            if clocks_count(event_kind[event], delivery_kind):
                count += 1
            counted[event - base] = count


def weight(event: int, start: int, counted: Column) -> int:
    """How many of these an event stands for; `start` is the first of its entity."""
    return counted[event] - (counted[event - 1] if event > start else 0)


def vector_time(
    event: int, entity: int, n: int, first_entity: int, event_offsets: Column, vector: Column, counted: Column
) -> int:
    """The number of events of the entity that clocks count and that happen before the event or are it, where every
    send was logged.
    """
    known = vector[event * n + entity]
    return (
        counted[event_offsets[first_entity + entity] - event_offsets[first_entity] + known - 1]
        if known > 0
        else 0
    )


def vector_time_doubt(
    event: int,
    entity: int,
    n: int,
    m: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    send_event: Column,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
    event_kind: Column,
    delivery_kind: int,
    possible: Column,
) -> int:
    """Reasons why that number is not known, or 0: some event of the entity that clocks count may happen before
    the event.
    """
    base = event_offsets[first_entity]
    for other in range(
        event_offsets[first_entity + entity] - base, event_offsets[first_entity + entity + 1] - base
    ):
        if clocks_count(event_kind[base + other], delivery_kind):
            before = happens_before_with_gaps(
                other, event, 0, 0, n, m, count, event_owner, delivery_event, vector, possible
            )
            if before > 0:
                return before
    for message in range(m):
        other = count + message
        if send_event[message] == other and event_owner[other] == entity:
            before = happens_before_with_gaps(
                other, event, 0, 0, n, m, count, event_owner, delivery_event, vector, possible
            )
            if before > 0:
                return before
    return 0


def vector_time_with_gaps(
    event: int,
    entity: int,
    n: int,
    m: int,
    count: int,
    first_entity: int,
    event_offsets: Column,
    send_event: Column,
    event_owner: Column,
    delivery_event: Column,
    vector: Column,
    counted: Column,
) -> int:
    """That number where it is known though sends are missing: those that certainly happen before, and the
    event itself.
    """
    base = event_offsets[first_entity]
    number = 0
    for other in range(
        event_offsets[first_entity + entity] - base, event_offsets[first_entity + entity + 1] - base
    ):
        if certainly_until(other, event, n, m, count, event_owner, delivery_event, vector):
            number += weight(other, event_offsets[first_entity + entity] - base, counted)
    for message in range(m):
        other = count + message
        counts = send_event[message] == other and event_owner[other] == entity
        if counts and certainly_until(other, event, n, m, count, event_owner, delivery_event, vector):
            number += 1
    return number
