"""The rows of a trace in parts of whole executions, in the order of their names, in bounded memory.

Rows are held in memory up to a budget. Beyond it, they are sorted by execution, one run at a time, and
written to temporary files. Each part then reads a range of names from all of these files: an external sort
that reads every row twice. Memory is bounded by the budget, or by the largest execution if that is larger.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.traces.arrow import arrow
from precedes.traces.assembly.encoding import encode
from precedes.traces.schema import CODED, common_schema, plain

ROWS_IN_MEMORY: Final = 4_000_000
"""The budget: canonical rows take about 150 bytes each, and as much again while they are assembled."""

EVENTS_PER_PART: Final = 1_000_000

_ROWS_AT_ONCE: Final = 1 << 15
"""Rows in a block of a temporary file, which is read as a whole."""


def whole_executions(
    tables: Iterable[pa.Table], events: int = EVENTS_PER_PART, budget: int = ROWS_IN_MEMORY
) -> Iterator[pa.Table]:
    """The rows of canonical tables in parts of about `events`, each with all rows of its executions.

    No part is yielded before all tables are read. Parts are in the order of names; within an execution rows
    are in the order in which they came. Temporary files, which need the room of the rows, are gone at the end.
    """
    held: list[pa.Table] = []
    rows = 0
    with tempfile.TemporaryDirectory(prefix="precedes-") as folder:
        stretches: list[_Stretch] = []
        for table in tables:
            held.append(table)
            rows += len(table)
            if rows > budget:
                stretches.append(_written(_joined(held), Path(folder, str(len(stretches)))))
                held, rows = [], 0
        if not stretches:
            if rows:
                yield from cut(_joined(held), events)
            return
        if rows:
            stretches.append(_written(_joined(held), Path(folder, str(len(stretches)))))
        held.clear()
        bounds = _bounds(stretches, events)
        schema = common_schema(stretch.schema for stretch in stretches)
        for low, high in pairwise([None, *bounds, None]):
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


def cut(table: pa.Table, events: int) -> Iterator[pa.Table]:
    """The rows of a canonical table in parts of about `events` rows, each with whole executions only."""
    if len(table) <= events:
        if len(table):
            yield table
        return
    names, (codes,) = encode(table["execution"])
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    # An execution belongs to the part in which its last row comes to lie.
    part = ((ends - 1) // events)[codes]
    if (part[1:] >= part[:-1]).all():
        bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(table)]
        for start, stop in pairwise(bounds):
            yield table.slice(start, stop - start)
        return
    order = np.argsort(part, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(part[order])) + 1).tolist(), len(table)]
    for start, stop in pairwise(bounds):
        yield table.take(arrow.array(order[start:stop]))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A temporary file, its rows in the order of executions: the first and the last name of every block, the
    files that rows were read from, their schema, and the columns that have a value.
    """

    path: Path
    first: list[str]
    last: list[str]
    files: pa.Array[Any]
    schema: pa.Schema
    columns: list[str] = field(default_factory=list)

    def between(self, low: str | None, high: str | None, schema: pa.Schema) -> Iterator[pa.Table]:
        """The rows of executions from `low` on and before `high`."""
        start = 0 if low is None else bisect_left(self.last, low)
        stop = len(self.first) if high is None else bisect_left(self.first, high)
        if start >= stop:
            return
        with arrow.OSFile(str(self.path)) as raw, arrow.ipc.open_file(raw) as file:
            for number in range(start, stop):
                block = arrow.Table.from_batches([file.get_batch(number)])
                names = block["execution"].chunk(0)
                here = (
                    0 if low is None else bisect_left(range(len(names)), low, key=lambda k: names[k].as_py())
                )
                end = (
                    len(names)
                    if high is None
                    else bisect_left(range(len(names)), high, key=lambda k: names[k].as_py())
                )
                if here < end:
                    yield self._whole(block.slice(here, end - here), schema)

    def _whole(self, block: pa.Table, schema: pa.Schema) -> pa.Table:
        arrays = [
            block[f.name]
            if f.name in self.columns
            else self.files.take(block["file_number"])
            if f.name == "file"
            else arrow.nulls(len(block), f.type)
            for f in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)


def _written(table: pa.Table, path: Path) -> _Stretch:
    """Sort rows by execution, as they came within one, and write them; columns without a value are left out."""
    table = plain(table)
    _, (codes,) = encode(table["execution"])
    if not (codes[1:] >= codes[:-1]).all():
        table = table.take(arrow.array(np.argsort(codes, kind="stable")))
    files = table["file"].combine_chunks().dictionary_encode()
    columns = [f.name for f in table.schema if f.name != "file" and table[f.name].null_count < len(table)]
    kept = table.select(columns).append_column("file_number", files.indices).combine_chunks()
    first: list[str] = []
    last: list[str] = []
    options = arrow.ipc.IpcWriteOptions(compression="lz4")
    with arrow.OSFile(str(path), "wb") as raw, arrow.ipc.new_file(raw, kept.schema, options=options) as file:
        for block in kept.to_batches(max_chunksize=_ROWS_AT_ONCE):
            file.write_batch(block)
            first.append(block["execution"][0].as_py())
            last.append(block["execution"][len(block) - 1].as_py())
    return _Stretch(path, first, last, files.dictionary, table.schema, columns)


def _bounds(stretches: list[_Stretch], events: int) -> list[str]:
    """The names at which parts begin: quantiles of the names at which blocks begin."""
    starts = sorted(name for stretch in stretches for name in stretch.first)
    step = max(1, events // _ROWS_AT_ONCE)
    return sorted(set(starts[step::step]))
