"""Canonical rows in a shuffle: by execution, thousands in one compressed block.

A shuffle moves whole blocks and never reads a row. The share of an execution follows from its name alone, in
every process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.traces.arrow import Column, arrow
from precedes.traces.schema import TABLE_SCHEMA, beside, with_columns

_BASE: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xFF51AFD7ED558CCD)
_OPTIONS: Final = arrow.ipc.IpcWriteOptions(compression="lz4")


def shares(table: pa.Table, count: int) -> Iterator[tuple[int, bytes]]:
    """The rows of a canonical table as blocks, each for one of `count` shares; an execution has one share."""
    if not len(table):
        return
    coded = table["execution"].combine_chunks().dictionary_encode()
    share = (hashes(coded.dictionary) % np.uint64(count)).astype(np.int64)[coded.indices.to_numpy()]
    order = np.argsort(share, kind="stable")
    held = [f.name for f in TABLE_SCHEMA if table[f.name].null_count < len(table)]
    present = held + [f.name for f in beside(table.schema)]
    kept = table.select(present)
    place = kept.schema.get_field_index("file")
    kept = kept.set_column(place, "file", kept["file"].dictionary_encode()).take(arrow.array(order))
    ends = np.cumsum(np.bincount(share, minlength=count))
    for number, (start, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
        if start < end:
            sink = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(sink, kept.schema, options=_OPTIONS) as writer:
                writer.write_table(kept.slice(start, end - start))
            yield number, sink.getvalue().to_pybytes()


def rows_of(blocks: Iterable[bytes]) -> pa.Table:
    """The rows of blocks as one canonical table."""
    tables = []
    for block in blocks:
        table = arrow.ipc.open_stream(block).read_all()
        schema = with_columns(beside(table.schema))
        arrays = [
            table[f.name].cast(f.type) if f.name in table.column_names else arrow.nulls(len(table), f.type)
            for f in schema
        ]
        tables.append(pa.Table.from_arrays(arrays, schema=schema))
    joined: pa.Table = arrow.concat_tables(tables)
    return joined


def hashes(names: Column) -> npt.NDArray[np.uint64]:
    """A number for every name of an array of texts, none of which is empty: a polynomial over its bytes, mixed."""
    _, offsets_buffer, data = names.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32)[names.offset :][: len(names) + 1].astype(np.int64)
    text = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]].astype(np.uint64)
    offsets -= offsets[0]
    lengths = np.diff(offsets)
    place = np.arange(len(text)) - np.repeat(offsets[:-1], lengths)
    powers = np.cumprod(np.full(int(lengths.max(initial=1)), _BASE, np.uint64))
    found: npt.NDArray[np.uint64] = np.add.reduceat((text + np.uint64(1)) * powers[place], offsets[:-1])
    for _ in range(2):
        found ^= found >> np.uint64(33)
        found *= _MIX
    return found ^ (found >> np.uint64(33))
