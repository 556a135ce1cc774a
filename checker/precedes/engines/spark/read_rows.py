"""Rows of a trace in a DataFrame that were read from files: which columns they have, and the way there and back.

Beside the columns of a trace they say where they were read, which is their order where they have no `seq`. The last row
of what a worker reads has the notices of reading, which so come along wherever the rows go. `vector` is a clock that is
a list, because a column of Spark has one type. This module imports no pyspark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.formula import Attribute
from precedes.traces import Notice, Notices, canonical
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.schema import (
    ATTRIBUTE,
    BY_TIME,
    EVENT_NAMES,
    INPUT_COLUMNS,
    TABLE_SCHEMA,
    WHERE_READ,
)

NOTICES: Final = "notices"
BESIDE: Final = (*WHERE_READ, BY_TIME, "vector", NOTICES)
"""The columns that only rows have that were read from files."""

_PART: Final = "a partition of the DataFrame"
_SECONDS: Final = arrow.decimal128(19, 9)
"""Times in seconds, exact to the nanosecond, which no timestamp of Spark is."""
_NOTICE: Final = arrow.struct([("code", arrow.string()), ("text", arrow.string()), ("count", arrow.int64())])
_TYPES: Final[dict[str, Any]] = {
    **{field.name: field.type for field in TABLE_SCHEMA},
    "event": arrow.string(),
    "time": _SECONDS,
    NOTICES: arrow.list_(_NOTICE),
}


def schema_of_rows(attributes: Sequence[str]) -> pa.Schema:
    """The columns of rows with these attributes, which are texts until somebody asks for them."""
    texts = dict.fromkeys(attributes, arrow.string())
    kinds = {name: _TYPES[name] for name in INPUT_COLUMNS} | texts | {name: _TYPES[name] for name in BESIDE}
    return pa.schema(list(kinds.items()))


def rows_of(table: pa.Table, attributes: Sequence[str], notices: Iterable[Notice] = ()) -> pa.Table:
    """The rows of a canonical table, of which the last one has the notices."""
    columns: dict[str, Column] = {name: table[name] for name in TABLE_SCHEMA.names}
    columns["event"] = arrow.array(EVENT_NAMES).take(table["event"].combine_chunks())
    columns["time"] = _seconds(table["time"].combine_chunks())
    for name in attributes:
        kept = f"{ATTRIBUTE}{name}"
        columns[name] = table[kept] if kept in table.column_names else arrow.nulls(len(table), arrow.string())
    told = [{"code": each.code, "text": each.text, "count": each.count} for each in notices]
    kind = _TYPES[NOTICES]
    last = arrow.array([told or None], kind)
    columns[NOTICES] = arrow.concat_arrays([arrow.nulls(len(table) - 1, kind), last])
    schema = schema_of_rows(attributes)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _seconds(time: Column) -> Column:
    """Nanoseconds as seconds: the same number with its point elsewhere."""
    words = np.empty((len(time), 2), np.int64)
    words[:, 0] = time.fill_null(0).to_numpy()
    words[:, 1] = words[:, 0] >> 63
    numbers = arrow.Array.from_buffers(_SECONDS, len(time), [None, arrow.py_buffer(words)])
    return pc.if_else(time.is_valid(), numbers, arrow.scalar(None, _SECONDS))


def canonical_table(
    rows: pa.Table, first_row: int, attributes: tuple[Attribute, ...], notices: Notices
) -> pa.Table:
    """Some rows of a DataFrame as a canonical table. Raises PrecedesError with the places where they were read, if they
    say that; else `first_row` is the number of the first.
    """
    if not set(WHERE_READ) <= set(rows.column_names):
        _refuse_unplaced(rows, first_row)
        return canonical(rows, _PART, notices, first_row, attributes)
    beside: list[str] = [name for name in BESIDE if name in rows.column_names]
    try:
        table = canonical(rows.drop_columns(beside), _PART, notices, first_row, attributes)
    except PrecedesError as error:
        raise PrecedesError(tuple(_placed(each, rows, first_row) for each in error.diagnostics)) from error
    for name in beside:
        if name == NOTICES:
            notices.merge(_told(rows[name]))
        else:
            place = table.schema.get_field_index(name)
            field = table.schema.field(place)
            table = table.set_column(place, field, rows[name].cast(field.type))
    return table


def _refuse_unplaced(rows: pa.Table, first_row: int) -> None:
    """Raise PrecedesError (T011) for a row that has no place in the history of its entity."""
    missing = pc.index(rows["seq"].is_null(), True).as_py()
    if missing >= 0:
        hint = "rows of a DataFrame have no order; of rows that were read from files, keep file, row and file_order"
        said = Diagnostic("T011", "`seq` is missing", _PART, hint=hint, row=first_row + missing)
        raise PrecedesError((said,))


def refuse_two_loads(table: pa.Table) -> None:
    """Raise PrecedesError (U001) for executions whose files were read by two calls: each numbers its files from 0."""
    if len(pc.unique(table["file"])) == 1:
        return
    table = table.filter(table["seq"].is_null())
    places = table.group_by(["execution", "file_order"]).aggregate(
        [("file", "count_distinct"), ("file", "min_max")]
    )
    for row in places.filter(pc.greater(places["file_count_distinct"], 1)).slice(0, 1).to_pylist():
        files = row["file_min_max"]
        said = f"execution {row['execution']} has rows of {files['min']} and {files['max']}, which two loads read"
        raise usage(said, "nobody knows which come first: load both by one call, or give every row a seq")


def _placed(said: Diagnostic, rows: pa.Table, first_row: int) -> Diagnostic:
    """A mistake at the place where its row was read."""
    if said.row is None:
        return said
    at = said.row - first_row
    return replace(said, path=rows["file"][at].as_py(), row=rows["row"][at].as_py())


def _told(column: Column) -> Iterable[Notice]:
    for each in column.drop_null().to_pylist():
        for one in each:
            yield Notice(one["code"], one["text"], one["count"])
