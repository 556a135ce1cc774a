"""Simulated executions of the repaired protocols verify clean; with one handler broken they do not."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import plan
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.exploration.explorer import claims
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.delta_causal.agent import DeltaAgent
from precedes_models.delta_causal.fixed_wait import FixedWait
from precedes_models.delta_causal.full_tag import FullTag
from precedes_models.delta_causal.protocol import DeltaCausal
from tests.models.delta_causal.bugs import BUGS

SEED = 1999
DELTA, WAIT = 5_000, 2_000
CONDITIONS = Conditions(entities=4, messages=16, interval=2_000, delay=2_500, deviation=2_000)
"""One message in ten or so comes too late."""
REPAIRED: tuple[DeltaAgent, ...] = (
    DeltaCausal(delta=DELTA, max_cb=1),
    DeltaCausal(delta=DELTA, max_cb=2),
    DeltaCausal(delta=DELTA, max_cb=None),
    FullTag(delta=DELTA),
    FixedWait(delta=DELTA, wait=WAIT),
)


def judged(protocol: DeltaAgent, executions: range, conditions: Conditions) -> dict[str, set[int]]:
    """For every claim of the protocol, the verdicts that occurred."""
    what = plan(claims(protocol))
    simulator = Simulator(replace(protocol, lemmas=False), conditions)
    values = scan(batch_of([simulator.run(SEED, number).execution for number in executions]), what).values
    return {name: set(map(int, values[:, column])) for column, name in enumerate(what.names)}


def named(protocol: object) -> str:
    return type(protocol).__name__ + str(getattr(protocol, "max_cb", ""))


@pytest.mark.parametrize("executions", [range(30), pytest.param(range(30, 100), marks=pytest.mark.slow)])
@pytest.mark.parametrize("destinations", [Destinations.UNICAST, Destinations.MULTICAST, Destinations.ANY])
@pytest.mark.parametrize("protocol", REPAIRED, ids=named)
def test_three_hundred_executions_are_clean(
    protocol: DeltaAgent, destinations: Destinations, executions: range
) -> None:
    found = judged(protocol, executions, replace(CONDITIONS, destinations=destinations))
    assert set().union(*found.values()) == {TRUE}


def test_executions_with_clocks_that_differ_are_clean() -> None:
    protocol = DeltaCausal(delta=DELTA, epsilon=1_000)
    found = judged(protocol, range(100), replace(CONDITIONS, skew=1_000))
    assert "deadline" not in found
    assert set().union(*found.values()) == {TRUE}


def test_every_request_is_accepted_in_the_end() -> None:
    """Time goes on, and with it the clock."""
    conditions = replace(CONDITIONS, interval=1.0, deviation=1.0, delay=2.0)
    protocol = DeltaCausal(delta=5, lemmas=False)
    simulator = Simulator(protocol, conditions)
    for number in range(20):
        counters = simulator.run(SEED, number).counters
        assert counters["requests"] == conditions.messages
        assert counters["waiting"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("protocol", REPAIRED, ids=named)
def test_a_hundred_thousand_executions_are_clean(protocol: DeltaAgent) -> None:
    for start in range(0, 100_000, 1_000):
        found = judged(protocol, range(start, start + 1_000), CONDITIONS)
        assert set().union(*found.values()) == {TRUE}


SELDOM = ("NoRow", "NoWait")
"""Shown by a chain of messages, each to one entity, that chance seldom makes: left to exploring."""
LOUD = [bug for bug, _, _ in BUGS if type(bug).__name__ not in SELDOM]


@pytest.mark.parametrize("bug", LOUD, ids=named)
def test_the_bugs_show_in_executions(bug: DeltaAgent) -> None:
    """The off-by-one bugs need messages that take exactly so many ticks: few ticks, many coincidences."""
    scale = 5 if type(bug).__name__ in ("TooSoon", "WaitsForItself") else DELTA
    parameters = {field.name: getattr(bug, field.name) for field in fields(bug)}
    parameters |= {"delta": scale} | ({"wait": scale * WAIT // DELTA} if "wait" in parameters else {})
    broken = type(bug)(**parameters)
    conditions = replace(
        CONDITIONS,
        interval=CONDITIONS.interval * scale / DELTA,
        delay=CONDITIONS.delay * scale / DELTA,
        deviation=CONDITIONS.deviation * scale / DELTA,
    )
    blocks = (range(start, start + 20) for start in range(0, 200, 20))
    assert any(FALSE in set().union(*judged(broken, block, conditions).values()) for block in blocks)
