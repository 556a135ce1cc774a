"""From any solution to a simple one that does not depend on what Z3 happens to return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from precedes.core.formula import Relation
from precedes.engines.solver.answers import Deadline, OutOfTime
from precedes.engines.solver.logic import (
    Linear,
    Outcome,
    Proposition,
    Solver,
    Symbol,
    at_most,
    compared,
    negated,
    number,
)


def satisfiable(solver: Solver, deadline: Deadline, *assumptions: Proposition) -> bool:
    """Whether there is a solution under some assumptions; OutOfTime where that was not found out."""
    outcome = solver.check(deadline.remaining(), *assumptions)
    if outcome is Outcome.UNKNOWN:
        raise OutOfTime
    return outcome is Outcome.SATISFIABLE


class Minimization:
    """Narrows the solutions of a solver that has just found one. Every step leaves it with a last solution."""

    def __init__(self, solver: Solver, deadline: Deadline) -> None:
        self._solver = solver
        self._deadline = deadline

    def insist(self, proposition: Proposition) -> bool:
        """Have it hold, if it can; whether it can."""
        if not self._solver.holds(proposition) and not self._found(proposition):
            return False
        self._solver.add(proposition)
        return True

    def decide(self, propositions: Iterable[Proposition]) -> None:
        """Have each hold, in their order, that can; the others not."""
        for proposition in propositions:
            if not self.insist(proposition):
                # It does not hold in the last solution, which therefore stays one.
                self._solver.add(negated(proposition))

    def fewest(self, parts: Sequence[Proposition]) -> None:
        """Have as few of the parts hold as can be."""
        holding = sum(self._solver.holds(part) for part in parts)
        while holding > 0:
            self._solver.push()
            self._solver.add(at_most(parts, holding - 1))
            fewer = self._found()
            self._solver.pop()
            if not fewer:
                break
            holding = sum(self._solver.holds(part) for part in parts)
        self._solver.add(at_most(parts, holding))
        self._must_be_found()

    def least(self, symbols: Sequence[Symbol]) -> None:
        """Have the greatest of some numbers be as small as can be."""
        low, high = 0, max(self._solver.whole(symbol) for symbol in symbols)
        while low < high:
            middle = (low + high) // 2
            if self._found(*_none_above(symbols, middle)):
                high = max(self._solver.whole(symbol) for symbol in symbols)
            else:
                low = middle + 1
        for proposition in _none_above(symbols, low):
            self._solver.add(proposition)
        self._must_be_found()

    def nearest_to_zero(self, symbol: Symbol) -> None:
        """Have a number that may be negative be as near to zero as can be; not negative, if it can."""
        zero = Linear(Fraction(0))
        if self.insist(compared(zero, Relation.AT_MOST, number(symbol))):
            self.least([symbol])
            return
        low, high = self._solver.whole(symbol), -1
        while low < high:
            middle = -((-low - high) // 2)
            if self._found(compared(Linear(Fraction(middle)), Relation.AT_MOST, number(symbol))):
                low = self._solver.whole(symbol)
            else:
                high = middle - 1
        self._solver.add(compared(number(symbol), Relation.EQUAL, Linear(Fraction(low))))
        self._must_be_found()

    def _found(self, *assumptions: Proposition) -> bool:
        return satisfiable(self._solver, self._deadline, *assumptions)

    def _must_be_found(self) -> None:
        assert self._found()


def _none_above(symbols: Sequence[Symbol], bound: int) -> list[Proposition]:
    limit = Linear(Fraction(bound))
    return [compared(number(symbol), Relation.AT_MOST, limit) for symbol in symbols]
