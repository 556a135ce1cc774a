"""Reading JSON Lines: one object per line, in blocks.

Arrow's reader does the work. What it does not accept, or accepts although it is no JSON Lines, is read by
`json`, line by line, which finds out what is wrong and where, or that nothing is. Before Arrow sees a block,
every line of it must begin with `{`, end with `}` and have nothing between two objects: Arrow reads two
objects on a line as two rows, and crashes on a `null` in that place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.traces.arrow import arrow, arrow_json
from precedes.traces.conversion import Irregular, canonical, table_of
from precedes.traces.notices import Notices
from precedes.traces.rows import canonical_rows, name_unknown
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS, INPUT_COLUMNS, REQUIRED_COLUMNS
from precedes.traces.sources import TraceSource
from precedes.traces.streams import Stream, as_text
from precedes.traces.values import DuplicateName, RowError, parse_json, shown

BLOCK_BYTES: Final = 32 << 20
_SLICE_BYTES: Final = 2 << 20
_LINES_LOOKED_AT: Final = 100
_AFTER_OBJECT: Final = re.compile(rb"\}[ \t\r]*[^ \t\r\n,}\]]")
_SPACE: Final = b" \t\r\n"
_NEWLINE, _OPEN, _CLOSE = b"\n{}"
_MAY_FOLLOW: Final = np.isin(np.arange(256), list(b"\n,}]"))


def read_json_lines(source: TraceSource, stream: Stream, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a stream of bytes; raises PrecedesError for the first block with bad lines."""
    first_line = 1
    for block in _blocks(stream):
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        table = _read_block(source, block, first_line, lines, notices)
        first_line += lines
        if len(table):
            yield table


def _blocks(stream: Stream) -> Iterator[bytes]:
    """The stream in pieces that end where lines end."""
    rest: list[bytes] = []
    while piece := stream.read(BLOCK_BYTES):
        end = piece.rfind(b"\n") + 1
        if end == 0:
            rest.append(piece)
            continue
        yield b"".join([*rest, memoryview(piece)[:end]])
        rest = [piece[end:]]
    if last := b"".join(rest):
        yield last


def _read_block(source: TraceSource, block: bytes, first_line: int, lines: int, notices: Notices) -> pa.Table:
    as_text(block, source.shown, first_line)
    tidied = _tidied(block, np.arange(first_line, first_line + lines))
    if tidied is not None:
        found = Notices()
        try:
            table = _by_arrow(source, *tidied, found)
        except Irregular:
            pass
        else:
            notices.merge(found.all())
            return table
    return _line_by_line(source, block, first_line, notices)


def _tidied(block: bytes, numbers: npt.NDArray[np.int64]) -> tuple[bytes, npt.NDArray[np.int64]] | None:
    """The block without blank lines, and the numbers of its lines, if Arrow may see it."""
    if not block.endswith(b"\n"):
        block += b"\n"
    letters = np.frombuffer(block, np.uint8)
    if not _every_line_is_braced(letters):
        stripped = [line.strip(_SPACE) for line in block.split(b"\n")[:-1]]
        kept = [k for k, line in enumerate(stripped) if line]
        block, numbers = b"".join(stripped[k] + b"\n" for k in kept), numbers[kept]
        letters = np.frombuffer(block, np.uint8)
        if not _every_line_is_braced(letters):
            return None
    after = np.flatnonzero(letters == _CLOSE) + 1
    if _MAY_FOLLOW[letters[after]].all() or not _AFTER_OBJECT.search(block):
        return block, numbers
    return None


def _every_line_is_braced(letters: npt.NDArray[np.uint8]) -> bool:
    ends = np.flatnonzero(letters == _NEWLINE)
    starts = np.append(0, ends[:-1] + 1)
    return bool(((letters[starts] == _OPEN) & (letters[ends - 1] == _CLOSE)).all()) if len(ends) else True


def _by_arrow(
    source: TraceSource, block: bytes, numbers: npt.NDArray[np.int64], notices: Notices
) -> pa.Table:
    if not len(numbers):
        return table_of((), source)
    table = _parsed(block)
    unknown = [name for name in table.column_names if name not in INPUT_COLUMNS]
    if unknown and (b"NaN" in block or b"Inf" in block):
        # Arrow takes these for numbers. In a column that is read they would not get through.
        raise Irregular
    if len(table) != len(numbers):
        raise Irregular
    name_unknown(unknown, notices)
    return canonical(table.drop_columns(unknown), source, numbers, notices)


def _parsed(block: bytes) -> pa.Table:
    # With nine places a time needs no rounding; with 27 every time that is no nonsense can be read.
    for places in (9, 27):
        try:
            table: pa.Table = arrow_json.read_json(
                arrow.BufferReader(block),
                read_options=arrow_json.ReadOptions(block_size=_SLICE_BYTES),
                parse_options=arrow_json.ParseOptions(explicit_schema=_guessed_schema(block, places)),
            )
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
            continue
        return table
    raise Irregular


def _guessed_schema(block: bytes, places: int) -> pa.Schema:
    """Types for the columns of a block, after a look at its first lines: Arrow takes text for timestamps."""
    sample: dict[str, object] = {}
    start = 0
    for _ in range(_LINES_LOOKED_AT):
        end = block.find(b"\n", start)
        if end < 0:
            break
        try:
            values = parse_json(block[start:end].decode())
        except (ValueError, RecursionError) as error:
            raise Irregular from error
        assert isinstance(values, dict)
        for name, value in values.items():
            if value is not None and value != []:
                sample.setdefault(name, value)
        start = end + 1
    ids = _id_type(sample.get("entity"))
    # Arrow would take seconds for floats.
    seconds = arrow.string() if ":" in str(sample.get("time")) else arrow.decimal128(38, places)
    types: dict[str, pa.DataType] = {"seq": arrow.int64(), "time": seconds, "dest": arrow.list_(ids)}
    for name in (*ID_COLUMNS, "event"):
        if name in sample or name in REQUIRED_COLUMNS:
            types[name] = _id_type(sample.get(name))
    for name in ID_LIST_COLUMNS:
        if isinstance(value := sample.get(name), list):
            types[name] = arrow.list_(_id_type(value[0]))
    if isinstance(sample.get("clock"), list):
        types["clock"] = arrow.list_(arrow.int64())
    schema: pa.Schema = arrow.schema(list(types.items()))
    return schema


def _id_type(value: object) -> pa.DataType:
    whole = isinstance(value, int) and not isinstance(value, bool)
    kind: pa.DataType = arrow.int64() if whole else arrow.string()
    return kind


def _line_by_line(source: TraceSource, block: bytes, first_line: int, notices: Notices) -> pa.Table:
    lines = ((number, line.strip(_SPACE)) for number, line in enumerate(block.split(b"\n"), first_line))
    return canonical_rows(((number, line) for number, line in lines if line), _object, source, notices)


def _object(line: bytes) -> dict[str, object]:
    try:
        value = parse_json(line.decode())
    except DuplicateName as error:
        raise RowError(
            "T008", f"the name {shown(str(error))} stands twice in this row", "a row has a column once"
        ) from error
    except json.JSONDecodeError as error:
        raise RowError(
            "T007",
            f"this is no JSON at column {error.colno}: {error.msg.lower()}",
            "write one JSON object per line; a file that was cut off ends like this",
        ) from error
    except (ValueError, RecursionError) as error:
        raise RowError("T007", f"this is no JSON: {error}", "write one JSON object per line") from error
    if not isinstance(value, dict):
        what = "a JSON array" if isinstance(value, list) else "no JSON object"
        raise RowError(
            "T007", f"this line is {what}", "write one JSON object per line, without an array around them"
        )
    return value
