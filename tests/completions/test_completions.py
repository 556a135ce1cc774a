"""No verdict on an incomplete execution is contradicted by a completion, or by what is proved of the names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from precedes.core.execution import Execution
from precedes.core.formula import And, Formula, Implies, Not, Or, Requirement
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate, explain
from precedes.engines.reference.happens_before import HappensBeforeRelation
from precedes.jobs.infer import askable, proved
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import formula
from tests.columnar.agreement import Case, case, focused_case
from tests.completions.completions import completions

LIBRARY = {name: requirement(name, standard_library()) for name in askable(standard_library())}
SHAPES = (
    Shape(entities=3, messages=3),
    Shape(entities=4, messages=4, odd=False),
    Shape(entities=2, messages=2),
)


def recorded(seed: int) -> Execution:
    """An execution of which rows may be missing."""
    return replace(execution(Seeded(seed), SHAPES[seed % len(SHAPES)]), complete=False)


def asked(seed: int, random: int) -> dict[str, Formula]:
    """All names, and some random formulas."""
    formulas = {name: one.formula for name, one in LIBRARY.items()}
    return formulas | {f"random {n}": formula(Seeded(seed * 1000 + n), 4) for n in range(random)}


def contradicted(seed: int, tried: int, met: Counter[str]) -> None:
    given, formulas = recorded(seed), asked(seed, 12)
    said = {name: evaluate(one, given) for name, one in formulas.items()}
    definite = {name: value for name, value in said.items() if value in (TRUE, FALSE)}
    met.update(verdict(value).value for value in said.values())
    for one in completions(Seeded(1_000_000 + seed), given, tried):
        met["completions"] += 1
        for name, value in definite.items():
            found = evaluate(formulas[name], one)
            if found in (TRUE, FALSE):
                assert found == value, (seed, name, formulas[name], given, one)


def test_no_completion_contradicts_a_verdict() -> None:
    met: Counter[str] = Counter()
    for seed in range(30):
        contradicted(seed, 12, met)
    assert met["completions"] > 150
    assert min(met["holds"], met["violated"], met["unknown"]) > 25


@pytest.mark.slow
def test_no_completion_contradicts_a_verdict_on_many_executions() -> None:
    met: Counter[str] = Counter()
    for seed in range(60, 5060):
        contradicted(seed, 25, met)
    assert met["completions"] > 50_000


def unseen_messages(execution: Execution) -> bool:
    """Whether recorded clocks tell of messages that are in no row: what is proved speaks of those that are in rows."""
    relation, rows = (HappensBeforeRelation(replace(execution, by_clocks=known)) for known in (True, False))
    pairs = product(range(len(relation.events)), repeat=2)
    return execution.by_clocks and any(relation.before(*pair) != rows.before(*pair) for pair in pairs)


def incoherent(seed: int, violated: Counter[str]) -> None:
    given = recorded(seed)
    if unseen_messages(given):
        return
    said = {name: evaluate(one.formula, given) for name, one in LIBRARY.items()}
    violated.update(name for name, value in said.items() if value == FALSE)
    for stronger, weaker in product(LIBRARY, repeat=2):
        if proved().implies(stronger, weaker):
            assert said[weaker] != FALSE or said[stronger] == FALSE, (seed, stronger, weaker, given)
            assert said[stronger] != TRUE or said[weaker] == TRUE, (seed, stronger, weaker, given)


def test_no_proof_contradicts_two_verdicts() -> None:
    violated: Counter[str] = Counter()
    for seed in range(125):
        incoherent(seed, violated)
    assert len(violated) > 20


@pytest.mark.slow
def test_no_proof_contradicts_two_verdicts_on_many_executions() -> None:
    violated: Counter[str] = Counter()
    for seed in range(125, 12_000):
        incoherent(seed, violated)
    assert len(violated) > 24


@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(100, 2_000), marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [case, focused_case])
def test_the_compiler_says_the_same(kind: Callable[[int], Case], seeds: range) -> None:
    for seed in seeds:
        met = kind(seed)
        given = replace(met.execution, complete=False)
        values, _ = compile_formula(met.formula).run(BatchSource(batch_of([given])), False)
        assert int(values[0]) == evaluate(met.formula, given), (seed, met.formula, given)


CLOSED = {name: one.formula for name, one in LIBRARY.items()}
COMBINED = (
    Not(CLOSED["TO"]),
    Or((CLOSED["ST"], Not(CLOSED["broadcast"]))),
    Implies(CLOSED["equivalent"], CLOSED["no_duplication"]),
    And((CLOSED["SP"], CLOSED["order_equivalent"], CLOSED["causal_order"])),
    And((Not(And((CLOSED["TO"], CLOSED["CO"]))), CLOSED["no_creation"])),
)


def test_a_scan_says_the_same_and_shows_it() -> None:
    everything = [*LIBRARY.values(), *(Requirement(f"combined {n}", one) for n, one in enumerate(COMBINED))]
    prepared = plan(everything)
    shown: Counter[str] = Counter()
    for seed in range(110):
        given = recorded(seed)
        result = scan(batch_of([given]), prepared)
        values = dict(zip(result.names, result.values[0].tolist(), strict=True))
        for one in everything:
            assert verdict(values[one.name]) is verdict(evaluate(one.formula, given)), (seed, one.name, given)
            if result.shown(one.name)[0]:
                shown[one.name] += 1
                assert explain(one, given).witnesses, (seed, one.name, given)
    assert len(shown) > 15
