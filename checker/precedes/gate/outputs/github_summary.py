"""The job summary of GitHub Actions, and a comment on a pull request: Markdown, figures folded away.

A summary may have one mebibyte; what does not fit is counted instead of shown.
"""

from __future__ import annotations

from precedes.gate.outputs.text import closing
from precedes.gate.running import Judged, Summary

MOST_BYTES = 1_000_000
MOST_ROWS = 1_000
MOST_TEXT = 500
"""Of a message in the table, in characters; the figure below has all of it."""


def render(summary: Summary) -> str:
    """A heading, a table, then the figures."""
    lines = [f"### precedes: {closing(summary)}", ""]
    told = summary.told()
    if told:
        lines += ["| | rule | where | what |", "|---|---|---|---|", *map(_row, told[:MOST_ROWS])]
        lines += [f"| | | | {len(told) - MOST_ROWS} more |"] if len(told) > MOST_ROWS else []
        lines.append("")
    lines += [f"- fixed: {_inline(name)}" for name in summary.fixed[:MOST_ROWS]]
    size = sum(len(line.encode()) + 1 for line in lines)
    for number, judged in enumerate(told):
        folded = _folded(judged)
        size += len(folded.encode()) + 1
        if size > MOST_BYTES:
            lines.append(f"{len(told) - number} more figures do not fit here.")
            break
        lines.append(folded)
    return "\n".join(lines).rstrip() + "\n"


def _row(judged: Judged) -> str:
    item = judged.item
    kind = "undecided" if item.result == "undecided" else "accepted" if judged.accepted else judged.severity
    where = f"`{_cell(item.place.path)}:{item.place.line}`"
    cells = (
        f"{judged.standing} {kind}".strip(),
        item.rule,
        where,
        _cell(_inline(item.message[:MOST_TEXT])),
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _inline(text: str) -> str:
    """Text that is read as such and not as a tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _folded(judged: Judged) -> str:
    item = judged.item
    if not item.detail:
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in item.detail.split() if set(run) == {"`"}), default=0))
    return f"<details><summary>{_inline(item.name)}</summary>\n\n{fence}text\n{item.detail}\n{fence}\n\n</details>\n"
