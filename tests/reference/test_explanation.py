"""Witnesses: true of the execution, small, distinct, and enough by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from precedes.core.execution import Execution
from precedes.core.formula import (
    And,
    DeliveryEvent,
    EntityNamed,
    Formula,
    HappensBefore,
    MessageNamed,
    Not,
    Requirement,
    SendEvent,
    Sent,
)
from precedes.core.verdict import FALSE, TRUE, Reason, negation, verdict
from precedes.core.witness import Fact
from precedes.engines.reference import cut, evaluate, explain
from precedes.testing.random_executions import TRACES
from tests.reference import definitions as d
from tests.reference import scenarios as s
from tests.strategies.drawn import executions, formulas


def test_the_part_that_fails_is_named() -> None:
    (witness,) = explain(d.ST, s.FIG3).witnesses
    assert witness.part == "order_equivalent"
    assert witness.bindings == (("i", "E2"), ("j", "E3"), ("p", "a"), ("q", "x"))
    assert witness.messages == ("a", "x")
    assert witness.entities == ("E2", "E3")


def test_the_shortest_cycle() -> None:
    (witness,) = explain(d.ACYCLIC_ORDER, s.CYCLE).witnesses
    assert witness.bindings == (("p1", "a"), ("p2", "b"), ("p3", "c"))
    assert witness.entities == ("E1", "E2", "E3")
    (shorter,) = explain(d.ACYCLIC_ORDER, s.FIG3).witnesses
    assert shorter.messages == ("a", "x")


def test_a_witness_has_the_messages_of_its_chain() -> None:
    (witness,) = explain(d.CAUSAL_ORDER, s.OVERTAKING).witnesses
    assert dict(witness.bindings) == {"p": "m1", "q": "m3", "i": "Pk", "j": "Pk"}
    assert witness.messages == ("m1", "m2", "m3")


def test_as_many_witnesses_as_there_are_up_to_the_limit() -> None:
    twice = s.logs("E1 E2", SL1="a b c", RL1="a b c", RL2="c b a")
    found = explain(d.ORDER_EQUIVALENT, twice, limit=10).witnesses
    assert [witness.messages for witness in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(explain(d.ORDER_EQUIVALENT, twice, limit=2).witnesses) == 2


def test_vacuous() -> None:
    silent = s.histories("E1 E2", "!a{}", "")
    assert explain(d.ORDER_EQUIVALENT, silent).vacuous
    assert not explain(d.VALIDITY, silent).vacuous
    assert not explain(d.ORDER_EQUIVALENT, s.FIG4).vacuous
    assert not explain(Requirement("named", Sent(MessageNamed("a"))), silent).vacuous


def test_what_is_undecided() -> None:
    explanation = explain(d.DEADLINE, s.NO_TIMES)
    assert explanation.value == Reason.NO_TIME
    assert explanation.witnesses == ()
    assert explanation.undecided[0].bindings == (("i", "B"), ("p", "a"))
    assert explanation.reasons == ("a send or a delivery has no time",)


def test_where_every_interleaving_fails_the_witness_is_in_one() -> None:
    # Whether E2 sends b before or after it delivers a, one of the two that are forbidden happens.
    execution = s.logs("E1 E2", SL1="a{2}", SL2="b{1}", RL2="a")
    delivery, send = DeliveryEvent(MessageNamed("a"), EntityNamed("E2")), SendEvent(MessageNamed("b"))
    neither = And((Not(HappensBefore(delivery, send)), Not(HappensBefore(send, delivery))))
    explanation = explain(Requirement("neither", neither), execution)
    assert explanation.value == FALSE
    assert explanation.execution.history("E2").interleaved
    assert explanation.witnesses[0].messages == ("a", "b")


# ---- for random formulas ------------------------------------------------------------


def facts_hold(facts: tuple[Fact, ...], execution: Execution) -> None:
    """Every fact has the value that it states."""
    for fact in facts:
        assert verdict(evaluate(fact.formula, execution)) is verdict(fact.value)
        facts_hold(fact.instances, execution)


@given(executions(TRACES).filter(lambda x: x.complete), formulas())
def test_facts_are_true(execution: Execution, formula: Formula) -> None:
    explanation = explain(Requirement("random", formula), execution, limit=3)
    assert explanation.value == evaluate(formula, execution)
    found = explanation.witnesses + explanation.undecided
    assert bool(found) == (explanation.value != TRUE)
    for witness in found:
        facts_hold(witness.facts, execution)
    keys = [(witness.messages, witness.entities) for witness in found]
    assert len(set(keys)) == len(keys)


@given(executions(TRACES), formulas())
def test_incomplete_executions_are_explained_too(execution: Execution, formula: Formula) -> None:
    incomplete = replace(execution, complete=False)
    explanation = explain(Requirement("random", formula), incomplete)
    assert explanation.value == evaluate(formula, incomplete)
    assert bool(explanation.witnesses) == (explanation.value == FALSE)


SAFETY = [
    d.ORDER_EQUIVALENT,
    d.INFORMATION_EQUIVALENT,
    d.ORDER_PRESERVING,
    d.SELECTIVELY_INFORMATION_PRESERVING,
    d.NO_CREATION,
    d.NO_DUPLICATION,
    d.ACYCLIC_ORDER,
    d.CAUSAL_ORDER,
    d.PROCESS_CAUSAL_ORDER,
    d.LOCAL_ORDER,
    d.DEADLINE,
    d.DELTA_CAUSAL_ORDER,
    d.AGREEMENT,
]


@pytest.mark.parametrize("requirement", SAFETY, ids=lambda requirement: requirement.name)
@settings(max_examples=40)
@given(execution=executions(TRACES))
def test_the_messages_of_a_witness_show_the_violation_alone(
    requirement: Requirement, execution: Execution
) -> None:
    for witness in explain(requirement, execution, limit=2).witnesses:
        assert evaluate(requirement.formula, cut(execution, witness)) == FALSE


@given(executions(TRACES), formulas())
def test_an_unnegated_formula_and_its_negation_have_the_same_undecided_places(
    execution: Execution, formula: Formula
) -> None:
    one = explain(Requirement("it", formula), execution)
    other = explain(Requirement("not it", Not(formula)), execution)
    assert one.value == negation(other.value)
    if one.value not in (TRUE, FALSE):
        assert one.undecided[0].messages == other.undecided[0].messages
