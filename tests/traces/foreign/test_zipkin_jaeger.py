"""Spans of Zipkin and of Jaeger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.command.running import precedes
from tests.traces.foreign.logs import recognized, refusal, rows_of

ZIPKIN: list[dict[str, Any]] = [
    {"traceId": "0a" * 8, "id": f"{1:016x}", "kind": "PRODUCER", "timestamp": 10,
     "localEndpoint": {"serviceName": "p"}, "tags": {"messaging.destination.name": "orders"}},
    {"traceId": "0a" * 8, "id": f"{2:016x}", "parentId": f"{1:016x}", "kind": "CONSUMER", "timestamp": 12,
     "localEndpoint": {"serviceName": "c"}, "tags": {}},
]  # fmt: skip
JAEGER: dict[str, Any] = {"data": [{
    "traceID": "a", "spans": [
        {"traceID": "a", "spanID": "1", "startTime": 10, "processID": "p1", "references": [],
         "tags": [{"key": "span.kind", "type": "string", "value": "producer"}]},
        {"traceID": "a", "spanID": "2", "startTime": 12, "processID": "p2",
         "references": [{"refType": "FOLLOWS_FROM", "traceID": "a", "spanID": "1"}],
         "tags": [{"key": "span.kind", "type": "string", "value": "consumer"}]},
    ],
    "processes": {"p1": {"serviceName": "p", "tags": []}, "p2": {"serviceName": "c"}},
}]}  # fmt: skip
EXPECTED = [("p", "send", 10_000), ("c", "deliver", 12_000)]


def test_rows(tmp_path: Path) -> None:
    for word, value in (("zipkin", ZIPKIN), ("jaeger", JAEGER)):
        for text in (json.dumps(value), json.dumps(value, indent=1)):
            assert recognized(text) == [word]
            found = rows_of(tmp_path / "t.json.gz", text, word)
            assert [(row["entity"], row["event"], row["time"]) for row in found] == EXPECTED
            assert found[0]["message"] == found[1]["message"]
            assert found[0]["dest"] == ["group:?"]
            for end in range(1, len(text)):
                assert refusal(tmp_path / "t.json", text[:end], word).code == "T007"


def test_the_receiving_half_of_a_shared_span(tmp_path: Path) -> None:
    shared = {**ZIPKIN[1], "id": ZIPKIN[0]["id"], "shared": True}
    found = rows_of(tmp_path / "t.json", json.dumps([ZIPKIN[0], shared]), "zipkin")
    assert [row["event"] for row in found] == ["send", "deliver"]
    assert found[0]["message"] == found[1]["message"]


def test_wrong_values(tmp_path: Path) -> None:
    for name in ("traceId", "id", "timestamp", "kind", "localEndpoint", "tags"):
        text = json.dumps([{**ZIPKIN[0], name: [1]}])
        assert refusal(tmp_path / "t.json", text, "zipkin").row == 1
    for name in ("traceID", "spanID", "startTime", "processID", "references", "tags"):
        spans = [{**JAEGER["data"][0]["spans"][1], name: [1]}]
        text = json.dumps({"data": [{**JAEGER["data"][0], "spans": spans}]})
        assert refusal(tmp_path / "t.json", text, "jaeger").row == 1


def test_what_spans_do_not_tell_is_told(tmp_path: Path) -> None:
    later = {**ZIPKIN[1], "id": f"{3:016x}", "parentId": f"{4:016x}"}
    sent = {**ZIPKIN[0], "id": f"{4:016x}"}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps([*ZIPKIN, sent, later]), encoding="utf-8")
    told = precedes("verify", path, "--require", "order_preserving").out
    assert "T121 spans name only a service: its replicas are one entity (4)" in told
    assert "T121 events of an entity have equal times" in told
