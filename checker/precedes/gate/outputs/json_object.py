"""For programs: everything, as one JSON object. Its schema is published beside the configuration's."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from precedes.core.printable import printable_json
from precedes.gate.findings import Event, Place, Summary, result_of

SCHEMA: Literal[1] = 1
"""The version. The form grows by keys; a key never changes its meaning under one number."""


class Finding(Struct, frozen=True):
    """One item, as in `precedes.gate.findings`."""

    rule: str
    check: str
    subject: str
    result: Literal["passed", "failed", "undecided"]
    severity: Literal["error", "warning", "note", "off"]
    standing: Literal["", "new", "standing"]
    accepted: bool
    message: str
    place: Place
    detail: str
    events: tuple[Event, ...]
    scenario: str
    facts: dict[str, int]
    fingerprint: str


class Document(Struct, frozen=True):
    """A run of the gate."""

    schema: Literal[1]
    outcome: Literal["passed", "failed", "undecided"]
    checks: int
    unchanged: int
    fixed: tuple[str, ...]
    items: tuple[Finding, ...]
    scopes: dict[str, dict[str, int | str | tuple[str, ...]]]
    """How far each check goes, by its name."""


def schema() -> dict[str, Any]:
    """The JSON schema of the document, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a run of precedes gate",
        **msgspec.json.schema(Document),
    }


def render(summary: Summary) -> str:
    """One object with a line break at its end. It is the same for two runs that found the same."""
    findings = tuple(
        Finding(
            judged.item.rule,
            judged.item.check,
            judged.item.subject,
            judged.item.result,
            judged.severity,
            judged.standing,  # type: ignore[arg-type]
            judged.accepted,
            judged.item.message,
            judged.item.place,
            judged.item.detail,
            judged.item.events,
            judged.item.scenario,
            judged.item.facts,
            judged.item.fingerprint,
        )
        for judged in summary.judged
    )
    outcome: Any = result_of(summary.outcome)
    scopes = {name: dict(scope) for name, scope in summary.scopes.items()}
    document = Document(SCHEMA, outcome, summary.checks, summary.reused, summary.fixed, findings, scopes)
    return printable_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n"
