"""A page to look at: what the gate found, each counterexample drawn, and everything that passed below.

It is one file that fetches nothing, to be kept as an artifact of a pipeline. All of it can be read without its script,
which filters the findings and lets one follow a diagram.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Final

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.gate.findings import Judged, Summary, result_of
from precedes.gate.outputs.text import closing
from precedes.gate.rules import rules
from precedes.language.loader import compile_text
from precedes.reports.page.rendering import asset, dark_style, environment, policy
from precedes.reports.space_time.marks import Marks
from precedes.reports.space_time.picture import as_svg, execution_picture

MOST_EVENTS: Final = 200
"""A counterexample with more is not drawn; its text is there all the same."""
_MOST_ITEMS: Final = 2_000
"""Items that are listed with their results, of all checks together."""
_FOR_TEXTS: Final = 2_000_000
_FOR_DRAWINGS: Final = 2_000_000
"""Bytes of the findings; what `rendering.LARGEST` leaves is for what was checked, the script and the style."""
_AROUND: Final = 1_500
"""Bytes of a finding beside its text and its drawing, about: its place, its rule and what to do."""


def render(summary: Summary) -> str:
    """The page; findings in the order of the checks. What would make it too large is counted."""
    checks = [
        (name, list(items)) for name, items in groupby(summary.judged, key=lambda judged: judged.item.check)
    ]
    most = _MOST_ITEMS // max(len(checks), 1)
    told = _that_fit(summary)
    script = asset("diagram.js") + _own("findings.js")
    style = asset("diagram.css") + _own("findings.css") + dark_style(".diagram svg")
    return (
        environment("precedes.gate.outputs")
        .get_template("findings.html")
        .render(
            outcome=result_of(summary.outcome),
            closing=closing(summary).partition(": ")[2],
            told=told,
            omitted=len(summary.told()) - len(told),
            kinds=sorted({kind for _, kind, _, _ in told}),
            fixed=summary.fixed,
            checks=[
                (name, items[:most], len(items), sum(one.item.result != "passed" for one in items))
                for name, items in checks
            ],
            rules=rules(),
            script=script,
            style=style,
            policy=policy(script, style),
        )
    )


def _that_fit(summary: Summary) -> list[tuple[Judged, str, str, str]]:
    """The findings that there is room for, each with its kind, its text and, if there is room for it, its drawing."""
    found: list[tuple[Judged, str, str, str]] = []
    for_texts, for_drawings = _FOR_TEXTS, _FOR_DRAWINGS
    for judged in summary.told():
        for_texts -= len(judged.item.message.encode()) + _AROUND
        if for_texts < 0:
            break
        # A text is whole or not there, for a part of a figure is none.
        size = len(judged.item.detail.encode())
        detail = judged.item.detail if size <= for_texts else ""
        for_texts -= len(detail.encode())
        drawn = _drawn(judged)
        size = len(drawn.encode())
        fits = size <= for_drawings
        for_drawings -= size if fits else 0
        found.append((judged, _kind(judged), detail, drawn if fits else ""))
    return found


@cache
def _own(name: str) -> str:
    """The script or the style of the findings."""
    return files("precedes.gate.outputs").joinpath("templates", name).read_text(encoding="utf-8")


def _kind(judged: Judged) -> str:
    if judged.item.result == "undecided":
        return "undecided"
    return "accepted" if judged.accepted else judged.severity


def _drawn(judged: Judged) -> str:
    """The space-time diagram of the counterexample as SVG, its text escaped and what is violated marked; empty where
    there is none."""
    item = judged.item
    if not item.scenario or len(item.events) > MOST_EVENTS:
        return ""
    # What is expected of it may be named by a definition that is not here, and is judged already.
    logs = "\n".join(line for line in item.scenario.splitlines() if not line.startswith("expect "))
    try:
        (scenario,) = compile_text(logs).scenarios
    except (PrecedesError, ValueError):
        return ""
    marks = Marks(frozenset((mark.entity, EventKind(mark.kind), mark.message) for mark in item.marks))
    return as_svg(execution_picture(scenario.execution, marks))
