"""`precedes.spark.verify`: a DataFrame of events in, a DataFrame of verdicts out, in the user's own session."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from precedes.diagnostics import usage
from precedes.engines.columnar.plan import Plan
from precedes.engines.spark.tasks import Judging, judge_rows
from precedes.engines.verdict_rows import VERDICT_SCHEMA
from precedes.traces import TraceOptions
from precedes.traces.schema import INPUT_COLUMNS

REQUIRED_COLUMNS = ("execution", "entity", "seq", "event", "message")


def verdicts(events: DataFrame, plan: Plan, options: TraceOptions, *, all_verdicts: bool) -> DataFrame:
    """A lazy DataFrame in `VERDICT_SCHEMA`. One shuffle, by execution; unreadable rows fail the job with
    their message.
    """
    missing = [column for column in REQUIRED_COLUMNS if column not in events.columns]
    if missing:
        hint = (
            "rows of a DataFrame have no order: seq gives each event its place in its entity's history"
            if "seq" in missing
            else None
        )
        raise usage(f"the DataFrame has no column {', '.join(missing)}", hint)
    known = events.select(*(column for column in events.columns if column in INPUT_COLUMNS))
    judging = Judging(plan, options, 0, "all" if all_verdicts else "failing")
    # The rows are shuffled as they are, by Spark alone, and cross to Python once.
    return known.repartition("execution").mapInArrow(
        judge_rows(to_arrow_schema(known.schema), judging), from_arrow_schema(VERDICT_SCHEMA)
    )
