"""Traces of RabbitMQ: lines of the plugin, and messages of the firehose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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

WORD = "rabbitmq-tracing"
PRODUCER, CONSUMER = "10.0.0.1:4 -> 10.0.0.2:5672", "10.0.0.3:5 -> 10.0.0.2:5672"


def line(kind: str, name: str | None, connection: str, channel: int = 1, **fields: Any) -> dict[str, Any]:
    properties = {} if name is None else {"message_id": name}
    return {
        "timestamp": "2026-01-02T03:04:05.006+00:00", "type": kind, "node": "rabbit@a", "connection": connection,
        "vhost": "/", "user": "guest", "channel": channel, "exchange": "ex", "queue": "none",
        "routed_queues": "none", "routing_keys": ["k"], "properties": properties, "payload": "aGk=",
    } | fields  # fmt: skip


def published(name: str | None, *queues: str, **fields: Any) -> dict[str, Any]:
    return line("published", name, PRODUCER, routed_queues=list(queues), **fields)


def received(name: str | None, queue: str, connection: str = CONSUMER, **fields: Any) -> dict[str, Any]:
    return line("received", name, connection, queue=queue, **fields)


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)


RECORDS = (published("m1", "q1", "q2"), published("m2", "q1"), received("m1", "q1"), received("m2", "q1"))


@pytest.mark.parametrize("suffix", ["log", "log.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    sender = f"{PRODUCER}#1"
    send = {"entity": sender, "event": "send", "channel": sender}
    got = {"entity": "q1", "event": "deliver", "sender": "?", "consumer": f"{CONSUMER}#1"}
    assert rows_of(tmp_path / f"t.{suffix}", lines(*RECORDS), WORD, ("channel", "consumer")) == [
        send | {"message": "m1", "dest": ["q1", "q2"], "row": 1},
        send | {"message": "m2", "dest": ["q1"], "row": 2},
        got | {"message": "m1", "row": 3},
        got | {"message": "m2", "row": 4},
    ]


def test_the_firehose(tmp_path: Path) -> None:
    headers: dict[str, Any] = {
        "exchange_name": "ex", "routing_keys": ["k"], "properties": {"message_id": "m1"}, "node": "rabbit@a",
        "vhost": "/", "connection": PRODUCER, "channel": 1, "user": "guest",
    }  # fmt: skip
    records = [{"routing_key": "publish.ex", "headers": headers | {"routed_queues": ["q.1"]}}]
    records += [
        {"routing_key": "deliver.q.1", "headers": headers | {"redelivered": value}} for value in (0, 1, True)
    ]
    assert recognized(lines(*records)) == recognized(lines(*records[1:])) == [WORD]
    send, *got = rows_of(tmp_path / "t", lines(*records), WORD)
    assert (send["event"], send["dest"]) == ("send", ["q.1"])
    assert [(row["entity"], row["redelivered"]) for row in got] == [
        ("q.1", False),
        ("q.1", True),
        ("q.1", True),
    ]
    assert refusal(tmp_path / "t", lines(records[0] | {"routing_key": "other"}), WORD).code == "T013"
    check_wrong_values(tmp_path / "t", records, WORD)


def test_a_message_without_a_name(tmp_path: Path) -> None:
    problem = refusal(tmp_path / "t", lines(RECORDS[0], published(None, "q1")), WORD)
    assert (problem.code, problem.row) == ("T023", 2)
    own = published(None, "q1", properties={"headers": {"x.id": 7}, "correlation_id": "c"})
    for path, name in (
        ("properties.headers.x.id", "7"),
        ("properties.correlation_id", "c"),
        ("payload", "aGk="),
    ):
        (row,) = rows_of(tmp_path / "t", lines(own), WORD, message=path)
        assert row["message"] == name


def test_queues_of_two_virtual_hosts_are_two(tmp_path: Path) -> None:
    hosts = [("/", "q"), ("/", "v/q"), ("v", "q"), ("v/w", "q"), ("v", "w/q")]
    text = lines(*(received("m", queue, vhost=host) for host, queue in hosts))
    names = [row["entity"] for row in rows_of(tmp_path / "t", text, WORD)]
    assert names == ["q", "%2F/v/q", "v/q", "v%2Fw/q", "v/w/q"]


def test_two_channels_at_a_queue(tmp_path: Path) -> None:
    text = lines(*RECORDS, received("m3", "q1", PRODUCER))
    assert refusal(tmp_path / "t", text, WORD).code == "T023"
    assert {row["entity"] for row in rows_of(tmp_path / "t", text, WORD, receiver="queue")[2:]} == {"q1"}
    found = rows_of(tmp_path / "t", text, WORD, receiver="consumer")
    assert [row["dest"] for row in found[:2]] == [["group:q1", "group:?"], ["group:q1"]]
    assert [(row["entity"], row["group"]) for row in found[2:]] == [
        (f"q1 at {CONSUMER}#1", ["q1"]),
        (f"q1 at {CONSUMER}#1", ["q1"]),
        (f"q1 at {PRODUCER}#1", ["q1"]),
    ]
    assert refusal(tmp_path / "t", text, WORD, receiver="other").code == "U001"


def test_an_execution(tmp_path: Path) -> None:
    (tmp_path / "t.log").write_text(lines(*RECORDS))
    batch = batch_of(source_of(tmp_path / "t.log", WORD))
    assert batch.executions == 1


def test_other_lines(tmp_path: Path) -> None:
    assert refusal(tmp_path / "t", lines(line("other", "m", PRODUCER)), WORD).code == "T013"
    assert refusal(tmp_path / "t", lines(published("m", "")), WORD).code == "T012"
    check_cuts(tmp_path / "t", lines(RECORDS[2]), WORD)
    check_garbage(tmp_path / "t", lines(*RECORDS), WORD)
    check_wrong_values(tmp_path / "t", RECORDS[1:3], WORD)


def test_recognized() -> None:
    assert recognized(lines(*RECORDS)) == [WORD]
    assert recognized(lines({**RECORDS[0], "execution": "x", "event": "send"})) == []
