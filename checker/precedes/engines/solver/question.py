"""One question to the solver: is a formula true of every execution, or is there an execution on which it
holds?

The solver tries these steps in order: a proof for every size in the decidable fragment; a search of small
sizes, where most counterexamples are; a proof with induction over happens-before; a search up to the bounds.
If a proof does not succeed at once, it is given up, and the search goes on until the timeout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from precedes.core.execution import Execution
from precedes.core.formula import Formula, Not, Requirement
from precedes.core.mode import always, completed
from precedes.engines.reference import explain
from precedes.engines.solver.answers import (
    DEFAULT,
    Answer,
    Bounds,
    Counterexample,
    Deadline,
    Example,
    Finding,
    NoCounterexample,
    NoExample,
    Options,
    OutOfTime,
    Proved,
    Undecided,
)
from precedes.engines.solver.bounded import limits
from precedes.engines.solver.features import Features, features
from precedes.engines.solver.logic import Outcome, OutOfMemory, Proposition, Watch, consistent
from precedes.engines.solver.search import sizes, smallest
from precedes.engines.solver.translation import Translation
from precedes.engines.solver.unbounded import Unbounded
from precedes.logic.parts import without_parts

QUICK: Final = 400_000
EFFORT: Final = 1_000_000
"""What Z3 may spend on one attempt at a proof, by its own count: some tenths of a second, a second. A
tenth of the first is usual.
"""
SMALL: Final = 3
"""Messages up to which counterexamples are looked for before proofs by induction."""


def prove(question: Formula | Requirement, options: Options = DEFAULT) -> Answer:
    """Whether a closed formula is true of every possible execution. KeyboardInterrupt passes through, and
    leaves nothing behind.
    """
    requirement = completed(
        question if isinstance(question, Requirement) else Requirement("formula", question)
    )
    formula = without_parts(requirement.formula)
    wanted = features(formula)
    if wanted.undetermined:
        return Undecided(wanted.undetermined[0])
    inquiry = _Inquiry(formula, wanted, options)
    answer = inquiry.answer()
    if isinstance(answer, Execution):
        witnesses = explain(requirement, answer).witnesses
        return Counterexample(answer, witnesses[0] if witnesses else None)
    return answer


def find(
    question: Formula | Requirement, bounds: Bounds | None = None, options: Options = DEFAULT
) -> Finding:
    """The smallest execution within the bounds (by default those of the options) on which a closed formula is
    true.
    """
    asked = question.formula if isinstance(question, Requirement) else question
    formula = Not(without_parts(always(asked)))
    wanted = features(formula)
    if wanted.undetermined:
        return Undecided(wanted.undetermined[0])
    bounds = options.bounds if bounds is None else bounds
    inquiry = _Inquiry(formula, wanted, Options(options.timeout, options.memory, bounds, options.progress))
    answer = inquiry.answer()
    match answer:
        case Execution():
            return Example(answer)
        case Undecided():
            return answer
        case Proved():
            return NoExample(bounds, every_size=True)
        case NoCounterexample(_, _, others):
            return NoExample(bounds, every_size=False, others=others)
        case _:
            assert_never(answer)


class _Inquiry:
    """The way to the answer of one question. `_at` is the size being looked at, for what is said when time
    runs out.
    """

    def __init__(self, formula: Formula, wanted: Features, options: Options) -> None:
        self._formula = formula
        self._wanted = wanted
        self._options = options
        self._deadline = Deadline(options.timeout)
        self._watch = Watch(options.memory)
        self._at: tuple[int, int] | None = None

    def answer(self) -> Execution | Proved | NoCounterexample | Undecided:
        """The answer, a counterexample being given as it is."""
        try:
            with self._watch:
                return self._answer()
        except OutOfTime:
            return Undecided(f"solver gave up after {self._options.timeout:g} s{self._where()}")
        except OutOfMemory:
            return Undecided(f"solver ran out of its {self._options.memory} MB{self._where()}")

    def _where(self) -> str:
        return "" if self._at is None else f" at {self._at[1]} message{'' if self._at[1] == 1 else 's'}"

    def _answer(self) -> Execution | Proved | NoCounterexample | Undecided:
        self._tell("looking for a proof for every size")
        empty = self._violated(Unbounded(self._wanted, messages=False), (), EFFORT)
        proof = self._violated(Unbounded(self._wanted, messages=True), (), QUICK)
        if empty is proof is Outcome.UNSATISFIABLE:
            return Proved()
        ordered = list(sizes(self._options.bounds))
        small = [size for size in ordered if size[1] <= SMALL]
        found = self._searched(small)
        if found is None and empty is Outcome.UNSATISFIABLE and self._proved_with_patience(proof):
            return Proved()
        if found is None:
            found = self._searched(ordered[len(small) :])
        if found is None:
            largest = self._options.bounds
            return NoCounterexample(largest.entities[1], largest.messages[1], limits(self._wanted))
        return found

    def _proved_with_patience(self, proof: Outcome) -> bool:
        """The same proof with more effort, where it may help, and with one induction after the other."""
        self._tell("looking for a proof by induction")
        if proof is Outcome.UNKNOWN:
            proof = self._violated(Unbounded(self._wanted, messages=True), (), EFFORT)
        groups = len(list(Unbounded(self._wanted, messages=True).inductions()))
        for group in range(groups):
            if proof is Outcome.UNSATISFIABLE:
                break
            encoding = Unbounded(self._wanted, messages=True)
            proof = self._violated(encoding, list(encoding.inductions())[group], EFFORT)
        return proof is Outcome.UNSATISFIABLE

    def _violated(self, encoding: Unbounded, inductions: Sequence[Proposition], effort: int) -> Outcome:
        """Whether something like an execution, of any size, violates the formula: if nothing does, it is
        proved.
        """
        translation = Translation(encoding, self._deadline, self._wanted.epsilon)
        violated = translation.value(self._formula, want=False, bindings={})
        parts = (violated, *encoding.axioms(), *inductions)
        return consistent(parts, effort, self._deadline.remaining(), self._watch)

    def _searched(self, ordered: Iterable[tuple[int, int]]) -> Execution | None:
        for size in ordered:
            self._at = size
            self._tell(f"looking at {size[1]} messages, {size[0]} entities")
            found = smallest(self._formula, self._wanted, size, self._deadline, self._watch)
            if found is not None:
                return found
        return None

    def _tell(self, line: str) -> None:
        if self._options.progress is not None:
            self._options.progress(line)
