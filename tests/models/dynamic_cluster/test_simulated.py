"""Simulated executions of the dynamic cluster, with losses, crashes and recoveries at any time: they end, and at their
end everything holds that must hold of the active."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from precedes.core.execution import EventKind
from precedes.protocol import OfState, Situation
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.dynamic_cluster.invariants import INVARIANTS, active
from precedes_models.dynamic_cluster.protocol import DynamicCluster

PATIENT = DynamicCluster(attempts=12)
"""It takes nobody for stopped because of what is lost. It may do so where the other waits for a third that has stopped:
what comes in between does not start the time-out again."""

ENDS = "cluster: agreement ends"
ACCURATE = "cluster: only who has stopped is taken for stopped"


def broken(conditions: Conditions, seed: int, executions: Iterable[int]) -> dict[str, set[int]]:
    """What does not hold at the end of which executions. A run that does not end is an error."""
    simulator = Simulator(PATIENT, conditions)
    found: dict[str, set[int]] = {}
    met: set[str] = set()
    for number in executions:
        recorded = simulator.recorded(seed, number)
        delivered, sent = (
            tuple(
                tuple(entry.message for entry in history if entry.message is not None and entry.kind is kind)
                for history in recorded.histories
            )
            for kind in (EventKind.DELIVER, EventKind.SEND)
        )
        situation = Situation(recorded.states, (), sent=sent, delivered=delivered)
        nobody = not list(active(situation, all_along=False))
        for invariant in INVARIANTS:
            if not isinstance(invariant, OfState) or (nobody and invariant.name == ENDS):
                # With nobody active left there is nobody to take back who recovers.
                continue
            holds = invariant.check(PATIENT, situation)
            if holds is not None:
                met.add(invariant.name)
            if holds is False:
                found.setdefault(invariant.name, set()).add(number)
    assert len(met) >= 5
    return found


def lossy(crash: float, recovery: float) -> Conditions:
    """3 entities, 12 messages, 5 % of the packets lost."""
    return Conditions(loss=0.05, destinations=Destinations.BROADCAST, crash=crash, recovery=recovery)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 40), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("crash", "recovery"), [(0.0, 0.0), (0.2, 0.0), (0.2, 1.0)])
def test_executions_end_as_they_must(crash: float, recovery: float, seeds: range) -> None:
    assert not broken(lossy(crash, recovery), 1, seeds)


def test_what_goes_on_at_once_does_not_wait_for_each_other() -> None:
    """Two recoveries at once, the BMAP of one being from before the other; a recovery, or a reset, that has ended for
    some when others begin the other one; entities that all recover from each other's stop."""
    assert not broken(lossy(0.05, 1.0), 2, [133, 351, 354, 360, 449, 459, 687, 701, 761, 881])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crash", "recovery", "seed", "premature"), [(0.2, 0.0, 1, 8), (0.05, 1.0, 2, 3), (0.2, 1.0, 3, 3)]
)
def test_many_executions_end_as_they_must(crash: float, recovery: float, seed: int, premature: int) -> None:
    found = broken(lossy(crash, recovery), seed, range(2_000))
    assert {name: len(executions) for name, executions in found.items()} == {ACCURATE: premature}
