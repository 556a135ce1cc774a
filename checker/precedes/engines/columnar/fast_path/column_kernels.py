"""Rows of a laid-out row group to the columns of a batch: two passes over integers, nothing sorted.

Written, as the other kernels, in the subset of Python that numba compiles. What the rows claim is checked on the
way, so that a damaged file cannot make machine code read or write out of bounds.
"""

from __future__ import annotations

from typing import Any, Final

_SEND: Final = 0
_KINDS: Final = 8
_FIRST_WITHOUT_MESSAGE: Final = 4
_EVERYBODY: Final = -1
_LISTED: Final = -2
_MOST_BITS: Final = 62


def highest(bits: int) -> int:
    """The number of the highest bit that is set, -1 for 0."""
    top = -1
    while bits > 0:
        top += 1
        bits >>= 1
    return top


def measure(
    executions: int,
    execution: Any,
    entity: Any,
    event: Any,
    message: Any,
    dest: Any,
    sender: Any,
    listed_offsets: Any,
    listed: Any,
    delivery: int,
    row_offsets: Any,
    entity_offsets: Any,
    message_offsets: Any,
    totals: Any,
) -> bool:
    """Where executions begin: in the rows, the entities and the messages; `totals`: sends, deliveries and
    destinations, the last two at most.

    False where the rows are not in the layout: an execution without rows, numbers out of order or out of range.
    """
    rows = len(execution)
    x = -1
    entities = 0
    messages = 0
    first = 0
    sends = 0
    deliveries = 0
    destinations = 0
    for row in range(rows):
        if execution[row] != x:
            if execution[row] != x + 1 or x + 1 >= executions:
                return False
            if x >= 0:
                if messages > row - first:
                    return False
                entity_offsets[x + 1] = entity_offsets[x] + entities
                message_offsets[x + 1] = message_offsets[x] + messages
            x += 1
            row_offsets[x] = row
            first = row
            entities = 0
            messages = 0
        elif entity[row] < entity[row - 1]:
            return False
        kind = event[row]
        m = message[row]
        if (
            entity[row] < 0
            or kind < 0
            or kind >= _KINDS
            or m < -1
            or (m < 0) != (kind >= _FIRST_WITHOUT_MESSAGE)
        ):
            return False
        entities = max(entities, entity[row] + 1)
        messages = max(messages, m + 1)
        if len(sender) > 0:
            if sender[row] < -1:
                return False
            entities = max(entities, sender[row] + 1)
        if kind == delivery:
            deliveries += 1
        if kind == _SEND:
            sends += 1
            bits = dest[row]
            if bits >= 0:
                top = highest(bits)
                if top >= _MOST_BITS:
                    return False
                entities = max(entities, top + 1)
                while bits > 0:
                    destinations += 1
                    bits &= bits - 1
            elif bits == _LISTED:
                if len(listed_offsets) == 0:
                    return False
                previous = -1
                for k in range(listed_offsets[row], listed_offsets[row + 1]):
                    if listed[k] <= previous:
                        return False
                    previous = listed[k]
                    destinations += 1
                entities = max(entities, previous + 1)
            elif bits != _EVERYBODY:
                return False
    if x + 1 != executions or messages > rows - first:
        return False
    if x >= 0:
        entity_offsets[x + 1] = entity_offsets[x] + entities
        message_offsets[x + 1] = message_offsets[x] + messages
        row_offsets[x + 1] = rows
    totals[0] = sends
    totals[1] = deliveries
    totals[2] = destinations
    # An entity has a row, is a destination or is named: more of them than that are no numbering.
    return bool(entity_offsets[executions] <= 2 * rows + destinations)


def fill(
    executions: int,
    entity: Any,
    event: Any,
    message: Any,
    dest: Any,
    named: Any,
    listed_offsets: Any,
    listed: Any,
    time: Any,
    delivery: int,
    missing: int,
    row_offsets: Any,
    entity_offsets: Any,
    message_offsets: Any,
    sender: Any,
    send_logged: Any,
    send_position: Any,
    send_time: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    sent_offsets: Any,
    sent: Any,
    delivered_offsets: Any,
    delivered: Any,
    delivered_time: Any,
    repeated: Any,
    event_offsets: Any,
    event_kind: Any,
    send_row: Any,
    held: Any,
) -> int:
    """Write the columns of `Batch`; see there. `send_row` and `held` are scratch, as long as the messages.

    Returns how many deliveries there are that do not repeat one, or -1 where a message is sent twice.
    """
    sends = 0
    deliveries = 0
    addressed = 0
    for x in range(executions):
        begin = entity_offsets[x]
        base = message_offsets[x]
        stop = message_offsets[x + 1]
        for m in range(base, stop):
            send_row[m] = -1
            held[m] = -1
            sender[m] = -1
        row = row_offsets[x]
        end = row_offsets[x + 1]
        for e in range(begin, entity_offsets[x + 1]):
            event_offsets[e] = row
            sent_offsets[e] = sends
            delivered_offsets[e] = deliveries
            start = deliveries
            while row < end and entity[row] == e - begin:
                kind = event[row]
                event_kind[row] = kind
                m = message[row]
                if kind == _SEND:
                    if send_row[base + m] >= 0:
                        return -1
                    send_row[base + m] = row
                    sender[base + m] = e - begin
                    send_position[base + m] = sends - sent_offsets[e]
                    sent[sends] = m
                    sends += 1
                elif kind == delivery:
                    if held[base + m] >= start:
                        repeated[held[base + m]] = True
                    else:
                        held[base + m] = deliveries
                        delivered[deliveries] = m
                        if len(time) > 0:
                            delivered_time[deliveries] = time[row]
                        deliveries += 1
                row += 1
        if len(named) > 0:
            for k in range(row_offsets[x], end):
                m = base + message[k]
                if m >= base and named[k] >= 0 and send_row[m] < 0:
                    sender[m] = named[k]
        for m in range(base, stop):
            destination_offsets[m] = addressed
            k = send_row[m]
            send_logged[m] = k >= 0
            if k < 0:
                send_position[m] = -1
                if len(time) > 0:
                    send_time[m] = missing
                continue
            if len(time) > 0:
                send_time[m] = time[k]
            bits = dest[k]
            if bits == _EVERYBODY:
                to_all[m] = True
            elif bits == _LISTED:
                for place in range(listed_offsets[k], listed_offsets[k + 1]):
                    destinations[addressed] = listed[place]
                    addressed += 1
            else:
                local = 0
                while bits > 0:
                    if bits & 1:
                        destinations[addressed] = local
                        addressed += 1
                    bits >>= 1
                    local += 1
    count = entity_offsets[executions]
    event_offsets[count] = row_offsets[executions]
    sent_offsets[count] = sends
    delivered_offsets[count] = deliveries
    destination_offsets[message_offsets[executions]] = addressed
    return deliveries
