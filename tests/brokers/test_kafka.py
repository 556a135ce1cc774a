"""Clients of Kafka that record. The broker is the mock cluster of librdkafka, which lives in a producer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from precedes.record import Recorder, RecordingWarning
from precedes.record import aiokafka as recorded_aio
from precedes.record import confluent_kafka as recorded

pytest.importorskip(
    "confluent_kafka.aio", reason="confluent-kafka is not installed: requirements/brokers.txt"
)
kafka = pytest.importorskip(
    "confluent_kafka", reason="confluent-kafka is not installed: requirements/brokers.txt"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Where three mock brokers listen on loopback; a topic has four partitions."""
    host = kafka.Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 3, "log_level": 0})
    brokers = host.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{each.host}:{each.port}" for each in brokers)
    host.flush(1)


@pytest.fixture
def consumer(cluster: str) -> Iterator[Callable[..., Any]]:
    made = []

    def consuming(topic: str, **options: Any) -> Any:
        settings = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        client = kafka.Consumer({"bootstrap.servers": cluster, **settings, **options})
        # The mock cluster keeps a member that left, so nobody joins: what a group committed holds for whoever reads.
        client.assign([kafka.TopicPartition(topic, partition) for partition in range(4)])
        made.append(client)
        return client

    yield consuming
    for client in made:
        client.close()


def polled(consumer: Any, count: int) -> list[Any]:
    """So many records."""
    found: list[Any] = []
    until = time.monotonic() + 30
    while len(found) < count:
        assert time.monotonic() < until
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            found.append(message)
    return found


def test_a_group_that_commits(
    cluster: str, consumer: Callable[..., Any], recorder: Recorder, rows: Any, unique: str
) -> None:
    reports: list[Any] = []
    producer = recorded(
        kafka.Producer({"bootstrap.servers": cluster}), recorder.entity("p"), to=["group:billing"]
    )
    for count in range(6):
        producer.produce(
            unique,
            b"",
            key=f"k{count % 2}",
            headers={"own": b"1"},
            on_delivery=lambda error, message: reports.append((error, message.offset())),
        )
    assert producer.flush(30) == len(producer) == 0
    assert len(reports) == 6
    reader = recorded(consumer(unique), recorder.entity("c", groups=["billing"]))
    messages = polled(reader, 6)
    assert ("own", b"1") in messages[0].headers()
    reader.commit(message=messages[0], asynchronous=False)
    reader.commit(asynchronous=False)
    first = [row for row in rows() if row["event"] == "ack"]
    assert sorted(row["message"] for row in first) == [f"p-{k}" for k in range(1, 7)]
    assert first[0]["message"] == dict(messages[0].headers())["precedes-message"].decode()
    sent = {row["message"]: row for row in rows() if row["event"] == "send"}
    for row in rows():
        if row["event"] == "deliver":
            where = sent[row["message"]]
            assert (row["partition"], row["position"]) == (where["partition"], where["position"])
    assert {(row["key"], tuple(row["dest"])) for row in sent.values()} == {
        ("k0", ("group:billing",)),
        ("k1", ("group:billing",)),
    }
    recorder.assert_keeps("kafka_partition per partition", "kafka_consumer_group", "once_per_group")


def test_what_was_not_committed_comes_again(
    cluster: str, consumer: Callable[..., Any], recorder: Recorder, rows: Any, unique: str
) -> None:
    producer = recorded(kafka.Producer({"bootstrap.servers": cluster}), recorder.entity("p"), to=["c"])
    for _ in range(3):
        producer.produce(unique, b"", None, 0)
    producer.flush(30)
    client = consumer(unique)
    reader = recorded(client, recorder.entity("c"))
    messages = polled(reader, 3)
    reader.commit(offsets=[kafka.TopicPartition(unique, 0, messages[0].offset() + 1)], asynchronous=False)
    client.close()
    polled(recorded(consumer(unique), recorder.entity("c")), 2)
    assert [(row["event"], row["message"]) for row in rows() if row["entity"] == "c"] == [
        *(("deliver", f"p-{k}") for k in (1, 2, 3)),
        ("ack", "p-1"),
        ("deliver", "p-2"),
        ("deliver", "p-3"),
    ]
    recorder.assert_keeps("kafka_partition", "only_in_flight_repeats")


def test_what_is_not_delivered_was_not_sent(recorder: Recorder, rows: Any, unique: str) -> None:
    settings = {"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": 50, "log_level": 0}
    producer = recorded(kafka.Producer(settings), recorder.entity("p"))
    failed: list[Any] = []
    producer.produce(unique, b"", callback=lambda error, _message: failed.append(error))
    producer.flush(10)
    assert failed[0] is not None
    assert [row["event"] for row in rows()] == ["local"]
    with pytest.warns(RecordingWarning, match="`produce_batch`"):
        _ = producer.produce_batch


def test_clients_for_asyncio_are_refused(recorder: Recorder) -> None:
    client = kafka.aio.AIOConsumer.__new__(kafka.aio.AIOConsumer)
    with pytest.raises(TypeError, match="not recorded"):
        recorded(client, recorder.entity("c"))


def test_asyncio(cluster: str, recorder: Recorder, rows: Any, unique: str) -> None:
    aiokafka = pytest.importorskip("aiokafka", reason="aiokafka is not installed: requirements/brokers.txt")

    async def main() -> None:
        producing = aiokafka.AIOKafkaProducer(bootstrap_servers=cluster)
        async with recorded_aio(producing, recorder.entity("p"), to=["c"]) as producer:
            for count in range(3):
                await producer.send_and_wait(unique, b"", b"k", count % 2)
            await (await producer.send(unique, b"", partition=0, headers=[("own", b"1")]))
        consuming = aiokafka.AIOKafkaConsumer(bootstrap_servers=cluster, auto_offset_reset="earliest")
        consuming.assign([aiokafka.TopicPartition(unique, 0), aiokafka.TopicPartition(unique, 1)])
        async with recorded_aio(consuming, recorder.entity("c")) as consumer:
            first = await asyncio.wait_for(consumer.getone(), 20)
            assert first.topic == unique
            async for record in consumer:
                assert record.headers
                break
            count = 2
            while count < 4:
                many = await consumer.getmany(timeout_ms=1000)
                count += sum(map(len, many.values()))

    asyncio.run(asyncio.wait_for(main(), 60))
    events = [row["event"] for row in rows()]
    assert events == ["send"] * 4 + ["deliver"] * 4
    recorder.assert_keeps("kafka_partition per partition", "SP per partition", "no_duplication")
