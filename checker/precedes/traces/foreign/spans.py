"""Spans of tracing systems about messages, and the rows that they become.

The names of attributes are those of OpenTelemetry's semantic conventions for messaging, the present and the older ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, assert_never

import pyarrow as pa

from precedes.traces import notices as notice
from precedes.traces.arrow import arrow
from precedes.traces.foreign import rows
from precedes.traces.foreign.message_identities import (
    Key,
    Naming,
    context_key,
    named,
    preference,
    record_key,
)
from precedes.traces.foreign.rows import Row
from precedes.traces.formats.values import INT64_MAX, RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.schema import BY_TIME, TABLE_SCHEMA
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "delivery": "which span is the delivery if a consumer has both for a message: `process` (the default) or `receive`",
    "entity": "the attribute that names the entity, such as `k8s.pod.name`; by default `messaging.client.id`, else "
    "`service.instance.id`, else `service.name`",
    "message": "what names a message if several things do: `record` (destination, partition and offset, the default), "
    "`id` (`messaging.message.id`) or `context` (of the span that creates it)",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
}

Scalar = str | int | bool


class Kind(Enum):
    """The kind of a span, as far as it matters."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    OTHER = "other"


class Operation(Enum):
    """What a span does with messages."""

    CREATE = "create"
    SEND = "send"
    RECEIVE = "receive"
    PROCESS = "process"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True)
class Context:
    """What names a span."""

    trace: str
    span: str

    @property
    def key(self) -> Key:
        """The key of the message that the span creates."""
        return context_key(self.trace, self.span)

    @property
    def other_key(self) -> Key:
        """The key of the message that the span is about, if it does not create it."""
        return Key(Naming.SPAN, f"{self.trace}-{self.span}")


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a span to another one, with what it says of the message."""

    context: Context
    attributes: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Span:
    """A span, with its place in the file. `resource` are the attributes of the program that has it."""

    row: int
    context: Context
    parent: Context | None
    kind: Kind
    start: int
    attributes: Mapping[str, Scalar]
    resource: Mapping[str, Scalar]
    links: tuple[Link, ...] = ()
    dropped_links: int = 0


_SENDS: Final = (Operation.CREATE, Operation.SEND)
_OPERATIONS: Final = {
    "create": Operation.CREATE,
    "send": Operation.SEND,
    "publish": Operation.SEND,
    "receive": Operation.RECEIVE,
    "poll": Operation.RECEIVE,
    "deliver": Operation.PROCESS,
    "process": Operation.PROCESS,
    "settle": Operation.SETTLE,
    "ack": Operation.SETTLE,
    "nack": Operation.SETTLE,
}
_GIVEN_BACK: Final = frozenset({"nack", "reject", "abandon", "release", "requeue"})
_OPERATION: Final = ("messaging.operation.type", "messaging.operation", "messaging.operation.name")
_DESTINATION: Final = ("messaging.destination.name", "messaging.destination", "kafka.topic")
_PARTITION: Final = (
    "messaging.destination.partition.id",
    "messaging.kafka.destination.partition",
    "messaging.kafka.partition",
)
_OFFSET: Final = ("messaging.kafka.offset", "messaging.kafka.message.offset")
_MESSAGE_ID: Final = ("messaging.message.id", "messaging.message_id")
_ORDERING: Final = ("messaging.kafka.message.key", "messaging.kafka.message_key", "kafka.key")
_OTHER_ORDERING: Final = ("messaging.gcp_pubsub.message.ordering_key", "messaging.rocketmq.message.group")
_GROUP: Final = (
    "messaging.consumer.group.name",
    "messaging.kafka.consumer.group",
    "messaging.kafka.consumer_group",
)
_ATTEMPT: Final = ("messaging.gcp_pubsub.message.delivery_attempt",)
_BATCH: Final = ("messaging.batch.message_count",)
_CLIENT: Final = ("messaging.client.id", "messaging.client_id", "messaging.kafka.client_id")
_INSTANCE: Final = ("service.instance.id",)
_SERVICE: Final = ("service.name",)


@dataclass(frozen=True, slots=True)
class _Messaging:
    """A span about messages: who has it, and what it does."""

    span: Span
    entity: str
    operation: Operation
    given_back: bool
    count: int | None

    @property
    def single(self) -> bool:
        """Whether the span is about one message, as far as it says."""
        return len(self.span.links) <= 1 and self.count in (None, 1)

    @property
    def key(self) -> Key:
        """The key of its message that other spans may name."""
        creates = self.operation in _SENDS and not self.span.links
        return self.span.context.key if creates else self.span.context.other_key


@dataclass(frozen=True, slots=True)
class _Mention:
    """A message of a span: what names it, and what the span says of it."""

    of: _Messaging
    keys: tuple[Key, ...]
    attributes: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class _Event:
    """A mention of which it is known what message it is about."""

    mention: _Mention
    message: str

    @property
    def at(self) -> tuple[str, str]:
        """The message and the entity."""
        return self.message, self.mention.of.entity


def tables(source: TraceSource, spans: Iterable[Span], notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of all spans of a file, rows of an entity in the order of their times. Raises PrecedesError."""
    events = _events(source, spans, notices)
    sent = {event.message for event in events if event.mention.of.operation in _SENDS}
    execution = rows.execution_of(source)
    found = ((event.mention.of.span.row, {"execution": execution} | _row(event, sent)) for event in events)
    by_time, start = _by_time(events), 0
    place = TABLE_SCHEMA.get_field_index(BY_TIME)
    for table in rows.tables(source, found, notices):
        here = arrow.array(by_time[start : start + len(table)])
        yield table.set_column(place, TABLE_SCHEMA.field(place), here)
        start += len(table)


def _events(source: TraceSource, spans: Iterable[Span], notices: Notices) -> list[_Event]:
    delivery = _choice(source, "delivery", (Operation.PROCESS.value, Operation.RECEIVE.value))
    first = Naming(
        _choice(source, "message", tuple(each.value for each in Naming if each is not Naming.SPAN))
    )
    log = _Log(source, notices)
    messaging = [found for span in spans if (found := log.messaging(span)) is not None]
    contexts = {each.span.context: each for each in messaging}
    mentions = [mention for each in messaging for mention in log.mentions(each, contexts)]
    names = named([mention.keys for mention in mentions], preference(first))
    working = {each.entity for each in messaging if each.operation is Operation.PROCESS}
    events = [
        _Event(mention, checked)
        for mention, name in zip(mentions, names, strict=True)
        if (checked := log.checked(mention, name, working)) is not None
    ]
    log.finish()
    kept = _one_each(events, Operation(delivery), acknowledged=log.unnamed_settlements == 0)
    kept.sort(key=lambda event: event.mention.of.span.start)
    return kept


@dataclass
class _Log:
    """What is found out about the spans of a file as they are read."""

    source: TraceSource
    notices: Notices
    known: set[Context] = field(default_factory=set)
    """Every span of the file, about messages or not."""
    by_service: int = 0
    other_operations: int = 0
    unnamed_settlements: int = 0

    def messaging(self, span: Span) -> _Messaging | None:
        """What a span does with messages; None for any other span. Raises PrecedesError."""
        self.known.add(span.context)
        try:
            said = _text(span.attributes, _OPERATION)
            operation = _OPERATIONS.get(said.lower()) if said is not None else None
            if operation is None:
                operation = _by_kind(span)
                self.other_operations += operation is None and said is not None
            if operation is None:
                return None
            name = _text(span.attributes, ("messaging.operation.name", *_OPERATION)) or ""
            count = _whole(span.attributes, _BATCH)
            return _Messaging(span, self._entity(span), operation, name.lower() in _GIVEN_BACK, count)
        except RowError as error:
            raise rows.refused(self.source, span.row, error) from error

    def _entity(self, span: Span) -> str:
        both = {**span.resource, **span.attributes}
        chosen = self.source.setting("entity")
        if chosen:
            found = _text(both, (chosen,))
        elif (found := _text(both, (*_CLIENT, *_INSTANCE))) is None:
            found = _text(both, _SERVICE)
            self.by_service += found is not None
        if not found:
            wanted = f"`{chosen}`" if chosen else "`service.instance.id`"
            raise RowError(
                "T025",
                f"this span does not say who has it: it has no {wanted}",
                "let programs set service.instance.id, or name an attribute: --set entity=k8s.pod.name",
            )
        return found

    def mentions(self, each: _Messaging, contexts: Mapping[Context, _Messaging]) -> Iterator[_Mention]:
        """The messages of a span. Raises PrecedesError."""
        span = each.span
        links = [link for link in span.links if self._creates(link.context, each, contexts)]
        try:
            if links and span.dropped_links:
                raise RowError(
                    "T025",
                    f"{span.dropped_links} links of this span were dropped, so that it does not name all its messages",
                    "let programs keep more links: OTEL_SPAN_LINK_COUNT_LIMIT",
                )
            if len(links) > 1:
                for link in links:
                    attributes = {**_of_batch(span.attributes), **link.attributes}
                    yield _Mention(each, (*_own_keys(attributes), _key(link.context, contexts)), attributes)
            elif links or each.count in (None, 1):
                yield self._single(each, links, contexts)
            elif each.count:
                yield _Mention(each, (), span.attributes)
        except RowError as error:
            raise rows.refused(self.source, span.row, error) from error

    def _single(
        self, each: _Messaging, links: Sequence[Link], contexts: Mapping[Context, _Messaging]
    ) -> _Mention:
        span = each.span
        attributes = {**span.attributes, **(links[0].attributes if links else {})}
        keys = _own_keys(attributes)
        if links:
            keys.append(_key(links[0].context, contexts))
        elif (parent := self._parent(each, contexts, known=bool(keys))) is not None:
            keys.append(_key(parent, contexts))
        if each.single:
            keys.append(each.key)
        return _Mention(each, tuple(keys), attributes)

    def _parent(
        self, each: _Messaging, contexts: Mapping[Context, _Messaging], *, known: bool
    ) -> Context | None:
        """The parent of a span, if it is about the same message. `known`: something else names the message."""
        parent = each.span.parent
        if parent is None or each.operation in _SENDS:
            return None
        if parent in self.known:
            return parent if self._creates(parent, each, contexts) else None
        pulled = each.operation is Operation.RECEIVE and each.span.kind is not Kind.CONSUMER
        return None if known or pulled or each.operation is Operation.SETTLE else parent

    def _creates(self, context: Context, each: _Messaging, contexts: Mapping[Context, _Messaging]) -> bool:
        """Whether a span that another one names is, as far as the file says, about the same message."""
        target = contexts.get(context)
        if target is None:
            return context not in self.known
        match each.operation:
            case Operation.CREATE:
                allowed: tuple[Operation, ...] = ()
            case Operation.SEND:
                allowed = (Operation.CREATE,)
            case Operation.RECEIVE:
                allowed = _SENDS
            case Operation.PROCESS:
                allowed = (*_SENDS, Operation.RECEIVE)
            case Operation.SETTLE:
                allowed = (*_SENDS, Operation.RECEIVE, Operation.PROCESS)
            case other:
                assert_never(other)
        return target.single and target.operation in allowed

    def checked(self, mention: _Mention, name: str | None, working: set[str]) -> str | None:
        """The name of the message, None if the mention does no harm without. Raises PrecedesError (T025)."""
        if name is not None:
            return name
        if mention.of.operation is Operation.SETTLE:
            self.unnamed_settlements += 1
            return None
        if mention.of.operation is Operation.RECEIVE and mention.of.entity in working:
            return None
        text = "nothing in this span names one message: no offset, no message id, no link to the span that created it"
        if any(key.naming is not Naming.SPAN for key in mention.keys):
            text = "what names the message of this span is shared by several messages"
        hint = "let programs link spans of messages, or set a message id; --set message=context joins by links alone"
        raise unreadable("T025", text, self.source.shown, hint, mention.of.span.row)

    def finish(self) -> None:
        """Tell what is less exact than it should be."""
        tell = self.notices.count
        tell(notice.LESS_EXACT, "spans name only a service: its replicas are one entity", self.by_service)
        tell(notice.LESS_EXACT, "spans of unknown messaging operations were left out", self.other_operations)
        text = (
            "spans of acknowledgements do not say of which message: no acknowledgement of this file was read"
        )
        tell(notice.LESS_EXACT, text, self.unnamed_settlements)


def _key(context: Context, contexts: Mapping[Context, _Messaging]) -> Key:
    """The key of the message of a span that another one names; outside this file, that of the span that creates it."""
    target = contexts.get(context)
    return context.key if target is None else target.key


def _by_kind(span: Span) -> Operation | None:
    """What a span does that does not say it."""
    match span.kind:
        case Kind.PRODUCER:
            return Operation.SEND
        case Kind.CONSUMER:
            return Operation.PROCESS
        case Kind.OTHER:
            return None
        case other:
            assert_never(other)


def _one_each(events: Sequence[_Event], delivery: Operation, *, acknowledged: bool) -> list[_Event]:
    """One kind of send for each message, one kind of delivery for each message at an entity."""
    kinds: dict[tuple[str, str], set[Operation]] = {}
    for event in events:
        kinds.setdefault(event.at, set()).add(event.mention.of.operation)
    created = {event.message for event in events if event.mention.of.operation is Operation.CREATE}
    kept = []
    for event in events:
        match event.mention.of.operation:
            case Operation.CREATE:
                keep = True
            case Operation.SEND:
                keep = event.message not in created
            case Operation.RECEIVE | Operation.PROCESS:
                keep = event.mention.of.operation is delivery or delivery not in kinds[event.at]
            case Operation.SETTLE:
                keep = acknowledged
            case other:
                assert_never(other)
        if keep:
            kept.append(event)
    return kept


def _by_time(events: Sequence[_Event]) -> list[bool]:
    """Whether only its time puts each event after the one before it of its entity.

    The messages of one span are in the order of its links: "Span SHOULD preserve the order in which `Link`s are set"
    (OpenTelemetry Specification, Tracing API, "Link").
    """
    last: dict[str, _Messaging] = {}
    found = []
    for event in events:
        of = event.mention.of
        found.append(last.get(of.entity) is not of)
        last[of.entity] = of
    return found


def _row(event: _Event, sent: set[str]) -> Row:
    of, attributes = event.mention.of, event.mention.attributes
    row: Row = {
        "entity": of.entity,
        "message": event.message,
        "time": rows.seconds(of.span.start),
        "key": _text(attributes, (*_ORDERING, *_OTHER_ORDERING)),
        "partition": _text(attributes, _PARTITION),
        "position": _whole(attributes, _OFFSET),
        "consumer_group": _text(attributes, _GROUP),
    }
    # Brokers that route call a destination otherwise at a queue; a message has one topic.
    topic = _text(attributes, _DESTINATION)
    match of.operation:
        case Operation.CREATE | Operation.SEND:
            row |= {"event": "send", "dest": list(rows.TO_SOMEBODY), "topic": topic}
        case Operation.RECEIVE | Operation.PROCESS:
            attempt = _whole(attributes, _ATTEMPT)
            row |= {
                "event": "deliver",
                "sender": None if event.message in sent else rows.SOMEBODY,
                "topic": topic if row["position"] is not None else None,
                "redelivered": None if attempt is None else attempt > 1,
            }
        case Operation.SETTLE:
            row |= {"event": "nack" if of.given_back else "ack"}
        case other:
            assert_never(other)
    return {name: value for name, value in row.items() if value is not None}


def _own_keys(attributes: Mapping[str, Scalar]) -> list[Key]:
    """What names a message without another span."""
    found = []
    destination, partition = _text(attributes, _DESTINATION), _text(attributes, _PARTITION)
    offset = _whole(attributes, _OFFSET)
    if destination and partition and offset is not None:
        found.append(record_key(destination, partition, offset))
    if name := _text(attributes, _MESSAGE_ID):
        found.append(Key(Naming.ID, name))
    return found


def _of_batch(attributes: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The attributes of a span that are those of each of its messages."""
    single = (*_OFFSET, *_MESSAGE_ID, *_ORDERING, *_OTHER_ORDERING, *_ATTEMPT)
    return {name: value for name, value in attributes.items() if name not in single}


def _text(attributes: Mapping[str, Scalar], names: Iterable[str]) -> str | None:
    for name in names:
        value = attributes.get(name)
        if isinstance(value, bool):
            raise RowError("T012", f"`{name}` is {shown(value)}", "it is a text or a whole number")
        if value is not None and value != "":
            return str(value)
    return None


def _whole(attributes: Mapping[str, Scalar], names: Iterable[str]) -> int | None:
    for name in names:
        value = attributes.get(name)
        if value is not None and value != "":
            return whole(value, name)
    return None


def whole(value: object, what: str) -> int:
    """A whole number from 0, which may be written as text. Raises RowError."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 30:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RowError("T012", f"`{what}` is {shown(value)}", "write a whole number")
    if not 0 <= value <= INT64_MAX:
        raise RowError("T015", f"`{what}` is {shown(value)}", "it is from 0 to 2^63 - 1")
    return value


def start_time(value: object, what: str, unit: int) -> int:
    """When a span starts, in nanoseconds. Raises RowError: spans without it have no order."""
    if value is None or value in (0, "0"):
        raise RowError("T011", f"`{what}` is missing", "spans are ordered by it")
    found = whole(value, what) * unit
    if found > INT64_MAX:
        raise RowError("T015", f"`{what}` is {shown(value)}, which is outside the years 1677 to 2262")
    return found


def hexadecimal(value: object, what: str, lengths: Sequence[int]) -> str:
    """An id of a trace or of a span, in lower case. Raises RowError."""
    if not isinstance(value, str) or len(value) not in lengths or not set(value) <= _DIGITS:
        sizes = " or ".join(str(each) for each in lengths)
        raise RowError("T012", f"`{what}` is {shown(value)}", f"it is {sizes} hexadecimal digits")
    return value.lower()


_DIGITS: Final = frozenset("0123456789abcdefABCDEF")


def _choice(source: TraceSource, name: str, known: Sequence[str]) -> str:
    found = source.setting(name, known[0])
    if found not in known:
        raise unreadable(
            "T025", f"`{name}` is set to {shown(found)}", source.shown, f"it is one of {', '.join(known)}"
        )
    return found


def objects(holder: Mapping[str, object], name: str) -> list[dict[str, Any]]:
    """A field that is a list of objects; an absent one is empty. Raises RowError."""
    found = holder.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise RowError("T012", f"`{name}` is {shown(found)}, not a list of objects")
    return found


def object_of(holder: Mapping[str, object], name: str) -> dict[str, Any]:
    """A field that is an object; an absent one is empty. Raises RowError."""
    found = holder.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise RowError("T012", f"`{name}` is {shown(found)}, not an object")
    return found
