"""Simulated executions as a trace: the rows are the executions, whatever the engine, and `verify` goes over them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import History
from precedes.core.transposition import execution_of
from precedes.jobs.simulate import simulate
from precedes.protocol import Protocol, Reliable
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.catalog import Given, Named
from precedes.protocol.simulation import trace as tracing
from precedes.protocol.simulation.simulator import run
from precedes.protocol.simulation.trace import Simulation
from precedes.traces import Notices, TraceOptions, expand, read_batches
from precedes.traces.layout.columnar_file import layout_of
from precedes_models.cmd.protocol import Cmd
from tests.protocol.test_simulating import Keeps
from tests.protocol.toys import Broken, InTurn, Plain, Vanishing

FAULTY = Conditions(messages=9, loss=0.1, duplication=0.1, destinations=Destinations.ANY)
SPARK = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")])


def simulation(
    protocol: Protocol[Any], conditions: Conditions, executions: int, *more: Protocol[Any]
) -> Simulation:
    """Instances under the same conditions."""
    instances = (protocol, *more)
    return Simulation(Given(instances), (conditions,) * len(instances), 7, executions)


def uncounted(history: History) -> History:
    """The history without what its reader found out of its clocks."""
    return replace(history, events=tuple(replace(event, counted=False) for event in history.events))


@pytest.mark.parametrize(
    ("protocol", "conditions"),
    [
        (InTurn(), FAULTY),
        (Cmd(), Conditions(entities=12, messages=20, destinations=Destinations.UNICAST)),
        (Plain(), Conditions(entities=70, messages=5, destinations=Destinations.BROADCAST)),
        (Keeps(given=Reliable(loses=True)), replace(FAULTY, duplication=0.0, crash=0.5, recovery=0.5)),
    ],
    ids=["faults", "clocks and ten entities", "wide sets", "crashes and views"],
)
def test_a_trace_reads_back_as_the_executions(
    tmp_path: Path, protocol: Protocol[Any], conditions: Conditions
) -> None:
    path = tmp_path / "runs.parquet"
    done = simulate(simulation(protocol, conditions, 30), path)
    assert (done.written.executions, done.written.irregular) == (30, 0)
    names = ",".join(protocol.name_of(entity) for entity in range(conditions.entities))
    options = TraceOptions(cluster=tuple(names.split(",")))
    notices = Notices()
    read = [
        execution_of(batch, x)
        for batch in read_batches(expand([path], notices), options, notices)
        for x in range(batch.executions)
    ]
    assert not notices.all()
    assert [one.name for one in read] == [f"{number:09d}" for number in range(1, 31)]
    for number, one in enumerate(read, 1):
        expected = run(protocol, conditions, 7, number).execution
        # Whether a clock counts its event is found out by who reads the trace.
        assert {history.entity: uncounted(history) for history in one.histories} == {
            history.entity: history for history in expected.histories
        }
        assert one.messages == expected.messages


def test_a_trace_is_laid_out_in_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "ROW_GROUP", 300)
    monkeypatch.setattr(tracing, "_MESSAGES_PER_PIECE", 90)
    path = tmp_path / "runs.parquet"
    told: list[tuple[int, int]] = []
    done = simulate(simulation(InTurn(), FAULTY, 95), path, advance=lambda *counts: told.append(counts))
    (source,) = expand([path], Notices())
    layout = layout_of(source)
    assert layout is not None
    assert all(group.regular for group in layout.groups)
    assert len(layout.groups) == done.written.groups == len(told) == 5
    assert told[-1] == (95, done.written.rows)


@pytest.mark.parametrize("engine", ["processes", SPARK])
def test_the_bytes_do_not_depend_on_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(tracing, "_MESSAGES_PER_PIECE", 240)
    asked = Simulation(Named("cmd", parameters=(("queue", "yes"),)), (Conditions(),), 3, 100)
    assert len(asked.pieces()) == 5
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    monkeypatch.setattr(tracing, "_ALONE", 10)
    first = simulate(asked, here, engine="local")
    if engine == "processes":
        monkeypatch.setattr(tracing, "_ALONE", 0)
    second = simulate(asked, there, engine="spark" if engine == "spark" else "local")
    assert first == second
    assert here.read_bytes() == there.read_bytes()


def test_a_shorter_trace_is_the_beginning_of_a_longer_one(tmp_path: Path) -> None:
    """An execution depends on its number and not on how many there are."""
    short, long = tmp_path / "short.parquet", tmp_path / "long.parquet"
    simulate(simulation(InTurn(), FAULTY, 20), short)
    simulate(simulation(InTurn(), FAULTY, 40), long)
    import pyarrow.parquet as pq

    beginning = pq.read_table(short)
    assert pq.read_table(long).slice(0, len(beginning)).equals(beginning)


def test_instances_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    simulate(simulation(InTurn(), FAULTY, 10, InTurn(mistake="at once")), path)
    notices = Notices()
    batches = list(read_batches(expand([path], notices), TraceOptions(), notices))
    for x in range(10):
        protocol = InTurn(mistake="at once" if x % 2 else "")
        expected = run(protocol, FAULTY, 7, x + 1).execution
        assert {history for history in execution_of(batches[0], x).histories if history.events} == {
            history for history in expected.histories if history.events
        }


@pytest.mark.parametrize("alone", [10, 0])
def test_a_mistake_of_the_model_stops_everything_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: int
) -> None:
    monkeypatch.setattr(tracing, "_ALONE", alone)
    monkeypatch.setattr(tracing, "_MESSAGES_PER_PIECE", 30)
    path = tmp_path / "runs.parquet"
    with pytest.raises(PrecedesError, match="M005 broken: arrive"):
        simulate(simulation(Broken(), Conditions(), 8), path)
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_is_ended_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_ALONE", 0)
    monkeypatch.setattr(tracing, "_MESSAGES_PER_PIECE", 30)
    with pytest.raises(PrecedesError, match="M015 a process that simulated ended without an answer"):
        simulate(simulation(Vanishing(), Conditions(), 8), tmp_path / "runs.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_no_parquet_file_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(PrecedesError, match="T002"):
        simulate(simulation(Broken(), Conditions(), 8), tmp_path / "runs.jsonl")
    with pytest.raises(PrecedesError, match="T003"):
        simulate(simulation(Plain(), Conditions(), 8), tmp_path / "nowhere" / "runs.parquet")
