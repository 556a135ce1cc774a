"""A page to look at: what the gate found, each counterexample drawn, and everything that passed below.

It is one file that fetches nothing, to be kept as an artifact of a pipeline. All of it can be read without its script,
which filters the findings and lets one follow a diagram.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import groupby

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.gate.findings import Judged, Summary, result_of
from precedes.gate.outputs.text import closing
from precedes.gate.rules import rules
from precedes.language.loader import compile_text
from precedes.reports.page.rendering import asset, dark_style, environment, policy
from precedes.reports.space_time.marks import Marks
from precedes.reports.space_time.picture import as_svg, execution_picture

MOST_EVENTS = 200
"""A counterexample with more is not drawn; its text is there all the same."""


def render(summary: Summary) -> str:
    """The page; findings in the order of the checks."""
    checks = [
        (name, list(items)) for name, items in groupby(summary.judged, key=lambda judged: judged.item.check)
    ]
    told = [(judged, _kind(judged), _drawn(judged)) for judged in summary.told()]
    script = asset("diagram.js") + _own("findings.js")
    style = asset("diagram.css") + _own("findings.css") + dark_style(".diagram svg")
    return (
        environment("precedes.gate.outputs")
        .get_template("page.html")
        .render(
            outcome=result_of(summary.outcome),
            closing=closing(summary).partition(": ")[2],
            told=told,
            kinds=sorted({kind for _, kind, _ in told}),
            fixed=summary.fixed,
            checks=[
                (name, items, sum(one.item.result != "passed" for one in items)) for name, items in checks
            ],
            rules=rules(),
            script=script,
            style=style,
            policy=policy(script, style),
        )
    )


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
