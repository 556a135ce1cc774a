"""Logs of kafka-verifiable-producer and -consumer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from precedes.core.diagnostics import PrecedesError
from tests.traces.foreign.logs import (
    batch_of,
    check_cuts,
    check_garbage,
    check_wrong_values,
    recognized,
    refusal,
    rows_of,
    source_of,
)

WORD = "kafka-verifiable"


def event(name: str, at: int = 1700000000123, **fields: Any) -> dict[str, Any]:
    return {"timestamp": at, "name": name, **fields}


def sent(offset: int, value: str, partition: int = 0) -> dict[str, Any]:
    return event(
        "producer_send_success", key=None, value=value, topic="t", partition=partition, offset=offset
    )


def got(offset: int, partition: int = 0, **fields: Any) -> dict[str, Any]:
    return event("record_data", key="k", value="1", topic="t", partition=partition, offset=offset, **fields)


def polled(*counts: int) -> dict[str, Any]:
    summaries = [
        {"topic": "t", "partition": at, "count": count, "minOffset": 0, "maxOffset": count - 1}
        for at, count in enumerate(counts)
    ]
    return event("records_consumed", count=sum(counts), partitions=summaries)


def committed(success: bool = True, **ends: int) -> dict[str, Any]:
    offsets = [{"topic": "t", "partition": int(name[1:]), "offset": end} for name, end in ends.items()]
    return event("offsets_committed", offsets=offsets, success=success)


def lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in events)


PRODUCED = (event("startup_complete"), sent(0, "7.0"), sent(1, "7.1"), event("shutdown_complete"))
CONSUMED = (
    event("startup_complete"),
    event("partitions_assigned", partitions=[{"topic": "t", "partition": 0}]),
    got(0),
    got(1),
    polled(2),
    committed(p0=2),
)


@pytest.mark.parametrize("suffix", ["log", "log.gz"])
def test_what_a_producer_logs(tmp_path: Path, suffix: str) -> None:
    error = event("producer_send_error", key=None, value="2", topic="t", exception="E", message="late")
    summary = event("tool_data", sent=3, acked=2, target_throughput=-1, avg_throughput=1.5)
    text = lines(PRODUCED[0], PRODUCED[1], error, PRODUCED[3], summary)
    found = rows_of(tmp_path / f"p1.{suffix}", text, WORD, ("topic", "partition", "position", "key"))
    local = {"entity": "p1", "event": "local", "time": 1700000000123000000}
    assert found == [
        local | {"row": 1},
        {
            "entity": "p1", "event": "send", "message": "t-0@0", "dest": ["group:?"], "row": 2,
            "topic": "t", "partition": "0", "position": "0",
        },
        local | {"row": 3},
        local | {"row": 4},
    ]  # fmt: skip


def test_what_a_consumer_logs(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "c1.jsonl", lines(*CONSUMED), WORD, ("key",), group="billing")
    assert [row["event"] for row in found] == ["local", "local", "deliver", "deliver", "ack", "ack"]
    assert found[2] == {
        "entity": "c1", "event": "deliver", "message": "t-0@0", "sender": "?", "group": ["billing"],
        "time": 1700000000123000000, "key": "k", "row": 3,
    }  # fmt: skip
    assert [(row["message"], row["row"]) for row in found[4:]] == [("t-0@0", 6), ("t-0@1", 6)]


def test_a_commit_covers_what_was_delivered_before_its_offset_and_not_yet_acknowledged(
    tmp_path: Path,
) -> None:
    events = [got(0), got(1), got(0, 1), polled(2, 1), committed(False, p0=2), committed(p0=1)]
    events += [committed(p0=1, p1=0, p2=9), committed(p0=2), got(0), polled(1), committed(p0=1)]
    acks = [
        (row["row"], row["message"])
        for row in rows_of(tmp_path / "c", lines(*events), WORD)
        if row["event"] == "ack"
    ]
    assert acks == [(6, "t-0@0"), (8, "t-0@1"), (11, "t-0@0")]


def test_records_that_are_not_in_the_log(tmp_path: Path) -> None:
    problem = refusal(tmp_path / "c", lines(event("startup_complete"), polled(2)), WORD)
    assert (problem.code, problem.row) == ("T023", 2)
    assert "--verbose" in (problem.hint or "")
    assert refusal(tmp_path / "c", lines(got(0), polled(2)), WORD).code == "T024"


def test_sends_in_the_order_of_their_values(tmp_path: Path) -> None:
    text = lines(PRODUCED[0], sent(0, "7.1"), sent(0, "7.0", 1), sent(1, "7.2"))
    named = [row.get("message") for row in rows_of(tmp_path / "p", text, WORD)]
    assert named == [None, "t-0@0", "t-1@0", "t-0@1"]
    named = [row.get("message") for row in rows_of(tmp_path / "p", text, WORD, sends="value")]
    assert named == [None, "t-1@0", "t-0@0", "t-0@1"]
    for values, code in ((("1", "1"), "T023"), (("1", "x"), "T012")):
        text = lines(*(sent(at, value) for at, value in enumerate(values)))
        assert refusal(tmp_path / "p", text, WORD, sends="value").code == code
    with pytest.raises(PrecedesError) as raised:
        rows_of(tmp_path / "p", text, WORD, sends="other")
    assert raised.value.diagnostics[0].code == "U001"


def test_a_send_and_its_delivery_are_one_message(tmp_path: Path) -> None:
    for name, events in (("p1", PRODUCED), ("c1", CONSUMED)):
        (tmp_path / name).write_text(lines(*events))
    sources = [source_of(tmp_path / name, WORD, execution="x", group="g") for name in ("p1", "c1")]
    batch = batch_of(*sources)
    assert batch.executions == 1


def test_an_event_that_is_not_known(tmp_path: Path) -> None:
    assert refusal(tmp_path / "c", lines(event("surprise")), WORD).code == "T013"


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "c", lines(got(0), polled(1)), WORD)
    check_garbage(tmp_path / "c", lines(*CONSUMED), WORD)
    check_wrong_values(tmp_path / "c", [PRODUCED[1], got(0), polled(1), committed(p0=1)], WORD)


def test_recognized() -> None:
    assert recognized(lines(PRODUCED[0])) == [WORD]
    assert recognized("\ufeff\n" + lines(*CONSUMED[2:])) == [WORD]
    own = {"execution": "x", "event": "send", "name": "record_data", "timestamp": 1}
    assert recognized(lines(own)) == []
    assert recognized('{"name":"record_data","timesta') == []
