"""Reading Parquet: the known columns only, a million rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.traces.arrow import arrow, arrow_parquet
from precedes.traces.conversion import Irregular, canonical, nanoseconds
from precedes.traces.layout import LaidOut, Layout, layout_of
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.rows import canonical_rows, name_unknown
from precedes.traces.schema import INPUT_COLUMNS, REQUIRED_COLUMNS, TABLE_SCHEMA
from precedes.traces.sources import TraceSource
from precedes.traces.streams import reason

ROWS_AT_ONCE: Final = 1 << 20


def read_parquet(source: TraceSource, notices: Notices, groups: range | None = None) -> Iterator[pa.Table]:
    """Canonical tables of a file, or of some of its row groups; raises PrecedesError."""
    layout = layout_of(source)
    if layout is not None:
        yield from _laid_out(layout, notices, groups)
        return
    with _opened(source) as file:
        names = file.schema_arrow.names
        known = [name for name in INPUT_COLUMNS if name in names]
        name_unknown([name for name in names if name not in INPUT_COLUMNS], notices)
        _require(source, names)
        numbers = range(file.num_row_groups) if groups is None else groups
        first = 1 + sum(file.metadata.row_group(k).num_rows for k in range(numbers.start))
        batches = file.iter_batches(ROWS_AT_ONCE, row_groups=list(numbers), columns=known)
        while True:
            try:
                batch = next(batches)
            except StopIteration:
                return
            except (arrow.ArrowException, OSError) as error:
                raise _damaged(source) from error
            if len(batch):
                yield canonical_arrow(source, arrow.Table.from_batches([batch]), first, notices)
            first += len(batch)


def row_groups(source: TraceSource) -> tuple[int, ...]:
    """The rows of each row group of a file; raises PrecedesError."""
    with _opened(source) as file:
        metadata = file.metadata
        return tuple(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))


def _opened(source: TraceSource) -> Any:
    try:
        return arrow_parquet.ParquetFile(source.path)
    except (arrow.ArrowInvalid, OSError) as error:
        if isinstance(error, arrow.ArrowInvalid):
            raise _damaged(source) from error
        raise unreadable("T003", f"cannot be read: {reason(error)}", source.shown) from error


def _laid_out(layout: Layout, notices: Notices, groups: range | None) -> Iterator[pa.Table]:
    """As any other file, by its ordinary columns."""
    if groups is None or groups.start == 0:
        notices.merge(layout.told)
    with closing(LaidOut(layout)) as file:
        for number in range(len(layout.groups)) if groups is None else groups:
            yield file.canonical(number, file.rows(number), notices)


def canonical_arrow(source: TraceSource, table: pa.Table, first_row: int, notices: Notices) -> pa.Table:
    """The canonical table of Arrow rows of any accepted types, whose columns have the input's names.

    Raises PrecedesError.
    """
    unknown = [name for name in table.column_names if name not in INPUT_COLUMNS]
    name_unknown(unknown, notices)
    _require(source, table.column_names)
    table = table.drop_columns(unknown)
    numbers = np.arange(first_row, first_row + len(table))
    found = Notices()
    try:
        result = canonical(table, source, numbers, found)
    except Irregular as irregular:
        if irregular.rows is not None:
            _look_at(source, table.take(irregular.rows), [int(numbers[k]) for k in irregular.rows], Notices())
        return _look_at(source, table, numbers.tolist(), notices)
    notices.merge(found.all())
    return result


def _look_at(source: TraceSource, table: pa.Table, numbers: list[int], notices: Notices) -> pa.Table:
    times = None
    if "time" in table.column_names and arrow.types.is_timestamp(table.schema.field("time").type):
        try:
            times = nanoseconds(table["time"])
        except Irregular as error:
            row = None if error.rows is None else numbers[int(error.rows[0])]
            raise unreadable(
                "T015", "`time` is outside of the years 1677 to 2262", source.shown, row=row
            ) from error
        table = table.drop_columns(["time"])
    rows = canonical_rows(zip(numbers, _raw(table), strict=True), lambda raw: raw, source, notices)
    place = TABLE_SCHEMA.get_field_index("time")
    return rows if times is None else rows.set_column(place, TABLE_SCHEMA.field(place), times)


def _raw(table: pa.Table) -> Iterator[dict[str, object]]:
    for batch in table.to_batches(max_chunksize=1 << 14):
        for raw in batch.to_pylist():
            clock = raw.get("clock")
            if isinstance(clock, list) and clock and all(isinstance(item, tuple) for item in clock):
                # A map; as in a struct, a component that is null is absent.
                raw["clock"] = dict(clock)
            yield {name: value for name, value in raw.items() if value is not None}


def _require(source: TraceSource, names: list[str]) -> None:
    stated = {name for name, _ in source.partition}
    missing = [name for name in REQUIRED_COLUMNS if name not in names and name not in stated]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        raise unreadable(
            "T010", f"there is no column {listed}", source.shown, f"it has {', '.join(names) or 'none'}"
        )


def _damaged(source: TraceSource) -> Exception:
    return unreadable(
        "T005",
        "this is no Parquet file, or a damaged one",
        source.shown,
        "a file that was cut off has lost its end",
    )
