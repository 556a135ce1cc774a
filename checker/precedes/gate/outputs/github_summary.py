"""The job summary of GitHub Actions, and a comment on a pull request: Markdown, figures folded away.

A summary may have one mebibyte; what does not fit is counted instead of shown.
"""

from __future__ import annotations

from precedes.gate.outputs.text import closing
from precedes.gate.running import Judged, Summary

MOST_BYTES = 1_000_000


def render(summary: Summary) -> str:
    """A heading, a table, then the figures."""
    lines = [f"### precedes: {closing(summary)}", ""]
    told = summary.told()
    if told:
        lines += ["| | rule | where | what |", "|---|---|---|---|", *map(_row, told), ""]
    lines += [f"- fixed: {name}" for name in summary.fixed]
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
    where = f"`{item.place.path}:{item.place.line}`"
    cells = (
        f"{judged.standing} {kind}".strip(),
        item.rule,
        where,
        item.message.replace("|", "\\|").replace("\n", " "),
    )
    return f"| {' | '.join(cells)} |"


def _folded(judged: Judged) -> str:
    item = judged.item
    if not item.detail:
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in item.detail.split() if set(run) == {"`"}), default=0))
    return f"<details><summary>{item.name}</summary>\n\n{fence}text\n{item.detail}\n{fence}\n\n</details>\n"
