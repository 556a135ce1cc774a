"""Executions to files and back, by every format, and to columns and back."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import NO_REASON
from precedes.testing.random_executions import ROWS, SCENARIOS
from precedes.traces import Notices, TraceOptions, read_batches, write_executions
from precedes.traces.formats import registry
from tests.strategies.drawn import executions
from tests.traces.reading import batches, told
from tests.traces.test_assembling import same

FORMATS = ["t.jsonl", "t.ndjson.gz", "t.json.zst", "t.csv", "t.csv.gz", "t.parquet"]
ODD = ["E1", "a;b", "[x]", "1", " ", 'q"q', "é", "\n", ",", "{", "2026-01-01", "null"]


def in_order(execution: Execution) -> Execution:
    """The execution as columns give it back: entities in the order of their names."""
    return replace(execution, histories=tuple(sorted(execution.histories, key=lambda h: h.entity)))


def written_and_read(execution: Execution, name: str) -> list[Execution]:
    """The executions of a file that one execution was written to."""
    options = TraceOptions(
        delivery=execution.delivery,
        cluster=execution.entities,
        delta=execution.delta,
        epsilon=execution.epsilon,
        complete=execution.complete,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        count = write_executions([execution], path)
        assert count == sum(len(history.events) for history in execution.histories)
        assert [p.name for p in Path(folder).iterdir()] == [name]
        found = list(read_batches([path], options, Notices()))
    return [execution_of(batch, x) for batch in found for x in range(batch.executions)]


def renamed(execution: Execution, names: Mapping[str, str]) -> Execution:
    """The execution under other names."""

    def event(e: Event) -> Event:
        clock = None if e.clock is None else {names[k]: n for k, n in e.clock.items()}
        message = None if e.message is None else names[e.message]
        return replace(e, message=message, clock=clock, members=tuple(names[m] for m in e.members))

    def message(m: Message) -> Message:
        sender = None if m.sender is None else names[m.sender]
        to = None if m.destinations is None else frozenset(names[d] for d in m.destinations)
        return Message(names[m.name], sender, to)

    return replace(
        execution,
        histories=tuple(History(names[h.entity], tuple(map(event, h.events))) for h in execution.histories),
        messages={names[name]: message(m) for name, m in execution.messages.items()},
    )


def without_evidence(execution: Execution) -> Execution:
    """What its rows alone make."""
    histories = tuple(
        replace(
            history, events=tuple(replace(event, counted=False) for event in history.events), doubt=NO_REASON
        )
        for history in execution.histories
    )
    return replace(execution, histories=histories, by_clocks=False, doubt=NO_REASON)


@given(executions(ROWS), st.sampled_from(FORMATS), st.booleans())
@settings(max_examples=150, deadline=None)
def test_files(execution: Execution, name: str, odd: bool) -> None:
    if odd:
        names = [*execution.entities, *execution.messages]
        execution = renamed(execution, dict(zip(names, ODD + names, strict=False)))
    found = written_and_read(execution, name)
    has_rows = any(history.events for history in execution.histories)
    assert [without_evidence(one) for one in found] == ([in_order(execution)] if has_rows else [])


@given(st.lists(executions(SCENARIOS), max_size=3))
@settings(deadline=None)
def test_columns(given: list[Execution]) -> None:
    alike = [replace(e, delta=7, epsilon=1, complete=True, delivery=EventKind.DELIVER) for e in given]
    batch = batch_of(alike)
    assert [execution_of(batch, x) for x in range(batch.executions)] == [in_order(e) for e in alike]


@given(st.lists(executions(ROWS), max_size=4))
@settings(max_examples=60, deadline=None)
def test_columns_by_way_of_a_file(given: list[Execution]) -> None:
    alike = [
        replace(e, name=f"x{k}", delta=None, epsilon=0, complete=True, delivery=EventKind.DELIVER)
        for k, e in enumerate(given)
        if any(history.events for history in e.histories)
    ]
    alike = [
        replace(e, histories=tuple(replace(h, events=without_crashes(h.events)) for h in e.histories))
        for e in alike
    ]
    alike = [e for e in alike if not unnamed(e) and e.messages]
    with tempfile.TemporaryDirectory() as folder:
        write_executions(alike, Path(folder, "t.jsonl"))
        found = batches(Path(folder, "t.jsonl"))
    if alike:
        read = replace(found[0], by_clocks=False, clock_edges=None, history_doubt=None, order_doubt=None)
        same(read, replace(batch_of(alike), to_all=read.to_all))


def without_crashes(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Events whose rows cannot contradict each other."""
    return tuple(event for event in events if event.kind is not EventKind.CRASH)


def unnamed(execution: Execution) -> bool:
    """Whether an entity has no row and stands in no destination set."""
    addressed = {name for m in execution.messages.values() for name in (m.destinations or ())}
    return any(not h.events and h.entity not in addressed for h in execution.histories)


def test_a_restricted_execution_keeps_what_has_no_message() -> None:
    histories = (
        History(
            "E1",
            (
                Event(EventKind.SEND, "a"),
                Event(EventKind.CRASH),
                Event(EventKind.RECOVER),
                Event(EventKind.SEND, "b"),
            ),
        ),
        History("E2", (Event(EventKind.DELIVER, "b"), Event(EventKind.DELIVER, "a"))),
    )
    everyone = frozenset({"E1", "E2"})
    messages = {name: Message(name, "E1", everyone) for name in "ab"}
    batch = batch_of([Execution("x", histories, messages)])
    restricted = execution_of(batch, 0, {1})
    assert [[e.message for e in h.events] for h in restricted.histories] == [[None, None, "b"], ["b"]]
    assert restricted.messages == {"b": messages["b"]}


def test_what_a_batch_cannot_hold_is_refused() -> None:
    one = Execution("x", (), {})
    with pytest.raises(ValueError, match="different delta"):
        batch_of([one, replace(one, delta=1)])
    with pytest.raises(ValueError, match="not in the execution"):
        batch_of([Execution("x", (History("E", (Event(EventKind.SEND, "a"),)),), {})])


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    history = History("E", (Event(EventKind.DELIVER, "a"),), interleaved=False)
    with pytest.raises(ValueError, match="only SL and RL"):
        write_executions([Execution("x", (history,), {"a": Message("a", None, None)})], tmp_path / "t.jsonl")
    assert list(tmp_path.iterdir()) == []
    assert [p.code for p in told(lambda: write_executions([], tmp_path / "t.txt"))] == ["T002"]
    assert [p.code for p in told(lambda: write_executions([], tmp_path / "no" / "t.csv"))] == ["T003"]
    assert [p.code for p in told(lambda: write_executions([], "-"))] == ["T002"]


def test_a_format_that_is_only_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BY_SUFFIX, ".csv", replace(registry.CSV, writable=False))
    monkeypatch.setattr(registry, "FORMATS", (registry.JSON_LINES, replace(registry.CSV, writable=False)))
    (problem,) = told(lambda: write_executions([], tmp_path / "t.csv"))
    assert (problem.code, problem.message) == ("T002", "CSV can be read but not written")
    assert ".csv" not in str(problem.hint)
    assert ".jsonl" in str(problem.hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FORMATS)
def test_files_are_the_same_every_time(name: str, tmp_path: Path) -> None:
    execution = Execution("x", (History("E", (Event(EventKind.CRASH, time=-1),)),), {})
    write_executions([execution] * 2, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    write_executions([execution] * 2, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
