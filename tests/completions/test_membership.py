"""No verdict about groups and views on an incomplete execution is contradicted by a completion."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from precedes.core.execution import Execution
from precedes.core.formula import Formula
from precedes.core.verdict import FALSE, TRUE, verdict
from precedes.engines.reference import evaluate
from precedes.testing.choices import Seeded
from precedes.testing.numbered_cases import definitions
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import Scope, decided_by_membership, formula
from tests.completions.completions import completions

SHAPES = (
    Shape(entities=3, messages=3, evidence=False, membership=True),
    Shape(entities=4, messages=4, odd=False, evidence=False, membership=True),
    Shape(entities=2, messages=2, evidence=False, membership=True),
)


def recorded(seed: int) -> Execution:
    """An execution with groups and views, of which rows may be missing."""
    return replace(execution(Seeded(f"member {seed}"), SHAPES[seed % len(SHAPES)]), complete=False)


def asked(seed: int) -> list[Formula]:
    """All names, and some random formulas."""
    scope = Scope(membership=True)
    return [
        *(one.formula for one in definitions()),
        *(decided_by_membership(Seeded(f"{seed} decided {n}")) for n in range(16)),
        *(formula(Seeded(f"{seed} any {n}"), 4, scope) for n in range(12)),
    ]


def contradicted(seed: int, tried: int, met: Counter[str]) -> None:
    given, formulas = recorded(seed), asked(seed)
    said = {one: evaluate(one, given) for one in formulas}
    assert not [one.name for one in definitions() if said[one.formula] == TRUE]
    met.update(verdict(value).value for value in said.values())
    definite = {one: value for one, value in said.items() if value in (TRUE, FALSE)}
    for one in completions(Seeded(f"completed {seed}"), given, tried):
        met["completions"] += 1
        for of, value in definite.items():
            found = evaluate(of, one)
            assert found not in (TRUE, FALSE) or found == value, (seed, of, given, one)


def test_no_completion_contradicts_a_verdict() -> None:
    met: Counter[str] = Counter()
    for seed in range(20):
        contradicted(seed, 12, met)
    assert met["completions"] > 100
    assert min(met["holds"], met["violated"], met["unknown"]) > 16, met


@pytest.mark.slow
def test_no_completion_contradicts_a_verdict_on_many_executions() -> None:
    met: Counter[str] = Counter()
    for seed in range(60, 3_060):
        contradicted(seed, 25, met)
    assert met["completions"] > 30_000
