"""From canonical rows, in any order, to a batch of whole executions.

The assembler sorts the rows into histories, finds repeats and contradictions, and makes the columns of
`Batch`. It works with numpy on integers, and loops only over rows that contradict each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.columns import MISSING_TIME, NOBODY, Batch, Bool, Int64, Origins, offsets_of
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.core.verdict import Reason
from precedes.traces import notices as notice
from precedes.traces.arrow import arrow, pc
from precedes.traces.assembly.attributes import attributes_of, tell_lacking, with_events
from precedes.traces.assembly.clocks import clocks_of, members_of
from precedes.traces.assembly.contradictions import Contradiction, Finding, told
from precedes.traces.assembly.destinations import tell_addressing
from precedes.traces.assembly.encoding import (
    ABSENT,
    IntArray,
    Lists,
    ascending,
    distinct,
    encode,
    first_places,
    lists_of,
)
from precedes.traces.assembly.groups import equal_groups, groups_of, membership_of
from precedes.traces.assembly.histories import Events, TableNames, as_read, by_time, numbered
from precedes.traces.assembly.views import with_views
from precedes.traces.notices import Notices
from precedes.traces.options import Order, TraceOptions
from precedes.traces.order import Evidence, by_clocks, ordered
from precedes.traces.schema import column_of

_SEND: Final = EVENT_CODES[EventKind.SEND]
_CRASH: Final = EVENT_CODES[EventKind.CRASH]
_RECOVER: Final = EVENT_CODES[EventKind.RECOVER]
_SCALARS: Final = ("event", "message", "sender", "time", "redelivered", "view")
_LISTS: Final = ("clock", "vector", "members", "group")
_TWICE: Final = "rows occur more than once and count once"
_RESENT: Final = (
    "sends are repeated without change and count once: if several messages share an id, use "
    "topic-partition-offset"
)


def assemble(table: pa.Table, options: TraceOptions, notices: Notices) -> Batch:
    """The executions of a canonical table, which must have all rows of each.

    Executions are in the order of their names. Raises PrecedesError for `seq` in some rows of an entity only
    (T020), for a message to a group of which nobody is known (T021) and, if `options.strict`, for contradictions
    (T031 to T039); else these make their execution
    unknown.
    """
    table = as_read(table)
    return assembled(table, *numbered(table, options, notices), options, notices)


def assembled(
    table: pa.Table,
    names: TableNames,
    events: Events,
    seq: Int64 | None,
    options: TraceOptions,
    notices: Notices,
) -> Batch:
    """`assemble` from what `numbered` gave for a table in the order in which it was read."""
    findings: list[Finding] = []
    attributes = attributes_of(table, names, events, options, findings)
    membership = membership_of(table, names, events, options.groups, findings)
    placed = np.zeros(len(names.entities.codes), np.bool_)
    if seq is not None:
        placed[events.entity[seq != ABSENT]] = True
    scalars = (*_SCALARS, *map(column_of, attributes.of_events))
    twice = _twice(table, names, events, seq, scalars)
    events = _without_repeats(names, events, twice, findings, notices)
    if options.order is Order.CLOCKS:
        events = by_clocks(events, _clocked(table, names, events, options, [], Notices()))
    events = _without_resends(names, events, findings, notices)
    _find_crashes(names, events, findings)
    batch = _clocked(table, names, events, options, findings, notices)
    tell_addressing(names, events, batch.sender, options, notices)
    batch = ordered(batch, Evidence(table, names, events, placed), options, notices)
    attributes = with_events(attributes, events)
    tell_lacking(attributes, batch.event_kind == EVENT_CODES[options.delivery], options, notices)
    batch = replace(batch, attributes=attributes)
    if membership is not None:
        batch = replace(batch, groups=groups_of(membership, names, events))
    if options.origins:
        batch = replace(batch, origins=_origins_of(table, events))
    if findings:
        texts = told(findings, table, options.strict)
        batch.unknown[list(texts)] |= Reason.CONTRADICTION
        batch = replace(batch, contradictions=texts)
    if options.delivery is EventKind.ARRIVE:
        batch.unknown[~_with_arrivals(batch)] |= Reason.NO_ARRIVAL
    return batch


def _with_arrivals(batch: Batch) -> Bool:
    """The executions that have an arrival. Where none is recorded, nobody can say what arrived, or that nothing did."""
    history = np.repeat(np.arange(len(batch.event_offsets) - 1), np.diff(batch.event_offsets))
    execution = np.repeat(np.arange(batch.executions), np.diff(batch.entity_offsets))
    arrived = batch.event_kind == EVENT_CODES[EventKind.ARRIVE]
    found = np.zeros(batch.executions, np.bool_)
    found[execution[history[arrived]]] = True
    return found


def _clocked(
    table: pa.Table,
    names: TableNames,
    events: Events,
    options: TraceOptions,
    findings: list[Finding],
    notices: Notices,
) -> Batch:
    """The batch of events as they stand, with their clocks, members and views."""
    batch = _batch(names, events, options, findings)
    clocks = clocks_of(
        table,
        names.entities,
        names.entity_names,
        events.row,
        events.entity,
        findings=findings,
        notices=notices,
    )
    batch = replace(batch, clocks=clocks, members=members_of(table, events.row))
    return with_views(batch, table, names, events, findings)


def _origins_of(table: pa.Table, events: Events) -> Origins:
    files, (file,) = encode(table["file"])
    return Origins(
        tuple(files.tolist()), file[events.row].astype(np.int32), table["row"].to_numpy()[events.row]
    )


def _twice(
    table: pa.Table, names: TableNames, events: Events, seq: Int64 | None, scalars: tuple[str, ...]
) -> tuple[Int64, Bool]:
    """The events whose place in a history the one before them has, too, and whether their rows say the same."""
    if seq is None:
        return np.zeros(0, np.int64), np.zeros(0, np.bool_)
    same = (events.entity[1:] == events.entity[:-1]) & (seq[1:] == seq[:-1]) & (seq[1:] != ABSENT)
    # Places that are made of times are no names of events.
    same &= ~by_time(table, events)[1:]
    later = np.flatnonzero(same) + 1
    if not len(later):
        return later, np.zeros(0, np.bool_)
    one, other = events.row[later - 1], events.row[later]
    return later, _equal_rows(table, scalars, one, other) & _equal_destinations(
        names, one, other, events.entity[later]
    )


def _without_repeats(
    names: TableNames, events: Events, twice: tuple[Int64, Bool], findings: list[Finding], notices: Notices
) -> Events:
    """Two rows for one place in a history: the same row twice, or a contradiction."""
    later, equal = twice
    if not len(later):
        return events
    _note(findings, names, events, Contradiction.ONE_SEQ, later[~equal] - 1, later[~equal])
    notices.count(notice.ROW_TWICE, _TWICE, int(equal.sum()))
    return events.where(np.delete(np.arange(len(events.row)), later[equal]))


def _equal_rows(table: pa.Table, scalars: tuple[str, ...], one: Int64, other: Int64) -> Bool:
    """Whether two rows say the same, but for destinations."""
    equal = np.ones(len(one), np.bool_)
    for name in scalars:
        values = table[name]
        if values.null_count < len(values):
            left, right = values.take(arrow.array(one)), values.take(arrow.array(other))
            alike = pc.fill_null(pc.equal(left, right), False)
            equal &= pc.or_(alike, pc.and_(pc.is_null(left), pc.is_null(right))).to_numpy()
    for name in _LISTS:
        if table[name].null_count < len(table):
            equal &= _equal_lists(lists_of(table[name]), one, other)
    return equal


def _equal_lists(lists: Lists, one: Int64, other: Int64) -> Bool:
    lengths = np.diff(lists.offsets)
    equal: Bool = (lists.present[one] == lists.present[other]) & (lengths[one] == lengths[other])
    pairs = np.flatnonzero(equal)
    left, owner = lists.entries(one[pairs])
    right, _ = lists.entries(other[pairs])
    fields = lists.values.flatten() if arrow.types.is_struct(lists.values.type) else [lists.values]
    for field in fields:
        differ = pc.not_equal(field.take(arrow.array(left)), field.take(arrow.array(right))).to_numpy()
        equal[pairs[owner[differ]]] = False
    return equal


def _equal_destinations(names: TableNames, one: Int64, other: Int64, entity: Int64) -> Bool:
    """Whether two rows in the execution of the entity have the same destinations; absent is every entity."""
    cluster = np.diff(names.entities.offsets)
    size = cluster[names.entities.executions[entity]]
    width = int(cluster.max(initial=1))

    def sets(rows: Int64) -> tuple[Int64, Bool]:
        places, owner = names.dest.entries(rows)
        keys = ascending(owner * width + names.dest_entities[places])
        everyone = ~names.dest.present[rows] | (np.bincount(keys // width, minlength=len(rows)) == size)
        return keys[~everyone[keys // width]], everyone

    (left, left_all), (right, right_all) = sets(one), sets(other)
    equal: Bool = left_all == right_all
    equal[np.setxor1d(left, right) // width] = False
    return equal & equal_groups(names, one, other)


def _without_resends(names: TableNames, events: Events, findings: list[Finding], notices: Notices) -> Events:
    """A message sent more than once: by two entities, to others, or unchanged."""
    sends = np.flatnonzero(events.kind == _SEND)
    _, first_of = first_places(events.message[sends], len(names.messages.codes))
    again = np.flatnonzero(first_of != np.arange(len(sends)))
    if not len(again):
        return events
    first, later = sends[first_of[again]], sends[again]
    elsewhere = events.entity[first] != events.entity[later]
    _note(findings, names, events, Contradiction.TWO_SENDERS, first[elsewhere], later[elsewhere])
    first, later = first[~elsewhere], later[~elsewhere]
    equal = _equal_destinations(names, events.row[first], events.row[later], events.entity[first])
    _note(findings, names, events, Contradiction.RESENT_TO_OTHERS, first[~equal], later[~equal])
    notices.count(notice.SEND_REPEATED, _RESENT, int(equal.sum()))
    return events.where(np.delete(np.arange(len(events.row)), later))


def _find_crashes(names: TableNames, events: Events, findings: list[Finding]) -> None:
    crashed = np.flatnonzero(events.kind[:-1] == _CRASH)
    after = crashed[
        (events.entity[crashed + 1] == events.entity[crashed]) & (events.kind[crashed + 1] != _RECOVER)
    ]
    _note(findings, names, events, Contradiction.AFTER_CRASH, after, after + 1)


def _note(
    findings: list[Finding],
    names: TableNames,
    events: Events,
    kind: Contradiction,
    first: IntArray,
    second: IntArray,
) -> None:
    executions = names.entities.executions[events.entity[second]].tolist()
    rows: Any = zip(executions, events.row[first].tolist(), events.row[second].tolist(), strict=True)
    findings.extend(Finding(x, other, one, kind) for x, one, other in rows)


def _batch(names: TableNames, events: Events, options: TraceOptions, findings: list[Finding]) -> Batch:
    entities, messages = names.entities, names.messages
    entity_count, message_count = len(entities.codes), len(messages.codes)
    local_message = np.where(
        events.message == ABSENT,
        NOBODY,
        events.message - messages.offsets[entities.executions[events.entity]],
    ).astype(np.int32)

    sends = np.flatnonzero(events.kind == _SEND)
    sent_offsets = offsets_of(np.bincount(events.entity[sends], minlength=entity_count))
    firsts, _ = first_places(events.message[sends], message_count)
    sent_messages, first_sends = events.message[sends[firsts]], sends[firsts]
    sender = np.full(message_count, ABSENT, np.int64)
    sender[sent_messages] = events.entity[first_sends]
    logged = sender != ABSENT
    send_position = np.full(message_count, NOBODY, np.int32)
    send_position[sent_messages] = firsts - sent_offsets[events.entity[first_sends]]
    send_time = np.full(message_count, MISSING_TIME, np.int64)
    send_time[sent_messages] = events.time[first_sends]
    send_row = np.full(message_count, ABSENT, np.int64)
    send_row[sent_messages] = first_sends
    _name_senders(names, events, sender, send_row, findings)

    to_all = np.zeros(message_count, np.bool_)
    to_all[sent_messages] = ~names.dest.present[events.row[first_sends]]
    destination_offsets, destinations = _addressed(names, events, first_sends, sent_messages)

    deliveries = np.flatnonzero(events.kind == EVENT_CODES[options.delivery])
    sizes = np.diff(messages.offsets)[entities.executions]
    cells = offsets_of(sizes)
    first_deliveries, first_of = first_places(
        cells[events.entity[deliveries]] + local_message[deliveries], int(cells[-1])
    )
    repeated = np.zeros(len(deliveries), np.bool_)
    if len(first_deliveries) < len(deliveries):
        repeated[first_of[first_of != np.arange(len(deliveries))]] = True
    delivered = deliveries[first_deliveries]
    return Batch(
        names=names.executions,
        unknown=np.zeros(len(names.executions), np.int32),
        contradictions={},
        entity_offsets=entities.offsets,
        entity_names=names.entity_names[entities.codes],
        message_offsets=messages.offsets,
        message_names=names.message_names[messages.codes],
        sender=np.where(sender == ABSENT, NOBODY, sender - entities.offsets[messages.executions]).astype(
            np.int32
        ),
        send_logged=logged,
        send_position=send_position,
        send_time=send_time,
        to_all=to_all,
        destination_offsets=destination_offsets,
        destinations=destinations,
        sent_offsets=sent_offsets,
        sent=local_message[sends],
        delivered_offsets=offsets_of(np.bincount(events.entity[delivered], minlength=entity_count)),
        delivered=local_message[delivered],
        delivered_time=events.time[delivered],
        repeated=repeated[first_deliveries],
        event_offsets=offsets_of(np.bincount(events.entity, minlength=entity_count)),
        event_kind=events.kind,
        event_message=local_message,
        event_time=events.time,
        delta=options.delta,
        epsilon=options.epsilon,
        complete=options.complete,
        delivery=options.delivery,
    )


def _addressed(
    names: TableNames, events: Events, sends: Int64, messages: Int64
) -> tuple[Int64, npt.NDArray[np.int32]]:
    """The destinations that the rows of the sends name for their messages: offsets by message, local entities."""
    count = len(names.messages.codes)
    width = int(np.diff(names.entities.offsets).max(initial=1))
    places, owner = names.dest.entries(events.row[sends])
    addressed = distinct(messages[owner] * width + names.dest_entities[places], count * width)
    offsets = offsets_of(np.bincount(addressed // width, minlength=count))
    return offsets, (addressed % width).astype(np.int32)


def _name_senders(
    names: TableNames, events: Events, sender: Int64, send_row: Int64, findings: list[Finding]
) -> None:
    """Take the senders that rows name into `sender`, where no send was logged; find those that do not fit."""
    naming = np.flatnonzero((events.sender != ABSENT) & (events.message != ABSENT))
    if not len(naming):
        return
    firsts, first_of = first_places(events.message[naming], len(sender))
    unsent = naming[firsts][sender[events.message[naming[firsts]]] == ABSENT]
    sender[events.message[unsent]] = events.sender[unsent]
    wrong = np.flatnonzero(events.sender[naming] != sender[events.message[naming]])
    later = naming[wrong]
    sends = send_row[events.message[later]]
    first = np.where(sends == ABSENT, naming[first_of[wrong]], sends)
    _note(findings, names, events, Contradiction.OTHER_SENDER, first, later)
