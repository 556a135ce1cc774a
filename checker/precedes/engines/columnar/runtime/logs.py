"""What generated code calls: connectives and logs, one execution at a time.

Everything in the modules of this folder is of the subset that both Python and numba
run: integers, flat columns (lists, or arrays) and loops, no slices. A table over entities and messages is
flat: the entry of entity e and message p is at `e * m + p`.

Three-valued results are those of `precedes.core.verdict`. Parameters in common: n entities, m messages,
`first_entity` and `first_message` their global numbers.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from precedes.engines.columnar.kernel_columns import Columns
from precedes.native.codes import CLOCKS, NO_TIME_GIVEN, NO_VALUE

Column = Sequence[int]
Scratch = MutableSequence[int]


class Here(NamedTuple):
    """An execution of n entities and m messages, and the global numbers of the first of each."""

    n: int
    m: int
    first_entity: int
    first_message: int


def begin_seeking(left_steps: Scratch) -> None:
    """Count the steps of a search from the beginning. The second place has how many there may be."""
    left_steps[0] = left_steps[1]


# ---- connectives ----


def negated(value: int) -> int:
    """Kleene's not."""
    return value if value > 0 else -1 - value


def either(left: int, right: int) -> int:
    """Kleene's or. (His and is `left | right`: false is all bits.)"""
    if left == 0 or right == 0:
        return 0
    if left == -1:
        return right
    return left if right == -1 else left | right


def implied(left: int, right: int) -> int:
    """`not left or right`."""
    if left == -1 or right == 0:
        return 0
    if left == 0:
        return right
    return left if right == -1 else left | right


def same(left: int, right: int) -> int:
    """`left iff right`."""
    if left > 0 or right > 0:
        return max(left, 0) | max(right, 0)
    return 0 if left == right else -1


# ---- what messages carry ----


def same_values(left: int, right: int, missing: int) -> int:
    """Whether two values are equal; `missing` where one of them was not recorded."""
    if NO_VALUE in (left, right):
        return missing
    return 0 if left == right else -1


def received_in_part(wanted: int, entity: int, upto: int, here: Here, columns: Columns, part: Column) -> int:
    """How many of the first `upto` messages in RL of the entity are in a part."""
    start = columns.delivered_offsets[here.first_entity + entity]
    number = 0
    for index in range(start, start + upto):
        if wanted >= 0 and part[here.first_message + columns.delivered[index]] == wanted:
            number += 1
    return number


def made_in_part(wanted: int, start: int, stop: int, here: Here, columns: Columns, part: Column) -> int:
    """How many of some deliveries, which are given by their numbers, are of messages of a part."""
    number = 0
    for delivery in range(start, stop):
        if wanted >= 0 and part[here.first_message + columns.made_message[delivery]] == wanted:
            number += 1
    return number


class Sublog(NamedTuple):
    """The first `upto` messages in SL of an entity that go to `to`, if that is not -1."""

    entity: int
    upto: int
    to: int


def sent_in_part(
    wanted: int, sublog: Sublog, here: Here, columns: Columns, addressed: Column, part: Column
) -> int:
    """How many messages of a sublog are in a part."""
    entity, upto, to = sublog
    start = columns.sent_offsets[here.first_entity + entity]
    number = 0
    for index in range(start, start + upto):
        message = columns.sent[index]
        if wanted < 0 or part[here.first_message + message] != wanted:
            continue
        if to < 0 or addressed[to * here.m + message] == 1:
            number += 1
    return number


def unlogged_in_part(wanted: int, entity: int, here: Here, columns: Columns, part: Column) -> int:
    """How many messages of a part the entity is said to have sent of which it logged no send."""
    number = 0
    for message in range(here.first_message, here.first_message + here.m):
        inside = wanted >= 0 and part[message] == wanted
        if inside and columns.sender[message] == entity and not columns.send_logged[message]:
            number += 1
    return number


# ---- logs ----


def receipt_positions(here: Here, columns: Columns, receipt_position: Scratch) -> None:
    """The place of every message in every receipt log, from 0, or -1."""
    n, m, first_entity, _ = here
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    for place in range(n * m):
        receipt_position[place] = -1
    for entity in range(n):
        start = delivered_offsets[first_entity + entity]
        for index in range(start, delivered_offsets[first_entity + entity + 1]):
            receipt_position[entity * m + delivered[index]] = index - start


def addresses(here: Here, columns: Columns, addressed: Scratch) -> None:
    """1 for every entity and every message that is known to be addressed to it by name, else 0."""
    n, m, _, first_message = here
    destination_offsets, destinations = columns.destination_offsets, columns.destinations
    for place in range(n * m):
        addressed[place] = 0
    for message in range(m):
        if columns.to_all[first_message + message]:
            for entity in range(n):
                addressed[entity * m + message] = 1
        start = destination_offsets[first_message + message]
        for index in range(start, destination_offsets[first_message + message + 1]):
            addressed[destinations[index] * m + message] = 1


def send_logs(here: Here, columns: Columns, send_log_offsets: Scratch, send_log: Scratch) -> None:
    """SL of every entity: what it logged, in order, then what others say it sent."""
    n, m, first_entity, first_message = here
    sent_offsets, sent = columns.sent_offsets, columns.sent
    sender, send_logged = columns.sender, columns.send_logged
    place = 0
    for entity in range(n):
        send_log_offsets[entity] = place
        for index in range(sent_offsets[first_entity + entity], sent_offsets[first_entity + entity + 1]):
            send_log[place] = sent[index]
            place += 1
        for message in range(m):
            if sender[first_message + message] == entity and not send_logged[first_message + message]:
                send_log[place] = message
                place += 1
    send_log_offsets[n] = place


def clock_misfit(here: Here, columns: Columns) -> int:
    """The reason `CLOCKS` where a delivery is earlier than its send by more than epsilon, else 0."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    start, stop = delivered_offsets[here.first_entity], delivered_offsets[here.first_entity + here.n]
    for index in range(start, stop):
        message = here.first_message + delivered[index]
        sent, got = columns.send_time[message], columns.delivered_time[index]
        if columns.sender[message] < 0 or NO_TIME_GIVEN in (sent, got):
            continue
        if sent - got > columns.epsilon:
            return CLOCKS
    return 0


def clock_component(
    event: int, entity: int, clock_offsets: Column, clock_entities: Column, clock_counts: Column
) -> int:
    """The component for the entity of the clock recorded with an event, by its number in the batch."""
    for index in range(clock_offsets[event], clock_offsets[event + 1]):
        if clock_entities[index] == entity:
            return clock_counts[index]
    return 0


def sublog_size(entity: int, to: int, upto: int, here: Here, columns: Columns, addressed: Column) -> int:
    """How many of the first `upto` messages in SL of the entity go to `to`."""
    number = 0
    start = columns.sent_offsets[here.first_entity + entity]
    for index in range(start, start + upto):
        if addressed[to * here.m + columns.sent[index]] == 1:
            number += 1
    return number


def unlogged_sends(entity: int, m: int, first_message: int, sender: Column, send_logged: Column) -> int:
    """How many messages the entity is said to have sent of which it logged no send."""
    number = 0
    for message in range(first_message, first_message + m):
        if sender[message] == entity and not send_logged[message]:
            number += 1
    return number


def acknowledges(entity: int, message: int, here: Here, columns: Columns) -> bool:
    """Whether an entity accepted a message."""
    offsets = columns.acknowledged_offsets
    start, stop = offsets[here.first_entity + entity], offsets[here.first_entity + entity + 1]
    while start < stop:
        middle = (start + stop) // 2
        if columns.acknowledged_messages[middle] < message:
            start = middle + 1
        else:
            stop = middle
    found = start < offsets[here.first_entity + entity + 1]
    return bool(found and columns.acknowledged_messages[start] == message)
