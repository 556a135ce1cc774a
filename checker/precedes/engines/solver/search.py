"""The search for the smallest execution on which a formula is certainly false.

It prefers the fewest messages, then the fewest entities, then the shortest logs. Among these it prefers the
least odd execution, then times in order, then the first in a fixed order of choices. Every step asks what is
possible, not what Z3 happens to return. So the answer does not depend on the run or on the version of Z3.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from precedes.core.execution import Execution
from precedes.core.formula import Formula, Relation
from precedes.core.verdict import FALSE
from precedes.engines.reference import evaluate
from precedes.engines.solver.answers import Bounds, Deadline
from precedes.engines.solver.bounded import Bounded
from precedes.engines.solver.decoder import Decoding
from precedes.engines.solver.features import Features
from precedes.engines.solver.logic import Linear, Solver, Watch, compared, number
from precedes.engines.solver.minimization import Minimization, satisfiable
from precedes.engines.solver.translation import Translation

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
    if not satisfiable(solver, deadline):
        return None
    _minimize(encoding, Minimization(solver, deadline))
    found = Decoding(encoding, solver, "counterexample").execution()
    value = evaluate(formula, found)
    if value != FALSE:
        raise Mismatch(
            f"the solver calls this a counterexample, the reference evaluator says {value}: {found!r}"
        )
    return found


def _minimize(encoding: Bounded, minimization: Minimization) -> None:
    """Decide everything that is left open, what is preferred first. The solver's last solution is then the only one."""
    minimization.fewest(encoding.length())
    minimization.fewest(encoding.oddities())
    if encoding.wanted.times and not minimization.insist(encoding.in_order(Relation.LESS)):
        minimization.insist(encoding.in_order(Relation.AT_MOST))
    if encoding.wanted.delta:
        minimization.insist(compared(Linear(_ONE), Relation.AT_MOST, encoding.delta()))
    minimization.decide(encoding.choices())
    for _, symbol in sorted(encoding.numbers().items()):
        minimization.least([symbol])
    for symbol in encoding.views.numbers:
        minimization.insist(compared(Linear(_ONE), Relation.AT_MOST, number(symbol)))
        minimization.nearest_to_zero(symbol)
    for _, symbol in sorted(encoding.attributes.items(), key=lambda item: (item[0][0].name, item[0][1])):
        minimization.nearest_to_zero(symbol)
