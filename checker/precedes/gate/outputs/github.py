"""Annotations for GitHub Actions: workflow commands on standard output, which show up beside the lines of the change.

GitHub shows ten of each kind for a step; more are left to the summary and the SARIF file.
"""

from __future__ import annotations

from collections import Counter

from precedes.gate.findings import Judged, Summary
from precedes.gate.outputs.text import closing

MOST = 10
KINDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(summary: Summary) -> str:
    """The commands, then the closing line."""
    lines: list[str] = []
    seen: Counter[str] = Counter()
    for judged in summary.told():
        open_ = judged.item.result == "undecided" and not judged.counts
        kind = "warning" if open_ or judged.accepted else KINDS[judged.severity]
        seen[kind] += 1
        if seen[kind] <= MOST:
            lines.append(_command(kind, judged))
    over = sum(max(0, number - MOST) for number in seen.values())
    lines += [f"{over} more are in the job summary"] if over else []
    return "\n".join([*lines, closing(summary)]) + "\n"


def _command(kind: str, judged: Judged) -> str:
    item = judged.item
    title = _property(f"{item.rule} {item.check}")
    said = _data(f"{item.message}\n{item.detail}".rstrip())
    return f"::{kind} file={_property(item.place.path)},line={item.place.line},title={title}::{said}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
