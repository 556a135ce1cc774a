"""What a run in processes is made of, without processes; one small run with them; and, slow, every model."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw

import precedes
from precedes.core import isolation
from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.jobs.run import tick_of
from precedes.protocol import Conditions, Message, Protocol, Step, Transmit
from precedes.protocol.catalog import Given, installed, models
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.processes import wire
from precedes.protocol.processes.cluster import Cluster
from precedes.protocol.processes.links import AGAIN, Links
from precedes.protocol.processes.member import Member, Process
from precedes.protocol.processes.recording import Files, Record, Rows
from precedes.protocol.processes.wire import Datagram, Letter
from precedes.protocol.processes.workload import Workload
from precedes.protocol.running.chance import Chance
from precedes.protocol.running.encoding import Encoding, Unreadable
from precedes.protocol.running.medium import Medium, Place
from precedes.protocol.running.move_log import Handler, LoggedMove
from precedes.protocol.simulation.simulator import Simulator, usual
from tests.protocol.posts import Breaks, Channel, Color, Faulty, Pair, Parcel, Post, Remembers

# ---- encoding ---------------------------------------------------------------------------------------------------


class Outsider:
    """No value."""


PARCEL = Parcel(
    Message(0, 2, frozenset({1, 2})),
    Color.BLUE,
    Pair(-1, "ä"),
    frozenset({(1, 2), (3, 4)}),
    b"\0\xff",
    0.1,
    True,
)


@pytest.mark.parametrize(
    "value", [None, True, 1, -(2**62), 0.1, "x", b"", (), (1, (2,)), frozenset({(1,)}), PARCEL]
)
def test_a_value_is_what_it_was_with_its_types(value: object) -> None:
    encoding = Encoding(Post())
    found = encoding.decode(encoding.encode(value))
    assert found == value
    assert repr(found) == repr(value) or isinstance(value, frozenset | Parcel)
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"a": 1}',
        b"[1, 2]",
        b'["nothing"]',
        b'["Outsider"]',
        b'["os.system", "true"]',
        b'["Protocol"]',
        b'["Post"]',
        b'["Color", "GREEN"]',
        b'["Pair", 1]',
        b'["Parcel", 1]',
        b'["b", "not base 64"]',
        b"[" * 5000,
    ],
)
def test_text_that_no_value_has_makes_nothing(text: bytes) -> None:
    with pytest.raises(Unreadable):
        Encoding(Post()).decode(text)


def test_what_is_no_value_of_the_model_is_told_where_it_is_sent() -> None:
    with pytest.raises(PrecedesError, match=r"M018 post: .*Outsider.* cannot be sent"):
        Encoding(Post()).encode((1, Outsider()))


@pytest.mark.parametrize("name", installed())
def test_packets_and_states_of_every_model_can_be_said(name: str) -> None:
    protocol = models(name)[0]
    encoding = Encoding(protocol)
    said = 0

    def observe(_at: Any, _before: Any, _cause: Any, step: Step[Any], _now: int) -> None:
        nonlocal said
        packets = [action.packet for action in step.actions if isinstance(action, Transmit)]
        for value in (step.state, *packets):
            assert encoding.decode(encoding.encode(value)) == value
            said += 1

    conditions = replace(usual(protocol), messages=3)
    Simulator(protocol, conditions, observe=observe).run(1, 1)
    assert said > 3


# ---- links ------------------------------------------------------------------------------------------------------


class Wires:
    """Two ends of a link, over a network that loses, duplicates and reorders."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.flying: list[Callable[[], None]] = []
        self.taken: list[int] = []
        self.ends = [Links(self._put(0), self._take), Links(self._put(1), self._take)]

    def _put(self, source: int) -> Callable[[int, int, Letter | None], None]:
        def put(to: int, number: int, letter: Letter | None) -> None:
            for _ in range(self.random.choice((0, 1, 1, 2))):
                self.flying.append(lambda: self.ends[to].came(source, number, letter))

        return put

    def _take(self, letter: Letter) -> None:
        self.taken.append(letter.sent)

    def settle(self) -> None:
        """Until nothing is in flight and nothing waits."""
        now = 0.0
        for _ in range(200):
            self.random.shuffle(self.flying)
            flying, self.flying = self.flying, []
            for arrive in flying:
                arrive()
            now += 2 * AGAIN
            for end in self.ends:
                end.keep(now)


@pytest.mark.parametrize("seed", range(5))
def test_a_link_loses_nothing_and_keeps_the_order(seed: int) -> None:
    wires = Wires(seed)
    for number in range(50):
        wires.ends[0].hand(1, Letter(0, number, (wire.Parcel(Raw(b"1")),)), 0.0)
    wires.settle()
    assert wires.taken == list(range(50))
    assert (wires.ends[0].sent, wires.ends[1].taken) == (50, 50)
    assert wires.ends[0].resent > 0


def test_what_a_killed_process_had_not_taken_is_given_up() -> None:
    links = Links(lambda *_: None, lambda _: None)
    for number in range(5):
        links.hand(1, Letter(0, number, ()), 0.0)
    links.hand(2, Letter(0, 9, ()), 0.0)
    assert (links.give_up(1, 3), links.sent, links.has_handed_over) == (2, 4, False)
    links.came(2, 1, None)
    assert (links.give_up(3, 0), links.has_handed_over) == (0, True)


def test_what_others_send_to_a_process_is_left_alone() -> None:
    came: list[Any] = []
    workload = Workload(Given((Post(),)), (Conditions(),), 1, 1, 1000)
    member = Member(Process(workload, 0, "post, E1", 0, "token", ""), isolation.Channel())
    member._lanes[1] = SimpleNamespace(came=lambda *datagram: came.append(datagram))
    strangers = (Datagram("other", 1, 0, 0), Datagram("token", 2, 0, 0))
    for data in (b"", b"{}", b'["token",1]', *map(wire.encode, strangers)):
        member.datagram_received(data, None)
    assert came == []
    member.datagram_received(wire.encode(Datagram("token", 1, 2, 7)), None)
    assert came == [(2, 7, None)]


# ---- records ----


def record_of(folder: Path, protocol: Protocol[Any]) -> Record:
    """The record of the first entity."""
    setting = Simulator(protocol, Conditions()).setting
    return Record(Files(str(folder), 1, 0), 7, Rows(setting, 0), Encoding(protocol))


def events(folder: Path) -> list[tuple[int, str, str | None]]:
    """What stands in its file."""
    rows = map(json.loads, (folder / "1-0.jsonl").read_text().splitlines())
    return [(row["seq"], row["event"], row.get("message")) for row in rows]


A1, B1, C1 = (Entry(EventKind.DELIVER, Message(sender, 1, frozenset({0})), 5) for sender in range(3))
SENT = Entry(EventKind.SEND, Message(0, 1, frozenset({1})), 3)


def test_a_row_is_in_the_file_at_once_and_who_takes_over_goes_on_behind_it(tmp_path: Path) -> None:
    first = record_of(tmp_path, Remembers())
    first.log([SENT])
    first.remember(41)
    first.log([SENT, B1])
    first.remember(42)
    first.moved(LoggedMove(3, Handler.CRASH, None))
    assert events(tmp_path) == [(0, "send", "a1"), (1, "deliver", "b1")]
    first.close()
    second = record_of(tmp_path, Remembers())
    assert (second.accepted(), second.left()) == (1, 42)
    second.log([C1])
    second.close()
    assert events(tmp_path)[2:] == [(2, "deliver", "c1")]
    rows, moves = Files(str(tmp_path), 1, 0).taken()
    assert (rows.count(b"\n"), moves.count(b"crash")) == (3, 1)
    assert list(tmp_path.iterdir()) == []


def test_what_a_protocol_puts_in_another_order_is_written_anew(tmp_path: Path) -> None:
    record = record_of(tmp_path, models("st")[0])
    record.log([A1, B1])
    record.log([A1, C1, B1])
    assert events(tmp_path) == [(0, "deliver", "a1"), (1, "deliver", "c1"), (2, "deliver", "b1")]


# ---- faults -----------------------------------------------------------------------------------------------------


def carried(
    protocol: Protocol[Any], conditions: Conditions
) -> tuple[dict[str, float], list[tuple[Place, int, Any]]]:
    """What becomes of 2,000 packets to three entities."""
    found: list[tuple[Place, int, Any]] = []
    counters = dict.fromkeys(("packets", "lost", "corrupted", "duplicated"), 0.0)
    setting = Simulator(protocol, conditions).setting
    medium = Medium(
        setting,
        Chance(1, 1, "network"),
        counters,
        lambda place, _, to, packet: found.append((place, to, packet)),
    )
    for number in range(2000):
        medium.transmit(0, number, (0, 1, 2), number * 100)
    return counters, found


def test_faults_come_at_their_rates_and_are_counted() -> None:
    rates = Conditions(loss=0.1, duplication=0.2, corruption=0.05)
    counters, found = carried(Faulty(), rates)
    assert counters["packets"] == 6000
    assert counters["lost"] == pytest.approx(600, rel=0.15)
    assert counters["duplicated"] == pytest.approx(0.2 * 5400, rel=0.15)
    assert len(found) == 6000 - counters["lost"] + counters["duplicated"]
    assert any(isinstance(packet, tuple) for _, _, packet in found)


def test_without_order_packets_overtake_and_on_the_channel_none_does() -> None:
    for protocol, ordered in ((Post(), False), (Channel(), True)):
        _, found = carried(protocol, Conditions(loss=0.1 if ordered else 0.0))
        for receiver in range(3):
            log = [(place, packet) for place, to, packet in found if to == receiver]
            assert (sorted(log) == log) is ordered
    assert {to for _, to, _ in found} == {0, 1, 2}


# ---- runs -------------------------------------------------------------------------------------------------------


def test_a_small_run_is_recorded_verified_and_compared(tmp_path: Path) -> None:
    trace = tmp_path / "run.jsonl"
    report = precedes.run("cmd", trace, executions=1, entities=2, messages=3)
    assert report.verdict is precedes.Verdict.HOLDS
    assert report.verification is not None
    assert (report.verification["causal_order"].holds, report.conformance.conforming) == (1, 1)
    assert (report.executions, report.events, report.counters["packets"]) == (1, 6, 3)
    (execution,) = precedes.read(trace)
    assert sum(len(execution.delivered(entity)) for entity in execution.entities) == 3
    assert "1 execution in 2 processes, 6 rows, seed 1" in report.text()


def test_a_name_that_is_no_trace_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(PrecedesError, match="T002"):
        precedes.run("cmd", tmp_path / "run.txt")
    with pytest.raises(PrecedesError, match="T003"):
        precedes.run("cmd", tmp_path / "none/run.jsonl")


def test_a_class_that_no_other_process_can_load_is_refused() -> None:
    class Inner(Post):
        """It stands in a function."""

    with pytest.raises(PrecedesError, match="U001 another process cannot load Inner"):
        precedes.run(Inner())


def test_a_tick_fits_the_network_unless_it_is_said() -> None:
    assert tick_of(None, models("cmd")[0]) == 1000
    assert tick_of(None, models("delta-causal")[0]) == 10_000_000
    assert tick_of("2ms", models("cmd")[0]) == 2_000_000


@pytest.mark.slow
def test_a_mistake_in_a_process_is_told_without_a_traceback(tmp_path: Path) -> None:
    workload = Workload(Given((Breaks(),)), (Conditions(entities=2),), 1, 3, 1000)
    cluster = Cluster(workload, str(tmp_path), lambda *_: None, 30.0)
    with pytest.raises(PrecedesError, match=r"M005 breaks: arrive of E\d raised ValueError: two is too much"):
        cluster.run(lambda: None)
    rows = [json.loads(row) for path in tmp_path.glob("*.jsonl") for row in path.read_text().splitlines()]
    assert any(row["event"] == "send" for row in rows)


@pytest.mark.slow
def test_whoever_interrupts_leaves_no_process(tmp_path: Path) -> None:
    workload = Workload(Given((Post(),)), (Conditions(entities=2, messages=200),), 1, 50, 1000)
    cluster = Cluster(workload, str(tmp_path), lambda *_: None, 30.0)
    asked: Iterator[int] = iter(range(10))

    def alive() -> None:
        if next(asked, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster.run(alive)
    # Every process says that it is there before it does anything; none of their sockets answers any more.
    again = precedes.run(Post(), executions=1, entities=2, messages=2)
    assert again.conformance.conforming == 1


@pytest.mark.slow
def test_a_machine_that_is_always_late_is_told(tmp_path: Path) -> None:
    protocol = models("delta-causal")[0]
    conditions = replace(usual(protocol), messages=6)
    workload = Workload(Given((protocol,)), (conditions,), 1, 1, 10_000)
    with pytest.raises(PrecedesError, match="M019 delta-causal: execution 1"):
        Cluster(workload, str(tmp_path), lambda *_: None, 30.0).run(lambda: None)


LOSSES: dict[str, dict[str, float]] = {
    "st": {"loss": 0.05},
    "to": {"loss": 0.05},
    "dynamic-cluster": {"loss": 0.05},
    "high-integrity": {"loss": 0.05, "duplication": 0.05, "corruption": 0.05},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", installed())
def test_every_model_runs_and_what_it_records_is_a_behavior_of_it(name: str) -> None:
    report = precedes.run(name, executions=30, at_once=5, messages=3, **LOSSES.get(name, {}))
    assert report.verification is not None
    assert report.verification.verdict is precedes.Verdict.HOLDS, report.text()
    assert report.conformance.conforming == 30, report.text()


@pytest.mark.slow
def test_processes_are_killed_and_what_stood_on_the_disk_is_taken_over(tmp_path: Path) -> None:
    trace = tmp_path / "run.jsonl"
    # With a longer tick there are requests left when an entity starts again.
    faults = {"crash": 0.5, "recovery": 1.0}
    report = precedes.run(
        Remembers(), trace, executions=10, at_once=2, tick="50us", messages=20, destinations="any", **faults
    )
    counters = report.counters
    assert report.ran.totals.killed == counters["crashes"] == counters["recoveries"] > 5
    assert "processes killed" in report.text()
    assert report.verdict is precedes.Verdict.HOLDS, report.text()
    later = 0
    for execution in precedes.read(trace):
        for history in execution.histories:
            counts = [sum(event.clock.values()) for event in history.events if event.clock]
            assert counts == list(range(1, len(counts) + 1))
            kinds = [event.kind for event in history.events]
            back = kinds.index(EventKind.RECOVER) if EventKind.RECOVER in kinds else len(kinds)
            later += EventKind.DELIVER in kinds[:back] and EventKind.DELIVER in kinds[back:]
    assert later > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "require"), [("cmd", "causal_order"), ("dynamic-cluster", "order_equivalent")]
)
def test_entities_that_stop_and_start_again_do_what_the_model_does(name: str, require: str) -> None:
    report = precedes.run(
        name, require=require, executions=30, at_once=5, messages=4, crash=0.3, recovery=0.7
    )
    assert report.verification is not None
    assert report.verification.verdict is precedes.Verdict.HOLDS, report.text()
    assert report.counters["crashes"] > 10
    assert (report.counters["recoveries"] > 5) is (name == "dynamic-cluster")
    assert report.conformance.conforming == 30, report.text()


@pytest.mark.slow
def test_the_form_as_written_shows_its_faults() -> None:
    report = precedes.run("cmd", require="validity", as_written=True, executions=40, at_once=8)
    assert report.verdict is precedes.Verdict.VIOLATED
    assert report.conformance.deviating == 0
