"""`precedes.spark.verify`: a DataFrame in, a DataFrame out, in the user's own session."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import precedes.spark
from precedes.diagnostics import PrecedesError

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SCHEMA = "execution int, entity string, seq int, event string, message string, dest array<string>"
SWAPPED = [
    (1, "A", 0, "send", "a", ["B", "C"]),
    (1, "D", 0, "send", "d", ["B", "C"]),
    (1, "B", 0, "deliver", "a", None),
    (1, "B", 1, "deliver", "d", None),
    (1, "C", 0, "deliver", "d", None),
    (1, "C", 1, "deliver", "a", None),
]
KEPT = [(2, *row[1:]) for row in SWAPPED[:4]]
KEPT += [(2, "C", 0, "deliver", "a", None), (2, "C", 1, "deliver", "d", None)]


def found(spark: SparkSession, rows: list[Any], require: Any, **options: Any) -> dict[tuple[str, str], Any]:
    frame = spark.createDataFrame(rows, SCHEMA)
    verdicts = precedes.spark.verify(frame, require, **options)
    return {(row.execution, row.predicate): row for row in verdicts.collect()}


def test_every_execution_has_a_verdict_for_every_name(spark: SparkSession) -> None:
    rows = found(spark, [*SWAPPED, *KEPT], ["ST", "agreement"])
    assert rows["1", "ST"].verdict == "violated"
    assert rows["2", "ST"].verdict == "holds"
    assert rows["1", "order_preserving"].verdict == "holds"
    assert rows["1", "agreement"].verdict == "holds"
    assert rows["1", "order_equivalent"]["count"] == 1
    witness = json.loads(rows["1", "order_equivalent"].witness)
    assert witness == {"entities": ["B", "C"], "messages": ["a", "d"]}


def test_only_what_fails_where_that_is_asked(spark: SparkSession) -> None:
    rows = found(spark, [*SWAPPED, *KEPT], "order_equivalent", all_verdicts=False)
    assert set(rows) == {("1", "order_equivalent")}


def test_options_reach_the_workers(spark: SparkSession) -> None:
    lost = [row for row in KEPT if row[1] != "C"]
    name = "selectively_information_preserving"
    assert found(spark, lost, name)["2", name].verdict == "violated"
    unknown = found(spark, lost, name, incomplete=True)["2", name]
    assert unknown.verdict == "unknown"
    assert "incomplete" in unknown.reasons
    silent = found(spark, KEPT, "information_equivalent", cluster=["E"])["2", "information_equivalent"]
    assert silent.verdict == "violated"


def test_a_wrong_name_is_told_before_any_job(spark: SparkSession) -> None:
    with pytest.raises(PrecedesError, match="order_equivalent"):
        found(spark, KEPT, "order_equivalant")


def test_rows_without_a_place_are_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEPT, SCHEMA).drop("seq")
    with pytest.raises(PrecedesError, match="seq"):
        precedes.spark.verify(frame, "ST")


def test_an_unreadable_row_fails_the_job_with_its_message(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="sned"):
        found(spark, [*KEPT, (3, "A", 0, "sned", "m", None)], "ST")
