"""The models on one channel, searched with the reductions and without: the same verdicts and findings, and no more
states.

A reduction applies to them only if properties of several entities are judged in quiescence and nobody stops: then
packets that nobody answers arrive first. So each is searched in four ways: every interleaving or not, judged
everywhere or in quiescence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.model import Protocol
from precedes.protocol.script import script
from precedes_models.dynamic_cluster.invariants import INVARIANTS
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.total_order.protocol import TotalOrder
from tests.models.dynamic_cluster import bugs as cluster_bugs
from tests.models.dynamic_cluster.exploring import bounds
from tests.models.st import bugs as st_bugs
from tests.models.to import bugs as to_bugs
from tests.sampling import one_in


def requests(entities: int, sends: str, losses: int = 0) -> Bounds:
    """Bounds with these requests."""
    return Bounds(entities=entities, script=script(sends, entities), losses=losses)


@dataclass(frozen=True)
class Four:
    """The four searches."""

    plain: Exploration
    everywhere: Exploration
    plain_in_quiescence: Exploration
    in_quiescence: Exploration

    @property
    def states(self) -> tuple[int, ...]:
        each = (self.plain, self.everywhere, self.plain_in_quiescence, self.in_quiescence)
        assert all(found.complete for found in each)
        return tuple(found.states for found in each)


def four(protocol: Protocol[Any], within: Bounds) -> Four:
    return Four(
        explore(protocol, within, plain=True),
        explore(protocol, within),
        explore(protocol, within, plain=True, quiescent=True),
        explore(protocol, within, quiescent=True),
    )


def broken(found: Exploration) -> set[str]:
    """What does not hold."""
    return {finding.property for finding in found.findings}


SHORT = SelectiveTotalOrder(confirms=False)

HOLDING: tuple[tuple[Protocol[Any], Bounds, int, int], ...] = (
    (SelectiveTotalOrder(), requests(2, "a{1,2}", 1), 543, 302),
    (SelectiveTotalOrder(), requests(3, "a{2,3} b{1,3}"), 1_905, 757),
    (SHORT, requests(2, "a{1,2} b{1,2}", 1), 3_947, 2_021),
    (TotalOrder(), bounds(3, 1), 241, 121),
    (TotalOrder(), bounds(2, 2), 1_345, 997),
    (TotalOrder(), bounds(2, 1, losses=1), 1_403, 739),
    (DynamicCluster(), bounds(2, crashes=1), 365, 365),
    (DynamicCluster(hasty=frozenset({0, 1})), bounds(2, 2), 617, 359),
    (DynamicCluster(hasty=frozenset({2})), bounds(3, script="c", losses=1), 6_382, 868),
)
"""Bounds, the states of every interleaving, and with the reductions in quiescence."""


@pytest.mark.parametrize(("protocol", "within", "states", "reduced"), one_in(3, HOLDING))
def test_what_holds_holds_with_the_reductions(
    protocol: Protocol[Any], within: Bounds, states: int, reduced: int
) -> None:
    found = four(protocol, within)
    assert found.states == (states, states, states, reduced)
    assert found.plain.verdicts == found.everywhere.verdicts
    assert found.plain_in_quiescence.verdicts == found.in_quiescence.verdicts
    assert not broken(found.plain)
    assert not broken(found.in_quiescence)
    assert Verdict.HOLDS in found.in_quiescence.verdicts.values()


SHOWN: tuple[tuple[Protocol[Any], Bounds, set[str], set[str]], ...] = (
    (st_bugs.IgnoresOrdr(confirms=False), requests(2, "a{1,2} b{1,2}", 1), {"order_equivalent"}, set()),
    (
        st_bugs.GoesOnTooSoon(confirms=False, repeats=1),
        requests(2, "a{2}", 1),
        {"selectively_information_preserving"},
        set(),
    ),
    (st_bugs.AcknowledgesEarly(), requests(3, "a{2,3}"), set(), {"acknowledged"}),
    (to_bugs.KeepsNothing(), bounds(2, 1, losses=1), {"information_preserving"}, set()),
    (to_bugs.TakesOneForAll(), bounds(2, 1), {"information_preserving", "no starvation"}, set()),
    (
        to_bugs.ForgetsWhatPrecedesTheLine(),
        bounds(2, 1, losses=1),
        {"information_preserving", "TO: acknowledged is pre-acknowledged by all"},
        set(),
    ),
    (to_bugs.AcknowledgesTooEarly(), bounds(2, 1), set(), {"TO: acknowledged is pre-acknowledged by all"}),
    (
        cluster_bugs.NeverIgnores(),
        bounds(2, crashes=1),
        {"cluster: TO among the active, everything", "no starvation"},
        set(),
    ),
    (
        cluster_bugs.AcknowledgesTooEarly(),
        bounds(3),
        set(),
        {"cluster: acknowledged is pre-acknowledged by all"},
    ),
)
"""A bug, bounds, what it breaks in quiescence too, and what only on the way."""


@pytest.mark.parametrize(("bug", "within", "lasting", "passing"), one_in(2, SHOWN))
def test_what_is_broken_is_found_with_the_reductions(
    bug: Protocol[Any], within: Bounds, lasting: set[str], passing: set[str]
) -> None:
    found = four(bug, within)
    plain, everywhere, plain_in_quiescence, in_quiescence = found.states
    assert plain >= everywhere
    assert plain_in_quiescence >= in_quiescence
    assert broken(found.plain) == broken(found.everywhere) == lasting | passing
    assert broken(found.plain_in_quiescence) == broken(found.in_quiescence) == lasting
    assert found.plain_in_quiescence.verdicts == found.in_quiescence.verdicts


def test_the_step_of_a_bug_is_found_with_the_reductions() -> None:
    """What concerns one entity is judged everywhere: a gap is seen on the way even if the rest waits for quiescence."""
    within = bounds(2, 1, losses=1, depth=22)
    for quiescent in (False, True):
        found = explore(to_bugs.AcceptsWithGaps(), within, quiescent=quiescent)
        assert "TO: accepted without a gap" in broken(found)


def test_a_wrong_cut_is_found_with_the_reductions() -> None:
    """By what it leads to: the one that cannot have what the other keeps is taken for stopped."""
    bug = cluster_bugs.CutsToTheMost(hasty=frozenset({2}))
    within = bounds(3, script="c", losses=1)
    plain, reduced = (
        explore(bug, within, invariants=INVARIANTS, plain=plain, quiescent=True) for plain in (True, False)
    )
    assert broken(plain) == broken(reduced) == {"cluster: only who has stopped is taken for stopped"}
    assert (plain.states, reduced.states) == (6_564, 926)
