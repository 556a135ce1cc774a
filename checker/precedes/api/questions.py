"""`precedes.prove`, `precedes.find` and `precedes.lattice`: questions to the solver."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from precedes.api.report import Report
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.outcome import VERDICTS, ClaimAnswer, Limits
from precedes.core.verdict import Verdict
from precedes.jobs import claims
from precedes.language.library import standard_library
from precedes.language.requirements import requirement

if TYPE_CHECKING:
    from precedes.jobs.lattice import Lattice as Ordered
    from precedes.language.library import Library
    from precedes.reports.page.contents import Page


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Report):
    """What the solver answered.

    For `prove`: holds if the formula is proved for every size, violated if there is a counterexample. For `find`: holds
    if an example was found, violated if there is none.
    """

    answer: ClaimAnswer

    @property
    def verdict(self) -> Verdict:
        """Unknown if the solver gave up, or looked up to bounds only."""
        return VERDICTS[self.answer.outcome]

    @property
    def execution(self) -> Execution | None:
        """The counterexample or the example, if there is one."""
        return None if self.answer.shown is None else self.answer.shown.execution

    @property
    def scenario(self) -> str | None:
        """The same as a scenario that can be pasted into a .prec file."""
        return None if self.answer.shown is None else self.answer.shown.scenario

    def text(self) -> str:
        """The answer, and the scenario that shows it."""
        from precedes.reports import answers as printed

        return printed.search_text(self.answer)

    def json(self) -> str:
        """The answer as one JSON object."""
        from precedes.reports import answers as printed

        return printed.search_json(self.answer)

    def rows(self) -> list[dict[str, Any]]:
        """One row: formula, verdict, answer, scenario."""
        return [
            {
                "formula": self.answer.text,
                "verdict": self.verdict.value,
                "answer": self.answer.said,
                "scenario": self.scenario,
            }
        ]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        yield self.answer.text, self.verdict

    def _page(self) -> Page:
        from precedes.reports.page.statement_page import answer_page

        return answer_page(self.answer, self.verdict)


@dataclass(frozen=True, slots=True, repr=False)
class Lattice(Report):
    """Which name implies which. The verdict is `Verdict.HOLDS` if every pair is proved or refuted."""

    found: Ordered

    @property
    def verdict(self) -> Verdict:
        """Unknown if some pair is not decided."""
        return Verdict.UNKNOWN if self.found.open else Verdict.HOLDS

    @property
    def implied(self) -> dict[str, tuple[str, ...]]:
        """For every name, all that it implies. Equivalent names stand under the first of them."""
        return dict(self.found.implied)

    def text(self) -> str:
        """The order as text, a name a line."""
        from precedes.reports import lattice as printed

        return printed.as_form(self.found, "text")

    def markdown(self) -> str:
        """The order as a page."""
        from precedes.reports import lattice as printed

        return printed.as_form(self.found, "markdown")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it in the form that the name says: .md (with its diagram beside it), .svg, .json, or text."""
        from precedes.reports import lattice as printed

        form = {".md": "markdown", ".svg": "svg", ".json": "json"}.get(Path(path).suffix.lower(), "text")
        printed.write(self.found, form, os.fspath(path))

    def json(self) -> str:
        """The order, with the executions that refute the other implications, as one JSON object."""
        from precedes.reports import lattice as printed

        return printed.as_form(self.found, "json")

    def rows(self) -> list[dict[str, Any]]:
        """A row for each implication that does not follow from others: name, implies."""
        return [{"name": one, "implies": other} for one, other in self.found.edges]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        proved = ((f"{one} implies {other}", Verdict.HOLDS) for one, other in self.found.edges)
        yield from proved
        yield from ((f"{one} implies {other}", Verdict.UNKNOWN) for one, other in self.found.open)

    def _repr_svg_(self) -> str:
        from precedes.reports import lattice as printed

        return printed.as_form(self.found, "svg")

    def _repr_html_(self) -> str:
        return f'<div style="overflow: auto">{self._repr_svg_()}</div>'


def prove(
    formula: str | Requirement, *, library: Library | None = None, timeout: float = 60.0, memory: int = 2048
) -> Answer:
    """Ask whether a formula is true of every execution of every size.

    Args:
        formula: A formula, as in `prove("ST implies SP")`, or a requirement.
        library: Where names are looked up; the standard library unless given.
        timeout: Seconds that the solver may take.
        memory: Megabytes that it may take.

    Returns:
        The answer: proved, a smallest counterexample, or undecided.

    Raises:
        PrecedesError: The formula is wrong.
    """
    known = standard_library() if library is None else library
    return Answer(claims.proved(_required(formula, known), Limits(timeout, memory), known))


def find(
    formula: str | Requirement,
    *,
    entities: int | None = None,
    messages: int | None = None,
    library: Library | None = None,
    timeout: float = 60.0,
    memory: int = 2048,
) -> Answer:
    """Look for the smallest possible execution of which a formula is true.

    Args:
        formula: A formula, as in `find("ST and not acyclic_order")`, or a requirement.
        entities: At most so many entities; 4 unless given.
        messages: At most so many messages; 6 unless given.
        library: Where names are looked up; the standard library unless given.
        timeout: Seconds that the solver may take.
        memory: Megabytes that it may take.

    Returns:
        The answer; `answer.execution` is the example, or None.

    Raises:
        PrecedesError: The formula is wrong.
    """
    known = standard_library() if library is None else library
    limits = Limits(timeout, memory)
    return Answer(claims.search(_required(formula, known), known, entities, messages, limits))


def lattice(*, library: Library | None = None, timeout: float = 60.0, memory: int = 2048) -> Lattice:
    """Find out which service and predicate implies which.

    Args:
        library: Whose names are compared; the standard library unless given.
        timeout: Seconds that the solver may take for each pair.
        memory: Megabytes that it may take.

    Returns:
        The ordered set; a notebook shows it as a diagram.
    """
    from precedes.jobs.lattice import lattice as ordered

    known = standard_library() if library is None else library
    return Lattice(ordered(known, Limits(timeout, memory)))


def _required(formula: str | Requirement, library: Library) -> Requirement:
    return formula if isinstance(formula, Requirement) else requirement(formula, library, "formula")
