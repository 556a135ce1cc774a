"""Spans of Zipkin: an array of spans as its API v2 takes and gives them, or an array of traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign import rows, span_messages, spans
from precedes.traces.foreign.spans import Context, Kind, Scalar, Span, hexadecimal, start_time
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = span_messages.SETTINGS

_BEGINNING: Final = re.compile(r"\s*\[[\s\[]*\{")
_FIELDS: Final = ('"traceId"', '"id"')
_SOME_FIELD: Final = ('"localEndpoint"', '"timestamp"', '"kind"', '"parentId"')
_KINDS: Final = {"PRODUCER": Kind.PRODUCER, "CONSUMER": Kind.CONSUMER}
_TRACE_DIGITS: Final = (16, 32)
_SPAN_DIGITS: Final = (16,)
_MICROSECOND: Final = 1000


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an array of objects that have ids of traces and spans as Zipkin writes them."""
    return (
        _BEGINNING.match(start) is not None
        and all(field in start for field in _FIELDS)
        and any(field in start for field in _SOME_FIELD)
        and '"execution"' not in start
    )


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    yield from spans.read(source, _spans(source), notices)


def _spans(source: TraceSource) -> Iterator[Span]:
    for number, data in enumerate(_of_arrays(source), start=1):
        try:
            yield _span(data, number)
        except RowError as error:
            raise rows.refused(source, number, error) from error


def _of_arrays(source: TraceSource) -> Iterator[object]:
    """The spans of all arrays of a file, those of traces one after the other."""
    for line, value in rows.values(source):
        if not isinstance(value, list):
            raise rows.refused(source, line, RowError("T009", "this is not an array of spans of Zipkin"))
        for each in value:
            if isinstance(each, list):
                yield from each
            else:
                yield each


def _span(data: object, row: int) -> Span:
    if not isinstance(data, dict):
        raise RowError("T012", f"a span is {shown(data)}, not an object")
    trace = hexadecimal(data.get("traceId"), "traceId", _TRACE_DIGITS)
    own, parent = hexadecimal(data.get("id"), "id", _SPAN_DIGITS), data.get("parentId")
    context = Context(trace, own)
    above = None if parent in (None, "") else Context(trace, hexadecimal(parent, "parentId", _SPAN_DIGITS))
    shared = data.get("shared")
    if shared is not None and not isinstance(shared, bool):
        raise RowError("T012", f"`shared` is {shown(shared)}", "it is true or false")
    if shared:
        # The receiving half of a span has the id of the sending half, which is what it follows.
        context, above = Context(trace, own, shared=True), context
    endpoint = data.get("localEndpoint") or {}
    if not isinstance(endpoint, dict):
        raise RowError("T012", f"`localEndpoint` is {shown(endpoint)}, not an object")
    service = endpoint.get("serviceName")
    if service is not None and not isinstance(service, str):
        raise RowError("T012", f"`serviceName` is {shown(service)}", "it is a text")
    start = start_time(data.get("timestamp"), "timestamp", _MICROSECOND)
    resource: dict[str, Scalar] = {"service.name": service} if service else {}
    return Span(row, context, above, _kind(data.get("kind")), start, _tags(data), resource)


def _kind(value: object) -> Kind:
    if value is not None and not isinstance(value, str):
        raise RowError("T012", f"`kind` is {shown(value)}", "it is a text such as PRODUCER")
    return _KINDS.get(value or "", Kind.OTHER)


def _tags(data: Mapping[str, Any]) -> dict[str, Scalar]:
    tags = data.get("tags")
    if tags is None:
        return {}
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise RowError("T012", f"`tags` is {shown(tags)}", "it is an object of texts")
    return dict(tags)
