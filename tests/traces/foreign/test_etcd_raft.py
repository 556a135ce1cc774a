"""Traces of etcd's Raft: what a message says names it, if it was sent once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces.foreign.logs import (
    WRONG,
    check_cuts,
    check_wrong_values,
    outcome,
    recognized,
    refusal,
    rows_of,
)

WORD = "etcd-raft"


def step(name: str, node: str, *ends: str, **said: Any) -> dict[str, Any]:
    """A line, of a message from one end to the other if there are two."""
    event: dict[str, Any] = {
        "name": name, "nid": node, "state": {"term": 2, "vote": "2", "commit": 6}, "role": "StateLeader", "log": 6,
        "conf": [["1", "2"], []],
    }  # fmt: skip
    if ends:
        empty = {"term": 2, "entries": 0, "logTerm": 0, "index": 0, "commit": 0, "vote": "0", "reject": False}
        message = {"type": "MsgApp", "from": ends[0], "to": ends[1], **empty, "rejectHint": 0}
        event["msg"] = message | said
    return {"level": "debug", "ts": 1700000000.25, "msg": "trace", "tag": "trace", "event": event}


STEPS = [
    step("InitState", "1"),
    step("SendAppendEntriesRequest", "2", "2", "1", index=6, entries=1),
    step("ReceiveAppendEntriesRequest", "1", "2", "1", index=6, entries=1),
    step("SendAppendEntriesResponse", "1", "1", "2", type="MsgAppResp", reject=True, rejectHint=5, vote="2"),
]
ALIKE = [step("SendAppendEntriesRequest", "2", "2", "1", type="MsgHeartbeat")] * 2
RECEIVED = step("ReceiveAppendEntriesRequest", "1", "2", "1", type="MsgHeartbeat")


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize("name", ["t.ndjson", "t.ndjson.gz"])
def test_rows(tmp_path: Path, name: str) -> None:
    at = {"time": 1700000000250000000}
    first, second = "MsgApp 2>1 term=2 index=6 entries=1", "MsgAppResp 1>2 term=2 rejectHint=5 vote=2 reject"
    assert rows_of(tmp_path / name, lines(*STEPS), WORD) == [
        at | {"entity": "1", "event": "local", "row": 1},
        at | {"entity": "2", "event": "send", "message": first, "dest": ["1"], "row": 2},
        at | {"entity": "1", "event": "deliver", "message": first, "sender": "2", "row": 3},
        at | {"entity": "1", "event": "send", "message": second, "dest": ["2"], "row": 4},
    ]


def test_messages_that_look_alike(tmp_path: Path) -> None:
    text = lines(*ALIKE, *STEPS, RECEIVED)
    told = refusal(tmp_path / "t", text, WORD)
    assert (told.code, told.row) == ("T027", 1)
    found = rows_of(tmp_path / "t", text, WORD, alike="local")
    assert [row["event"] for row in found] == ["local", "local", "local", "send", "deliver", "send", "local"]
    assert refusal(tmp_path / "t", text, WORD, alike="first").code == "U001"


def test_a_message_that_was_sent_once_and_came_twice(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "t", lines(ALIKE[0], RECEIVED, RECEIVED), WORD)
    assert [row["message"] for row in found] == ["MsgHeartbeat 2>1 term=2"] * 3


def test_the_sender_must_be_in_the_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "t", lines(RECEIVED), WORD).code == "T027"


def test_other_lines_of_the_log_are_left_out(tmp_path: Path) -> None:
    text = lines({"level": "info", "msg": "hello"}, {"tag": "other", "event": 1}, *STEPS)
    assert [row["row"] for row in rows_of(tmp_path / "t", text, WORD)] == [3, 4, 5, 6]
    assert refusal(tmp_path / "t", lines({"tag": "trace", "event": 1}), WORD).code == "T012"


def test_a_step_of_another_node_or_kind(tmp_path: Path) -> None:
    other = step("SendAppendEntriesRequest", "1", "2", "1")
    assert refusal(tmp_path / "t", lines(other), WORD).code == "T012"
    assert refusal(tmp_path / "t", lines(step("Ready", "2", "2", "1")), WORD).code == "T013"


@pytest.mark.parametrize("field", ["type", "term", "from", "entries", "vote", "reject", "rejectHint"])
@pytest.mark.parametrize("value", WRONG)
def test_wrong_values_in_messages(tmp_path: Path, field: str, value: object) -> None:
    text = lines(STEPS[0], step("SendAppendEntriesRequest", "2", "2", "1", **{field: value}))
    found = outcome(tmp_path / "t", text, WORD)
    assert isinstance(found, list) or (found.code[0], found.row) == ("T", 2)


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "t", lines(*STEPS[:2]), WORD)
    for garbage in (b"\xff\n", b"[1]\n", b"nonsense\n", b"{" * 3000 + b"\n"):
        assert refusal(tmp_path / "t", lines(*STEPS).encode() + garbage, WORD).code in {"T006", "T007"}
    check_wrong_values(tmp_path / "t", [STEPS[1]], WORD)
    assert outcome(tmp_path / "t", "", WORD) == []


def test_recognized() -> None:
    assert recognized(lines({"level": "info"}, *STEPS)) == [WORD]
    assert recognized(lines({**STEPS[0], "execution": "x"})) == []
    assert recognized(lines({"event": {"name": "x"}})) == []
