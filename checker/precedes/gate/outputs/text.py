"""For people at a terminal: what did not pass, with its figure, then one closing line."""

from __future__ import annotations

import re

import click

from precedes.core.counts import counted
from precedes.gate.findings import Judged, Summary, result_of


def render(summary: Summary) -> str:
    """Findings in the order of the checks; the figures of what was there before are left out."""
    lines: list[str] = []
    for judged in summary.told():
        lines += [*_finding(judged, brief=judged.standing == "standing" or judged.accepted), ""]
    lines += [f"fixed: {name}" for name in summary.fixed]
    lines.append(closing(summary))
    return "\n".join(lines) + "\n"


COLOURS = {"error": "red", "warning": "yellow", "note": "cyan", "undecided": "yellow"}


def coloured(text: str) -> str:
    """The same with colors for a terminal: the kind of each finding, and the outcome."""

    def kind(found: re.Match[str]) -> str:
        return found[1] + click.style(found[2], fg=COLOURS[found[2]], bold=True)

    def outcome(found: re.Match[str]) -> str:
        colour = {"passed": "green", "failed": "red", "undecided": "yellow", "could not run": "red"}[found[1]]
        return click.style(found[1], fg=colour, bold=True) + ":"

    text = re.sub(r"(?m)^(\S+:\d+: G\d{3} )(error|warning|note|undecided)", kind, text)
    return re.sub(r"(?m)^(passed|failed|undecided|could not run):(?= \d)", outcome, text)


def _finding(judged: Judged, *, brief: bool) -> list[str]:
    item = judged.item
    marks = [mark for mark in (judged.standing, "accepted" if judged.accepted else "") if mark]
    kind = "undecided" if item.result == "undecided" else judged.severity
    of = f" ({', '.join(marks)})" if marks else ""
    head = f"{item.place.path}:{item.place.line}: {item.rule} {kind}{of}"
    lines = [f"{head}: {item.message}", f"  {item.check}"]
    return lines if brief else [*lines, *(f"    {line}" for line in item.detail.splitlines())]


def closing(summary: Summary) -> str:
    """`failed: 3 errors, 1 undecided; 40 passed in 12 checks, 10 of them unchanged`."""
    judged = summary.judged
    numbers = {
        "error": sum(one.counts for one in judged),
        "warning": sum(one.item.result == "failed" and one.severity == "warning" for one in judged),
        "note": sum(one.item.result == "failed" and one.severity == "note" for one in judged),
        "accepted": sum(one.accepted and one.item.result != "passed" for one in judged),
        "undecided": sum(one.item.result == "undecided" and not one.accepted for one in judged),
    }
    passed = sum(one.item.result == "passed" for one in judged)
    parts = [
        f"{number} {word}{'s' if number != 1 and word in ('error', 'warning', 'note') else ''}"
        for word, number in numbers.items()
        if number
    ]
    against = ""
    if summary.compared:
        new = sum(one.standing == "new" for one in judged)
        against = f"; against the baseline {new} new, {len(summary.fixed)} fixed"
    checks = counted(summary.checks, "check")
    if summary.mistakes:
        checks = f"the other {'check' if summary.checks == 1 else checks}"
    of = f"{passed} passed in {checks}"
    reused = f", {summary.reused} of them unchanged" if summary.reused else ""
    outcome = "could not run" if summary.mistakes else result_of(summary.outcome)
    return f"{outcome}: {', '.join([*parts, of])}{reused}{against}"
