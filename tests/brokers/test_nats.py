"""Connections of nats-py that record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from precedes.record import Recorder
from precedes.record import nats as recorded

nats = pytest.importorskip("nats", reason="nats-py is not installed: requirements/brokers.txt")


@pytest.fixture
def server(broker: Callable[[str], tuple[str, int]]) -> str:
    host, port = broker("nats")
    return f"nats://{host}:{port}"


def test_two_subscribers_by_callback_and_by_iteration(
    server: str, recorder: Recorder, rows: Any, unique: str
) -> None:
    async def main() -> None:
        async with await nats.connect(server) as first, await nats.connect(server) as second:
            got = asyncio.Event()

            async def handle(message: Any) -> None:
                if message.data == b"3":
                    got.set()

            x, y = recorded(first, recorder.entity("x")), recorded(second, recorder.entity("y"))
            await x.subscribe(unique, cb=handle)
            subscription = await y.subscribe(unique)
            await first.flush()
            await second.flush()
            publisher = recorded(first, recorder.entity("p"), to=["x", "y"])
            for body in (b"1", b"2", b"3"):
                await publisher.publish(unique, body, headers={"own": "1"})
            assert (await subscription.next_msg(5)).headers["own"] == "1"
            async for message in subscription.messages:
                if message.data == b"3":
                    break
            await asyncio.wait_for(got.wait(), 5)

    asyncio.run(main())
    recorder.assert_keeps("nats_core", "ST", "causal_order", "no_creation")
    assert {row["topic"] for row in rows() if row["event"] == "send"} == {unique}


def test_a_request_and_its_reply(server: str, recorder: Recorder, rows: Any, unique: str) -> None:
    async def main() -> None:
        async with await nats.connect(server) as connection:
            client = recorded(connection, recorder.entity("client"), to=["server"])
            serving = recorded(connection, recorder.entity("server"), to=["client"])

            async def answer(message: Any) -> None:
                await message.respond(b"yes")

            await serving.subscribe(unique, cb=answer)
            assert (await client.request(unique, b"?", 5)).data == b"yes"

    asyncio.run(main())
    assert [(row["entity"], row["event"], row["message"]) for row in rows()] == [
        ("client", "send", "client-1"),
        ("server", "deliver", "client-1"),
        ("server", "send", "server-1"),
        ("client", "deliver", "server-1"),
    ]


def test_jetstream_pulled_with_a_redelivery(server: str, recorder: Recorder, rows: Any, unique: str) -> None:
    async def main() -> None:
        async with await nats.connect(server) as connection:
            await connection.jetstream().add_stream(name=unique, subjects=[unique])
            publisher = recorded(connection, recorder.entity("p"), to=["x"]).jetstream()
            await publisher.publish(unique, b"1")
            await (await publisher.publish_async(unique, b"2"))
            # A repeat that the server knows is not stored.
            for _ in range(2):
                await publisher.publish(unique, b"3", headers={"Nats-Msg-Id": "once"})
            reader = recorded(connection, recorder.entity("x")).jetstream()
            subscription = await reader.pull_subscribe(unique, durable="x")
            first, *others = await subscription.fetch(3, timeout=5)
            await first.nak()
            for message in others:
                await message.ack()
            (again,) = await subscription.fetch(1, timeout=5)
            assert again.metadata.num_delivered == 2
            await again.ack_sync(5)
            await connection.jetstream().delete_stream(unique)

    asyncio.run(main())
    sends = [(row["event"], row.get("position")) for row in rows() if row["entity"] == "p"]
    assert sends == [("send", 1), ("send", 2), ("send", 3), ("local", None)]
    events = [
        (row["event"], row["message"], row.get("redelivered")) for row in rows() if row["entity"] == "x"
    ]
    assert [event for event, _, _ in events] == ["deliver"] * 3 + ["nack", "ack", "ack", "deliver", "ack"]
    assert events[6] == ("deliver", "p-1", True)
    recorder.assert_keeps("nats_jetstream", "one_position_one_message")


def test_jetstream_pushed_and_acknowledged_by_the_client(
    server: str, recorder: Recorder, rows: Any, unique: str
) -> None:
    async def main() -> None:
        async with await nats.connect(server) as connection:
            await connection.jetstream().add_stream(name=unique, subjects=[unique])
            both = recorded(connection, recorder.entity("x"), to=["x"]).jetstream()
            got = asyncio.Event()

            async def handle(message: Any) -> None:
                if message.data == b"2":
                    got.set()

            await both.subscribe(unique, cb=handle)
            ordered = await both.subscribe(unique, ordered_consumer=True)
            for body in (b"1", b"2"):
                await both.publish(unique, body)
            await asyncio.wait_for(got.wait(), 5)
            assert (await ordered.next_msg(5)).data == b"1"
            await connection.jetstream().delete_stream(unique)

    asyncio.run(main())
    assert sorted(row["event"] for row in rows()) == ["ack"] * 2 + ["deliver"] * 3 + ["send"] * 2
