"""Direct runs are runs: whatever has one conforms, by a search, too."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from precedes.core.execution import EventKind, Execution, History
from precedes.core.transposition import batch_of
from precedes.protocol import Conditions, Destinations, Reliable, catalog
from precedes.protocol.conformance.direct_runs import DirectRuns
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import EVERYTHING_READ, Reading
from precedes.protocol.conformance.verdicts import Conforms
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from tests.protocol.test_conforming import stirred
from tests.protocol.toys import Plain

SMALL = Conditions(
    entities=3, messages=5, interval=800, delay=1500, deviation=900, destinations=Destinations.ANY
)
NAMES = ("cmd", "cmd-auxiliary", "birman-schiper-stephenson", "raynal-schiper-toueg")


def simulated(name: str, numbers: range, conditions: Conditions | None = None) -> list[Execution]:
    protocol = catalog.models(name)[0]
    simulator = Simulator(protocol, conditions or usual(protocol))
    return [simulator.run(5, number).execution for number in numbers]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("numbers", [range(1, 31), pytest.param(range(31, 2_001), marks=pytest.mark.slow)])
def test_what_a_model_does_has_a_direct_run(name: str, numbers: range) -> None:
    direct = DirectRuns(catalog.models(name)[0], EVERYTHING_READ, quiescent=True)
    assert all(direct.has_run(batch_of(simulated(name, numbers))))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("numbers", [range(1, 21), pytest.param(range(21, 1_001), marks=pytest.mark.slow)])
def test_what_has_a_direct_run_has_a_run(name: str, numbers: range) -> None:
    chance = Random(3)
    executions = [stirred(execution, chance) for execution in simulated(name, numbers, SMALL)]
    protocol = catalog.models(name)[0]
    direct = list(DirectRuns(protocol, EVERYTHING_READ, quiescent=False).has_run(batch_of(executions)))
    search = Judge(protocol)
    search.direct_runs.possible = False
    conforms = [isinstance(search.judge(execution)[0], Conforms) for execution in executions]
    assert [pair for pair in zip(direct, conforms, strict=True) if pair == (True, False)] == []
    assert any(direct)
    assert not all(direct)


def test_the_run_has_what_was_recorded() -> None:
    execution = simulated("cmd", range(3, 4))[0]
    behavior = DirectRuns(Cmd(), EVERYTHING_READ, quiescent=False).behavior(execution)
    assert behavior is not None
    again = replayed(Cmd(), 3, behavior, timed=False, name="again")
    for kind in (EventKind.SEND, EventKind.DELIVER):
        for entity in execution.entities:
            assert again.history(entity).messages(kind) == execution.history(entity).messages(kind)


def test_what_is_in_flight_at_the_end_counts_where_nothing_may_be() -> None:
    execution = simulated("cmd", range(1, 2))[0]
    last = execution.histories[-1]
    kept = [event for event in last.events if event.kind is EventKind.SEND]
    cut = replace(execution, histories=(*execution.histories[:-1], History(last.entity, tuple(kept))))
    batch = batch_of([cut])
    protocol = Auxiliary(queue=True)
    without_clocks = Reading(ignored=frozenset({"clock"}))
    direct = DirectRuns(Plain(given=Reliable()), without_clocks, quiescent=False)
    assert list(direct.has_run(batch)) == [True]
    direct = DirectRuns(Plain(given=Reliable()), without_clocks, quiescent=True)
    assert list(direct.has_run(batch)) == [False]
    assert DirectRuns(protocol, without_clocks, quiescent=True).possible


def test_entities_with_numbers_of_two_digits_keep_their_clocks() -> None:
    """By their names, the tenth comes before the second."""
    conditions = replace(SMALL, entities=11, messages=3, destinations=Destinations.UNICAST)
    batch = batch_of(simulated("cmd", range(1, 4), conditions))
    assert all(DirectRuns(Cmd(), EVERYTHING_READ, quiescent=True).has_run(batch))


@pytest.mark.parametrize("given", [Reliable(fifo=True), Plain().network])
def test_where_packets_keep_an_order_nothing_is_known(given: Reliable) -> None:
    direct = DirectRuns(Plain(given=Reliable(fifo=True)), EVERYTHING_READ, quiescent=False)
    assert list(direct.has_run(batch_of(simulated("cmd", range(1, 3))))) == [False, False]
