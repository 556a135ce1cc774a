"""Which requirements imply which others: every ordered pair of a list is proved, refuted, or searched up to
bounds.

One counterexample refutes many pairs: the reference evaluator judges all requirements on it, and on variants
of it. The solver is not asked about what follows from proved implications.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from precedes.core.execution import Execution
from precedes.core.formula import Implies, Requirement
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference import evaluate, explain
from precedes.engines.solver.answers import (
    DEFAULT,
    Answer,
    Counterexample,
    NoCounterexample,
    Options,
    Proved,
    Undecided,
)
from precedes.engines.solver.features import features
from precedes.engines.solver.question import prove
from precedes.engines.solver.variants import in_one_view, interleaved, variants


@dataclass(frozen=True, slots=True)
class Implication:
    """Whether the requirement named `left` implies the one named `right`."""

    left: str
    right: str
    answer: Answer


def implications(requirements: Sequence[Requirement], options: Options = DEFAULT) -> tuple[Implication, ...]:
    """An answer for every ordered pair of different requirements, in the order of the list.

    The options are those of one question; a bounded answer was looked for up to their bounds. A refutation is
    the smallest of the executions met, which is the smallest there is for the pair that it was found for.
    """
    return _Table(requirements, options).fill()


class _Table:
    def __init__(self, requirements: Sequence[Requirement], options: Options) -> None:
        self._requirements = {requirement.name: requirement for requirement in requirements}
        self._options = options
        self._met: list[tuple[Execution, dict[str, int]]] = []
        self._proved: dict[str, set[str]] = {name: {name} for name in self._requirements}
        self._open: dict[tuple[str, str], Answer] = {}
        self._of_views = {name for name, r in self._requirements.items() if features(r.formula).views}

    def fill(self) -> tuple[Implication, ...]:
        names = list(self._requirements)
        pairs = [(left, right) for left in names for right in names if left != right]
        for done, (left, right) in enumerate(pairs):
            if right in self._proved[left] or self._refutation(left, right) is not None:
                continue
            if self._options.progress is not None:
                self._options.progress(f"{done} of {len(pairs)} implications: {left}, {right}")
            self._ask(left, right)
        return tuple(Implication(left, right, self._answer(left, right)) for left, right in pairs)

    def _ask(self, left: str, right: str) -> None:
        formula = Implies(self._requirements[left].formula, self._requirements[right].formula)
        answer = prove(Requirement(f"{left} implies {right}", formula), replace(self._options, progress=None))
        match answer:
            case Proved():
                self._prove(left, right)
            case Counterexample(execution, _):
                self._meet(execution)
            case NoCounterexample() | Undecided():
                self._open[left, right] = answer
            case _:
                assert_never(answer)

    def _prove(self, left: str, right: str) -> None:
        """Note an implication and what follows from it."""
        for following in self._proved.values():
            if left in following:
                following.update(self._proved[right])

    def _meet(self, execution: Execution) -> None:
        """Judge all requirements on an execution and its variants."""
        whole = interleaved(execution)
        for one in (execution, *([whole] if whole != execution else []), *variants(whole)):
            values = {name: evaluate(r.formula, one) for name, r in self._requirements.items()}
            self._met.append((one, values))
            inside = in_one_view(one) if self._of_views else None
            if inside is not None:
                # What does not speak of views has the same value there.
                of_views = {
                    name: evaluate(self._requirements[name].formula, inside) for name in self._of_views
                }
                self._met.append((inside, {**values, **of_views}))

    def _refutation(self, left: str, right: str) -> Execution | None:
        """The smallest of the executions met on which the one holds and the other does not."""
        refuting = [one for one, values in self._met if values[left] == TRUE and values[right] == FALSE]
        return min(refuting, key=_size, default=None)

    def _answer(self, left: str, right: str) -> Answer:
        if right in self._proved[left]:
            return Proved()
        execution = self._refutation(left, right)
        if execution is None:
            return self._open[left, right]
        witnesses = explain(self._requirements[right], execution).witnesses
        return Counterexample(execution, witnesses[0] if witnesses else None)


def _size(execution: Execution) -> tuple[int, int, int]:
    events = sum(len(history.events) for history in execution.histories)
    return len(execution.messages), len(execution.entities), events
