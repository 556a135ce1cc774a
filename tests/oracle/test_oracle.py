"""Every engine against the oracle, which knows every name of the library: on random executions, and on those that the
solver finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from precedes.core.execution import Execution
from precedes.core.formula import Implies, Requirement
from precedes.core.transposition import batch_of
from precedes.core.verdict import Verdict, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.engines.solver import Bounds, Counterexample, Example, find, implications, prove
from precedes.language.library import standard_library
from precedes.logic.plan import plan
from precedes.logic.recognition import POSITION
from precedes.testing import Unsupported
from precedes.testing.choices import Seeded, chance
from precedes.testing.numbered_cases import BATCH, EXECUTIONS, definitions
from precedes.testing.numbered_cases import case as numbered
from precedes.testing.random_executions import Shape, execution
from tests.conformance.engines import OnSpark, by_the_papers
from tests.oracle import oracle
from tests.oracle.conversion import questions, run_of
from tests.sampling import one_in
from tests.strategies.drawn import executions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERLY = Shape(entities=4, messages=7, odd=False, evidence=False)
REQUIREMENTS = {one.name: one for one in definitions()}
EVERYTHING = plan(list(REQUIREMENTS.values()))
DELIVERIES = {
    *oracle.ACKNOWLEDGED,
    *oracle.PLACED,
    "every_delivery_in_order",
    "repeats_in_place",
    "generic_order",
}
MARKED = "failure_line"
"""What only a scenario can be asked: a trace has no failure marks."""

Engine = Callable[[Execution, list[Requirement]], list[int]]


def test_the_oracle_knows_every_name() -> None:
    assert set(oracle.ALL) == set(standard_library().names())
    assert set(REQUIREMENTS) == set(oracle.ALL)


def by_reference(case: Execution, asked: list[Requirement]) -> list[int]:
    return [evaluate(one.formula, case) for one in asked]


def by_scan(case: Execution, asked: list[Requirement]) -> list[int]:
    result = scan(batch_of([case]), EVERYTHING)
    row = dict(zip(result.names, result.values[0].tolist(), strict=True))
    return [row[one.name] for one in asked]


ENGINES: dict[str, tuple[Engine, int]] = {"reference": (by_reference, 320), "scan": (by_scan, 400)}
"""With the number of executions that each is held to."""


def cases(number: int) -> Iterator[Execution]:
    """Every other one with clocks that are exact and a delta that some messages keep and some do not, every fourth with
    positions, repeats and acknowledgements, three of five with groups and views; with failure marks, where they belong
    or anywhere."""
    for seed in range(number):
        choices = Seeded(50_000 + seed)
        shape = (Shape(evidence=False), ORDERLY, Shape(entities=3, messages=4, evidence=False))[seed % 3]
        if seed % 4 == 1:
            shape = replace(shape, acknowledgements=True, attributes=(POSITION,))
        if seed % 5 < 3:
            shape = replace(shape, membership=True)
        case = execution(choices, shape)
        if seed % 2 == 0:
            case = replace(case, delta=(8, 20, 45, 90)[seed // 2 % 4], epsilon=0, complete=True)
        right = oracle.failure_line_of(run_of(case)) if chance(choices, 60) else None
        marks = right or [choices.integer(0, len(case.delivered(entity))) for entity in case.entities]
        yield replace(case, marks=dict(zip(case.entities, marks, strict=True)))


def compare(engine: Engine, case: Execution, met: Counter[tuple[str, bool]]) -> None:
    run = run_of(case)
    names = [name for name in questions(case, run) if engine is by_reference or name != MARKED]
    for name, value in zip(names, engine(case, [REQUIREMENTS[name] for name in names]), strict=True):
        expected = oracle.ALL[name](run)
        met[name, expected] += 1
        assert verdict(value) is (Verdict.HOLDS if expected else Verdict.VIOLATED), (name, case)


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_says_what_the_papers_say(name: str) -> None:
    engine, number = ENGINES[name]
    met: Counter[tuple[str, bool]] = Counter()
    for case in cases(number):
        compare(engine, case, met)
    rare = {
        (name, truth): met[name, truth]
        for name in oracle.ALL
        for truth in (True, False)
        if met[name, truth] < 2 and (engine is by_reference or name != MARKED)
    }
    assert not rare


@pytest.mark.slow
def test_engines_say_what_is_said_of_every_delivery() -> None:
    """On 20,000 executions with repeats, acknowledgements and positions."""
    asked = {name: REQUIREMENTS[name] for name in DELIVERIES}
    prepared = plan(list(asked.values()))
    met: Counter[tuple[str, bool]] = Counter()
    for seed in range(20_000):
        shape = Shape(
            messages=5, odd=seed % 2 == 0, evidence=False, attributes=(POSITION,), acknowledgements=True
        )
        case = replace(execution(Seeded(700_000 + seed), shape), complete=True)
        run = run_of(case)
        result = scan(batch_of([case]), prepared)
        row = dict(zip(result.names, result.values[0].tolist(), strict=True))
        for name in DELIVERIES & set(questions(case, run)):
            expected = oracle.ALL[name](run)
            met[name, expected] += 1
            said = Verdict.HOLDS if expected else Verdict.VIOLATED
            assert verdict(row[name]) is said, (name, case)
            assert verdict(evaluate(asked[name].formula, case)) is said, (name, case)
    assert all(met[name, truth] > 400 for name in DELIVERIES for truth in (True, False)), met


@given(executions(Shape(entities=4, messages=5, evidence=False, acknowledgements=True)))
@settings(max_examples=50, deadline=None)
def test_both_engines_shrunk(case: Execution) -> None:
    for engine, _ in ENGINES.values():
        compare(engine, case, Counter())


def batches(number: int) -> Iterator[list[Execution]]:
    """So many batches of complete executions, as an engine is given them by the conformance kit."""
    for block in count():
        found = [numbered(block * BATCH + place).execution for place in range(EXECUTIONS)]
        if found[0].complete:
            yield found
            number -= 1
        if not number:
            return


def test_spark_says_what_the_papers_say(spark: SparkSession) -> None:
    met: Counter[Verdict] = Counter()
    asked = [one for one in REQUIREMENTS.values() if one.name != MARKED]
    for together in batches(2):
        for case, answers in zip(together, OnSpark(spark).verdicts(asked, together), strict=True):
            for one, answer in zip(asked, answers, strict=True):
                expected = by_the_papers(one, case)
                if isinstance(expected, Verdict) and not isinstance(answer, Unsupported):
                    met[expected] += 1
                    assert answer is expected, (one.name, case)
    assert min(met[Verdict.HOLDS], met[Verdict.VIOLATED]) > 20, met


# ---- what the solver finds


def judged(name: str, found: Execution) -> bool:
    """What the papers say of a name on an execution that the solver has found."""
    run = run_of(found)
    assert name in questions(found, run), f"{name} has no answer on {found}"
    return oracle.ALL[name](run)


@pytest.mark.parametrize("name", one_in(3, oracle.ALL))
def test_what_the_solver_finds_is_what_it_is_said_to_be(name: str) -> None:
    """Of every name, the smallest execution that violates it, and one with two messages that does not."""
    one = REQUIREMENTS[name]
    violated = prove(one)
    assert isinstance(violated, Counterexample)
    assert not judged(name, violated.execution)
    kept = find(one, Bounds(entities=(2, 2), messages=(2, 2)))
    assert isinstance(kept, Example)
    assert judged(name, kept.execution)


PAIRS = (
    ("SP", "ST"),
    ("ST", "acyclic_order"),
    ("1C", "prefix_order"),
    ("CO", "local_order"),
    ("causal_order", "causal_delivery"),
    ("delta_causal_order", "causal_order"),
    ("selectively_correct", "selectively_correct_literal"),
    ("reliable", "correct"),
    ("agreement", "uniform_agreement"),
    ("validity", "timely_delivery"),
    ("prefix_order", "begins"),
    ("in_time", "deadline"),
)


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_a_refuted_implication(left: str, right: str) -> None:
    formula = Implies(REQUIREMENTS[left].formula, REQUIREMENTS[right].formula)
    answer = prove(formula)
    assert isinstance(answer, Counterexample), answer
    assert judged(left, answer.execution)
    assert not judged(right, answer.execution)


@pytest.mark.slow
def test_every_refuted_implication() -> None:
    """Of all pairs of names. A few refutations are clocks or times of which the papers' sentences say nothing."""
    refuted = [
        one for one in implications(list(REQUIREMENTS.values())) if isinstance(one.answer, Counterexample)
    ]
    silent = 0
    for one in refuted:
        assert isinstance(one.answer, Counterexample)
        run = run_of(one.answer.execution)
        known = set(questions(one.answer.execution, run))
        silent += not {one.left, one.right} <= known
        assert one.left not in known or oracle.ALL[one.left](run), one
        assert one.right not in known or not oracle.ALL[one.right](run), one
    assert len(refuted) > 800
    assert silent < len(refuted) // 4
