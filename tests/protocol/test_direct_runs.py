"""Direct runs are runs: whatever has one conforms, by a search, too."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind, Execution, History
from precedes.core.transposition import batch_of
from precedes.protocol import Conditions, Destinations, Protocol, Reliable, catalog
from precedes.protocol.conformance import run_waves
from precedes.protocol.conformance.direct_runs import DirectRuns
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import EVERYTHING_READ, Reading
from precedes.protocol.conformance.verdicts import Conforms
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from tests.protocol.test_conforming import stirred
from tests.protocol.toys import Broken, Plain, Tosses

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


FOLLOWED: tuple[tuple[Protocol[Any], Protocol[Any]], ...] = (
    *(
        (catalog.models(name, as_written=found[-1].repaired)[-1], found[-1])
        for name, found in ((name, catalog.models(name)) for name in NAMES)
    ),
    (Plain(given=Reliable()), Tosses(given=Reliable())),
)
"""Who makes executions, and the model that they are held against."""


@pytest.mark.parametrize(("maker", "protocol"), FOLLOWED, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("quiescent", [False, True])
@pytest.mark.parametrize(
    "numbers", [range(1, 21), pytest.param(range(21, 3_001), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_many_runs_at_once_are_the_same_as_one_by_one(
    maker: Protocol[Any],
    protocol: Protocol[Any],
    numbers: range,
    quiescent: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two to four entities, changed at random and cut short."""
    chance, executions = Random(11), []
    for number in numbers:
        conditions = replace(SMALL, entities=2 + number % 3, messages=4)
        execution = Simulator(maker, conditions).run(3, number).execution
        if number % 2:
            execution = stirred(execution, chance)
        if number % 5 == 0:
            last = execution.histories[-1]
            cut = History(last.entity, last.events[: len(last.events) // 2])
            execution = replace(execution, histories=(*execution.histories[:-1], cut))
        executions.append(replace(execution, name=f"x{number}"))
    batch = batch_of(executions)
    alone = list(DirectRuns(protocol, EVERYTHING_READ, quiescent=quiescent, together=False).has_run(batch))
    for few in (0, run_waves._FEW):
        monkeypatch.setattr(run_waves, "_FEW", few)
        together = DirectRuns(protocol, EVERYTHING_READ, quiescent=quiescent)
        assert list(together.has_run(batch)) == alone
    assert not all(alone)
    assert any(alone)


def test_a_mistake_of_the_model_is_told_of_the_same_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first that shows it, also where many are followed at once."""
    monkeypatch.setattr(run_waves, "_FEW", 0)
    simulator = Simulator(Plain(given=Reliable()), SMALL)
    batch = batch_of([replace(simulator.run(3, number).execution, name=f"x{number}") for number in range(4)])
    said = []
    for together in (False, True):
        direct = DirectRuns(Broken(given=Reliable()), EVERYTHING_READ, quiescent=False, together=together)
        with pytest.raises(PrecedesError) as raised:
            list(direct.has_run(batch))
        said.append(str(raised.value))
    assert said[0] == said[1]


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


@pytest.mark.parametrize("together", [False, True])
def test_entities_with_numbers_of_two_digits_keep_their_clocks(
    together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their names, the tenth comes before the second."""
    monkeypatch.setattr(run_waves, "_FEW", 0)
    conditions = replace(SMALL, entities=11, messages=3, destinations=Destinations.UNICAST)
    batch = batch_of(simulated("cmd", range(1, 4), conditions))
    direct = DirectRuns(Cmd(), EVERYTHING_READ, quiescent=True, together=together)
    assert all(direct.has_run(batch))


@pytest.mark.parametrize("given", [Reliable(fifo=True), Plain().network])
def test_where_packets_keep_an_order_nothing_is_known(given: Reliable) -> None:
    direct = DirectRuns(Plain(given=Reliable(fifo=True)), EVERYTHING_READ, quiescent=False)
    assert list(direct.has_run(batch_of(simulated("cmd", range(1, 3))))) == [False, False]
