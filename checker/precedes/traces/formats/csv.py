"""Reader of CSV: RFC 4180 with a header, comma and double quote, in blocks, and a block in slices. An empty cell is an
absent value.

`dest`, `members` and `group` are `E2;E3` or a JSON list, `clock` is a JSON list or map. Arrow reads the cells as text,
each slice in a thread of its own. Python's `csv` reads the slices that Arrow cannot read.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute
from precedes.core.machine import available_cores
from precedes.core.supervision import reading
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow, arrow_csv, pc
from precedes.traces.formats import limits
from precedes.traces.formats.byte_places import WINDOW, Letters, Places, count_of, places_of
from precedes.traces.formats.canonical_columns import Irregular, canonical, whole_numbers
from precedes.traces.formats.one_pass import OnePass, pays, records_of
from precedes.traces.formats.single_rows import canonical_rows, name_unknown
from precedes.traces.formats.text_stream import Stream, as_text, next_block, opened, too_long
from precedes.traces.formats.values import (
    COMMA,
    RowError,
    cell_parser,
    from_cells,
    ids_of_cell,
    seconds,
    shown,
)
from precedes.traces.formats.written_rows import COLUMNS, Values, write_text
from precedes.traces.notices import Notices
from precedes.traces.problems import some_columns, unreadable
from precedes.traces.schema import ID_LIST_COLUMNS, REQUIRED_COLUMNS
from precedes.traces.sources import TraceSource

BLOCK_BYTES: Final = 16 << 20
SLICE_BYTES: Final = 4 << 20
_LIST: Final = "["
_QUOTE, _LINE = b'"\n'


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file; raises PrecedesError."""
    with opened(source) as stream:
        yield from read_csv(source, stream, notices)


def read_csv(source: TraceSource, stream: Stream, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a stream of bytes; rows are numbered with the header as row 1.

    Raises PrecedesError.
    """
    header: list[str] | None = None
    once: OnePass | None = None
    next_row = 1
    blocks = _blocks(stream)
    with ThreadPoolExecutor(available_cores()) as pool:
        while (block := next_block(blocks, source, next_row)) is not None:
            as_text(block, source.shown, next_row)
            records = memoryview(block)
            if header is None:
                header, records = _header(source, block)
                next_row = 2
                name_unknown(source.unknown(header), notices)
                once = records_of(source, header) if pays(source, block) else None
            if records:
                tables, count = _Records(source, header, once, next_row).read(records, notices, pool)
                next_row += count
                yield from (table for table in tables if len(table))


def _blocks(stream: Stream) -> Iterator[bytes]:
    """The stream in pieces that end where records end: at the end of a line, outside of quotes. Raises RowError for a
    record that is too long.
    """
    rest: list[bytes] = []
    held = 0
    quoted = False
    while piece := stream.read(BLOCK_BYTES):
        end = _last_end(piece, quoted=quoted)
        if end:
            yield b"".join([*rest, memoryview(piece)[:end]])
            rest, held = [], 0
            quoted = piece.count(b'"', end) % 2 == 1
            piece = piece[end:]
        else:
            quoted ^= piece.count(b'"') % 2 == 1
        rest.append(piece)
        held += len(piece)
        if held > limits.LONGEST_RECORD:
            raise too_long("a quotation mark that is never closed looks like this")
    if held:
        yield b"".join(rest)


def _last_end(piece: bytes | memoryview, *, quoted: bool) -> int:
    """Where the last record that ends in a piece of a file ends; 0: none does. `quoted`: the piece begins in a cell."""
    letters = np.frombuffer(piece, np.uint8)
    looked_at = WINDOW
    while True:
        start = max(0, len(letters) - looked_at)
        within = quoted ^ (count_of(letters[:start], _QUOTE) % 2 == 1)
        lines = np.flatnonzero(letters[start:] == _LINE)
        before = np.searchsorted(np.flatnonzero(letters[start:] == _QUOTE), lines)
        ends = lines[before % 2 == within]
        if len(ends) or start == 0:
            return start + int(ends[-1]) + 1 if len(ends) else 0
        looked_at *= 16


def _slices(records: memoryview) -> Iterator[memoryview]:
    """Records in slices of about `SLICE_BYTES`, which end where records do."""
    start, size = 0, SLICE_BYTES
    while start + size < len(records):
        if end := _last_end(records[start : start + size], quoted=False):
            yield records[start : start + end]
            start, size = start + end, SLICE_BYTES
        else:
            size *= 2
    yield records[start:]


def _header(source: TraceSource, block: bytes) -> tuple[list[str], memoryview]:
    """The names of the columns, and the records after them. Raises PrecedesError."""
    try:
        header, records = _first_record(block)
    except csv.Error as error:
        raise unreadable("T007", f"the header is not CSV: {error}", source.shown, row=1) from error
    if len(set(header)) < len(header):
        twice = min(name for name, count in Counter(header).items() if count > 1)
        raise unreadable("T008", f"the column {shown(twice)} occurs twice in the header", source.shown, row=1)
    stated = {name for name, _ in source.partition}
    missing = [name for name in REQUIRED_COLUMNS if name not in header and name not in stated]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise unreadable(
            "T010",
            f"the header lacks {names}",
            source.shown,
            f"the first row names the columns, with commas; here these are {some_columns(header)}",
            row=1,
        )
    return header, records


def _first_record(block: bytes) -> tuple[list[str], memoryview]:
    """The first record, and those after it. Raises `csv.Error`."""
    end = block.find(b"\n") + 1 or len(block)
    text = io.StringIO(block[:end].decode(), newline="")
    try:
        header = next(csv.reader(text, strict=True), [])
    except csv.Error:
        # Perhaps it has several lines.
        end = len(block)
        text = io.StringIO(block.decode(), newline="")
        header = next(csv.reader(text, strict=True), [])
    # What is left of the first line has lines that end with \r.
    left = text.read().encode()
    return header, memoryview(left + block[end:]) if left else memoryview(block)[end:]


@dataclass(frozen=True, slots=True)
class _Records:
    """How the records of a block are read: the columns of their file, how machine code reads them, if it does, and the
    number of the first.
    """

    source: TraceSource
    header: list[str]
    once: OnePass | None
    first: int

    def read(
        self, block: memoryview, notices: Notices, pool: ThreadPoolExecutor
    ) -> tuple[list[pa.Table], int]:
        """The canonical tables of a block, and how many records it has. Raises PrecedesError."""
        tables: list[pa.Table] = []
        found, row = Notices(), self.first
        slices = list(_slices(block))
        try:
            for records, (quick, told) in zip(slices, pool.map(self._quickly, slices), strict=True):
                if quick is None:
                    table, count = _record_by_record(self.source, self.header, records, row, found)
                else:
                    table, count = _numbered(quick, row), len(quick)
                found.merge(told.all())
                tables.append(table)
                row += count
        except PrecedesError:
            # As many mistakes are told at once as there may be, in whichever slices they are.
            table, count = _record_by_record(self.source, self.header, block, self.first, notices)
            return [table], count
        notices.merge(found.all())
        return tables, row - self.first

    def _quickly(self, records: memoryview) -> tuple[pa.Table | None, Notices]:
        """The canonical table of a slice, whose rows have no numbers yet; None where it has to be read record by
        record.
        """
        found = Notices()
        with reading(self.source.shown, self.first):
            letters = np.frombuffer(records, np.uint8)
            if self.once and (table := self.once.table(letters, 0, found)) is not None:
                return table, found
            try:
                return _by_arrow(self.source, self.header, records, found), found
            except Irregular:
                return None, Notices()


def _numbered(table: pa.Table, first: int) -> pa.Table:
    place = table.schema.get_field_index("row")
    return table.set_column(
        place, table.schema.field(place), arrow.array(np.arange(first, first + len(table)))
    )


def _by_arrow(source: TraceSource, header: list[str], records: memoryview, notices: Notices) -> pa.Table:
    letters = np.frombuffer(records, np.uint8)
    quotes = places_of(letters, lambda some: some == _QUOTE)
    if _stray(quotes, letters):
        raise Irregular
    known = [name for name in header if source.reads(name)]
    try:
        cells = arrow_csv.read_csv(
            arrow.BufferReader(records),
            arrow_csv.ReadOptions(column_names=header, block_size=len(records) + 1, use_threads=False),
            arrow_csv.ParseOptions(newlines_in_values=len(quotes) > 0, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(
                include_columns=known,
                column_types=dict.fromkeys(known, arrow.string()),
                check_utf8=False,
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
        raise Irregular from error
    coded = {name: cells[name].combine_chunks().dictionary_encode() for name in known if name in _PARSED}
    if "dest" in coded:
        notices.count(notice.COMMA, COMMA, _with_commas(coded["dest"]))
    columns = {name: cells[name] for name in known}
    columns |= {name: _each_once(name, cells) for name, cells in coded.items()}
    if "seq" in columns:
        columns["seq"] = whole_numbers(columns["seq"])
    return canonical(arrow.table(columns), source, np.zeros(len(cells), np.int64), notices)


def _stray(quotes: Places, letters: Letters) -> bool:
    """Whether one of the quotes in records neither opens nor closes a cell nor is one half of a doubled one.

    Of quotes in turn, one comes after a comma, a line or the one before it, the next before one of these.
    """
    # Records begin after the end of a line; before the first letter, the last one is taken for it.
    opening = letters.take(quotes[::2] - 1, mode="wrap")
    closing = letters.take(quotes[1::2] + 1, mode="clip")
    return not (len(quotes) % 2 == 0 and _beside_quotes(opening) and _beside_quotes(closing))


def _beside_quotes(letters: Letters) -> bool:
    """Whether each letter is a comma, a quote or one at the end of a line."""
    found = letters == _QUOTE
    for other in b",\n\r":
        found |= letters == other
    return bool(found.all())


def _each_once(name: str, cells: Column) -> Column:
    """A column of which every distinct cell is parsed once, by the reader of single rows."""
    parse, kind = _PARSED[name]
    try:
        values = [parse(cell) for cell in cells.dictionary.to_pylist()]
    except RowError as error:
        raise Irregular from error
    if kind is None:
        values, kind = _clocks(values)
    try:
        return arrow.chunked_array([arrow.array(values, kind).take(cells.indices)], kind)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError) as error:
        raise Irregular from error


_IDS: Final = arrow.list_(arrow.string())
_PARSED: Final[dict[str, tuple[Callable[[str], Any], pa.DataType | None]]] = {
    **{name: (partial(ids_of_cell, column=name), _IDS) for name in ID_LIST_COLUMNS},
    "redelivered": (cell_parser("redelivered"), arrow.bool_()),
    "clock": (cell_parser("clock"), None),
}
"""How cells are parsed that are more than a text, and of which type their values are: for clocks, these say it."""


def _with_commas(dest: Column) -> int:
    """How many cells have a comma in an id, and not between them."""
    found = pc.and_(
        pc.match_substring(dest.dictionary, ","), pc.invert(pc.starts_with(dest.dictionary, _LIST))
    )
    return pc.sum(found.take(dest.indices)).as_py() if pc.any(found).as_py() else 0


def _clocks(values: list[object]) -> tuple[list[object], pa.DataType]:
    """Clocks that are all maps, or all lists. Arrow would take an empty text for an empty list."""
    if not all(value is None or isinstance(value, dict | list) for value in values):
        raise Irregular
    maps = [list(value.items()) for value in values if isinstance(value, dict)]
    if not maps:
        return values, arrow.list_(arrow.int64())
    if len(maps) < len(values):
        raise Irregular
    return [*maps], arrow.map_(arrow.string(), arrow.int64())


@contextmanager
def _long_cells(most: int) -> Iterator[None]:
    """Cells of up to `most` letters. Python's limit for them is one for the whole process."""
    before = csv.field_size_limit(most)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _record_by_record(
    source: TraceSource, header: list[str], block: memoryview, row: int, notices: Notices
) -> tuple[pa.Table, int]:
    count = commas = 0

    def records() -> Iterator[tuple[int, list[str] | csv.Error]]:
        nonlocal count
        reader = csv.reader(io.StringIO(str(block, "utf-8"), newline=""), strict=True)
        while True:
            try:
                record: list[str] | csv.Error = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                record = error
            count += 1
            if record:
                yield row + count - 1, record
            if isinstance(record, csv.Error):
                return

    def values(record: list[str] | csv.Error) -> dict[str, object]:
        nonlocal commas
        if isinstance(record, csv.Error):
            raise RowError("T007", f"this is not CSV: {record}", "a file that was cut off looks like this")
        if len(record) != len(header):
            raise RowError("T017", f"this row has {len(record)} cells, the header {len(header)}", None)
        cells = {k: cell for k, cell in zip(header, record, strict=True) if source.reads(k)}
        commas += "," in cells.get("dest", "") and not cells["dest"].startswith(_LIST)
        return from_cells(cells)

    with _long_cells(len(block)):
        table = canonical_rows(records(), values, source, notices)
    notices.count(notice.COMMA, COMMA, commas)
    return table, count


def write(
    rows: Iterable[Values], path: str, compression: str | None, attributes: Sequence[Attribute] = ()
) -> int:
    """Write a header and rows to a file; how many rows there were."""
    columns = (*COLUMNS, *(each.name for each in attributes))

    def line(row: Values) -> str:
        return _record(_written_cell(name, row[name]) if name in row else "" for name in columns)

    return write_text(rows, path, compression, line, _record(columns))


def _record(cells: Iterable[str]) -> str:
    record = io.StringIO()
    csv.writer(record, lineterminator="\n").writerow(cells)
    return record.getvalue()


def _written_cell(name: str, value: Any) -> str:
    match name:
        case "time":
            return seconds(value)
        case "clock":
            return json.dumps(value, ensure_ascii=False)
        case "dest" | "members" | "group":
            plain = value and not value[0].startswith("[") and not any(";" in name for name in value)
            return ";".join(value) if plain else json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)
