"""A formula in other words gets the same verdict from every engine that judges executions; on an incomplete one it gets
no other that is certain.
"""

from __future__ import annotations

import pytest

from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.engines.reference.causes import kind_of
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import execution
from precedes.testing.random_formulas import formula
from tests.columnar.agreement import executions_alike
from tests.sampling import one_in
from tests.strategies.rewriting import rewritten, with_modes


def differing(seed: int) -> str | None:
    """What the engines say where they do not all say one thing."""
    choices = Seeded(seed)
    one, here = with_modes(choices, formula(choices), 5), execution(choices)
    other = rewritten(choices, one, ranges=here.complete)
    batch = batch_of([here])
    planned = scan(batch, plan([Requirement("one", one), Requirement("other", other)])).values[0]
    said = {
        "by definition": [evaluate(each, here) for each in (one, other)],
        "compiled": [
            int(compile_formula(each).run(BatchSource(batch), jit=False)[0][0]) for each in (one, other)
        ],
        "planned": [int(value) for value in planned],
    }
    kinds = {kind_of(value) for values in said.values() for value in values}
    # What holds of unknown parts together may be lost in other words (docs/adr/0013): then it is unknown.
    alike = len(kinds) == 1 if here.complete else not {TRUE, FALSE} <= kinds
    return None if alike else f"{seed}: {said}, {one}, {other}"


@pytest.mark.parametrize("first", one_in(3, range(0, 300, 100)))
def test_random_formulas_in_other_words(first: int) -> None:
    assert [told for seed in range(first, first + 100) if (told := differing(seed))] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 30_000, 1_000))
def test_twenty_thousand_random_executions(first: int) -> None:
    assert [told for seed in range(first, first + 1_000) if (told := differing(seed))] == []


def test_rewritten_formulas_are_other_formulas() -> None:
    changed = 0
    for seed in range(200):
        choices = Seeded(seed)
        one = formula(choices)
        changed += rewritten(choices, one) != one
    assert changed > 120


@pytest.mark.parametrize(
    "name", one_in(3, ["TO", "agreement", "CO", "prefix_order", "ST", "reliable", "acyclic_order"])
)
def test_names_of_the_library_in_other_words(name: str) -> None:
    known = requirement(name, standard_library()).formula
    asked = [Requirement("it", known)] + [
        Requirement(f"it {seed}", rewritten(Seeded(seed), known)) for seed in range(4)
    ]
    for group in executions_alike(range(120)):
        values = scan(batch_of(group), plan(asked)).values
        for x, here in enumerate(group):
            kinds = {kind_of(int(value)) for value in values[x]} | {kind_of(evaluate(known, here))}
            assert len(kinds) == 1 if here.complete else not {TRUE, FALSE} <= kinds
