"""Every engine against the oracle, on random executions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings

from precedes.core.columns import batch_of
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from tests.oracle import oracle
from tests.oracle.conversion import questions, run_of
from tests.strategies.drawn import executions

ORDERLY = Shape(entities=4, messages=7, odd=False, evidence=False)
REQUIREMENTS = {name: requirement(name, standard_library()) for name in oracle.ALL}
EVERYTHING = plan(list(REQUIREMENTS.values()))

Engine = Callable[[Execution, list[Requirement]], list[int]]


def by_reference(case: Execution, asked: list[Requirement]) -> list[int]:
    return [evaluate(one.formula, case) for one in asked]


def by_scan(case: Execution, asked: list[Requirement]) -> list[int]:
    result = scan(batch_of([case]), EVERYTHING)
    row = dict(zip(result.names, result.values[0].tolist(), strict=True))
    return [row[one.name] for one in asked]


ENGINES: dict[str, tuple[Engine, int]] = {"reference": (by_reference, 320), "scan": (by_scan, 640)}
"""With the number of executions that each is held to."""


def cases(number: int) -> Iterator[Execution]:
    """Every other one with clocks that are exact and a delta that some messages keep and some do not."""
    for seed in range(number):
        case = execution(
            Seeded(50_000 + seed),
            (Shape(evidence=False), ORDERLY, Shape(entities=3, messages=4, evidence=False))[seed % 3],
        )
        yield (
            case
            if seed % 2
            else replace(case, delta=(8, 20, 45, 90)[seed // 2 % 4], epsilon=0, complete=True)
        )


def compare(engine: Engine, case: Execution, met: Counter[tuple[str, bool]]) -> None:
    run = run_of(case)
    names = list(questions(case, run))
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
        if met[name, truth] < 2
    }
    assert not rare


@given(executions(Shape(entities=4, messages=5, evidence=False)))
@settings(max_examples=50, deadline=None)
def test_both_engines_shrunk(case: Execution) -> None:
    for engine, _ in ENGINES.values():
        compare(engine, case, Counter())
