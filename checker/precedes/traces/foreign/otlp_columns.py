"""Lines of OTLP JSON as columns: what their spans say of messages, for lines that are exactly of the shape that is
stated here; any other is Irregular.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import Bool, Int64
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.foreign import span_contexts
from precedes.traces.foreign.slices import certain, is_text, objects, where
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
    REPEATED,
    RETURN_NAMES,
    SERVICE_NAMES,
    SEVERAL,
    SINGLE_NAMES,
    SPANS,
    Operation,
    Part,
)
from precedes.traces.foreign.spans import LATEST
from precedes.traces.formats.byte_places import occurs
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.formats.letters import are_digits, are_short_wholes, none_is_empty
from precedes.traces.formats.line_slices import Slice
from precedes.traces.sources import TraceSource

_NULL: Final = re.compile(rb"[:\[,][ \t\r]*null")
"""What is null and what is absent are one to Arrow."""
_TEXT_START: Final = re.compile(rb'"startTimeUnixNano"[ \t\r]*:[ \t\r]*"')
_TEXT_INT: Final = re.compile(rb'"intValue"[ \t\r]*:[ \t\r]*"')
_LOOKED_AT: Final = 1 << 16
"""Bytes at the beginning of lines that nearly always have every name that occurs."""
_DIGITS: Final = 18
"""Of whole numbers, whatever 64 bits take beside."""
_INT64: Final = f"^(?:0|-?[1-9][0-9]{{0,{_DIGITS - 1}}})$"
_TOO_LARGE: Final = 10**_DIGITS
_PRODUCER, _CONSUMER, _LARGEST_KIND = 4, 5, 5
_OF_SPANS: Final = (
    *OPERATION_NAMES,
    *BATCH_NAMES,
    *DESTINATION_NAMES,
    *PARTITION_NAMES,
    *GROUP_NAMES,
    *SINGLE_NAMES,
)
_OTHERS: Final = (
    "arrayValue",
    "bytesValue",
    "code",
    "doubleValue",
    "droppedAttributesCount",
    "droppedEventsCount",
    "endTimeUnixNano",
    "events",
    "flags",
    "message",
    "name",
    "schemaUrl",
    "scope",
    "status",
    "timeUnixNano",
    "traceState",
    "values",
    "version",
)
"""Fields that are not needed."""
_OF_ENTITIES: Final = (*CLIENT_NAMES, *INSTANCE_NAMES, *SERVICE_NAMES)

Texts = dict[str, Column]
"""The values of attributes by name, one for each span, link or resource, null where it has none; integers as text."""


def part(source: TraceSource, given: Slice) -> Part:
    """What the spans of a slice say. Raises Irregular."""
    if occurs(b"null", given.lines) and _NULL.search(given.lines):
        raise Irregular
    table, numbers = _batches(given)
    # Its one chunk, of which `combine_chunks` would make a copy.
    (batches,) = table["resourceSpans"].chunks
    certain(batches.is_valid())
    chosen = source.setting("entity")
    names = (*_OF_SPANS, *((chosen,) if chosen else _OF_ENTITIES))
    resources, of_batch = _inner(batches)
    scopes, of_resource = _inner(resources.field("scopeSpans"))
    inner, of_scope = _inner(scopes.field("spans"))
    resource = of_resource[of_scope]
    row = numbers[of_batch[resource]]
    holder = resources.field("resource")
    found = _Spans(inner, row, _texts(inner.field("attributes"), len(inner), names), len(inner))
    shared = _texts(holder.field("attributes"), len(resources), (chosen,) if chosen else _OF_ENTITIES)
    return found.part(shared, resource, chosen)


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans with the numbers of their lines and their attributes."""

    given: Any
    row: Int64
    texts: Texts
    length: int

    def part(self, shared: Texts, resource: Int64, chosen: str) -> Part:
        """What they say; `shared` are the attributes of resources, `resource` the place of that of each span, `chosen`
        is the attribute that names entities.
        """
        contexts = _contexts(self.given)
        start = _start(self.given.field("startTimeUnixNano"))
        kind = pc.fill_null(self.given.field("kind"), 0)
        certain(pc.greater_equal(kind, 0), pc.less_equal(kind, _LARGEST_KIND))
        parent = span_contexts.parents(contexts, self.given.field("parentSpanId"))
        dropped = pc.fill_null(self.given.field("droppedLinksCount"), 0)
        certain(pc.greater_equal(dropped, 0))
        links, of_link = _inner(self.given.field("links"))
        target = _contexts(links)
        said = _first(self.texts, OPERATION_NAMES, self.length)
        operation, others = _operation(said, kind)
        about = np.flatnonzero(operation.is_valid().to_numpy(zero_copy_only=False))
        texts = {name: _kept(column, about) for name, column in self.texts.items()}
        entity, by_service = _entities(texts, shared, resource[about], chosen)
        place = np.full(self.length, -1)
        place[about] = np.arange(len(about))
        of_about = np.flatnonzero(place[of_link] >= 0)
        of_kept = place[of_link[of_about]]
        attributes = _texts(links.field("attributes"), len(links), _OF_SPANS)
        facts = _Facts(texts, len(about))
        linked, tables = facts.linked(
            of_kept, {name: _kept(column, of_about) for name, column in attributes.items()}
        )
        named, (known, *numbers) = span_contexts.numbered(
            contexts, _kept(parent, about), _kept(target, of_about)
        )
        links = {
            "span": of_kept,
            "context": numbers[1],
            "dropped": dropped.take(arrow.array(of_link[of_about])),
            **linked,
        }
        spans = {
            "row": self.row[about],
            "context": _kept(known, about),
            "parent": numbers[0],
            "consumer": _kept(pc.equal(kind, _CONSUMER), about),
            "start": _kept(start, about),
            "entity": entity,
            "operation": _kept(operation, about),
            "given_back": _given_back(_first(texts, RETURN_NAMES, len(about))),
            "count": pc.min_element_wise(
                _whole(_first(texts, BATCH_NAMES, len(about))), SEVERAL, skip_nulls=False
            ),
            "facts": np.arange(len(about)),
        }
        return Part(
            named,
            known.to_numpy(),
            _table(SPANS, spans),
            _table(LINKS, links),
            arrow.concat_tables(tables),
            by_service,
            others,
        )


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the attributes of spans about messages say of them."""

    texts: Texts
    length: int

    def linked(self, span: Int64, own: Texts) -> tuple[dict[str, Int64], list[pa.Table]]:
        """The places of what links say together with their spans, and all that is said, that of the spans first.
        `span` and `own`: the span of each link, and its attributes.
        """
        tables = [self.table()]
        if not own and np.bincount(span, minlength=1).max() <= 1:
            return {"single": span, "batch": span}, tables
        places = {}
        for name, texts in {"single": self.texts, "batch": self._of_batch()}.items():
            places[name] = np.arange(len(span)) + sum(map(len, tables))
            shared = _taken(texts, span)
            merged = shared | {
                each: pc.coalesce(column, shared[each]) if each in shared else column
                for each, column in own.items()
            }
            tables.append(replace(self, texts=merged, length=len(span)).table())
        return places, tables

    def _of_batch(self) -> Texts:
        return {name: column for name, column in self.texts.items() if name not in SINGLE_NAMES}

    def table(self) -> pa.Table:
        """What is said, as a table."""

        def first(names: Sequence[str]) -> Column:
            return _first(self.texts, names, self.length)

        columns = {
            "id": first(ID_NAMES),
            "topic": first(DESTINATION_NAMES),
            "partition": first(PARTITION_NAMES),
            "position": _whole(first(OFFSET_NAMES)),
            "key": first(ORDERING_NAMES),
            "consumer_group": first(GROUP_NAMES),
            "redelivered": pc.greater(_whole(first(ATTEMPT_NAMES)), 1),
            "problem": arrow.nulls(self.length, arrow.string()),
        }
        return _table(FACTS, columns)


def _table(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    arrays = []
    for field in schema:
        column = columns[field.name]
        array = arrow.array(column) if isinstance(column, np.ndarray) else column
        if field.type == REPEATED and array.type != REPEATED:
            array = _repeated(array)
        arrays.append(array if array.type == field.type else pc.cast(array, field.type))
    return pa.table(arrays, schema=schema)


def _inner(lists: Column) -> tuple[Column, Int64]:
    """What is in lists, and the place of the list of each."""
    return pc.list_flatten(lists), pc.list_parent_indices(lists).to_numpy().astype(np.int64)


def _taken(texts: Texts, places: Int64) -> Texts:
    return {name: column.take(arrow.array(places)) for name, column in texts.items()}


def _kept(column: Column, places: Int64) -> Column:
    """The values at some places, which ascend."""
    return column if len(places) == len(column) else column.take(arrow.array(places))


def _texts(attributes: Column, length: int, names: Sequence[str]) -> Texts:
    """The values of some attributes, for each of the lists that have them. Raises Irregular."""
    entries, owner = _inner(attributes)
    if not len(entries):
        return {}
    certain(entries.field("key").is_valid())
    value = entries.field("value")
    text, number, truth = (value.field(name) for name in ("stringValue", "intValue", "boolValue"))
    if not _are_small(number):
        raise Irregular
    wanted = list(dict.fromkeys(names))
    code = pc.fill_null(pc.index_in(entries.field("key"), value_set=arrow.array(wanted)), len(wanted))
    codes = code.to_numpy().astype(np.uint8)
    order = np.argsort(codes, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(codes, minlength=len(wanted))))
    if truth.null_count < len(truth):
        certain(truth.take(arrow.array(order[: starts[len(wanted)]])).is_null())
    present = pc.or_(text.is_valid(), number.is_valid()).to_numpy(zero_copy_only=False)
    found: Texts = {}
    for name, start, end in zip(wanted, starts, starts[1:], strict=False):
        here = order[start:end]
        here = here[present[here]]
        if len(here):
            owners = owner[here]
            if (owners[1:] == owners[:-1]).any():
                raise Irregular
            place = np.full(length, -1)
            place[owners] = here
            found[name] = _value(text, number, arrow.array(place, mask=place < 0))
    return found


def _value(text: Column, number: Column, places: Column) -> Column:
    """The values at some places, one of text or one of a number."""
    given = text.take(places)
    if given.null_count == places.null_count:
        return given
    other = pc.cast(number.take(places), arrow.string())
    return other if given.null_count == len(given) else pc.coalesce(given, other)


def _are_small(numbers: Column) -> bool:
    """Whether whole numbers, written as text or not, are those of at most 18 digits."""
    if not arrow.types.is_string(numbers.type):
        small = pc.and_(pc.greater(numbers, -_TOO_LARGE), pc.less(numbers, _TOO_LARGE))
    elif are_short_wholes(numbers, _DIGITS):
        return True
    else:
        small = pc.match_substring_regex(numbers, _INT64)
    return pc.all(small, min_count=0).as_py() is True


def _first(texts: Texts, names: Sequence[str], length: int) -> Column:
    """The first value of some attributes that is not an empty text."""
    columns = []
    for name in dict.fromkeys(names):
        if name in texts:
            column = texts[name]
            columns.append(column if none_is_empty(column) else where(is_text(column), column))
    match columns:
        case []:
            return arrow.nulls(length, arrow.string())
        case [column]:
            return column
        case _:
            return pc.coalesce(*columns)


def _whole(texts: Column) -> Column:
    """Whole numbers from 0. Raises Irregular, or what Arrow raises."""
    if not are_digits(texts):
        certain(pc.fill_null(pc.match_substring_regex(texts, "^[0-9]+$"), True))
    return pc.cast(texts, arrow.int64())


def _contexts(given: Column) -> Column:
    """The contexts of spans or links. Raises Irregular."""
    return span_contexts.contexts(given.field("traceId"), given.field("spanId"))


def _start(given: Column) -> Column:
    found = _whole(given) if arrow.types.is_string(given.type) else given
    certain(pc.greater(found, 0), pc.less_equal(found, LATEST))
    return found


def _operation(said: Column, kind: Column) -> tuple[Column, int]:
    """What spans do, null for those without messages, and how many of these do something that is not known."""
    codes = arrow.array([CODES[each] for each in OPERATIONS.values()], arrow.int8())
    coded = said.dictionary_encode()
    number = pc.index_in(pc.utf8_lower(coded.dictionary), value_set=arrow.array(list(OPERATIONS)))
    stated = codes.take(number).take(coded.indices)
    send, process = (arrow.scalar(CODES[each], arrow.int8()) for each in (Operation.SEND, Operation.PROCESS))
    nothing = arrow.scalar(None, arrow.int8())
    by_kind = pc.if_else(
        pc.equal(kind, _PRODUCER), send, pc.if_else(pc.equal(kind, _CONSUMER), process, nothing)
    )
    found = pc.coalesce(stated, by_kind)
    return found, pc.sum(pc.and_(found.is_null(), said.is_valid()), min_count=0).as_py()


def _given_back(returned: Column) -> Column:
    """Whether what spans do gives a message back."""
    coded = returned.dictionary_encode()
    known = pc.is_in(pc.utf8_lower(coded.dictionary), value_set=arrow.array(sorted(GIVEN_BACK)))
    return pc.fill_null(known.take(coded.indices), False)


def _entities(own: Texts, shared: Texts, resource: Int64, chosen: str) -> tuple[Column, int]:
    """Who has each span, by the attributes of the spans and of resources, and for how many it is a service. Raises
    Irregular where nobody has one.
    """
    names = (chosen,) if chosen else _OF_ENTITIES
    if own.keys() & set(names):
        both = own | {
            name: pc.coalesce(own[name], column) if name in own else column
            for name, column in _taken(shared, resource).items()
        }
        found, by_service = _entity(both, chosen, len(resource))
    else:
        of_resource, services = _entity(shared, chosen, int(resource.max(initial=-1)) + 1)
        found, by_service = _repeated(of_resource).take(arrow.array(resource)), services[resource]
    certain(found.is_valid())
    return found, int(np.count_nonzero(by_service))


def _entity(both: Texts, chosen: str, length: int) -> tuple[Column, Bool]:
    """Who has each of some spans or resources, and whether that is a service."""
    if chosen:
        return _first(both, (chosen,), length), np.zeros(length, np.bool_)
    client = _first(both, (*CLIENT_NAMES, *INSTANCE_NAMES), length)
    by_service = client.is_null().to_numpy(zero_copy_only=False)
    return pc.coalesce(
        client, _first(both, SERVICE_NAMES, length)
    ) if by_service.any() else client, by_service


def _repeated(texts: Column) -> Column:
    """Texts of which there are few."""
    return pc.cast(texts, arrow.large_string()).dictionary_encode()


def _batches(given: Slice) -> tuple[pa.Table, Int64]:
    """The batches of lines, and the numbers of the lines. Raises Irregular."""
    lines, start = given.lines, given.lines[:_LOOKED_AT]
    kinds = _TEXT_INT.search(lines) is not None, _TEXT_START.search(lines) is not None
    try:
        return objects(
            given, _shape(frozenset(name for name in _OTHERS if f'"{name}"'.encode() in start), *kinds)
        )
    except arrow.ArrowInvalid:
        return objects(given, _shape(frozenset(_OTHERS), *kinds))


@lru_cache(maxsize=64)
def _shape(names: frozenset[str], text_int: bool, text_start: bool) -> pa.Schema:
    """What a line is: of the fields of OTLP, those that are needed, and of `_OTHERS` those of some names. `text_int`,
    `text_start`: values of integers are texts, times are.
    """
    number: pa.DataType = arrow.string() if text_int else arrow.int64()
    start: pa.DataType = arrow.string() if text_start else arrow.int64()

    def structure(needed: dict[str, pa.DataType], **others: pa.DataType) -> pa.DataType:
        fields = needed | {name: kind for name, kind in others.items() if name in names}
        kind: pa.DataType = arrow.struct(list(fields.items()))
        return kind

    plain = {"stringValue": arrow.string(), "intValue": number, "boolValue": arrow.bool_()}
    scalar = structure(plain, doubleValue=arrow.float64(), bytesValue=arrow.string())
    listed = structure({}, values=arrow.list_(scalar))
    value = structure(plain, doubleValue=arrow.float64(), bytesValue=arrow.string(), arrayValue=listed)
    attributes = arrow.list_(arrow.struct({"key": arrow.string(), "value": value}.items()))
    own = {"traceId": arrow.string(), "spanId": arrow.string(), "attributes": attributes}
    others = {"traceState": arrow.string(), "flags": arrow.int64(), "droppedAttributesCount": arrow.int64()}
    link = structure(own, **others)
    event = structure(
        {},
        timeUnixNano=arrow.string(),
        name=arrow.string(),
        attributes=attributes,
        droppedAttributesCount=arrow.int64(),
    )
    span = structure(
        own
        | {"parentSpanId": arrow.string(), "kind": arrow.int64(), "startTimeUnixNano": start}
        | {"links": arrow.list_(link), "droppedLinksCount": arrow.int64()},
        **others,
        name=arrow.string(),
        endTimeUnixNano=start,
        events=arrow.list_(event),
        droppedEventsCount=arrow.int64(),
        status=structure({}, message=arrow.string(), code=arrow.int64()),
    )
    scope = structure({}, name=arrow.string(), version=arrow.string(), attributes=attributes)
    of_scope = structure({"spans": arrow.list_(span)}, scope=scope, schemaUrl=arrow.string())
    resource = structure({"attributes": attributes}, droppedAttributesCount=arrow.int64())
    of_resource = structure(
        {"resource": resource, "scopeSpans": arrow.list_(of_scope)}, schemaUrl=arrow.string()
    )
    schema: pa.Schema = arrow.schema([("resourceSpans", arrow.list_(of_resource))])
    return schema
