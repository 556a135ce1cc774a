"""Verify events that live in tables: `precedes.spark.verify(df, require="ST")`, in your own Spark session. After
`precedes.spark.register(spark)` the session reads traces and logs of other systems: `spark.read.format("precedes")`.

The workers of the cluster need this package, numpy, pyarrow and numba; neither lark nor z3, which only the
driver uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from precedes.engines.spark.daily_run import DailyRun
    from precedes.jobs.verify import Question


def register(spark: SparkSession) -> None:
    """Let a session read traces and logs of other systems: `spark.read.format("precedes").load("logs")`.

    Workers read in parallel: a file each, or some row groups of a Parquet file. The rows are those of a trace, with the
    columns `file`, `row` and `file_order`, which give their order if they have no `seq`. Options:

    - `from`: the format of a log of another system, such as `"kcat"`. Without it, such a log is recognized.
    - `mapping`: how a log of your own is read: a file of TOML that the driver sees, or the text of one.
    - `set.NAME`: a setting of the format.
    - `attributes`: what messages carry, as text, separated by commas. Without it, the attributes of the library and of
      the mapping.
    """
    from precedes.engines.spark.data_source import TraceDataSource

    spark.dataSource.register(TraceDataSource)


def verify(
    events: DataFrame,
    require: str | Sequence[str],
    *,
    columns: Mapping[str, Column | str] | None = None,
    specs: Sequence[str] = (),
    delta: str | None = None,
    epsilon: str | None = None,
    incomplete: bool = False,
    delivery: str = "deliver",
    cluster: Sequence[str] = (),
    groups: Mapping[str, Sequence[str]] | str | None = None,
    order: str | None = None,
    strict: bool = False,
    all_verdicts: bool = True,
    all_violations: bool = False,
) -> DataFrame:
    """Judge the executions in a DataFrame of events.

    `events` has the columns of a trace (execution, entity, seq, event, message; dest, sender, time, clock
    where known); `seq` is required, for rows of a DataFrame have no order, unless they were read with
    `format("precedes")`. `columns` gives columns that have another name in the DataFrame, or none: expressions of
    Spark SQL, or `Column`s, such as `{"message": "order_id", "event": "'deliver'"}`. `require` names predicates or
    services, or gives formulas; the other options are those of `precedes verify`. Returns a lazy DataFrame
    with one row per execution and predicate: execution, predicate, verdict ("holds", "violated", "unknown"),
    count, witness (JSON) and reasons; with `all_verdicts=False` only of what does not hold. `count` is how often it is
    violated with `all_violations=True`, else null where it is (see `violations`). Raises PrecedesError for a name or
    formula that is wrong; rows that cannot be read fail the job.
    """
    from precedes.engines.spark import frames

    question = _question(
        require,
        specs,
        cluster,
        delta=delta,
        epsilon=epsilon,
        incomplete=incomplete,
        delivery=delivery,
        groups=groups,
        order=order,
        strict=strict,
        all_violations=all_violations,
    )
    plan = question.plan(everywhere=True)
    events = frames.renamed(events, columns or {}, plan.attributes)
    return frames.verdicts(events, plan, question.options(), all_verdicts=all_verdicts)


def daily(
    events: DataFrame,
    require: str | Sequence[str],
    *,
    into: str,
    by: str,
    using: str = "parquet",
    again: Sequence[str] = (),
    metrics: str | None = None,
    columns: Mapping[str, Column | str] | None = None,
    specs: Sequence[str] = (),
    delta: str | None = None,
    epsilon: str | None = None,
    incomplete: bool = False,
    delivery: str = "deliver",
    cluster: Sequence[str] = (),
    groups: Mapping[str, Sequence[str]] | str | None = None,
    order: str | None = None,
    strict: bool = False,
) -> DailyRun:
    """Judge what is new in a table of events, and append the verdicts to a table.

    `events` is divided by the column `by`, such as the day. An execution is judged if it is new, or has more or fewer
    rows than when it was judged, on all of its rows. `into` names a table of the catalog, which is made in the format
    `using` (`"delta"` and `"iceberg"` where the session has them), or a folder of Parquet files if it has a `/`. Beside
    it there are the tables `..._seen` and `..._days`, the counts by day. Nothing is overwritten: `latest` gives the
    verdicts that are valid. `again` names days of which all is judged again, `metrics` a file for Prometheus; the other
    options are those of `verify`. Returns what was judged, with an exit code for a scheduler. One run at a time. Raises
    PrecedesError for what is wrong, and for rows that cannot be read.
    """
    from precedes.engines.spark import frames
    from precedes.engines.spark.daily import Destination, judge_new
    from precedes.engines.spark.daily_run import write_metrics

    question = _question(
        require,
        specs,
        cluster,
        delta=delta,
        epsilon=epsilon,
        incomplete=incomplete,
        delivery=delivery,
        groups=groups,
        order=order,
        strict=strict,
    )
    plan = question.plan()
    events = frames.renamed(events, columns or {}, plan.attributes)
    run = judge_new(events, plan, question.options(), Destination(into, by, using), again)
    if metrics is not None:
        write_metrics(run, metrics)
    return run


def watch(
    events: DataFrame,
    require: str | Sequence[str],
    *,
    idle: str,
    max_rows: int = 1_000_000,
    columns: Mapping[str, Column | str] | None = None,
    specs: Sequence[str] = (),
    delta: str | None = None,
    epsilon: str | None = None,
    delivery: str = "deliver",
    cluster: Sequence[str] = (),
    groups: Mapping[str, Sequence[str]] | str | None = None,
    order: str | None = None,
    strict: bool = False,
) -> DataFrame:
    """Judge the executions of a stream while they go on.

    `events` is a streaming DataFrame, as for `verify`, with `time` as a timestamp. Returns a streaming DataFrame with a
    row for each change: execution, predicate, standing, witness (JSON), reasons, ended. The standing is "violated" (for
    good), "owed" (it would be violated if nothing more came), "satisfied so far" or "unknown so far". An execution has
    ended when the latest time of the stream is `idle` (such as "10 minutes") after its last row. Then `ended` is true,
    and the standing is the verdict of `verify` on its rows; rows that come later are dropped. An execution with more
    than `max_rows` is given up, and unknown. Raises PrecedesError as `verify` does.
    """
    from precedes.engines.spark import frames
    from precedes.engines.spark.live import watched

    question = _question(
        require,
        specs,
        cluster,
        delta=delta,
        epsilon=epsilon,
        delivery=delivery,
        groups=groups,
        order=order,
        strict=strict,
    )
    plan = question.plan()
    events = frames.renamed(events, columns or {}, plan.attributes)
    return watched(events, plan, question.options(), idle, max_rows)


def latest(verdicts: DataFrame) -> DataFrame:
    """The valid rows of a table that `daily` appends to: of each execution and predicate the last verdict."""
    from precedes.engines.spark.daily import latest as last

    return last(verdicts)


def violations(
    events: DataFrame,
    require: str | Sequence[str],
    *,
    columns: Mapping[str, Column | str] | None = None,
    specs: Sequence[str] = (),
    delta: str | None = None,
    epsilon: str | None = None,
    incomplete: bool = False,
    delivery: str = "deliver",
    cluster: Sequence[str] = (),
    groups: Mapping[str, Sequence[str]] | str | None = None,
    order: str | None = None,
    strict: bool = False,
    max_violations: int = 10,
) -> DataFrame:
    """List what violates the requirements in a DataFrame of events, which is as for `verify`.

    Returns a lazy DataFrame with one row per offender: execution, predicate, entities, messages, and events, each with
    event, entity, message, time (nanoseconds), file and row (both null, unless the rows were read with
    `format("precedes")`). At most `max_violations` of one predicate in one execution.
    """
    from precedes.engines.spark import frames

    question = _question(
        require,
        specs,
        cluster,
        delta=delta,
        epsilon=epsilon,
        incomplete=incomplete,
        delivery=delivery,
        groups=groups,
        order=order,
        strict=strict,
        max_violations=max_violations,
        all_violations=True,
    )
    plan = question.plan(everywhere=True)
    events = frames.renamed(events, columns or {}, plan.attributes)
    return frames.violations(events, plan, question.options())


def _question(
    require: str | Sequence[str], specs: Sequence[str], cluster: Sequence[str], **options: Any
) -> Question:
    from precedes.jobs.verify import Question

    required = (require,) if isinstance(require, str) else tuple(require)
    return Question((), required, specs=tuple(specs), cluster=tuple(cluster), **options)
