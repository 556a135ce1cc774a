"""Rows of a row group to the columns of a batch: two passes over integers, nothing sorted.

Written, as the other kernels, in the subset of Python that numba compiles.
"""

from __future__ import annotations

from typing import NamedTuple

from precedes.engines.columnar.fast_path.coded_rows import CodedRows, is_kind
from precedes.native.codes import NO_TIME_GIVEN, SEND
from precedes.native.compiled_functions import BoolOut, Int8Out, Int32Out, Int64Out
from precedes.traces.layout.columnar_file import EVERYBODY, LISTED, MOST_BITS


class Starts(NamedTuple):
    """Where executions begin: in the rows, the entities and the messages."""

    row: Int64Out
    entity: Int64Out
    message: Int64Out


class Filled(NamedTuple):
    """Columns of `Batch`, and scratch as long as the messages: the row of the send, the last delivery."""

    sender: Int32Out
    send_logged: BoolOut
    send_position: Int32Out
    send_time: Int64Out
    to_all: BoolOut
    destination_offsets: Int64Out
    destinations: Int32Out
    sent_offsets: Int64Out
    sent: Int32Out
    delivered_offsets: Int64Out
    delivered: Int32Out
    delivered_time: Int64Out
    repeated: BoolOut
    event_offsets: Int64Out
    event_kind: Int8Out
    send_row: Int64Out
    held: Int64Out


class Addressed(NamedTuple):
    """How many destinations a send has, -1 where its row is not in the layout, and the last of them."""

    number: int
    last: int


def destinations_of(row: int, rows: CodedRows) -> Addressed:
    """The destinations of the send of a row; none where it is to everybody."""
    bits = rows.dest[row]
    count = 0
    last = -1
    if bits >= 0:
        if bits >> MOST_BITS > 0:
            return Addressed(-1, -1)
        while bits > 0:
            count += bits & 1
            last += 1
            bits >>= 1
    elif bits == LISTED:
        if len(rows.list_offsets) == 0:
            return Addressed(-1, -1)
        for k in range(rows.list_offsets[row], rows.list_offsets[row + 1]):
            if rows.list_entities[k] <= last:
                return Addressed(-1, -1)
            last = rows.list_entities[k]
            count += 1
    elif bits != EVERYBODY:
        return Addressed(-1, -1)
    return Addressed(count, last)


def measure(rows: CodedRows, delivery: int, starts: Starts, totals: Int64Out) -> bool:
    """Where executions begin; `totals`: sends, deliveries and destinations, the last two at most.

    False where the rows are not in the layout: an execution without rows, numbers out of order or out of range.
    """
    execution, entity, event, message = rows.execution, rows.entity, rows.event, rows.message
    named_sender = rows.named_sender
    row_offsets, entity_offsets, message_offsets = starts
    executions = len(row_offsets) - 1
    x = -1
    entities = 0
    messages = 0
    first = 0
    sends = 0
    deliveries = 0
    destinations = 0
    for row in range(len(execution)):
        if execution[row] != x:
            if execution[row] != x + 1 or x + 1 >= executions or messages > row - first:
                return False
            if x >= 0:
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
        if entity[row] < 0 or not is_kind(kind, message[row]):
            return False
        entities = max(entities, entity[row] + 1)
        messages = max(messages, message[row] + 1)
        if len(named_sender) > 0:
            if named_sender[row] < -1:
                return False
            entities = max(entities, named_sender[row] + 1)
        if kind == delivery:
            deliveries += 1
        if kind == SEND:
            sends += 1
            addressed = destinations_of(row, rows)
            if addressed.number < 0:
                return False
            destinations += addressed.number
            entities = max(entities, addressed.last + 1)
    if x + 1 != executions or messages > len(execution) - first:
        return False
    if x >= 0:
        entity_offsets[x + 1] = entity_offsets[x] + entities
        message_offsets[x + 1] = message_offsets[x] + messages
        row_offsets[x + 1] = len(execution)
    totals[0] = sends
    totals[1] = deliveries
    totals[2] = destinations
    # An entity has a row, is a destination or is named: more of them than that are no numbering.
    return bool(entity_offsets[executions] <= 2 * len(execution) + destinations)


class Counts(NamedTuple):
    """How many sends, deliveries that do not repeat one, and destinations have been written."""

    sends: int
    deliveries: int
    destinations: int


def fill(rows: CodedRows, starts: Starts, delivery: int, filled: Filled) -> int:
    """Write the columns of `Batch`; see there.

    Returns how many deliveries there are that do not repeat one, or -1 where a message is sent twice.
    """
    counts = Counts(0, 0, 0)
    executions = len(starts.row) - 1
    for x in range(executions):
        counts = fill_histories(x, rows, starts, delivery, filled, counts)
        if counts.sends < 0:
            return -1
        fill_senders(x, rows, starts, filled)
        counts = fill_messages(x, rows, starts, filled, counts)
    entities = starts.entity[executions]
    filled.event_offsets[entities] = starts.row[executions]
    filled.sent_offsets[entities] = counts.sends
    filled.delivered_offsets[entities] = counts.deliveries
    filled.destination_offsets[starts.message[executions]] = counts.destinations
    return counts.deliveries


def fill_histories(
    x: int, rows: CodedRows, starts: Starts, delivery: int, filled: Filled, counts: Counts
) -> Counts:
    """Write the histories of an execution, and SL and RL; `sends` is -1 where a message is sent twice."""
    entity, event, message, time = rows.entity, rows.event, rows.message, rows.time
    send_row, held, event_kind = filled.send_row, filled.held, filled.event_kind
    sender, send_position = filled.sender, filled.send_position
    sends, deliveries, destinations = counts
    begin = starts.entity[x]
    base = starts.message[x]
    for m in range(base, starts.message[x + 1]):
        send_row[m] = -1
        held[m] = -1
        sender[m] = -1
    row = starts.row[x]
    end = starts.row[x + 1]
    for e in range(begin, starts.entity[x + 1]):
        filled.event_offsets[e] = row
        filled.sent_offsets[e] = sends
        filled.delivered_offsets[e] = deliveries
        start = deliveries
        while row < end and entity[row] == e - begin:
            kind = event[row]
            event_kind[row] = kind
            m = message[row]
            if kind == SEND:
                if send_row[base + m] >= 0:
                    return Counts(-1, 0, 0)
                send_row[base + m] = row
                sender[base + m] = e - begin
                send_position[base + m] = sends - filled.sent_offsets[e]
                filled.sent[sends] = m
                sends += 1
            elif kind == delivery:
                if held[base + m] >= start:
                    filled.repeated[held[base + m]] = True
                else:
                    held[base + m] = deliveries
                    filled.delivered[deliveries] = m
                    if len(time) > 0:
                        filled.delivered_time[deliveries] = time[row]
                    deliveries += 1
            row += 1
    return Counts(sends, deliveries, destinations)


def fill_senders(x: int, rows: CodedRows, starts: Starts, filled: Filled) -> None:
    """Write who sent the messages whose sends were not logged, as far as some row names them."""
    if len(rows.named_sender) == 0:
        return
    base = starts.message[x]
    for k in range(starts.row[x], starts.row[x + 1]):
        m = base + rows.message[k]
        if m >= base and rows.named_sender[k] >= 0 and filled.send_row[m] < 0:
            filled.sender[m] = rows.named_sender[k]


def fill_messages(x: int, rows: CodedRows, starts: Starts, filled: Filled, counts: Counts) -> Counts:
    """Write what stands with the sends of an execution: times and destinations."""
    dest, time = rows.dest, rows.time
    send_row, send_logged, to_all = filled.send_row, filled.send_logged, filled.to_all
    destination_offsets, destinations = filled.destination_offsets, filled.destinations
    addressed = counts.destinations
    for m in range(starts.message[x], starts.message[x + 1]):
        destination_offsets[m] = addressed
        k = send_row[m]
        send_logged[m] = k >= 0
        if k < 0:
            filled.send_position[m] = -1
            if len(time) > 0:
                filled.send_time[m] = NO_TIME_GIVEN
            continue
        if len(time) > 0:
            filled.send_time[m] = time[k]
        bits = dest[k]
        if bits == EVERYBODY:
            to_all[m] = True
        elif bits == LISTED:
            for place in range(rows.list_offsets[k], rows.list_offsets[k + 1]):
                destinations[addressed] = rows.list_entities[place]
                addressed += 1
        else:
            local = 0
            while bits > 0:
                if bits & 1:
                    destinations[addressed] = local
                    addressed += 1
                bits >>= 1
                local += 1
    return Counts(counts.sends, counts.deliveries, addressed)
