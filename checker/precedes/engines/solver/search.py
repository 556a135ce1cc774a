"""Looking for the smallest execution on which a formula is certainly false.

Fewest messages first, then fewest entities, then shortest logs; among these the one that is least odd, times
in order, and of what is then left the first in a fixed order of choices. Every step asks what is possible,
not what Z3 happens to return, so that the answer does not depend on the run or on the version of Z3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from precedes.engines.reference import evaluate
from precedes.engines.solver.answers import Bounds, Deadline, OutOfTime
from precedes.engines.solver.bounded import Bounded
from precedes.engines.solver.decoding import Decoding
from precedes.engines.solver.features import Features
from precedes.engines.solver.logic import (
    Linear,
    Outcome,
    Proposition,
    Solver,
    Symbol,
    Watch,
    at_most,
    compared,
    negated,
    number,
)
from precedes.engines.solver.translation import Translation
from precedes.execution import Execution
from precedes.formula import Formula, Relation
from precedes.verdict import FALSE

_ONE: Final = Fraction(1)


class Mismatch(AssertionError):
    """The reference evaluator does not agree with a counterexample: an error of this program, never of its
    user.
    """


def sizes(bounds: Bounds) -> Iterator[tuple[int, int]]:
    """Entities and messages, in the order in which they are looked at."""
    for messages in range(bounds.messages[0], bounds.messages[1] + 1):
        for entities in range(bounds.entities[0], bounds.entities[1] + 1):
            yield entities, messages


def smallest(
    formula: Formula, wanted: Features, size: tuple[int, int], deadline: Deadline, watch: Watch
) -> Execution | None:
    """The first execution of a size on which the formula is false, if there is one; replayed. OutOfTime."""
    encoding = Bounded(wanted, *size)
    target = Translation(encoding, deadline, wanted.epsilon).value(formula, want=False, bindings={})
    if target is False:
        return None
    solver = Solver(propositional=not wanted.numbers, watch=watch)
    solver.add(target)
    for constraint in encoding.constraints():
        solver.add(constraint)
    if not _satisfiable(solver, deadline):
        return None
    _Choice(encoding, solver, deadline).narrow()
    found = Decoding(encoding, solver, "counterexample").execution()
    value = evaluate(formula, found)
    if value != FALSE:
        raise Mismatch(
            f"the solver calls this a counterexample, the reference evaluator says {value}: {found!r}"
        )
    return found


def _satisfiable(solver: Solver, deadline: Deadline, *assumptions: Proposition) -> bool:
    outcome = solver.check(deadline.remaining(), *assumptions)
    if outcome is Outcome.UNKNOWN:
        raise OutOfTime
    return outcome is Outcome.SATISFIABLE


class _Choice:
    """Narrows the solutions of a solver down to one execution."""

    def __init__(self, encoding: Bounded, solver: Solver, deadline: Deadline) -> None:
        self._encoding = encoding
        self._solver = solver
        self._deadline = deadline

    def narrow(self) -> None:
        """Decide everything that is left open, what is preferred first. The solver's last solution is then
        the only one.
        """
        encoding = self._encoding
        self._fewest(encoding.length())
        self._fewest(encoding.oddities())
        if encoding.wanted.times and not self._insist(encoding.in_order(Relation.LESS)):
            self._insist(encoding.in_order(Relation.AT_MOST))
        if encoding.wanted.delta:
            self._insist(compared(Linear(_ONE), Relation.AT_MOST, encoding.delta()))
        for choice in encoding.choices():
            if not self._insist(choice):
                self._solver.add(negated(choice))
        for _, symbol in sorted(encoding.numbers().items()):
            self._least(symbol)
        assert _satisfiable(self._solver, self._deadline)

    def _insist(self, proposition: Proposition) -> bool:
        """Have it hold, if it can."""
        if not self._solver.holds(proposition) and not _satisfiable(
            self._solver, self._deadline, proposition
        ):
            return False
        self._solver.add(proposition)
        return True

    def _fewest(self, parts: Sequence[Proposition]) -> None:
        """Have as few of the parts hold as can be."""
        holding = sum(self._solver.holds(part) for part in parts)
        while holding > 0:
            fewer = at_most(parts, holding - 1)
            self._solver.push()
            self._solver.add(fewer)
            if not _satisfiable(self._solver, self._deadline):
                self._solver.pop()
                break
            self._solver.pop()
            holding = sum(self._solver.holds(part) for part in parts)
        self._solver.add(at_most(parts, holding))
        _satisfiable(self._solver, self._deadline)

    def _least(self, symbol: Symbol) -> None:
        """Have a number be as small as can be."""
        low, high = 0, self._solver.whole(symbol)
        while low < high:
            middle = (low + high) // 2
            if _satisfiable(self._solver, self._deadline, _no_more_than(symbol, middle)):
                high = self._solver.whole(symbol)
            else:
                low = middle + 1
        self._solver.add(_no_more_than(symbol, low))
        _satisfiable(self._solver, self._deadline)


def _no_more_than(symbol: Symbol, bound: int) -> Proposition:
    return compared(number(symbol), Relation.AT_MOST, Linear(Fraction(bound)))
