"""The job summary of GitHub Actions, and a comment on a pull request: Markdown, figures folded away.

A summary may have one mebibyte; what does not fit is counted instead of shown.
"""

from __future__ import annotations

import re

from precedes.gate.findings import Judged, Summary
from precedes.gate.outputs.text import closing

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
    lines += [f"- fixed: {_code(name)}" for name in summary.fixed[:MOST_ROWS]]
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
    where = f"{item.place.path}:{item.place.line}"
    cells = (
        f"{judged.standing} {kind}".strip(),
        item.rule,
        _cell(_code(where)),
        _cell(_code(item.message[:MOST_TEXT])),
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """In a cell a bar ends it, in code as elsewhere."""
    return text.replace("|", "\\|")


def _code(text: str) -> str:
    """Text as code, which nothing in it ends: no tag, no link, no picture and nobody mentioned."""
    text = text.replace("\n", " ")
    ticks = "`" * (1 + _longest_run(text))
    # A space at either end is taken off again, and keeps a tick of the text apart.
    return f"{ticks} {text} {ticks}" if "`" in text or text != text.strip() else f"{ticks}{text}{ticks}"


def _longest_run(text: str) -> int:
    """Of ticks in a row."""
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _tagless(text: str) -> str:
    """Text between tags, where no Markdown is read."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


def _folded(judged: Judged) -> str:
    item = judged.item
    if not item.detail:
        return ""
    fence = "`" * max(3, 1 + _longest_run(item.detail))
    return f"<details><summary>{_tagless(item.name)}</summary>\n\n{fence}text\n{item.detail}\n{fence}\n\n</details>\n"
