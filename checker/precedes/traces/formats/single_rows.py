"""Rows that the fast readers leave, one by one: each becomes canonical or a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from precedes.core.formula import Attribute, AttributeSort
from precedes.traces import notices as notice
from precedes.traces.formats.canonical_columns import table_of
from precedes.traces.formats.values import (
    Row,
    RowError,
    as_text,
    attribute_value,
    canonical_row,
    characters,
    from_cells,
    shown,
)
from precedes.traces.notices import Notices
from precedes.traces.problems import Problems
from precedes.traces.schema import INPUT_COLUMNS
from precedes.traces.sources import TraceSource

Written = TypeVar("Written")


def canonical_rows(
    written: Iterable[tuple[int, Written]],
    values: Callable[[Written], dict[str, object]],
    source: TraceSource,
    notices: Notices,
    *,
    every: bool = True,
    names: Iterable[str] = (),
) -> pa.Table:
    """The canonical table of numbered rows; `values` gives the values of one as written, or raises RowError.

    `every`: these are all the rows there are, so that a column that none of them has is missing; `names` are columns
    that there are, even if no row has a value of them. Raises PrecedesError
    with the first bad rows of the source, if there are any.
    """
    found, problems = Notices(), Problems(source.shown)
    rows: list[tuple[int, Row]] = []
    columns = set(names)
    for number, row in written:
        try:
            raw = values(row)
            columns.update(raw)
            row_found = canonical_row(_with_partition(raw, source), found, source.attributes)
            rows.append(
                (number, replace(row_found, attributes=_kept(raw, found)) if source.every else row_found)
            )
        except RowError as error:
            problems.add(number, error)
            if problems.full:
                break
    problems.check(() if rows or not every else columns | {name for name, _ in source.partition})
    name_unknown(source.unknown(columns), found)
    notices.merge(found.all())
    return table_of(rows, source)


def _kept(raw: Mapping[str, object], notices: Notices) -> dict[str, str | None]:
    """The other columns of a row, as text. Raises RowError."""
    kept = {
        characters(name, "the name of a column"): as_text(value)
        for name, value in raw.items()
        if name not in INPUT_COLUMNS and value is not None
    }
    for name, text in kept.items():
        characters(text or "", f"`{name}`")
    name_unknown((name for name, text in kept.items() if text is None), notices)
    return kept


def name_unknown(columns: Iterable[str], notices: Notices) -> None:
    """Tell which columns are not read."""
    for name in columns:
        notices.once(notice.UNKNOWN_COLUMN, notice.unknown_column(name))


def _with_partition(raw: dict[str, object], source: TraceSource) -> dict[str, object]:
    """A row together with what the path of its file states; raises RowError (T018) where they disagree."""
    stated = from_cells(dict(source.partition))
    written = {name: value for name, value in raw.items() if value is not None}
    both = {**stated, **written}
    for name in stated.keys() & written.keys():
        if not _agree(both, name, stated[name], source):
            raise RowError(
                "T018",
                f"`{name}` is {shown(written[name])}, and the path says {shown(stated[name])}",
                "one of the two is wrong",
            )
    return both | stated


def _agree(row: Mapping[str, object], name: str, stated: object, source: TraceSource) -> bool:
    """Whether a row means the same with what its path states of a column. Raises RowError for what it cannot mean."""
    if name in source.columns:
        with_own, with_stated = (
            canonical_row(each, Notices(), source.attributes) for each in (row, {**row, name: stated})
        )
        return with_own == with_stated
    # It is not known yet what the column means: a number is the same however it is written.
    number = Attribute(name, AttributeSort.DURATION)
    if not isinstance(row[name], str):
        with suppress(RowError):
            return attribute_value(row[name], number) == attribute_value(stated, number)
    return as_text(row[name]) == stated
