"""What the expectations of a text come to, told beside its mistakes, and its scenarios as pictures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import Final, assert_never

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span, usage
from precedes.core.outcome import Outcome
from precedes.editor.analysis import Analysis
from precedes.jobs.check import Answer, answer_of
from precedes.language.loader import Scenario
from precedes.reports.check import because, said
from precedes.reports.space_time.picture import as_svg, scenario_picture

BUDGET: Final = 1.0
"""Seconds after which the expectations that are left are not judged: a person is waiting."""


class Weight(Enum):
    """How much a remark weighs."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to be told at a place. `code` is that of a mistake; a verdict has none."""

    span: Span
    weight: Weight
    text: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A scenario with the answers to its expectations; `missing` of them were not judged, for lack of time."""

    scenario: Scenario
    answers: tuple[Answer, ...]
    missing: int = 0

    @property
    def summary(self) -> str:
        """As `precedes check` counts: `2 of 2 as stated`."""
        good = sum(answer.outcome is Outcome.AS_STATED for answer in self.answers)
        rest = f", {self.missing} not judged here" if self.missing else ""
        return f"{good} of {len(self.answers) + self.missing} as stated{rest}"


def judged(analysis: Analysis, budget: float = BUDGET) -> tuple[Judged, ...]:
    """Judge the scenarios of a text without mistakes, in their order, as far as the time lasts.

    Args:
        analysis: The text. If it has mistakes, nothing is judged.
        budget: Seconds. An expectation that was begun is judged to its end.
    """
    ends = time.monotonic() + budget
    found: list[Judged] = []
    for scenario in () if analysis.compiled is None else analysis.compiled.scenarios:
        answers: list[Answer] = []
        for expectation in scenario.expectations:
            if time.monotonic() >= ends:
                break
            answers.append(answer_of(expectation, scenario.execution))
        found.append(Judged(scenario, tuple(answers), len(scenario.expectations) - len(answers)))
    return tuple(found)


def remarks(analysis: Analysis, scenarios: tuple[Judged, ...]) -> tuple[Remark, ...]:
    """The mistakes of a text as `precedes check` tells them, or what came out otherwise than it states."""
    if analysis.mistakes:
        return tuple(map(_mistake, analysis.mistakes))
    found: list[Remark] = []
    for one in scenarios:
        for answer, expectation in zip(one.answers, one.scenario.expectations, strict=False):
            found += _verdict(answer, expectation.span)
        found += [
            Remark(each.span, Weight.INFORMATION, f"{each.text}: not judged here; precedes check judges it")
            for each in one.scenario.expectations[len(one.answers) :]
        ]
    return tuple(found)


def _mistake(mistake: Diagnostic) -> Remark:
    text = mistake.message if mistake.hint is None else f"{mistake.message}\n{mistake.hint}"
    return Remark(mistake.span or Span(1, 1, 1), Weight.ERROR, text, mistake.code)


def _verdict(answer: Answer, span: Span) -> list[Remark]:
    match answer.outcome:
        case Outcome.AS_STATED:
            return [Remark(span, Weight.INFORMATION, said(answer))] if answer.explanation.vacuous else []
        case Outcome.OTHERWISE:
            weight = Weight.WARNING
        case Outcome.UNDECIDED:
            weight = Weight.INFORMATION
        case _:
            assert_never(answer.outcome)
    return [Remark(span, weight, "\n".join((said(answer), *because(answer))))]


def figure(analysis: Analysis, name: str) -> str:
    """The first scenario of a name as SVG, with what it violates marked, as `precedes draw` draws it.

    PrecedesError with the mistakes of the text, or (U001) if it has no such scenario.
    """
    if analysis.compiled is None:
        raise PrecedesError(analysis.mistakes)
    for scenario in analysis.compiled.scenarios:
        if scenario.name == name:
            return as_svg(scenario_picture(scenario))
    raise usage(f"there is no scenario {name}")
