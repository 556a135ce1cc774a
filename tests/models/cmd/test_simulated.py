"""Simulated executions of the repaired protocols verify clean; seeded bugs show."""

from __future__ import annotations

from typing import Any

import pytest

from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import plan
from precedes.protocol import Protocol
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.exploration.explorer import claims
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from precedes_models.raynal_schiper_toueg import RaynalSchiperToueg
from tests.models.cmd.bugs import OF_AUXILIARY, OF_BASELINES, OF_CMD

SEED = 1995
CONDITIONS = Conditions(entities=4, messages=16, interval=1_000, delay=1_500, deviation=700)
REPAIRED: tuple[Protocol[Any], ...] = (Auxiliary(), Cmd(), RaynalSchiperToueg(), BirmanSchiperStephenson())


def judged(
    protocol: Protocol[Any], executions: range, conditions: Conditions = CONDITIONS
) -> dict[str, set[int]]:
    """For every claim of the protocol, the verdicts that occurred."""
    what = plan(claims(protocol))
    simulator = Simulator(protocol, conditions)
    values = scan(batch_of([simulator.run(SEED, number).execution for number in executions]), what).values
    return {name: set(map(int, values[:, column])) for column, name in enumerate(what.names)}


def named(protocol: object) -> str:
    """How a parameter is shown."""
    return str(getattr(protocol, "name", protocol))


@pytest.mark.parametrize("executions", [range(30), pytest.param(range(30, 100), marks=pytest.mark.slow)])
@pytest.mark.parametrize("destinations", [Destinations.UNICAST, Destinations.MULTICAST, Destinations.ANY])
@pytest.mark.parametrize("protocol", REPAIRED, ids=named)
def test_three_hundred_executions_are_clean(
    protocol: Protocol[Any], destinations: Destinations, executions: range
) -> None:
    conditions = Conditions(
        entities=4, messages=16, interval=1_000, delay=1_500, deviation=700, destinations=destinations
    )
    assert set().union(*judged(protocol, executions, conditions).values()) == {TRUE}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", REPAIRED, ids=named)
def test_a_hundred_thousand_executions_are_clean(protocol: Protocol[Any]) -> None:
    for start in range(0, 100_000, 1_000):
        executions = range(start, start + 1_000)
        assert set().union(*judged(protocol, executions, usual(protocol)).values()) == {TRUE}


@pytest.mark.parametrize("bug", [*OF_AUXILIARY, *OF_BASELINES, *OF_CMD], ids=lambda bug: bug.__name__)
def test_the_bugs_show_in_executions(bug: type[Protocol[Any]]) -> None:
    blocks = (range(start, start + 20) for start in range(0, 100, 20))
    assert any(FALSE in set().union(*judged(bug(), block).values()) for block in blocks)
