"""Mosquitto: two clients that keep their session, subscribed to one topic."""

from __future__ import annotations

import threading
import time
from typing import Any, Final, assert_never

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import precedes.record
from tools.brokers import HOST, MOSQUITTO
from tools.recordings.proxy import Proxy, proxied
from tools.recordings.run import PATIENCE, PAUSE, Act, Mode, Run, in_threads

MODES: Final = tuple(Mode(f"quality {quality}", f"mqtt_qos{quality}") for quality in range(3))
SESSION: Final = 60
"""Seconds for which the server keeps a session."""


def version() -> str:
    """What the server says that it is."""
    got: list[str] = []
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
    client.on_message = lambda _client, _userdata, message: got.append(message.payload.decode())
    client.connect(HOST, MOSQUITTO.port)
    client.subscribe("$SYS/broker/version")
    until = time.monotonic() + PATIENCE
    while not got and time.monotonic() < until:
        client.loop(0.1)
    client.disconnect()
    return got[0].removeprefix("mosquitto version ")


def record(run: Run) -> None:
    """One run."""
    in_threads(run, lambda name: _Consumer(run, name).consume(), lambda name: _produce(run, name))


def _quality(run: Run) -> int:
    return MODES.index(run.mode)


def _client(run: Run, name: str) -> Any:
    client = paho.Client(
        paho.CallbackAPIVersion.VERSION2,
        client_id=f"{run.name}-{name}",
        protocol=paho.MQTTv5,
        manual_ack=True,
    )
    client.reconnect_delay_set(0.05, 0.05)
    return client


def _connect(client: Any, proxy: Proxy) -> None:
    # No clean start: both sides go on with what was not acknowledged.
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = SESSION
    client.connect(HOST, proxy.port, clean_start=False, properties=properties)
    client.loop_start()


def _produce(run: Run, name: str) -> None:
    with proxied(MOSQUITTO.port) as proxy:
        client = _client(run, name)
        _connect(client, proxy)
        recorded = precedes.record.paho(client, run.entity(name), to=run.to)
        complete = threading.Semaphore(0)
        recorded.on_publish = lambda *_: complete.release()
        waiting = 0
        for count in range(run.messages):
            if run.cuts(name, count):
                proxy.cut()
            info = recorded.publish(run.name, run.body(name, count), _quality(run))
            # Without a connection, quality 0 is not sent, and the rest is sent later.
            waiting += info.rc == paho.MQTT_ERR_SUCCESS or _quality(run) > 0
            time.sleep(PAUSE)
        for _ in range(waiting):
            # What was written to a connection that was cut is never complete with quality 0.
            if not complete.acquire(timeout=PATIENCE if _quality(run) else 1):
                break
        client.disconnect()
        client.loop_stop()


class _Consumer:
    """A subscriber, who may die and start again with the session that the server has."""

    def __init__(self, run: Run, name: str) -> None:
        self._run = run
        self._name = name
        self._died = threading.Event()

    def consume(self) -> None:
        """Until the run is over."""
        run = self._run
        with proxied(MOSQUITTO.port) as proxy:
            self._proxy = proxy
            client = self._subscribed()
            while not run.over.is_set():
                if self._died.wait(0.05):
                    self._died.clear()
                    client.loop_stop()
                    run.entity(self._name).recover()
                    client = self._subscribed()
            client.unsubscribe(run.name)
            client.disconnect()
            client.loop_stop()

    def _subscribed(self) -> Any:
        client = _client(self._run, self._name)
        recorded = precedes.record.paho(client, self._run.entity(self._name))
        recorded.on_message = self._take
        client.on_connect = lambda *_: client.subscribe(self._run.name, _quality(self._run))
        _connect(client, self._proxy)
        return client

    def _take(self, client: Any, _userdata: Any, message: Any) -> None:
        time.sleep(self._run.pause_of(self._name))
        act = self._run.delivered(self._name)
        match act:
            case Act.DIE:
                self._run.entity(self._name).crash()
                self._proxy.cut()
                self._died.set()
                # Nothing more of this client: its thread ends here.
                raise SystemExit
            case Act.TAKE | Act.LOSE | Act.GIVE_BACK:
                client.ack(message.mid, message.qos)
                if act is Act.LOSE:
                    self._proxy.cut()
            case _:
                assert_never(act)
