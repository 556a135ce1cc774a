"""The output of kafka-console-consumer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.foreign.logs import check_cuts, check_garbage, recognized, refusal, rows_of

WORD = "kafka-console"
TEXT = (
    "CreateTime:1700000000123\tPartition:0\tOffset:5\tk1\tv\ta\nNO_TIMESTAMP\tPartition:1\tOffset:0\tnull\t\n"
)
COLUMNS = ("topic", "partition", "position", "key", "create_time", "append_time")


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    found = rows_of(tmp_path / f"c1.{suffix}", TEXT, WORD, COLUMNS, topic="t", columns="key,value")
    common = {"entity": "c1", "event": "deliver", "sender": "?", "topic": "t"}
    assert found == [
        common
        | {"message": "t-0@5", "partition": "0", "position": "5", "key": "k1", "row": 1}
        | {"create_time": "1700000000.123000000"},
        common | {"message": "t-1@0", "partition": "1", "position": "0", "row": 2},
    ]


def test_every_column_that_can_be_printed(tmp_path: Path) -> None:
    text = "LogAppendTime:1\tPartition:0\tOffset:5\tDelivery:2\tEpoch:NONE\ta:1,b:2\tk\tv\n"
    (row,) = rows_of(tmp_path / "c", text, WORD, COLUMNS, topic="t", columns="headers,key,value")
    assert (row["redelivered"], row["key"], row["append_time"]) == (True, "k", "0.001000000")
    for delivery, redelivered in (("1", False), ("NONE", None)):
        text = f"Partition:0\tOffset:5\tDelivery:{delivery}\n"
        (row,) = rows_of(tmp_path / "c", text, WORD, COLUMNS, topic="t")
        assert row.get("redelivered") is redelivered
        assert "key" not in row


@pytest.mark.parametrize(
    ("text", "settings", "code"),
    [
        (TEXT, {}, "T023"),
        ("Partition:0\tk\n", {"topic": "t"}, "T023"),
        ("Offset:0\tk\n", {"topic": "t"}, "T023"),
        ("CreateTime:5\tk\tv\n", {"topic": "t"}, "T007"),
        ("Partition:0\tOffset:5\ta\nb\n", {"topic": "t"}, "T007"),
        ("Partition:0\tOffset:5\ta\n\n", {"topic": "t"}, "T007"),
        ("Partition:0\tOffset:5\ta\tb\n", {"topic": "t", "columns": "key"}, "T017"),
        ("Partition:0\tOffset:5\ta\n", {"topic": "t", "columns": "headers,key,value"}, "T017"),
        ("Partition:0\tOffset:9999999999999999999\ta\n", {"topic": "t"}, "T015"),
        (TEXT, {"topic": "t", "columns": "value,key"}, "U001"),
        (TEXT, {"topic": "t", "columns": "other"}, "U001"),
    ],
)
def test_refused(tmp_path: Path, text: str, settings: dict[str, str], code: str) -> None:
    assert refusal(tmp_path / "c", text, WORD, **settings).code == code


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "c", TEXT + "Partition:0\tOffset:123\n", WORD, topic="t")
    check_garbage(tmp_path / "c", TEXT, WORD, topic="t")


def test_recognized() -> None:
    assert recognized(TEXT) == [WORD]
    assert recognized("Partition:0\tOffset:5\r\n") == [WORD]
    assert recognized("CreateTime:5\tk\tv\n") == []
