"""What is asked per value: written out with quantifiers by the engines, by cutting the execution into parts here."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import FALSEHOOD, TRUTH, Formula, Not, Per
from precedes.core.traversal import walk
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference import evaluate
from precedes.testing.choices import Seeded, chance
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import formula
from tests.oracle import oracle
from tests.oracle.conversion import questions, run_of
from tests.oracle.projection import Value, answerable, asked
from tests.oracle.test_oracle import MARKED, ORDERLY, REQUIREMENTS
from tests.strategies.attributes import (
    ASKED,
    KEY,
    TOPIC,
    asking,
    carrying,
    executions_that_carry,
    formulas_that_ask,
)

SHAPES = (Shape(evidence=False), ORDERLY, Shape(entities=3, messages=4, evidence=False))


def case(seed: int) -> Execution:
    choices = Seeded(f"per value {seed}")
    found = carrying(choices, execution(choices, SHAPES[seed % 3]))
    return replace(found, epsilon=0, complete=True, delta=(8, 20, 45, 90)[seed % 4])


def judged(of: Formula, on: Execution) -> Value:
    value = evaluate(of, on)
    return True if value == TRUE else False if value == FALSE else None


def compare_names(number: int) -> Counter[tuple[str, Value]]:
    met: Counter[tuple[str, Value]] = Counter()
    for seed in range(number):
        on = case(seed)
        run = run_of(on)
        attributes = ASKED[seed % len(ASKED)]
        names = tuple(attribute.name for attribute in attributes)
        for name in questions(on, run):
            if name == MARKED:
                continue
            expected = oracle.per(run, names, oracle.ALL[name])
            met[name, expected] += 1
            assert judged(Per(attributes, REQUIREMENTS[name].formula), on) is expected, (name, names, on)
    return met


def compare_formulas(first: int, number: int, depth: int = 4) -> Counter[Value]:
    met: Counter[Value] = Counter()
    for seed in range(first, first + number):
        on = case(seed)
        choices = Seeded(f"formula per value {seed}")
        of = asking(choices, formula(choices, depth))
        if not answerable(of, on):
            continue
        if not any(isinstance(node, Per) for node in walk(of)) and chance(choices, 90):
            continue
        expected = asked(of, on)
        met[expected] += 1
        assert judged(of, on) is expected, (seed, of, on)
    return met


def test_every_name_per_value() -> None:
    met = compare_names(70)
    for truth in (True, False, None):
        assert len({name for name, value in met if value is truth}) > 20, truth


def test_formulas_per_value() -> None:
    met = compare_formulas(0, 1_500)
    assert min(met[True], met[False], met[None]) > 50, met


@pytest.mark.slow
def test_every_name_on_many_executions() -> None:
    met = compare_names(6_000)
    rare = {
        (name, truth): met[name, truth]
        for name in set(oracle.ALL) - {MARKED}
        for truth in (True, False, None)
        if met[name, truth] < 2
    }
    assert not rare


@pytest.mark.slow
def test_many_formulas() -> None:
    met = compare_formulas(0, 20_000, depth=5)
    assert min(met[True], met[False], met[None]) > 500, met


@pytest.mark.parametrize("inner", [TRUTH, FALSEHOOD, Not(TRUTH)])
def test_a_part_without_the_inner_attribute_is_unknown(inner: Formula) -> None:
    """Asked per key, then per topic: no message of the part has a topic."""
    message = Message("m1", "E1", frozenset({"E1"}), {KEY: "k1"})
    on = Execution("x", (History("E1", (Event(EventKind.SEND, "m1"),)),), {"m1": message})
    for of in (Per((KEY,), Per((TOPIC,), inner)), Per((KEY,), Not(Per((TOPIC,), inner)))):
        assert evaluate(of, on) == Reason.NO_ATTRIBUTE
        assert asked(of, on) is None


@given(executions_that_carry(Shape(entities=3, messages=4, evidence=False)), formulas_that_ask())
@settings(max_examples=100, deadline=None)
def test_formulas_shrunk(on: Execution, of: Formula) -> None:
    on = replace(on, epsilon=0, complete=True)
    assume(answerable(of, on))
    assert judged(of, on) is asked(of, on)
