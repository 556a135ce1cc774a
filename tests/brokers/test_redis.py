"""Clients of redis-py that record, blocking and with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from precedes.record import Recorder, RecordingWarning
from precedes.record import redis as recorded

redis = pytest.importorskip("redis", reason="redis is not installed: requirements/brokers.txt")


@pytest.fixture
def place(broker: Callable[[str], tuple[str, int]]) -> dict[str, Any]:
    host, port = broker("redis")
    return {"host": host, "port": port}


@pytest.fixture(params=["resp2", "resp3", "text"])
def client(request: pytest.FixtureRequest, place: dict[str, Any], unique: str) -> Iterator[Any]:
    options = {"resp2": {"protocol": 2}, "resp3": {"protocol": 3}, "text": {"decode_responses": True}}
    with redis.Redis(**place, **options[request.param]) as made:
        yield made
        made.delete(unique)


def test_a_stream_and_its_readers(client: Any, recorder: Recorder, rows: Any, unique: str) -> None:
    for name in ("a", "b"):
        writer = recorded(client, recorder.entity(name), to=["x", "y"])
        for body in ("1", "2"):
            writer.xadd(unique, {"body": body})
    for name in ("x", "y"):
        assert recorded(client, recorder.entity(name)).xread({unique: 0}, count=10)
    recorder.assert_keeps("redis_stream", "ST", "no_duplication", "no_creation")
    assert {row["topic"] for row in rows() if row["event"] == "send"} == {unique}


def test_members_of_a_group(client: Any, recorder: Recorder, rows: Any, unique: str) -> None:
    client.xgroup_create(unique, "g", mkstream=True)
    writer = recorded(client, recorder.entity("w"), to=["group:g"])
    ids = [writer.xadd(unique, {"body": body}) for body in "123"]
    first, second = (recorded(client, recorder.entity(name, groups=["g"])) for name in ("m1", "m2"))
    first.xreadgroup("g", "m1", {unique: ">"}, count=2)
    first.xack(unique, "g", ids[0])
    # What is pending is read again by its id, or taken over.
    first.xreadgroup("g", "m1", {unique: "0"})
    second.xautoclaim(unique, "g", "m2", 0)
    second.xclaim(unique, "g", "m2", 0, [ids[1]])
    second.xack(unique, "g", ids[1])
    second.xreadgroup("g", "m2", {unique: ">"}, noack=True)
    assert [(row["entity"], row["event"], row["message"], row.get("redelivered")) for row in rows()[3:]] == [
        ("m1", "deliver", "w-1", False),
        ("m1", "deliver", "w-2", False),
        ("m1", "ack", "w-1", None),
        ("m1", "deliver", "w-2", True),
        ("m2", "deliver", "w-2", True),
        ("m2", "deliver", "w-2", True),
        ("m2", "ack", "w-2", None),
        ("m2", "deliver", "w-3", False),
        ("m2", "ack", "w-3", None),
    ]
    recorder.assert_keeps("kept_by_groups")


def test_an_entry_that_was_deleted_is_not_delivered(
    client: Any, recorder: Recorder, rows: Any, unique: str
) -> None:
    client.xgroup_create(unique, "g", mkstream=True)
    both = recorded(client, recorder.entity("m"))
    entry = both.xadd(unique, {"body": "1"})
    both.xreadgroup("g", "m", {unique: ">"})
    client.xdel(unique, entry)
    both.xreadgroup("g", "m", {unique: "0"})
    assert [row["event"] for row in rows()] == ["send", "deliver"]


def test_what_the_server_refuses_was_not_sent(
    client: Any, recorder: Recorder, rows: Any, unique: str
) -> None:
    client.set(unique, "no stream")
    with pytest.raises(redis.ResponseError):
        recorded(client, recorder.entity("a")).xadd(unique, {"body": "1"})
    assert [row["event"] for row in rows()] == ["local"]


def test_pubsub_needs_names(client: Any, recorder: Recorder) -> None:
    wrapped = recorded(client, recorder.entity("a"))
    with pytest.raises(ValueError, match="pub/sub of Redis has no headers"):
        wrapped.publish("c", "m1")
    with pytest.raises(ValueError, match="pub/sub of Redis has no headers"):
        wrapped.pubsub()
    with pytest.warns(RecordingWarning, match="`pipeline`"):
        wrapped.pipeline()


def test_pubsub_by_message_and_by_handler(client: Any, recorder: Recorder, rows: Any, unique: str) -> None:
    def subscribed(name: str) -> Any:
        return recorded(client, recorder.entity(name), name=bytes.decode).pubsub(
            ignore_subscribe_messages=True
        )

    handled: list[Any] = []
    x, y = subscribed("x"), subscribed("y")
    x.subscribe(unique)
    y.psubscribe(**{f"{unique}*": handled.append})
    for each in (x, y):
        assert each.get_message(timeout=5) is None
    writer = recorded(client, recorder.entity("w"), to=["x", "y"], name=bytes.decode)
    for name in ("m1", "m2"):
        writer.publish(unique, name)
    assert [x.get_message(timeout=5)["type"] for _ in range(2)] == ["message"] * 2
    while len(handled) < 2:
        y.get_message(timeout=5)
    for each in (x, y):
        each.close()
    recorder.assert_keeps("redis_pubsub", "ST", "no_creation")
    # The sender's clock does not travel, so a receiver has none.
    assert {(row["entity"], "clock" in row) for row in rows()} == {("w", True), ("x", False), ("y", False)}


def test_asyncio(place: dict[str, Any], recorder: Recorder, rows: Any, unique: str) -> None:
    async def main() -> None:
        from redis.asyncio import Redis

        async with Redis(**place) as client:
            both = recorded(client, recorder.entity("a"), to=["a"], name=bytes.decode)
            await both.xadd(unique, {"body": "1"})
            assert await both.xread({unique: 0})
            await client.delete(unique)
            subscriber = both.pubsub(ignore_subscribe_messages=True)
            handled = asyncio.Event()

            async def handle(_message: Any) -> None:
                handled.set()

            await subscriber.subscribe(unique, **{f"{unique}-handled": handle})
            for _ in range(2):
                await subscriber.get_message(timeout=5)
            await both.publish(unique, "m1")
            await both.publish(f"{unique}-handled", "m2")
            async for message in subscriber.listen():
                assert message["data"] == b"m1"
                break
            while not handled.is_set():
                await subscriber.get_message(timeout=5)
            await subscriber.aclose()

    asyncio.run(main())
    assert [(row["event"], row["message"]) for row in rows()] == [
        ("send", "a-1"),
        ("deliver", "a-1"),
        ("send", "m1"),
        ("send", "m2"),
        ("deliver", "m1"),
        ("deliver", "m2"),
    ]
    recorder.assert_keeps("redis_pubsub", "SP")
