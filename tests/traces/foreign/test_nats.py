"""What clients of NATS JetStream log."""

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

WORD = "nats"
OLD = {"reply": "$JS.ACK.ORDERS.worker.1.17.21.1700000000000000000.4", "subject": "orders.eu"}
NEW = {"reply": "$JS.ACK._.HASH.ORDERS.worker.2.17.22.1700000000000000001.4.tok", "subject": "orders.eu"}
STORED = {"stream": "ORDERS", "seq": 17, "subject": "orders.eu"}
COLUMNS = ("topic", "position", "consumer", "consumer_sequence", "attempt", "pending", "store_time")


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    found = rows_of(tmp_path / f"w1.{suffix}", lines(OLD, NEW | {"time": 1.5}, STORED), WORD, COLUMNS)
    named = {"entity": "w1", "message": "ORDERS@17", "topic": "orders.eu", "position": "17"}
    got = named | {"event": "deliver", "sender": "?", "consumer": "worker", "pending": "4"}
    assert found == [
        got
        | {"redelivered": False, "consumer_sequence": "21", "attempt": "1", "row": 1}
        | {"store_time": "1700000000.000000000"},
        got
        | {"redelivered": True, "consumer_sequence": "22", "attempt": "2", "row": 2, "time": 1500000000}
        | {"store_time": "1700000000.000000001"},
        named | {"event": "send", "dest": ["group:?"], "row": 3},
    ]


def test_domains(tmp_path: Path) -> None:
    reply = "$JS.ACK.hub.HASH.ORDERS.worker.1.17.21.1700000000000000000.4"
    text = lines({"reply": reply}, {"stream": "ORDERS", "seq": 17, "domain": "hub"})
    assert {row["message"] for row in rows_of(tmp_path / "c", text, WORD)} == {"hub/ORDERS@17"}
    assert refusal(tmp_path / "c", lines({"stream": "a/b", "seq": 1}), WORD).code == "T012"


def test_a_duplicate_is_not_sent_again(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path / "p", lines(STORED | {"duplicate": True}), WORD)
    assert row == {"entity": "p", "event": "local", "row": 1}


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"subject": "orders.eu"}, "T023"),
        ({"reply": "_INBOX.x"}, "T012"),
        ({"reply": "$JS.ACK.ORDERS.worker.1.17.21.4"}, "T012"),
        ({"reply": "$JS.ACK.a.ORDERS.worker.1.17.21.5.4"}, "T012"),
        ({"reply": "$JS.ACK..worker.1.17.21.1700000000000000000.4"}, "T014"),
        ({"stream": "", "seq": 17}, "T014"),
        ({"stream": "ORDERS", "seq": 17, "domain": "a/b"}, "T012"),
        ({"reply": "$JS.ACK.ORDERS.worker.1.x.21.1700000000000000000.4"}, "T012"),
        ({"reply": "$JS.ACK.ORDERS.worker.1.17.21.99999999999999999999.4"}, "T015"),
        ({"stream": "ORDERS"}, "T011"),
    ],
)
def test_refused(tmp_path: Path, record: dict[str, Any], code: str) -> None:
    assert refusal(tmp_path / "c", lines(record), WORD).code == code


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "c", lines(OLD, NEW), WORD)
    check_garbage(tmp_path / "c", lines(OLD, NEW), WORD)
    check_wrong_values(tmp_path / "c", [OLD, NEW, STORED | {"duplicate": False, "domain": "d"}], WORD)


def test_recognized() -> None:
    assert recognized(lines(OLD)) == recognized(lines(NEW)) == [WORD]
    assert recognized(lines({**OLD, "execution": "x", "event": "deliver"})) == []
    assert recognized(lines({"reply": "_INBOX.x"})) == []
