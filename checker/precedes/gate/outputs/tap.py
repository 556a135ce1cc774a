"""TAP 14, one test point for each item."""

from __future__ import annotations

import json

from precedes.core.printable import printable
from precedes.gate.findings import Judged, Summary


def render(summary: Summary) -> str:
    """A plan and the points; what is undecided is not ok, what does not count is to be done."""
    lines = ["TAP version 14", f"1..{len(summary.judged)}"]
    for number, judged in enumerate(summary.judged, 1):
        lines += _point(number, judged)
    return "\n".join(lines) + "\n"


def _point(number: int, judged: Judged) -> list[str]:
    item = judged.item
    name = item.name.replace("\\", "\\\\").replace("#", "\\#").replace("\n", " ")
    if item.result == "passed":
        return [f"ok {number} - {name}"]
    why = (
        ""
        if judged.counts
        else " # TODO "
        + ("accepted" if judged.accepted else item.result if item.result == "undecided" else judged.severity)
    )
    block = [
        f"message: {_text(item.message)}",
        f"severity: {judged.severity}",
        f"at: {_text(f'{item.place.path}:{item.place.line}')}",
    ]
    if item.detail:
        # Lines may begin with spaces: how far the block is indented has to be said.
        block += ["figure: |2", *(f"  {line}" for line in item.detail.splitlines())]
    return [f"not ok {number} - {name}{why}", "  ---", *(f"  {line}" for line in block), "  ..."]


def _text(text: str) -> str:
    """A text between quotation marks that YAML reads. Its escapes are not all of JSON's."""
    return json.dumps(printable(text), ensure_ascii=False)
