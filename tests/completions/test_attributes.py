"""No verdict about attributes, or per value, on an incomplete execution is contradicted by a completion."""

from __future__ import annotations

from collections import Counter

import pytest

from precedes.core.formula import Formula, Per
from precedes.core.verdict import FALSE, TRUE, verdict
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.testing.choices import Seeded
from precedes.testing.random_formulas import formula
from tests.completions.completions import completions
from tests.completions.test_completions import recorded
from tests.strategies.attributes import ASKED, asking, carrying, filled

NAMES = (
    "order_preserving",
    "order_equivalent",
    "ST",
    "causal_order",
    "no_duplication",
    "acyclic_order",
    "validity",
)


def asked(seed: int) -> list[Formula]:
    named = [Per(ASKED[seed % len(ASKED)], requirement(name, standard_library()).formula) for name in NAMES]
    return [
        *named,
        *(asking(Seeded(seed * 1000 + n), formula(Seeded(f"{seed} {n}"), 4), 25, 30) for n in range(12)),
    ]


def contradicted(seed: int, tried: int, met: Counter[str]) -> None:
    given = carrying(Seeded(seed), recorded(seed))
    said = {one: evaluate(one, given) for one in asked(seed)}
    met.update(verdict(value).value for value in said.values())
    choices = Seeded(2_000_000 + seed)
    for completion in completions(choices, given, tried):
        one = filled(choices, completion)
        met["completions"] += 1
        for of, value in said.items():
            if value in (TRUE, FALSE):
                found = evaluate(of, one)
                assert found not in (TRUE, FALSE) or found == value, (seed, of, given, one)


def test_no_completion_contradicts_a_verdict() -> None:
    met: Counter[str] = Counter()
    for seed in range(20):
        contradicted(seed, 12, met)
    assert met["completions"] > 100
    assert min(met["holds"], met["violated"], met["unknown"]) > 10, met


@pytest.mark.slow
def test_no_completion_contradicts_a_verdict_on_many_executions() -> None:
    met: Counter[str] = Counter()
    for seed in range(30, 3_060):
        contradicted(seed, 25, met)
    assert met["completions"] > 30_000
