"""Plans: what is evaluated, under which names, how often."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import (
    And,
    EntityVariable,
    Forall,
    Implies,
    InLog,
    MessageVariable,
    Not,
    ReceiptLog,
    Requirement,
    Sent,
)
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE, conjunction
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import execution

ROOT = Path(__file__).parents[2]


def named(name: str, of: str | None = None) -> Requirement:
    return Requirement(name, DEFINITIONS[of or name])


def composed(name: str, *parts: Requirement) -> Requirement:
    return Requirement(name, And(tuple(part.formula for part in parts)), parts)


SELECTIVELY_CORRECT = composed(
    "selectively_correct", named("order_preserving"), named("selectively_information_preserving")
)
ST = composed("ST", SELECTIVELY_CORRECT, named("order_equivalent"))
ONE_CHANNEL = composed("1C", named("order_preserving"), named("order_equivalent"))


def test_every_name_once_each_before_its_parts() -> None:
    prepared = plan([ST, ONE_CHANNEL, named("broadcast")])
    assert prepared.names == (
        "ST",
        "selectively_correct",
        "order_preserving",
        "selectively_information_preserving",
        "order_equivalent",
        "1C",
        "broadcast",
    )
    assert list(prepared.leaves) == [
        "order_preserving",
        "selectively_information_preserving",
        "order_equivalent",
        "broadcast",
    ]
    assert prepared.below["ST"] == (
        "order_preserving",
        "selectively_information_preserving",
        "order_equivalent",
    )


def test_a_shared_formula_is_one_step() -> None:
    prepared = plan([ST, ONE_CHANNEL, named("fifo", of="order_preserving"), composed("again", ONE_CHANNEL)])
    kernels = [prepared.steps[number].kernel for number in prepared.needed(complete=True)]
    assert kernels == ["order_preserving", "selectively_information_preserving", "order_equivalent"]


def test_a_composite_is_the_conjunction_of_its_parts() -> None:
    prepared = plan([ST])
    leaves = [prepared.names.index(name) for name in prepared.below["ST"]]
    seen = set()
    for seed in range(150):
        values = scan(batch_of([execution(Seeded(seed))]), prepared).values[0].tolist()
        expected = TRUE
        for leaf in leaves:
            expected = conjunction(expected, values[leaf])
        assert values[0] == expected
        seen.add(min(expected, 1))
    assert seen == {TRUE, FALSE, 1}


def test_one_name_for_two_formulas_is_refused() -> None:
    with pytest.raises(PrecedesError, match="order_preserving stands for two different formulas"):
        plan([ST, named("order_preserving", of="order_equivalent")])
    assert plan([named("a", of="broadcast"), named("a", of="broadcast")]).names == ("a",)


def test_one_name_for_one_formula_in_other_words_is_not() -> None:
    other = Forall(
        EntityVariable("k"),
        And(()),
        Forall(
            MessageVariable("m"),
            InLog(MessageVariable("m"), ReceiptLog(EntityVariable("k"))),
            Sent(MessageVariable("m")),
        ),
    )
    assert plan([named("no_creation"), Requirement("no_creation", other)]).names == ("no_creation",)


def test_a_witness_is_that_of_the_part_that_fails() -> None:
    checked = 0
    prepared = plan(
        [ST, named("agreement"), Requirement("either", Implies(Not(ST.formula), DEFINITIONS["agreement"]))]
    )
    for seed in range(300):
        result = scan(batch_of([execution(Seeded(seed))]), prepared)
        row = dict(zip(result.names, result.values[0].tolist(), strict=True))
        if row["ST"] == FALSE:
            first = next(leaf for leaf in prepared.below["ST"] if row[leaf] == FALSE)
            assert result.witness(0, "ST") == result.witness(0, first)
            checked += 1
        if row["either"] == FALSE:
            assert set(result.witness(0, "agreement").messages) <= set(result.witness(0, "either").messages)
    assert checked > 50


def test_plans_can_be_sent() -> None:
    prepared = plan([ST, ONE_CHANNEL])
    assert pickle.loads(pickle.dumps(prepared)) == prepared


PLANNING = """
import sys
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS
from precedes.core.formula import Requirement
prepared = plan([Requirement(name, formula) for name, formula in DEFINITIONS.items()])
"""

SCANNING = """
from precedes.core.transposition import batch_of
from precedes.engines.columnar.batch_scan import scan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import execution
for seed in range(20):
    scan(batch_of([execution(Seeded(seed))]), prepared)
"""

LOADED = """
print(sorted({"numpy", "numba", "lark", "z3", "pyarrow"} & set(sys.modules)))
"""


def loaded(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.strip()


def test_planning_loads_neither_numpy_nor_numba() -> None:
    assert loaded(PLANNING + LOADED) == "[]"


def test_a_small_trace_needs_no_numba() -> None:
    assert loaded(PLANNING + SCANNING + LOADED) == "['numpy']"
