"""Executions written into columns, from the courses of events that the histories of their entities are.

Everything here is in the subset of Python that numba compiles.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from precedes.core.execution import EVENT_CODES, EventKind
from precedes.native.codes import SEND
from precedes.native.compiled_functions import BoolOut, Int32Out, Int64Out, by_address
from precedes.protocol.exploration.compiled_tables import (
    BEFORE,
    COURSE_FIELDS,
    CRASH,
    EVENT,
    PAST_FIELDS,
    REST,
    SENDS,
)

DELIVER: Final = EVENT_CODES[EventKind.DELIVER]

SENT_IN, NUMBER, DELIVERED_AT, DELIVERY = range(4)
"""What is known of each name while executions are written: the last execution, from 1, in which a message of this name
was sent, and its local number there; the last entity, from 1 over all executions, that delivered it, and where in
`delivered` that stands."""
KNOWN_FIELDS: Final = 4


@by_address
class Histories(NamedTuple):
    """What executions are made of, all in rows one after the other.

    keys               E x n  the histories of the entities, by the names of these
    pasts, courses            as in `compiled_tables`
    kind, message             of every event; the message is -1 where it has none
    named                     of every message: the place of its name among all names
    destination_offsets, destinations   of every message
    known                     for every name `KNOWN_FIELDS` numbers, 0 in the beginning
    """

    keys: Int32Out
    pasts: Int32Out
    courses: Int32Out
    kind: Int32Out
    message: Int32Out
    named: Int32Out
    destination_offsets: Int32Out
    destinations: Int32Out
    known: Int32Out


@by_address
class Gathered(NamedTuple):
    """What is written, as in `precedes.core.columns.Batch`; there is room for more entries than are written.

    events                    the events themselves
    messages, send_event      the messages, and where among the events each was sent
    delivered_event           where among the events each was delivered first
    """

    event_offsets: Int64Out
    events: Int32Out
    event_message: Int32Out
    message_offsets: Int64Out
    messages: Int32Out
    send_event: Int64Out
    send_position: Int32Out
    destination_offsets: Int64Out
    destinations: Int32Out
    sent_offsets: Int64Out
    sent: Int32Out
    delivered_offsets: Int64Out
    delivered: Int32Out
    delivered_event: Int64Out
    repeated: BoolOut


def gather(entities: int, read: Histories, write: Gathered) -> int:
    """Write executions into columns. How many events they have; where there is room for fewer, nothing is written. -1
    minus the number of the first one that has an event of a message that nobody sent, where there is one.
    """
    count = count_events(read, write.event_offsets)
    if count > len(write.events):
        return count
    messages, sent, delivered, addressed, known = 0, 0, 0, 0, read.known
    for x in range(len(read.keys) // entities):
        first = x * entities
        for entity in range(first, first + entities):
            write_events(read, entity, int(write.event_offsets[entity + 1]), write.events)
        messages = add_messages(entities, x, read, write, messages)
        base = int(write.message_offsets[x])
        for place in range(base, messages):
            of = int(write.messages[place])
            for k in range(read.destination_offsets[of], read.destination_offsets[of + 1]):
                write.destinations[addressed] = read.destinations[k]
                addressed += 1
            write.destination_offsets[place + 1] = addressed
        for entity in range(first, first + entities):
            for place in range(write.event_offsets[entity], write.event_offsets[entity + 1]):
                of = int(read.message[write.events[place]])
                if of < 0:
                    write.event_message[place] = -1
                    continue
                name = int(read.named[of]) * KNOWN_FIELDS
                if known[name + SENT_IN] != x + 1:
                    return -1 - x
                local = int(known[name + NUMBER])
                write.event_message[place] = local
                kind = read.kind[write.events[place]]
                if kind == SEND and write.send_event[base + local] == place:
                    write.sent[sent] = local
                    sent += 1
                elif kind == DELIVER and known[name + DELIVERED_AT] == entity + 1:
                    write.repeated[known[name + DELIVERY]] = True
                elif kind == DELIVER:
                    known[name + DELIVERED_AT] = entity + 1
                    known[name + DELIVERY] = delivered
                    write.delivered[delivered] = local
                    write.delivered_event[delivered] = place
                    delivered += 1
            write.sent_offsets[entity + 1] = sent
            write.delivered_offsets[entity + 1] = delivered
    return count


def first_unsent(entities: int, read: Histories) -> int:
    """The first execution that has an event of a message that nobody sent; -1 where none has."""
    for x in range(len(read.keys) // entities):
        for sends in (True, False):
            for entity in range(x * entities, (x + 1) * entities):
                past = int(read.keys[entity]) * PAST_FIELDS
                for of in (SENDS, REST):
                    course = int(read.pasts[past + of])
                    while course != 0:
                        event = int(read.courses[course * COURSE_FIELDS + EVENT])
                        message = int(read.message[event])
                        if message >= 0:
                            name = int(read.named[message]) * KNOWN_FIELDS
                            if sends and read.kind[event] == SEND:
                                read.known[name + SENT_IN] = x + 1
                            elif not sends and read.known[name + SENT_IN] != x + 1:
                                return x
                        course = int(read.courses[course * COURSE_FIELDS + BEFORE])
    return -1


def count_events(read: Histories, offsets: Int64Out) -> int:
    """Write where the events of each history end. How many there are."""
    count = 0
    for entity in range(len(read.keys)):
        past = int(read.keys[entity]) * PAST_FIELDS
        if read.pasts[past + CRASH] >= 0:
            count += 1
        for of in (REST, SENDS):
            course = int(read.pasts[past + of])
            while course != 0:
                count += 1
                course = int(read.courses[course * COURSE_FIELDS + BEFORE])
        offsets[entity + 1] = count
    return count


def write_events(read: Histories, entity: int, end: int, events: Int32Out) -> None:
    """Write the events of a history, the last of which stands before `end`: sends first where they are told apart, then
    the rest, and in the end a crash.
    """
    past = int(read.keys[entity]) * PAST_FIELDS
    if read.pasts[past + CRASH] >= 0:
        end -= 1
        events[end] = read.pasts[past + CRASH]
    for of in (REST, SENDS):
        course = int(read.pasts[past + of])
        while course != 0:
            end -= 1
            events[end] = read.courses[course * COURSE_FIELDS + EVENT]
            course = int(read.courses[course * COURSE_FIELDS + BEFORE])


def add_messages(entities: int, x: int, read: Histories, write: Gathered, count: int) -> int:
    """Add the messages of an execution in the order of their names, and give them local numbers. How many there are
    then in all.
    """
    base = count
    for entity in range(x * entities, (x + 1) * entities):
        position = 0
        for place in range(write.event_offsets[entity], write.event_offsets[entity + 1]):
            event = int(write.events[place])
            if read.kind[event] != SEND:
                continue
            of = int(read.message[event])
            name = int(read.named[of])
            if read.known[name * KNOWN_FIELDS + SENT_IN] == x + 1:
                continue
            read.known[name * KNOWN_FIELDS + SENT_IN] = x + 1
            at = count
            while at > base and read.named[write.messages[at - 1]] > name:
                write.messages[at] = write.messages[at - 1]
                write.send_event[at] = write.send_event[at - 1]
                write.send_position[at] = write.send_position[at - 1]
                at -= 1
            write.messages[at] = of
            write.send_event[at] = place
            write.send_position[at] = position
            position += 1
            count += 1
    for place in range(base, count):
        read.known[read.named[write.messages[place]] * KNOWN_FIELDS + NUMBER] = place - base
    write.message_offsets[x + 1] = count
    return count
