"""`precedes.statements`: the statements of a .prec file one by one, for tools that report on each."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from precedes.core.outcome import VERDICTS, Limits
from precedes.core.verdict import Verdict
from precedes.jobs import check as checking
from precedes.language.library import standard_library

if TYPE_CHECKING:
    from precedes.language.library import Library
    from precedes.language.loader import Claim, CompiledFile, Expectation, Scenario


@dataclass(frozen=True, slots=True)
class Judgment:
    """What came of one statement.

    Attributes:
        verdict: `Verdict.HOLDS` if it came out as stated, `Verdict.VIOLATED` if otherwise, `Verdict.UNKNOWN` if it is
            undecided.
        vacuous: The scenario has no message, so there was nothing to check.
        said: The answer in words.
        shown: The figure or the scenario that shows it; empty if there is none.
    """

    verdict: Verdict
    vacuous: bool
    said: str
    shown: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Statement(ABC):
    """One `expect`, `claim`, `refute` or `find` of a .prec file, not judged yet.

    Attributes:
        text: The statement as it is written.
        line: Its line in the file, from 1.
        scenario: The name of its scenario; None for a claim.
    """

    text: str
    line: int
    scenario: str | None

    @property
    def name(self) -> str:
        """The scenario and the text, as a test would be called."""
        return self.text if self.scenario is None else f"{self.scenario}: {self.text}"

    def judge(self, *, timeout: float = 60.0, memory: int = 2048, accept_bounds: bool = False) -> Judgment:
        """Judge it.

        Args:
            timeout: Seconds that the solver may take for a claim.
            memory: Megabytes that it may take.
            accept_bounds: Count a claim as proved if no counterexample is found up to the bound.

        Returns:
            What came of it.
        """
        return self._judged(Limits(timeout, memory, accept_bounds))

    @abstractmethod
    def _judged(self, limits: Limits, /) -> Judgment: ...


@dataclass(frozen=True, slots=True)
class _Expected(Statement):
    of: Scenario = field(repr=False)
    expectation: Expectation = field(repr=False)

    def _judged(self, _limits: Limits, /) -> Judgment:
        from precedes.reports.figure import figure, sentence

        answer = checking.answer_of(self.expectation, self.of.execution)
        explanation = answer.explanation
        said = f"{answer.requirement.name} {answer.verdict.value}"
        verdict = VERDICTS[answer.outcome]
        if verdict is Verdict.HOLDS:
            return Judgment(verdict, explanation.vacuous, said)
        witness = explanation.witnesses[0] if explanation.witnesses else None
        explained = sentence(answer.requirement, explanation.execution, witness) if witness else ""
        lines = (*explanation.reasons, *([explained] if explained else []))
        shown = "\n".join((*lines, *figure(explanation.execution, witness).splitlines()))
        return Judgment(verdict, explanation.vacuous, said, shown)


@dataclass(frozen=True, slots=True)
class _Claimed(Statement):
    claim: Claim = field(repr=False)
    library: Library = field(repr=False)

    def _judged(self, limits: Limits, /) -> Judgment:
        from precedes.jobs.claims import answered

        answer = answered(self.claim, f"line_{self.line}", limits, self.library)
        shown = "" if answer.shown is None else answer.shown.scenario
        return Judgment(VERDICTS[answer.outcome], False, answer.said, shown)


def statements(
    file: str | os.PathLike[str], *, library: Library | None = None, shown: str | None = None
) -> tuple[Statement, ...]:
    """Read the statements of a .prec file without judging them.

    Args:
        file: The file; `-` is standard input.
        library: Where names are looked up; the standard library unless given.
        shown: What messages call the file; its path unless given.

    Returns:
        The expectations of each scenario, then the claims, each in the order of the file.

    Raises:
        PrecedesError: The file cannot be read or has mistakes; all of them are in it.

    Example:
        >>> [first, *others] = precedes.statements("specs/papers/st-1994.prec")
        >>> first.judge().verdict
        <Verdict.HOLDS: 'holds'>
    """
    known = standard_library() if library is None else library
    return tuple(_stated(checking.compiled(os.fspath(file), known, shown)))


def _stated(file: CompiledFile) -> Iterator[Statement]:
    for scenario in file.scenarios:
        for each in scenario.expectations:
            yield _Expected(each.text, each.span.line, scenario.name, scenario, each)
    for claim in file.claims:
        yield _Claimed(claim.text, claim.span.line, None, claim, file.library)
