"""`precedes explore` as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precedes.core.execution import Execution
from precedes.jobs.explore import Explored, verdict_of
from precedes.protocol.exploration.result import Finding
from precedes.reports.explore import closing, heading, scenario, told_steps, where, why, witness
from precedes.reports.lasso import drawn, told
from precedes.reports.page.contents import Case, Line, Page, Section
from precedes.reports.space_time.marks import Marks, marks_of


def explore_page(explored: Sequence[Explored]) -> Page:
    """The properties of each instance of the model, and a shortest behavior for each that is violated."""
    cases = [case for each in explored for case in _cases(each)]
    return Page(
        "precedes explore",
        verdict_of(explored),
        "; ".join(closing(each.found) for each in explored),
        (),
        [Section(heading(each), list(_lines(each))) for each in explored],
        cases,
        len(cases),
    )


def _lines(explored: Explored) -> Iterator[Line]:
    found = explored.found
    for name, verdict in found.verdicts.items():
        yield Line(name, verdict.value, (), f"{where(found, name)}: {why(found, name, verdict)}")


def _cases(explored: Explored) -> Iterator[Case]:
    for finding in explored.found.findings:
        execution, marks = _drawn(explored, finding)
        behavior = [
            *told_steps(explored, finding),
            "",
            *scenario(explored, finding).splitlines(),
        ]
        yield Case(
            finding.property,
            heading(explored),
            marks.told.removeprefix(f"{finding.property}: "),
            detail="\n".join(behavior),
            execution=execution,
            marks=marks,
        )


def _drawn(explored: Explored, finding: Finding) -> tuple[Execution, Marks]:
    """What is drawn of a finding, and what is pointed out in it: of a lasso, the packets and its loop."""
    if not finding.loop:
        return finding.execution, _marks(finding)
    lasso = drawn(explored.protocol, explored.bounds.entities, finding)
    return lasso.execution, Marks(told=f"{_marks(finding).told}; {told(finding)}", loop=lasso.loop)


def _marks(finding: Finding) -> Marks:
    if finding.requirement is None or witness(finding) is None:
        about = "; ".join(finding.about)
        return Marks(told=f"{finding.property} is violated{f': {about}' if about else ''}")
    return marks_of(finding.requirement, finding.execution, witness(finding))
