"""Channels of pika that record."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from precedes.record import MESSAGE, Recorder, RecordingWarning
from precedes.record import pika as recorded

pika = pytest.importorskip("pika", reason="pika is not installed: requirements/brokers.txt")


@pytest.fixture
def parameters(broker: Callable[[str], tuple[str, int]]) -> Any:
    host, port = broker("rabbitmq")
    return pika.ConnectionParameters(host, port)


@pytest.fixture
def channel(parameters: Any) -> Iterator[Any]:
    with pika.BlockingConnection(parameters) as connection:
        yield connection.channel()


def test_a_queue_with_one_consumer(channel: Any, recorder: Recorder, rows: Any, unique: str) -> None:
    channel.queue_declare(unique, auto_delete=True)
    shop = recorded(channel, recorder.entity("shop"), to=["billing"])
    billing = recorded(channel, recorder.entity("billing"))
    for body in (b"1", b"2", b"3"):
        shop.basic_publish("", unique, body, pika.BasicProperties(headers={"own": 1}, priority=4))
    seen = []

    def handle(given: Any, method: Any, properties: Any, body: bytes) -> None:
        assert given is billing
        seen.append((body, properties.headers["own"]))
        given.basic_ack(method.delivery_tag)
        if body == b"3":
            given.stop_consuming()

    billing.basic_consume(unique, handle)
    billing.start_consuming()
    assert seen == [(b"1", 1), (b"2", 1), (b"3", 1)]
    recorder.assert_keeps("rabbitmq_classic", "ST", "causal_order", "only_in_flight_repeats")
    sent, delivered = rows()[0], rows()[3]
    assert (sent["topic"], sent["priority"], sent["dest"]) == (unique, 4, ["billing"])
    assert sent["channel"].startswith("shop#1.")
    assert (delivered["event"], delivered["redelivered"], delivered["sender"]) == ("deliver", False, "shop")


def test_a_message_that_is_given_back_comes_again(
    channel: Any, recorder: Recorder, rows: Any, unique: str
) -> None:
    channel.queue_declare(unique, auto_delete=True)
    both = recorded(channel, recorder.entity("a"), to=["a"])
    for body in (b"1", b"2"):
        both.basic_publish("", unique, body)
    for method, _, _ in both.consume(unique, inactivity_timeout=5):
        if not method.redelivered and method.delivery_tag == 1:
            both.basic_nack(method.delivery_tag)
        elif method.delivery_tag == 3:
            both.basic_ack(0, multiple=True)
            break
    events = [(row["event"], row["message"], row.get("redelivered")) for row in rows()[2:]]
    assert events == [
        ("deliver", "a-1", False),
        ("nack", "a-1", None),
        ("deliver", "a-2", False),
        ("deliver", "a-1", True),
        ("ack", "a-2", None),
        ("ack", "a-1", None),
    ]
    with pytest.raises(AssertionError, match="every_delivery_in_order"):
        recorder.assert_keeps("every_delivery_in_order")
    recorder.assert_keeps("rabbitmq_classic", "selectively_information_preserving")


def test_what_is_got_is_acknowledged_at_once_if_so_asked(
    channel: Any, recorder: Recorder, rows: Any, unique: str
) -> None:
    channel.queue_declare(unique, auto_delete=True)
    both = recorded(channel, recorder.entity("a"))
    assert both.basic_get(unique) == (None, None, None)
    both.basic_publish("", unique, "text")
    channel.connection.process_data_events(0.1)
    assert both.basic_get(unique, auto_ack=True)[2] == b"text"
    assert [(row["event"], row.get("dest")) for row in rows()] == [
        ("send", ["group:?"]),
        ("deliver", None),
        ("ack", None),
    ]


def test_what_the_broker_refuses_was_not_sent(
    channel: Any, recorder: Recorder, rows: Any, unique: str
) -> None:
    publisher = recorded(channel, recorder.entity("a"))
    publisher.confirm_delivery()
    with pytest.raises(pika.exceptions.UnroutableError):
        publisher.basic_publish("", unique, b"", mandatory=True)
    assert [(row["event"], row["clock"]) for row in rows()] == [("local", {"a": 1})]


def test_a_message_of_somebody_else_is_told(channel: Any, recorder: Recorder, rows: Any, unique: str) -> None:
    channel.queue_declare(unique, auto_delete=True)
    channel.basic_publish("", unique, b"m7")
    channel.basic_publish("", unique, b"m8")
    channel.connection.process_data_events(0.1)
    with pytest.warns(RecordingWarning, match=f"without the header {MESSAGE}"):
        recorded(channel, recorder.entity("a")).basic_get(unique, auto_ack=True)
    assert rows() == []
    named = recorded(channel, recorder.entity("b"), name=bytes.decode)
    named.basic_get(unique, auto_ack=True)
    first = rows()[0]
    assert (first["message"], first["sender"], first.get("clock")) == ("m8", "?", None)


def test_channels_of_threads(parameters: Any, recorder: Recorder, unique: str) -> None:
    with pika.BlockingConnection(parameters) as connection:
        connection.channel().queue_declare(unique)

    def publish(name: str) -> None:
        with pika.BlockingConnection(parameters) as connection:
            channel = recorded(connection.channel(), recorder.entity(name), to=["reader"])
            channel.confirm_delivery()
            for _ in range(50):
                channel.basic_publish("", unique, b"")

    threads = [threading.Thread(target=publish, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    with pika.BlockingConnection(parameters) as connection:
        reader = recorded(connection.channel(), recorder.entity("reader"))
        for count, (method, _, _) in enumerate(reader.consume(unique, inactivity_timeout=10), 1):
            assert method is not None
            reader.basic_ack(method.delivery_tag)
            if count == 100:
                break
        reader.queue_delete(unique)
    for thread in threads:
        thread.join()
    recorder.assert_keeps("rabbitmq_quorum", "no_duplication", "no_creation", "vector_time")


def test_a_channel_of_asyncio(parameters: Any, recorder: Recorder, rows: Any, unique: str) -> None:
    from pika.adapters.asyncio_connection import AsyncioConnection

    async def main() -> None:
        loop = asyncio.get_running_loop()
        opened, done = loop.create_future(), loop.create_future()
        connection = AsyncioConnection(parameters, on_open_callback=opened.set_result, custom_ioloop=loop)
        await asyncio.wait_for(opened, 10)
        made = loop.create_future()
        connection.channel(on_open_callback=made.set_result)
        channel = recorded(await made, recorder.entity("a"), to=["a"])
        channel.queue_declare(unique, auto_delete=True)

        def handle(given: Any, method: Any, _properties: Any, body: bytes) -> None:
            given.basic_ack(method.delivery_tag)
            if body == b"2":
                done.set_result(None)

        channel.basic_consume(unique, handle)
        for body in (b"1", b"2"):
            channel.basic_publish("", unique, body)
        await asyncio.wait_for(done, 10)
        connection.close()
        await asyncio.sleep(0.1)

    asyncio.run(main())
    assert sorted(row["event"] for row in rows()) == ["ack", "ack", "deliver", "deliver", "send", "send"]
    recorder.assert_keeps("rabbitmq_classic")
