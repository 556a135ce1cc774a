"""What generated code calls about events: happens-before by vector time (CMD paper, Lemmas 2 and 4).

See `runtime` for what such code may be, and for the parameters in common.
"""

from __future__ import annotations

from typing import NamedTuple

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.runtime.logs import Column, Here, Scratch
from precedes.native.codes import ARRIVE, CYCLE, LOCAL, SEND, SEND_NOT_LOGGED


class Numbering(NamedTuple):
    """Numbers of events, -1 for those that there are not.

    send_event      messages: the send; numbers after those of all events are of sends that were not logged
    delivery_event  entities and messages: the first delivery there
    arrival_event   entities and messages: the first arrival there
    event_owner     events: whose it is
    """

    send_event: Scratch
    delivery_event: Scratch
    arrival_event: Scratch
    event_owner: Scratch


class Past(NamedTuple):
    """What is known of happens-before in an execution of n entities and m messages.

    `doubt` and `cycle` are reasons why it is not known, or 0; `vector` has the vector times of the logged events, and
    the rest is as in `Numbering`.
    """

    n: int
    m: int
    logged_events: int
    doubt: int
    cycle: int
    send_event: Column
    delivery_event: Column
    event_owner: Column
    vector: Column


def event_places(here: Here, columns: Columns, numbering: Numbering) -> int:
    """Number the events of an execution from 0, and after them, by message, the sends that were not logged.
    Returns how many were logged.
    """
    n, m, first_entity, first_message = here
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    send_event, delivery_event, arrival_event, event_owner = numbering
    base = event_offsets[first_entity]
    count = event_offsets[first_entity + n] - base
    for message in range(m):
        unlogged = (
            columns.sender[first_message + message] >= 0 and not columns.send_logged[first_message + message]
        )
        send_event[message] = count + message if unlogged else -1
        event_owner[count + message] = columns.sender[first_message + message]
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
                if kind == columns.delivery and delivery_event[entity * m + message] < 0:
                    delivery_event[entity * m + message] = event
                if kind == ARRIVE and arrival_event[entity * m + message] < 0:
                    arrival_event[entity * m + message] = event
    return int(count)


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
    here: Here, columns: Columns, numbering: Numbering, count: int, done: Scratch, vector: Scratch
) -> int:
    """The vector time of every logged event, counting all events of an entity: row e of `vector`, n wide.
    Returns the reason `CYCLE` or 0. What recorded clocks add to the order of rows is taken in.
    """
    return ordered_times(here, columns, numbering, count, len(columns.edge_offsets) > 0, (done, vector))


def row_times(
    here: Here, columns: Columns, numbering: Numbering, count: int, done: Scratch, row_vector: Scratch
) -> int:
    """The same by the rows alone."""
    return ordered_times(here, columns, numbering, count, False, (done, row_vector))


def ordered_times(
    here: Here,
    columns: Columns,
    numbering: Numbering,
    count: int,
    by_clocks: bool,
    written: tuple[Scratch, Scratch],
) -> int:
    """Vector times, with or without what recorded clocks say.

    An event is taken up when those before it are done, whatever the order of the entities; what remains is
    a cycle or comes after one.
    """
    n, _, first_entity, _ = here
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    edge_offsets, edge_earlier = columns.edge_offsets, columns.edge_earlier
    send_event, event_owner = numbering.send_event, numbering.event_owner
    done, vector = written
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
                if message >= 0 and event_kind[base + event] == columns.delivery:
                    source = send_event[message]
                    if source >= count:
                        source = -1
                    elif source >= 0 and source >= done[event_owner[source]]:
                        break
                if by_clocks and not all_done(base + event, base, columns, event_owner, done):
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
    return CYCLE if remaining > 0 else 0


def all_done(event: int, base: int, columns: Columns, event_owner: Column, done: Column) -> bool:
    """Whether the events are done that a clock puts before an event, by its number in the batch."""
    for edge in range(columns.edge_offsets[event], columns.edge_offsets[event + 1]):
        earlier = columns.edge_earlier[edge] - base
        if earlier >= done[event_owner[earlier]]:
            return False
    return True


def happens_before(first: int, second: int, past: Past) -> int:
    """`first ~> second` where every send was logged (CMD paper, Lemma 4). Events that do not exist are -1."""
    if first < 0 or second < 0:
        return -1
    if past.doubt > 0:
        return -1 if first == second else past.doubt
    if past.cycle > 0:
        return past.cycle
    n, vector = past.n, past.vector
    owner = past.event_owner[first]
    return 0 if first != second and vector[first * n + owner] <= vector[second * n + owner] else -1


def certainly_before(first: int, second: int, past: Past) -> bool:
    """Whether the edges that are known lead from `first` to `second`: nothing leads to a send that was not
    logged.
    """
    if second >= past.logged_events or first == second:
        return False
    n, vector = past.n, past.vector
    if first < past.logged_events:
        owner = past.event_owner[first]
        return vector[first * n + owner] <= vector[second * n + owner]
    for entity in range(n):
        delivery = past.delivery_event[entity * past.m + first - past.logged_events]
        if delivery >= 0 and vector[delivery * n + entity] <= vector[second * n + entity]:
            return True
    return False


def certainly_until(first: int, second: int, past: Past) -> bool:
    """Whether `first` certainly happens before `second` or is it."""
    return first == second or certainly_before(first, second, past)


def possible_times(here: Here, columns: Columns, past: Past, possible: Scratch) -> None:
    """What may happen before every event, with what recorded clocks add to the order of rows; see `reachable_times`."""
    reachable_times(here, columns, past, len(columns.edge_offsets) > 0, possible)


def row_possible_times(here: Here, columns: Columns, row_past: Past, row_possible: Scratch) -> None:
    """The same by the rows alone."""
    reachable_times(here, columns, row_past, False, row_possible)


def reachable_times(here: Here, columns: Columns, past: Past, by_clocks: bool, possible: Scratch) -> None:
    """What may happen before every event where sends of unknown place are put wherever they do no harm.

    A send of entity s that was not logged may come before every event of s, and after those that it does
    not certainly precede; two such sends of s may follow each other either way. So all of them reach, and
    are reached by, the same other events: one more row for each entity, after those of the events, stands
    for them. A row of `possible` is 2 n wide: per entity, how many of its events may come before the event
    of the row or are it; then, per entity, whether its unlogged sends may.
    """
    n, count = past.n, past.logged_events
    width = 2 * n
    base = columns.event_offsets[here.first_entity]
    for place in range((count + n) * width):
        possible[place] = 0
    for event in range(count):
        for k in range(n):
            possible[event * width + k] = past.vector[event * n + k]
    changed = True
    while changed:
        changed = False
        for entity in range(n):
            start = columns.event_offsets[here.first_entity + entity] - base
            stop = columns.event_offsets[here.first_entity + entity + 1] - base
            missing, latest = missing_sends(entity, start, stop, past)
            sends = (count + entity) * width
            if latest > 0:
                changed = taken_in(sends, (start + latest - 1) * width, width, possible) or changed
            for event in range(start, stop):
                row = event * width
                source = -1
                message = columns.event_message[base + event]
                if message >= 0 and columns.event_kind[base + event] == columns.delivery:
                    source = past.send_event[message]
                if event > start:
                    changed = taken_in(row, row - width, width, possible) or changed
                if missing:
                    changed = marked(row + n + entity, possible) or changed
                    changed = taken_in(row, sends, width, possible) or changed
                if source >= count:
                    sender = past.event_owner[source]
                    changed = marked(row + n + sender, possible) or changed
                    changed = taken_in(row, (count + sender) * width, width, possible) or changed
                elif source >= 0:
                    changed = taken_in(row, source * width, width, possible) or changed
                if by_clocks:
                    for edge in range(
                        columns.edge_offsets[base + event], columns.edge_offsets[base + event + 1]
                    ):
                        earlier = (columns.edge_earlier[edge] - base) * width
                        changed = taken_in(row, earlier, width, possible) or changed


def missing_sends(entity: int, start: int, stop: int, past: Past) -> tuple[bool, int]:
    """Whether sends of an entity were not logged, and how many of its events may come before one of them."""
    missing = False
    latest = 0
    for message in range(past.m):
        send = past.logged_events + message
        if past.send_event[message] == send and past.event_owner[send] == entity:
            missing = True
            event = stop
            while event > start and certainly_before(send, event - 1, past):
                event -= 1
            latest = max(latest, event - start)
    return missing, latest


def taken_in(row: int, other: int, width: int, possible: Scratch) -> bool:
    """Take one row of a table into another, both by the place where they begin; whether that changes it."""
    changed = False
    for k in range(width):
        if possible[other + k] > possible[row + k]:
            possible[row + k] = possible[other + k]
            changed = True
    return changed


def marked(place: int, possible: Scratch) -> bool:
    """Mark a place of a table; whether that changes it."""
    if possible[place] > 0:
        return False
    possible[place] = 1
    return True


def happens_before_with_gaps(first: int, second: int, past: Past, possible: Column) -> int:
    """`first ~> second` where sends may not have been logged: unknown (`SEND_NOT_LOGGED`) where their place
    may matter.
    """
    if first < 0 or second < 0:
        return -1
    if past.doubt > 0:
        return -1 if first == second else past.doubt
    if past.cycle > 0:
        return past.cycle
    return placed_before(first, second, past, possible)


def placed_before(first: int, second: int, past: Past, possible: Column) -> int:
    """The same of events that there are, where the order of those that were logged is known."""
    if first == second:
        return -1
    if certainly_before(first, second, past):
        return 0
    if certainly_before(second, first, past):
        return -1
    n, count, event_owner = past.n, past.logged_events, past.event_owner
    owner = event_owner[first]
    row = (second if second < count else count + event_owner[second]) * 2 * n
    if first < count:
        return SEND_NOT_LOGGED if possible[row + owner] >= past.vector[first * n + owner] else -1
    if second >= count and event_owner[second] == owner:
        return SEND_NOT_LOGGED
    return SEND_NOT_LOGGED if possible[row + n + owner] > 0 else -1


# ---- vector times as numbers ----


def arrivals_recorded(here: Here, columns: Columns) -> bool:
    """Whether the execution has an arrival."""
    start = columns.event_offsets[here.first_entity]
    for event in range(start, columns.event_offsets[here.first_entity + here.n]):
        if columns.event_kind[event] == ARRIVE and columns.event_message[event] >= 0:
            return True
    return False


def clocks_count(kind: int, delivery: int) -> bool:
    """Whether vector time counts events of a kind: sends, deliveries and local events."""
    return kind in (SEND, delivery, LOCAL)


def counted_events(here: Here, columns: Columns, counted: Scratch) -> None:
    """For every event, how many events that clocks count its entity has up to it.

    Where the execution has no local events, and every send was logged, a gap in an entity's own clock (`event_own`, 0
    where the clock does not count its event) stands for local events.
    """
    event_offsets, event_kind = columns.event_offsets, columns.event_kind
    first_entity, first_message = here.first_entity, here.first_message
    gaps = True
    for event in range(event_offsets[first_entity], event_offsets[first_entity + here.n]):
        if event_kind[event] == LOCAL:
            gaps = False
    for message in range(first_message, first_message + here.m):
        if columns.sender[message] >= 0 and not columns.send_logged[message]:
            gaps = False
    base = event_offsets[first_entity]
    for entity in range(first_entity, first_entity + here.n):
        count = 0
        for event in range(event_offsets[entity], event_offsets[entity + 1]):
            if clocks_count(event_kind[event], columns.delivery):
                count = max(count + 1, columns.event_own[event] if gaps else 0)
            counted[event - base] = count


def counted_rows(here: Here, columns: Columns, counted: Scratch) -> None:
    """The same of rows alone, which is the least that it can be where some may be missing."""
    event_offsets = columns.event_offsets
    base = event_offsets[here.first_entity]
    for entity in range(here.first_entity, here.first_entity + here.n):
        count = 0
        for event in range(event_offsets[entity], event_offsets[entity + 1]):
            if clocks_count(columns.event_kind[event], columns.delivery):
                count += 1
            counted[event - base] = count


def weight(event: int, start: int, counted: Column) -> int:
    """How many of these an event stands for; `start` is the first of its entity."""
    return counted[event] - (counted[event - 1] if event > start else 0)


def first_event(entity: int, here: Here, columns: Columns) -> int:
    """The number of the first event of an entity, which is that of the first of the next if it has none."""
    return int(columns.event_offsets[here.first_entity + entity] - columns.event_offsets[here.first_entity])


def vector_time(
    event: int, entity: int, here: Here, columns: Columns, vector: Column, counted: Column
) -> int:
    """The number of events of the entity that clocks count and that happen before the event or are it, where every
    send was logged.
    """
    known = vector[event * here.n + entity]
    return counted[first_event(entity, here, columns) + known - 1] if known > 0 else 0


def vector_time_doubt(
    event: int, entity: int, here: Here, columns: Columns, past: Past, possible: Column
) -> int:
    """Reasons why that number is not known, or 0: some event of the entity that clocks count may happen before
    the event.
    """
    base = columns.event_offsets[here.first_entity]
    for other in range(first_event(entity, here, columns), first_event(entity + 1, here, columns)):
        if clocks_count(columns.event_kind[base + other], columns.delivery):
            before = placed_before(other, event, past, possible)
            if before > 0:
                return before
    for message in range(here.m):
        other = past.logged_events + message
        if past.send_event[message] == other and past.event_owner[other] == entity:
            before = placed_before(other, event, past, possible)
            if before > 0:
                return before
    return 0


def vector_time_with_gaps(
    event: int, entity: int, here: Here, columns: Columns, past: Past, counted: Column
) -> int:
    """That number where it is known though sends are missing: those that certainly happen before, and the
    event itself.
    """
    start = first_event(entity, here, columns)
    number = 0
    for other in range(start, first_event(entity + 1, here, columns)):
        if certainly_until(other, event, past):
            number += weight(other, start, counted)
    for message in range(here.m):
        other = past.logged_events + message
        counts = past.send_event[message] == other and past.event_owner[other] == entity
        if counts and certainly_until(other, event, past):
            number += 1
    return number
