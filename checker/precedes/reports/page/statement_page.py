"""What `check`, `prove`, `find` and `lattice` answer, as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from precedes.core.outcome import ClaimAnswer, Outcome
from precedes.core.verdict import Verdict
from precedes.jobs.check import Answer, FileResult, verdict_of
from precedes.reports.check import closing
from precedes.reports.page.contents import Case, Line, Page, Section
from precedes.reports.space_time.marks import marks_of


def check_page(results: Sequence[FileResult]) -> Page:
    """Each statement with how it came out, and what is violated that should not be."""
    sections = [
        Section(result.path, [*_expected(result), *(_line(claim) for claim in result.claims)])
        for result in results
    ]
    cases = [case for result in results for case in _cases(result)]
    return Page("precedes check", verdict_of(results), closing(results), (), sections, cases, len(cases))


def answer_page(answer: ClaimAnswer, verdict: Verdict) -> Page:
    """The answer of the solver with the execution that shows it."""
    cases = [] if answer.shown is None else [_shown(answer)]
    section = Section(answer.text, [Line(answer.text, verdict.value, (), answer.said)])
    return Page("precedes search", verdict, answer.said, (), [section], cases, len(cases))


def names_page(title: str, verdict: Verdict, named: Iterable[tuple[str, Verdict]]) -> Page:
    """A verdict for each of some names."""
    lines = [Line(name, each.value) for name, each in named]
    return Page(title, verdict, "", (), [Section("Names", lines)], (), 0)


def _expected(result: FileResult) -> Iterator[Line]:
    for name, _, answers in result.scenarios:
        for answer in answers:
            yield Line(
                f"{name}: {answer.text}",
                _word(answer.outcome),
                (),
                f"{answer.requirement.name} {answer.verdict.value}",
            )


def _line(claim: ClaimAnswer) -> Line:
    return Line(claim.text, _word(claim.outcome), (), claim.said)


def _word(outcome: Outcome) -> str:
    return outcome.value


def _cases(result: FileResult) -> Iterator[Case]:
    for name, _, answers in result.scenarios:
        for answer in answers:
            if answer.outcome is Outcome.OTHERWISE and answer.verdict is Verdict.VIOLATED:
                yield _violated(name, answer)
    yield from (
        _shown(claim) for claim in result.claims if claim.outcome is Outcome.OTHERWISE and claim.shown
    )


def _violated(name: str, answer: Answer) -> Case:
    explanation = answer.explanation
    witness = explanation.witnesses[0] if explanation.witnesses else None
    marks = marks_of(answer.requirement, explanation.execution, witness)
    return Case(answer.text, name, marks.told, execution=explanation.execution, marks=marks)


def _shown(answer: ClaimAnswer) -> Case:
    assert answer.shown is not None
    shown = answer.shown
    marks = marks_of(shown.requirement, shown.execution, shown.witness)
    return Case(
        answer.text,
        shown.execution.name,
        answer.said,
        detail=shown.scenario,
        execution=shown.execution,
        marks=marks,
    )
