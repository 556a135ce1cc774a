"""`precedes.spark.watch`: what changes is out within a trigger, and the verdict at the end is that on the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

import precedes.spark
from precedes.core.diagnostics import PrecedesError
from precedes.engines.spark.live import Live, _changes, _ended, _Open, _read, _take_in, _written
from precedes.jobs.verify import Question
from precedes.traces import Notices
from precedes.traces.reader import canonical

FIELDS: list[pa.Field[Any]] = [
    *(pa.field(name, pa.string()) for name in ("execution", "entity")),
    pa.field("seq", pa.int64()),
    *(pa.field(name, pa.string()) for name in ("event", "message")),
    pa.field("dest", pa.list_(pa.string())),
    pa.field("time", pa.timestamp("us", "UTC")),
]
SCHEMA = pa.schema(FIELDS)


def rows_of(name: str, minute: int, *, swapped: bool) -> list[tuple[Any, ...]]:
    """A and D send to B and C, C delivers the other way round if `swapped`."""
    sends = [(name, who, 0, "send", m, ["B", "C"]) for who, m in (("A", "a"), ("D", "d"))]
    turns = {"B": "ad", "C": "da" if swapped else "ad"}
    delivers = [(name, who, k, "deliver", m, None) for who, ms in turns.items() for k, m in enumerate(ms)]
    return [(*row, (minute * 60 + k) * 1_000_000) for k, row in enumerate([*sends, *delivers])]


def table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def live(*names: str, most: int = 100) -> Live:
    question = Question((), names)
    return Live(question.plan(), question.options(), most)


def packed(rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
    return [_written(canonical(table(rows), "stream", Notices()))]


def test_an_execution_is_told_of_as_it_goes_on() -> None:
    """Without Spark: what a worker does with an execution from trigger to trigger."""
    asked, known = live("order_equivalent", "selectively_information_preserving"), _Open(None, {}, -1)
    rows = rows_of("x", 0, swapped=True)
    told = []
    for some in (rows[:2], rows[2:5], rows[5:]):
        _take_in(known, packed(some), asked.most)
        told.append({row["predicate"]: row["standing"] for row in _changes("x", known, asked)})
        state = known.packed
        assert state[0] is not None
        known = _Open(_read(state[0]), known.told, known.latest)
    assert told == [
        {"order_equivalent": "satisfied so far", "selectively_information_preserving": "owed"},
        {},
        {"order_equivalent": "violated", "selectively_information_preserving": "satisfied so far"},
    ]
    assert known.latest == 5000
    assert {row["predicate"]: row["standing"] for row in _ended("x", known, asked)} == {
        "order_equivalent": "violated",
        "selectively_information_preserving": "holds",
    }


@pytest.mark.parametrize("names", [("order_preserving",), ("order_preserving", "agreement")])
def test_what_a_late_row_takes_back_is_unknown(names: tuple[str, ...]) -> None:
    """Whether everything was violated or not, and whatever comes after it."""
    asked, known = live(*names), _Open(None, {}, -1)
    rows = [
        ("x", "A", 1, "send", "m", ["B"], 0),
        ("x", "A", 2, "send", "n", ["B"], 1),
        ("x", "B", 5, "deliver", "n", None, 2),
        ("x", "B", 6, "deliver", "m", None, 3),
        ("x", "B", 2, "deliver", "m", None, 4),
        ("x", "A", 3, "send", "o", ["B"], 5),
    ]
    told = []
    for some in (rows[:4], rows[4:5], rows[5:]):
        _take_in(known, packed(some), asked.most)
        found = {row["predicate"]: row for row in _changes("x", known, asked)}
        told.append({name: row["standing"] for name, row in found.items() if name == "order_preserving"})
    alone = len(names) == 1
    assert told == [
        {"order_preserving": "violated"},
        {} if alone else {"order_preserving": "unknown so far"},
        {},
    ]
    last = {row["predicate"]: row for row in _ended("x", known, asked)}["order_preserving"]
    assert (last["standing"], last["witness"]) == ("unknown", None)
    assert "a row came later that stands before one" in last["reasons"]


def test_an_execution_that_is_too_large_is_given_up() -> None:
    asked, known = live("order_equivalent", most=4), _Open(None, {}, -1)
    rows = rows_of("x", 0, swapped=True)
    for some in (rows[:3], rows[3:], rows[:1]):
        _take_in(known, packed(some), asked.most)
        _changes("x", known, asked)
    assert known.packed[0] is None
    (row,) = _ended("x", known, asked)
    assert (row["standing"], row["reasons"]) == ("unknown", "the execution has more than 4 rows")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_verdicts_at_the_end_are_those_on_the_table(spark: SparkSession, tmp_path: Path) -> None:
    """Two executions whose rows come in three triggers, and a third one that comes a day later."""
    first, second = rows_of("kept", 0, swapped=False), rows_of("swapped", 0, swapped=True)
    files = [[*first[:3], *second[:2]], [*first[3:], *second[2:]], rows_of("later", 1440, swapped=False)]
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, rows in enumerate(files):
        pq.write_table(table(rows), folder / f"{number}.parquet")
    schema = from_arrow_schema(SCHEMA)
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    found = precedes.spark.watch(stream, ["ST", "causal_order"], idle="10 minutes")
    query = (
        found.writeStream.format("memory")
        .queryName("standings")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(300)
    told = spark.table("standings").collect()
    once = spark.read.schema(schema).parquet(str(folder)).where("execution <> 'later'")
    columns = ("execution", "predicate", "witness", "reasons")
    verdicts = {
        (row.verdict, *(row[name] for name in columns))
        for row in precedes.spark.verify(once, ["ST", "causal_order"]).collect()
    }
    assert {(row.standing, *(row[name] for name in columns)) for row in told if row.ended} == verdicts
    violated = [row for row in told if row.standing == "violated" and not row.ended]
    assert {(row.execution, row.predicate) for row in violated} == {
        ("swapped", "ST"),
        ("swapped", "order_equivalent"),
    }


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_table_is_no_stream(spark: SparkSession) -> None:
    frame: DataFrame = spark.createDataFrame([], from_arrow_schema(SCHEMA))
    with pytest.raises(PrecedesError, match="this DataFrame is no stream"):
        precedes.spark.watch(frame, "ST", idle="1 minute")
