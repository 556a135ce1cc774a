"""A scenario as a picture: its space-time diagram with what violates one of its requirements marked and told."""

from __future__ import annotations

from dataclasses import dataclass

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict, verdict
from precedes.engines.reference import explain
from precedes.language.loader import Scenario
from precedes.reports.places import Place, places
from precedes.reports.prose.sentence import sentence
from precedes.reports.space_time.svg import diagram_svg
from precedes.reports.space_time.text import diagram


@dataclass(frozen=True, slots=True)
class Marked:
    """What is drawn: an execution, the places that violate something, and how; nothing is marked where nothing does."""

    execution: Execution
    places: frozenset[Place] = frozenset()
    told: str = ""


def marked(scenario: Scenario, asked: Requirement | None = None) -> Marked:
    """The first of the scenario's requirements that is violated, or the one asked for, with its witness.

    Whether the scenario expects the violation does not matter: a figure of `expect not ST` shows why not.
    """
    wanted = [expectation.requirement for expectation in scenario.expectations] if asked is None else [asked]
    for requirement in wanted:
        explanation = explain(requirement, scenario.execution)
        if verdict(explanation.value) is not Verdict.VIOLATED or not explanation.witnesses:
            continue
        witness = explanation.witnesses[0]
        told = sentence(requirement, explanation.execution, witness)
        if witness.part == requirement.name or not told:
            told = f"{requirement.name}: {told}" if told else f"{requirement.name} is violated"
        return Marked(explanation.execution, places(explanation.execution, witness), told)
    return Marked(scenario.execution)


def as_text(scenario: Scenario, found: Marked) -> str:
    """Name and title, the diagram, and what is violated."""
    drawing = diagram(found.execution, found.places)
    lines = [_heading(scenario), "", drawing]
    if "×" in drawing:
        lines += ["", "× never delivered where it was addressed; beside a send: by the sender itself"]
    if found.told:
        lines += ["", f"◆ {found.told}"]
    return "\n".join(lines) + "\n"


def as_svg(scenario: Scenario, found: Marked) -> str:
    """The same as one SVG file."""
    return diagram_svg(found.execution, heading=_heading(scenario), told=found.told, marked=found.places)


def _heading(scenario: Scenario) -> str:
    title = scenario.title if scenario.title != scenario.name else None
    about = [part for part in (title, scenario.source and f"({scenario.source})") if part]
    return " ".join([scenario.name + (":" if about else ""), *about])
