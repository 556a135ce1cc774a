"""Simulated executions with losses are ST, in both ways of recovery; seeded bugs show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import plan
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.exploration.explorer import claims
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.st.protocol import SelectiveTotalOrder
from tests.models.st.bugs import ForgetsWhatItSent, GoesOnTooSoon, IgnoresOrdr

SEED = 1994
LOSSY = Conditions(loss=0.05)


def judged(protocol: SelectiveTotalOrder, conditions: Conditions, executions: range) -> set[int]:
    """The verdicts on what the paper claims."""
    simulator = Simulator(protocol, conditions)
    what = plan(claims(protocol))
    batch = batch_of([simulator.run(SEED, number).execution for number in executions])
    return set(map(int, scan(batch, what).values.ravel()))


@pytest.mark.parametrize("destinations", [Destinations.UNICAST, Destinations.MULTICAST, Destinations.ANY])
def test_three_hundred_executions_are_st(destinations: Destinations) -> None:
    assert judged(SelectiveTotalOrder(), replace(LOSSY, destinations=destinations), range(100)) == {TRUE}


def test_what_is_lost_is_recovered_at_one_in_five() -> None:
    conditions = Conditions(entities=4, loss=0.2, messages=8)
    assert judged(SelectiveTotalOrder(), conditions, range(30)) == {TRUE}


def test_go_back_is_st_too() -> None:
    assert judged(SelectiveTotalOrder(retransmission="go-back"), LOSSY, range(60)) == {TRUE}


@pytest.mark.slow
def test_a_hundred_thousand_executions_are_st() -> None:
    for start in range(0, 100_000, 1_000):
        assert judged(SelectiveTotalOrder(), LOSSY, range(start, start + 1_000)) == {TRUE}


@pytest.mark.parametrize("bug", [IgnoresOrdr, ForgetsWhatItSent, GoesOnTooSoon], ids=lambda bug: bug.__name__)
def test_the_bugs_show_in_executions(bug: type[SelectiveTotalOrder]) -> None:
    blocks = (range(start, start + 20) for start in range(0, 100, 20))
    assert any(FALSE in judged(bug(repeats=2), LOSSY, block) for block in blocks)
