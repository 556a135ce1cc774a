"""What is proved holds on random executions, which have everything that goes wrong in real ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from precedes.core.execution import Execution
from precedes.core.formula import Formula, Implies
from precedes.core.verdict import FALSE
from precedes.engines.reference import evaluate
from precedes.engines.solver import Bounds, NoCounterexample, Options, Proved, prove
from precedes.engines.solver.features import features
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import formula
from tests.solver.asking import asked

UP_TO = Bounds((1, 3), (0, 3))


def executions(number: int) -> list[Execution]:
    """Random executions of at least one entity, with an epsilon of 0, which is what a question means that does not
    mention it.
    """
    shapes = (Shape(arrival_delivery=False), Shape(scenarios=True, arrival_delivery=False))
    drawn = (execution(Seeded(seed), shapes[seed % 2]) for seed in range(number))
    return [replace(one, epsilon=0) for one in drawn if one.entities]


def contradicted(question: Formula, answer: object, among: list[Execution]) -> Execution | None:
    """An execution that the answer is wrong about."""
    for one in among:
        small = len(one.entities) <= UP_TO.entities[1] and len(one.messages) <= UP_TO.messages[1]
        said = isinstance(answer, Proved) or (isinstance(answer, NoCounterexample) and small)
        if said and evaluate(question, one) == FALSE:
            return one
    return None


def check(pairs: range, among: list[Execution]) -> Counter[str]:
    """Ask whether the first of each pair of random formulas implies the second; counterexamples are replayed by the
    solver itself.
    """
    answers: Counter[str] = Counter()
    for seed in pairs:
        choices = Seeded(seed)
        question = Implies(formula(choices, 4), formula(choices, 4))
        if features(question).epsilon or features(question).vector_times:
            continue
        answer = prove(question, Options(timeout=5, bounds=UP_TO))
        assert contradicted(question, answer, among) is None, (seed, answer)
        answers[type(answer).__name__] += 1
    return answers


def test_random_pairs() -> None:
    answers = check(range(40), executions(300))
    assert answers["Proved"] >= 5
    assert answers["Counterexample"] >= 15


@pytest.mark.slow
def test_many_random_pairs() -> None:
    answers = check(range(10_000, 10_200), executions(2_000))
    assert answers["Proved"] >= 20
    assert answers["Counterexample"] >= 75


LIBRARY = (
    "TO implies causal_order",
    "TO implies acyclic_order",
    "ST implies 1C",
    "causal_order implies order_preserving",
    "causal_order iff process_causal_order",
    "prefix_order implies gap_free_order",
    "correct implies timely_delivery",
    "equivalent implies local_order",
    "information_preserving implies no_creation",
)


@pytest.mark.parametrize("text", LIBRARY)
def test_library(text: str) -> None:
    from tests.solver.asking import required

    assert asked(text) == Proved()
    assert contradicted(required(text).formula, Proved(), executions(150)) is None
