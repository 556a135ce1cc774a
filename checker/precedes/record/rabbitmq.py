"""Recording through pika: channels of RabbitMQ, blocking and with callbacks."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final, TypeVar, cast

from precedes.record.endpoint import (
    Attributes,
    Delegate,
    Destinations,
    Endpoint,
    settle_offer,
    settle_pending,
)
from precedes.record.recorder import Entity, Pending

C = TypeVar("C")

STREAM_OFFSET: Final = "x-stream-offset"
"""The header that a delivery of a stream has (rabbitmq.com/docs/streams)."""


def pika(
    channel: C,
    entity: Entity,
    *,
    to: Destinations | None = None,
    name: Callable[[bytes], str | int] | None = None,
) -> C:
    """Record what a channel publishes, delivers and acknowledges. Use what this returns in place of the channel.

    A publish is recorded when it returns: on a blocking channel with `confirm_delivery`, when the broker confirmed it.
    With `auto_ack`, a delivery is acknowledged as it is made. Columns: `topic` (exchange/routing key), `channel`,
    `priority`, `redelivered`, and of streams `position` (the offset).

    Args:
        channel: A `BlockingChannel`, or a `Channel` of another connection.
        entity: Who publishes and delivers. If a program consumes from several queues, wrap the channel for each.
        to: The entities that messages are for, or a function from the topic to them. Without it they are unknown.
        name: A function from the body of a message to its name, in place of headers.
    """
    return cast(C, RecordedChannel(channel, Endpoint(entity, to, name)))


class RecordedChannel(Delegate):
    """A channel that records."""

    def __init__(self, channel: Any, endpoint: Endpoint) -> None:
        super().__init__(channel, endpoint)
        # Numbers of channels come again: on another connection, and after a reconnection.
        self._id = f"{endpoint.entity.name}#{channel.channel_number}.{secrets.token_hex(3)}"
        self._unacknowledged: dict[int, str] = {}

    def basic_publish(
        self, exchange: str, routing_key: str, body: Any, properties: Any = None, mandatory: bool = False
    ) -> Any:
        """Publish with headers that name the message."""
        attributes: Attributes = {"channel": self._id}
        if properties is not None and properties.priority is not None:
            attributes["priority"] = properties.priority
        offer = self._endpoint.offer("/".join(filter(None, (exchange, routing_key))), body, attributes)
        if offer.headers:
            # The caller's properties are often one object for all messages.
            properties = copy.copy(properties) if properties else import_module("pika").BasicProperties()
            properties.headers = {**(properties.headers or {}), **offer.headers}
        return settle_offer(
            offer, lambda: self._wrapped.basic_publish(exchange, routing_key, body, properties, mandatory)
        )

    def basic_consume(
        self, queue: str, on_message_callback: Callable[..., Any], auto_ack: bool = False, **rest: Any
    ) -> Any:
        """Consume; the callback gets this channel."""
        return self._wrapped.basic_consume(
            queue, self._recording(on_message_callback, auto_ack), auto_ack, **rest
        )

    def basic_get(self, queue: str, *rest: Any, **named: Any) -> Any:
        """Get one message, as a result or by a callback."""
        callback, rest = (
            (rest[0], rest[1:]) if rest and callable(rest[0]) else (named.pop("callback", None), rest)
        )
        auto_ack = bool(rest[0] if rest else named.get("auto_ack", False))
        if callback is not None:
            return self._wrapped.basic_get(queue, self._recording(callback, auto_ack), auto_ack)
        method, properties, body = self._wrapped.basic_get(queue, auto_ack)
        if method is not None:
            self._deliver(method, properties, body, auto_ack)
        return method, properties, body

    def consume(self, queue: str, auto_ack: bool = False, **rest: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Consume by iteration."""
        for method, properties, body in self._wrapped.consume(queue, auto_ack, **rest):
            if method is not None:
                self._deliver(method, properties, body, auto_ack)
            yield method, properties, body

    def basic_ack(self, delivery_tag: int = 0, multiple: bool = False) -> Any:
        """Acknowledge."""
        return settle_pending(
            self._answered("ack", delivery_tag, multiple),
            lambda: self._wrapped.basic_ack(delivery_tag, multiple),
        )

    def basic_nack(self, delivery_tag: int = 0, multiple: bool = False, requeue: bool = True) -> Any:
        """Give back."""
        return settle_pending(
            self._answered("nack", delivery_tag, multiple),
            lambda: self._wrapped.basic_nack(delivery_tag, multiple, requeue),
        )

    def basic_reject(self, delivery_tag: int = 0, requeue: bool = True) -> Any:
        """Give back one."""
        return settle_pending(
            self._answered("nack", delivery_tag, multiple=False),
            lambda: self._wrapped.basic_reject(delivery_tag, requeue),
        )

    def _recording(self, callback: Callable[..., Any], auto_ack: bool) -> Callable[..., Any]:
        def recording(_channel: Any, method: Any, properties: Any, body: Any) -> Any:
            self._deliver(method, properties, body, auto_ack)
            return callback(self, method, properties, body)

        return recording

    def _deliver(self, method: Any, properties: Any, body: Any, auto_ack: bool) -> None:
        attributes: Attributes = {"redelivered": bool(method.redelivered)}
        if STREAM_OFFSET in (properties.headers or {}):
            attributes["position"] = properties.headers[STREAM_OFFSET]
        message = self._endpoint.deliver(properties.headers, body, attributes)
        if message is None:
            return
        if auto_ack:
            self._endpoint.entity.ack(message)
        else:
            self._unacknowledged[method.delivery_tag] = message

    def _answered(self, event: str, tag: int, multiple: bool) -> list[Pending]:
        """AMQP 0-9-1, basic.ack: with `multiple`, all up to the tag, and all of them for the tag 0."""
        tags = [each for each in self._unacknowledged if each <= tag or tag == 0] if multiple else [tag]
        names = [self._unacknowledged.pop(each) for each in tags if each in self._unacknowledged]
        return [self._endpoint.entity.pending(event, name) for name in names]
