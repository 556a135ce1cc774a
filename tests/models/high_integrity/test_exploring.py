"""Every order of every behavior with one or two faults of a kind: what holds, what is broken, in how many states."""

from __future__ import annotations

from itertools import combinations

import pytest

from precedes.protocol import OfState, Situation
from precedes.protocol.moves import Expired
from precedes_models.high_integrity.faults import Dead
from precedes_models.high_integrity.invariants import NOTICED, ended
from precedes_models.high_integrity.neighbors import Fixed, NearFar, Neighbourhood, Ring, Uniform
from precedes_models.high_integrity.outcomes import to_the_end
from precedes_models.high_integrity.protocol import HighIntegrity
from tests.models.high_integrity.bugs import BROKEN, MISSED, ORIGIN, REMOVED, STEP_6, STEP_7
from tests.models.high_integrity.exploring import broken, explored
from tests.sampling import one_in


@pytest.mark.parametrize(
    ("faults", "states"),
    [
        ({}, 573),
        ({"dead": 1}, 4782),
        ({"dead": 2}, 8578),
        ({"crashes": 1}, 11131),
        ({"losses": 1}, 25701),
        ({"broken_links": 1}, 9210),
    ],
)
def test_the_repaired_ring_of_five_keeps_everything(faults: dict[str, int], states: int) -> None:
    exploration = explored(HighIntegrity(), 5, **faults)
    assert broken(exploration) == set()
    assert exploration.states == states


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ({"dead": 1}, set()),
        ({"dead": 2}, set()),
        ({"crashes": 1}, set()),
        # The only asker of a node that missed the data stops; or the origin, once it has heard.
        ({"crashes": 2}, {MISSED, ORIGIN}),
        ({"losses": 1}, set()),
        # The origin's own check is lost twice, which is more often than maxfail.
        ({"losses": 2}, {REMOVED}),
        ({"corruptions": 1}, set()),
        ({"corruptions": 2}, set()),
        ({"broken_links": 1}, set()),
        ({"broken_links": 2}, set()),
    ],
)
@pytest.mark.parametrize("entities", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_repaired_ring(entities: int, faults: dict[str, int], found: set[str]) -> None:
    assert broken(explored(HighIntegrity(), entities, **faults)) == found


def test_with_maxfail_two_it_takes_three_losses() -> None:
    assert broken(explored(HighIntegrity(maxfail=2), 3, losses=2)) == set()


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ({"dead": 1}, {STEP_7}),
        ({"dead": 2}, {STEP_7}),
        ({"crashes": 1}, {STEP_7, ORIGIN}),
        ({"crashes": 2}, {STEP_7, ORIGIN, MISSED}),
        ({"losses": 1}, set()),
        # The data and the request that would have told of it.
        ({"losses": 2}, {MISSED}),
        ({"corruptions": 1}, set()),
        ({"corruptions": 2}, set()),
        ({"broken_links": 1}, set()),
        ({"broken_links": 2}, set()),
        ({"dead": 1, "losses": 1}, {STEP_7, MISSED, REMOVED}),
    ],
)
@pytest.mark.parametrize("entities", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_the_ring_as_written(entities: int, faults: dict[str, int], found: set[str]) -> None:
    assert broken(explored(HighIntegrity(as_written=True), entities, **faults)) == found


def test_by_majority_a_node_is_reported_and_gets_nothing() -> None:
    two = Ring(2)
    assert broken(explored(HighIntegrity(as_written=True, adj=two), 4, broken_links=1)) == {STEP_6}
    assert broken(explored(HighIntegrity(adj=two), 4, broken_links=1)) == set()


@pytest.mark.parametrize("adj", [Uniform(), NearFar()])
def test_drawn_neighbours_may_miss_a_failure(adj: Neighbourhood) -> None:
    """A behavior that misses one exists; the paper claims no certainty here, so it is no violation of the paper."""
    protocol = HighIntegrity(adj=adj)
    assert broken(explored(protocol, 3, dead=1)) == set()
    assert broken(explored(protocol, 3, invariants=(NOTICED,), dead=1)) == {NOTICED.name}


@pytest.mark.parametrize("adj", [Ring(2), Uniform(), NearFar()])
@pytest.mark.parametrize(
    "faults", one_in(2, [{"losses": 1}, {"dead": 2}, {"broken_links": 2}, {"corruptions": 1}])
)
def test_the_other_maps_repaired(adj: Neighbourhood, faults: dict[str, int]) -> None:
    assert broken(explored(HighIntegrity(adj=adj), 3, **faults)) == set()


def test_the_origin_decides_after_the_others() -> None:
    """Time-outs of more patience expire later, whatever the order of the rest: no behavior ends a round in which a
    report is still to come."""
    exploration = explored(HighIntegrity(as_written=True), 4, dead=1, losses=1)
    for finding in exploration.findings:
        expired = [move.timer.patience for move in finding.behavior if isinstance(move, Expired)]
        assert expired[0] == 0


@pytest.mark.parametrize(("bug", "faults", "found"), BROKEN)
def test_a_seeded_bug_is_found(bug: HighIntegrity, faults: dict[str, int], found: str) -> None:
    exploration = explored(bug, 4, **faults)
    assert found in broken(exploration)
    assert found not in broken(explored(HighIntegrity(adj=bug.adj), 4, **faults))


def test_a_map_given_by_itself() -> None:
    """Two that ask each other and leave the third alone: it may fail unnoticed, which is why adj has to be onto."""
    pair = Fixed((frozenset({1}), frozenset({0}), frozenset({0})))
    assert MISSED in broken(explored(HighIntegrity(adj=pair), 3, dead=1))


@pytest.mark.parametrize(
    ("adj", "entities"), [(Ring(), 4), (Ring(2), 3), (Uniform(), 3), (NearFar(), 3)], ids=str
)
@pytest.mark.parametrize("as_written", [True, False], ids=["as written", "repaired"])
def test_every_order_comes_to_the_ends_of_the_one_order(
    adj: Neighbourhood, entities: int, as_written: bool
) -> None:
    """What `outcomes` plays in one order is what all orders come to, with every draw and dead nodes."""
    protocol = HighIntegrity(as_written=as_written, adj=adj)
    ends: dict[frozenset[int], set[object]] = {}
    reached: dict[frozenset[int], set[object]] = {}
    for count in (0, 1, 2):
        for dead in combinations(range(1, entities), count):
            played = to_the_end(protocol, entities, tuple(map(Dead, dead)), {})
            ends[frozenset(dead)] = {
                (len(end.rounds), end.removed, frozenset().union(*(seen.named for seen in end.rounds)))
                for end in played
            }

    def collect(_: HighIntegrity, situation: Situation) -> bool | None:
        stopped = frozenset(node for node, state in enumerate(situation.states) if state is None)
        for _, part, _ in ended(situation):
            named = frozenset(node for report in part.reports for node in report.failed)
            reached.setdefault(stopped, set()).add((part.round + 1, part.removed, named))
        return True

    explored(protocol, entities, invariants=(OfState("ends", "", collect),), dead=2)
    assert reached == ends
