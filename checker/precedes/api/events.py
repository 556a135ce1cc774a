"""What `verify` and `infer` accept as a trace: paths, tables of any Arrow producer, rows as dictionaries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from precedes.core.diagnostics import usage
from precedes.core.formula import Attribute
from precedes.traces import Notices
from precedes.traces.arrow import arrow
from precedes.traces.foreign.recognition import RECOGNIZED, LogReading
from precedes.traces.formats.canonical_columns import Irregular, nanoseconds
from precedes.traces.formats.inexact_values import exact_value, whole_columns
from precedes.traces.formats.parquet import canonical_arrow
from precedes.traces.formats.registry import JSON_LINES, PARQUET
from precedes.traces.formats.single_rows import canonical_rows
from precedes.traces.sources import TraceSource

if TYPE_CHECKING:
    import pyarrow as pa

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""Files, globs and directories; `-` is standard input."""

Events: TypeAlias = Paths | Iterable[Mapping[str, object]] | Any
"""Paths; an object with `__arrow_c_stream__` (an Arrow table or reader, a pandas or polars frame, a DuckDB relation); a
Spark DataFrame; or rows as dictionaries.
"""

_REFUSED: Final = (arrow.ArrowException, OverflowError, TypeError, ValueError)
"""What Arrow and pandas raise for values that are in none of Arrow's types."""

_MOMENTS: Final = frozenset({np.datetime64, np.timedelta64})
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_DIGITS: Final = 76
"""Of the largest decimal of Arrow."""

ROWS_AT_ONCE: Final = 1 << 16
"""Rows of dictionaries that are made canonical together."""


def paths_in(events: Events) -> tuple[str, ...] | None:
    """The paths, if the events are named by paths; else None."""
    if isinstance(events, str | os.PathLike):
        return (os.fspath(events),)
    if isinstance(events, Sequence) and events and all(isinstance(one, str | os.PathLike) for one in events):
        return tuple(os.fspath(one) for one in events)
    return None


def refuse_log(log: LogReading) -> None:
    """Raise PrecedesError (U001) if rows that are in memory are said to be a log of another system."""
    if log != RECOGNIZED:
        raise usage(
            "rows in memory are no log of another system", "name the files of the log, or leave out log="
        )


def is_spark_frame(events: Events) -> bool:
    """Whether the events are a DataFrame of Spark. Does not import Spark."""
    return any(base.__module__.startswith("pyspark.sql") for base in type(events).__mro__)


def tables_of(
    events: Events, notices: Notices, attributes: tuple[Attribute, ...] = (), *, every: bool = False
) -> Iterator[pa.Table]:
    """The events as canonical tables, with some attributes, or with `every` other column as text. PrecedesError for
    what is no trace, and for bad rows.
    """
    if hasattr(events, "__arrow_c_stream__"):
        first = 1
        source = TraceSource("<table>", PARQUET, attributes=attributes, every=every)
        batches = _batches(events)
        if batches is None:
            rows = TraceSource("<rows>", JSON_LINES, attributes=attributes, every=every)
            yield from _of_rows(_rows_of_frame(events), rows, notices)
            return
        for batch in batches:
            yield canonical_arrow(source, arrow.Table.from_batches([batch]), first, notices)
            first += len(batch)
        return
    if isinstance(events, Mapping | bytes) or not isinstance(events, Iterable):
        raise usage(
            f"a {type(events).__name__} is no trace",
            "give paths, an Arrow table, a pandas or polars frame, a DuckDB relation, a Spark DataFrame, or rows as"
            " dictionaries",
        )
    source = TraceSource("<rows>", JSON_LINES, attributes=attributes, every=every)
    yield from _of_rows(iter(events), source, notices)


def _batches(events: Any) -> Any:
    """What Arrow makes of the events; None where it makes nothing of a frame of pandas. PrecedesError for any other."""
    frame = _is_pandas(events) and hasattr(events, "columns")
    if frame and not all(_safe(column) for _, column in events.items()):
        return None
    try:
        return arrow.RecordBatchReader.from_stream(events)
    except _REFUSED as error:
        if not frame:
            raise usage(f"Arrow cannot read this {type(events).__name__}: {error}") from error
        return None


def _safe(column: Any) -> bool:
    """Whether Arrow may look at a column of a frame: numpy's `NaT` beside numpy's numbers ends the process, and of a
    decimal beside a date Arrow writes out all digits, which takes hours for 1E+4000000.
    """
    if column.dtype != object:
        return True
    kinds = set(map(type, column))
    return _MOMENTS.isdisjoint(kinds) and (kinds <= _SCALARS or not any(map(_is_huge, column)))


def _is_huge(value: object) -> bool:
    """Whether a value is a decimal with more digits than one of Arrow has, or has one in it."""
    open_values = [value]
    while open_values:
        match open_values.pop():
            case Decimal() as number:
                if number.is_finite() and abs(number.adjusted()) > _DIGITS:
                    return True
            case list() | tuple() as inner:
                open_values += inner
            case dict() as inner:
                open_values += inner.values()
            case np.ndarray() as inner if inner.dtype == object:
                open_values += inner.tolist()
            case _:
                continue
    return False


def _of_rows(events: Iterator[object], source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    number = 0
    values = partial(_without_nulls, whole_names=whole_columns(source.attributes))
    held: list[tuple[int, Mapping[str, object]]] = []
    for row in events:
        number += 1
        if not isinstance(row, Mapping):
            raise usage(
                f"row {number} is a {type(row).__name__}", "a row is a dictionary from column to value"
            )
        held.append((number, row))
        if len(held) == ROWS_AT_ONCE:
            yield canonical_rows(held, values, source, notices)
            held.clear()
    if held or not number:
        yield canonical_rows(held, values, source, notices)


def _without_nulls(row: Mapping[str, object], whole_names: frozenset[str]) -> dict[str, object]:
    exact = {name: exact_value(name, value, whole_names) for name, value in row.items()}
    return {name: value for name, value in exact.items() if value is not None}


def _is_pandas(events: Events) -> bool:
    return type(events).__module__.partition(".")[0] == "pandas"


def _rows_of_frame(frame: Any) -> Iterator[Mapping[str, object]]:
    """The rows of a pandas frame with a column of several types, which Arrow does not take as a whole."""
    columns = {str(name): list(frame[name]) for name in frame.columns}
    if "time" in columns and _safe(frame["time"]):
        with suppress(Irregular, *_REFUSED):
            times = nanoseconds(arrow.chunked_array([arrow.array(frame["time"], from_pandas=True)]))
            columns["time"] = [
                None if time is None else Decimal(time).scaleb(-9) for time in times.to_pylist()
            ]
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))
