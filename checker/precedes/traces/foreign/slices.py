"""Logs of lines in slices, each by Arrow as a whole or line by line.

A format states what its lines are: the names and types of a JSON object, or the groups of a pattern. Where Arrow finds
exactly that in a slice, columns become columns. Whatever else a slice has in it, the reader of rows decides what it
means or what is wrong with it, so that both ways give the same table. Nothing is cast before it is known to be of the
stated type, and no name makes a column that is not stated: neither depth nor exponents nor many names reach Arrow.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.core.machine import available_cores
from precedes.core.supervision import reading
from precedes.traces.arrow import Column, arrow, arrow_json, pc
from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.formats import limits
from precedes.traces.formats.byte_places import occurs
from precedes.traces.formats.canonical_columns import Irregular, canonical
from precedes.traces.formats.line_slices import Slice, slices, tidied
from precedes.traces.notices import Notices
from precedes.traces.schema import INPUT_COLUMNS
from precedes.traces.sources import TraceSource

SLICE_BYTES: Final = 2 << 20
_AHEAD: Final = 2
"""Slices for each core that wait or have been looked at."""
_NOT_JSON: Final = re.compile(rb"[:\[,][ \t\r]*-?(?:NaN|Inf)")

Numbers = npt.NDArray[np.int64]
Columns = dict[str, Column]
Translation = Callable[[Slice], tuple[Columns, Numbers]]
"""From lines to the columns of a trace, with the numbers of their rows. Raises Irregular."""
UNCERTAIN: Final = (Irregular, arrow.ArrowInvalid, arrow.ArrowNotImplementedError, arrow.ArrowTypeError)
"""What is raised for columns of which it is not certain what they say."""
Found = Any
"""What a reader makes of a slice in another thread."""


def tables(
    source: TraceSource,
    notices: Notices,
    translation: Translation,
    rows_of: Callable[[Slice], Iterable[tuple[int, Row]]],
    *,
    ended: bool = False,
) -> Iterator[pa.Table]:
    """Canonical tables of a log in which a line says all of its rows: by `translation`, where that is certain, or by
    rows. `ended`: see `rows.blocks`. Raises PrecedesError.
    """
    for given, found in looked_at(source, partial(_canonical, source, translation), ended=ended):
        if found is None:
            yield from rows.tables(source, rows_of(given), notices)
            continue
        table, told = found
        notices.merge(told.all())
        if len(table):
            yield table


def looked_at(
    source: TraceSource, look: Callable[[Slice], Found], *, ended: bool = False
) -> Iterator[tuple[Slice, Found | None]]:
    """The slices of a file in their order, each with what `look` makes of it, None where that is Irregular. Raises
    PrecedesError.
    """
    cores = available_cores()
    waiting = deque[tuple[Slice, Future[Found | None]]]()
    with ThreadPoolExecutor(cores) as pool:
        try:
            for given in _sliced(source, ended=ended):
                waiting.append((given, pool.submit(_looked, source, look, given)))
                if len(waiting) > _AHEAD * cores:
                    yield _finished(waiting)
        except PrecedesError:
            # What is wrong before it is told first.
            yield from _all_finished(waiting)
            raise
        yield from _all_finished(waiting)


def _sliced(source: TraceSource, *, ended: bool) -> Iterator[Slice]:
    for block in rows.blocks(source, ended=ended):
        yield from slices(block.lines, block.first_line, SLICE_BYTES)


def _all_finished(waiting: deque[tuple[Slice, Future[Found | None]]]) -> Iterator[tuple[Slice, Found | None]]:
    while waiting:
        yield _finished(waiting)


def _finished(waiting: deque[tuple[Slice, Future[Found | None]]]) -> tuple[Slice, Found | None]:
    given, found = waiting.popleft()
    return given, found.result()


def _looked(source: TraceSource, look: Callable[[Slice], Found], given: Slice) -> Found | None:
    with reading(source.shown, given.first_line):
        try:
            return look(given) if len(given.lines) <= limits.LONGEST_RECORD else None
        except UNCERTAIN:
            return None


def _canonical(source: TraceSource, translation: Translation, given: Slice) -> tuple[pa.Table, Notices]:
    found, numbers = translation(given)
    notices = Notices()
    return canonical_table(source, found, numbers, notices), notices


def canonical_table(source: TraceSource, found: Columns, numbers: Numbers, notices: Notices) -> pa.Table:
    """The canonical table of columns, of those that are read and that some row has. One value stands for those of all
    rows. Raises Irregular.
    """
    length = len(numbers)
    columns = {name: _whole(column, length) for name, column in found.items() if source.reads(name)}
    kept = {
        name: column
        for name, column in columns.items()
        if name in INPUT_COLUMNS or column.null_count < length
    }
    told = Notices()
    table = canonical(pa.table(kept), source, numbers, told)
    notices.merge(told.all())
    return table


def _whole(column: Column, length: int) -> Column:
    """A column, of which one value stands for that of all rows."""
    return arrow.repeat(column, length) if isinstance(column, str | arrow.Scalar) else column


def objects(given: Slice, shape: pa.Schema) -> tuple[pa.Table, Numbers]:
    """The JSON objects of a slice as columns, each name of which is one of a shape; what is absent is null. The numbers
    of the lines. Raises Irregular.
    """
    tidy = tidied(given)
    if not len(tidy.numbers):
        return shape.empty_table(), tidy.numbers
    if any(_has_fractions(field.type) for field in shape) and (
        (occurs(b"NaN", tidy.lines) or occurs(b"Inf", tidy.lines)) and _NOT_JSON.search(tidy.lines)
    ):
        raise Irregular
    table = arrow_json.read_json(
        arrow.BufferReader(tidy.lines),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(tidy.lines) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=shape, unexpected_field_behavior="error"),
    )
    if len(table) != len(tidy.numbers):
        raise Irregular
    return table.combine_chunks(), tidy.numbers


def _has_fractions(kind: pa.DataType) -> bool:
    """Whether a part of a type is a number with fractions: no other takes the bare words NaN and Inf."""
    return arrow.types.is_floating(kind) or any(
        _has_fractions(kind.field(place).type) for place in range(kind.num_fields)
    )


def matched(given: Slice, pattern: str) -> tuple[dict[str, Column], Numbers]:
    """The groups of a pattern that every line of a slice matches as a whole; one that takes no part is empty. The
    numbers of the lines. Raises Irregular.
    """
    text = given.lines.decode().removesuffix("\n")
    lines = pc.split_pattern(arrow.array([text], arrow.large_string()), "\n").flatten()
    if "\r" in text:
        lines = pc.replace_substring_regex(lines, r"\r$", "")
    groups = pc.extract_regex(lines, rf"(?s)\A(?:{pattern})\z")
    if groups.null_count:
        raise Irregular
    names = [field.name for field in groups.type]
    found = dict(zip(names, groups.flatten(), strict=True))
    return found, np.arange(given.first_line, given.first_line + len(lines))


def numbers_of(digits: Column) -> Column:
    """Whole numbers that texts have in decimal; an empty text is none. Raises what Arrow raises for any other text."""
    return pc.cast(where(is_text(digits), digits), arrow.int64())


def certain(*masks: Column) -> None:
    """Raise Irregular unless every mask is true everywhere."""
    for mask in masks:
        if pc.all(mask, skip_nulls=False, min_count=0).as_py() is not True:
            raise Irregular


def is_text(column: Column) -> Column:
    """Where a text is that is not empty."""
    return pc.fill_null(pc.greater(pc.binary_length(column), 0), False)


def is_whole(column: Column) -> Column:
    """Where a whole number from 0 is."""
    return pc.fill_null(pc.greater_equal(column, 0), False)


def joined(*parts: Column | str) -> Column:
    """Texts and numbers one after the other, row by row."""
    texts = [part if isinstance(part, str) else pc.cast(part, arrow.string()) for part in parts]
    return pc.binary_join_element_wise(*texts, "")


def seconds(milliseconds: Column) -> Column:
    """Milliseconds from 0 as `rows.seconds` has them."""
    whole = pc.divide(milliseconds, 1000)
    part = pc.subtract(milliseconds, pc.multiply(whole, 1000))
    return joined(whole, ".", pc.utf8_lpad(pc.cast(part, arrow.string()), 3, "0"), "000000")


def where(mask: Column, column: Column) -> Column:
    """The values of a column, or one value, where a mask is true."""
    return pc.if_else(mask, column, arrow.scalar(None, column.type))
