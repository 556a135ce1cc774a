"""TO within bounds: exact numbers of states, what holds, and that what is broken on purpose is found."""

from __future__ import annotations

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.liveness.endless_behaviors import PROPERTIES
from precedes_models.total_order.protocol import TotalOrder
from precedes_models.total_order.transfer import Letter
from tests.models.dynamic_cluster.exploring import bounds
from tests.models.to.bugs import BROKEN, JoinsWithAnOldLog
from tests.models.to.channel import Channel, two_resets

COUNTS: tuple[tuple[Bounds, int], ...] = (
    (bounds(2, 1), 49),
    (bounds(3, 1), 241),
    (bounds(2, 2), 1_345),
    (bounds(2, 1, losses=1), 1_403),
)
SLOW: tuple[tuple[Bounds, int], ...] = (
    (bounds(2, 1, losses=2), 12_289),
    (bounds(2, 2, losses=1), 48_384),
)


def unmet(found: Exploration) -> set[str]:
    return {name for name, verdict in found.verdicts.items() if verdict is not Verdict.HOLDS}


@pytest.mark.parametrize(("within", "states"), COUNTS)
def test_to_holds_breadth_first_and_depth_first(within: Bounds, states: int) -> None:
    for order in ("breadth", "depth"):
        found = explore(TotalOrder(), within, order=order)
        assert (found.states, found.complete, found.findings) == (states, True, ())
        # One message is in order whatever happens.
        assert unmet(found) == (set() if within.messages > 1 else {"order_preserving", "order_equivalent"})


@pytest.mark.slow
@pytest.mark.parametrize(("within", "states"), SLOW)
def test_to_holds_with_more_losses(within: Bounds, states: int) -> None:
    found = explore(TotalOrder(), within)
    assert (found.states, found.complete, found.findings) == (states, True, ())
    assert unmet(found) == (set() if within.messages > 1 else {"order_preserving", "order_equivalent"})


@pytest.mark.parametrize("within", [bounds(3, 1), bounds(2, 1, losses=1)])
def test_what_is_under_way_comes_to_an_end(within: Bounds) -> None:
    found = explore(TotalOrder(), within, [], invariants=(), live=PROPERTIES)
    assert {found.of(name) for name in PROPERTIES} == {Verdict.HOLDS}


@pytest.mark.parametrize(("bug", "within", "name", "moves"), BROKEN)
def test_what_is_broken_on_purpose_is_found(
    bug: type[TotalOrder], within: Bounds, name: str, moves: int
) -> None:
    found = {each.property: len(each.behavior) - 1 for each in explore(bug(), within).findings}
    assert found.get(name) == moves


def test_one_cut_leaves_different_logs() -> None:
    """1994, section 4.2, step (3), with go-back and as it is written: see one_cut in specs/papers."""
    within = bounds(2, script="ab", losses=1, depth=19)
    literal = explore(TotalOrder(letter=frozenset({Letter.ONE_CUT})), within)
    found = {each.property: len(each.behavior) - 1 for each in literal.findings}
    assert found["TO: acknowledged is pre-acknowledged by all"] == 17
    assert not explore(TotalOrder(), within).findings


@pytest.mark.parametrize(
    ("letter", "delivered"), [(frozenset({Letter.FORGETS}), ["a1", "c1"]), (frozenset(), ["a1", "b1", "c1"])]
)
def test_what_all_have_accepted_may_have_to_be_sent_again(
    letter: frozenset[Letter], delivered: list[str]
) -> None:
    """1994, section 3.3, with go-back: E2 learns that all have b1 before E3 learns that it has lost a1, which was
    sent before: see forgets in specs/papers."""
    channel = Channel(TotalOrder(letter=letter), 3)
    channel.send(0)
    channel.send(1)
    channel.arrive(0, 1)
    channel.lose(2)
    channel.arrive(0, 1, 2)
    channel.send(2)
    channel.arrive(0, 1)
    channel.expire(0)
    channel.expire(1)
    channel.arrive(0, 1, 0, 1)
    assert channel.rest()
    assert [sorted(log) for log in channel.delivered] == [delivered] * 3
    assert len({tuple(log) for log in channel.delivered}) == 1


@pytest.mark.parametrize("last", ["c1", "c2"])
def test_a_reset_is_joined_when_the_one_before_has_ended(last: str) -> None:
    channel = two_resets(TotalOrder(), last)
    assert channel.rest()
    assert channel.delivered == [["a1", "b1", "c1", "c2"][: 3 if last == "c1" else 4]] * 3


def test_a_log_of_before_the_cut_is_in_another_order() -> None:
    """E1 has b1 before c1, as they were sent; sent again, c1 came before b1 to E2 and E3."""
    channel = two_resets(JoinsWithAnOldLog(), "c1")
    assert channel.rest()
    assert channel.delivered == [["b1", "c1", "a1"], ["c1", "b1", "a1"], ["c1", "b1", "a1"]]


def test_with_a_log_of_before_the_cut_resets_may_have_no_end() -> None:
    """E1 cuts b1 and c1 away, of which E2 and E3 have acknowledged c1: nobody can send it again, and E1 finds it
    missing whatever comes."""
    channel = two_resets(JoinsWithAnOldLog(), "c2")
    assert not channel.rest()
    assert channel.delivered == [["a1"], ["c1", "a1"], ["c1", "a1"]]
