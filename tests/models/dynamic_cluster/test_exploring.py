"""The dynamic cluster within bounds: exact numbers of states, what holds, and that seeded bugs are found."""

from __future__ import annotations

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.liveness.endless_behaviors import REST
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from tests.models.dynamic_cluster.bugs import BROKEN, HASTY
from tests.models.dynamic_cluster.exploring import bounds, explored, violated

COUNTS: tuple[tuple[frozenset[int], Bounds, int], ...] = (
    (frozenset(), bounds(2, crashes=1), 365),
    (frozenset(), bounds(2, crashes=1, losses=1), 8_477),
    (frozenset(), bounds(2, crashes=1, recoveries=1), 8_127),
    (frozenset(), bounds(3, crashes=1), 10_489),
    (HASTY, bounds(3, script="c", losses=1), 6_382),
)


@pytest.mark.parametrize(("hasty", "within", "states"), COUNTS)
def test_the_repaired_form_holds(hasty: frozenset[int], within: Bounds, states: int) -> None:
    found = explored(DynamicCluster(hasty=hasty), within)
    assert (found.states, found.complete, violated(found)) == (states, True, {})


def test_the_protocols_own_claims_are_met_but_for_what_one_message_cannot_break() -> None:
    found = explore(DynamicCluster(), bounds(3, crashes=1))
    unmet = {name for name, verdict in found.verdicts.items() if verdict is not Verdict.HOLDS}
    assert (
        unmet
        == {name for name, met in found.exercised.items() if not met}
        == {"order_preserving", "order_equivalent"}
    )


@pytest.mark.parametrize("within", [bounds(3, crashes=1), bounds(2, crashes=1, losses=1)])
def test_agreements_come_to_an_end(within: Bounds) -> None:
    found = explore(DynamicCluster(), within, [], invariants=(), live=(REST,))
    assert found.of(REST) is Verdict.HOLDS


def test_step_4_deletes_what_not_all_have_and_nothing_else() -> None:
    found = explored(DynamicCluster(hasty=HASTY), bounds(3, script="c", losses=1))
    assert found.of("cluster: only of the stopped is anything deleted") is Verdict.HOLDS


@pytest.mark.parametrize(("bug", "hasty", "within", "name", "moves"), BROKEN)
def test_what_is_broken_on_purpose_is_found(
    bug: type[DynamicCluster], hasty: frozenset[int], within: Bounds, name: str, moves: int
) -> None:
    assert violated(explored(bug(hasty=hasty), within)).get(name) == moves


def test_two_losses_while_somebody_returns() -> None:
    """Whoever asks to be taken back while its stop is being agreed on hears of that, and goes on asking."""
    found = explored(DynamicCluster(attempts=2), bounds(2, 0, crashes=1, recoveries=1, losses=2))
    assert (found.states, found.complete, violated(found)) == (2_347, True, {})


def test_attempts_must_cover_what_is_lost() -> None:
    """One attempt and two losses: who runs is taken for stopped, and never learns of it."""
    within = bounds(2, crashes=1, losses=2, depth=20)
    assert violated(explored(DynamicCluster(attempts=1), within))["cluster: same emask"] == 19


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attempts", "within", "states"),
    [
        (2, bounds(2, crashes=1, losses=2), 63_886),
        (3, bounds(2, crashes=1, losses=2), 69_621),
    ],
)
def test_two_losses(attempts: int, within: Bounds, states: int) -> None:
    found = explored(DynamicCluster(attempts=attempts), within)
    assert (found.states, found.complete, violated(found)) == (states, True, {})


@pytest.mark.slow
def test_what_will_be_deleted_is_not_confirmed() -> None:
    """E1 has c1, which stop (3) cuts and stop (4) will delete when the STOP_ACK comes that was lost. To confirm c1
    until then, with one PDU after the other, would have no end."""
    found = explored(DynamicCluster(attempts=2, hasty=HASTY), bounds(3, script="c", losses=2))
    assert (found.states, found.complete, violated(found)) == (73_467, True, {})


@pytest.mark.slow
def test_one_loss_and_a_crash_of_three() -> None:
    found = explored(DynamicCluster(), bounds(3, script="a", crashes=1, losses=1))
    assert (found.states, found.complete, violated(found)) == (644_071, True, {})


@pytest.mark.slow
def test_two_messages_and_one_crash() -> None:
    found = explore(DynamicCluster(), bounds(3, 2, crashes=1))
    assert (found.states, found.verdict) == (925_939, Verdict.HOLDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("within", "states"),
    [
        (bounds(2, crashes=1, recoveries=1, losses=1), 106_938),
        (bounds(3, 0, crashes=1, recoveries=1), 37_252),
        (bounds(3, 0, crashes=1, recoveries=1, losses=1), 188_068),
        (bounds(3, 0, crashes=2, recoveries=1), 171_265),
    ],
)
def test_a_recovery(within: Bounds, states: int) -> None:
    found = explored(DynamicCluster(), within)
    assert (found.states, found.complete, violated(found)) == (states, True, {})
