"""Recording through confluent-kafka and aiokafka: producers and consumers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar, cast

from precedes.record.endpoint import Attributes, Delegate, Destinations, Endpoint, as_text, settle_pending
from precedes.record.recorder import Entity, Offer

C = TypeVar("C")


def confluent_kafka(
    client: C,
    entity: Entity,
    *,
    to: Destinations | None = None,
    name: Callable[[bytes], str | int] | None = None,
) -> C:
    """Record what a producer produces, or what a consumer polls and commits. Use what this returns in its place.

    A record is recorded as sent when its delivery report says that the broker has it; call `poll` or `flush`. A commit
    acknowledges what was polled before it. What the client commits by itself is not seen: set `enable.auto.commit` to
    false. Columns: `topic`, `key`, `partition`, `position` (the offset).

    Args:
        client: `Producer` or `Consumer`.
        entity: Who sends or delivers.
        to: The entities that records are for, or a function from the topic to them. Without it they are unknown.
            `["group:billing"]` is a consumer group.
        name: A function from the value of a record to its name, in place of headers.

    Raises:
        TypeError: It is a client for asyncio.
    """
    recorded = RecordedProducer if hasattr(client, "produce") else RecordedConsumer
    if inspect.iscoroutinefunction(getattr(client, "poll", None)):
        raise TypeError(
            "a client of confluent_kafka.aio is not recorded; wrap Producer or Consumer, or use aiokafka"
        )
    return cast(C, recorded(client, Endpoint(entity, to, name)))


def aiokafka(
    client: C,
    entity: Entity,
    *,
    to: Destinations | None = None,
    name: Callable[[bytes], str | int] | None = None,
) -> C:
    """As `confluent_kafka`, for `AIOKafkaProducer` and `AIOKafkaConsumer`; set `enable_auto_commit` to False.

    Args:
        client: `AIOKafkaProducer` or `AIOKafkaConsumer`.
        entity: Who sends or delivers.
        to: The entities that records are for, or a function from the topic to them.
        name: A function from the value of a record, before it is serialized, to its name.
    """
    recorded = RecordedAioProducer if hasattr(client, "send") else RecordedAioConsumer
    return cast(C, recorded(client, Endpoint(entity, to, name)))


class RecordedProducer(Delegate):
    """A producer of confluent-kafka that records."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset({"produce_batch"})

    def __len__(self) -> int:
        return len(self._wrapped)

    def produce(self, topic: str, value: Any = None, key: Any = None, *rest: Any, **named: Any) -> None:
        """Produce, with headers that name the record."""
        # The parameters behind `key` are partition, on_delivery, timestamp and headers; `callback` is on_delivery.
        named.update(zip(("partition", "on_delivery", "timestamp", "headers"), rest, strict=False))
        report = named.pop("on_delivery", None) or named.pop("callback", None)
        offer = self._endpoint.offer(topic, value, _keyed(key))

        def delivered(error: Any, message: Any) -> None:
            if error is None:
                offer.accepted({"partition": message.partition(), "position": message.offset()})
            else:
                offer.refused()
            if report is not None:
                report(error, message)

        named["headers"] = _joined(named.get("headers"), offer)
        try:
            self._wrapped.produce(topic, value, key, on_delivery=delivered, **named)
        except BaseException:
            offer.refused()
            raise


class Delivered:
    """What a consumer has delivered and not committed, by partition."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], dict[int, str]] = {}

    def add(self, topic: str, partition: int, offset: int, name: str) -> None:
        """Remember one delivery."""
        self._names.setdefault((topic, partition), {})[offset] = name

    def before(self, topic: str, partition: int, offset: int) -> Iterator[str]:
        """Take what a commit of this offset acknowledges: every record before it."""
        names = self._names.get((topic, partition), {})
        for each in sorted(names):
            if each < offset:
                yield names.pop(each)

    def all_of(self, partitions: Iterable[tuple[str, int]]) -> Iterator[str]:
        """Take all of these partitions."""
        for partition in partitions:
            yield from self._names.pop(partition, {}).values()


class RecordedConsumer(Delegate):
    """A consumer of confluent-kafka that records."""

    def __init__(self, consumer: Any, endpoint: Endpoint) -> None:
        super().__init__(consumer, endpoint)
        self._delivered = Delivered()

    def poll(self, *arguments: Any, **named: Any) -> Any:
        """The next record."""
        return self._got(self._wrapped.poll(*arguments, **named))

    def consume(self, *arguments: Any, **named: Any) -> list[Any]:
        """The next records."""
        return [self._got(message) for message in self._wrapped.consume(*arguments, **named)]

    def commit(self, message: Any = None, offsets: Any = None, asynchronous: bool = True) -> Any:
        """Commit; everything before the offset is acknowledged."""
        if message is not None:
            names = self._delivered.before(message.topic(), message.partition(), message.offset() + 1)
            chosen = {"message": message}
        elif offsets is not None:
            names = (
                n for each in offsets for n in self._delivered.before(each.topic, each.partition, each.offset)
            )
            chosen = {"offsets": offsets}
        else:
            assigned = [(each.topic, each.partition) for each in self._wrapped.assignment()]
            names, chosen = self._delivered.all_of(assigned), {}
        return settle_pending(
            [self._endpoint.entity.pending("ack", name) for name in names],
            lambda: self._wrapped.commit(asynchronous=asynchronous, **chosen),
        )

    def _got(self, message: Any) -> Any:
        if message is not None and message.error() is None:
            place: Attributes = {"partition": message.partition(), "position": message.offset()}
            name = self._endpoint.deliver(dict(message.headers() or ()), message.value(), place)
            if name is not None:
                self._delivered.add(message.topic(), message.partition(), message.offset(), name)
        return message


class RecordedAioProducer(Delegate):
    """A producer of aiokafka that records."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset({"send_batch"})

    async def send(self, topic: str, value: Any = None, key: Any = None, *rest: Any, **named: Any) -> Any:
        """Send, with headers that name the record; what this returns is done when the broker has it."""
        named.update(zip(("partition", "timestamp_ms", "headers"), rest, strict=False))
        offer = self._endpoint.offer(topic, value, _keyed(key))
        named["headers"] = _joined(named.get("headers"), offer)
        try:
            future = await self._wrapped.send(topic, value, key, **named)
        except BaseException:
            offer.refused()
            raise

        def settled(ended: Any) -> None:
            if ended.cancelled() or ended.exception():
                offer.refused()
            else:
                stored = ended.result()
                offer.accepted({"partition": stored.partition, "position": stored.offset})

        future.add_done_callback(settled)
        return future

    async def send_and_wait(self, topic: str, *rest: Any, **named: Any) -> Any:
        """Send, and wait until the broker has it."""
        return await (await self.send(topic, *rest, **named))


class RecordedAioConsumer(Delegate):
    """A consumer of aiokafka that records."""

    def __init__(self, consumer: Any, endpoint: Endpoint) -> None:
        super().__init__(consumer, endpoint)
        self._delivered = Delivered()

    def __aiter__(self) -> RecordedAioConsumer:
        return self

    async def __anext__(self) -> Any:
        return self._got(await anext(self._wrapped))

    async def getone(self, *partitions: Any) -> Any:
        """The next record."""
        return self._got(await self._wrapped.getone(*partitions))

    async def getmany(self, *partitions: Any, **named: Any) -> dict[Any, list[Any]]:
        """The next records, by partition."""
        many: dict[Any, list[Any]] = await self._wrapped.getmany(*partitions, **named)
        for records in many.values():
            for record in records:
                self._got(record)
        return many

    async def commit(self, offsets: Any = None) -> None:
        """Commit; everything before the offset is acknowledged."""
        if offsets is None:
            names = self._delivered.all_of(
                (each.topic, each.partition) for each in self._wrapped.assignment()
            )
        else:
            names = (
                name
                for where, each in offsets.items()
                for name in self._delivered.before(
                    where.topic, where.partition, each if isinstance(each, int) else each[0]
                )
            )
        await settle_pending(
            [self._endpoint.entity.pending("ack", name) for name in names],
            lambda: self._wrapped.commit(offsets),
        )

    def _got(self, record: Any) -> Any:
        place: Attributes = {"partition": record.partition, "position": record.offset}
        name = self._endpoint.deliver(dict(record.headers), record.value, place)
        if name is not None:
            self._delivered.add(record.topic, record.partition, record.offset, name)
        return record


def _keyed(key: object) -> Attributes:
    return {} if key is None else {"key": as_text(key)}


def _joined(headers: Any, offer: Offer) -> Any:
    """The caller's headers, a list of pairs or a dict, and those of the offer."""
    own = list(headers.items()) if isinstance(headers, dict) else list(headers or ())
    return [*own, *((name, text.encode()) for name, text in offer.headers.items())] or None
