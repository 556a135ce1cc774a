"""GitLab's code quality report: a JSON list that the merge request shows."""

from __future__ import annotations

from precedes.core.printable import json_text
from precedes.gate.findings import Summary

SEVERITIES = {"error": "critical", "warning": "minor", "note": "info", "off": "info"}


def render(summary: Summary) -> str:
    """What did not pass and is not accepted."""
    entries = [
        {
            "description": judged.item.message,
            "check_name": judged.item.rule,
            "fingerprint": judged.item.fingerprint,
            "severity": "minor" if judged.item.result == "undecided" else SEVERITIES[judged.severity],
            "location": {"path": judged.item.place.path, "lines": {"begin": judged.item.place.line}},
        }
        for judged in summary.told()
        if not judged.accepted
    ]
    return json_text(entries)
