"""Lines of OTLP JSON as columns: what their spans say of messages, for lines that are exactly of the shape that is
stated here; any other is Irregular.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import Int64
from precedes.traces.arrow import Column, arrow, pc
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
    RETURN_NAMES,
    SERVICE_NAMES,
    SINGLE_NAMES,
    SPANS,
    Operation,
    Part,
    quoted,
)
from precedes.traces.foreign.spans import LATEST
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.formats.line_slices import Slice
from precedes.traces.sources import TraceSource

_NULL: Final = re.compile(rb"[:\[,][ \t\r]*null")
"""What is null and what is absent are one to Arrow."""
_TEXT_START: Final = re.compile(rb'"startTimeUnixNano"[ \t\r]*:[ \t\r]*"')
_TEXT_INT: Final = re.compile(rb'"intValue"[ \t\r]*:[ \t\r]*"')
_LOOKED_AT: Final = 1 << 16
"""Bytes at the beginning of lines that nearly always have every name that occurs."""
_INT64: Final = "^(?:0|-?[1-9][0-9]{0,17})$"
_PARENT: Final = "^(?:[0-9a-fA-F]{16})?$"
_PRODUCER, _CONSUMER, _LARGEST_KIND = 4, 5, 5
_OF_SPANS: Final = (
    *OPERATION_NAMES,
    *BATCH_NAMES,
    *DESTINATION_NAMES,
    *PARTITION_NAMES,
    *GROUP_NAMES,
    *SINGLE_NAMES,
)
_OF_ENTITIES: Final = (*CLIENT_NAMES, *INSTANCE_NAMES, *SERVICE_NAMES)

Texts = dict[str, Column]
"""The values of attributes by name, one for each span, link or resource, null where it has none; integers as text."""


def part(source: TraceSource, given: Slice) -> Part:
    """What the spans of a slice say. Raises Irregular."""
    if b"null" in given.lines and _NULL.search(given.lines):
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
    return found.part(_taken(shared, resource), chosen)


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans with the numbers of their lines and their attributes."""

    given: Any
    row: Int64
    texts: Texts
    length: int

    def part(self, shared: Texts, chosen: str) -> Part:
        """What they say; `shared` are the attributes of their resources, `chosen` is the one that names entities."""
        context = _context(self.given)
        start = _start(self.given.field("startTimeUnixNano"))
        kind = pc.fill_null(self.given.field("kind"), 0)
        certain(pc.greater_equal(kind, 0), pc.less_equal(kind, _LARGEST_KIND))
        parent = _parent(self.given)
        dropped = pc.fill_null(self.given.field("droppedLinksCount"), 0)
        certain(pc.greater_equal(dropped, 0))
        links, of_link = _inner(self.given.field("links"))
        target = _context(links)
        said = _first(self.texts, OPERATION_NAMES, self.length)
        operation, others = _operation(said, kind)
        about = np.flatnonzero(operation.is_valid().to_numpy(zero_copy_only=False))
        places = arrow.array(about)
        texts = _taken(self.texts, about)
        both = texts | {
            name: pc.coalesce(texts[name], column) if name in texts else column
            for name, column in _taken(shared, about).items()
        }
        entity, by_service = _entity(both, chosen, len(about))
        returned = _first(texts, RETURN_NAMES, len(about))
        facts = _Facts(texts, len(about))
        place = np.full(self.length, -1)
        place[about] = np.arange(len(about))
        kept = np.flatnonzero(place[of_link] >= 0)
        of_kept = place[of_link[kept]]
        attributes = _texts(links.field("attributes"), len(links), _OF_SPANS)
        linked, tables = facts.linked(of_kept, _taken(attributes, kept))
        spans = {
            "row": self.row[about],
            "known": about,
            "parent": parent.take(places),
            "consumer": pc.equal(kind, _CONSUMER).take(places),
            "start": start.take(places),
            "entity": entity,
            "operation": operation.take(places),
            "given_back": pc.is_in(pc.utf8_lower(returned), value_set=arrow.array(sorted(GIVEN_BACK))),
            "count": _whole(_first(texts, BATCH_NAMES, len(about))),
            "dropped": dropped.take(places),
            "facts": np.arange(len(about)),
        }
        return Part(
            context,
            _table(SPANS, spans),
            _table(LINKS, {"span": of_kept, "context": target.take(arrow.array(kept)), **linked}),
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

        topic, partition, offset = first(DESTINATION_NAMES), first(PARTITION_NAMES), first(OFFSET_NAMES)
        position = _whole(offset)
        columns = {
            "record": pc.binary_join_element_wise(
                _quoted(topic), _quoted(partition), pc.cast(position, arrow.string()), "/"
            ),
            "id": first(ID_NAMES),
            "topic": topic,
            "partition": partition,
            "position": position,
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
        arrays.append(array if array.type == field.type else pc.cast(array, field.type))
    return pa.table(arrays, schema=schema)


def _inner(lists: Column) -> tuple[Column, Int64]:
    """What is in lists, and the place of the list of each."""
    return pc.list_flatten(lists), pc.list_parent_indices(lists).to_numpy().astype(np.int64)


def _taken(texts: Texts, places: Int64) -> Texts:
    return {name: column.take(arrow.array(places)) for name, column in texts.items()}


def _texts(attributes: Column, length: int, names: Sequence[str]) -> Texts:
    """The values of some attributes, for each of the lists that have them. Raises Irregular."""
    entries, owner = _inner(attributes)
    certain(entries.field("key").is_valid())
    value = entries.field("value")
    text, number, truth = (value.field(name) for name in ("stringValue", "intValue", "boolValue"))
    if not arrow.types.is_string(number.type):
        number = pc.cast(number, arrow.string())
    if number.null_count < len(number):
        certain(pc.fill_null(pc.match_substring_regex(number, _INT64), True))
    code = pc.index_in(entries.field("key"), value_set=arrow.array(list(dict.fromkeys(names))))
    chosen = np.flatnonzero(code.is_valid().to_numpy(zero_copy_only=False))
    places = arrow.array(chosen)
    if truth.null_count < len(truth):
        certain(truth.take(places).is_null())
    values = pc.coalesce(text.take(places), number.take(places))
    codes, owners = code.take(places).to_numpy(), owner[chosen]
    found: Texts = {}
    for number_of_name, name in enumerate(dict.fromkeys(names)):
        here = np.flatnonzero((codes == number_of_name) & values.is_valid().to_numpy(zero_copy_only=False))
        if len(here):
            place = np.full(length, -1)
            place[owners[here]] = here
            if (place >= 0).sum() < len(here):
                raise Irregular
            found[name] = values.take(arrow.array(place, mask=place < 0))
    return found


def _first(texts: Texts, names: Sequence[str], length: int) -> Column:
    """The first value of some attributes that is not an empty text."""
    columns = [where(is_text(texts[name]), texts[name]) for name in dict.fromkeys(names) if name in texts]
    return pc.coalesce(*columns) if columns else arrow.nulls(length, arrow.string())


def _whole(texts: Column) -> Column:
    """Whole numbers from 0. Raises Irregular, or what Arrow raises."""
    if texts.null_count < len(texts):
        certain(pc.fill_null(pc.match_substring_regex(texts, "^[0-9]+$"), True))
    return pc.cast(texts, arrow.int64())


def _quoted(texts: Column) -> Column:
    """`quoted` of each text, once for equal ones."""
    coded = texts.dictionary_encode()
    return arrow.array(map(quoted, coded.dictionary.to_pylist()), arrow.string()).take(coded.indices)


def _context(given: Column) -> Column:
    """The contexts of spans or links. Raises Irregular."""
    found = pc.binary_join_element_wise(given.field("traceId"), given.field("spanId"), "-")
    certain(pc.match_substring_regex(found, "^[0-9a-fA-F]{32}-[0-9a-fA-F]{16}$"))
    return pc.cast(pc.ascii_lower(found), arrow.large_string())


def _parent(given: Column) -> Column:
    parent = given.field("parentSpanId")
    parent = where(is_text(parent), parent)
    if parent.null_count == len(parent):
        return parent
    certain(pc.fill_null(pc.match_substring_regex(parent, _PARENT), True))
    return pc.ascii_lower(pc.binary_join_element_wise(given.field("traceId"), parent, "-"))


def _start(given: Column) -> Column:
    if arrow.types.is_string(given.type):
        certain(pc.match_substring_regex(given, "^[0-9]+$"))
    found = pc.cast(given, arrow.int64())
    certain(pc.greater(found, 0), pc.less_equal(found, LATEST))
    return found


def _operation(said: Column, kind: Column) -> tuple[Column, int]:
    """What spans do, null for those without messages, and how many of these do something that is not known."""
    codes = arrow.array([CODES[each] for each in OPERATIONS.values()], arrow.int8())
    stated = codes.take(pc.index_in(pc.utf8_lower(said), value_set=arrow.array(list(OPERATIONS))))
    send, process = (arrow.scalar(CODES[each], arrow.int8()) for each in (Operation.SEND, Operation.PROCESS))
    nothing = arrow.scalar(None, arrow.int8())
    by_kind = pc.if_else(
        pc.equal(kind, _PRODUCER), send, pc.if_else(pc.equal(kind, _CONSUMER), process, nothing)
    )
    found = pc.coalesce(stated, by_kind)
    return found, pc.sum(pc.and_(found.is_null(), said.is_valid()), min_count=0).as_py()


def _entity(both: Texts, chosen: str, length: int) -> tuple[Column, int]:
    """Who has each span, and for how many it is a service. Raises Irregular where nobody has one."""
    if chosen:
        found, by_service = _first(both, (chosen,), length), 0
    else:
        client = _first(both, (*CLIENT_NAMES, *INSTANCE_NAMES), length)
        by_service = client.null_count
        found = pc.coalesce(client, _first(both, SERVICE_NAMES, length)) if by_service else client
    certain(found.is_valid())
    return found, by_service


def _batches(given: Slice) -> tuple[pa.Table, Int64]:
    """The batches of lines, and the numbers of the lines. Raises Irregular."""
    start = given.lines[:_LOOKED_AT]
    try:
        return objects(given, _shape(given.lines, lambda name: f'"{name}"'.encode() in start))
    except arrow.ArrowInvalid:
        return objects(given, _shape(given.lines, lambda _: True))


def _shape(lines: bytes, occurs: Callable[[str], bool]) -> pa.Schema:
    """What a line is: of the fields of OTLP, those that are needed, and those others that occur."""
    number: pa.DataType = arrow.string() if _TEXT_INT.search(lines) else arrow.int64()
    start: pa.DataType = arrow.string() if _TEXT_START.search(lines) else arrow.int64()
    plain = {"stringValue": arrow.string(), "intValue": number, "boolValue": arrow.bool_()}
    scalar = _object(occurs, plain, doubleValue=arrow.float64(), bytesValue=arrow.string())
    listed = _object(occurs, {}, values=arrow.list_(scalar))
    value = _object(occurs, plain, doubleValue=arrow.float64(), bytesValue=arrow.string(), arrayValue=listed)
    attributes = arrow.list_(arrow.struct({"key": arrow.string(), "value": value}.items()))
    own = {"traceId": arrow.string(), "spanId": arrow.string(), "attributes": attributes}
    others = {"traceState": arrow.string(), "flags": arrow.int64(), "droppedAttributesCount": arrow.int64()}
    link = _object(occurs, own, **others)
    event = _object(
        occurs,
        {},
        timeUnixNano=arrow.string(),
        name=arrow.string(),
        attributes=attributes,
        droppedAttributesCount=arrow.int64(),
    )
    span = _object(
        occurs,
        own
        | {"parentSpanId": arrow.string(), "kind": arrow.int64(), "startTimeUnixNano": start}
        | {"links": arrow.list_(link), "droppedLinksCount": arrow.int64()},
        **others,
        name=arrow.string(),
        endTimeUnixNano=start,
        events=arrow.list_(event),
        droppedEventsCount=arrow.int64(),
        status=_object(occurs, {}, message=arrow.string(), code=arrow.int64()),
    )
    scope = _object(occurs, {}, name=arrow.string(), version=arrow.string(), attributes=attributes)
    of_scope = _object(occurs, {"spans": arrow.list_(span)}, scope=scope, schemaUrl=arrow.string())
    resource = _object(occurs, {"attributes": attributes}, droppedAttributesCount=arrow.int64())
    of_resource = _object(
        occurs, {"resource": resource, "scopeSpans": arrow.list_(of_scope)}, schemaUrl=arrow.string()
    )
    schema: pa.Schema = arrow.schema([("resourceSpans", arrow.list_(of_resource))])
    return schema


def _object(
    occurs: Callable[[str], bool], needed: dict[str, pa.DataType], **others: pa.DataType
) -> pa.DataType:
    """An object with the fields that are needed, and those of others that occur."""
    fields = needed | {name: kind for name, kind in others.items() if occurs(name)}
    kind: pa.DataType = arrow.struct(list(fields.items()))
    return kind
