"""Rows sorted into histories: names become numbers, and every row finds its place."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.columns import MISSING_TIME, Bool, Int64, Names, offsets_of
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.execution import EVENT_CODES, UNKNOWN_NAME, EventKind
from precedes.language.quoting import shown
from precedes.traces import notices as notice
from precedes.traces.arrow import arrow, pc
from precedes.traces.assembly.contradictions import place
from precedes.traces.assembly.encoding import (
    ABSENT,
    Codes,
    IntArray,
    Lists,
    Numbering,
    ascending,
    encode,
    lists_of,
)
from precedes.traces.notices import Notices
from precedes.traces.options import TraceOptions
from precedes.traces.problems import TOLD_AT_ONCE
from precedes.traces.schema import BY_TIME, TO_GROUP

NO_SEQ: Final = "rows have no `seq`, so their order is taken as the order of events"


@dataclass(frozen=True, slots=True)
class TableNames:
    """The names of a table and the numbers they got."""

    executions: Names
    entity_names: Names
    message_names: Names
    entities: Numbering
    messages: Numbering
    dest: Lists
    dest_entities: Int64
    """aligned with the values of `dest`: local entities"""
    to_groups: Lists | None = None
    """the names of the groups among the destinations of each row; None: no row names one"""
    senderless: Codes | None = None
    """the executions with a message that somebody sent, nobody knows who; None: there is none"""


@dataclass(frozen=True, slots=True)
class Events:
    """Rows sorted into histories: by entity (number over all executions), then by place.

    `row` is the place in the table; `message` and `sender` are numbers over all executions, or ABSENT.
    """

    row: Int64
    entity: Int64
    kind: npt.NDArray[np.int8]
    message: Int64
    sender: Int64
    time: Int64

    def where(self, kept: IntArray) -> Events:
        """The events at some places, in the order of those."""
        return Events(
            self.row[kept],
            self.entity[kept],
            self.kind[kept],
            self.message[kept],
            self.sender[kept],
            self.time[kept],
        )


def by_time(table: pa.Table, events: Events) -> Bool:
    """Of each event, whether only its time puts it after the one before it of its entity."""
    column = table[BY_TIME]
    if column.null_count == len(column):
        return np.zeros(len(events.row), np.bool_)
    found: Bool = column.fill_null(arrow.scalar(False)).to_numpy()[events.row]
    return found


def as_read(table: pa.Table) -> pa.Table:
    """The table in the order in which its rows were read, which a shuffle loses."""
    files, rows = table["file_order"].to_numpy(), table["row"].to_numpy()
    in_order = (files[1:] > files[:-1]) | ((files[1:] == files[:-1]) & (rows[1:] >= rows[:-1]))
    if in_order.all():
        return table
    one_file = (files == files[0]).all()
    return table.take(np.argsort(rows, kind="stable") if one_file else np.lexsort((rows, files)))


def numbered(
    table: pa.Table, options: TraceOptions, notices: Notices
) -> tuple[TableNames, Events, Int64 | None]:
    """The names of a table in the order in which it was read, its events, and their `seq`.

    `seq` is aligned with the events, ABSENT where the order of rows counts; None: everywhere. Raises PrecedesError
    (T020).
    """
    execution_names, (x,) = encode(table["execution"])
    dest = lists_of(table["dest"])
    cluster = arrow.chunked_array([arrow.array(options.cluster, arrow.string())])
    entity_names, (entity, sender, dest_codes, cluster_codes) = encode(
        table["entity"], table["sender"], dest.values, cluster
    )
    message_names, (message,) = encode(table["message"])
    count = len(execution_names)
    senderless = None
    if (code := bisect_left(entity_names, UNKNOWN_NAME)) < len(entity_names) and entity_names[
        code
    ] == UNKNOWN_NAME:
        sender, senderless = _nobody(table, (x, entity, message), sender, code)
    dest, dest_codes, to_groups = _without_groups(dest, dest_codes, entity_names)
    dest_x = np.repeat(x, np.diff(dest.offsets))
    named = np.flatnonzero(sender != ABSENT)
    every = np.repeat(np.arange(count, dtype=np.int32), len(cluster_codes))
    entities = Numbering(
        np.concatenate([x, x[named], dest_x, every]),
        np.concatenate([entity, sender[named], dest_codes, np.tile(cluster_codes, count)]),
        count,
        len(entity_names),
    )
    with_message = np.flatnonzero(message != ABSENT)
    messages = Numbering(x[with_message], message[with_message], count, len(message_names))
    names = TableNames(
        execution_names,
        entity_names,
        message_names,
        entities,
        messages,
        dest,
        entities.find(dest_x, dest_codes) - entities.offsets[dest_x],
        to_groups,
        senderless,
    )
    at = entities.find(x, entity)
    order, seq = _order(table, at, entity_names[entities.codes], notices)
    events = Events(
        np.arange(len(x)),
        at,
        table["event"].to_numpy(),
        messages.find(x, message),
        np.full(len(x), ABSENT, np.int64) if not len(named) else entities.find(x, sender),
        table["time"].fill_null(arrow.scalar(MISSING_TIME)).to_numpy(),
    )
    return names, events if order is None else events.where(order), seq


def _nobody(
    table: pa.Table, place: tuple[Codes, Codes, Codes], sender: Codes, unknown: int
) -> tuple[Codes, Codes | None]:
    """The senders that rows name, but for the unknown one, and the executions with a message whose sender is unknown to
    a row and known to none. `place` has the execution, the entity and the message of each row. In an execution where an
    entity of this name has rows, the name is that entity's.
    """
    x, entity, message = place
    unnamed = (sender == unknown) & ~np.isin(x, x[entity == unknown])
    key = x.astype(np.int64) * (int(message.max(initial=0)) + 2) + message
    sends = table["event"].to_numpy() == EVENT_CODES[EventKind.SEND]
    known = ascending(key[sends | ((sender != ABSENT) & ~unnamed)])
    found = ascending(x[unnamed & ~np.isin(key, known)])
    return np.where(unnamed, ABSENT, sender).astype(sender.dtype), found


def _without_groups(dest: Lists, codes: Codes, entity_names: Names) -> tuple[Lists, Codes, Lists | None]:
    """Destinations, their codes, and apart from these the groups that are named among them."""
    # Names are in order, so that those with the same beginning follow each other.
    low = bisect_left(entity_names, TO_GROUP)
    high = low
    while high < len(entity_names) and entity_names[high].startswith(TO_GROUP):
        high += 1
    chosen = (codes >= low) & (codes < high)
    if low == high or not chosen.any():
        return dest, codes, None
    row = np.repeat(np.arange(len(dest.present)), np.diff(dest.offsets))

    def part(of: npt.NDArray[np.bool_]) -> Lists:
        offsets = offsets_of(np.bincount(row[of], minlength=len(dest.present)))
        return Lists(offsets, dest.present, dest.values.filter(arrow.array(of)))

    groups = part(chosen)
    names = pc.utf8_slice_codeunits(groups.values, len(TO_GROUP))
    return part(~chosen), codes[~chosen], Lists(groups.offsets, groups.present, names)


def _order(
    table: pa.Table, entity: Int64, entity_names: Names, notices: Notices
) -> tuple[Int64 | None, Int64 | None]:
    """How to sort the rows into histories (None: they are sorted), and the sorted places.

    A place is ABSENT where the order of rows gives it; None in all: everywhere.
    """
    column = table["seq"]
    missing = column.null_count
    notices.count(notice.NO_SEQ, NO_SEQ, missing)
    if missing == len(column):
        return (None if _ascending(entity) else np.argsort(entity, kind="stable")), None
    seq = column.fill_null(arrow.scalar(ABSENT)).to_numpy()
    if missing:
        _refuse_some(table, entity, seq, entity_names)
    span = int(seq.max()) + 2
    if (int(entity.max()) + 1) * span < 2**63:
        key = entity * span + seq
        order = None if _ascending(key) else np.argsort(key, kind="stable")
    else:
        order = np.lexsort((seq, entity))
    return order, seq if order is None else seq[order]


def _ascending(values: Int64) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _refuse_some(table: pa.Table, entity: Int64, seq: Int64, entity_names: Names) -> None:
    """Raise PrecedesError where some rows of an entity have a place and others have none."""
    without = np.bincount(entity[seq == ABSENT], minlength=len(entity_names)) > 0
    placed = np.bincount(entity[seq != ABSENT], minlength=len(entity_names)) > 0
    diagnostics: list[Diagnostic] = []
    for number in np.flatnonzero(without & placed)[:TOLD_AT_ONCE].tolist():
        rows = np.flatnonzero(entity == number)
        row = int(rows[seq[rows] == ABSENT][0])
        other = place(table, int(rows[seq[rows] != ABSENT][0]))
        diagnostics.append(
            Diagnostic(
                "T020",
                f"`seq` is missing, but another row of entity {shown(entity_names[number])} has one ({other})",
                table["file"][row].as_py(),
                hint="in an execution, all rows of an entity have `seq`, or none",
                row=table["row"][row].as_py(),
            )
        )
    if diagnostics:
        raise PrecedesError(tuple(diagnostics))
