"""Recording through nats-py: core NATS and JetStream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar, TypeVar, cast

from precedes.record.endpoint import (
    Attributes,
    Delegate,
    Destinations,
    Endpoint,
    settle_offer,
    settle_pending,
)
from precedes.record.recorder import Entity

C = TypeVar("C")


def nats(
    connection: C,
    entity: Entity,
    *,
    to: Destinations | None = None,
    name: Callable[[bytes], str | int] | None = None,
) -> C:
    """Record what a connection publishes, delivers and acknowledges. Use what this returns in place of the connection.

    A publish of core NATS is recorded when the client has taken it, one of JetStream when the server stored it.
    Columns: `topic` (the subject), and of JetStream `position` (the sequence number in the stream) and `redelivered`.

    Args:
        connection: What `nats.connect` gives. JetStream is reached through `jetstream()`.
        entity: Who publishes and delivers. If a program has several subscriptions, wrap the connection for each.
        to: The entities that messages are for, or a function from the subject to them. Without it they are unknown.
        name: A function from the payload of a message to its name, in place of headers.
    """
    return cast(C, RecordedConnection(connection, Endpoint(entity, to, name)))


class RecordedConnection(Delegate):
    """A connection that records."""

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, Any] | None = None
    ) -> None:
        """Publish with headers that name the message."""
        offer = self._endpoint.offer(subject, payload, {})
        await settle_offer(
            offer,
            lambda: self._wrapped.publish(
                subject, payload, reply, {**(headers or {}), **offer.headers} or None
            ),
        )

    async def request(self, subject: str, payload: bytes = b"", timeout: float = 0.5, **rest: Any) -> Any:
        """Publish, and deliver the reply."""
        offer = self._endpoint.offer(subject, payload, {})
        headers = {**(rest.pop("headers", None) or {}), **offer.headers} or None
        # Whether anybody replies says nothing about the send.
        offer.accepted()
        return self._recorded(await self._wrapped.request(subject, payload, timeout, headers=headers, **rest))

    async def subscribe(
        self, subject: str, queue: str = "", cb: Callable[[Any], Any] | None = None, **rest: Any
    ) -> Any:
        """Subscribe; the callback gets messages whose replies are recorded."""
        if rest.get("future") is not None:
            raise ValueError("a future of a subscription is not recorded; use next_msg")
        subscription = await self._wrapped.subscribe(subject, queue, self._recording(cb), **rest)
        return RecordedSubscription(subscription, self._endpoint, self._recorded)

    def jetstream(self, **options: Any) -> Any:
        """JetStream, recorded."""
        return RecordedJetStream(self._wrapped.jetstream(**options), self._endpoint, self)

    def _recording(self, callback: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        if callback is None:
            return None

        async def recording(message: Any) -> None:
            await callback(self._recorded(message))

        return recording

    def _recorded(self, message: Any) -> RecordedMessage:
        return RecordedMessage(message, self._endpoint, self)


class RecordedMessage(Delegate):
    """A message that was delivered."""

    def __init__(self, message: Any, endpoint: Endpoint, connection: RecordedConnection) -> None:
        super().__init__(message, endpoint)
        self._connection = connection
        self._name = endpoint.deliver(message.headers, message.data, _told(message))

    async def ack(self) -> None:
        """Acknowledge."""
        await self._answered("ack", self._wrapped.ack)

    async def ack_sync(self, timeout: float = 1.0) -> Any:
        """Acknowledge, and wait for the server."""
        return await self._answered("ack", lambda: self._wrapped.ack_sync(timeout))

    async def nak(self, delay: float | None = None) -> None:
        """Give back."""
        await self._answered("nack", lambda: self._wrapped.nak(delay))

    async def term(self) -> None:
        """Accept it as done: it does not come again."""
        await self._answered("ack", self._wrapped.term)

    async def respond(self, data: bytes) -> None:
        """Publish a reply."""
        await self._connection.publish(self._wrapped.reply, data)

    def acknowledged_by_client(self) -> None:
        """Say that the client acknowledges when the callback has returned."""
        if self._name is not None and not self._wrapped.is_acked:
            self._endpoint.entity.ack(self._name)

    async def _answered(self, event: str, call: Callable[[], Any]) -> Any:
        pending = [] if self._name is None else [self._endpoint.entity.pending(event, self._name)]
        return await settle_pending(pending, call)


class RecordedSubscription(Delegate):
    """A subscription whose messages are recorded as they are handed out."""

    def __init__(
        self, subscription: Any, endpoint: Endpoint, recorded: Callable[[Any], RecordedMessage]
    ) -> None:
        super().__init__(subscription, endpoint)
        self._recorded = recorded

    async def next_msg(self, timeout: float | None = 1.0) -> RecordedMessage:
        """The next message."""
        return self._recorded(await self._wrapped.next_msg(timeout))

    async def fetch(self, *arguments: Any, **named: Any) -> list[RecordedMessage]:
        """The next messages of a pull subscription."""
        return [self._recorded(message) for message in await self._wrapped.fetch(*arguments, **named)]

    @property
    async def messages(self) -> AsyncIterator[RecordedMessage]:
        """All messages."""
        async for message in self._wrapped.messages:
            yield self._recorded(message)


class RecordedJetStream(Delegate):
    """JetStream that records."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset(
        {"key_value", "create_key_value", "object_store", "get_msg"}
    )

    def __init__(self, context: Any, endpoint: Endpoint, connection: RecordedConnection) -> None:
        super().__init__(context, endpoint)
        self._connection = connection

    async def publish(self, subject: str, payload: bytes = b"", *rest: Any, **named: Any) -> Any:
        """Publish; the send is recorded with its position once it is stored."""
        offer = self._endpoint.offer(subject, payload, {})
        carried = {**(named.pop("headers", None) or {}), **offer.headers} or None
        return await settle_offer(
            offer, lambda: self._wrapped.publish(subject, payload, *rest, headers=carried, **named), _stored
        )

    async def publish_async(self, subject: str, payload: bytes = b"", *rest: Any, **named: Any) -> Any:
        """Publish; the send is recorded when the future that this returns is done."""
        offer = self._endpoint.offer(subject, payload, {})
        carried = {**(named.pop("headers", None) or {}), **offer.headers} or None
        try:
            future = await self._wrapped.publish_async(subject, payload, *rest, headers=carried, **named)
        except BaseException:
            offer.refused()
            raise

        def settled(ended: Any) -> None:
            stored = None if ended.cancelled() or ended.exception() else _stored(ended.result())
            if stored is None:
                offer.refused()
            else:
                offer.accepted(stored)

        future.add_done_callback(settled)
        return future

    async def subscribe(
        self, subject: str, queue: str | None = None, cb: Callable[[Any], Any] | None = None, **rest: Any
    ) -> Any:
        """Subscribe by push. Without `manual_ack`, the client acknowledges when the callback has returned."""
        return await self._pushed(
            lambda named: self._wrapped.subscribe(subject, queue, **named), {"cb": cb, **rest}
        )

    async def subscribe_bind(self, stream: str, config: Any, consumer: str, **rest: Any) -> Any:
        """Subscribe by push to a consumer that is there."""
        return await self._pushed(
            lambda named: self._wrapped.subscribe_bind(stream, config, consumer, **named),
            {"config": config, **rest},
        )

    async def pull_subscribe(self, *arguments: Any, **named: Any) -> Any:
        """Subscribe by pull."""
        subscription = await self._wrapped.pull_subscribe(*arguments, **named)
        return RecordedSubscription(subscription, self._endpoint, self._recorded)

    async def pull_subscribe_bind(self, *arguments: Any, **named: Any) -> Any:
        """Subscribe by pull to a consumer that is there."""
        subscription = await self._wrapped.pull_subscribe_bind(*arguments, **named)
        return RecordedSubscription(subscription, self._endpoint, self._recorded)

    async def _pushed(self, subscribe: Callable[[dict[str, Any]], Any], named: dict[str, Any]) -> Any:
        callback = named.get("cb")
        if callback is not None:
            named = {**named, "cb": self._recording(callback, acknowledging=_client_acknowledges(named))}
        return RecordedSubscription(await subscribe(named), self._endpoint, self._recorded)

    def _recording(self, callback: Callable[[Any], Any], *, acknowledging: bool) -> Callable[[Any], Any]:
        async def recording(message: Any) -> None:
            recorded = self._recorded(message)
            await callback(recorded)
            if acknowledging:
                recorded.acknowledged_by_client()

        return recording

    def _recorded(self, message: Any) -> RecordedMessage:
        return RecordedMessage(message, self._endpoint, self._connection)


def _client_acknowledges(named: dict[str, Any]) -> bool:
    policy = getattr(named.get("config"), "ack_policy", None)
    asks = policy is None or str(getattr(policy, "value", policy)) != "none"
    return asks and not named.get("manual_ack") and not named.get("ordered_consumer")


def _stored(acknowledgement: Any) -> Attributes | None:
    """Nothing, of a duplicate: the server does not store it."""
    return None if acknowledgement.duplicate else {"position": acknowledgement.seq}


def _told(message: Any) -> Attributes:
    """What a message of JetStream says of itself is in its reply subject; core NATS says nothing."""
    if not message.reply.startswith("$JS.ACK."):
        return {}
    told = message.metadata
    return {"position": told.sequence.stream, "redelivered": told.num_delivered > 1}
