"""Recording through paho-mqtt: MQTT 5, and MQTT 3 with names in the payloads."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, Final, TypeVar, cast

from precedes.record.endpoint import Delegate, Destinations, Endpoint
from precedes.record.recorder import Entity, Offer

C = TypeVar("C")

MQTT_5: Final = 5
_SENT: Final = 0
_QUEUE_FULL: Final = 15
"""MQTT_ERR_SUCCESS and MQTT_ERR_QUEUE_SIZE of paho."""
OWN: Final = frozenset({"on_message", "on_publish"})
"""Callbacks that stand on the wrapper, which calls them."""


def paho(
    client: C,
    entity: Entity,
    *,
    to: Destinations | None = None,
    name: Callable[[bytes], str | int] | None = None,
) -> C:
    """Record what a client publishes, delivers and acknowledges. Use what this returns in place of the client.

    Set callbacks on what this returns. A publish is recorded when the client says that it is complete
    (`on_publish`): with quality 1 or 2 when the server acknowledged it. A delivery with quality 1 or 2 is
    acknowledged when the callback returns, as the client does, or by `ack`. Messages of MQTT 5 carry the headers as
    user properties. Those of MQTT 3 carry nothing, so that `name` must say what a message is called. Columns:
    `topic`, `channel` (the quality of the publish: qos0, qos1, qos2), `redelivered`.

    Args:
        client: `paho.mqtt.client.Client`.
        entity: Who publishes and delivers.
        to: The entities that messages are for, or a function from the topic to them. Without it they are unknown.
        name: A function from the payload of a message to its name.

    Raises:
        ValueError: The client does not speak MQTT 5, and there is no `name`.
    """
    endpoint = Endpoint(entity, to, name)
    if not endpoint.names_by_body and int(client.protocol) != MQTT_5:  # type: ignore[attr-defined]
        raise ValueError("messages of MQTT 3 have no headers; say how the payload names a message: name=...")
    return cast(C, RecordedClient(client, endpoint))


class RecordedClient(Delegate):
    """A client that records."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset(
        {"message_callback", "topic_callback", "publish_callback"}
    )

    def __init__(self, client: Any, endpoint: Endpoint) -> None:
        super().__init__(client, endpoint)
        self.on_message: Callable[..., Any] | None = client.on_message
        self.on_publish: Callable[..., Any] | None = client.on_publish
        self._lock = threading.Lock()
        # By message identifier. A publish may be complete before the client has said what its identifier is.
        self._offers: dict[int, Offer] = {}
        self._complete: dict[int, bool] = {}
        self._unacknowledged: dict[int, str] = {}
        client.on_message = self._recording(
            lambda *arguments: self.on_message and self.on_message(*arguments)
        )
        client.on_publish = self._published

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name in OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._wrapped, name, value)

    def publish(
        self, topic: str, payload: Any = None, qos: int = 0, retain: bool = False, properties: Any = None
    ) -> Any:
        """Publish with user properties that name the message."""
        # MQTT 5.0, 4.6: the order is that of one topic at one quality.
        offer = self._endpoint.offer(topic, payload, {"channel": f"qos{qos}"})
        if offer.headers:
            properties = _with_headers(properties, offer.headers)
        try:
            info = self._wrapped.publish(topic, payload, qos, retain, properties)
        except BaseException:
            offer.refused()
            raise
        # With quality 1 and 2, whatever else went wrong, the client keeps the message and sends it later.
        if info.rc == _QUEUE_FULL or (qos == 0 and info.rc != _SENT):
            offer.refused()
            return info
        with self._lock:
            complete = self._complete.pop(info.mid, None)
            if complete is None:
                self._offers[info.mid] = offer
        if complete is not None:
            _answer(offer, accepted=complete)
        return info

    def message_callback_add(self, sub: str, callback: Callable[..., Any]) -> None:
        """Call back for some topics."""
        self._wrapped.message_callback_add(sub, self._recording(callback))

    def ack(self, mid: int, qos: int) -> Any:
        """Acknowledge, if the client does not do it by itself."""
        message = self._unacknowledged.pop(mid, None)
        if message is not None:
            self._endpoint.entity.ack(message)
        return self._wrapped.ack(mid, qos)

    def _published(self, _client: Any, userdata: Any, mid: int, *rest: Any) -> None:
        # With callbacks of version 1, nothing follows. Else a reason code does, which is a failure from 0x80 on.
        accepted = not (rest and rest[0].is_failure)
        with self._lock:
            offer = self._offers.pop(mid, None)
            if offer is None:
                self._complete[mid] = accepted
        if offer is not None:
            _answer(offer, accepted=accepted)
        if self.on_publish is not None:
            self.on_publish(self, userdata, mid, *rest)

    def _recording(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        def recording(_client: Any, userdata: Any, message: Any) -> None:
            name = self._endpoint.deliver(
                _headers(message), message.payload, {"redelivered": bool(message.dup)}
            )
            # The client acknowledges by itself unless it was told not to, which has no public name.
            manual = self._wrapped._manual_ack
            if name is not None and message.qos and manual:
                self._unacknowledged[message.mid] = name
            callback(self, userdata, message)
            if name is not None and message.qos and not manual:
                self._endpoint.entity.ack(name)

        return recording


def _answer(offer: Offer, *, accepted: bool) -> None:
    if accepted:
        offer.accepted()
    else:
        offer.refused()


def _headers(message: Any) -> dict[str, str]:
    return dict(getattr(message.properties, "UserProperty", ()))


def _with_headers(properties: Any, headers: dict[str, str]) -> Any:
    """Properties of one message: those of the caller are often one object for all of them."""
    if properties is None:
        packet_types = import_module("paho.mqtt.packettypes").PacketTypes
        properties = import_module("paho.mqtt.properties").Properties(packet_types.PUBLISH)
    else:
        properties = copy.deepcopy(properties)
    properties.UserProperty = list(headers.items())
    return properties
