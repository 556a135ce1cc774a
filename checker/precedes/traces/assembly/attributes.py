"""What messages and events carry: a message one value of each attribute, from whichever rows name it, and an event what
its row says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from precedes.core.columns import NO_ATTRIBUTES, NOT_RECORDED, Attributes, Bool, Int64, Names, of_carrier
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.traces import notices as notice
from precedes.traces.arrow import arrow
from precedes.traces.assembly.contradictions import Contradiction, Finding
from precedes.traces.assembly.encoding import ABSENT, encode, first_places
from precedes.traces.assembly.histories import Events, TableNames
from precedes.traces.notices import Notices
from precedes.traces.options import TraceOptions
from precedes.traces.schema import beside, column_of


def attributes_of(
    table: pa.Table,
    names: TableNames,
    events: Events,
    options: TraceOptions,
    findings: list[Finding],
) -> Attributes:
    """What the messages of a table carry, of what is asked for; what its events carry follows by `with_events`.
    `events` are those of all of its rows.

    Rows of one message that disagree are found, and its value is then that of the first.
    """
    if not options.attributes:
        return NO_ATTRIBUTES
    message = _messages(table, events)
    known, recorded = _recorded(table, options)
    of_messages, of_events = (of_carrier(options.attributes, carrier) for carrier in Carrier)
    values = np.full((len(of_messages), len(names.messages.codes)), NOT_RECORDED, np.int64)
    for place, each in enumerate(of_messages):
        _collect(each, recorded[each], message, values[place], names, findings)
    rows = [recorded[each] for each in of_events]
    by_row = np.stack(rows) if rows else np.zeros((0, len(table)), np.int64)
    return Attributes(of_messages, values, known, of_events, by_row)


def with_events(attributes: Attributes, events: Events) -> Attributes:
    """The attributes of which the values of events are aligned with `events`, and no longer with rows."""
    return (
        replace(attributes, event_values=attributes.event_values[:, events.row])
        if attributes.of_events
        else attributes
    )


def _recorded(table: pa.Table, options: TraceOptions) -> tuple[Names, dict[Attribute, Int64]]:
    """The texts of a table, and of each attribute what its rows record."""
    texts = [each for each in options.attributes if each.sort is AttributeSort.TEXT]
    known, codes = (
        encode(*(table[column_of(each)] for each in texts)) if texts else (np.empty(0, np.object_), [])
    )
    found = {
        each: np.where(coded == ABSENT, NOT_RECORDED, coded.astype(np.int64))
        for each, coded in zip(texts, codes, strict=True)
    }
    for each in options.attributes:
        if each not in found:
            found[each] = table[column_of(each)].fill_null(arrow.scalar(NOT_RECORDED)).to_numpy()
    return known, found


def _collect(
    attribute: Attribute,
    recorded: Int64,
    message: Int64,
    values: Int64,
    names: TableNames,
    findings: list[Finding],
) -> None:
    """Take the values that rows record into those of their messages."""
    rows = np.flatnonzero((recorded != NOT_RECORDED) & (message != ABSENT))
    firsts, first_of = first_places(message[rows], len(values))
    values[message[rows[firsts]]] = recorded[rows[firsts]]
    other = np.flatnonzero(recorded[rows] != recorded[rows[first_of]])
    executions = names.messages.executions[message[rows[other]]]
    pairs = zip(executions.tolist(), rows[other].tolist(), rows[first_of[other]].tolist(), strict=True)
    findings.extend(
        Finding(x, second, first, Contradiction.ATTRIBUTE, attribute) for x, second, first in pairs
    )


def disagreeing(table: pa.Table, names: TableNames, events: Events) -> Int64:
    """The executions in which rows of a message have different values in one of the columns of attributes."""
    message = _messages(table, events)
    found: list[Int64] = []
    for field in beside(table.schema):
        _, (codes,) = encode(table[field.name])
        rows = np.flatnonzero((codes != ABSENT) & (message != ABSENT))
        _, first_of = first_places(message[rows], len(names.messages.codes))
        other = rows[codes[rows] != codes[rows[first_of]]]
        found.append(names.messages.executions[message[other]])
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _messages(table: pa.Table, events: Events) -> Int64:
    """Of each row the number of its message."""
    message = np.full(len(table), ABSENT, np.int64)
    message[events.row] = events.message
    return message


def tell_lacking(attributes: Attributes, delivered: Bool, options: TraceOptions, notices: Notices) -> None:
    """Tell how many messages, or deliveries, have no value of each attribute. `delivered` says which events count."""
    for each, values in zip(attributes.declared, attributes.values, strict=True):
        tell_without(each, int((values == NOT_RECORDED).sum()), options, notices)
    for each, values in zip(attributes.of_events, attributes.event_values, strict=True):
        lacking = int((values[delivered] == NOT_RECORDED).sum())
        notices.count(notice.NO_ATTRIBUTE, notice.no_event_attribute(each.name), lacking)


def tell_without(attribute: Attribute, messages: int, options: TraceOptions, notices: Notices) -> None:
    """Tell that so many messages have no value of an attribute."""
    text = notice.no_attribute(attribute.name, parted=attribute.name in options.parted)
    notices.count(notice.NO_ATTRIBUTE, text, messages)
