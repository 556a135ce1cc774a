"""Slices of JSON Lines and CSV that machine code reads in one pass: how it is called, and the table of what it found.

It takes what programs write: plain values, in any columns and of any mixture of types of ids. For anything else there
is no table, and Arrow or Python reads the slice. Machine code takes a moment to load, so short files are left to them,
too.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.formula import AttributeSort
from precedes.native.codes import NO_TIME_GIVEN
from precedes.native.compiled_functions import llvm_is_loaded, machine_code, read_only
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow
from precedes.traces.formats.byte_places import Letters, count_of
from precedes.traces.formats.single_rows import name_unknown
from precedes.traces.formats.text_kernels import csv_rows, json_rows, sheet
from precedes.traces.formats.text_kernels.sheet import Sheet
from precedes.traces.formats.values import COMMA, DEST_IGNORED, MESSAGE_IGNORED, VIEW_IGNORED
from precedes.traces.notices import Notices
from precedes.traces.schema import ATTRIBUTE, CODED, EVENT_NAMES, INPUT_COLUMNS, kept_schema, schema_of
from precedes.traces.sources import TraceSource

LEAST_BYTES: Final = 8 << 20
"""Of a file for which it pays to load these kernels."""
LEAST_TO_LOAD: Final = 96 << 20
"""Of a file for which it pays to load LLVM, too, where nothing else needs it."""
DICTIONARY: Final = arrow.dictionary(arrow.int32(), arrow.string())
_MOST_BYTES: Final = 16 << 20
"""Of a slice. It is longer only where a row is, and what is set aside for it is some twenty times as long."""
_NO_PLACE: Final = -1
_NO_TRUTH: Final = -1
_LINE: Final = ord("\n")
_FIRST_BUCKETS: Final = 1 << 10
_MOST_LETTERS: Final = 1 << 16
"""Of names of columns and events that are known before."""
_POSITIONS: Final = 64
"""Places of names in a line that are expected to be those of the line before."""
_KINDS: Final = {
    "execution": (sheet.ID, sheet.EXECUTION),
    "entity": (sheet.ID, sheet.ENTITY),
    "message": (sheet.ID, sheet.MESSAGE),
    "sender": (sheet.ID, sheet.SENDER),
    "view": (sheet.ID, sheet.A_VIEW),
    "dest": (sheet.LIST, sheet.DEST),
    "members": (sheet.LIST, sheet.MEMBERS),
    "group": (sheet.GROUP, sheet.A_GROUP),
    "event": (sheet.EVENT, 0),
    "seq": (sheet.SEQ, 0),
    "time": (sheet.TIME, 0),
    "redelivered": (sheet.TRUTH, 0),
    "clock": (sheet.UNREAD, 0),
}
"""What the columns of a trace are for machine code, and their columns of codes."""


def pays(source: TraceSource, block: bytes) -> bool:
    """Whether a file that begins with a block is so long that kernels should read it."""
    return max(source.size, len(block)) >= (LEAST_BYTES if llvm_is_loaded() else LEAST_TO_LOAD)


@dataclass(frozen=True, slots=True)
class Shape:
    """The names that machine code looks for, and the columns of attributes among them."""

    names: tuple[str, ...]
    kinds: npt.NDArray[np.int8]
    columns: npt.NDArray[np.int32]
    attributes: tuple[str, ...]


def _shape_of(source: TraceSource, names: Iterable[str], other: int | None = None) -> Shape | None:
    """How columns of these names are read; None where machine code does not read such a file.

    `other`: the kind of all other names, for rows that name their columns.
    """
    texts = {each.name for each in source.attributes if each.sort is AttributeSort.TEXT}
    if source.partition or len(texts) < len(source.attributes) or not texts.isdisjoint(INPUT_COLUMNS):
        return None
    names = tuple(names)
    kinds: list[int] = []
    columns: list[int] = []
    attributes: list[str] = []
    for name in names:
        kind, column = _KINDS.get(name, (sheet.SKIPPED, 0))
        if name not in INPUT_COLUMNS and source.reads(name):
            kind, column = sheet.TEXT, sheet.FIRST_ATTRIBUTE + len(attributes)
            attributes.append(f"{ATTRIBUTE}{name}")
        kinds.append(kind)
        columns.append(column)
    if sheet.UNREAD in kinds and other is None:
        return None
    if other is not None:
        kinds.append(other)
        columns.append(0)
    return Shape(
        names,
        read_only(np.array(kinds, np.int8)),
        read_only(np.array(columns, np.int32)),
        tuple(attributes),
    )


@dataclass(frozen=True, slots=True)
class OnePass:
    """How slices of a file are read by a kernel.

    The memory that it writes is used again for the next slice. Columns of one value are parts of one column.
    """

    kernel: Callable[..., int]
    shape: Shape
    source: TraceSource
    free: SimpleQueue[Sheet] = field(default_factory=SimpleQueue)
    repeated: dict[str, Column] = field(default_factory=dict)

    def table(self, text: Letters, first: int, notices: Notices) -> pa.Table | None:
        """The canonical table of a slice, the number of whose first line is given; None where something is unusual."""
        if len(text) > _MOST_BYTES:
            return None
        ended = len(text) > 0 and text[-1] == _LINE
        size = len(text) + (not ended)
        found = self._room(size, count_of(text, _LINE) + (not ended))
        found.text[: len(text)] = text
        found.text[len(text) : size + sheet.PADDING] = 0
        if not ended:
            found.text[len(text)] = _LINE
        try:
            rows = machine_code(self.kernel)(found, size)
            return None if rows < 0 else self._canonical(_Read(found, self.shape, rows), first, notices)
        finally:
            self.free.put(found)

    def _canonical(self, read: _Read, first: int, notices: Notices) -> pa.Table:
        source, rows = self.source, read.rows
        read.tell(source, notices)
        coded = CODED if source.coded else ()
        columns = read.columns(coded)
        columns["row"] = arrow.array(read.found.number[:rows] + first)
        schema = kept_schema(columns) if source.every else schema_of(source.attributes)
        for name in coded:
            place = schema.get_field_index(name)
            schema = schema.set(place, schema.field(place).with_type(DICTIONARY))
        columns["file"] = self._same("file", schema.field("file").type, source.shown, rows)
        columns["file_order"] = self._same("file_order", pa.int32(), source.order, rows)
        arrays = [
            columns[each.name] if each.name in columns else self._same(each.name, each.type, None, rows)
            for each in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _same(self, name: str, kind: pa.DataType, value: object, rows: int) -> Column:
        """A column that has one value in all rows."""
        found = self.repeated.get(name)
        if found is None or len(found) < rows:
            found = arrow.repeat(arrow.scalar(value, kind), rows + rows // 8)
            self.repeated[name] = found
        return found.slice(0, rows)

    def _room(self, size: int, lines: int) -> Sheet:
        """A sheet with room for so many bytes and lines."""
        try:
            found = self.free.get_nowait()
        except Empty:
            found = None
        if found is None or len(found.text) < size + sheet.PADDING or len(found.event) < lines:
            # The next slices are a little longer, or have a few lines more.
            found = _sheet(size + size // 8, lines + lines // 8, self.shape)
        _clear(found, lines)
        return found


@dataclass(frozen=True, slots=True)
class _Read:
    """The rows of a slice as a kernel found them. What is made of them is a copy."""

    found: Sheet
    shape: Shape
    rows: int

    def columns(self, coded: Collection[str]) -> dict[str, Column]:
        """The canonical columns that have a value in any row, some of them as dictionaries."""
        found, rows = self.found, self.rows
        columns: dict[str, Column] = {"event": arrow.array(found.event[:rows].copy())}
        for name, values, absent in (
            ("seq", found.seq[:rows], _NO_PLACE),
            ("time", found.time[:rows], NO_TIME_GIVEN),
            ("redelivered", found.redelivered[:rows], _NO_TRUTH),
        ):
            missing = values == absent
            if not missing.all():
                held = values == 1 if name == "redelivered" else values.copy()
                columns[name] = arrow.array(held, mask=missing if missing.any() else None)
        for name, (kind, column) in _KINDS.items():
            if kind in (sheet.LIST, sheet.GROUP) and found.sizes[column]:
                columns[name] = self._lists(column)
            elif kind == sheet.ID and found.sizes[column]:
                texts, codes = self._texts(column), found.codes[:rows, column]
                columns[name] = _coded(texts, codes) if name in coded else _taken(texts, codes)
        for place, name in enumerate(self.shape.attributes, sheet.FIRST_ATTRIBUTE):
            if found.sizes[place]:
                columns[name] = _taken(self._texts(place), found.codes[:rows, place])
        return columns

    def _texts(self, table: int) -> Column:
        """The texts of a table, where they are."""
        count = int(self.found.sizes[table])
        ends = self.found.ends[table * self.found.room :][: count + 1]
        letters = self.found.letters[table * self.found.space :][: ends[-1]]
        return arrow.StringArray.from_buffers(count, arrow.py_buffer(ends), arrow.py_buffer(letters))

    def _lists(self, column: int) -> Column:
        """The lists of a column, of each row. Arrow takes three times as long to take lists by their numbers."""
        count = machine_code(sheet.entries_of)(self.found, column, self.rows)
        ends, entries = np.empty(self.rows + 1, np.int32), np.empty(count, np.int32)
        machine_code(sheet.write_lists)(self.found, column, ends, entries)
        ids = self._texts(len(self.found.sizes) - 2).take(arrow.array(entries))
        missing = self.found.codes[: self.rows, column] < 0
        mask = arrow.array(missing) if missing.any() else None
        return arrow.ListArray.from_arrays(arrow.array(ends), ids, mask=mask)

    def tell(self, source: TraceSource, notices: Notices) -> None:
        """What is told of the rows."""
        tally = self.found.tally
        notices.count(notice.VALUE_IGNORED, MESSAGE_IGNORED, int(tally[sheet.MESSAGES_IGNORED]))
        notices.count(notice.VALUE_IGNORED, DEST_IGNORED, int(tally[sheet.DESTS_IGNORED]))
        notices.count(notice.VALUE_IGNORED, VIEW_IGNORED, int(tally[sheet.VIEWS_IGNORED]))
        notices.count(notice.COMMA, COMMA, int(tally[sheet.COMMAS]))
        name_unknown(source.unknown(self._other_names()), notices)

    def _other_names(self) -> list[str]:
        """The names of columns in rows, beside those of the shape."""
        table, known = len(self.found.sizes) - 1, len(self.shape.names)
        if self.found.sizes[table] == known:
            return []
        names: list[str] = self._texts(table).to_pylist()
        return [name for code, name in enumerate(names) if code >= known and self.found.seen[0, code]]


def lines_of(source: TraceSource, names: Iterable[str]) -> OnePass | None:
    """How lines of JSON are read; None where no kernel reads such a file. Where `every` column is read, only those of
    `names` may be there.
    """
    known = (*INPUT_COLUMNS, *(each.name for each in source.attributes))
    others = (name for name in names if source.every and name not in known)
    shape = _shape_of(source, (*known, *others), sheet.UNREAD if source.every else sheet.SKIPPED)
    return _one_pass(json_rows.read_lines, shape, source)


def records_of(source: TraceSource, header: Sequence[str]) -> OnePass | None:
    """How records of CSV are read; None where no kernel reads such a file."""
    shape = _shape_of(source, header)
    return _one_pass(csv_rows.read_records, shape, source)


def _one_pass(kernel: Callable[..., int], shape: Shape | None, source: TraceSource) -> OnePass | None:
    if shape is None:
        return None
    try:
        # Once, before threads need it.
        machine_code(kernel)
    except ImportError:
        # There is no LLVM in a browser.
        return None
    return OnePass(kernel, shape, source)


def _sheet(size: int, lines: int, shape: Shape) -> Sheet:
    """An empty one for so many bytes and lines. Only what is written takes memory."""
    columns = sheet.FIRST_ATTRIBUTE + len(shape.attributes)
    tables = columns + 3
    room = 2 * lines + sheet.MOST_NAMES
    slots = 1 << (4 * room).bit_length()
    space = size + _MOST_LETTERS
    made = Sheet(
        text=_memory(size + sheet.PADDING, np.uint8),
        kinds=shape.kinds,
        columns=shape.columns,
        codes=_memory(lines * columns, np.int32).reshape(lines, columns),
        event=np.empty(lines, np.int8),
        redelivered=np.empty(lines, np.int8),
        seq=_memory(lines, np.int64),
        time=_memory(lines, np.int64),
        number=_memory(lines, np.int64),
        room=room,
        slots=slots,
        space=space,
        buckets=_memory(tables * slots, np.int32),
        masks=np.empty(tables, np.int64),
        sizes=np.zeros(tables, np.int64),
        last=np.full(tables, -1, np.int64),
        ends=_memory(tables * room, np.int32),
        words=_memory(tables * room, np.int64),
        letters=_memory(tables * space, np.uint8),
        list_ends=_memory(sheet.LISTS * room, np.int32).reshape(sheet.LISTS, room),
        # An entry of a list has two letters, one of them between it and the next one.
        entries=_memory(sheet.LISTS * (size // 2 + 1), np.int32).reshape(sheet.LISTS, size // 2 + 1),
        seen=np.empty((sheet.DEEPEST, sheet.MOST_NAMES + 1), np.int64),
        order=np.full(_POSITIONS, -1, np.int32),
        tally=np.empty(sheet.TALLIES, np.int64),
    )
    made.list_ends[:, 0] = 0
    for table in range(tables):
        _empty_table(made, table)
    for table, names in ((tables - 3, EVENT_NAMES), (tables - 1, shape.names)):
        written = [name.encode() for name in names]
        ends = np.cumsum([len(name) for name in written], dtype=np.int64)
        text = np.frombuffer(b"".join(written), np.uint8).copy()
        machine_code(sheet.add_texts)(made._replace(text=text), read_only(ends), table)
    return made


def _memory(count: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Memory that takes room only where it is written, and is given back at once.

    Nearly all of a sheet is never written. numpy would ask for large pages, which the system clears whole. Arrow keeps
    what it has.
    """
    if sys.platform == "win32":
        return np.empty(count, kind)
    pages = mmap.mmap(-1, max(count, 1) * np.dtype(kind).itemsize, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, kind)[:count]


def _clear(found: Sheet, lines: int) -> None:
    """Make a sheet empty for so many rows, but for the names of events and of columns."""
    events = len(found.sizes) - 3
    for table in (*range(events), events + 1):
        _empty_table(found, table)
    found.codes[:lines] = -1
    found.event[:lines] = -1
    found.redelivered[:lines] = _NO_TRUTH
    found.seq[:lines] = _NO_PLACE
    found.time[:lines] = NO_TIME_GIVEN
    found.seen.fill(0)
    found.tally.fill(0)


def _empty_table(found: Sheet, table: int) -> None:
    found.masks[table] = _FIRST_BUCKETS - 1
    found.sizes[table] = 0
    found.last[table] = -1
    found.buckets[table * found.slots :][:_FIRST_BUCKETS] = -1
    found.ends[table * found.room] = 0


def _coded(texts: Column, codes: npt.NDArray[np.int32]) -> Column:
    """The texts of rows by their codes, which stay as they are."""
    missing = codes < 0
    indices = arrow.array(codes.copy(), mask=missing if missing.any() else None)
    return arrow.DictionaryArray.from_arrays(indices, arrow.concat_arrays([texts, texts[:0]]))


def _taken(values: Column, codes: npt.NDArray[np.int32]) -> Column:
    """The values of rows by their codes."""
    missing = codes < 0
    return values.take(arrow.array(codes, mask=missing if missing.any() else None))
