"""Random spans of OpenTelemetry: few of everything, so that they name each other, and one of them sometimes unusual."""

from __future__ import annotations

import json
import random
from typing import Any, Final

_NAMES: Final = {
    "messaging.operation.type": (
        "send",
        "send",
        "process",
        "receive",
        "settle",
        "create",
        "Publish",
        "other",
        "",
    ),
    "messaging.operation.name": ("send", "nack", "ack"),
    "messaging.operation": ("process", "receive"),
    "messaging.destination.name": ("orders", "a/b", ""),
    "messaging.destination": ("orders",),
    "messaging.destination.partition.id": ("0", 1, ""),
    "messaging.kafka.offset": (0, 1, 2, "2"),
    "messaging.message.id": ("m1", "m2", "id:m1", "record:x"),
    "messaging.kafka.message.key": ("k", 7),
    "messaging.consumer.group.name": ("g",),
    "messaging.gcp_pubsub.message.delivery_attempt": (1, 2),
    "messaging.batch.message_count": (0, 1, 2),
    "messaging.client.id": ("c1", "c2", ""),
    "service.name": ("shop",),
    "http.method": ("GET", -5),
}
_WRONG: Final[tuple[Any, ...]] = (None, True, -1, 1.5, 2**70, "", "x", [], ["x"], {}, {"a": 1}, "00", "7")
_TRACES: Final = ("0a" * 16, "0A" * 16, "0b" * 16)


def spans(made: random.Random) -> str:
    """A file of batches, one on each line."""
    wild = made.choice((0.0, 0.0, 0.0, 0.01))
    text = [json.dumps(damaged(made, _batch(made), wild)) for _ in range(made.randrange(4))]
    return "".join(f"{line}\n" for line in text)


def _batch(made: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"resourceSpans": [_of_resource(made) for _ in range(made.choice((0, 1, 1, 2)))]}
    return found


def _of_resource(made: random.Random) -> dict[str, Any]:
    service = [_attribute("service.instance.id", made.choice(("p", "c")))] if made.random() < 0.97 else []
    resource = {"attributes": service + _attributes(made, ("service.name", "messaging.client.id"))}
    scopes = [
        {"spans": [_span(made) for _ in range(made.randrange(5))]} for _ in range(made.choice((0, 1, 1, 2)))
    ]
    return {"resource": resource, "scopeSpans": scopes} if made.random() < 0.95 else {"scopeSpans": scopes}


def _span(made: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "traceId": made.choice(_TRACES[:2] if made.random() < 0.9 else _TRACES),
        "spanId": _id(made),
        "kind": made.choice((4, 4, 5, 5, 5, 3, 1)),
        "startTimeUnixNano": str(made.choice((10, 20, 30, 1700000000000000000))),
        "attributes": _attributes(made, list(_NAMES)),
    }
    if made.random() < 0.3:
        found["parentSpanId"] = made.choice(("", _id(made), _id(made)))
    if made.random() < 0.5:
        found["links"] = [_link(made) for _ in range(made.choice((0, 1, 1, 1, 2, 3)))]
    if made.random() < 0.05:
        found["droppedLinksCount"] = made.choice((0, 2))
    for name, value in {
        "name": "a",
        "endTimeUnixNano": "9",
        "status": {},
        "flags": 1,
        "events": [],
        "more": 1,
    }.items():
        if made.random() < 0.1:
            found[name] = value
    return found


def _link(made: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": made.choice(_TRACES[:2]), "spanId": _id(made)}
    if made.random() < 0.4:
        found["attributes"] = _attributes(made, list(_NAMES))
    return found


def _id(made: random.Random) -> str:
    return f"{made.randrange(1, 9):016x}"


def _attributes(made: random.Random, names: list[str] | tuple[str, ...]) -> list[dict[str, Any]]:
    chosen = made.sample(names, min(len(names), made.choice((0, 1, 2, 3, 5))))
    if "messaging.operation.type" in names and made.random() < 0.8:
        chosen = [
            "messaging.operation.type",
            *(name for name in chosen if name != "messaging.operation.type"),
        ]
    if chosen and made.random() < 0.03:
        chosen.append(chosen[0])
    return [_attribute(name, made.choice(_NAMES[name])) for name in chosen]


def _attribute(name: str, value: object) -> dict[str, Any]:
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": name, "value": {kind: str(value)}}


def damaged(made: random.Random, value: Any, wild: float) -> Any:
    """The value with parts of it, about one in `1 / wild`, replaced by something else."""
    if made.random() < wild:
        return made.choice(_WRONG)
    if isinstance(value, dict):
        return {name: damaged(made, inner, wild) for name, inner in value.items()}
    if isinstance(value, list):
        return [damaged(made, inner, wild) for inner in value]
    return value
