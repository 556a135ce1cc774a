"""The auxiliary procedure with three entities, every interleaving: the numbers of states that TLC counts, too.

TLC 2, on a specification of the same protocol with unicast messages, none to oneself, and what cannot be delivered
left in the network, finds 88,073 distinct states for 5 messages and 770,220 for 6.
"""

from __future__ import annotations

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.reductions import Reduction
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.exploration.state_search import Order
from precedes_models.cmd.auxiliary import LEMMA_6, Auxiliary


def explored(messages: int, *, plain: bool, order: Order = "breadth", queue: bool = False) -> Exploration:
    bounds = Bounds(entities=3, messages=messages)
    found = explore(Auxiliary(queue=queue), bounds, [], invariants=[LEMMA_6], plain=plain, order=order)
    assert found.complete
    assert found.verdict is Verdict.HOLDS
    return found


@pytest.mark.parametrize(("messages", "states"), [(1, 13), (2, 127), (3, 1145), (4, 10_073)])
def test_states_and_both_orders(messages: int, states: int) -> None:
    if messages == 1:
        # Lemma 6 speaks of deliveries only, and is met with one message, too.
        assert explored(1, plain=True).exercised["CMD Lemma 6"]
    breadth = explored(messages, plain=True)
    depth = explored(messages, plain=True, order="depth")
    assert breadth.states == depth.states == states
    assert breadth.transitions == depth.transitions
    assert breadth.depth == 2 * messages


@pytest.mark.parametrize(("messages", "states"), [(3, 1295), (4, 12_578)])
def test_states_with_a_queue(messages: int, states: int) -> None:
    assert explored(messages, plain=True, queue=True).states == states


@pytest.mark.parametrize(("messages", "states"), [(3, 164), (4, 1209), (5, 8949)])
def test_states_of_the_reduced_search(messages: int, states: int) -> None:
    found = explored(messages, plain=False)
    assert found.states == states
    assert set(found.reductions) == {reduction.value for reduction in Reduction} - {Reduction.SILENTLY.value}


@pytest.mark.slow
def test_five_messages() -> None:
    assert explored(5, plain=True).states == 88_073


@pytest.mark.slow
def test_six_messages() -> None:
    assert explored(6, plain=True).states == 770_220
    assert explored(6, plain=False).states == 68_296
