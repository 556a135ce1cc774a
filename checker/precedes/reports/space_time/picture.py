"""An execution as a picture: its space-time diagram with what violates a requirement marked and told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.language.loader import Scenario
from precedes.reports.space_time.marks import NOTHING, Marks, marked, marks_of
from precedes.reports.space_time.neighborhood import FEW_ENTITIES, Excerpt, neighborhood
from precedes.reports.space_time.svg import diagram_svg
from precedes.reports.space_time.text import diagram

if TYPE_CHECKING:
    # A scenario is drawn without what judges traces.
    from precedes.jobs.draw import Drawn


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, under which heading, and what is pointed out in it."""

    heading: str
    excerpt: Excerpt
    marks: Marks = NOTHING

    @property
    def execution(self) -> Execution:
        """What is drawn of the execution."""
        return self.excerpt.execution


def scenario_picture(
    scenario: Scenario, asked: Requirement | None = None, *, unmarked: bool = False
) -> Picture:
    """A scenario with the first of its requirements that is violated, or the one asked for, unless it is `unmarked`.

    Whether the scenario expects the violation does not matter: a figure of `expect not ST` shows why not.
    """
    wanted = [expectation.requirement for expectation in scenario.expectations] if asked is None else [asked]
    heading = _heading(scenario)
    for requirement in () if unmarked else wanted:
        found = marked(requirement, scenario.execution)
        if found is not None:
            execution, marks = found
            return Picture(heading, Excerpt(execution), marks)
    return Picture(heading, Excerpt(scenario.execution))


def violation_picture(found: Drawn, *, unmarked: bool = False) -> Picture:
    """An execution of a trace, with the violation that was asked for, if one was."""
    marks = NOTHING
    if found.requirement is not None and found.cut is not None and not unmarked:
        marks = marks_of(found.requirement, found.cut, found.witness)
    return execution_picture(found.execution, marks, heading=found.execution.name)


def execution_picture(execution: Execution, marks: Marks = NOTHING, *, heading: str = "") -> Picture:
    """An execution, cut to what is around its marks if it is large."""
    return Picture(heading, neighborhood(execution, marks), marks)


def small_picture(execution: Execution, marks: Marks) -> Picture:
    """The same for a place among others on a page."""
    return Picture("", neighborhood(execution, marks, lifelines=FEW_ENTITIES), marks)


def as_text(picture: Picture) -> str:
    """The heading, the diagram, and what is violated."""
    drawing = diagram(picture.execution, picture.marks.places, picture.marks.loop)
    lines = [picture.heading, "", drawing]
    if "×" in drawing:
        lines += ["", "× never delivered where it was addressed; beside a send: by the sender itself"]
    if picture.marks.told:
        lines += ["", f"◆ {picture.marks.told}"]
    if picture.excerpt.left_out:
        lines += ["", picture.excerpt.left_out]
    return "\n".join(lines) + "\n"


def as_svg(picture: Picture) -> str:
    """The same as one SVG file."""
    return diagram_svg(picture.excerpt, heading=picture.heading, marks=picture.marks)


def _heading(scenario: Scenario) -> str:
    title = scenario.title if scenario.title != scenario.name else None
    about = [part for part in (title, scenario.source and f"({scenario.source})") if part]
    return " ".join([scenario.name + (":" if about else ""), *about])
