"""SARIF 2.1.0: rules with help, results with their place and fingerprint, the counterexample as code flows.

A thread flow is one entity; a viewer steps through its events. What GitHub's reader would not take any more is left
out and counted in the run's properties.
"""

from __future__ import annotations

from importlib.metadata import version
from itertools import groupby
from typing import Any
from urllib.parse import quote

from precedes.core.printable import json_text
from precedes.gate.findings import Item, Judged, Summary
from precedes.gate.rules import Rule, rules
from precedes.language.quoting import shown

MOST_RESULTS = 5_000
MOST_STEPS = 1_000
LEVELS = {"error": "error", "warning": "warning", "note": "note", "off": "none"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(summary: Summary) -> str:
    """One run of one tool."""
    told = summary.told()
    kept = told[:MOST_RESULTS]
    numbers = {code: number for number, code in enumerate(rules())}
    run = {
        "tool": {
            "driver": {
                "name": "precedes",
                "semanticVersion": version("precedes"),
                "rules": [_rule(rule) for rule in rules().values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(judged, numbers) for judged in kept],
        "properties": {"leftOut": len(told) - len(kept)},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(document)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.title},
        "help": {"text": rule.help, "markdown": rule.help},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["message-order"]},
    }


def _result(judged: Judged, numbers: dict[str, int]) -> dict[str, Any]:
    item = judged.item
    result: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": numbers[item.rule],
        "kind": "review" if item.result == "undecided" else "fail",
        "level": "none" if item.result == "undecided" else LEVELS[judged.severity],
        "message": {"text": "\n".join(part for part in (item.message, item.detail) if part)},
        "locations": [_location(item)],
        "partialFingerprints": {"precedes/v1": item.fingerprint},
        "properties": {"check": item.check, "subject": item.subject},
    }
    if judged.standing:
        result["baselineState"] = "new" if judged.standing == "new" else "unchanged"
    if judged.accepted:
        result["suppressions"] = [{"kind": "external", "justification": "accepted by name"}]
    if item.events:
        result["codeFlows"] = [{"message": {"text": "the counterexample"}, "threadFlows": _flows(item)}]
    return result


def _location(item: Item, text: str | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(item.place.path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": item.place.line},
        }
    }
    return location if text is None else {**location, "message": {"text": text}}


def _flows(item: Item) -> list[dict[str, Any]]:
    flows = []
    for entity, events in groupby(item.events[:MOST_STEPS], key=lambda event: event.entity):
        steps = [
            {"location": _location(item, f"{shown(entity)}: {event.text}"), "executionOrder": order}
            for order, event in enumerate(events, 1)
        ]
        flows.append({"id": entity, "message": {"text": shown(entity)}, "locations": steps})
    return flows
