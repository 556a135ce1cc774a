"""Wrappers of clients, with stand-ins for the clients: the real ones are in tests/brokers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import precedes.record
from precedes.record import CLOCK, MESSAGE, SENDER, Recorder, RecordingWarning


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "trace.jsonl")


def rows(recorder: Recorder) -> list[dict[str, Any]]:
    lines = Path(recorder.path).read_text(encoding="utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda row: int(row["seq"]))


def test_an_offer_stands_where_it_was_made(recorder: Recorder) -> None:
    x, y = recorder.entity("x"), recorder.entity("y")
    first, second, third = (x.offer(to=["y"], attributes={"key": k}) for k in "abc")
    third.accepted({"position": 2})
    y.deliver(third.headers)
    first.accepted({"position": 1})
    second.refused()
    assert [
        (row["event"], row.get("message"), row["clock"]["x"])
        for row in rows(recorder)
        if row["entity"] == "x"
    ] == [
        ("send", "x-1", 1),
        ("local", None, 2),
        ("send", "x-3", 3),
    ]
    assert (rows(recorder)[0]["key"], rows(recorder)[0]["position"]) == ("a", 1)
    recorder.assert_keeps("vector_time", "order_preserving", "no_creation")


def test_a_name_that_was_offered_is_not_given_again(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.jsonl") as first:
        first.entity("x").offer().accepted()
        lost = first.entity("x").offer().headers[MESSAGE]
    with Recorder(tmp_path / "a.jsonl") as again:
        assert again.entity("x").offer().headers[MESSAGE] != lost == "x-2"


def test_acknowledgements(recorder: Recorder) -> None:
    x = recorder.entity("x")
    name = x.deliver(x.send("m", to=["x"]))
    x.nack(name)
    x.deliver({MESSAGE: name, SENDER: "x", CLOCK: "{}"})
    x.ack(name)
    assert [row["event"] for row in rows(recorder)] == ["send", "deliver", "nack", "deliver", "ack"]
    recorder.assert_keeps("no_creation")


def test_who_does_not_know_a_clock_has_none(recorder: Recorder, tmp_path: Path) -> None:
    x, y = recorder.entity("x"), recorder.entity("y")
    x.deliver(y.send("p", to=["x"]))
    x.deliver({MESSAGE: "q"})
    headers = x.send("r", to=["y"])
    assert CLOCK not in headers
    assert [("clock" in row, row.get("sender")) for row in rows(recorder)] == [
        (True, None),
        (True, "y"),
        (False, "?"),
        (False, None),
    ]
    recorder.close()
    assert CLOCK not in Recorder(tmp_path / "trace.jsonl").entity("x").send(to=["y"])


def test_groups_are_on_every_row(recorder: Recorder) -> None:
    member = recorder.entity("m", groups=["g"])
    member.send("p", to=["group:g"])
    assert recorder.entity("m") is member
    member.deliver({MESSAGE: "p"})
    assert [row["group"] for row in rows(recorder)] == [["g"], ["g"]]
    with pytest.raises(ValueError, match="m is in g, and not in h"):
        recorder.entity("m", groups=["h"])
    with pytest.raises(TypeError, match=r"write groups=\['g'\]"):
        recorder.entity("n", groups="g")


class FakeChannel:
    """What the wrapper uses of a channel of pika."""

    channel_number = 1

    def __init__(self) -> None:
        self.called: list[Any] = []
        self.fail = False

    def basic_publish(self, *arguments: Any) -> None:
        if self.fail:
            raise ConnectionError
        self.called.append(arguments)

    def basic_consume(self, queue: str, callback: Any, auto_ack: bool, **rest: Any) -> str:
        self.callback = callback
        return "tag"

    def consume(self, queue: str, auto_ack: bool, **rest: Any) -> Iterator[tuple[Any, Any, bytes]]:
        for tag, (_, _, _, properties, _) in enumerate(list(self.called), 1):
            yield SimpleNamespace(delivery_tag=tag, redelivered=False), properties, b""
        yield None, None, b""

    def basic_ack(self, tag: int, multiple: bool) -> None:
        if self.fail:
            raise ConnectionError
        self.called.append((tag, multiple))


def test_a_channel(recorder: Recorder) -> None:
    channel = FakeChannel()
    wrapped = precedes.record.pika(channel, recorder.entity("x"), to=lambda topic: [topic.partition("/")[2]])
    own = SimpleNamespace(headers={"own": 1}, priority=None)
    for key in "ab":
        wrapped.basic_publish("e", key, b"", own)
    channel.fail = True
    with pytest.raises(ConnectionError):
        wrapped.basic_publish("e", "c", b"", own)
    channel.fail = False
    assert own.headers == {"own": 1}
    given: list[Any] = []
    wrapped.basic_consume("q", lambda channel, *_: given.append(channel))
    for tag, call in enumerate(channel.called, 1):
        channel.callback(channel, SimpleNamespace(delivery_tag=tag, redelivered=False), call[3], b"")
    channel.fail = True
    with pytest.raises(ConnectionError):
        wrapped.basic_ack(1)
    channel.fail = False
    wrapped.basic_ack(2, multiple=True)
    assert given == [wrapped, wrapped]
    assert [(row["event"], row.get("message"), row.get("dest")) for row in rows(recorder)] == [
        ("send", "x-1", ["a"]),
        ("send", "x-2", ["b"]),
        ("local", None, None),
        ("deliver", "x-1", None),
        ("deliver", "x-2", None),
        ("ack", "x-2", None),
    ]


@pytest.mark.parametrize("auto_ack", [True, False])
def test_what_iteration_takes_is_acknowledged_at_once_or_waits(recorder: Recorder, auto_ack: bool) -> None:
    channel = FakeChannel()
    wrapped = precedes.record.pika(channel, recorder.entity("x"))
    for key in "ab":
        wrapped.basic_publish("e", key, b"", SimpleNamespace(headers={}, priority=None))
    assert len(list(wrapped.consume("q", auto_ack))) == 3
    taken = [(row["event"], row["message"]) for row in rows(recorder)[2:]]
    at_once = [("deliver", "x-1"), ("ack", "x-1"), ("deliver", "x-2"), ("ack", "x-2")]
    assert taken == [(event, name) for event, name in at_once if auto_ack or event == "deliver"]
    # A tag that waited would be recorded a second time.
    wrapped.basic_ack(0, multiple=True)
    late = [(row["event"], row["message"]) for row in rows(recorder)[2 + len(taken) :]]
    assert late == ([] if auto_ack else [("ack", "x-1"), ("ack", "x-2")])


def test_what_has_no_name_is_told_and_passed_on(recorder: Recorder) -> None:
    channel, got = FakeChannel(), []
    wrapped = precedes.record.pika(channel, recorder.entity("x"))
    wrapped.basic_consume("q", lambda *arguments: got.append(arguments[3]))
    with pytest.warns(RecordingWarning, match="x got a message without the header"):
        channel.callback(
            channel, SimpleNamespace(delivery_tag=1, redelivered=False), SimpleNamespace(headers=None), b"m"
        )
    wrapped.basic_ack(1)
    assert (got, rows(recorder)) == ([b"m"], [])


def test_one_name_is_no_list_of_names(recorder: Recorder) -> None:
    with pytest.raises(TypeError, match=r"write to=\['y'\]"):
        precedes.record.pika(FakeChannel(), recorder.entity("x"), to="y")


class FakeMqtt:
    """What the wrapper uses of a client of paho, which may complete a publish before it returns."""

    protocol = 4
    on_message: Any = None
    on_publish: Any = None
    _manual_ack = False

    def __init__(self, *, at_once: bool) -> None:
        self.at_once = at_once

    def publish(self, topic: str, payload: Any, qos: int, retain: bool, properties: Any) -> Any:
        if self.at_once:
            self.on_publish(self, None, 7, SimpleNamespace(is_failure=False), None)
        return SimpleNamespace(rc=0, mid=7)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(("failure", "event"), [(False, "send"), (True, "local")])
def test_a_publish_is_complete_before_or_after_it_returns(
    recorder: Recorder, at_once: bool, failure: bool, event: str
) -> None:
    client = FakeMqtt(at_once=at_once)
    wrapped = precedes.record.paho(client, recorder.entity("x"), name=bytes.decode)
    called: list[Any] = []
    wrapped.on_publish = lambda given, *_: called.append(given)
    wrapped.publish("t", "m1", 1)
    if not at_once:
        assert rows(recorder) == []
        client.on_publish(client, None, 7, SimpleNamespace(is_failure=failure), None)
        assert [row["event"] for row in rows(recorder)] == [event]
    else:
        assert [row["event"] for row in rows(recorder)] == ["send"]
    assert called == [wrapped]


def test_other_settings_of_a_client_reach_it(recorder: Recorder) -> None:
    client = FakeMqtt(at_once=True)
    wrapped = precedes.record.paho(client, recorder.entity("x"), name=bytes.decode)
    wrapped.on_connect = print
    assert client.on_connect is print
