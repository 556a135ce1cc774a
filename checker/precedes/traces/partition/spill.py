"""The rows of a trace in parts of whole executions, in bounded memory.

Where it is known which executions have rows to come, the others are given away. Else rows are held in memory up to a
budget. Beyond it, they are sorted by execution, one run at a time, and written to temporary files. Each part then reads
a range of names from all of these files: an external sort that reads every row twice. Memory is bounded by the budget,
or by the largest execution if that is larger.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import Bool, Names
from precedes.traces.arrow import Column, arrow
from precedes.traces.assembly.encoding import Codes, encode
from precedes.traces.partition.names_to_come import NamesToCome
from precedes.traces.problems import unreadable
from precedes.traces.schema import CODED, common_schema, plain

ROWS_IN_MEMORY: Final = 4_000_000
"""The budget: canonical rows take about 150 bytes each, and as much again while they are assembled."""

EVENTS_PER_PART: Final = 1_000_000

_ROWS_AT_ONCE: Final = 1 << 15
"""Rows in a block of a temporary file, which is read as a whole."""


def whole_executions(
    tables: Iterable[pa.Table],
    events: int = EVENTS_PER_PART,
    budget: int = ROWS_IN_MEMORY,
    to_come: NamesToCome | None = None,
) -> Generator[pa.Table]:
    """The rows of canonical tables in parts of about `events`, each with all rows of its executions.

    Unless it is known which names are `to_come`, no part is yielded before all tables are read, and parts are in the
    order of names. Within an execution rows are in the order in which they came. Temporary files, which need the room
    of the rows, are gone at the end. Raises PrecedesError (T003) where a name comes that was not to come.
    """
    held: list[pa.Table] = []
    stretches: list[_Stretch] = []
    rows = read = since = 0
    folder = ""

    def joined() -> _Encoded:
        found = _encoded(_joined(held))
        if to_come is not None and to_come.whole(found.names, since).any():
            file = found.table["file"][0].as_py()
            raise unreadable("T003", "the file was replaced while it was read", file)
        return found

    with ExitStack() as stack:
        for table in tables:
            held.append(table)
            rows += len(table)
            read += len(table)
            if to_come is not None and not stretches and rows >= events:
                found = joined()
                *whole, rest = _cut(found, events, to_come.whole(found.names, read))
                yield from whole
                held, rows, since = [rest], len(rest), read
            if rows > budget:
                folder = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="precedes-"))
                stretches.append(_written(joined(), Path(folder, str(len(stretches)))))
                held, rows = [], 0
        if not stretches:
            if rows:
                yield from cut(_joined(held), events) if to_come is None else _cut(joined(), events)
            return
        if rows:
            stretches.append(_written(joined(), Path(folder, str(len(stretches)))))
        held.clear()
        yield from _merged(stretches, events)


def _merged(stretches: Sequence[_Stretch], events: int) -> Iterator[pa.Table]:
    """The rows of temporary files in parts of about `events`, all of which have the same columns."""
    schema = common_schema(stretch.schema for stretch in stretches)
    for low, high in pairwise([None, *_bounds(stretches, events), None]):
        parts = [part for stretch in stretches for part in stretch.between(low, high, schema)]
        if parts:
            yield from cut(arrow.concat_tables(parts), 2 * events)


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of canonical tables, which may have different columns of attributes, and dictionaries or none."""
    kinds = {tuple(table.schema.field(name).type for name in CODED) for table in tables}
    if len(kinds) > 1:
        tables = [plain(table) for table in tables]
    joined: pa.Table = arrow.concat_tables(tables, promote_options="default")
    return joined


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A canonical table that is not empty, the names of its executions in order, and which of them a row has."""

    table: pa.Table
    names: Names
    codes: Codes


def _encoded(table: pa.Table) -> _Encoded:
    names, (codes,) = encode(table["execution"])
    return _Encoded(table, names, codes)


def cut(table: pa.Table, events: int) -> Iterator[pa.Table]:
    """The rows of a canonical table in parts of about `events` rows, each with whole executions only."""
    if len(table) <= events:
        if len(table):
            yield table
        return
    yield from _cut(_encoded(table), events)


def _cut(rows: _Encoded, events: int, whole: Bool | None = None) -> list[pa.Table]:
    """`cut`; where only some executions are `whole`, the rows of the others, if there are any, are one more part."""
    counts = np.bincount(rows.codes, minlength=len(rows.names))
    ends = np.cumsum(counts if whole is None else np.where(whole, counts, 0))
    # An execution belongs to the part in which its last row comes to lie. Parts are of one size, and not a rest.
    size = max(1, -(-int(ends[-1]) // max(1, round(ends[-1] / events))))
    parts = (ends - 1) // size
    count = int(parts[-1]) + 1
    if whole is not None:
        parts[~whole] = count
    part = parts[rows.codes]
    stops = np.cumsum(np.bincount(part, minlength=count + (whole is not None))).tolist()
    table = rows.table
    if not (part[1:] >= part[:-1]).all():
        table = table.take(arrow.array(np.argsort(part, kind="stable")))
    found = [table.slice(start, stop - start) for start, stop in pairwise([0, *stops])]
    return [one for place, one in enumerate(found) if len(one) or place == count]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A temporary file, its rows in the order of executions: where every block begins, and its first and last name.
    Each block is a stream of Arrow with dictionaries of its own, so that they need no memory beyond it.
    """

    path: Path
    schema: pa.Schema
    starts: list[int] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)

    def between(self, low: str | None, high: str | None, schema: pa.Schema) -> Iterator[pa.Table]:
        """The rows of executions from `low` on and before `high`, with the columns of a schema."""
        start = 0 if low is None else bisect_left(self.last, low)
        stop = len(self.first) if high is None else bisect_left(self.first, high)
        if start >= stop:
            return
        with arrow.OSFile(str(self.path)) as file:
            for place in self.starts[start:stop]:
                file.seek(place)
                with arrow.ipc.open_stream(file) as stream:
                    block = stream.read_all()
                names = block["execution"].chunk(0)
                here = 0 if low is None else _place(names, low)
                end = len(names) if high is None else _place(names, high)
                if here < end:
                    yield _whole(block.slice(here, end - here), schema)


def _whole(block: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows of a block with those columns, too, that have no value there."""
    there = set(block.column_names)
    arrays = [
        block[f.name].cast(f.type) if f.name in there else arrow.nulls(len(block), f.type) for f in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _place(names: Column, name: str) -> int:
    """Where the names begin that are not before a name, of names in their order."""
    return bisect_left(range(len(names)), name, key=lambda k: names[k].as_py())


def _written(rows: _Encoded, path: Path) -> _Stretch:
    """Sort rows by execution, as they came within one, and write them; columns without a value are left out."""
    table, codes = rows.table, rows.codes
    kept = table.select([f.name for f in table.schema if table[f.name].null_count < len(table)])
    # Each column has one dictionary then.
    kept = kept.combine_chunks()
    if not (codes[1:] >= codes[:-1]).all():
        kept = kept.take(arrow.array(np.argsort(codes, kind="stable")))
    stretch = _Stretch(path, table.schema)
    options = arrow.ipc.IpcWriteOptions(compression="lz4")
    with arrow.OSFile(str(path), "wb") as file:
        for start in range(0, len(kept), _ROWS_AT_ONCE):
            block = _with_names_of_its_own(kept.slice(start, _ROWS_AT_ONCE).combine_chunks())
            stretch.starts.append(file.tell())
            with arrow.ipc.new_stream(file, block.schema, options=options) as stream:
                stream.write_table(block)
            stretch.first.append(block["execution"][0].as_py())
            stretch.last.append(block["execution"][len(block) - 1].as_py())
    return stretch


def _with_names_of_its_own(block: pa.Table) -> pa.Table:
    """The rows with dictionaries that have no other names than theirs."""
    for place, kind in enumerate(block.schema):
        if arrow.types.is_dictionary(kind.type):
            column: Column = block.column(place).chunk(0)
            coded = column.indices.dictionary_encode()
            names = column.dictionary.take(coded.dictionary)
            block = block.set_column(place, kind, arrow.DictionaryArray.from_arrays(coded.indices, names))
    return block


def _bounds(stretches: Sequence[_Stretch], events: int) -> list[str]:
    """The names at which parts begin: quantiles of the names at which blocks begin."""
    starts = sorted(name for stretch in stretches for name in stretch.first)
    step = max(1, events // _ROWS_AT_ONCE)
    return sorted(set(starts[step::step]))
