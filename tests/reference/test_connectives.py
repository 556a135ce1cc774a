"""The laws of the three values, on random formulas and executions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings

from precedes.core.execution import Execution
from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    And,
    EntityVariable,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Undetermined,
)
from precedes.core.verdict import FALSE, TRUE, Reason, negation, verdict
from precedes.engines.reference import evaluate
from precedes.engines.reference.evaluation import Evaluator
from precedes.testing.random_executions import SCENARIOS
from tests.strategies.drawn import executions, formulas

OPEN = Undetermined("open")
VALUES: dict[int, Formula] = {TRUE: TRUTH, FALSE: FALSEHOOD, int(Reason.NOT_DECIDED): OPEN}


@pytest.mark.parametrize("left", VALUES)
@pytest.mark.parametrize("right", VALUES)
def test_connectives_are_kleenes(left: int, right: int) -> None:
    rank = {FALSE: 0, int(Reason.NOT_DECIDED): 1, TRUE: 2}
    value = {number: v for v, number in rank.items()}
    empty = Execution("empty", (), {})
    one, other = VALUES[left], VALUES[right]
    lowest, highest = min(rank[left], rank[right]), max(rank[left], rank[right])
    assert evaluate(And((one, other)), empty) == value[lowest]
    assert evaluate(Or((one, other)), empty) == value[highest]
    assert evaluate(Implies(one, other), empty) == value[max(2 - rank[left], rank[right])]
    both_ways = min(max(2 - rank[left], rank[right]), max(2 - rank[right], rank[left]))
    assert evaluate(Iff(one, other), empty) == value[both_ways]
    assert evaluate(Not(one), empty) == value[2 - rank[left]]


LAWS: dict[str, tuple[Callable[[Formula, Formula], Formula], Callable[[Formula, Formula], Formula]]] = {
    "double negation": (lambda f, g: Not(Not(f)), lambda f, g: f),
    "de morgan": (lambda f, g: Not(And((f, g))), lambda f, g: Or((Not(f), Not(g)))),
    "implication": (lambda f, g: Implies(f, g), lambda f, g: Or((Not(f), g))),
    "equivalence": (lambda f, g: Iff(f, g), lambda f, g: And((Implies(f, g), Implies(g, f)))),
    "exchange": (lambda f, g: And((f, g)), lambda f, g: And((g, f))),
}


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=40)
@given(execution=executions(SCENARIOS), first=formulas(depth=4), second=formulas(depth=4))
def test_laws(law: str, execution: Execution, first: Formula, second: Formula) -> None:
    left, right = (side(first, second) for side in LAWS[law])
    assert verdict(Evaluator(execution).value(left)) is verdict(Evaluator(execution).value(right))


@given(executions(SCENARIOS), formulas())
def test_negation_is_the_negation_of_the_value(execution: Execution, formula: Formula) -> None:
    assert evaluate(Not(formula), execution) == negation(evaluate(formula, execution))


@given(executions(SCENARIOS), formulas(depth=4), formulas(depth=3))
def test_quantifiers_are_dual(execution: Execution, body: Formula, extent: Formula) -> None:
    here = EntityVariable("i")
    forall, exists = Forall(here, extent, body), Exists(here, extent, Not(body))
    assert verdict(evaluate(Not(forall), execution)) is verdict(evaluate(exists, execution))


@given(executions(SCENARIOS), formulas())
def test_a_value_is_one_of_three(execution: Execution, formula: Formula) -> None:
    value = evaluate(formula, execution)
    assert value in (TRUE, FALSE) or 0 < value < 1 << 13
