"""The layout for scanning: what `precedes convert` writes and `precedes verify` recognizes.

A laid-out file is Parquet and an ordinary trace: it has the columns of a trace under their names, and any
tool reads it as one. Beside them stand the same ids as small integers, local to their execution, in the
numbering of `precedes.core.columns`, so that a scan reads integers only and never sorts or compares a name:

execution_number  from 0 within a row group, ascending
entity_number     ascending within an execution, and within an entity the rows are in the order of its history
event_number      index into `EventKind`
message_number    -1 where the event has none
dest_bits         on a send the destinations as bits; `EVERYBODY`; `LISTED`: more than 62 entities, see
                  `dest_numbers`. 0 on other rows
dest_numbers      a list, on sends whose `dest_bits` is `LISTED`
view_number       of the view that the event installs; -1 on other events, and where the view has no id
member_bits       the members of that view, as far as they are in the cluster, as bits. 0 where the cluster has more
                  than 62 entities, and on other events
sender_number     who sent the message, where a row names it; -1 elsewhere
clock_list        a clock that is a bare list; `clock` has those that name their entities
origin_file, origin_order, origin_row   where rows that are not plain sailing were read

Every other column of the trace follows under its own name, as text, for a formula may ask for it that nobody has
written yet (`as_text`): the values of an attribute are read from it as they were read from the trace.

A row group ends where an execution does. What the scan must know beforehand is in the footer, under `KEY`: a
`Group` for every row group. A regular one has only executions whose rows neither repeat nor contradict
anything, whose times do not run backwards, and whose clocks add nothing to the order of rows: there every row is an
event, in its place. The others are read by the general way, and so is every file whose
footer does not fit it, or has another version: the ordinary columns always tell the whole trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from precedes.core.columns import MISSING_TIME, Int32, Int64
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.supervision import reading
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow, arrow_parquet
from precedes.traces.assembly.clocks import OUTSIDE
from precedes.traces.assembly.destinations import NOT_SENT, TO_ALL
from precedes.traces.assembly.encoding import Lists, lists_of
from precedes.traces.assembly.histories import NO_SEQ
from precedes.traces.formats.canonical_columns import Irregular, canonical
from precedes.traces.formats.parquet_file import UNREADABLE, opened
from precedes.traces.formats.registry import PARQUET
from precedes.traces.layout.kept_columns import values_of
from precedes.traces.notices import NO_ADDRESSING, Addressing, Notice, Notices
from precedes.traces.options import GroupMembers, TraceOptions
from precedes.traces.problems import unreadable
from precedes.traces.schema import (
    ATTRIBUTE,
    BY_TIME,
    INPUT_COLUMNS,
    REDELIVERED,
    TABLE_SCHEMA,
    beside,
    schema_of,
)
from precedes.traces.sources import TraceSource
from precedes.traces.stated_groups import united

VERSION: Final = 6
KEY: Final = b"precedes.layout"
EVERYBODY: Final = -1
LISTED: Final = -2
MOST_BITS: Final = 62

ROW_GROUP: Final = 400_000
"""Rows after which a row group ends with the execution at hand."""

_WIDE: Final = 4
"""Bytes of a value beyond which it is no number in a dictionary."""

SCANNED: Final = ("execution_number", "entity_number", "event_number", "message_number", "dest_bits")
"""The columns that every scan reads."""

_NUMBERS: Final = {
    "execution_number": arrow.int32(),
    "entity_number": arrow.int32(),
    "event_number": arrow.int32(),
    "message_number": arrow.int32(),
    "dest_bits": arrow.int64(),
    "sender_number": arrow.int32(),
    "view_number": arrow.int32(),
    "member_bits": arrow.int64(),
}
ORIGIN: Final = {"file": "origin_file", "file_order": "origin_order", "row": "origin_row"}
_TYPES: Final = {"event": arrow.string(), "time": arrow.timestamp("ns", "UTC")}
LAYOUT_SCHEMA: Final = arrow.schema(
    [
        *((name, _TYPES.get(name, TABLE_SCHEMA.field(name).type)) for name in INPUT_COLUMNS),
        ("clock_list", TABLE_SCHEMA.field("vector").type),
        (BY_TIME, TABLE_SCHEMA.field(BY_TIME).type),
        *(arrow.field(name, kind, nullable=False) for name, kind in _NUMBERS.items()),
        ("dest_numbers", arrow.list_(arrow.int32())),
        *((written, TABLE_SCHEMA.field(name).type) for name, written in ORIGIN.items()),
    ]
)
OWN_COLUMNS: Final = frozenset(LAYOUT_SCHEMA.names) - set(INPUT_COLUMNS)
"""The columns that a laid-out file has and other traces have not."""


def layout_schema(kept: Iterable[str]) -> pa.Schema:
    """The columns of a laid-out file that keeps some other columns of its trace."""
    return pa.schema([*LAYOUT_SCHEMA, *(pa.field(name, pa.string()) for name in kept)])


_ORDINARY: Final = [name for name in LAYOUT_SCHEMA.names if name not in _NUMBERS and name != "dest_numbers"]


@dataclass(frozen=True, slots=True)
class Group:
    """A row group.

    `regular`: every row is an event, and nothing contradicts anything. `first` and `last` are the names of
    its executions at either end. `without_seq` rows have no `seq`, `outside` components of clocks belong to
    no entity of their cluster. `named`: some row names a sender; `listed`: some send needs `dest_numbers`. `to_all`
    sends have no destinations, `not_sent` deliveries no sender. `clocked`: some event has a clock. `viewed`: some event
    installs a view; `grouped`: some row states the groups of its entity; `to_groups`: some send is addressed to a
    group.
    """

    rows: int
    executions: int
    regular: bool
    first: str
    last: str
    without_seq: int = 0
    outside: int = 0
    named: bool = False
    listed: bool = False
    to_all: int = 0
    not_sent: int = 0
    clocked: bool = False
    viewed: bool = False
    grouped: bool = False
    to_groups: bool = False


class _Version(Struct):
    """Of what is written under `KEY`, the part that every version has."""

    version: int


class _Footer(_Version):
    """What is written under `KEY`. Files of earlier writers do not say who was met."""

    groups: tuple[Group, ...]
    notices: tuple[tuple[str, str, int | None], ...]
    met: tuple[str, ...] | None = None
    addressed: tuple[str, ...] = ()
    chosen: bool = False
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """What the footer of a laid-out file says. Picklable. `told` are the notices of the rows that it was made from,
    `addressing` who was met and who was meant in all of them, `kept` their other columns, `members` the groups that
    were stated beside them.
    """

    source: TraceSource
    groups: tuple[Group, ...]
    told: tuple[Notice, ...]
    addressing: Addressing = NO_ADDRESSING
    kept: tuple[str, ...] = ()
    members: GroupMembers = ()

    @property
    def first(self) -> str:
        """The first execution of all."""
        return min((group.first for group in self.groups), default="")

    @property
    def last(self) -> str:
        """The last execution of all."""
        return max((group.last for group in self.groups), default="")

    def tell(self, notices: Notices) -> None:
        """Tell what is told of the file as a whole."""
        notices.merge(self.told)
        notices.heard(self.addressing)
        self.tell_kept(notices)

    def tell_kept(self, notices: Notices) -> None:
        """Tell which of the other columns are not read."""
        for name in self.source.unknown(self.kept):
            notices.once(notice.UNKNOWN_COLUMN, notice.unknown_column(name))

    @property
    def asked(self) -> tuple[Attribute, ...]:
        """The attributes that are read, and that the file has."""
        return tuple(each for each in self.source.attributes if each.name in (REDELIVERED, *self.kept))


@dataclass(frozen=True, slots=True)
class Coded:
    """The rows of a row group as integers, aligned; see the module.

    `time`, `view` and `members` None: not asked for, or no view is installed.
    """

    executions: int
    execution: Int32
    entity: Int32
    event: Int32
    message: Int32
    dest: Int64
    sender: Int32 | None
    listed: Lists | None
    time: Int64 | None
    view: Int32 | None
    members: Int64 | None


def footer(
    groups: Sequence[Group],
    told: Sequence[Notice],
    addressing: Addressing = NO_ADDRESSING,
    members: GroupMembers = (),
) -> dict[bytes, bytes]:
    """The entry of the footer."""
    said = {
        "version": VERSION,
        "groups": [asdict(group) for group in groups],
        "notices": [[one.code, one.text, one.count] for one in told],
        "met": None if addressing.met is None else sorted(addressing.met),
        "addressed": sorted(addressing.addressed),
        "chosen": addressing.chosen,
        "members": members,
    }
    return {KEY: json.dumps(said, ensure_ascii=False).encode()}


def layout_of(source: TraceSource) -> Layout | None:
    """The layout of a file; None for any other file, one that cannot be read, or of another version."""
    if source.format != PARQUET or source.partition:
        return None
    try:
        with reading(source.shown):
            metadata = arrow_parquet.read_metadata(source.path)
    except UNREADABLE:
        return None
    return _said(source, metadata)


def tell_version(source: TraceSource, metadata: Any, notices: Notices) -> None:
    """Tell of a file that another version converted. What its footer says of the trace is not known then."""
    text = (metadata.metadata or {}).get(KEY)
    if text is None:
        return
    with suppress(ValueError, RecursionError):
        if msgspec.json.decode(text, type=_Version).version != VERSION:
            said = (
                f"{source.shown} was converted by another version of precedes and is read like any other file"
            )
            notices.once(notice.OTHER_VERSION, said)


def layouts_of(sources: Sequence[TraceSource]) -> tuple[Layout, ...] | None:
    """The layouts of files; None unless all are laid out and no execution may be in two of them."""
    layouts: list[Layout] = []
    for source in sources:
        layout = layout_of(source)
        if layout is None:
            return None
        layouts.append(layout)
    held = sorted((layout for layout in layouts if layout.groups), key=lambda layout: layout.first)
    apart = all(one.last < other.first for one, other in pairwise(held))
    return tuple(layouts) if apart else None


def with_members(sources: Iterable[TraceSource], options: TraceOptions) -> TraceOptions:
    """The options with the groups that were stated beside the traces of which columnar files among these were made."""
    stated = [layout.members for source in sources if (layout := layout_of(source)) is not None]
    return replace(options, groups=united(options.groups, *stated)) if any(stated) else options


def _said(source: TraceSource, metadata: Any) -> Layout | None:
    text = (metadata.metadata or {}).get(KEY)
    if text is None:
        return None
    try:
        said = msgspec.json.decode(text, type=_Footer)
        schema = metadata.schema.to_arrow_schema()
    except (*UNREADABLE, ValueError, RecursionError):
        return None
    if said.version != VERSION or not all(map(_possible, said.groups)):
        return None
    rows = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    kept = tuple(schema.names[len(LAYOUT_SCHEMA) :])
    if rows != [group.rows for group in said.groups] or not schema.equals(layout_schema(kept)):
        return None
    told = tuple(Notice(*one) for one in said.notices)
    met = None if said.met is None else frozenset(said.met)
    addressing = Addressing(met, frozenset(said.addressed), said.chosen)
    return Layout(source, said.groups, told, addressing, kept, said.members)


def _possible(group: Group) -> bool:
    """Whether a row group can be as the footer says: memory is taken by what is said here."""
    return 0 <= group.executions <= group.rows


class ColumnarFile:
    """A laid-out file, open. One object serves one thread at a time; `again` gives another one."""

    def __init__(self, layout: Layout, metadata: Any = None) -> None:
        self.layout = layout
        source = layout.source
        # Few texts stand for the values of many rows: those of a message repeat.
        texts = [each.name for each in layout.asked if each.name != REDELIVERED]
        self._file = opened(source, metadata=metadata, read_dictionary=texts)
        self._other: Any = None
        if metadata is None and _said(source, self._file.metadata) != layout:
            raise unreadable("T003", "the file was replaced while it was read", source.shown)
        self._starts = np.cumsum([0, *(group.rows for group in layout.groups)])

    def again(self) -> ColumnarFile:
        """The same file, for another thread."""
        return ColumnarFile(self.layout, self._file.metadata)

    def coded(self, number: int, *, time: bool, views: bool = False) -> Coded:
        """The rows of a row group as integers. Raises PrecedesError for a damaged file (T005)."""
        group = self.layout.groups[number]
        viewed = views and group.viewed
        columns = [
            *SCANNED,
            *(["sender_number"] if group.named else []),
            *(["dest_numbers"] if group.listed else []),
            *(["time"] if time else []),
            *(["view_number", "member_bits"] if viewed else []),
        ]
        table = self._read(number, columns)
        return Coded(
            executions=group.executions,
            execution=_numpy(table["execution_number"]),
            entity=_numpy(table["entity_number"]),
            event=_numpy(table["event_number"]),
            message=_numpy(table["message_number"]),
            dest=_numpy(table["dest_bits"]),
            sender=_numpy(table["sender_number"]) if group.named else None,
            listed=lists_of(table["dest_numbers"]) if group.listed else None,
            time=_nanoseconds(table["time"]) if time else None,
            view=_numpy(table["view_number"]) if viewed else None,
            members=_numpy(table["member_bits"]) if viewed else None,
        )

    def rows(self, number: int, places: Int64 | None = None) -> pa.Table:
        """The rows of a row group as they are written, or those at some places, without the numbers.

        With `places` one column at a time is in memory.
        """
        asked = (each.name for each in self.layout.asked if each.name != REDELIVERED)
        names = [*_ORDINARY, *(self.layout.kept if self.layout.source.every else asked)]
        if places is None:
            return self._read(number, names)
        chosen = arrow.array(places)
        columns = [self._read(number, [name])[name].take(chosen) for name in names]
        return pa.Table.from_arrays(columns, names=names)

    def canonical(
        self, number: int, rows: pa.Table, notices: Notices, places: Int64 | None = None
    ) -> pa.Table:
        """The canonical table of the `rows` of a row group; `places`: where they are, if these are not all.

        Rows whose origin was kept are said to be there, if the file is the only one of its trace.
        """
        source = self.layout.source
        numbers = np.arange(len(rows)) if places is None else places
        numbers = numbers + int(self._starts[number]) + 1
        try:
            found = canonical(rows.select(list(INPUT_COLUMNS)), source.asked(()), numbers, notices)
        except Irregular as irregular:
            raise damaged(source) from irregular
        found = _replaced(found, "vector", rows["clock_list"])
        found = _replaced(found, BY_TIME, rows[BY_TIME])
        if source.only and rows["origin_row"].null_count == 0:
            for name, written in ORIGIN.items():
                found = _replaced(found, name, rows[written])
        if source.every:
            for name in self.layout.kept:
                found = found.append_column(f"{ATTRIBUTE}{name}", rows[name])
            return found
        for field, each in zip(beside(schema_of(source.attributes)), source.attributes, strict=True):
            held = each in self.layout.asked
            values = (
                values_of(rows[each.name], each, source, numbers)
                if held
                else arrow.nulls(len(rows), field.type)
            )
            found = found.append_column(field, values)
        return found

    def attribute(self, number: int, attribute: Attribute) -> Column | None:
        """The values of an attribute in a row group, texts with a dictionary; None where the file has no such column.

        Raises PrecedesError for the first value that the attribute cannot have.
        """
        if attribute not in self.layout.asked:
            return None
        different = attribute.sort is not AttributeSort.TEXT and self._is_different(number, attribute.name)
        file = self._differently_read if different else self._file
        column = self._read(number, [attribute.name], file)[attribute.name]
        if attribute.sort is AttributeSort.TEXT:
            truths = arrow.types.is_boolean(column.type)
            return column.cast(arrow.string()) if truths else column.unify_dictionaries()
        numbers = np.arange(len(column)) + int(self._starts[number]) + 1
        return values_of(column, attribute, self.layout.source, numbers)

    def names(self, number: int, columns: Sequence[str]) -> pa.Table:
        """Some of the ordinary columns of a row group."""
        return self._read(number, list(columns))

    def times(self, number: int) -> Int64:
        """The time of each row of a row group; `MISSING_TIME` where there is none."""
        return _nanoseconds(self._read(number, ["time"])["time"])

    def view_ids(self, number: int) -> Column:
        """The ids of the views that the rows of a row group install, with a dictionary: few stand for many rows."""
        return (
            self._read(number, ["view"], self._differently_read)["view"].unify_dictionaries().combine_chunks()
        )

    def tell(self, number: int, notices: Notices) -> None:
        """Tell what reading and assembling a regular row group tells."""
        group = self.layout.groups[number]
        notices.count(notice.NO_SEQ, NO_SEQ, group.without_seq)
        notices.count(notice.CLOCK_OUTSIDE, OUTSIDE, group.outside)
        notices.count(notice.SENT_TO_ALL, TO_ALL, group.to_all)
        notices.count(notice.NOT_SENT, NOT_SENT, group.not_sent)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        if self._other is not None:
            self._other.close()

    @property
    def _differently_read(self) -> Any:
        """The file again, with a dictionary of the ids of views, and none of attributes."""
        if self._other is None:
            self._other = opened(self.layout.source, metadata=self._file.metadata, read_dictionary=["view"])
        return self._other

    def _is_different(self, number: int, name: str) -> bool:
        """Whether the values of a column mostly differ, so that Parquet gave up its dictionary: to make one of them
        takes longer than to read them.
        """
        group = self._file.metadata.row_group(number)
        chunks = map(group.column, range(group.num_columns))
        chunk = next(chunk for chunk in chunks if chunk.path_in_schema == name)
        return bool(chunk.total_uncompressed_size > _WIDE * chunk.num_values)

    def _read(self, number: int, columns: list[str], file: Any = None) -> pa.Table:
        try:
            with reading(self.layout.source.shown, int(self._starts[number]) + 1):
                table: pa.Table = (file or self._file).read_row_group(number, columns, use_threads=False)
                # Arrow takes UTF-8 and the indices of dictionaries on trust. Of numbers there is nothing to look at.
                table.validate(full=True)
        except UNREADABLE as error:
            raise damaged(self.layout.source) from error
        if len(table) != self.layout.groups[number].rows:
            raise damaged(self.layout.source)
        return table


def damaged(source: TraceSource) -> Exception:
    """The error of a laid-out file whose columns do not say what its footer says."""
    return unreadable(
        "T005", "the columns of this laid-out file are damaged", source.shown, "convert the trace again"
    )


def _numpy(column: Column) -> npt.NDArray[Any]:
    return column.chunk(0).to_numpy() if column.num_chunks == 1 else column.to_numpy()  # type: ignore[no-any-return]


def _nanoseconds(column: Column) -> Int64:
    times = column.cast(arrow.int64())
    return _numpy(times.fill_null(arrow.scalar(MISSING_TIME)) if times.null_count else times)


def _replaced(table: pa.Table, name: str, column: Column) -> pa.Table:
    place = TABLE_SCHEMA.get_field_index(name)
    return table.set_column(place, TABLE_SCHEMA.field(place), column)
