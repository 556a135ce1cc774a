"""Spans of OpenTelemetry as OTLP JSON: a line for each batch, as the collector writes them, or one document.

Encoding: "JSON Protobuf Encoding" of the OTLP specification. Ids are hexadecimal, 64-bit numbers are text or numbers,
fields that are not known are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign import rows, spans
from precedes.traces.foreign.spans import Context, Kind, Link, Scalar, Span, hexadecimal, start_time
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = spans.SETTINGS

_BEGINNING: Final = re.compile(r'\s*\{\s*"resourceSpans"\s*:\s*[\[n]')
_KINDS: Final = {4: Kind.PRODUCER, 5: Kind.CONSUMER}
_LARGEST_KIND: Final = 5
_TRACE_DIGITS: Final = (32,)
_SPAN_DIGITS: Final = (16,)


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an object that has spans of resources."""
    return _BEGINNING.match(start) is not None


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    yield from spans.tables(source, _spans(source), notices)


def _spans(source: TraceSource) -> Iterator[Span]:
    for number, data in rows.values(source):
        try:
            yield from _of_batch(data, number)
        except RowError as error:
            raise rows.refused(source, number, error) from error


def _of_batch(data: object, row: int) -> Iterator[Span]:
    if not isinstance(data, dict) or "resourceSpans" not in data:
        hint = "export traces, not metrics or logs, as OTLP JSON"
        raise RowError("T009", "this is not an object with `resourceSpans`", hint)
    for of_resource in spans.objects(data, "resourceSpans"):
        resource = _attributes(spans.object_of(of_resource, "resource"))
        for of_scope in spans.objects(of_resource, "scopeSpans"):
            for span in spans.objects(of_scope, "spans"):
                yield _span(span, resource, row)


def _span(span: dict[str, Any], resource: Mapping[str, Scalar], row: int) -> Span:
    context = _context(span)
    parent = span.get("parentSpanId")
    return Span(
        row,
        context,
        None
        if parent in (None, "")
        else Context(context.trace, hexadecimal(parent, "parentSpanId", _SPAN_DIGITS)),
        _kind(span.get("kind")),
        start_time(span.get("startTimeUnixNano"), "startTimeUnixNano", 1),
        _attributes(span),
        resource,
        tuple(Link(_context(link), _attributes(link)) for link in spans.objects(span, "links")),
        spans.whole(span.get("droppedLinksCount") or 0, "droppedLinksCount"),
    )


def _context(value: dict[str, Any]) -> Context:
    return Context(
        hexadecimal(value.get("traceId"), "traceId", _TRACE_DIGITS),
        hexadecimal(value.get("spanId"), "spanId", _SPAN_DIGITS),
    )


def _kind(value: object) -> Kind:
    if value is None:
        return Kind.OTHER
    number = spans.whole(value, "kind") if not isinstance(value, str) else -1
    if not 0 <= number <= _LARGEST_KIND:
        raise RowError("T012", f"`kind` is {shown(value)}", "it is a number from 0 to 5")
    return _KINDS.get(number, Kind.OTHER)


def _attributes(holder: dict[str, Any]) -> dict[str, Scalar]:
    """The attributes whose values are text, whole numbers or truths."""
    found: dict[str, Scalar] = {}
    for attribute in spans.objects(holder, "attributes"):
        name, value = attribute.get("key"), spans.object_of(attribute, "value")
        if not isinstance(name, str):
            raise RowError("T012", f"the `key` of an attribute is {shown(name)}", "it is a text")
        match value:
            case {"stringValue": str(text)}:
                found[name] = text
            case {"boolValue": bool(truth)}:
                found[name] = truth
            case {"intValue": number}:
                found[name] = _int64(number, name)
            case {"stringValue": wrong} | {"boolValue": wrong}:
                raise RowError("T012", f"the value of `{name}` is {shown(wrong)}, which its type cannot have")
            case dict():
                continue
    return found


def _int64(value: object, name: str) -> int:
    if isinstance(value, str):
        return -spans.whole(value[1:], name) if value.startswith("-") else spans.whole(value, name)
    if isinstance(value, int) and not isinstance(value, bool):
        return -spans.whole(-value, name) if value < 0 else spans.whole(value, name)
    raise RowError("T012", f"the value of `{name}` is {shown(value)}", "it is a whole number")
