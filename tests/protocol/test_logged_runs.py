"""A run whose moves were noted is followed with the model's own handlers; a log that is no run is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import precedes
from precedes.core.execution import Execution
from precedes.protocol import Conditions, Message, Protocol, Timer
from precedes.protocol.catalog import models
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import Reading
from precedes.protocol.conformance.verdicts import Conforms, Limits
from precedes.protocol.exploration.histories import Histories, replayed
from precedes.protocol.running import move_log
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.running.entity import RunningEntity, Transmission
from precedes.protocol.running.move_log import Handler, LoggedMove, MoveLog, move_of
from precedes.protocol.simulation.run import Running
from precedes.protocol.simulation.simulator import Simulator, usual
from tests.protocol.posts import Remembers

LIMITS = Limits(losses=50, duplicates=50, corruptions=50, timeouts=500, states=0, quiescent=True)
"""No state may be searched."""


class Noting(Running):
    """A simulated run that notes its moves, as the processes of a run do."""

    def __init__(self, simulator: Simulator, number: int) -> None:
        super().__init__(simulator.setting, 1, number)
        self.noted: list[list[LoggedMove]] = [[] for _ in self.entities]
        self.channel: list[int] = []

    def stepped(self, entity: RunningEntity, choice: int) -> None:
        self.noted[entity.entity].append(move_of(self.now, self.calling, choice))

    def transmit(self, sender: int, packets: Sequence[Transmission]) -> None:
        super().transmit(sender, packets)
        if any(to for _, to in packets):
            self.channel.append(sender)


def noted(protocol: Protocol[Any], conditions: Conditions, number: int) -> tuple[Execution, MoveLog]:
    """A simulated execution, and its moves."""
    running = Noting(Simulator(protocol, conditions), number)
    running.go()
    histories = Histories(protocol, conditions.entities)
    single = running.setting.ordered_by == "receiver"
    log = MoveLog(tuple(map(tuple, running.noted)), tuple(running.channel) if single else None)
    return histories.execution(running.recorded().histories, "1"), log


FAULTS: dict[str, dict[str, float]] = {
    "to": {"loss": 0.1},
    "st": {"loss": 0.1},
    "dynamic-cluster": {"loss": 0.05, "crash": 0.3, "recovery": 0.7},
    "high-integrity": {"loss": 0.05, "duplication": 0.1, "corruption": 0.1, "crash": 0.1},
    "cmd": {"crash": 0.3},
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_was_noted_is_a_run_whatever_went_wrong_in_it(name: str) -> None:
    protocol = models(name)[0]
    conditions = replace(usual(protocol), messages=3, **FAULTS[name])
    judge = Judge(protocol, LIMITS, Reading(conditions.entities))
    for number in range(1, 6):
        execution, log = noted(protocol, conditions, number)
        assert judge.follow(execution, log), number
        answer, _ = judge.judge(execution)
        assert isinstance(answer, Conforms)
        again = replayed(protocol, conditions.entities, answer.behavior, timed=False, name="1")
        for ours, theirs in zip(again.histories, execution.histories, strict=True):
            assert sorted(map(_plain, ours.events)) == sorted(map(_plain, theirs.events))


def _plain(event: Any) -> tuple[str, str]:
    return event.kind.value, event.message or ""


def test_in_a_channel_its_order_counts_and_not_the_times() -> None:
    """A recovery that is tried too early is made later, and logged once."""
    protocol = models("dynamic-cluster")[0]
    conditions = replace(usual(protocol), messages=3, **FAULTS["dynamic-cluster"])
    judge = Judge(protocol, LIMITS, Reading(conditions.entities))
    recovered = 0
    for number in range(1, 8):
        execution, log = noted(protocol, conditions, number)
        recovered += any(move.handler is Handler.RECOVER for moves in log.entities for move in moves)
        timeless = tuple(tuple(replace(move, time=0) for move in moves) for moves in log.entities)
        assert judge.follow(execution, replace(log, entities=timeless)), number
    assert recovered


def test_a_log_that_is_no_run_is_refused() -> None:
    protocol = models("to")[0]
    conditions = replace(usual(protocol), messages=3, loss=0.1)
    execution, log = noted(protocol, conditions, 1)
    judge = Judge(protocol, LIMITS)
    first = log.entities[0]
    arrival = next(k for k, move in enumerate(first) if move.handler is Handler.ARRIVE)
    timer = LoggedMove(first[-1].time, Handler.EXPIRE, Timer("nobody's"))
    other = replace(first[arrival], sender=1 - first[arrival].sender % 2)
    request = LoggedMove(0, Handler.SEND, Message(0, 1, frozenset({0, 1, 2})))
    changed = [
        first[:arrival] + first[arrival + 1 :],
        first[: arrival + 1] + first[arrival:],
        (*first[:arrival], other, *first[arrival + 1 :]),
        (*first[:arrival], replace(first[arrival], choice=1), *first[arrival + 1 :]),
        (*first, timer),
        (request, *first),
        (*first, replace(timer, handler=Handler.CRASH, cause=None)),
        (*first, replace(timer, handler=Handler.RECOVER, cause=None)),
    ]
    assert judge.follow(execution, log)
    for moves in changed:
        assert not judge.follow(execution, replace(log, entities=(moves, *log.entities[1:])))
    assert log.channel is not None
    assert not judge.follow(execution, replace(log, channel=log.channel[::-1]))
    assert not judge.follow(execution, replace(log, entities=log.entities[:2]))


def test_more_faults_than_the_limits_are_no_run() -> None:
    protocol = models("to")[0]
    conditions = replace(usual(protocol), messages=3, loss=0.1)
    execution, log = noted(protocol, conditions, 1)
    assert not Judge(protocol, replace(LIMITS, losses=0)).follow(execution, log)
    assert not Judge(protocol, replace(LIMITS, timeouts=0)).follow(execution, log)


def test_an_event_that_the_run_has_not_is_no_run() -> None:
    protocol = models("cmd")[0]
    conditions = replace(usual(protocol), messages=3)
    execution, log = noted(protocol, conditions, 1)
    judge = Judge(protocol, LIMITS, Reading(3))
    assert judge.follow(execution, log)
    longest = max(execution.histories, key=lambda history: len(history.events))
    shorter = replace(longest, events=longest.events[:-1])
    histories = tuple(shorter if each is longest else each for each in execution.histories)
    assert not judge.follow(replace(execution, histories=histories), log)


@pytest.mark.parametrize(("stops", "conforming"), [(True, 1), (False, 0)])
def test_what_may_have_come_while_its_entity_had_stopped_is_not_in_flight(
    stops: bool, conforming: int, tmp_path: Path
) -> None:
    rows = [("E1", {"event": "send", "message": "a1", "dest": ["E2"]})]
    rows += [("E2", {"event": event}) for event in ("crash", "recover") if stops]
    rows += [
        ("E1", {"event": "send", "message": "a2", "dest": ["E2"]}),
        ("E2", {"event": "deliver", "message": "a2"}),
    ]
    trace = tmp_path / "trace.jsonl"
    lines = ({"execution": 1, "entity": entity, "seq": seq, **row} for seq, (entity, row) in enumerate(rows))
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = precedes.conform(Remembers(), trace, quiescent=True)
    assert (report.conforming, report.deviating) == (conforming, 1 - conforming)


def test_a_log_reads_back_as_it_was_written() -> None:
    protocol = models("to")[0]
    _, log = noted(protocol, replace(usual(protocol), messages=2, loss=0.1), 1)
    encoding = Encoding(protocol)
    entities = [b",".join(move_log.written(each, encoding) for each in moves) for moves in log.entities]
    assert move_log.read(move_log.joined(entities, log.channel), encoding) == log
