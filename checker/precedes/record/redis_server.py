"""Recording through redis-py, blocking and with asyncio: streams and pub/sub."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar, cast

from precedes.record.endpoint import (
    Delegate,
    Destinations,
    Endpoint,
    as_text,
    settle,
    settle_offer,
    settle_pending,
)
from precedes.record.recorder import Entity

C = TypeVar("C")


def redis(
    client: C,
    entity: Entity,
    *,
    to: Destinations | None = None,
    name: Callable[[bytes], str | int] | None = None,
) -> C:
    """Record what a client adds to streams and reads from them, and what it publishes and gets by pub/sub.

    Use what this returns in place of the client. An entry of a stream carries the headers as fields. A message of
    pub/sub has none, so that `name` must say what it is called. Recorded are `xadd`, `xread`, `xreadgroup`, `xclaim`,
    `xautoclaim`, `xack`, `publish`, and `get_message`, `listen` and handlers of `pubsub()`. Columns: `topic` (the
    stream or channel), and `redelivered` for members of a group.

    Args:
        client: `redis.Redis` or `redis.asyncio.Redis`.
        entity: Who sends and delivers. If a program reads on several connections, wrap a client for each.
        to: The entities that messages are for, or a function from the topic to them. Without it they are unknown.
        name: A function from the body of a message of pub/sub to its name.
    """
    return cast(C, RecordedRedis(client, Endpoint(entity, to, None), Endpoint(entity, to, name)))


class RecordedRedis(Delegate):
    """A client that records."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset({"pipeline", "spublish", "xackdel"})

    def __init__(self, client: Any, streams: Endpoint, channels: Endpoint) -> None:
        super().__init__(client, streams)
        self._channels = channels
        self._pending: dict[tuple[str, str, str], str] = {}

    def publish(self, channel: Any, message: Any, **rest: Any) -> Any:
        """Publish to a channel."""
        self._need_names()
        offer = self._channels.offer(as_text(channel), message, {})
        return settle_offer(offer, lambda: self._wrapped.publish(channel, message, **rest))

    def pubsub(self, **rest: Any) -> RecordedPubSub:
        """A subscriber, recorded."""
        self._need_names()
        return RecordedPubSub(self._wrapped.pubsub(**rest), self._channels)

    def xadd(self, name: Any, fields: Mapping[Any, Any], *rest: Any, **named: Any) -> Any:
        """Add an entry, with fields that name it."""
        offer = self._endpoint.offer(as_text(name), b"", {})
        return settle_offer(
            offer, lambda: self._wrapped.xadd(name, {**fields, **offer.headers}, *rest, **named)
        )

    def xread(self, *arguments: Any, **named: Any) -> Any:
        """Read entries."""

        def done(result: Any) -> Any:
            for _, entries in _by_stream(result):
                for _, fields in entries:
                    self._endpoint.deliver(_headers(fields), b"", {})
            return result

        return settle(lambda: self._wrapped.xread(*arguments, **named), done, _nothing)

    def xreadgroup(
        self, groupname: Any, consumername: Any, streams: Mapping[Any, Any], *rest: Any, **named: Any
    ) -> Any:
        """Read entries as a member of a group. What is read by an id, and not by `>`, was delivered before."""
        # The parameters behind `streams` are count, block and noack.
        unacknowledged = not named.get("noack", len(rest) > 2 and rest[2])
        fresh = {as_text(stream): as_text(start) == ">" for stream, start in streams.items()}

        def done(result: Any) -> Any:
            for stream, entries in _by_stream(result):
                for entry, fields in entries:
                    key = (stream, as_text(groupname), as_text(entry))
                    message = self._deliver_pending(key, fields, redelivered=not fresh[stream])
                    if message is not None and fresh[stream] and not unacknowledged:
                        self._endpoint.entity.ack(self._pending.pop(key))
            return result

        return settle(
            lambda: self._wrapped.xreadgroup(groupname, consumername, streams, *rest, **named), done, _nothing
        )

    def xclaim(self, name: Any, groupname: Any, *rest: Any, **named: Any) -> Any:
        """Take over entries of another member."""

        def done(result: Any) -> Any:
            if not named.get("justid"):
                self._claimed(as_text(name), as_text(groupname), result)
            return result

        return settle(lambda: self._wrapped.xclaim(name, groupname, *rest, **named), done, _nothing)

    def xautoclaim(self, name: Any, groupname: Any, *rest: Any, **named: Any) -> Any:
        """Take over entries that are pending too long."""

        def done(result: Any) -> Any:
            if not named.get("justid"):
                self._claimed(as_text(name), as_text(groupname), result[1])
            return result

        return settle(lambda: self._wrapped.xautoclaim(name, groupname, *rest, **named), done, _nothing)

    def xack(self, name: Any, groupname: Any, *ids: Any) -> Any:
        """Acknowledge entries."""
        keys = [(as_text(name), as_text(groupname), as_text(each)) for each in ids]
        names = [self._pending.pop(key) for key in keys if key in self._pending]
        return settle_pending(
            [self._endpoint.entity.pending("ack", each) for each in names],
            lambda: self._wrapped.xack(name, groupname, *ids),
        )

    def _need_names(self) -> None:
        if not self._channels.names_by_body:
            raise ValueError("pub/sub of Redis has no headers; say how the body names a message: name=...")

    def _claimed(self, stream: str, group: str, entries: Iterable[Any]) -> None:
        for entry, fields in entries:
            self._deliver_pending((stream, group, as_text(entry)), fields, redelivered=True)

    def _deliver_pending(self, key: tuple[str, str, str], fields: Any, *, redelivered: bool) -> str | None:
        # An entry that was deleted meanwhile has no fields: there is nothing to deliver.
        if not fields:
            return None
        message = self._endpoint.deliver(_headers(fields), b"", {"redelivered": redelivered})
        if message is not None:
            self._pending[key] = message
        return message


class RecordedPubSub(Delegate):
    """A subscriber that records."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset({"get_sharded_message", "ssubscribe"})

    def subscribe(self, *channels: Any, **handlers: Callable[[Any], Any]) -> Any:
        """Subscribe; handlers record."""
        return self._wrapped.subscribe(*channels, **self._recording(handlers))

    def psubscribe(self, *patterns: Any, **handlers: Callable[[Any], Any]) -> Any:
        """Subscribe to patterns; handlers record."""
        return self._wrapped.psubscribe(*patterns, **self._recording(handlers))

    def get_message(self, *arguments: Any, **named: Any) -> Any:
        """The next message, if there is one."""
        return settle(lambda: self._wrapped.get_message(*arguments, **named), self._got, _nothing)

    def listen(self) -> Iterator[Any] | AsyncIterator[Any]:
        """All messages."""
        messages = self._wrapped.listen()
        return self._each_awaited(messages) if hasattr(messages, "__aiter__") else map(self._got, messages)

    async def _each_awaited(self, messages: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for message in messages:
            yield self._got(message)

    def _got(self, message: Any) -> Any:
        if message is not None and message["type"] in ("message", "pmessage"):
            self._endpoint.deliver(None, message["data"], {})
        return message

    def _recording(self, handlers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Callable[[Any], Any]]:
        return {name: self._recorded(handler) for name, handler in handlers.items()}

    def _recorded(self, handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
        if inspect.iscoroutinefunction(handler):

            async def awaited(message: Any) -> Any:
                return await handler(self._got(message))

            return awaited
        return lambda message: handler(self._got(message))


def _by_stream(result: Any) -> Iterator[tuple[str, list[Any]]]:
    """What was read, by stream: pairs or, with the newer protocol, a map of lists of lists."""
    if isinstance(result, Mapping):
        for stream, lists in result.items():
            yield as_text(stream), [entry for entries in lists for entry in entries]
    else:
        for stream, entries in result or ():
            yield as_text(stream), list(entries)


def _headers(fields: Mapping[Any, Any]) -> dict[str, Any]:
    return {as_text(field): value for field, value in fields.items()}


def _nothing() -> None:
    """A read that failed delivered nothing."""
