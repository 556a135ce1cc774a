"""The output of mosquitto_sub -F %j and -F %J."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces.foreign.logs import (
    check_cuts,
    check_garbage,
    check_wrong_values,
    recognized,
    refusal,
    rows_of,
)

WORD = "mosquitto-sub"
FIRST: dict[str, Any] = {
    "tst": "2023-11-15T07:13:20.123456Z+0900", "topic": "a/b", "qos": 1, "retain": 0, "payloadlen": 9, "mid": 3,
    "properties": {"user-properties": {"client": "pump-1"}}, "payload": {"id": 7},
}  # fmt: skip
SECOND = FIRST | {"payload": '{"id":"8"}', "retain": 1, "mid": 4}


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    columns = ("topic", "qos", "retained")
    found = rows_of(tmp_path / f"s1.{suffix}", lines(FIRST, SECOND), WORD, columns, message="payload.id")
    common = {
        "entity": "s1", "event": "deliver", "sender": "?", "time": 1700000000123456000, "topic": "a/b", "qos": "1",
    }  # fmt: skip
    assert found == [
        common | {"message": "7", "retained": "false", "row": 1},
        common | {"message": "8", "retained": "true", "row": 2},
    ]


def test_a_sender_that_the_publisher_states(tmp_path: Path) -> None:
    path = "properties.user-properties.client"
    (row,) = rows_of(tmp_path / "s", lines(FIRST), WORD, message="payload.id", sender=path)
    assert row["sender"] == "pump-1"
    text = lines(FIRST | {"properties": {}})
    assert refusal(tmp_path / "s", text, WORD, message="payload.id", sender=path).code == "T023"


def test_what_names_a_message_must_be_said(tmp_path: Path) -> None:
    assert refusal(tmp_path / "s", lines(FIRST), WORD).code == "T023"
    assert refusal(tmp_path / "s", lines(FIRST), WORD, message="payload.other").code == "T023"
    assert refusal(tmp_path / "s", lines(FIRST), WORD, message="payload").code == "T012"
    text = lines(FIRST | {"tst": "2023-11-15T07:13:20Z"})
    assert refusal(tmp_path / "s", text, WORD, message="payload.id").code == "T016"


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "s", lines(FIRST), WORD, message="payload.id")
    check_garbage(tmp_path / "s", lines(FIRST, SECOND), WORD, message="payload.id")
    check_wrong_values(tmp_path / "s", [SECOND], WORD, message="payload.id")


def test_recognized() -> None:
    assert recognized(lines(FIRST)) == [WORD]
    assert recognized(lines({**FIRST, "execution": "x", "event": "deliver"})) == []
