"""The output of kcat -C -J."""

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

WORD = "kcat"
FIRST: dict[str, Any] = {
    "topic": "orders", "partition": 3, "offset": 42, "tstype": "create", "ts": 1700000000123, "broker": 1,
    "headers": ["a", "1"], "key": "acct-9", "payload": "p1.17",
}  # fmt: skip
SECOND = FIRST | {"offset": 43, "tstype": "logappend", "key": None}
COLUMNS = ("topic", "partition", "position", "key", "create_time", "append_time")


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    common = {"entity": "c1", "event": "deliver", "sender": "?", "topic": "orders", "partition": "3"}
    assert rows_of(tmp_path / f"c1.{suffix}", lines(FIRST, SECOND), WORD, COLUMNS) == [
        common
        | {"message": "orders-3@42", "position": "42", "key": "acct-9", "row": 1}
        | {"create_time": "1700000000.123000000"},
        common
        | {"message": "orders-3@43", "position": "43", "row": 2}
        | {"append_time": "1700000000.123000000"},
    ]


def test_what_may_be_absent(tmp_path: Path) -> None:
    place = {name: FIRST[name] for name in ("topic", "partition", "offset")}
    for others in ({}, {"tstype": "unknown", "ts": 0}, {"tstype": "create", "ts": -1}):
        (row,) = rows_of(tmp_path / "c", lines(place | others), WORD, COLUMNS)
        assert not {"create_time", "append_time", "time", "key"} & row.keys()
    assert refusal(tmp_path / "c", lines(FIRST | {"tstype": "other"}), WORD).code == "T012"
    assert refusal(tmp_path / "c", lines({"topic": "t", "offset": 1}), WORD).code == "T011"


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "c", lines(FIRST, SECOND), WORD)
    check_garbage(tmp_path / "c", lines(FIRST, SECOND), WORD)
    check_wrong_values(tmp_path / "c", [FIRST, SECOND], WORD)


def test_recognized() -> None:
    assert recognized(lines(FIRST)) == [WORD]
    assert recognized(lines({**FIRST, "execution": "x", "event": "send"})) == []
    assert recognized(lines({**FIRST, "other": 1})) == []


def test_what_is_not_read_may_be_any_json_that_is_not_too_deep(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path / "c", lines(FIRST)[:-2] + ',"x":' + "9" * 6_000 + "}\n", WORD)
    assert row["message"] == "orders-3@42"
    told = refusal(tmp_path / "c", lines(FIRST) + '{"x":' + "[" * 1_500 + "]" * 1_500 + "}\n", WORD)
    assert (told.code, told.row, told.hint) == ("T007", 2, None)
    assert told.message == "the brackets are nested too deeply"


def test_a_line_that_is_cut_off_is_named_once(tmp_path: Path) -> None:
    told = refusal(tmp_path / "c", lines(FIRST, SECOND)[:-20], WORD)
    assert (told.code, told.row) == ("T007", 2)
    assert told.message.startswith("this is not JSON at column ")
    assert told.hint == "a file that was cut off looks like this"
