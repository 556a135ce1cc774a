"""Whether executions are behaviors of a model: those that it makes are, and others as an exploration finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from precedes.core.execution import EventKind, Execution, History
from precedes.protocol import Conditions, Destinations, Message, Protocol, Reliable, SingleChannel, catalog
from precedes.protocol.bounds import Bounds
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import observed
from precedes.protocol.conformance.verdicts import Conforms, Deviates, Limits, Undecided
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.network import Timed
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from precedes_models.delta_causal.protocol import DeltaCausal
from tests.models.replay import made
from tests.protocol.toys import InTurn, Plain

WITHOUT_TIMEOUTS = (
    "cmd",
    "cmd-auxiliary",
    "birman-schiper-stephenson",
    "raynal-schiper-toueg",
    "delta-causal",
    "delta-causal-fixed-wait",
    "delta-causal-full-tag",
)
WITH_TIMEOUTS = ("st", "to", "dynamic-cluster", "high-integrity")
SMALL = Conditions(
    entities=3, messages=4, interval=800, delay=1500, deviation=900, destinations=Destinations.ANY
)


def answers(protocol: Protocol[Any], numbers: range, limits: Limits) -> Counter[type]:
    """How often which answer a search gives on simulated executions."""
    simulator, judge = Simulator(protocol, usual(protocol)), Judge(protocol, limits)
    judge.direct_runs.possible = False
    return Counter(type(judge.judge(simulator.run(7, number).execution)[0]) for number in numbers)


@pytest.mark.parametrize("name", WITHOUT_TIMEOUTS)
@pytest.mark.parametrize(
    "executions", [range(1, 51), pytest.param(range(51, 10_001), marks=pytest.mark.slow)]
)
def test_what_a_model_does_conforms_to_it(name: str, executions: range) -> None:
    protocol = catalog.models(name)[-1]
    assert set(answers(protocol, executions, Limits())) == {Conforms}


@pytest.mark.parametrize("name", WITH_TIMEOUTS)
@pytest.mark.parametrize("executions", [range(1, 6), pytest.param(range(6, 301), marks=pytest.mark.slow)])
def test_what_a_model_with_timeouts_does_conforms_to_it(name: str, executions: range) -> None:
    """A few are undecided: which confirmation was sent when is a long search."""
    found = answers(catalog.models(name)[0], executions, Limits(losses=0, states=200))
    assert found[Deviates] == 0
    assert found[Undecided] <= len(executions) // 5


def stirred(execution: Execution, chance: Random) -> Execution:
    """The execution with two events that follow each other at one entity exchanged, unless both are sends: these would
    only have each other's names."""
    histories = list(execution.histories)
    place = chance.choice([k for k, history in enumerate(histories) if len(history.events) > 1])
    events = list(histories[place].events)
    first = chance.randrange(len(events) - 1)
    if {events[first].kind, events[first + 1].kind} != {EventKind.SEND}:
        events[first], events[first + 1] = events[first + 1], events[first]
    histories[place] = History(histories[place].entity, tuple(events))
    return replace(execution, histories=tuple(histories))


def without_clocks(execution: Execution) -> Execution:
    """The execution as a recorder without clocks has it."""
    histories = tuple(
        History(history.entity, tuple(replace(event, clock=None) for event in history.events))
        for history in execution.histories
    )
    return replace(execution, histories=histories)


CASES: list[tuple[Protocol[Any], Protocol[Any]]] = [
    (Cmd(as_written=True), Cmd()),
    (Auxiliary(as_written=True), Auxiliary(queue=False)),
    (InTurn(mistake="at once"), InTurn()),
    (InTurn(), InTurn(mistake="forgets")),
    (Plain(given=Reliable()), Plain(given=Reliable(fifo=True))),
    (Plain(given=SingleChannel()), Plain(given=SingleChannel())),
]


def compared(maker: Protocol[Any], protocol: Protocol[Any], numbers: range) -> Iterator[tuple[bool, bool]]:
    """By the search for a run, and by an exploration of every behavior with the same sends."""
    simulator, chance = Simulator(maker, SMALL), Random(5)
    judge = Judge(protocol, Limits(losses=0, duplicates=0, corruptions=0))
    judge.direct_runs.possible = False
    for number in numbers:
        execution = without_clocks(simulator.run(3, number).execution)
        if number % 3 and any(len(history.events) > 1 for history in execution.histories):
            execution = stirred(execution, chance)
        answer, _ = judge.judge(execution)
        assert not isinstance(answer, Undecided)
        seen = observed(protocol, execution)
        script = tuple(
            tuple(each.message for each in history if each.kind is EventKind.SEND and each.message)
            for history in seen.histories
        )
        bounds = Bounds(3, sum(map(len, script)), script=script)
        yield isinstance(answer, Conforms), made(protocol, bounds, execution) is not None


@pytest.mark.parametrize("numbers", [range(1, 13), pytest.param(range(13, 400), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("maker", "protocol"), CASES, ids=lambda each: f"{each.name}")
def test_the_search_finds_what_an_exploration_finds(
    maker: Protocol[Any], protocol: Protocol[Any], numbers: range
) -> None:
    assert [(mine, theirs) for mine, theirs in compared(maker, protocol, numbers) if mine != theirs] == []


@pytest.mark.parametrize("name", ["cmd", "delta-causal", "st"])
def test_the_run_has_exactly_what_was_recorded(name: str) -> None:
    protocol = catalog.models(name)[0]
    execution = Simulator(protocol, usual(protocol)).run(2, 1).execution
    answer, _ = Judge(protocol).judge(execution)
    assert isinstance(answer, Conforms)
    timed = isinstance(protocol.network, Timed)
    again = replayed(protocol, 3, answer.behavior, timed=timed, name="again")
    for kind in (EventKind.SEND, EventKind.DELIVER):
        for entity in execution.entities:
            assert again.history(entity).messages(kind) == execution.history(entity).messages(kind)


def test_the_first_event_without_a_run_is_named() -> None:
    """As written, Δ-causal stamps two sends with one time; repaired, the second waits."""
    execution = Simulator(DeltaCausal(as_written=True), usual(DeltaCausal())).run(1, 1).execution
    answer, naming = Judge(DeltaCausal()).judge(execution)
    assert isinstance(answer, Deviates)
    assert naming.entities == ("E1", "E2", "E3")
    assert answer.event is not None
    history = execution.histories[answer.entity]
    told = history.events[answer.explained[answer.entity]]
    assert (told.kind, told.message) == (
        answer.event.kind,
        answer.event.message and answer.event.message.name,
    )
    assert answer.within == ()


def test_names_of_entities_and_messages_do_not_matter() -> None:
    execution = Simulator(Cmd(), usual(Cmd())).run(1, 3).execution
    judge = Judge(Cmd())
    first, _ = judge.judge(execution)
    renamed = {name: f"order-{k}" for k, name in enumerate(execution.messages)}
    histories = tuple(
        History(
            f"broker {history.entity}",
            tuple(
                replace(
                    event,
                    message=event.message and renamed[event.message],
                    clock=event.clock and {f"broker {name}": count for name, count in event.clock.items()},
                )
                for event in history.events
            ),
        )
        for history in execution.histories
    )
    messages = {
        renamed[name]: replace(
            message,
            name=renamed[name],
            sender=f"broker {message.sender}",
            destinations=frozenset(f"broker {each}" for each in message.destinations or ()),
        )
        for name, message in execution.messages.items()
    }
    second, naming = judge.judge(Execution("other", histories, messages))
    assert second is first
    assert (
        dict(naming.messages)[Message(0, 1, next(m for m, _ in naming.messages).destinations)]
        or naming.messages
    )


@pytest.mark.parametrize(
    ("execution", "reason"),
    [
        (Execution("x", (), {}, complete=False), "rows may be missing"),
        (
            Execution("x", (History("E1", (), interleaved=False),), {}),
            "the order of the events at E1 is not known",
        ),
    ],
)
def test_what_is_not_known_is_undecided(execution: Execution, reason: str) -> None:
    answer, _ = Judge(Cmd()).judge(execution)
    assert answer == Undecided(reason)


def test_a_loss_is_said_where_the_answer_depends_on_it() -> None:
    """Over one channel, who has not delivered the first has lost it."""
    protocol = Plain(given=SingleChannel(loses=True))
    execution = Simulator(protocol, replace(SMALL, destinations=Destinations.BROADCAST)).run(1, 1).execution
    last = execution.histories[-1]
    delivered = [k for k, event in enumerate(last.events) if event.kind is EventKind.DELIVER]
    short = tuple(event for k, event in enumerate(last.events) if k not in delivered[:2])
    cut = replace(execution, histories=(*execution.histories[:-1], History(last.entity, short)))
    found, _ = Judge(protocol, Limits(losses=2)).judge(cut)
    assert isinstance(found, Conforms)
    missing, _ = Judge(protocol, Limits(losses=1)).judge(cut)
    assert isinstance(missing, Deviates)
    assert missing.within == ("losses",)


def test_what_was_recorded_to_the_end_has_to_come_to_rest() -> None:
    protocol = Plain(given=Reliable())
    execution = Simulator(protocol, SMALL).run(1, 1).execution
    last = next(history for history in execution.histories if history.messages(EventKind.DELIVER))
    kept = tuple(event for event in last.events if event is not last.events[-1])
    cut = replace(
        execution,
        histories=tuple(
            History(history.entity, kept if history is last else history.events)
            for history in execution.histories
        ),
    )
    assert isinstance(Judge(protocol).judge(cut)[0], Conforms)
    to_the_end = Judge(protocol, Limits(quiescent=True))
    assert isinstance(to_the_end.judge(execution)[0], Conforms)
    answer, _ = to_the_end.judge(cut)
    assert isinstance(answer, Deviates)
    assert answer.event is None
