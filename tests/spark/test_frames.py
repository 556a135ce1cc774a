"""`precedes.spark.verify`: a DataFrame in, a DataFrame out, in the user's own session."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr, when

import precedes
import precedes.spark
from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.transposition import execution_of
from precedes.engines.spark import frames, tasks
from precedes.traces import Notices, TraceOptions
from tests.sampling import one_in

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
    assert rows["1", "order_equivalent"]["count"] is None
    witness = json.loads(rows["1", "order_equivalent"].witness)
    assert witness == {"entities": ["B", "C"], "messages": ["a", "d"]}


def test_groups_come_from_rows_and_from_the_option(spark: SparkSession) -> None:
    """`n` is lost, unless a group chooses who delivers it."""
    events = [
        (1, "S", 0, "send", "m", ["A"], None),
        (1, "S", 1, "send", "n", ["group:billing"], None),
        (1, "A", 0, "deliver", "m", None, ["billing"]),
    ]
    schema = f"{SCHEMA}, group array<string>"
    asked = "selectively_information_preserving"
    by_rows = precedes.spark.verify(spark.createDataFrame(events, schema), asked)
    stated = [(*row[:6], None) for row in events]
    by_option = precedes.spark.verify(spark.createDataFrame(stated, schema), asked, groups={"billing": ["A"]})
    for verdicts in (by_rows, by_option):
        (row,) = verdicts.collect()
        assert row.verdict == "unknown"
        assert "it is for a group" in str(row.reasons)


def test_every_delivery_and_acknowledgements(spark: SparkSession) -> None:
    """`again` delivers what it has accepted, `held` overtakes what is in flight, `silent` acknowledges nothing."""
    steps = {
        1: ("again", "deliver a", "ack a", "deliver a", "nack a"),
        2: ("held", "deliver a", "deliver b", "ack b"),
        3: ("silent", "deliver a", "deliver b", "deliver b"),
    }
    events = [(number, "S", k, "send", m, None) for number in steps for k, m in enumerate("ab")]
    for number, (name, *written) in steps.items():
        split = [step.split() for step in written]
        events += [(number, name, k, event, m, None) for k, (event, m) in enumerate(split)]
    asked = ["repeats_in_place", "only_in_flight_repeats", "ordered_until_acknowledged"]
    formula = "forall i: forall d in DL[i]: nth(d) = 1"
    rows = found(spark, events, [*asked, formula])
    told = {name: [rows[number, name].verdict for number in "123"] for name in (*asked, formula)}
    assert told == {
        "repeats_in_place": ["holds", "holds", "holds"],
        "only_in_flight_repeats": ["violated", "holds", "unknown"],
        "ordered_until_acknowledged": ["holds", "violated", "unknown"],
        formula: ["violated", "holds", "violated"],
    }
    witness = json.loads(rows["2", "ordered_until_acknowledged"].witness)
    assert witness == {"entities": ["held", "S"], "messages": ["a", "b"]}


def test_every_offender(spark: SparkSession) -> None:
    frame = spark.createDataFrame([*SWAPPED, *KEPT], SCHEMA)
    (row,) = precedes.spark.violations(frame, ["ST", "agreement"]).collect()
    assert (row.execution, row.predicate, row.entities, row.messages) == (
        "1",
        "order_equivalent",
        ["B", "C"],
        ["a", "d"],
    )
    assert {(event["event"], event.entity, event.message) for event in row.events} == {
        *(("deliver", entity, message) for entity in "BC" for message in "ad"),
        *(("send", entity, message) for entity, message in (("A", "a"), ("D", "d"))),
    }
    assert {(event.file, event.row) for event in row.events} == {(None, None)}
    assert precedes.spark.violations(frame, "ST", max_violations=0).collect() == []
    counted = found(spark, [*SWAPPED, *KEPT], "ST", all_violations=True)
    assert {name: row["count"] for (execution, name), row in counted.items() if execution == "1"} == {
        "ST": 1,
        "SP": 0,
        "selectively_correct": 0,
        "order_preserving": 0,
        "selectively_information_preserving": 0,
        "order_equivalent": 1,
    }


def test_offenders_where_rows_and_clocks_disagree(spark: SparkSession) -> None:
    """S sends p and then q by its rows, and q first by its clocks; R delivers q before p."""
    rows = [
        {"entity": "S", "seq": 0, "event": "send", "message": "p", "clock": {"S": 2}},
        {"entity": "S", "seq": 1, "event": "send", "message": "q", "clock": {"S": 1}},
        {"entity": "R", "seq": 0, "event": "deliver", "message": "q", "clock": {"S": 1, "R": 1}},
        {"entity": "R", "seq": 1, "event": "deliver", "message": "p", "clock": {"S": 2, "R": 2}},
    ]
    schema = (
        "execution string, entity string, seq long, event string, message string, clock map<string, long>"
    )
    frame = spark.createDataFrame([{"execution": "x", **row} for row in rows], schema)

    def found(order: str | None) -> list[list[str]]:
        offenders = precedes.spark.violations(frame, "order_preserving", order=order)
        return [sorted(row.messages) for row in offenders.collect()]

    assert found(None) == []
    assert found("rows") == [["p", "q"]]
    assert found("clocks") == []


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


ORDERS = "day int, who string, n int, topic string, number int, receivers array<string>"
BOUGHT = [(row[0], row[1], row[2], row[4], ord(row[4]), row[5]) for row in SWAPPED]


def columns_of_orders() -> dict[str, Any]:
    """The columns of a trace in the table of orders, as texts and as columns."""
    return {
        "execution": "day",
        "entity": col("who"),
        "seq": "n",
        "event": when(col("receivers").isNull(), "deliver").otherwise("send"),
        "message": "concat_ws('-', topic, number)",
        "dest": "receivers",
    }


def test_columns_by_expressions(spark: SparkSession) -> None:
    frame = spark.createDataFrame(BOUGHT, ORDERS)
    (row,) = precedes.spark.verify(
        frame, "order_equivalent", columns={**columns_of_orders(), "key": "topic"}
    ).collect()
    assert (row.execution, row.verdict) == ("1", "violated")
    (offender,) = precedes.spark.violations(frame, "order_equivalent", columns=columns_of_orders()).collect()
    assert offender.messages == ["a-97", "d-100"]
    # An expression reads the column of the DataFrame, not that of the trace.
    swapped = spark.createDataFrame(SWAPPED, SCHEMA).selectExpr("*", "entity as e").drop("entity")
    renamed = {"entity": "message", "message": "e"}
    assert {row.verdict for row in precedes.spark.verify(swapped, "ST", columns=renamed).collect()} == {
        "unknown"
    }


def test_columns_that_cannot_be(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    frame = spark.createDataFrame(BOUGHT, ORDERS)
    wrong: dict[str, Any] = {"mesage": "topic", "message": "topik", "entity": col("nobody"), "seq": "(("}
    with pytest.raises(PrecedesError) as caught:
        precedes.spark.verify(frame, "ST", columns=columns_of_orders() | wrong)
    told = {each.message.partition(",")[0].partition(":")[0]: each.hint for each in caught.value.diagnostics}
    assert told == {
        "`mesage` in columns is no column of a trace": "did you mean message?",
        "`message` reads the column topik": "did you mean topic?",
        "`entity` reads the column nobody": "it has `day`, `who`, `n`, `topic`, `number`, `receivers`",
        "`seq` is no expression of Spark SQL": None,
    }
    assert capfd.readouterr().err == ""
    few = {name: each for name, each in columns_of_orders().items() if name != "message"}
    with pytest.raises(PrecedesError, match="no column message\n    if it has another name"):
        precedes.spark.verify(frame, "ST", columns=few)


def test_a_row_without_a_place_is_refused(spark: SparkSession) -> None:
    rows = [*KEPT[:-1], (*KEPT[-1][:2], None, *KEPT[-1][3:])]
    with pytest.raises(PrecedesError, match="T011 `seq` is missing"):
        precedes.verify(spark.createDataFrame(rows, SCHEMA), "ST")


SENT_AND_DELIVERED = [(1, "A", 0, "send", "a", ["B"], 1.0), (1, "B", 0, "deliver", "a", None, 1.5)]


def timed(spark: SparkSession, time: str, **options: Any) -> str:
    """The verdict on a deadline of events half a second apart, with `time` as an expression of seconds."""
    frame = spark.createDataFrame(SENT_AND_DELIVERED, f"{SCHEMA}, seconds double").withColumn(
        "time", expr(time)
    )
    (row,) = precedes.spark.verify(frame.drop("seconds"), "deadline", **options).collect()
    verdict: str = row.verdict
    return verdict


@pytest.mark.parametrize("zone", one_in(3, ["Asia/Tokyo", "UTC", "+05:30"]))
@pytest.mark.parametrize(
    "time",
    [
        "timestamp_millis(cast(seconds * 1000 as bigint))",
        "cast(timestamp_millis(cast(seconds * 1000 as bigint)) as timestamp_ntz)",
        "seconds",
        "cast(seconds as decimal(20, 6))",
        "date_format(timestamp_millis(cast(seconds * 1000 as bigint)), \"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\")",
    ],
)
def test_times_of_every_type_in_every_zone(spark: SparkSession, time: str, zone: str) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        assert timed(spark, time, delta="500ms") == "holds"
        assert timed(spark, time, delta="499ms") == "violated"
    finally:
        assert before is not None
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(
    ("column", "expression", "code", "says"),
    [
        ("time", "date '2026-11-27'", "T016", "the column `time` is of type date"),
        ("time", "make_dt_interval(1)", "T016", "the column `time` is of type interval"),
        ("time", "array(1)", "T016", "the column `time` is of type array<int>"),
        ("seq", "cast(seq as double)", "T012", "the column `seq` is of type double"),
        ("entity", "true", "T012", "the column `entity` is of type boolean"),
        ("message", "cast(message as binary)", "T012", "the column `message` is of type binary"),
        ("event", "1", "T012", "the column `event` is of type int"),
        ("dest", "'B'", "T012", "the column `dest` is of type string"),
        ("clock", "map('A', 1.5D)", "T012", "the column `clock` is of type map<string,double>"),
        (
            "clock",
            "named_struct('A', date '2026-11-27')",
            "T012",
            "the column `clock` is of type struct<A:date>",
        ),
    ],
)
def test_a_type_that_does_not_fit_is_told_when_the_plan_is_made(
    spark: SparkSession, column: str, expression: str, code: str, says: str
) -> None:
    frame = spark.createDataFrame(KEPT, SCHEMA).withColumn(column, expr(expression))
    with pytest.raises(PrecedesError) as caught:
        precedes.spark.verify(frame, "ST")
    (told,) = caught.value.diagnostics
    assert (told.code, told.path) == (code, "DataFrame")
    assert told.message.startswith(says)
    assert told.hint


def test_all_columns_that_do_not_fit_are_told_together(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEPT, SCHEMA)
    frame = frame.withColumn("seq", expr("'1'")).withColumn("time", expr("current_date()"))
    with pytest.raises(PrecedesError) as caught:
        precedes.spark.verify(frame, "ST")
    assert {told.code for told in caught.value.diagnostics} == {"T012", "T016"}


def test_a_column_that_stands_twice_is_told(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEPT, SCHEMA)
    with pytest.raises(PrecedesError, match="T008 the column `entity` occurs twice"):
        precedes.spark.verify(frame.select("*", "entity"), "ST")


@pytest.mark.parametrize(
    "clock", ["map('A', seq + 1)", "named_struct('A', seq + 1)", "cast(null as map<string,bigint>)", "null"]
)
def test_clocks_of_every_type(spark: SparkSession, clock: str) -> None:
    frame = spark.createDataFrame(KEPT, SCHEMA).withColumn("clock", expr(clock))
    assert precedes.spark.verify(frame, "SP").count() > 0


# ---- one report for all executions: `precedes.verify(df, ...)`

COLUMNS = ("execution", "entity", "seq", "event", "message", "dest")
LOST = [(3, *row[1:]) for row in KEPT if row[1] != "C"]
CONTRADICTED = [
    (4, "A", 0, "send", "a", ["B"]),
    (4, "D", 0, "send", "a", ["B"]),
    (4, "B", 0, "deliver", "a", None),
]
MANY = [(10 + x, *row[1:]) for x in range(12) for row in (SWAPPED if x % 3 else KEPT)]


def reports(spark: SparkSession, rows: list[Any], require: Any, **options: Any) -> tuple[Any, Any]:
    """The reports on a DataFrame and on the same rows in this process."""
    of_frame = precedes.verify(spark.createDataFrame(rows, SCHEMA), require, **options)
    here = precedes.verify([dict(zip(COLUMNS, row, strict=True)) for row in rows], require, **options)
    return of_frame, here


def shown(report: Any) -> dict[str, Any]:
    """Everything that a report says, but for its times, and for the places of rows, which a DataFrame does not have."""
    text = re.sub(r"(a partition of the DataFrame|<rows>): row \d+", "row", report.json())
    found: dict[str, Any] = {**json.loads(text), "timings": None}
    for violation in found.get("violations", []):
        for offender in violation.get("offenders", {}).get("first", []):
            for event in offender["events"]:
                event["file"] = event["row"] = None
    return found


@pytest.mark.parametrize(
    "options",
    [{}, {"incomplete": True}, {"cluster": ("E",)}, {"max_violations": 3}, {"all_violations": True}],
    ids=["plain", "incomplete", "cluster", "few", "all violations"],
)
def test_the_report_on_a_frame_is_that_on_its_rows(spark: SparkSession, options: dict[str, Any]) -> None:
    rows = [*SWAPPED, *KEPT, *LOST, *CONTRADICTED, *MANY]
    of_frame, here = reports(spark, rows, ["ST", "agreement", "information_equivalent"], **options)
    assert shown(of_frame) == shown(here)
    assert of_frame.executions == 16
    assert of_frame.table().equals(here.table())
    assert of_frame.verdict is precedes.Verdict.VIOLATED
    assert of_frame["ST"].violated == here["ST"].violated > 8


def test_a_violation_on_a_frame_is_raised(spark: SparkSession) -> None:
    report = precedes.verify(spark.createDataFrame([*SWAPPED, *KEPT], SCHEMA), "order_equivalent")
    with pytest.raises(AssertionError, match="B delivers a before d, C delivers d before a"):
        report.raise_for_violations()
    precedes.verify(spark.createDataFrame(KEPT, SCHEMA), "order_equivalent").raise_for_violations()


def test_notices_come_back_from_the_workers(spark: SparkSession) -> None:
    twice = [*KEPT, KEPT[0]]
    of_frame, here = reports(spark, twice, "ST")
    assert [notice.code for notice in here.notices] != []
    assert [(each.code, each.count) for each in of_frame.notices] == [
        (each.code, each.count) for each in here.notices
    ]


def test_infer_takes_a_frame(spark: SparkSession) -> None:
    rows = [*SWAPPED, *KEPT]
    of_frame = precedes.infer(spark.createDataFrame(rows, SCHEMA))
    here = precedes.infer([dict(zip(COLUMNS, row, strict=True)) for row in rows])
    assert shown(of_frame) == shown(here)
    assert "reliable" in of_frame.kept
    assert "order_equivalent" in of_frame.broken


def test_a_frame_without_rows_is_not_checked(spark: SparkSession) -> None:
    report = precedes.verify(spark.createDataFrame([], SCHEMA), "ST")
    assert (report.verdict, report.executions) == (precedes.Verdict.UNKNOWN, 0)


def test_what_a_frame_cannot_be_asked_is_an_error(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEPT, SCHEMA)
    with pytest.raises(PrecedesError, match="seq"):
        precedes.verify(frame.drop("seq"), "ST")
    with pytest.raises(PrecedesError, match=r"precedes\.spark\.verify"):
        precedes.verify(frame, "ST", out="verdicts")
    with pytest.raises(PrecedesError, match="Spark DataFrame"):
        precedes.read(frame)
    unreadable = spark.createDataFrame([*KEPT, (3, "A", 0, "sned", "m", None)], SCHEMA)
    with pytest.raises(PrecedesError, match="sned"):
        precedes.verify(unreadable, "ST")


KEY, OFFSET, STAMP, AGE = (
    Attribute("key", AttributeSort.TEXT),
    Attribute("offset", AttributeSort.NUMBER),
    Attribute("stamp", AttributeSort.TIME),
    Attribute("age", AttributeSort.DURATION),
)


def carried(events: DataFrame, *attributes: Attribute) -> list[tuple[str, str]]:
    """What the workers read of messages: their names, and what they carry as text."""
    options = TraceOptions(attributes=attributes)

    def read(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in tasks.batches_of_rows(records, options, Notices()):
            for x in range(batch.executions):
                messages = execution_of(batch, x).messages
                texts = [
                    json.dumps({a.name: v for a, v in message.attributes.items()})
                    for message in messages.values()
                ]
                yield pa.RecordBatch.from_pydict({"message": list(messages), "carried": texts})

    rows = frames.by_execution(events, attributes).mapInArrow(read, "message string, carried string")
    return sorted((row.message, row.carried) for row in rows.collect())


def test_attributes_of_a_frame(spark: SparkSession) -> None:
    schema = f"{SCHEMA}, key string, offset double, stamp timestamp, age decimal(9,3), extra string"
    stamp = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        (1, "A", 0, "send", "a", ["B"], "k1", 7.0, stamp, Decimal("0.25"), "x"),
        (1, "A", 1, "send", "b", ["B"], None, None, None, None, "y"),
        (1, "B", 0, "deliver", "b", None, "k2", None, None, None, "z"),
    ]
    frame = spark.createDataFrame(rows, schema)
    assert carried(frame, KEY, OFFSET, STAMP, AGE) == [
        ("a", '{"key": "k1", "offset": 7, "stamp": 1767225600000000000, "age": 250000000}'),
        ("b", '{"key": "k2"}'),
    ]
    assert carried(frame, OFFSET) == [("a", '{"offset": 7}'), ("b", "{}")]
    assert carried(frame.drop("key"), KEY) == [("a", "{}"), ("b", "{}")]


def test_a_frame_with_a_column_that_no_attribute_has(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(*SWAPPED[0], [1])], f"{SCHEMA}, key array<int>")
    with pytest.raises(PrecedesError) as caught:
        frames.by_execution(frame, (KEY,))
    assert [one.code for one in caught.value.diagnostics] == ["T012"]
    assert "`key` is of type array<int>" in str(caught.value)
    assert found(spark, SWAPPED, "ST"), "nobody asks for it"
