"""Spans of OpenTelemetry in tests, as OTLP JSON."""

from __future__ import annotations

import json
from typing import Any

TRACE = "0A" * 16


def attributes(**values: Any) -> list[dict[str, Any]]:
    """Attributes in the encoding of OTLP; `__` in a name is a point."""
    return [
        {
            "key": name.replace("__", "."),
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for name, value in values.items()
    ]


def link(span: int, **values: Any) -> dict[str, Any]:
    """A link to a span."""
    return {"traceId": TRACE.lower(), "spanId": f"{span:016x}", "attributes": attributes(**values)}


def span(number: int, operation: str, start: int, *links: dict[str, Any], **values: Any) -> dict[str, Any]:
    """A span that sends or gets messages of the topic orders."""
    named = attributes(messaging__operation__type=operation, messaging__destination__name="orders", **values)
    return {
        "traceId": TRACE, "spanId": f"{number:016X}", "kind": 4 if operation == "send" else 5,
        "startTimeUnixNano": str(start), "links": list(links), "attributes": named,
    }  # fmt: skip


def batch(instance: str, *spans: dict[str, Any]) -> dict[str, Any]:
    """The spans of one program."""
    resource = {"attributes": attributes(service__instance__id=instance)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def lines(*batches: dict[str, Any]) -> str:
    """A file as the collector writes it."""
    return "".join(json.dumps(each) + "\n" for each in batches)
