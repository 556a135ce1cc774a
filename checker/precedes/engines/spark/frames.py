"""`precedes.spark.verify`: a DataFrame of events in, a DataFrame of verdicts out, in the user's own session."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import Column, DataFrame, functions, types
from pyspark.sql.pandas.types import from_arrow_schema

from precedes.core.columns import Batch
from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.formula import Attribute
from precedes.core.suggestions import did_you_mean
from precedes.engines.scan.partials import Partial, merge
from precedes.engines.scan.verdict_rows import VERDICT_SCHEMA, VIOLATION_SCHEMA
from precedes.engines.spark.failures import mistakes, short
from precedes.engines.spark.messages import unite
from precedes.engines.spark.read_rows import BESIDE, schema_of_rows
from precedes.engines.spark.silence import silenced
from precedes.engines.spark.tasks import ANSWER_SCHEMA, Judging, answer_rows, judge_rows
from precedes.logic.plan import Plan
from precedes.traces import Notices, TraceOptions
from precedes.traces.formats.column_types import accepted, refusal
from precedes.traces.problems import some_columns
from precedes.traces.schema import INPUT_COLUMNS, LIBRARY, WHERE_READ

Answer = TypeVar("Answer")

_SHOWN = "DataFrame"
_TYPES: tuple[tuple[type[types.DataType], Any], ...] = (
    (types.StringType, pa.string()),
    (types.IntegralType, pa.int64()),
    (types.FractionalType, pa.float64()),
    (types.BooleanType, pa.bool_()),
    (types.TimestampType, pa.timestamp("us", "UTC")),
    (types.TimestampNTZType, pa.timestamp("us")),
    (types.NullType, pa.null()),
)
"""How values come to the workers. Timestamps have a zone there, the session's: they are instants all the same."""

ROWS_PER_TASK = 100_000
"""Rows for which a task pays, about."""

MOST_ROWS = 500_000
"""Rows of a task, about, where it is known how many there are: a worker has them in memory."""

REQUIRED_COLUMNS = ("execution", "entity", "seq", "event", "message")
_BESIDE = {
    field.name: field.dataType for field in from_arrow_schema(schema_of_rows(())) if field.name in BESIDE
}


def verdicts(
    events: DataFrame, plan: Plan, options: TraceOptions, *, all_verdicts: bool, rows: int | None = None
) -> DataFrame:
    """A lazy DataFrame in `VERDICT_SCHEMA`. One shuffle, by execution. `rows` is how many there are at most, if known.

    PrecedesError for columns that are missing, stand twice, or are of a type that none of their values can have. Rows
    that cannot be read fail the job with their message.
    """
    judging = _judging(events, plan, options, 0, "all" if all_verdicts else "failing")
    return _judged(events, judging, violations=False, rows=rows)


def violations(events: DataFrame, plan: Plan, options: TraceOptions) -> DataFrame:
    """A lazy DataFrame in `VIOLATION_SCHEMA`, likewise."""
    return _judged(events, _judging(events, plan, options), violations=True)


def judged(events: DataFrame, plan: Plan, options: TraceOptions, notices: Notices, limit: int) -> Partial:
    """One report for all executions, as for files; `limit` violations are kept. PrecedesError as for files, too."""
    judging = _judging(events, plan, options, limit)
    return merge(answers(events, judging.together, judging.options, notices), plan, limit)


def answers(
    events: DataFrame,
    work: Callable[[Iterable[Batch]], Answer],
    options: TraceOptions,
    notices: Notices,
) -> list[Answer]:
    """What `work` says of the executions, the tasks in any order. PrecedesError as for files."""
    task = answer_rows(work, options)
    found = by_execution(events, options.attributes).mapInArrow(task, from_arrow_schema(ANSWER_SCHEMA))
    with mistakes_of_reading():
        rows = found.collect()
    # What is unpickled was pickled by our own workers in this very job.
    said = [pickle.loads(row.answer) for row in rows]  # noqa: S301
    unite((one if isinstance(one, PrecedesError) else one[1] for one in said), notices)
    return [answer for answer, _ in said]


def _judging(
    events: DataFrame, plan: Plan, options: TraceOptions, limit: int = 0, rows: str | None = None
) -> Judging:
    asked = replace(options, attributes=plan.attributes, parted=plan.parted)
    return Judging(plan, replace(asked, origins=options.origins and _read(events)), limit, rows)


@contextmanager
def mistakes_of_reading() -> Iterator[None]:
    """What a worker raises that reads the files of a DataFrame is raised as it raised it."""
    try:
        yield
    except PySparkException as error:
        if told := mistakes(str(error)):
            raise PrecedesError(told) from error
        raise


def _read(events: DataFrame) -> bool:
    """Whether rows say where they were read, as those of the data source do: that is their order."""
    return set(WHERE_READ) <= set(_beside(events))


def _beside(events: DataFrame) -> list[str]:
    """The columns that only rows have that were read from files."""
    kinds = {field.name: field.dataType for field in events.schema.fields}
    return [name for name, kind in _BESIDE.items() if kinds.get(name) == kind]


def _judged(events: DataFrame, judging: Judging, *, violations: bool, rows: int | None = None) -> DataFrame:
    schema = VIOLATION_SCHEMA if violations else VERDICT_SCHEMA
    work = judge_rows(judging, violations=violations)
    together = by_execution(events, judging.plan.attributes, rows)
    return together.mapInArrow(work, from_arrow_schema(schema))


def by_execution(events: DataFrame, attributes: Sequence[Attribute], rows: int | None = None) -> DataFrame:
    """The columns of a trace, all rows of each execution together. PrecedesError for columns that cannot be read."""
    # The rows are shuffled as they are, by Spark alone, and cross to Python once.
    known = known_columns(events, attributes)
    if rows is None or rows < 2 * ROWS_PER_TASK:
        return known.repartition("execution")
    # Spark itself makes as many tasks as there are cores, however large these are.
    wanted = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    return known.repartition(max(rows // MOST_ROWS + 1, min(wanted, rows // ROWS_PER_TASK)), "execution")


def known_columns(events: DataFrame, attributes: Sequence[Attribute]) -> DataFrame:
    """The columns of a trace. PrecedesError for columns that cannot be read."""
    beside = _beside(events) if _read(events) else []
    missing = [column for column in REQUIRED_COLUMNS if column not in events.columns]
    if beside and "seq" in missing:
        missing.remove("seq")
    if missing:
        hint = (
            "rows of a DataFrame have no order: seq gives each event its place in its entity's history"
            if "seq" in missing
            else "if it has another name in the DataFrame: columns={...}"
        )
        raise usage(f"the DataFrame has no column {', '.join(missing)}", hint)
    read = frozenset((*INPUT_COLUMNS, *(each.name for each in attributes)))
    _refuse(events, read, attributes)
    return events.select(*(column for column in events.columns if column in read or column in beside))


def renamed(
    events: DataFrame, columns: Mapping[str, Column | str], attributes: Sequence[Attribute]
) -> DataFrame:
    """The DataFrame with columns of a trace that are expressions of its own. PrecedesError for names that no column of
    a trace has, and for expressions that do not fit the DataFrame.
    """
    known = (*INPUT_COLUMNS, *sorted(LIBRARY), *(each.name for each in attributes))
    told, made = [], {}
    for name, given in columns.items():
        if name not in known:
            hint = did_you_mean(name, known) or f"columns are {', '.join(INPUT_COLUMNS)}, and attributes"
            said = f"`{name}` in columns is no column of a trace, and no attribute that is asked for"
            told.append(Diagnostic("U001", said, hint=hint))
            continue
        try:
            made[name] = functions.expr(given) if isinstance(given, str) else given
            with silenced():
                # A session of Spark Connect looks at an expression only when it is asked for the schema.
                _ = events.select(made[name]).schema
        except (AnalysisException, ParseException) as error:
            told.append(_unfit(name, error, events))
    if told:
        raise PrecedesError(tuple(told))
    # Spark Connect refuses to add no column.
    return events.withColumns(made) if made else events


def _unfit(name: str, error: PySparkException, events: DataFrame) -> Diagnostic:
    """What is wrong with the expression of a column."""
    absent = (error.getMessageParameters() or {}).get("objectName", "").replace("`", "")
    if absent and str(error.getCondition()).startswith("UNRESOLVED_COLUMN"):
        hint = did_you_mean(absent, events.columns) or f"it has {some_columns(events.columns)}"
        return Diagnostic(
            "U001", f"`{name}` reads the column {absent}, which the DataFrame does not have", hint=hint
        )
    return Diagnostic("U001", f"`{name}` is no expression of Spark SQL: {short(str(error))}")


def _refuse(events: DataFrame, read: frozenset[str], attributes: Sequence[Attribute]) -> None:
    """Raise PrecedesError for all columns that are read and cannot be, while the plan is made."""
    told = [
        Diagnostic("T008", f"the column `{name}` occurs twice", _SHOWN, hint="drop or rename one of the two")
        for name in sorted(read)
        if events.columns.count(name) > 1
    ]
    for field in events.schema.fields:
        if field.name in read:
            kind = _arrow_type(field.dataType)
            if kind is None or not accepted(field.name, kind, attributes):
                error = refusal(field.name, kind or pa.null(), attributes, field.dataType.simpleString())
                told.append(Diagnostic(error.code, error.message, _SHOWN, hint=error.hint))
    if told:
        raise PrecedesError(tuple(told))


def _arrow_type(kind: types.DataType) -> pa.DataType | None:
    """The type in which values come to the workers; None for one that no column of a trace has."""
    match kind:
        case types.ArrayType():
            inner = _arrow_type(kind.elementType)
            return None if inner is None else pa.list_(inner)
        case types.MapType():
            key, value = _arrow_type(kind.keyType), _arrow_type(kind.valueType)
            return None if key is None or value is None else pa.map_(key, value)
        case types.StructType():
            fields = [(field.name, inner) for field in kind.fields if (inner := _arrow_type(field.dataType))]
            return pa.struct(fields) if len(fields) == len(kind.fields) else None
        case types.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case _:
            return next((made for known, made in _TYPES if isinstance(kind, known)), None)
