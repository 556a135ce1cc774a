"""`precedes convert`: from any trace to one columnar file (see `precedes.traces.layout.columnar_file`).

Every row is kept, even rows that repeat or contradict others, so the verdicts on the new file are the
verdicts on the trace; and every other column, as text, so that attributes that are declared later can be read from it.
Executions are in the order of their names, except that irregular ones have row groups
of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import NOBODY, Batch, Bool, Int32, Int64, offsets_of
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow, arrow_parquet
from precedes.traces.assembly.assembler import assemble, assembled
from precedes.traces.assembly.attributes import disagreeing
from precedes.traces.assembly.destinations import not_sent, to_all
from precedes.traces.assembly.encoding import ABSENT, ascending
from precedes.traces.assembly.histories import Events, TableNames, as_read, numbered
from precedes.traces.foreign.recognition import RECOGNIZED, LogReading
from precedes.traces.formats.registry import PARQUET
from precedes.traces.formats.text_stream import reason
from precedes.traces.layout.columnar_file import (
    EVERYBODY,
    LAYOUT_SCHEMA,
    LISTED,
    MOST_BITS,
    ORIGIN,
    OWN_COLUMNS,
    ROW_GROUP,
    Group,
    footer,
    layout_schema,
    with_members,
)
from precedes.traces.notices import NO_ADDRESSING, Notices
from precedes.traces.options import GroupMembers, TraceOptions
from precedes.traces.order import out_of_order
from precedes.traces.partition.spill import EVENTS_PER_PART, ROWS_IN_MEMORY, whole_executions
from precedes.traces.problems import unreadable
from precedes.traces.reader import read_table
from precedes.traces.schema import ATTRIBUTE, BY_TIME, EVENT_NAMES, INPUT_COLUMNS, TABLE_SCHEMA, beside
from precedes.traces.sources import STANDARD_INPUT, TraceSource, expand, source_of
from precedes.traces.writer import in_place

Advance = Callable[[int, int], None]
"""Told of progress: executions and events written so far."""

_SEND: Final = EVENT_CODES[EventKind.SEND]
_VIEW: Final = EVENT_CODES[EventKind.VIEW]


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written. `irregular` executions have rows that repeat or contradict each other."""

    executions: int
    rows: int
    irregular: int
    groups: int


def convert(
    paths: Sequence[str | os.PathLike[str] | TraceSource],
    target: str | os.PathLike[str],
    notices: Notices,
    advance: Advance | None = None,
    *,
    row_group: int = ROW_GROUP,
    budget: int = ROWS_IN_MEMORY,
    groups: GroupMembers = (),
    log: LogReading = RECOGNIZED,
) -> Converted:
    """Write traces to one laid-out file, in memory bounded by `budget` rows or the largest execution.

    The file comes into being whole or not at all. Raises PrecedesError for what cannot be read (as
    `read_batches`), for a target that is no Parquet file by its name (T002) or cannot be written (T003).
    """
    _parquet(target)
    given = [path for path in paths if isinstance(path, TraceSource)]
    named = expand([path for path in paths if not isinstance(path, TraceSource)], notices, log)
    reading = Notices()
    sources = (replace(source, every=True) for source in (*given, *named))
    tables = (table for source in sources for table in read_table(source, reading))
    parts = whole_executions(tables, EVENTS_PER_PART, budget)
    options = with_members((*given, *named), TraceOptions(groups=groups))
    converted = lay_out(parts, target, reading, advance, row_group, options.groups)
    notices.merge(reading.all())
    return converted


def lay_out(
    parts: Iterable[pa.Table],
    target: str | os.PathLike[str],
    reading: Notices,
    advance: Advance | None = None,
    row_group: int = ROW_GROUP,
    groups: GroupMembers = (),
) -> Converted:
    """Write canonical tables, each with all rows of its executions, in the order of their names, to one laid-out file.

    `reading` has what was told of the rows, when the last part has come. Errors are those of `convert`.
    """
    place = _parquet(target)
    rest = iter(parts)
    first = next(rest, TABLE_SCHEMA.empty_table())
    kept = _kept(first)
    for name in _lost(first):
        reading.once(notice.UNKNOWN_COLUMN, notice.unknown_column(name))
    try:
        with (
            in_place(place) as temporary,
            arrow_parquet.ParquetWriter(temporary, layout_schema(kept), compression="zstd") as writer,
        ):
            written = _Written(writer, row_group, advance, groups)
            for part in chain([first] if len(first) else [], rest):
                written.add(part)
            written.finish()
            writer.add_key_value_metadata(footer(written.groups, reading.all(), written.addressing, groups))
    except OSError as error:
        raise unreadable("T003", f"cannot be written: {reason(error)}", place.shown) from error
    return Converted(written.executions, written.rows, written.irregular, len(written.groups))


def _kept(part: pa.Table) -> list[str]:
    """The other columns of the trace that its columnar file has."""
    return [name for name in _others(part) if name not in OWN_COLUMNS]


def _lost(part: pa.Table) -> list[str]:
    """Those whose names mean something else there."""
    return [name for name in _others(part) if name in OWN_COLUMNS]


def _others(part: pa.Table) -> list[str]:
    return [field.name.removeprefix(ATTRIBUTE) for field in beside(part.schema)]


def _parquet(target: str | os.PathLike[str]) -> TraceSource:
    place = source_of(os.fspath(target))
    if place.path == STANDARD_INPUT:
        said = "a columnar file is not written to standard output"
        raise unreadable("T002", said, place.path, "name a .parquet file")
    if place.format != PARQUET:
        raise unreadable("T002", "a columnar file is Parquet", place.shown, "name a .parquet file")
    return place


class _Written:
    """Row groups as they grow. Regular rows wait for more, irregular ones for the end of the trace or until they
    fill a row group.
    """

    def __init__(self, writer: Any, row_group: int, advance: Advance | None, members: GroupMembers) -> None:
        self.groups: list[Group] = []
        self.executions = self.rows = self.irregular = 0
        self._writer = writer
        self._row_group = row_group
        self._advance = advance
        self._options = TraceOptions(groups=members)
        self._odd: list[pa.Table] = []
        self.addressing = NO_ADDRESSING

    def add(self, part: pa.Table) -> None:
        """Write the executions of a part."""
        rows = _Laid(part, self._options)
        for start, stop in rows.cuts(self._row_group):
            self._write(rows.rows(start, stop), rows.group(start, stop))
        if len(rows.odd):
            self._odd.append(rows.odd)
            if sum(map(len, self._odd)) > self._row_group:
                self._write_odd()
        self.executions += rows.executions
        self.rows += len(part)
        self.irregular += rows.irregular
        self.addressing |= rows.addressing
        if self._advance is not None:
            self._advance(self.executions, self.rows)

    def finish(self) -> None:
        """Write what is left."""
        if self._odd:
            self._write_odd()

    def _write_odd(self) -> None:
        table = arrow.concat_tables(self._odd)
        names = table["execution"].unique().sort().to_pylist()
        self._write(table, Group(len(table), len(names), False, names[0], names[-1]))
        self._odd.clear()

    def _write(self, table: pa.Table, group: Group) -> None:
        self._writer.write_table(table, row_group_size=max(1, len(table)))
        self.groups.append(group)


class _Laid:
    """The rows of some executions in the layout: `table` has the regular ones, `odd` the others."""

    def __init__(self, part: pa.Table, options: TraceOptions) -> None:
        part = as_read(part)
        told = Notices()
        names, events, seq = numbered(part, options, told)
        batch = assembled(part, names, events, seq, options, told)
        self.executions = batch.executions
        owner = names.entities.executions[events.entity]
        rows = np.bincount(owner, minlength=self.executions)
        odd: Bool = rows != np.diff(batch.event_offsets[batch.entity_offsets])
        odd[list(batch.contradictions)] = True
        odd |= out_of_order(batch)
        odd[disagreeing(part, names, events)] = True
        self.irregular = int(odd.sum())
        regular = events.where(np.flatnonzero(~odd[owner]))
        x = names.entities.executions[regular.entity]
        self._ends = np.append(np.flatnonzero(np.diff(x)) + 1, len(x)) if len(x) else np.zeros(0, np.int64)
        self._numbers = np.cumsum(np.append(0, np.diff(x) != 0))[: len(x)]
        self.table = _table(part, regular, names, _installed(batch, ~odd))
        self._senders = regular.sender != ABSENT
        self._to_all, self._not_sent = to_all(names, regular), not_sent(regular, batch.sender)
        self._to_groups = np.zeros(len(x), np.bool_)
        if names.to_groups is not None:
            self._to_groups = np.diff(names.to_groups.offsets)[regular.row] > 0
        self.addressing = told.addressing
        # Within an irregular execution rows stay as they were read.
        strange = part.take(arrow.array(np.sort(events.row[odd[owner]])))
        self._outside = _outside(told)
        if self._outside and self.irregular:
            again = Notices()
            assemble(strange, options, again)
            self._outside -= _outside(again)
        self.odd = _odd(strange)

    def cuts(self, row_group: int) -> Iterator[tuple[int, int]]:
        """Where row groups begin and end in `table`."""
        start = 0
        while start < len(self.table):
            place = min(int(np.searchsorted(self._ends, start + row_group)), len(self._ends) - 1)
            stop = int(self._ends[place])
            yield start, stop
            start = stop

    def rows(self, start: int, stop: int) -> pa.Table:
        """A stretch of `table`, its executions numbered from 0."""
        part = self.table.slice(start, stop - start)
        numbers = self._numbers[start:stop] - self._numbers[start]
        return part.set_column(
            LAYOUT_SCHEMA.get_field_index("execution_number"),
            LAYOUT_SCHEMA.field("execution_number"),
            arrow.array(numbers, arrow.int32()),
        )

    def group(self, start: int, stop: int) -> Group:
        """What the footer says of a stretch of `table`."""
        part = self.table.slice(start, stop - start)
        return Group(
            rows=stop - start,
            executions=int(self._numbers[stop - 1] - self._numbers[start] + 1),
            regular=True,
            first=part["execution"][0].as_py(),
            last=part["execution"][len(part) - 1].as_py(),
            without_seq=part["seq"].null_count,
            outside=self._outside if start == 0 else 0,
            named=bool(self._senders[start:stop].any()),
            listed=part["dest_numbers"].null_count < len(part),
            to_all=int(self._to_all[start:stop].sum()),
            not_sent=int(self._not_sent[start:stop].sum()),
            clocked=any(part[name].null_count < len(part) for name in ("clock", "clock_list")),
            viewed=bool((part["event_number"].to_numpy() == _VIEW).any()),
            grouped=part["group"].null_count < len(part),
            to_groups=bool(self._to_groups[start:stop].any()),
        )


def _installed(batch: Batch, regular: Bool) -> tuple[Int32, Int64]:
    """`view_number` and `member_bits` of the rows of regular executions, which are the events that they have."""
    execution = np.repeat(np.arange(batch.executions), np.diff(batch.event_offsets[batch.entity_offsets]))
    chosen = np.flatnonzero(regular[execution])
    views = batch.views
    if views is None:
        return np.full(len(chosen), NOBODY, np.int32), np.zeros(len(chosen), np.int64)
    members = np.zeros(len(views.names), np.int64)
    owner = np.repeat(np.arange(len(members)), np.diff(views.member_offsets))
    wide = np.repeat(np.diff(batch.entity_offsets) > MOST_BITS, np.diff(views.offsets))
    narrow = ~wide[owner]
    np.bitwise_or.at(members, owner[narrow], np.left_shift(1, views.members[narrow].astype(np.int64)))
    view = views.view[chosen]
    bits = np.zeros(len(chosen), np.int64)
    there = np.flatnonzero(view != NOBODY)
    bits[there] = members[views.offsets[execution[chosen[there]]] + view[there]]
    return view, bits


def _table(part: pa.Table, events: Events, names: TableNames, installed: tuple[Int32, Int64]) -> pa.Table:
    """Rows in the layout, all but their `execution_number`."""
    rows = events.row
    x = names.entities.executions[events.entity]
    entity_start, message_start = names.entities.offsets[x], names.messages.offsets[x]
    bits, listed = _destinations(events, names, x)
    coded: dict[str, Column] = {
        "execution_number": np.zeros(len(rows), np.int32),
        "entity_number": events.entity - entity_start,
        "event_number": events.kind,
        "message_number": np.where(events.message == ABSENT, ABSENT, events.message - message_start),
        "dest_bits": bits,
        "sender_number": np.where(events.sender == ABSENT, ABSENT, events.sender - entity_start),
        "view_number": installed[0],
        "member_bits": installed[1],
    }
    return _with_numbers(part.take(arrow.array(rows)), coded, listed)


def _destinations(events: Events, names: TableNames, x: Int64) -> tuple[Int64, Column]:
    """`dest_bits` and `dest_numbers` of rows."""
    bits = np.zeros(len(events.row), np.int64)
    sends = np.flatnonzero(events.kind == _SEND)
    given = names.dest.present[events.row[sends]]
    bits[sends[~given]] = EVERYBODY
    wide = np.diff(names.entities.offsets)[x[sends]] > MOST_BITS
    narrow = sends[given & ~wide]
    places, owner = names.dest.entries(events.row[narrow])
    np.bitwise_or.at(bits, narrow[owner], np.left_shift(1, names.dest_entities[places]))
    long = sends[given & wide]
    bits[long] = LISTED
    places, owner = names.dest.entries(events.row[long])
    size = int(names.dest_entities.max(initial=0)) + 1
    keys = ascending(owner * size + names.dest_entities[places])
    lengths = np.zeros(len(bits), np.int64)
    lengths[long] = np.bincount(keys // size, minlength=len(long))
    missing = np.append(bits != LISTED, False)
    offsets = arrow.array(offsets_of(lengths).astype(np.int32), mask=missing)
    return bits, arrow.ListArray.from_arrays(offsets, arrow.array((keys % size).astype(np.int32)))


def _odd(part: pa.Table) -> pa.Table:
    """Irregular rows in the layout: their numbers say nothing, where they were read is kept."""
    numbers = {field.name: np.zeros(len(part), np.int64) for field in LAYOUT_SCHEMA if not field.nullable}
    origin = {written: part[name] for name, written in ORIGIN.items()}
    return _with_numbers(part, numbers | origin, arrow.nulls(len(part), arrow.list_(arrow.int32())))


def _with_numbers(part: pa.Table, coded: dict[str, Column], listed: Column) -> pa.Table:
    columns: dict[str, Column] = {name: part[name] for name in INPUT_COLUMNS}
    columns["event"] = arrow.array(EVENT_NAMES).take(part["event"])
    columns["time"] = part["time"].cast(LAYOUT_SCHEMA.field("time").type)
    columns["clock_list"] = part["vector"]
    columns[BY_TIME] = part[BY_TIME]
    columns["dest_numbers"] = listed
    columns |= coded
    kept = _kept(part)
    columns |= {name: part[f"{ATTRIBUTE}{name}"] for name in kept}
    schema = layout_schema(kept)
    arrays = [_column(columns.get(f.name), f, len(part)) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(values: Column | None, field: pa.Field[Any], rows: int) -> Column:
    if values is None:
        return arrow.nulls(rows, field.type)
    return arrow.array(values, field.type) if isinstance(values, np.ndarray) else values


def _outside(told: Notices) -> int:
    return sum(one.count or 0 for one in told.all() if one.code == notice.CLOCK_OUTSIDE)
