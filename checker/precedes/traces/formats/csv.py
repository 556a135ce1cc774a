"""Reader of CSV: RFC 4180 with a header, comma and double quote, in blocks. An empty cell is an absent value.

`dest`, `members` and `group` are `E2;E3` or a JSON list, `clock` is a JSON list or map. Arrow reads the cells as text.
Python's `csv` reads the blocks that Arrow cannot read.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.formula import Attribute
from precedes.core.supervision import reading
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow, arrow_csv, pc
from precedes.traces.formats import limits
from precedes.traces.formats.canonical_columns import Irregular, canonical
from precedes.traces.formats.single_rows import canonical_rows, name_unknown
from precedes.traces.formats.text_stream import Stream, as_text, next_block, opened, too_long
from precedes.traces.formats.values import RowError, cell_parser, from_cells, ids_of_cell, seconds, shown
from precedes.traces.formats.written_rows import COLUMNS, Values, write_text
from precedes.traces.notices import Notices
from precedes.traces.problems import some_columns, unreadable
from precedes.traces.schema import REQUIRED_COLUMNS
from precedes.traces.sources import TraceSource

BLOCK_BYTES: Final = 32 << 20
_SLICE_BYTES: Final = 4 << 20
COMMA: Final = "cells of `dest` have a comma in them: B,C is one entity, B;C are two"
_WHOLE: Final = "^-?[0-9]{1,18}$"
_LIST: Final = "["
_BESIDE_QUOTES: Final = np.isin(np.arange(256), list(b',\r\n"'))


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file; raises PrecedesError."""
    with opened(source) as stream:
        yield from read_csv(source, stream, notices)


def read_csv(source: TraceSource, stream: Stream, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a stream of bytes; rows are numbered with the header as row 1.

    Raises PrecedesError.
    """
    header: list[str] | None = None
    next_row = 1
    blocks = _blocks(stream)
    while (block := next_block(blocks, source, next_row)) is not None:
        as_text(block, source.shown, next_row)
        records = block
        if header is None:
            header, records = _header(source, block)
            next_row = 2
            name_unknown(source.unknown(header), notices)
        if not records:
            continue
        with reading(source.shown, next_row):
            table, count = _read_block(source, header, records, next_row, notices)
        next_row += count
        if len(table):
            yield table


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


def _last_end(piece: bytes, *, quoted: bool) -> int:
    """Where the last record that ends in a piece of a file ends; 0: none does. `quoted`: the piece begins in a cell."""
    letters = np.frombuffer(piece, np.uint8)
    lines = np.flatnonzero(letters == ord("\n"))
    before = np.searchsorted(np.flatnonzero(letters == ord('"')), lines)
    ends = lines[before % 2 == quoted]
    return int(ends[-1]) + 1 if len(ends) else 0


def _header(source: TraceSource, block: bytes) -> tuple[list[str], bytes]:
    text = io.StringIO(block.decode(), newline="")
    try:
        header = next(csv.reader(text, strict=True), [])
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
    return header, text.read().encode()


def _read_block(
    source: TraceSource, header: list[str], block: bytes, row: int, notices: Notices
) -> tuple[pa.Table, int]:
    found = Notices()
    try:
        table = _by_arrow(source, header, block, row, found)
    except Irregular:
        return _record_by_record(source, header, block, row, notices)
    notices.merge(found.all())
    return table, len(table)


def _by_arrow(source: TraceSource, header: list[str], block: bytes, row: int, notices: Notices) -> pa.Table:
    quotes = block.count(b'"')
    if quotes and _stray_quote(block):
        raise Irregular
    known = [name for name in header if source.reads(name)]
    try:
        cells = arrow_csv.read_csv(
            arrow.BufferReader(block),
            arrow_csv.ReadOptions(column_names=header, block_size=_SLICE_BYTES),
            arrow_csv.ParseOptions(newlines_in_values=quotes > 0, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(
                include_columns=known, column_types=dict.fromkeys(known, arrow.string()), check_utf8=False
            ),
        )
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
        raise Irregular from error
    columns = {name: _typed(name, _absent(cells[name])) for name in known}
    if quotes and "dest" in known:
        commas = pc.and_(
            pc.match_substring(cells["dest"], ","), pc.invert(pc.starts_with(cells["dest"], _LIST))
        )
        notices.count(notice.COMMA, COMMA, pc.sum(commas).as_py() or 0)
    numbers = np.arange(row, row + len(cells))
    return canonical(arrow.table(columns), source, numbers, notices)


def _stray_quote(block: bytes) -> bool:
    """Whether a quote neither opens nor closes a cell nor is one half of a doubled one.

    Of quotes in turn, one comes after a comma, a line or the one before it, the next before one of these.
    """
    letters = np.frombuffer(b"\n" + block + b"\n", np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    opening, closing = letters[quotes[::2] - 1], letters[quotes[1::2] + 1]
    return bool(len(quotes) % 2 or not (_BESIDE_QUOTES[opening].all() and _BESIDE_QUOTES[closing].all()))


def _absent(cells: Column) -> Column:
    empty = pc.equal(cells, "")
    return pc.if_else(empty, arrow.scalar(None, arrow.string()), cells) if pc.any(empty).as_py() else cells


def _typed(name: str, cells: Column) -> Column:
    match name:
        case "seq":
            if pc.all(pc.match_substring_regex(cells, _WHOLE)).as_py() is False:
                raise Irregular
            return pc.cast(cells, arrow.int64())
        case "dest" | "members" | "group":
            return _each_once(cells, lambda cell: ids_of_cell(cell, name), arrow.list_(arrow.string()))
        case "redelivered":
            return _each_once(cells, cell_parser(name), arrow.bool_())
        case "clock":
            return _each_once(cells, cell_parser(name), None)
        case _:
            return cells


def _each_once(cells: Column, parse: Callable[[str], object], kind: pa.DataType | None) -> Column:
    """Every distinct cell parsed once, by the reader of single rows. Without a type: clocks."""
    chunks = cells.dictionary_encode().chunks
    try:
        # Arrow encodes all chunks with one dictionary, and every chunk has all of it.
        values = [parse(cell) for cell in chunks[0].dictionary.to_pylist()] if chunks else []
    except RowError as error:
        raise Irregular from error
    if kind is None:
        values, kind = _clocks(values)
    try:
        return arrow.chunked_array([arrow.array(values, kind).take(chunk.indices) for chunk in chunks], kind)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError) as error:
        raise Irregular from error


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
    source: TraceSource, header: list[str], block: bytes, row: int, notices: Notices
) -> tuple[pa.Table, int]:
    count = commas = 0

    def records() -> Iterator[tuple[int, list[str] | csv.Error]]:
        nonlocal count
        reader = csv.reader(io.StringIO(block.decode(), newline=""), strict=True)
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
