"""Kernels are chosen by what a definition says, never by what it is called."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from precedes.core.execution import Execution
from precedes.core.formula import (
    TRUTH,
    Acyclic,
    And,
    EntityNamed,
    EntityVariable,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    InLog,
    IsDestination,
    MessageVariable,
    Not,
    Or,
    Precedes,
    ReceiptLog,
    Repeated,
    Requirement,
    SendLog,
    Sent,
)
from precedes.core.transposition import batch_of
from precedes.core.verdict import verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.kernels.choice import TUNED
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.canonical_form import canonical
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS, recognise
from precedes.testing.random_executions import TRACES
from tests.strategies.drawn import executions, formulas

A, B = EntityVariable("a"), EntityVariable("b")
X, Y = MessageVariable("x"), MessageVariable("y")


def in_both(message: MessageVariable, first: ReceiptLog | SendLog, second: ReceiptLog | SendLog) -> Formula:
    return And((InLog(message, first), InLog(message, second)))


def every(first: ReceiptLog | SendLog, second: ReceiptLog | SendLog, body: Formula) -> Formula:
    return Forall(
        A,
        TRUTH,
        Forall(B, TRUTH, Forall(X, in_both(X, first, second), Forall(Y, in_both(Y, second, first), body))),
    )


L, M, S = ReceiptLog(A), ReceiptLog(B), SendLog(B)

SAME: list[tuple[str, Formula]] = [
    ("order_equivalent", every(L, M, Iff(Precedes(X, Y, M), Precedes(X, Y, L)))),
    ("order_equivalent", every(M, L, Iff(Precedes(Y, X, L), Precedes(Y, X, M)))),
    ("order_preserving", every(L, S, Iff(Precedes(X, Y, S), Precedes(X, Y, L)))),
    (
        "order_preserving",  # each quantifier in another place
        Forall(
            B, TRUTH, Forall(A, TRUTH, Forall(Y, in_both(Y, S, L), Forall(X, InLog(X, L), Implies(
                InLog(X, S), Iff(Precedes(X, Y, L), Precedes(X, Y, S))
            )))),
        ),
    ),
    ("no_duplication", Not(Exists(A, TRUTH, Exists(X, InLog(X, L), Repeated(X, L))))),
    ("no_creation", Forall(B, TRUTH, Forall(Y, InLog(Y, M), Sent(Y)))),
    ("broadcast", Forall(A, TRUTH, Forall(Y, Sent(Y), IsDestination(A, Y)))),
    ("acyclic_order", Acyclic(Y, X, Exists(B, TRUTH, Precedes(Y, X, M)))),
]  # fmt: skip

DIFFERENT: list[tuple[str, Formula]] = [
    ("order_preserving", every(L, S, Iff(Precedes(X, Y, SendLog(A)), Precedes(X, Y, L)))),
    ("order_preserving", every(L, S, Implies(Precedes(X, Y, S), Precedes(Y, X, L)))),
    ("order_preserving", every(L, SendLog(EntityNamed("E1")), Iff(Precedes(X, Y, S), Precedes(X, Y, L)))),
    ("order_equivalent", every(L, M, Iff(Precedes(X, Y, L), Precedes(Y, X, M)))),
    ("order_equivalent", every(L, L, Iff(Precedes(X, Y, M), Precedes(X, Y, L)))),
    ("order_equivalent", Exists(A, TRUTH, Forall(B, TRUTH, TRUTH))),
    ("no_duplication", Forall(A, TRUTH, Forall(X, TRUTH, Not(Repeated(X, SendLog(A)))))),
    ("no_creation", Forall(A, TRUTH, Exists(X, InLog(X, L), Sent(X)))),
    ("broadcast", Forall(A, TRUTH, Forall(X, TRUTH, IsDestination(A, X)))),
    ("acyclic_order", Acyclic(X, Y, Precedes(X, Y, ReceiptLog(EntityNamed("E1"))))),
    ("acyclic_order", Acyclic(X, Y, Forall(A, TRUTH, Precedes(X, Y, L)))),
    ("information_equivalent", Forall(A, TRUTH, Exists(B, TRUTH, Forall(X, InLog(X, L), InLog(X, M))))),
    ("validity", Forall(X, TRUTH, Exists(A, IsDestination(A, X), InLog(X, L)))),
]


@pytest.mark.parametrize(("name", "formula"), SAME)
def test_the_same_in_other_words_is_recognised(name: str, formula: Formula) -> None:
    assert recognise(formula) == (name,)


@pytest.mark.parametrize(("name", "formula"), DIFFERENT)
def test_another_definition_under_the_same_name_is_not(name: str, formula: Formula) -> None:
    kernels = recognise(formula)
    assert kernels is None
    assert all(step.kernel is None for step in plan([Requirement(name, formula)]).steps)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_are_recognised_as_themselves(name: str) -> None:
    assert recognise(DEFINITIONS[name]) == (name,)


def test_a_range_is_a_premise() -> None:
    """`forall p in RL[i]` and `forall p: p in RL[i] implies` say the same on every trace."""
    judged = Forall(A, TRUTH, Forall(X, TRUTH, Implies(InLog(X, L), Sent(X))))
    assert recognise(judged) == ("no_creation",)
    assert canonical(judged) == canonical(DEFINITIONS["no_creation"])


def test_conjunctions_are_taken_apart() -> None:
    both = And((DEFINITIONS["order_preserving"], DEFINITIONS["selectively_information_preserving"]))
    assert recognise(both) == ("order_preserving", "selectively_information_preserving")
    one = every(L, M, And((Iff(Precedes(X, Y, M), Precedes(X, Y, L)), TRUTH)))
    pairwise = Forall(A, TRUTH, Forall(B, TRUTH, Forall(X, InLog(X, L), InLog(X, M))))
    assert recognise(And((one, pairwise))) == ("order_equivalent", "information_equivalent")
    assert recognise(TRUTH) == ()


LIBRARY = [
    *TUNED,
    "equivalent",
    "correct",
    "preserving",
    "selectively_correct",
    "selectively_correct_literal",
    "reliable",
    "1C",
    "PO",
    "TO",
    "SP",
    "ST",
    "CO",
]
"""What the standard library defines and the tuned kernels decide."""


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_keeps_its_speed(name: str) -> None:
    prepared = plan([requirement(name, standard_library())])
    kernels = {prepared.steps[number].kernel for number in prepared.needed(complete=True)}
    assert kernels
    assert None not in kernels
    if name in DEFINITIONS:
        assert kernels == {name}


@pytest.mark.parametrize("name", TUNED)
def test_a_users_predicate_that_says_the_same(name: str) -> None:
    ours = requirement(name, standard_library()).formula
    prepared = plan([Requirement("mine", ours)])
    assert [prepared.steps[number].kernel for number in prepared.needed(complete=True)] == [name]


@given(case=executions(TRACES), formula=formulas(4))
@settings(max_examples=60, deadline=None)
def test_connectives_of_closed_formulas(case: Execution, formula: Formula) -> None:
    """Whatever a plan takes apart, it puts together again."""
    order = DEFINITIONS["order_equivalent"]
    for whole in (formula, Or((formula, order)), Implies(order, formula), Iff(Not(formula), order)):
        value = int(scan(batch_of([case]), plan([Requirement("r", whole)])).values[0, 0])
        assert verdict(value) is verdict(evaluate(whole, case))
