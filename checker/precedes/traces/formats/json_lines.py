"""Reader of JSON Lines: one object on each line, in blocks, and a block in slices.

Arrow reads each slice separately, because two slices may have different types for one column, and Arrow
crashes on that within one call. Whatever Arrow rejects, or accepts although it is not JSON Lines, is read by
`json`, line by line, to find out what is wrong and where, or that nothing is.
`precedes.traces.formats.line_slices` and `precedes.traces.formats.limits` list what Arrow must not read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute
from precedes.core.machine import available_cores
from precedes.core.supervision import reading
from precedes.traces.arrow import arrow, arrow_json
from precedes.traces.formats import limits
from precedes.traces.formats.byte_places import occurs
from precedes.traces.formats.canonical_columns import Irregular, canonical, table_of
from precedes.traces.formats.documents import document
from precedes.traces.formats.line_slices import (
    SPACE,
    Slice,
    Tidied,
    count_lines,
    slices,
    tidied,
)
from precedes.traces.formats.mixed_ids import EVERY_ID, ids_as_texts, mixed_ids
from precedes.traces.formats.one_pass import OnePass, lines_of, pays
from precedes.traces.formats.single_rows import canonical_rows, name_unknown
from precedes.traces.formats.text_stream import Stream, as_text, next_block, opened, too_long
from precedes.traces.formats.values import ONE_EACH, json_row, parse_json, seconds
from precedes.traces.formats.written_rows import Values, write_text
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS, INPUT_COLUMNS, REQUIRED_COLUMNS
from precedes.traces.sources import TraceSource

BLOCK_BYTES: Final = 16 << 20
SLICE_BYTES: Final = 4 << 20
_LINES_LOOKED_AT: Final = 100


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file; raises PrecedesError."""
    with opened(source) as stream:
        yield from read_json_lines(source, stream, notices)


def read_json_lines(source: TraceSource, stream: Stream, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a stream of bytes; raises PrecedesError for the first block with bad lines."""
    first_line = 1
    once: OnePass | None = None
    with ThreadPoolExecutor(available_cores()) as pool:
        blocks = _blocks(stream)
        while (block := next_block(blocks, source, first_line)) is not None:
            as_text(block, source.shown, first_line)
            if first_line == 1 and pays(source, block):
                once = lines_of(source, _names(block))
            cut = list(slices(block, first_line, SLICE_BYTES))
            read = partial(_read_slice, source, once)
            tables = _read_block(source, block, cut, notices, partial(pool.map, read, cut))
            first_line = cut[-1].first_line + count_lines(cut[-1].lines)
            yield from (table for table in tables if len(table))


def _blocks(stream: Stream) -> Iterator[bytes]:
    """The stream in pieces that end where lines end. A last line without its end is in one with those before it, for a
    document ends so. Raises RowError for a line that is too long.
    """
    rest: list[bytes] = []
    held = 0
    piece = stream.read(BLOCK_BYTES)
    while piece:
        following = stream.read(BLOCK_BYTES)
        end = piece.rfind(b"\n") + 1 if following else len(piece)
        if end:
            yield b"".join([*rest, memoryview(piece)[:end]])
            rest, held = [], 0
        rest.append(piece[end:])
        held += len(piece) - end
        if held > limits.LONGEST_RECORD:
            raise too_long(ONE_EACH)
        piece = following


def _names(block: bytes) -> tuple[str, ...]:
    """The names of the first line, if it is an object."""
    try:
        first = parse_json(block[: block.find(b"\n")].decode())
    except (ValueError, RecursionError):
        return ()
    return tuple(first) if isinstance(first, dict) else ()


def _read_block(
    source: TraceSource,
    block: bytes,
    cut: list[Slice],
    notices: Notices,
    read_slices: Callable[[], Iterable[tuple[pa.Table, Notices]]],
) -> list[pa.Table]:
    try:
        read = list(read_slices())
    except PrecedesError:
        return [_whole_block(source, block, cut[0].first_line, notices)]
    for _, found in read:
        notices.merge(found.all())
    return [table for table, _ in read]


def _whole_block(source: TraceSource, block: bytes, first_line: int, notices: Notices) -> pa.Table:
    """Read line by line what has mistakes: as many as are told at once, in whichever slices they are, or that all of it
    is one document.
    """
    try:
        return _line_by_line(source, Slice(block, first_line), notices)
    except PrecedesError as error:
        row = error.diagnostics[0].row
        if error.diagnostics[0].code != "T007" or row is None:
            raise
        before = b"".join(block.splitlines(keepends=True)[: row - first_line])
        first = first_line == 1 and not before.strip()
        found = document(block[len(before) :].decode(), row, first=first)
        if found is None:
            raise
        told = found.error
        raise unreadable(told.code, told.message, source.shown, told.hint, found.line) from error


def _read_slice(source: TraceSource, once: OnePass | None, given: Slice) -> tuple[pa.Table, Notices]:
    notices = Notices()
    with reading(source.shown, given.first_line):
        letters = np.frombuffer(given.lines, np.uint8)
        if once and (table := once.table(letters, given.first_line, notices)) is not None:
            return table, notices
        try:
            return _by_arrow(source, _tidied(given), notices), notices
        except Irregular:
            notices = Notices()
            return _line_by_line(source, given, notices), notices


def _tidied(given: Slice) -> Tidied:
    """The slice without blank lines, if Arrow may see it; else raises Irregular."""
    found = tidied(given)
    if not limits.fits(found.lines, found.letters, found.ends):
        raise Irregular
    return found


def _by_arrow(source: TraceSource, tidied: Tidied, notices: Notices) -> pa.Table:
    if not len(tidied.numbers):
        return table_of((), source)
    table = _parsed(source, tidied)
    unknown = [name for name in table.column_names if not source.reads(name)]
    if unknown and (occurs(b"NaN", tidied.lines) or occurs(b"Inf", tidied.lines)):
        # Arrow takes these for numbers. In a column that is read they would not get through.
        raise Irregular
    if len(table) != len(tidied.numbers):
        raise Irregular
    if any(_misread(field.type) for field in table.schema if _may_be_text(source, field.name)):
        # Of a fraction Arrow keeps what a float does, and some text it takes for timestamps.
        raise Irregular
    name_unknown(source.unknown(unknown), notices)
    return canonical(table.drop_columns(unknown), source, tidied.numbers, notices)


def _may_be_text(source: TraceSource, name: str) -> bool:
    return name not in INPUT_COLUMNS and source.reads(name)


def _misread(kind: pa.DataType) -> bool:
    return bool(arrow.types.is_floating(kind) or arrow.types.is_timestamp(kind))


def _parsed(source: TraceSource, tidied: Tidied) -> pa.Table:
    """The lines as a table. Where ids are numbers in some lines and texts in others, they are read as texts."""
    sample = _sample(tidied)
    mixed = mixed_ids(sample)
    if not mixed:
        try:
            return _as_guessed(source, tidied, sample)
        except Irregular:
            # Perhaps there are some, which are in no line of the sample.
            mixed = EVERY_ID
    texts = ids_as_texts(tidied, mixed)
    if texts.lines == tidied.lines:
        raise Irregular
    return _as_guessed(source, texts, _sample(texts))


def _as_guessed(source: TraceSource, tidied: Tidied, sample: list[dict[str, object]]) -> pa.Table:
    if not limits.names_repeat(sample, len(tidied.numbers)):
        raise Irregular
    # With nine places a time needs no rounding; with more every time that is no nonsense can be read.
    for places in (9, limits.PLACES):
        if places > 9 and limits.strange_times(tidied.lines, tidied.letters):
            break
        try:
            table: pa.Table = arrow_json.read_json(
                arrow.BufferReader(tidied.lines),
                read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(tidied.lines) + 1),
                parse_options=arrow_json.ParseOptions(
                    explicit_schema=_guessed_schema(source, sample, places)
                ),
            )
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            continue
        return table
    raise Irregular


def _sample(tidied: Tidied) -> list[dict[str, object]]:
    """Some of the lines, from all over the slice. Raises Irregular for one that is no JSON object."""
    ends = np.append(-1, tidied.ends)
    count = len(tidied.ends)
    sample: list[dict[str, object]] = []
    for k in np.unique(np.linspace(0, count - 1, min(count, _LINES_LOOKED_AT)).astype(np.int64)).tolist():
        try:
            values = parse_json(tidied.lines[ends[k] + 1 : ends[k + 1]].decode())
        except (ValueError, RecursionError) as error:
            raise Irregular from error
        assert isinstance(values, dict)
        sample.append(values)
    return sample


def _guessed_schema(source: TraceSource, sample: Sequence[dict[str, object]], places: int) -> pa.Schema:
    """Types for the columns of a slice, after a look at some of its lines: Arrow takes text for timestamps."""
    first: dict[str, object] = {}
    for values in sample:
        for name, value in values.items():
            if value is not None and value != []:
                first.setdefault(name, value)
    ids = _id_type(first.get("entity"))
    # Arrow would take seconds for floats.
    seconds = arrow.string() if ":" in str(first.get("time")) else arrow.decimal128(38, places)
    types: dict[str, pa.DataType] = {"seq": arrow.int64(), "time": seconds, "dest": arrow.list_(ids)}
    for name in (*ID_COLUMNS, "event"):
        if name in first or name in REQUIRED_COLUMNS:
            types[name] = _id_type(first.get(name))
    for name in ID_LIST_COLUMNS:
        if isinstance(value := first.get(name), list):
            types[name] = arrow.list_(_id_type(value[0]))
    for name, value in first.items():
        # Arrow would take some text for timestamps.
        if isinstance(value, str) and _may_be_text(source, name):
            types[name] = arrow.string()
    if isinstance(first.get("group"), str):
        types["group"] = arrow.string()
    if isinstance(first.get("clock"), list):
        types["clock"] = arrow.list_(arrow.int64())
    try:
        schema: pa.Schema = arrow.schema(list(types.items()))
    except UnicodeEncodeError as error:
        # A name with half of a surrogate pair in it.
        raise Irregular from error
    return schema


def _id_type(value: object) -> pa.DataType:
    whole = isinstance(value, int) and not isinstance(value, bool)
    kind: pa.DataType = arrow.int64() if whole else arrow.string()
    return kind


def _line_by_line(source: TraceSource, given: Slice, notices: Notices) -> pa.Table:
    split = enumerate(given.lines.split(b"\n"), given.first_line)
    lines = ((number, line.strip(SPACE)) for number, line in split)
    texts = ((number, line.decode()) for number, line in lines if line)
    return canonical_rows(texts, json_row, source, notices)


def write(
    rows: Iterable[Values],
    path: str,
    compression: str | None,
    attributes: Sequence[Attribute] = (),  # noqa: ARG001 - rows name them
) -> int:
    """Write rows to a file; how many there were."""
    return write_text(rows, path, compression, _json_line)


def _json_line(row: Values) -> str:
    time = row.pop("time", None)
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n" if time is None else f'{text[:-1]},"time":{seconds(time)}}}\n'
