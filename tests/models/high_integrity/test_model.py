"""The handlers, one behavior at a time: packets, hashes, majorities, several messages, groups that shrink."""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pytest

import precedes
from precedes.protocol import Choose, Deliver, Here, Message, Step, Transmit, View
from precedes_models.high_integrity.neighbors import (
    Fixed,
    NearFar,
    Neighbourhood,
    Ring,
    Uniform,
    choices,
)
from precedes_models.high_integrity.numbers import expected_packets, packets
from precedes_models.high_integrity.protocol import HighIntegrity
from precedes_models.high_integrity.state import (
    Answer,
    Data,
    Part,
    Query,
    Request,
    State,
    digest_of,
    flipped,
    part_of,
    payload,
    stale,
)


class Group:
    """A group whose packets arrive in the order in which they were sent."""

    def __init__(self, protocol: HighIntegrity, size: int, dead: frozenset[int] = frozenset()) -> None:
        self.protocol, self.size, self.dead = protocol, size, dead
        self.states: list[State] = [protocol.start(Here(node, size)) for node in range(size)]
        self.flying: deque[tuple[int, int, object]] = deque()
        self.counts: Counter[str] = Counter()
        self.log: list[tuple[int, object]] = []

    def take(self, node: int, outcome: object) -> None:
        step = outcome.options[0][1] if isinstance(outcome, Choose) else outcome
        assert isinstance(step, Step)
        self.states[node] = step.state
        for action in step.actions:
            if isinstance(action, Transmit):
                self.counts[type(action.packet).__name__] += 1
                self.flying.extend((node, to, action.packet) for to in sorted(action.to or ()))
            else:
                self.log.append((node, action))

    def multicast(self, number: int = 1, sender: int = 0) -> None:
        message = Message(sender, number, frozenset(range(self.size)))
        outcome = self.protocol.send(Here(sender, self.size), self.states[sender], message)
        assert outcome is not None
        self.take(sender, outcome)
        self.settle()

    def settle(self) -> None:
        while True:
            while self.flying:
                sender, to, packet = self.flying.popleft()
                if to not in self.dead:
                    self.take(to, self.protocol.arrive(Here(to, self.size), self.states[to], packet, sender))
            running = [
                (timer.patience, node, timer)
                for node in range(self.size)
                if node not in self.dead
                for timer in self.protocol.timers(Here(node, self.size), self.states[node])
            ]
            if not running:
                return
            _, node, timer = min(running, key=lambda one: one[:2])
            self.take(node, self.protocol.expire(Here(node, self.size), self.states[node], timer))


@pytest.mark.parametrize("nodes", [2, 3, 5, 50])
@pytest.mark.parametrize("adj", [Ring(), Uniform()])
@pytest.mark.parametrize("as_written", [True, False])
def test_a_round_without_faults_takes_2n_plus_1_packets(
    nodes: int, adj: Neighbourhood, as_written: bool
) -> None:
    """Section 3.4.1."""
    group = Group(HighIntegrity(as_written=as_written, adj=adj), nodes)
    group.multicast()
    assert group.counts == {"Data": 1, "Query": nodes, "Answer": nodes}
    assert group.counts.total() == packets(nodes)
    assert [node for node, action in group.log if isinstance(action, Deliver)] == list(range(nodes))


@pytest.mark.parametrize("adj", [Uniform(itself=True), Uniform(), NearFar(), Ring(2)], ids=str)
def test_the_packets_of_every_draw_are_what_is_expected(adj: Neighbourhood) -> None:
    """Sections 3.4.2 to 3.4.4, with three nodes."""
    expected = Fraction(0)
    for draw in product(*(choices(adj, node, range(3)) for node in range(3))):
        group = Group(HighIntegrity(adj=Fixed(tuple(chosen for _, chosen in draw))), 3)
        group.multicast()
        expected += prod(probability for probability, _ in draw) * group.counts.total()
    assert expected == expected_packets(adj, 3)


def test_a_node_that_has_left_without_a_word_is_found_by_the_next_message() -> None:
    """Section 3.4, unintended disjoin: as long as nothing is sent, nobody asks and nobody learns of it."""
    group = Group(HighIntegrity(), 4)
    group.multicast()
    group.dead = frozenset({2})
    group.settle()
    assert part_of(group.states[0], 0).reports == frozenset()
    group.multicast(2)
    assert part_of(group.states[0], 0).removed == {2}
    drawn = Group(
        HighIntegrity(adj=Fixed((frozenset({1}), frozenset({3}), frozenset({0}), frozenset({1})))), 4
    )
    drawn.dead = frozenset({2})
    drawn.multicast()
    assert part_of(drawn.states[0], 0).reports == frozenset()


def test_a_dead_node_is_removed_and_the_next_message_goes_round_it() -> None:
    group = Group(HighIntegrity(), 4, dead=frozenset({2}))
    group.multicast()
    assert (0, View(frozenset({0, 1, 3}))) in group.log
    group.counts.clear()
    group.multicast(2)
    assert group.counts == {"Data": 1, "Query": 3, "Answer": 3}
    assert part_of(group.states[1], 0).neighbours == {3}


def test_a_run_of_dead_nodes_goes_one_a_message() -> None:
    """Of the ring's run only the first is named; three messages until all of three have gone."""
    group = Group(HighIntegrity(), 6, dead=frozenset({2, 3, 4}))
    for number, gone in ((1, {2}), (2, {2, 3}), (3, {2, 3, 4})):
        group.multicast(number)
        assert part_of(group.states[0], 0).removed == gone


def test_every_node_may_be_the_origin() -> None:
    group = Group(HighIntegrity(), 3)
    for sender in range(3):
        group.multicast(sender=sender)
    assert [part.origin for part in group.states[1]] == [0, 1, 2]
    assert sum(isinstance(action, Deliver) for _, action in group.log) == 9


def test_one_message_at_a_time() -> None:
    protocol, here = HighIntegrity(), Here(0, 3)
    first, second = (Message(0, number, frozenset(range(3))) for number in (1, 2))
    begun = protocol.send(here, (), first)
    assert isinstance(begun, Step)
    assert protocol.send(here, begun.state, second) is None


def test_a_query_that_comes_first_is_answered_when_the_data_has_come() -> None:
    protocol, here = HighIntegrity(), Here(1, 3)
    message = Message(0, 1, frozenset(range(3)))
    asked = protocol.arrive(here, (), Query(message, 0), 0)
    assert isinstance(asked, Step)
    assert not asked.actions
    arrived = protocol.arrive(here, asked.state, Data(message, 0, (0, 1, 2), payload(message)), 0)
    assert isinstance(arrived, Step)
    answer = Answer(message, 0, digest_of(payload(message), "sha256"))
    assert Transmit(answer, frozenset({0})) in arrived.actions
    assert part_of(arrived.state, 0).asked == frozenset()


def test_late_packets_change_nothing() -> None:
    group = Group(HighIntegrity(), 3)
    group.multicast()
    group.multicast(2)
    message = Message(0, 1, frozenset(range(3)))
    for packet in (
        Data(message, 0, (0, 1, 2), payload(message)),
        Query(message, 0),
        Answer(message, 0, b""),
        Request(message, 0, (2,)),
    ):
        for node in range(3):
            outcome = group.protocol.arrive(Here(node, 3), group.states[node], packet, 1)
            assert isinstance(outcome, Step)
            assert outcome.state == group.states[node]


def test_a_request_names_the_lowest_numbers_it_has_room_for() -> None:
    """Step 5."""
    group = Group(HighIntegrity(adj=Ring(3), room=2), 6, dead=frozenset({2, 3, 4}))
    group.multicast()
    reports = part_of(group.states[0], 0).reports
    assert (2, 3) in {report.failed for report in reports if report.reporter == 1}


@pytest.mark.parametrize("name", ["sha256", "sha1", "md5"])
def test_hashes_are_of_the_bytes(name: str) -> None:
    message = Message(0, 7, frozenset({0, 1}))
    good = payload(message)
    wrong = {flipped(good, bit) for bit in range(8 * len(good))} | {stale(message)}
    # The clearance before number 7 is number 6, which is one flipped bit.
    assert len(wrong) == 8 * len(good)
    assert len({digest_of(data, name) for data in {good, *wrong}}) == len(wrong) + 1


def test_a_damaged_copy_is_another_copy() -> None:
    message = Message(0, 1, frozenset({0, 1}))
    data = Data(message, 0, (0, 1), payload(message))
    variants = HighIntegrity().corrupted(data)
    assert len({data, *variants}) == 4
    assert all(replace(one, payload=data.payload) == data for one in variants if isinstance(one, Data))
    assert HighIntegrity().corrupted(Query(message, 0)) == ()


def test_reports_of_two_in_one_round_count_twice_to_the_letter() -> None:
    """Step 7 counts reports; the repaired step 7 counts rounds."""
    group = Group(HighIntegrity(adj=Ring(2)), 5, dead=frozenset({3}))
    group.multicast()
    part = part_of(group.states[0], 0)
    assert part.times_reported(3) == 4
    assert part.rounds_reported(3) == 2


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="maxfail"):
        HighIntegrity(maxfail=0)
    with pytest.raises(ValueError, match="room"):
        HighIntegrity(room=0)
    with pytest.raises(ValueError, match="md6"):
        HighIntegrity(digest="md6")
    assert HighIntegrity(adj="ring:2") == HighIntegrity(adj=Ring(2))
    assert {type(one) for one in HighIntegrity.instances(as_written=True)} == {HighIntegrity}
    assert Part(0).confirmed == frozenset()


# ---- recorded states ----


@pytest.mark.parametrize(("asked", "conforming"), [([0], 1), ([1], 0)])
def test_what_a_program_keeps_of_an_origin_is_compared_by_its_name(
    asked: list[int], conforming: int, tmp_path: Path
) -> None:
    """In the ring of three, node 2 asks node 0."""
    told = {"E1": [1], "E2": [2], "E3": asked}
    rows: list[dict[str, object]] = [{"entity": "E1", "event": "send", "message": "a1", "dest": [*told]}]
    for entity, waiting in told.items():
        kept = {"round": 0, "waiting": json.dumps(waiting)}
        rows.append({"entity": entity, "event": "deliver", "message": "a1", **kept})
    trace = tmp_path / "trace.jsonl"
    trace.write_text(
        "".join(json.dumps({"execution": 1, "seq": k, **row}) + "\n" for k, row in enumerate(rows))
    )
    report = precedes.conform(
        "high-integrity",
        trace,
        parameters={"adj": "ring"},
        state={"E1.round": "round", "E1.waiting": "waiting"},
        timeouts=0,
    )
    assert (report.conforming, report.deviating) == (conforming, 1 - conforming)


def test_a_field_of_no_origin_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text("")
    with pytest.raises(precedes.PrecedesError, match=r"no field round\n    it has E1, E2, .*, E20, \.\.\."):
        precedes.conform("high-integrity", tmp_path / "trace.jsonl", state={"round": "round"})
