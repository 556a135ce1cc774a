"""Reading Parquet: the known columns only, a million rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.formula import Attribute, AttributeSort
from precedes.core.supervision import reading
from precedes.traces.arrow import Column, arrow, arrow_parquet, pc
from precedes.traces.formats.canonical_columns import Irregular, canonical, nanoseconds, text_of
from precedes.traces.formats.column_types import accepted, lookable, refusal
from precedes.traces.formats.inexact_values import (
    exact_column,
    exact_value,
    may_be_rounded,
    rounded,
    whole_columns,
    widened,
)
from precedes.traces.formats.parquet_file import UNREADABLE, damaged, opened
from precedes.traces.formats.single_rows import canonical_rows, name_unknown
from precedes.traces.formats.values import RowError, id_text, shown
from precedes.traces.formats.written_rows import COLUMNS, Values
from precedes.traces.layout.columnar_file import ColumnarFile, Layout, layout_of, tell_version
from precedes.traces.notices import Notices
from precedes.traces.partition.names_to_come import NamedRows, Unnamed
from precedes.traces.problems import some_columns, unreadable
from precedes.traces.schema import (
    CODED_IDS,
    ID_LIST_COLUMNS,
    NEEDED_COLUMNS,
    REDELIVERED,
    REQUIRED_COLUMNS,
    TABLE_SCHEMA,
    column_of,
)
from precedes.traces.sources import TraceSource

ROWS_AT_ONCE: Final = 1 << 20


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file; raises PrecedesError."""
    yield from read_groups(source, notices, None)


def read_groups(source: TraceSource, notices: Notices, groups: range | None) -> Iterator[pa.Table]:
    """Canonical tables of some row groups of a file, or of all; raises PrecedesError."""
    layout = layout_of(source)
    if layout is not None:
        yield from _laid_out(layout, notices, groups)
        return
    with opened(source) as file:
        tell_version(source, file.metadata, notices)
        names = file.schema_arrow.names
        refuse_twice(source, names)
        times = Counter(names)
        known = [name for name in names if source.reads(name) and times[name] == 1]
        name_unknown(source.unknown(names), notices)
        _require(source, names)
        numbers = range(file.num_row_groups) if groups is None else groups
        counts = [file.metadata.row_group(k).num_rows for k in range(numbers.stop)]
        first, last = 1 + sum(counts[: numbers.start]), sum(counts)
        batches = _coded(source, file).iter_batches(ROWS_AT_ONCE, row_groups=list(numbers), columns=known)
        while True:
            with reading(source.shown, first):
                try:
                    batch = next(batches)
                except StopIteration:
                    break
                except UNREADABLE as error:
                    raise damaged(source) from error
                rows = arrow.Table.from_batches([batch])
                tables = [canonical_arrow(source, rows, first, notices)] if len(batch) else []
            yield from tables
            first += len(batch)
        if first != last + 1:
            raise damaged(source)


def _coded(source: TraceSource, file: Any) -> Any:
    """The file, of which texts that the source may have as dictionaries are read so, as they are written."""
    texts = [name for name in (*CODED_IDS, "event") if source.coded and name in file.schema_arrow.names]
    texts = [name for name in texts if file.schema_arrow.field(name).type == arrow.string()]
    return opened(source, metadata=file.metadata, read_dictionary=texts) if texts else file


def row_groups(source: TraceSource) -> tuple[int, ...]:
    """The rows of each row group of a file; raises PrecedesError."""
    with opened(source) as file:
        metadata = file.metadata
        return tuple(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))


def named_rows(source: TraceSource) -> Iterator[NamedRows]:
    """The rows of a file, part after part, with the names of their executions, of which nothing else is read.

    Raises PrecedesError for a file that cannot be read, and Unnamed where the names in the file may not be those in
    canonical tables, or are none.
    """
    with opened(source, read_dictionary=["execution"]) as file:
        if "execution" not in file.schema_arrow.names or "execution" in dict(source.partition):
            raise Unnamed
        try:
            with reading(source.shown):
                for batch in file.iter_batches(ROWS_AT_ONCE, columns=["execution"]):
                    yield NamedRows(len(batch), _distinct(batch["execution"]))
        except UNREADABLE as error:
            raise damaged(source, error) from error


def _distinct(names: Column) -> Column:
    """The texts of a column, each once; raises Unnamed where a value is none, or an empty one."""
    if names.null_count:
        raise Unnamed
    if arrow.types.is_dictionary(names.type):
        # All names of a row group may be in the dictionary of some of its rows.
        occurring = np.zeros(len(names.dictionary), np.bool_)
        occurring[names.indices.to_numpy()] = True
        found = names.dictionary.filter(arrow.array(occurring))
    else:
        found = names.unique()
    if (
        found.type not in (arrow.string(), arrow.large_string())
        or not pc.min(pc.binary_length(found)).as_py()
    ):
        raise Unnamed
    return found


def _laid_out(layout: Layout, notices: Notices, groups: range | None) -> Iterator[pa.Table]:
    """As any other file, by its ordinary columns."""
    if groups is None or groups.start == 0:
        notices.merge(layout.told)
        layout.tell_kept(notices)
    with closing(ColumnarFile(layout)) as file:
        for number in range(len(layout.groups)) if groups is None else groups:
            yield file.canonical(number, file.rows(number), notices)


def canonical_arrow(source: TraceSource, table: pa.Table, first_row: int, notices: Notices) -> pa.Table:
    """The canonical table of Arrow rows of any accepted types, whose columns have the input's names.

    Raises PrecedesError.
    """
    name_unknown(source.unknown(table.column_names), notices)
    _require(source, table.column_names)
    table = _known(source, table, first_row, notices)
    numbers = np.arange(first_row, first_row + len(table))
    found = Notices()
    try:
        result = canonical(table, source, numbers, found)
    except Irregular as irregular:
        if irregular.rows is not None and not any(_lacks(table, name) for name in NEEDED_COLUMNS):
            chosen = _taken(table, irregular.rows)
            these = [int(numbers[k]) for k in irregular.rows]
            _look_at(source, chosen, these, Notices(), every=len(these) == len(table))
        return _look_at(source, table, numbers.tolist(), notices)
    notices.merge(found.all())
    return result


def _lacks(table: pa.Table, name: str) -> bool:
    """Whether no row may have a value in a column, which is told of all rows. Arrow counts no nulls of run ends, and
    none that stand in a dictionary.
    """
    if name not in table.column_names:
        return True
    column: Any = table[name]
    if arrow.types.is_dictionary(column.type) and any(chunk.dictionary.null_count for chunk in column.chunks):
        return True
    return bool(arrow.types.is_run_end_encoded(column.type)) or column.null_count == len(table)


def _look_at(
    source: TraceSource, table: pa.Table, numbers: list[int], notices: Notices, *, every: bool = True
) -> pa.Table:
    times = _timestamps(source, table, numbers)
    table = table.drop_columns([name for name in table.column_names if name in times])
    maps = "clock" in table.column_names and arrow.types.is_map(table.schema.field("clock").type)
    written = zip(numbers, _raw(table), strict=True)
    values = partial(_values, maps=maps, whole_names=whole_columns(source.attributes))
    rows = canonical_rows(written, values, source, notices, every=every, names=table.column_names)
    columns = {each.name: column_of(each) for each in source.attributes}
    for name, instants in times.items():
        place = rows.schema.get_field_index(columns.get(name, name))
        rows = rows.set_column(place, rows.schema.field(place), instants)
    return rows


def _timestamps(source: TraceSource, table: pa.Table, numbers: list[int]) -> dict[str, Column]:
    """The columns of timestamps, which Python has no values for, in nanoseconds; raises PrecedesError."""
    names = ["time", *(each.name for each in source.attributes if each.sort is AttributeSort.TIME)]
    times: dict[str, Column] = {}
    for name in names:
        if name in table.column_names and arrow.types.is_timestamp(table.schema.field(name).type):
            try:
                times[name] = nanoseconds(table[name])
            except Irregular as error:
                row = None if error.rows is None else numbers[int(error.rows[0])]
                raise unreadable(
                    "T015", f"`{name}` is outside the years 1677 to 2262", source.shown, row=row
                ) from error
    return times


def _raw(table: pa.Table) -> Iterator[dict[str, object]]:
    for batch in table.to_batches(max_chunksize=1 << 14):
        yield from batch.to_pylist()


def _values(raw: dict[str, object], maps: bool, whole_names: frozenset[str]) -> dict[str, object]:
    """A row's values without nulls; `maps`: its clock is a map, which comes as a list of pairs."""
    clock = raw.get("clock")
    if maps and isinstance(clock, list):
        names = [id_text(name, "an entity in `clock`") for name, _ in clock]
        raw = raw | {"clock": {name: count for name, (_, count) in zip(names, clock, strict=True)}}
        if name := next((name for k, name in enumerate(names) if name in names[:k]), None):
            raise RowError(
                "T008", f"the name {shown(name)} occurs twice in `clock`", "an entity has one component"
            )
    exact = {name: exact_value(name, value, whole_names) for name, value in raw.items() if value is not None}
    return {name: value for name, value in exact.items() if value is not None}


def _taken(table: pa.Table, rows: npt.NDArray[np.int64]) -> pa.Table:
    """Some rows; Arrow does not take from every type that it has."""
    try:
        return table.take(arrow.array(rows))
    except arrow.ArrowNotImplementedError:
        return pa.concat_tables([table.slice(row, 1) for row in rows.tolist()])


def _known(source: TraceSource, table: pa.Table, first_row: int, notices: Notices) -> pa.Table:
    """The known columns, of types whose values can be looked at one by one; raises PrecedesError."""
    refuse_twice(source, table.column_names)
    whole_names = whole_columns(source.attributes)
    times = Counter(table.column_names)
    columns: dict[str, Column] = {}
    for name in times:
        if not source.reads(name) or times[name] > 1:
            continue
        column = _decoded(table[name])
        if name in source.columns and not (
            accepted(name, column.type, source.attributes) or lookable(column.type)
        ):
            if column.null_count == len(column):
                continue
            row = first_row + pc.index(column.is_valid(), True).as_py()
            error = refusal(name, column.type, source.attributes)
            raise unreadable(error.code, error.message, source.shown, error.hint, row)
        if name not in source.columns:
            text = text_of(widened(column))
            if text is None:
                name_unknown([name], notices)
                continue
            column = text
        try:
            column.validate(full=True)
        except arrow.ArrowInvalid as error:
            row = first_row + _first_invalid(column)
            hint = "write text as UTF-8"
            raise unreadable("T006", f"`{name}` is not UTF-8", source.shown, hint, row) from error
        if name in (*whole_names, *ID_LIST_COLUMNS) and (found := rounded(column)) is not None:
            place, value = found
            inexact = may_be_rounded(name, value)
            raise unreadable(inexact.code, inexact.message, source.shown, inexact.hint, first_row + place)
        columns[name] = exact_column(name, widened(column), whole_names)
    return pa.table(columns) if columns else table.select([])


def _decoded(column: Column) -> Column:
    """The column without run ends, with which Arrow mostly cannot compute; as it is, where it cannot do even that."""
    while arrow.types.is_run_end_encoded(column.type):
        try:
            chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        except arrow.ArrowNotImplementedError:
            return column
        column = arrow.chunked_array(chunks, column.type.value_type)
    return column


def _first_invalid(column: Column) -> int:
    """The place of the first value of a column that is not valid."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            column.slice(low, middle - low).validate(full=True)
        except arrow.ArrowInvalid:
            high = middle
        else:
            low = middle
    return low


def refuse_twice(source: TraceSource, names: Sequence[str]) -> None:
    """Raise PrecedesError (T008) for a known column that stands twice."""
    times = Counter(names)
    for name in sorted(source.columns):
        if times[name] > 1:
            raise unreadable(
                "T008", f"the column `{name}` occurs twice", source.shown, "remove or rename one of the two"
            )


def _require(source: TraceSource, names: list[str]) -> None:
    stated = {name for name, _ in source.partition}
    missing = [name for name in REQUIRED_COLUMNS if name not in names and name not in stated]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        raise unreadable(
            "T010", f"there is no column {listed}", source.shown, f"it has {some_columns(names) or 'none'}"
        )


ROWS_PER_GROUP: Final = 1 << 20
_WRITTEN_TYPES: Final = {"event": arrow.string(), "time": arrow.timestamp("ns", "UTC")}
_WRITTEN_SCHEMA: Final = arrow.schema(
    [(name, _WRITTEN_TYPES.get(name, TABLE_SCHEMA.field(name).type)) for name in COLUMNS]
)


def write(
    rows: Iterable[Values],
    path: str,
    compression: str | None,  # noqa: ARG001 - Parquet has its own
    attributes: Sequence[Attribute] = (),
) -> int:
    """Write rows to a file; how many there were."""
    kinds = {each.name: _written_type(each) for each in attributes}
    schema = arrow.schema([*_WRITTEN_SCHEMA, *(arrow.field(*each) for each in kinds.items())])
    count = 0
    rest = iter(rows)
    with arrow_parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(rest, ROWS_PER_GROUP)):
            writer.write_table(arrow.Table.from_pylist(some, schema), row_group_size=len(some))
            count += len(some)
    return count


def _written_type(attribute: Attribute) -> pa.DataType:
    truths = attribute.name == REDELIVERED
    kind: pa.DataType = arrow.bool_() if truths else _KINDS.get(attribute.sort, arrow.string())
    return kind


_KINDS: Final[Mapping[AttributeSort, pa.DataType]] = {AttributeSort.NUMBER: arrow.int64()}
