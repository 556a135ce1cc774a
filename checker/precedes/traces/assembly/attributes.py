"""What messages carry: one value of each attribute for each message, from whichever rows name it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from precedes.core.columns import NO_ATTRIBUTES, NOT_RECORDED, Attributes, Int64
from precedes.core.formula import Attribute, AttributeSort
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
    notices: Notices,
) -> Attributes:
    """What the messages of a table carry, of what is asked for. `events` are those of all of its rows.

    Rows of one message that disagree are found, and its value is then that of the first.
    """
    if not options.attributes:
        return NO_ATTRIBUTES
    message = _messages(table, events)
    texts = [each for each in options.attributes if each.sort is AttributeSort.TEXT]
    known, codes = (
        encode(*(table[column_of(each)] for each in texts)) if texts else (np.empty(0, np.object_), [])
    )
    coded = {each: found.astype(np.int64) for each, found in zip(texts, codes, strict=True)}
    values = np.full((len(options.attributes), len(names.messages.codes)), NOT_RECORDED, np.int64)
    for place, each in enumerate(options.attributes):
        if each in coded:
            recorded = np.where(coded[each] == ABSENT, NOT_RECORDED, coded[each])
        else:
            recorded = table[column_of(each)].fill_null(arrow.scalar(NOT_RECORDED)).to_numpy()
        _collect(each, recorded, message, values[place], names, findings)
    found = Attributes(options.attributes, values, known)
    tell_lacking(found, notices)
    return found


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


def tell_lacking(attributes: Attributes, notices: Notices) -> None:
    """Tell how many messages have no value of each attribute."""
    for each, values in zip(attributes.declared, attributes.values, strict=True):
        lacking = int((values == NOT_RECORDED).sum())
        notices.count(notice.NO_ATTRIBUTE, notice.no_attribute(each.name), lacking)
