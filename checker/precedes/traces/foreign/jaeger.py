"""Spans of Jaeger: the document that its user interface saves, and its API `/api/traces` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign import rows, spans
from precedes.traces.foreign.spans import Context, Kind, Link, Scalar, Span, start_time
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = spans.SETTINGS

_BEGINNING: Final = re.compile(r'\s*\{\s*"(data|total|limit|offset|errors)"\s*:')
_FIELDS: Final = ('"data"', '"traceID"', '"spans"')
_KINDS: Final = {"producer": Kind.PRODUCER, "consumer": Kind.CONSUMER}
_DIGITS: Final = range(1, 33)
_MICROSECOND: Final = 1000


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins as a document with traces of Jaeger."""
    return _BEGINNING.match(start) is not None and all(field in start for field in _FIELDS)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    yield from spans.tables(source, _spans(source), notices)


def _spans(source: TraceSource) -> Iterator[Span]:
    number = 0
    for line, document in rows.values(source):
        try:
            if not isinstance(document, dict) or "data" not in document:
                raise RowError("T009", "this is not a document with `data` of Jaeger")
            for trace in spans.objects(document, "data"):
                resources = _resources(spans.object_of(trace, "processes"))
                for span in spans.objects(trace, "spans"):
                    number += 1
                    yield _span(span, resources, number)
        except RowError as error:
            raise rows.refused(source, number or line, error) from error


def _span(span: dict[str, Any], resources: Mapping[str, Mapping[str, Scalar]], row: int) -> Span:
    tags = _tags(span)
    parent, links = _references(span)
    process = span.get("processID")
    if process is not None and (not isinstance(process, str) or process not in resources):
        raise RowError("T012", f"`processID` is {shown(process)}, which `processes` does not have")
    resource = _resource(spans.object_of(span, "process")) if process is None else resources[process]
    kind = _KINDS.get(str(tags.get("span.kind")), Kind.OTHER)
    start = start_time(span.get("startTime"), "startTime", _MICROSECOND)
    return Span(row, _context(span), parent, kind, start, tags, resource, links)


def _references(span: dict[str, Any]) -> tuple[Context | None, tuple[Link, ...]]:
    """The parent of a span and its links. OpenTelemetry's links become references FOLLOWS_FROM."""
    parent, links = None, []
    for reference in spans.objects(span, "references"):
        match reference.get("refType"):
            case "CHILD_OF" if parent is None:
                parent = _context(reference)
            case "CHILD_OF" | "FOLLOWS_FROM":
                links.append(Link(_context(reference), {}))
            case other:
                raise RowError("T012", f"`refType` is {shown(other)}", "it is CHILD_OF or FOLLOWS_FROM")
    return parent, tuple(links)


def _context(value: dict[str, Any]) -> Context:
    trace = spans.hexadecimal(value.get("traceID"), "traceID", _DIGITS)
    # Jaeger leaves out zeros in front of ids, in some versions.
    return Context(trace.zfill(32), spans.hexadecimal(value.get("spanID"), "spanID", _DIGITS).zfill(16))


def _resources(processes: dict[str, Any]) -> dict[str, dict[str, Scalar]]:
    return {name: _resource(spans.object_of(processes, name)) for name in processes}


def _resource(process: dict[str, Any]) -> dict[str, Scalar]:
    service = process.get("serviceName")
    if service is not None and not isinstance(service, str):
        raise RowError("T012", f"`serviceName` is {shown(service)}", "it is a text")
    return _tags(process) | ({"service.name": service} if service else {})


def _tags(holder: dict[str, Any]) -> dict[str, Scalar]:
    """The tags whose values are text, whole numbers or truths."""
    found: dict[str, Scalar] = {}
    for tag in spans.objects(holder, "tags"):
        name, value = tag.get("key"), tag.get("value")
        if not isinstance(name, str):
            raise RowError("T012", f"the `key` of a tag is {shown(name)}", "it is a text")
        if isinstance(value, str | bool | int):
            found[name] = value
        elif name.startswith("messaging."):
            raise RowError(
                "T012", f"the value of `{name}` is {shown(value)}", "it is a text, a number or a truth"
            )
    return found
