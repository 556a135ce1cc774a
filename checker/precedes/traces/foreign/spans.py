"""Spans of tracing systems, one by one, and what each says of messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, assert_never

import numpy as np
import pyarrow as pa

from precedes.traces.arrow import arrow
from precedes.traces.foreign import rows
from precedes.traces.foreign.span_contexts import CONTEXT, packed
from precedes.traces.foreign.span_messages import tables
from precedes.traces.foreign.span_parts import (
    ATTEMPT_NAMES,
    BATCH_NAMES,
    CLIENT_NAMES,
    CODES,
    DESTINATION_NAMES,
    FACTS,
    GIVEN_BACK,
    GROUP_NAMES,
    ID_NAMES,
    INSTANCE_NAMES,
    LINKS,
    OFFSET_NAMES,
    OPERATION_NAMES,
    OPERATIONS,
    ORDERING_NAMES,
    PARTITION_NAMES,
    RETURN_NAMES,
    SERVICE_NAMES,
    SEVERAL,
    SINGLE_NAMES,
    SPANS,
    Operation,
    Part,
)
from precedes.traces.formats.values import INT64_MAX, RowError, characters, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

Scalar = str | int | bool

LATEST: Final = INT64_MAX - 2**40
"""Of times: places of spans that start at the same time follow it."""


class Kind(Enum):
    """The kind of a span, as far as it matters."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Context:
    """What names a span."""

    trace: str
    span: str
    shared: bool = False
    """Whether it is that of the receiving half of a span that has the context of its sending half."""

    @property
    def packed(self) -> bytes:
        """The context as columns have it."""
        return packed(self.trace, self.span, shared=self.shared)


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


class Reader:
    """From spans to what they say of messages, one by one. `by_service` and `other_operations` count what is less exact
    than it should be.
    """

    def __init__(self, source: TraceSource) -> None:
        self.by_service = self.other_operations = 0
        self._source = source

    def part(self, spans: Iterable[Span]) -> Part:
        """Some spans of a file. Raises PrecedesError."""
        contexts: dict[bytes, int] = {}

        def place(context: Context) -> int:
            return contexts.setdefault(context.packed, len(contexts))

        known: list[int] = []
        found: list[dict[str, object]] = []
        links: list[dict[str, object]] = []
        facts: list[dict[str, object]] = []
        before = self.by_service, self.other_operations
        for span in spans:
            known.append(place(span.context))
            try:
                said = self._messaging(span)
            except RowError as error:
                raise rows.refused(self._source, span.row, error) from error
            if said is None:
                continue
            for link in span.links:
                single = {**span.attributes, **link.attributes}
                batch = {**_of_batch(span.attributes), **link.attributes}
                places = {"single": len(facts), "batch": len(facts) + 1}
                facts += [_facts(single), _facts(batch)]
                of_span = {"span": len(found), "dropped": span.dropped_links}
                links.append({**of_span, "context": place(link.context), **places})
            named = {
                "context": known[-1],
                "parent": None if span.parent is None else place(span.parent),
                "facts": len(facts),
            }
            found.append({**said, **named})
            facts.append(_facts(span.attributes))
        return Part(
            arrow.array(contexts, CONTEXT),
            np.array(known, np.int64),
            arrow.Table.from_pylist(found, SPANS),
            arrow.Table.from_pylist(links, LINKS),
            arrow.Table.from_pylist(facts, FACTS),
            self.by_service - before[0],
            self.other_operations - before[1],
        )

    def _messaging(self, span: Span) -> dict[str, object] | None:
        """What a span does with messages; None for any other span. Raises RowError."""
        said = _text(span.attributes, OPERATION_NAMES)
        operation = OPERATIONS.get(said.lower()) if said is not None else None
        if operation is None:
            operation = _by_kind(span)
            self.other_operations += operation is None and said is not None
        if operation is None:
            return None
        name = _text(span.attributes, RETURN_NAMES) or ""
        count = _whole(span.attributes, BATCH_NAMES)
        return {
            "row": span.row,
            "consumer": span.kind is Kind.CONSUMER,
            "start": span.start,
            "operation": CODES[operation],
            "given_back": name.lower() in GIVEN_BACK,
            "count": None if count is None else min(count, SEVERAL),
            "entity": self._entity(span),
        }

    def _entity(self, span: Span) -> str:
        both = {**span.resource, **span.attributes}
        chosen = self._source.setting("entity")
        if chosen:
            found = _text(both, (chosen,))
        elif (found := _text(both, (*CLIENT_NAMES, *INSTANCE_NAMES))) is None:
            found = _text(both, SERVICE_NAMES)
            self.by_service += found is not None
        if not found:
            wanted = f"`{chosen}`" if chosen else "`service.instance.id`"
            raise RowError(
                "T025",
                f"this span does not say who has it: it has no {wanted}",
                "let programs set service.instance.id, or name an attribute: --set entity=k8s.pod.name",
            )
        return characters(found, "the entity")


def read(source: TraceSource, spans: Iterable[Span], notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of all spans of a file that are read one by one. Raises PrecedesError."""
    yield from tables(source, [Reader(source).part(spans)], notices)


def _facts(attributes: Mapping[str, Scalar]) -> dict[str, object]:
    """What attributes say of a message, or why they do not."""
    try:
        destination, partition = _text(attributes, DESTINATION_NAMES), _text(attributes, PARTITION_NAMES)
        offset, attempt = _whole(attributes, OFFSET_NAMES), _whole(attributes, ATTEMPT_NAMES)
        found: dict[str, object] = {
            "id": _text(attributes, ID_NAMES),
            "topic": destination,
            "partition": partition,
            "position": offset,
            "key": _text(attributes, ORDERING_NAMES),
            "consumer_group": _text(attributes, GROUP_NAMES),
            "redelivered": None if attempt is None else attempt > 1,
        }
        for name, value in found.items():
            if isinstance(value, str):
                characters(value, f"`{name}`")
    except RowError as error:
        return {"problem": json.dumps([error.code, error.message, error.hint])}
    return found


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


def _of_batch(attributes: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The attributes of a span that are those of each of its messages."""
    return {name: value for name, value in attributes.items() if name not in SINGLE_NAMES}


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
    if found > LATEST:
        raise RowError("T015", f"`{what}` is {shown(value)}, which is outside the years 1677 to 2262")
    return found


def hexadecimal(value: object, what: str, lengths: Sequence[int]) -> str:
    """An id of a trace or of a span, in lower case. Raises RowError."""
    if not isinstance(value, str) or len(value) not in lengths or not set(value) <= _DIGITS:
        sizes = " or ".join(str(each) for each in lengths)
        raise RowError("T012", f"`{what}` is {shown(value)}", f"it is {sizes} hexadecimal digits")
    return value.lower()


_DIGITS: Final = frozenset("0123456789abcdefABCDEF")


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
