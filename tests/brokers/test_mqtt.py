"""Clients of paho-mqtt that record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from precedes.record import MESSAGE, Recorder, RecordingWarning
from precedes.record import paho as recorded

mqtt = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed: requirements/brokers.txt")

Connect = Callable[..., Any]


@pytest.fixture
def connect(broker: Callable[[str], tuple[str, int]]) -> Iterator[Connect]:
    """Clients that are connected, each with a thread of its own."""
    host, port = broker("mosquitto")
    made = []

    def connected(protocol: int = mqtt.MQTTv5, **options: Any) -> Any:
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=protocol, **options)
        up = threading.Event()
        client.on_connect = lambda *_: up.set()
        client.connect(host, port)
        client.loop_start()
        assert up.wait(5)
        made.append(client)
        return client

    yield connected
    for client in made:
        client.disconnect()
        client.loop_stop()


def subscribe(client: Any, topic: str, qos: int) -> None:
    done = threading.Event()
    client.on_subscribe = lambda *_: done.set()
    client.subscribe(topic, qos)
    assert done.wait(5)


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_qualities(connect: Connect, recorder: Recorder, rows: Any, unique: str, qos: int) -> None:
    got, published = threading.Semaphore(0), threading.Semaphore(0)
    for name in ("x", "y"):
        reader = recorded(connect(), recorder.entity(name))
        subscribe(reader, unique, qos)
        if name == "x":
            reader.on_message = lambda *_: got.release()
        else:
            reader.message_callback_add(unique, lambda *_: got.release())
    writer = recorded(connect(), recorder.entity("w"), to=["x", "y"])
    writer.on_publish = lambda *_: published.release()
    for body in ("1", "2", 3):
        writer.publish(unique, body, qos)
    for _ in range(6):
        assert got.acquire(timeout=5)
    for _ in range(3):
        assert published.acquire(timeout=5)
    recorder.assert_keeps(f"mqtt_qos{qos}", "ST", "causal_order", "no_creation")
    sent = [(row["topic"], row["channel"]) for row in rows() if row["event"] == "send"]
    assert sent == [(unique, f"qos{qos}")] * 3
    # The client acknowledges after the last callback, too, which may be a moment later.
    acknowledged = sum(row["event"] == "ack" for row in rows())
    assert acknowledged in ((4, 5, 6) if qos else (0,))


def test_by_hand_and_with_properties_of_the_caller(
    connect: Connect, recorder: Recorder, rows: Any, unique: str
) -> None:
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties

    got = threading.Semaphore(0)
    own: list[Any] = []
    client = recorded(connect(manual_ack=True), recorder.entity("a"), to=["a"])

    def handle(given: Any, _userdata: Any, message: Any) -> None:
        own.append(dict(message.properties.UserProperty))
        given.ack(message.mid, message.qos)
        got.release()

    client.on_message = handle
    subscribe(client, unique, 1)
    properties = Properties(PacketTypes.PUBLISH)
    properties.UserProperty = ("own", "1")
    for _ in range(2):
        client.publish(unique, b"", 1, properties=properties)
    for _ in range(2):
        assert got.acquire(timeout=5)
    assert [(each["own"], each[MESSAGE]) for each in own] == [("1", "a-1"), ("1", "a-2")]
    assert properties.UserProperty == [("own", "1")]
    events = [row["event"] for row in rows() if row["event"] != "send"]
    assert events == ["deliver", "ack", "deliver", "ack"]


def test_mqtt_3_needs_names(connect: Connect, recorder: Recorder, rows: Any, unique: str) -> None:
    old = connect(mqtt.MQTTv311)
    with pytest.raises(ValueError, match="messages of MQTT 3 have no headers"):
        recorded(old, recorder.entity("a"))
    got = threading.Semaphore(0)
    client = recorded(old, recorder.entity("a"), to=["a"], name=bytes.decode)
    client.on_message = lambda *_: got.release()
    subscribe(client, unique, 1)
    for name in ("m1", "m2"):
        client.publish(unique, name, 1).wait_for_publish(5)
    for _ in range(2):
        assert got.acquire(timeout=5)
    recorder.assert_keeps("mqtt_qos1", "mqtt_qos2", "no_creation")


def test_what_cannot_be_sent_was_not(recorder: Recorder, rows: Any) -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    wrapped = recorded(client, recorder.entity("a"))
    assert wrapped.publish("t", b"", 0).rc == mqtt.MQTT_ERR_NO_CONN
    # With quality 1 it waits for a connection: nothing is known yet.
    wrapped.publish("t", b"", 1)
    assert [row["event"] for row in rows()] == ["local"]
    with pytest.raises(ValueError, match="topic"):
        wrapped.publish("t/#", b"", 1)
    assert [row["event"] for row in rows()] == ["local", "local"]
    with pytest.warns(RecordingWarning, match="`message_callback`"):
        wrapped.message_callback()
