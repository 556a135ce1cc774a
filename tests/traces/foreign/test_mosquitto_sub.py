"""The output of mosquitto_sub, as JSON and as lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces.foreign.logs import (
    check_cuts,
    check_garbage,
    check_wrong_values,
    outcome,
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


PRINTED = "1700000000.123456789 1 0 7b226964223a377d plant one\n1700000001.000000000 1 1 7b226964223a387d b\n"
FORMAT = "%U %q %r %x %t"


def test_lines_of_a_format(tmp_path: Path) -> None:
    columns = ("topic", "qos", "retained")
    found = rows_of(tmp_path / "s1.log", PRINTED, WORD, columns, message="payload.id", format=FORMAT)
    common = {"entity": "s1", "event": "deliver", "sender": "?", "qos": "1"}
    assert found == [
        common
        | {"message": "7", "time": 1700000000123456789, "topic": "plant one", "retained": "false", "row": 1},
        common | {"message": "8", "time": 1700000001000000000, "topic": "b", "retained": "true", "row": 2},
    ]


@pytest.mark.parametrize(
    ("written", "line", "message", "name"),
    [
        ("%t %p", "a/b m 1", "payload", "m 1"),
        ("%I;%t;%p", "2023-11-15T07:13:20+0900;a;7", "payload", "7"),
        (r"%m @H:@M\t%l\t%P;%p%%@@", '3 10:20\t8\ta:b;{"id":7}%@', "payload.id", "7"),
        ('{"about":"%t","is":%p}', '{"about":"a b","is":{"id":"x"}}', "payload.id", "x"),
        ("%X %t", "414A a", "payload", "AJ"),
        ("%t", "orders/17", "topic", "orders/17"),
    ],
)
def test_common_formats(tmp_path: Path, written: str, line: str, message: str, name: str) -> None:
    [row] = rows_of(tmp_path / "s", f"{line}\n", WORD, message=message, format=written)
    assert row["message"] == name
    assert row.get("time") == (1_700_000_000 * 10**9 if "%I" in written else None)


@pytest.mark.parametrize(
    "written", ["%-10t", "%t %t", "%p %x", "%U %I", r"%t\n%p", "%j %t", "%", "%5p", "%P%p", "%t@H %q", "%t%q"]
)
def test_formats_that_cannot_be_read(tmp_path: Path, written: str) -> None:
    assert refusal(tmp_path / "s", PRINTED, WORD, message="payload", format=written).code == "U001"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1700000000 1 0 41 t\n", "T007"),
        ("1700000000.123456789 1 0 ff t\n", "T006"),
        ("1700000000.123456789 1 0 4 t\n", "T007"),
        ("1700000000.123456789 3 0 41 t\n", "T007"),
        ("1700000000.123456789 1 0 41 t\n\n", "T007"),
        ("99999999999999.123456789 1 0 41 t\n", "T015"),
        ("1700000000.123456789 1 0 41 t", "T007"),
    ],
)
def test_lines_that_are_not_as_the_format_says(tmp_path: Path, text: str, code: str) -> None:
    assert refusal(tmp_path / "s", text, WORD, message="payload", format=FORMAT).code == code


def test_a_payload_with_line_ends_is_told_by_its_length(tmp_path: Path) -> None:
    text = "3 t a\n3 t b\n"
    assert refusal(tmp_path / "s", text, WORD, message="payload", format="%l %t %p").code == "T007"


def test_long_lines_take_no_time(tmp_path: Path) -> None:
    text = "a b " * 100_000
    found = outcome(tmp_path / "s", f"{text}\n", WORD, message="payload", format="%t %R %S %P %p;%l")
    assert not isinstance(found, list)
    assert found.code == "T007"


def test_cut_lines(tmp_path: Path) -> None:
    check_cuts(tmp_path / "s", PRINTED, WORD, message="payload.id", format=FORMAT)
    assert outcome(tmp_path / "s", "", WORD, message="payload.id", format=FORMAT) == []
