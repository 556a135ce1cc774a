"""`precedes.spark.daily`: only what is new or changed is judged, and tables are only appended to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, Metric
from pyspark.sql import DataFrame, SparkSession

import precedes.spark
from precedes.core.diagnostics import PrecedesError
from precedes.core.verdict import Verdict
from precedes.engines.spark.daily import Destination, _new_days, _rows_of_days, _with_days
from precedes.engines.spark.daily_run import DailyRun, DayCount, write_metrics

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

TABLE = "flow long, service string, step int, what string, id string, whom array<string>, day string"
"""A table with other names than those of a trace."""

COLUMNS = {
    "execution": "flow",
    "entity": "service",
    "seq": "step",
    "event": "what",
    "message": "id",
    "dest": "whom",
}


def flow(number: int, day: str, *, swapped: bool = False, later: str | None = None) -> list[Any]:
    """A sends two messages, and B and C deliver them, C the other way round if `swapped`; C's rows may come later."""
    turns = {"B": ("p", "q"), "C": ("q", "p") if swapped else ("p", "q")}
    rows: list[Any] = [(number, s, 0, "send", m, ["B", "C"], day) for s, m in (("A", "p"), ("D", "q"))]
    for who, delivered in turns.items():
        when = later if later is not None and who == "C" else day
        rows += [(number, who, k, "deliver", m, None, when) for k, m in enumerate(delivered)]
    return rows


def judged(spark: SparkSession, rows: list[Any], into: str, **options: Any) -> DailyRun:
    frame = spark.createDataFrame(rows, TABLE)
    return precedes.spark.daily(frame, "order_equivalent", into=into, by="day", columns=COLUMNS, **options)


def valid(table: DataFrame) -> dict[str, tuple[str, str]]:
    return {row.execution: (row.day, row.verdict) for row in precedes.spark.latest(table).collect()}


def counts(run: DailyRun) -> dict[str, tuple[int, int, int, int]]:
    return {one.day: (one.rows, one.holds, one.violated, one.unknown) for one in run.counts}


def test_days_with_another_number_of_rows_are_new(spark: SparkSession, tmp_path: Path) -> None:
    """The quick part of a run: which days are looked at. The numbers of the last run count."""
    into = Destination(str(tmp_path / "verdicts"), "day", "parquet")
    rows = _with_days(spark.createDataFrame(flow(1, "mon") + flow(2, "tue"), TABLE), "day")
    told = [("ST", 6, 1, 0, 0, 1, "mon"), ("ST", 5, 1, 0, 0, 1, "tue"), ("ST", 7, 1, 0, 0, 2, "tue")]
    into.days.append(spark.createDataFrame(told, into.days.schema))
    held = _rows_of_days(rows, "day")
    assert held == {"mon": 6, "tue": 6}
    assert _new_days(rows, held, into, ()) == {"tue": 6}


@pytest.mark.slow
def test_only_new_days_are_judged(spark: SparkSession, tmp_path: Path) -> None:
    into, metrics = str(tmp_path / "verdicts"), tmp_path / "precedes.prom"
    rows = [*flow(1, "mon"), *flow(2, "mon", swapped=True)]
    first = judged(spark, rows, into, metrics=str(metrics))
    assert (first.judged, counts(first), first.exit_code) == (2, {"mon": (12, 1, 1, 0)}, 1)
    assert (
        'precedes_executions{day="mon",predicate="order_equivalent",verdict="violated"} 1'
        in metrics.read_text()
    )

    assert valid(spark.read.parquet(into)) == {"1": ("mon", "holds"), "2": ("mon", "violated")}

    nothing = judged(spark, rows, into)
    assert (nothing.judged, nothing.counts, nothing.exit_code) == (0, (), 3)
    with pytest.raises(PrecedesError, match="no rows of wed to judge again"):
        judged(spark, rows, into, again=["wed"])


@pytest.mark.slow
def test_executions_with_late_rows_are_judged_anew(spark: SparkSession, tmp_path: Path) -> None:
    into = str(tmp_path / "verdicts")
    rows = [*flow(1, "mon"), *flow(2, "mon", swapped=True)]
    assert judged(spark, rows, into).judged == 2

    # A new day: its executions alone. The end of 1 came after midnight.
    late = [(1, "C", 2, "send", "r", ["B"], "tue")]
    second = judged(spark, [*rows, *flow(3, "tue"), *late], into)
    assert (second.judged, counts(second)) == (2, {"mon": (12, 1, 1, 0), "tue": (7, 1, 0, 0)})
    table = spark.read.parquet(into)
    assert table.count() == 4
    assert valid(table) == {"1": ("mon", "holds"), "2": ("mon", "violated"), "3": ("tue", "holds")}

    # Rows of an old day came late: only their execution is judged anew.
    later = [(3, "D", 1, "send", "s", ["B", "C"], "mon"), (3, "B", 2, "deliver", "s", None, "mon")]
    later += [(3, "C", 2, "deliver", "s", None, "mon")]
    third = judged(spark, [*rows, *flow(3, "tue"), *late, *later], into)
    assert (third.judged, counts(third)["tue"]) == (1, (7, 1, 0, 0))
    assert spark.read.parquet(f"{into}_days").where("day = 'mon'").count() == 3


@pytest.mark.slow
def test_a_table_of_the_catalog(spark: SparkSession) -> None:
    spark.sql("create database if not exists quality")
    try:
        first = judged(spark, flow(1, "mon"), "quality.verdicts")
        again = judged(spark, flow(1, "mon"), "quality.verdicts", again=["mon"])
        assert (first.judged, again.judged, again.exit_code) == (1, 1, 0)
        assert valid(spark.table("quality.verdicts")) == {"1": ("mon", "holds")}
        assert spark.table("quality.verdicts_days").count() == 2
    finally:
        spark.sql("drop database quality cascade")


def test_what_cannot_be_divided_is_told(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(flow(1, "mon"), TABLE)
    with pytest.raises(PrecedesError, match="no column dey to divide it by"):
        precedes.spark.daily(frame, "ST", into=f"{tmp_path}/v", by="dey", columns=COLUMNS)


def test_a_run_in_words_and_numbers() -> None:
    run = DailyRun(
        1_000_000, 3, (DayCount("mon", 'a "name"', 10, 2, 0, 1), DayCount("tue", "b", 5, 1, 0, 0)), 2.5
    )
    assert run.verdict is Verdict.UNKNOWN
    assert run.exit_code == 3
    assert run.text().splitlines()[1] == 'mon  a "name": 2 hold, 0 violated, 1 unknown'
    lines = run.metrics().splitlines()
    assert 'precedes_executions{day="mon",predicate="a \\"name\\"",verdict="holds"} 2' in lines
    assert 'precedes_rows{day="tue"} 5' in lines
    assert "precedes_run_ended_seconds 3.500" in lines


def test_what_a_collector_gets() -> None:
    """The names, units and attributes are those of the file, as a collector writes them for Prometheus."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    run = DailyRun(1_000_000, 3, (DayCount("mon", "ST", 10, 2, 0, 1), DayCount("tue", "ST", 5, 1, 0, 0)), 2.5)
    run.record(provider.get_meter("precedes"))
    # What a run before told stays.
    DailyRun(9_000_000, 0, (), 1).record(provider.get_meter("precedes"))
    found = {
        (metric.name, metric.unit): {
            tuple(sorted((point.attributes or {}).items())): point.value for point in metric.data.data_points
        }
        for metric in told_by(reader)
    }
    assert found[("precedes.executions", "{execution}")] == {
        (("day", day), ("predicate", "ST"), ("verdict", verdict)): count
        for (day, verdict), count in {
            ("mon", "holds"): 2,
            ("mon", "violated"): 0,
            ("mon", "unknown"): 1,
            ("tue", "holds"): 1,
            ("tue", "violated"): 0,
            ("tue", "unknown"): 0,
        }.items()
    }
    assert found[("precedes.rows", "{row}")] == {(("day", "mon"),): 10, (("day", "tue"),): 5}
    assert found[("precedes.run", "s")] == {(): 2.5}
    assert found[("precedes.run.ended", "s")] == {(): 3.5}
    names = [metric.of_prometheus for metric in run.measured()]
    assert names == [
        "precedes_executions",
        "precedes_rows",
        "precedes_run_seconds",
        "precedes_run_ended_seconds",
    ]
    assert {metric.description for metric in told_by(reader)} == {one.description for one in run.measured()}


def told_by(reader: InMemoryMetricReader) -> list[Metric]:
    """All that a reader has collected."""
    data = reader.get_metrics_data()
    assert data is not None
    (scope,) = (scope for resource in data.resource_metrics for scope in resource.scope_metrics)
    assert scope.scope.name == "precedes"
    return list(scope.metrics)


def test_a_run_without_anything_new_leaves_the_metrics(tmp_path: Path) -> None:
    path = tmp_path / "precedes.prom"
    nothing = DailyRun(1_000_000, 0, (), 1)
    write_metrics(nothing, path)
    assert "precedes_run_seconds 1.000" in path.read_text()
    something = DailyRun(2_000_000, 1, (DayCount("mon", "ST", 6, 0, 1, 0),), 2)
    for run in (something, nothing):
        write_metrics(run, path)
        assert path.read_text() == something.metrics()
