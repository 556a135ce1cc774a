"""What is said of groups and views: by the engines, and by the oracle's module of formulas."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from precedes.core.execution import Execution
from precedes.core.formula import Formula
from precedes.core.traversal import walk
from precedes.testing.choices import Choices, Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import Scope, decided_by_membership, formula
from tests.oracle.projection import Value, answerable, asked
from tests.oracle.test_per_value import judged
from tests.strategies.attributes import asking, carrying
from tests.strategies.drawn import Drawn

SHAPE = Shape(
    messages=5,
    odd=False,
    arrival_delivery=False,
    evidence=False,
    contradictions=False,
    membership=True,
)


def case(choices: Choices, turn: int) -> tuple[Formula, Execution]:
    """Every third one is asked per value, here and there."""
    on = carrying(choices, execution(choices, replace(SHAPE, odd=turn % 4 == 3)))
    on = replace(on, epsilon=0, complete=True, delta=(8, 20, 45, 90)[turn % 4])
    of = decided_by_membership(choices) if turn % 2 else formula(choices, 4, Scope(membership=True))
    return of if turn % 3 else asking(choices, of), on


def compare(number: int) -> Counter[tuple[str, Value]]:
    met: Counter[tuple[str, Value]] = Counter()
    for seed in range(number):
        of, on = case(Seeded(f"membership {seed}"), seed)
        if not answerable(of, on):
            continue
        expected = asked(of, on)
        met.update((type(node).__name__, expected) for node in walk(of))
        assert judged(of, on) is expected, (seed, of, on)
    return met


NODES = (
    *("GroupVariable", "GroupNamed", "ViewVariable", "ViewNamed", "ViewOf", "IsMember", "AddressedTo"),
    *("SameGroup", "Installs", "InstallsBefore", "InstallsAgain", "SameView", "IsDestination", "ViewNumber"),
)


def test_formulas_about_groups_and_views() -> None:
    met = compare(1_500)
    assert not {(node, value) for node in NODES for value in (True, False, None) if met[node, value] < 3}


@pytest.mark.slow
def test_many_formulas_about_groups_and_views() -> None:
    compare(40_000)


@given(st.data(), st.integers(0, 11))
@settings(max_examples=60, deadline=None)
def test_formulas_about_groups_and_views_shrunk(data: st.DataObject, turn: int) -> None:
    of, on = case(Drawn(data.draw), turn)
    assume(answerable(of, on))
    assert judged(of, on) is asked(of, on)
