"""Figures 6 and 7 of 1994 out of the model, and whether a run reaches the states that they start from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from experiments.st_channel import Channel
from precedes.engines.reference.failure_line import failure_line
from precedes.engines.reference.recorded import record
from precedes.protocol import Here, Message
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.sorting import sorted_run
from precedes_models.st.state import Collecting, Letter, Pdu, RstPak, State, Vector
from tests.models.st.scenarios import received, received_in, scenario

E1, E2, E3 = 0, 1, 2
PLAIN = SelectiveTotalOrder(confirms=False)
FIGURE_6 = {
    "a1": "a",
    "a2": "b",
    "a3": "c",
    "b1": "p",
    "b2": "q",
    "c1": "x",
    "c2": "y",
    "c3": "z",
    "c4": "w",
    "b3": "r",
    "b4": "t",
}
"""Names of the figure by names of the model."""


def example_2(protocol: SelectiveTotalOrder, *, more_of_e3: bool = False, more_of_e2: int = 0) -> Channel:
    """Example 2 up to where E3 receives q: on the channel of Figure 2, E3 misses c and finds it out by q.

    E2 sends p before it has received c: otherwise p itself would have told E3. `more_of_e3`: w, before q; `more_of_e2`:
    PDUs to itself, after q.
    """
    channel = Channel(protocol, 3)
    channel.send(E1, E2, E3)
    channel.send(E3, E1, E2, E3)
    channel.send(E1, E2)
    channel.read_all()
    channel.send(E1, E1, E3)
    channel.send(E2, E1)
    channel.send(E3, E2)
    channel.send(E3, E1, E3)
    if more_of_e3:
        channel.send(E3, E1, E3)
    channel.read_all(E1, E2)
    channel.read(E3, lost=True)
    channel.read_all(E3)
    assert not any(state.alarm for state in channel.states)
    channel.send(E2, E2, E3)
    for _ in range(more_of_e2):
        channel.send(E2, E2)
    for entity in (E1, E2, E3):
        channel.read(entity)
    for _ in range(more_of_e2):
        channel.read(E2)
    return channel


def lines(channel: Channel) -> list[str]:
    """RL of each entity with its failure point, when it has been agreed on."""
    marked = [""] * 3
    while any(channel.inboxes):
        for entity in (E1, E2, E3):
            if not channel.inboxes[entity]:
                continue
            before = channel.states[entity]
            channel.read(entity)
            after = channel.states[entity]
            if isinstance(before.recovery, Collecting) and not isinstance(after.recovery, Collecting):
                names = [FIGURE_6[pdu.message.name] for pdu in before.received if pdu.message is not None]
                marked[entity] = " ".join([*names[: len(after.arl)], "||", *names[len(after.arl) :]])
    return marked


def test_figure_6_is_reached_and_e3_finds_it_out_by_q() -> None:
    channel = example_2(PLAIN)
    assert [state.alarm for state in channel.states] == [False, False, True]
    assert lines(channel) == ["x || c p z", "a x b y || q", "a x || z q"]


def test_after_figure_6_all_have_everything_in_one_order() -> None:
    channel = example_2(PLAIN)
    channel.settle()
    named = [[FIGURE_6[name] for name in channel.log(entity)] for entity in (E1, E2, E3)]
    assert [sorted(log) for log in named] == [list("cpxz"), list("abqxy"), list("acqxz")]
    for one in named:
        for other in named:
            shared = [name for name in one if name in other]
            assert shared == [name for name in other if name in one]


def test_the_letter_of_step_3_does_not_come_to_figure_6() -> None:
    """E3, which has missed c, finds all that it has in front of its failure point."""
    assert lines(example_2(replace(PLAIN, letters=frozenset({Letter.FAILURE_POINT})))) == [
        "x c p || z",
        "a x b || y q",
        "a x z q ||",
    ]


def open_line(protocol: SelectiveTotalOrder) -> Channel:
    """E3 misses a1, and finds it out when all have read what there is."""
    channel = Channel(protocol, 3)
    channel.send(E1, E1, E3)
    channel.read(E3, lost=True)
    channel.read_all()
    for sender, *destinations in ((E2, E1, E2), (E3, E1, E3), (E3, E3), (E1, E1, E2)):
        channel.send(sender, *destinations)
    for entity in (E1, E2, E3):
        for _ in range(4):
            channel.read(entity)
    return channel


def named(channel: Channel) -> dict[str, list[str]]:
    """RL of each entity by the names of the figure."""
    return {f"E{k + 1}": [FIGURE_6[name] for name in channel.log(k)] for k in (E1, E2, E3)}


@pytest.mark.parametrize(
    ("name", "w", "more"), [("st_line_stuck", True, 0), ("st_line_late", False, 2)], ids=lambda v: str(v)
)
def test_the_logs_that_the_steps_of_section_4_1_are_judged_on(name: str, w: bool, more: int) -> None:
    assert named(example_2(PLAIN, more_of_e3=w, more_of_e2=more)) == received_in(name)


def test_the_line_is_closed_where_the_steps_of_section_4_1_leave_it_open() -> None:
    """Scenario `st_line`: what E1 has behind, E2 has behind, too."""
    channel = open_line(PLAIN)
    assert received(channel) == received_in("st_line")
    channel.settle()
    logs = [channel.log(entity) for entity in (E1, E2, E3)]
    assert [name for name in logs[E1] if name in logs[E2]] == logs[E2]
    assert logs[E2] != ["b1", "a2"]


@dataclass(frozen=True)
class GivenLine(SelectiveTotalOrder):
    """Cuts where it is told: so many PDUs of RL are in front."""

    fronts: tuple[int, ...] = ()

    def front(self, here: Here, state: State, paks: tuple[RstPak, ...]) -> int | None:
        return self.fronts[here.entity]


def test_cut_by_the_steps_of_section_4_1_two_logs_differ() -> None:
    marks = failure_line(record(scenario("st_line")))
    channel = open_line(GivenLine(confirms=False, fronts=tuple(marks[f"E{k + 1}"] for k in (E1, E2, E3))))
    channel.settle()
    assert received(channel) == received_in("st_line_sorted")


@dataclass(frozen=True)
class Appends(SelectiveTotalOrder):
    """Leaves what comes again at the end of RL."""

    def sorted(self, here: Here, run: list[Pdu], rank: Vector) -> tuple[Pdu, ...]:
        return tuple(run)


def test_what_comes_again_goes_to_the_end_where_nothing_is_sorted() -> None:
    channel = example_2(Appends(confirms=False))
    channel.settle()
    assert named(channel) == received_in("st_appended")


def pdu(name: str, source: int, number: int, entity: int) -> Pdu:
    """A PDU of Figure 7 as an entity has it: of its numbers only PSEQ of that entity matters."""
    pseq = tuple(number if k == entity else 0 for k in range(3))
    return Pdu(
        source, ord(name), pseq, (), frozenset({entity}), Message(source, ord(name), frozenset({entity}))
    )


FIGURE_7 = (
    (E1, [("b", E1, 4), ("x", E3, 5), ("a", E1, 3), ("q", E2, 6)], "qabx"),
    (E2, [("a", E1, 5), ("q", E2, 4), ("b", E1, 6)], "qab"),
    (E3, [("y", E3, 8), ("x", E3, 7), ("c", E1, 5), ("p", E2, 2)], "pcxy"),
)


@pytest.mark.parametrize(("entity", "unsorted", "expected"), FIGURE_7)
def test_figure_7_sorted(entity: int, unsorted: list[tuple[str, int, int]], expected: str) -> None:
    """Example 3: the RST_PAK came from E2, then E1, then E3."""
    run = sorted_run((pdu(*each, entity) for each in unsorted), (E2, E1, E3), entity)
    assert "".join(chr(one.tseq) for one in run) == expected


@pytest.mark.parametrize(
    ("entity", "unsorted", "ascending"), [(*each[:2], each[0] == E2) for each in FIGURE_7]
)
def test_figure_7_unsorted_is_not_reached_at_e1_and_e3(
    entity: int, unsorted: list[tuple[str, int, int]], ascending: bool
) -> None:
    """The invariant "accepted: PREQ", which holds in every state that is reached, repaired: from each source the PSEQ
    ascend by one."""
    by_source = {s: [number for _, source, number in unsorted if source == s] for s in (E1, E2, E3)}
    assert all(numbers == sorted(numbers) for numbers in by_source.values()) is ascending


def test_retransmission_2_to_the_letter_takes_a_later_pdu_first() -> None:
    """As b4 before a3 at E1 and y8 before x7 at E3. E2 misses a1, a2, a3, then the a2 that is sent again, and asks for
    it: no sequence is asked for. It never takes a1, so that nothing is sorted."""
    letters = frozenset({Letter.RECEIVING})
    for protocol, expected in (
        (replace(PLAIN, letters=letters), ["a3", "a4", "a2"]),
        (PLAIN, ["a1", "a2", "a3", "a4"]),
    ):
        lost = {("a1", False), ("a2", False), ("a3", False), ("a2", True)}

        def loses(receiver: int, packet: object, lost: set[tuple[str, bool]] = lost) -> bool:
            if receiver != E2 or not isinstance(packet, Pdu) or packet.message is None:
                return False
            now = (packet.message.name, packet.again)
            missed = now in lost
            lost.discard(now)
            return missed

        channel = Channel(protocol, 2)
        for _ in range(4):
            channel.send(E1, E2)
        channel.settle(loses)
        assert not lost
        assert [each.message.name for each in channel.states[E2].received if each.message] == expected
