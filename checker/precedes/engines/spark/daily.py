"""Judge a table that grows day by day: only executions that are new, or have more rows than when they were judged.

There are three tables, to which a run only appends, each row with the number of the run:

- NAME, verdicts: those of the last run are valid (`latest`).
- NAME_seen: how many rows an execution had in each partition when it was judged, and its home, which is the partition
  under which its verdicts are kept.
- NAME_days: how many rows each partition had, and the counts of its executions. It is written last: a run that was
  interrupted left no row there, so the next run does its work again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, functions, types
from pyspark.sql.pandas.types import from_arrow_schema

from precedes.core.diagnostics import usage
from precedes.core.suggestions import did_you_mean
from precedes.core.verdict import Verdict
from precedes.engines.scan.verdict_rows import VERDICT_SCHEMA
from precedes.engines.spark import frames
from precedes.engines.spark.daily_run import DailyRun, DayCount
from precedes.logic.plan import Plan
from precedes.traces import TraceOptions
from precedes.traces.problems import some_columns

_RUN: Final = types.StructField("run", types.LongType())
_DAY: Final = "_precedes_day"
"""The column of days while a run goes on; in the tables it has the user's name."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the tables of a daily run are: a table of the catalog in the format `using` or, with a `/`, a folder of
    Parquet files. `by` is the column of days of the events, and of the tables.
    """

    name: str
    by: str
    using: str

    @property
    def verdicts(self) -> Grown:
        """The table of verdicts."""
        return self._grown("", from_arrow_schema(VERDICT_SCHEMA).fields)

    @property
    def seen(self) -> Grown:
        """The table of what was judged."""
        fields = [
            types.StructField("execution", types.StringType()),
            types.StructField("events", types.LongType()),
        ]
        return self._grown("_seen", [*fields, types.StructField("home", types.StringType())])

    @property
    def days(self) -> Grown:
        """The table of counts."""
        names = ("rows", *(verdict.value for verdict in Verdict))
        counts = [types.StructField(name, types.LongType()) for name in names]
        return self._grown("_days", [types.StructField("predicate", types.StringType()), *counts])

    def _grown(self, suffix: str, fields: Iterable[types.StructField]) -> Grown:
        day = types.StructField(self.by, types.StringType())
        return Grown(
            self.name.rstrip("/") + suffix, types.StructType([*fields, _RUN, day]), self.by, self.using
        )


@dataclass(frozen=True, slots=True)
class Grown:
    """A table to which rows are appended, divided by day. The column of days is its last one."""

    name: str
    schema: types.StructType
    by: str
    using: str

    @property
    def _is_folder(self) -> bool:
        return "/" in self.name

    def read(self, like: DataFrame) -> DataFrame:
        """The rows, in the session of a DataFrame; none if there is no such table yet. The days are in `_DAY`."""
        spark = like.sparkSession
        found = spark.createDataFrame([], self.schema)
        if not self._is_folder:
            if spark.catalog.tableExists(self.name):
                found = spark.table(self.name)
        else:
            try:
                written = spark.read.schema(self.schema).parquet(self.name)
                # A session of Spark Connect looks for the folder only when it is asked for the schema.
                _ = written.schema
                found = written
            except AnalysisException as error:
                if error.getCondition() != "PATH_NOT_FOUND":
                    raise
        return found.withColumnRenamed(self.by, _DAY)

    def append(self, rows: DataFrame) -> None:
        """Append rows with the columns of the table, the days in `_DAY`."""
        ordered = rows.withColumnRenamed(_DAY, self.by).select(*self.schema.fieldNames())
        if self._is_folder:
            ordered.write.mode("append").partitionBy(self.by).parquet(self.name)
            return
        spark = rows.sparkSession
        if not spark.catalog.tableExists(self.name):
            empty = spark.createDataFrame([], self.schema)
            empty.write.format(self.using).partitionBy(self.by).saveAsTable(self.name)
        ordered.write.insertInto(self.name)


@dataclass(frozen=True, slots=True)
class _Work:
    """What a run has to do. `changed` are the executions to judge, with their rows in each of the `days`; `homes` the
    day of each, and `at_home` how many there are by day; `spread` are the days in which they have rows, and
    `whole` says that all rows of these are theirs; `most` is how many rows these days have.

    Both tables depend on what was seen, so they are not to be used once that is written.
    """

    days: Mapping[str, int]
    changed: DataFrame
    homes: DataFrame
    at_home: Mapping[str, int]
    spread: frozenset[str]
    whole: bool
    most: int


def judge_new(
    events: DataFrame, plan: Plan, options: TraceOptions, into: Destination, again: Collection[str] = ()
) -> DailyRun:
    """Judge the executions that have new rows, and those of the days to judge `again`, and append to the tables.

    PrecedesError for columns that cannot be read, and for rows that cannot.
    """
    started = time.time()
    run = int(started * 1e6)
    rows = _with_days(events, into.by)
    held = _rows_of_days(rows, into.by)
    new = _new_days(rows, held, into, again)
    if not new:
        return DailyRun(run, 0, (), time.time() - started)
    work = _work(rows, held, new, into, again)
    try:
        _append_verdicts(rows, plan, options, into, work, run)
    finally:
        work.changed.unpersist()
        work.homes.unpersist()
    counts = _counts(rows, plan, into, work)
    values = [(c.predicate, c.rows, c.holds, c.violated, c.unknown, run, c.day) for c in counts]
    into.days.append(events.sparkSession.createDataFrame(values, into.days.schema))
    return DailyRun(run, sum(work.at_home.values()), tuple(counts), time.time() - started)


def latest(table: DataFrame) -> DataFrame:
    """The valid rows of a table of verdicts: of each execution and predicate those of its last run."""
    return _last(table, "execution", "predicate")


def _last(table: DataFrame, *keys: str) -> DataFrame:
    """The row with the last run for each value of some columns."""
    row = functions.max_by(functions.struct(*table.columns), "run").alias("last")
    return table.groupBy(*keys).agg(row).select("last.*")


def _with_days(events: DataFrame, by: str) -> DataFrame:
    if by not in events.columns:
        hint = did_you_mean(by, events.columns) or f"it has {some_columns(events.columns)}"
        raise usage(f"the DataFrame has no column {by} to divide it by", hint)
    return events.withColumn(_DAY, functions.col(by).cast("string"))


def _rows_of_days(rows: DataFrame, by: str) -> dict[str, int]:
    """How many rows each day has."""
    now = {row[_DAY]: row["count"] for row in rows.groupBy(_DAY).count().collect()}
    if None in now:
        raise usage(f"{now[None]} rows have no {by}", "say which day they belong to, or leave them out")
    return now


def _new_days(
    rows: DataFrame, now: Mapping[str, int], into: Destination, again: Collection[str]
) -> dict[str, int]:
    """The rows of each day that has more or fewer than at its last run, or is judged again."""
    if unknown := set(again) - set(now):
        raise usage(
            f"there are no rows of {', '.join(sorted(unknown))} to judge again",
            f"see the values of {into.by}",
        )
    told = _last(into.days.read(rows), _DAY).select(_DAY, "rows").collect()
    before = {row[_DAY]: row["rows"] for row in told}
    return {day: count for day, count in now.items() if before.get(day) != count or day in again}


def _work(
    rows: DataFrame,
    held: Mapping[str, int],
    new: Mapping[str, int],
    into: Destination,
    again: Collection[str],
) -> _Work:
    named = rows.withColumn("execution", functions.col("execution").cast("string"))
    now = named.where(functions.col(_DAY).isin(*new)).groupBy("execution", _DAY)
    count = now.agg(functions.count("*").alias("events"))
    seen = into.seen.read(rows)
    here = _last(seen.where(functions.col(_DAY).isin(*new)), "execution", _DAY)
    before = here.select("execution", _DAY, functions.col("events").alias("before"))
    compared = count.join(before, ["execution", _DAY], "left").withColumn(
        "new",
        functions.col("before").isNull()
        | (functions.col("before") != functions.col("events"))
        | functions.col(_DAY).isin(*again),
    )
    changed = compared.where("new").select("execution", _DAY, "events").persist()
    of_changed = seen.join(changed.select("execution").distinct(), "execution", "left_semi")
    known = of_changed.groupBy("execution").agg(
        functions.max_by("home", "run").alias("known"), functions.collect_set(_DAY).alias("days")
    )
    homes = (
        changed.groupBy("execution")
        .agg(functions.min(_DAY).alias("first"))
        .join(known, "execution", "left")
        .select("execution", functions.coalesce("known", "first").alias("home"), "days")
        .persist()
    )
    at_home = {row["home"]: row["count"] for row in homes.groupBy("home").count().collect()}
    others = homes.select(functions.explode("days").alias("day")).distinct().collect()
    spread = frozenset(new) | {row["day"] for row in others}
    whole = spread == frozenset(new) and compared.where("not new").isEmpty()
    most = sum(held.get(day, 0) for day in spread)
    return _Work(dict(new), changed, homes, at_home, spread, whole, most)


def _append_verdicts(
    rows: DataFrame, plan: Plan, options: TraceOptions, into: Destination, work: _Work, run: int
) -> None:
    """Judge and append what a run has to."""
    theirs = rows.where(functions.col(_DAY).isin(*work.spread))
    if not work.whole:
        # Ids may be numbers in the table.
        ids = work.homes.select(functions.col("execution").alias("_precedes_id"))
        same = functions.col("execution").cast("string") == functions.col("_precedes_id")
        theirs = theirs.join(ids, same, "left_semi")
    numbered = functions.lit(run).cast("long").alias("run")
    at_home = work.homes.select("execution", functions.col("home").alias(_DAY))
    judged = frames.verdicts(theirs, plan, options, all_verdicts=True, rows=work.most)
    verdicts = judged.join(at_home, "execution")
    with frames.mistakes_of_reading():
        into.verdicts.append(verdicts.withColumn("run", numbered))
    homes = work.homes.select("execution", "home")
    into.seen.append(work.changed.join(homes, "execution").withColumn("run", numbered))


def _counts(rows: DataFrame, plan: Plan, into: Destination, work: _Work) -> list[DayCount]:
    """The counts of all days that have new rows or verdicts."""
    days = sorted({*work.at_home, *work.days})
    told = into.verdicts.read(rows).where(functions.col(_DAY).isin(*days))
    valid = latest(told.select("execution", "predicate", "verdict", "run", _DAY))
    found = {
        (row[_DAY], row["predicate"], row["verdict"]): row["count"]
        for row in valid.groupBy(_DAY, "predicate", "verdict").count().collect()
    }
    before = _last(into.days.read(rows).where(functions.col(_DAY).isin(*work.at_home)), _DAY)
    had = {row[_DAY]: row["rows"] for row in before.collect()} | dict(work.days)
    return [
        DayCount(
            day, name, had.get(day, 0), *(found.get((day, name, verdict.value), 0) for verdict in Verdict)
        )
        for day in days
        for name in plan.names
    ]
