"""What importers share: the lines of a file, the names that its rows need, and rows as canonical tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.execution import UNKNOWN_NAME
from precedes.traces.arrow import arrow
from precedes.traces.formats import limits
from precedes.traces.formats.line_slices import Slice
from precedes.traces.formats.parquet import canonical_arrow
from precedes.traces.formats.single_rows import canonical_rows
from precedes.traces.formats.text_stream import as_text, opened, too_long
from precedes.traces.formats.values import DuplicateName, RowError, not_read, parse_json, shown
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.schema import TO_GROUP
from precedes.traces.sources import STANDARD_INPUT, TraceSource

SOMEBODY: Final = UNKNOWN_NAME
"""The `sender` of a message of which it is not known who sent it."""
TO_SOMEBODY: Final = (f"{TO_GROUP}{UNKNOWN_NAME}",)
"""The `dest` of a message of which it is not known whom it is for."""

Row = dict[str, object]
"""A row of a trace: values by column, as JSON Lines would have them. What is absent is left out or None."""

_ROWS_AT_ONCE: Final = 1 << 15
_BLOCK_BYTES: Final = 2 << 20


def blocks(source: TraceSource, *, ended: bool = False) -> Iterator[Slice]:
    """The text of a file in blocks of whole lines, numbered from 1. Raises PrecedesError.

    `ended`: what writes such a file ends every line, so that a last line without its end was cut off, even if it looks
    like a whole one (`b 12` of `b 123`), and a very long one is no line (T007).
    """
    number, held, rest = 1, 0, list[bytes]()
    with opened(source) as stream:
        while block := stream.read(_BLOCK_BYTES):
            end = block.rfind(b"\n") + 1
            if end:
                found = Slice(b"".join([*rest, memoryview(block)[:end]]), number)
                as_text(found.lines, source.shown, number)
                yield found
                number += found.lines.count(b"\n")
                rest, held = [], 0
            rest.append(block[end:])
            held += len(block) - end
            if ended and held > limits.LONGEST_RECORD:
                raise refused(source, number, too_long("this is no text of lines"))
    if held:
        last = Slice(b"".join(rest), number)
        as_text(last.lines, source.shown, number)
        if ended:
            hint = "copy the file again; if nothing is missing, end the last line with a line end"
            said = "the last line does not end: the file may be cut off"
            raise refused(source, number, RowError("T007", said, hint))
        yield last


def lines(source: TraceSource, *, ended: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a text file, numbered from 1, without what ends them. `ended`: see `blocks`. Raises
    PrecedesError.
    """
    for block in blocks(source, ended=ended):
        yield from lines_of(block)


def lines_of(given: Slice) -> Iterator[tuple[int, str]]:
    """The lines of a slice, with their numbers, without what ends them."""
    for number, line in enumerate(given.lines.decode().removesuffix("\n").split("\n"), given.first_line):
        yield number, line.removesuffix("\r")


def objects(source: TraceSource) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with one on each line, with the number of the line. Raises PrecedesError (T007)."""
    for block in blocks(source):
        yield from objects_of(source, block)


def objects_of(source: TraceSource, given: Slice) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a slice, likewise."""
    for number, line in lines_of(given):
        if line.strip():
            value = parsed(source, number, line)
            if not isinstance(value, dict):
                raise refused(
                    source, number, RowError("T007", f"this line is {shown(value)}, not a JSON object")
                )
            yield number, value


def values(source: TraceSource) -> Iterator[tuple[int, Any]]:
    """The JSON values of a file with one on each line, or the one that is all of it, with the number of the line.
    Raises PrecedesError (T007).
    """
    return values_of(source, lines(source), ())


def values_of(
    source: TraceSource, given: Iterator[tuple[int, str]], rest: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, Any]]:
    """The JSON values of some lines, likewise. `rest` are the other lines of the file, if it can be one value."""
    present = ((number, line) for number, line in given if line.strip())
    if (first := next(present, None)) is None:
        return
    number, line = first
    try:
        value = parse_json(line)
    except (RowError, ValueError, RecursionError):
        # A line of a document is seldom JSON by itself. If it is none in the end, the error is that of the whole.
        others = (line for _, line in chain(present, rest) if line.strip())
        yield number, parsed(source, number, "\n".join([line, *others]))
        return
    yield number, value
    for number, line in present:
        yield number, parsed(source, number, line)


def parsed(source: TraceSource, number: int, text: str) -> Any:
    """A JSON value that begins at a line of a file. Raises PrecedesError (T007, T008)."""
    try:
        return parse_json(text)
    except RowError as error:
        raise refused(source, number, error) from error
    except DuplicateName as error:
        twice = RowError("T008", f"the name {shown(str(error))} occurs twice", "an object has each name once")
        raise refused(source, number, twice) from error
    except RecursionError as error:
        raise refused(source, number, RowError("T007", not_read(error))) from error
    except ValueError as error:
        hint = "a file that was cut off looks like this"
        raise refused(source, number, RowError("T007", not_read(error), hint)) from error


def refused(source: TraceSource, row: int, error: RowError) -> Exception:
    """What is wrong at a place of a file, to be raised."""
    return unreadable(error.code, error.message, source.shown, error.hint, row)


def execution_of(source: TraceSource) -> str:
    """The execution that the rows of a file belong to: as set, else the name of the file, or of its folder if it is
    one file of several.
    """
    stated = source.setting("execution") or dict(source.stated).get("execution")
    if stated:
        return stated
    if source.path == STANDARD_INPUT:
        return "stdin"
    path = Path(source.path).absolute()
    return stem(path) if source.only else path.parent.name or stem(path)


def stem(path: Path) -> str:
    """The name of a file without its suffixes; the whole name where it is nothing else."""
    return path.name.partition(".")[0] or path.name


def entity_of(source: TraceSource) -> str:
    """The entity that wrote a file: as set, else the name of the file."""
    stated = source.setting("entity") or dict(source.stated).get("entity")
    return stated or ("stdin" if source.path == STANDARD_INPUT else stem(Path(source.path)))


def tables(source: TraceSource, rows: Iterable[tuple[int, Row]], notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of rows, each with its number in the file. For formats in which a row takes thought.

    Numbers give the order of an entity's rows without `seq`: ValueError if they do not ascend.
    """
    rest = _ascending(rows)
    while some := list(islice(rest, _ROWS_AT_ONCE)):
        yield canonical_rows(some, dict, source, notices)


def _ascending(rows: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    last: dict[object, int] = {}
    for number, row in rows:
        entity = row.get("execution"), row.get("entity")
        if number < last.get(entity, 0) and row.get("seq") is None:
            raise ValueError(f"row {number} of {entity} comes after row {last[entity]}, and has no seq")
        last[entity] = number
        yield number, row


def table(source: TraceSource, columns: pa.Table, numbers: Sequence[int], notices: Notices) -> pa.Table:
    """The canonical table of columns that have the names of a trace's, with the number of each row in its file. For
    formats that Arrow can take apart.
    """
    found = canonical_arrow(source, columns, 1, notices)
    place = found.schema.get_field_index("row")
    return found.set_column(place, found.schema.field(place), arrow.array(np.asarray(numbers, np.int64)))


def seconds(nanoseconds: int) -> str:
    """A time in nanoseconds as `time` has it."""
    sign, size = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    return f"{sign}{size // 10**9}.{size % 10**9:09d}"
