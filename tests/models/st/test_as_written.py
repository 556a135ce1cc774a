"""The paper of 1994 as written: what each step breaks, and that this is gone where the step is repaired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from experiments.st_channel import Channel
from precedes.core.outcome import Limits, Outcome
from precedes.core.verdict import Verdict
from precedes.engines.reference.failure_line import Stuck, as_written, failure_line
from precedes.engines.reference.recorded import record
from precedes.jobs.check import check
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import Here
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import DEADLOCK, Exploration
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.state import Letter, State
from tests.models.st.exploring import bounds, explored
from tests.models.st.scenarios import SCENARIOS, logs, received, received_in, scenario
from tests.sampling import one_in

PLAIN = SelectiveTotalOrder(confirms=False, repeats=2)
LACKING, ORDER = "selectively_information_preserving", "order_equivalent"

FOUND: tuple[tuple[Letter, str, int, str, int], ...] = (
    (Letter.FAILURE_POINT, "a{1,2} b{1,2}", 1, ORDER, 25),
    (Letter.RENUMBERING, "a{2}", 1, LACKING, 25),
    (Letter.RESENDING, "a{2}", 1, LACKING, 29),
    (Letter.RECEIVING, "a{2}", 1, LACKING, 35),
    (Letter.CONTROL, "a{2}", 2, LACKING, 11),
    (Letter.SORTING, "a{1,2} b{1,2}", 2, ORDER, 30),
)
"""For two entities: step, requests, losses, what it breaks, and after how many moves nothing is in flight."""


@pytest.mark.parametrize(("letter", "sends", "losses", "broken", "moves"), FOUND, ids=lambda v: str(v))
def test_a_step_to_the_letter(letter: Letter, sends: str, losses: int, broken: str, moves: int) -> None:
    found = explored(replace(PLAIN, letters=frozenset({letter})), 2, sends, losses, quiescent=True)
    assert found.complete
    finding = next(finding for finding in found.findings if finding.property == broken)
    assert len(finding.behavior) == moves
    assert logs(finding.execution) == logs(scenario(f"st_{letter.name.lower()}"))


@pytest.mark.parametrize(("sends", "losses"), one_in(2, sorted({(each[1], each[2]) for each in FOUND})))
def test_it_is_gone_where_the_step_is_repaired(sends: str, losses: int) -> None:
    found = explored(PLAIN, 2, sends, losses, quiescent=True)
    assert found.complete
    assert not found.findings


def test_a_pdu_for_others_does_not_show_a_loss() -> None:
    """Failure condition (1), where "E_k in p.DST" is a condition on p; asked where a second PDU was sent."""
    sends, losses = "a{2} a{1}", 1
    asked = requirement(
        f"(exists i: exists p, q in SL[i]: p <[SL[i]] q) implies {LACKING}", standard_library()
    )
    literal = replace(PLAIN, letters=frozenset({Letter.DETECTION}))
    found = explore(literal, bounds(2, sends, losses), (asked,), invariants=(), quiescent=True)
    (finding,) = found.findings
    assert len(finding.behavior) - 1 == 18
    assert logs(finding.execution) == logs(scenario("st_detection"))
    assert not explored(PLAIN, 2, sends, losses, quiescent=True).findings


@pytest.mark.slow
def test_who_lacks_an_rst_pak_does_not_sort() -> None:
    """Where RST_PAK are not repeated, each entity may take its own ORDR."""
    printed = replace(PLAIN, letters=frozenset({Letter.SORTING, Letter.CONTROL}))
    assert explored(printed, 2, "a{1,2} b{1,2}", 2, quiescent=True).of(ORDER) is Verdict.HOLDS


def test_all_steps_to_the_letter_lose_the_only_pdu() -> None:
    every = frozenset(Letter) - {Letter.PRINTED_INDEX}
    for protocol in (
        replace(PLAIN, as_written=True),
        replace(PLAIN, letters=every - {Letter.DETECTION}),
    ):
        assert explored(protocol, 2, "a{2}", 1).of(LACKING) is Verdict.VIOLATED
    assert explored(PLAIN, 2, "a{2}", 1).of(LACKING) is Verdict.HOLDS


@pytest.mark.slow
def test_a_gap_that_is_for_others_shuts_the_window() -> None:
    """Acceptance condition (2) asks for a PDU for E_i: E1 sends to itself, and E2 has missed the first."""
    shut = explored(replace(PLAIN, letters=frozenset({Letter.ACCEPTANCE}), window=2), 2, "a{1} a{1} a{1}", 1)
    assert [finding.property for finding in shut.findings] == [DEADLOCK]
    assert not explored(replace(PLAIN, window=2), 2, "a{1} a{1} a{1}", 1).findings


IN_THE_END, ONCE, FLOW = SelectiveTotalOrder.further


@pytest.mark.parametrize("confirms", [False, True])
def test_the_window_does_not_count_confirmations(confirms: bool) -> None:
    protocol = SelectiveTotalOrder(window=1, confirms=confirms)
    found = explored(protocol, 2, "a{1,2} b{1,2} a{1,2}", 0, (FLOW,))
    assert found.of(FLOW.name) is (Verdict.VIOLATED if confirms else Verdict.HOLDS)


@dataclass(frozen=True)
class SendsOneMore(SelectiveTotalOrder):
    """Sends one PDU more than the flow condition lets it."""

    def may_send(self, here: Here, state: State) -> bool:
        return len(state.sl) <= self.window


def test_a_window_that_is_passed_is_seen() -> None:
    found = explored(SendsOneMore(confirms=False, window=1), 2, "a{1,2} a{1,2}", 0, (FLOW,))
    assert moves(found)[FLOW.name] == 2


def test_what_is_discarded_acknowledges_nothing() -> None:
    literal = SelectiveTotalOrder(letters=frozenset({Letter.DISCARDING}))
    for sends in ("a{2,3}", "a{2,3} b{1,3}"):
        assert explored(literal, 3, sends, 0, (IN_THE_END,)).of(IN_THE_END.name) is Verdict.VIOLATED
        repaired = explored(SelectiveTotalOrder(), 3, sends, 0, (IN_THE_END,))
        assert repaired.of(IN_THE_END.name) is Verdict.HOLDS


def test_a_gap_that_stays_is_found_again_and_again() -> None:
    """E3 misses a1, which is for E2 alone."""
    literal = SelectiveTotalOrder(letters=frozenset({Letter.GAPS}))
    found = explored(literal, 3, "a{2}", 1, (ONCE,), quiescent=True, depth=50)
    assert [finding.property for finding in found.findings] == [ONCE.name]


def test_a_gap_is_closed_by_the_agreement() -> None:
    found = explored(SelectiveTotalOrder(), 3, "a{2}", 1, (ONCE,), quiescent=True)
    assert found.complete
    assert found.of(ONCE.name) is Verdict.HOLDS


def moves(found: Exploration) -> dict[str, int]:
    """What is violated, and after how many moves. The first move is how it began."""
    return {finding.property: len(finding.behavior) - 1 for finding in found.findings}


@pytest.mark.parametrize("protocol", [replace(PLAIN, as_written=True), "PRE_ACKNOWLEDGMENT"], ids=str)
def test_acknowledged_too_early_without_a_loss(protocol: SelectiveTotalOrder | str) -> None:
    """Section 3.4 rests on 3.3: E2 has acknowledged a1, which E3 does not know E2 to have."""
    if isinstance(protocol, str):
        protocol = replace(PLAIN, letters=frozenset({Letter[protocol]}))
    sends = "a{2,3} b{2} c{2} b{1}"
    assert moves(explored(protocol, 3, sends, 0, depth=9)) == {"acknowledged": 9}
    assert not explored(PLAIN, 3, sends, 0, depth=9).findings


def test_pre_acknowledged_and_acknowledged_to_the_letter_with_a_loss() -> None:
    for protocol in (replace(PLAIN, as_written=True), SelectiveTotalOrder(as_written=True, repeats=2)):
        found = moves(explored(protocol, 2, "a{1,2} b{1,2}", 1, depth=14))
        assert found == {"accepted: PREQ": 14, "pre-acknowledged": 14, "acknowledged": 14}


def test_renumbering_alone_breaks_what_the_next_levels_rest_on() -> None:
    renumbering = SelectiveTotalOrder(letters=frozenset({Letter.RENUMBERING}))
    found = moves(explored(renumbering, 2, "a{1,2}", 1, depth=20))
    assert found == {"pre-acknowledged": 20, "acceptance: (1) implies (2)": 20}


def test_renumbering_exchanges_what_is_sent_and_what_is_expected() -> None:
    """Step (4), PSEQ := A and PREQ := D: E1 has sent three PDUs, E2 expects the first of them."""
    letters = (Letter.RENUMBERING, Letter.RESENDING, Letter.RECEIVING)
    for given in ((), letters[:1], letters):
        channel = Channel(replace(PLAIN, letters=frozenset(given)), 2)
        for _ in range(3):
            channel.send(0, 1)
        channel.read(1, lost=True)
        channel.read_all(1)
        before = channel.states[0].pseq[1], channel.states[1].preq[0]
        channel.settle()
        after = channel.states[0].pseq[1], channel.states[1].preq[0]
        assert before == (4, 1)
        assert after == ((1, 4) if given else (4, 4))
        assert channel.log(1) == ([] if given else ["a1", "a2", "a3"])


def test_the_printed_index_of_al_pre_acknowledges_what_nobody_has_confirmed() -> None:
    """Section 3.3: E1 expects the second PDU of E2 and of E3; neither has said anything of a1."""
    printed = replace(PLAIN, letters=frozenset({Letter.PRINTED_INDEX}))
    sends = "b{1} c{1} a{2,3}"
    assert moves(explored(printed, 3, sends, 0, depth=8)) == {"pre-acknowledged": 8}
    assert not explored(PLAIN, 3, sends, 0, depth=8).findings
    assert not replace(PLAIN, as_written=True).literal(Letter.PRINTED_INDEX)


def pre_acknowledged_early(*letters: Letter) -> Channel:
    """E2 acknowledges a2 before E1 has noticed that it has missed a1."""
    channel = Channel(replace(PLAIN, letters=frozenset(letters)), 3)
    for entity, *destinations in ((0, 0, 2), (0, 1), (1, 1), (1, 0, 2)):
        channel.send(entity, *destinations)
        channel.read_all(1, 2)
    channel.read(0, lost=True)
    channel.settle()
    return channel


def test_acknowledged_though_something_before_it_is_lost() -> None:
    channel = pre_acknowledged_early(Letter.PRE_ACKNOWLEDGMENT)
    assert received(channel) == received_in("st_pre_acknowledgment")
    repaired = pre_acknowledged_early()
    assert repaired.log(0) == repaired.log(2)
    assert sorted(repaired.log(1)) == sorted(channel.log(1))


@pytest.mark.slow
def test_that_is_the_shortest_with_these_requests() -> None:
    early = replace(PLAIN, letters=frozenset({Letter.PRE_ACKNOWLEDGMENT}))
    found = explored(early, 3, "a{1,3} a{2} b{2} b{1,3}", 1, (), quiescent=True)
    assert found.complete
    assert moves(found) == {ORDER: 52}
    assert logs(found.findings[0].execution) == logs(scenario("st_pre_acknowledgment"))


def test_the_scenarios_are_what_they_say() -> None:
    (result,) = check([SCENARIOS], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}


def test_the_steps_of_the_failure_line_to_the_letter() -> None:
    """In front of the failure points: stuck where E2 has nothing of w, one PDU too far where it has more behind q."""
    assert as_written(record(scenario("st_line_stuck"))) == Stuck("E3", "w", ("E2",))
    assert as_written(record(scenario("st_line_late"))) == {"E1": 1, "E2": 5, "E3": 2}


def looking_on(logs: Mapping[str, str], here: str, failure: int, lost: str) -> dict[str, int]:
    """Section 4.1, (1) to (6), of one direct failure point, if (6) marks E_j whether or not its log has p: how many
    PDUs stand in front of the failure points."""
    line = {entity: len(log) for entity, log in logs.items()}
    line[here] = failure
    point, marked = failure, set[str]()
    for entity, log in logs.items():
        if lost in log:
            line[entity] = min(line[entity], log.index(lost) + 1)
            marked.add(entity)
    for entity in (entity for entity in logs if entity not in marked):
        named = logs[here][min(point, len(logs[here])) - 1]
        if named in logs[entity]:
            behind = logs[entity].index(named) + 2
            line[entity] = min(line[entity], behind)
            point = behind if entity == here else point
    return {entity: index - 1 for entity, index in line.items()}


def test_the_steps_of_the_failure_line_if_every_log_that_is_looked_at_is_marked() -> None:
    """They end where they are stuck otherwise, with the same marks; and still leave q and r in front at E2."""
    stuck = looking_on({"E1": "xcpzw", "E2": "axbyq", "E3": "axzwq"}, "E3", 3, "c")
    assert stuck == failure_line(record(scenario("st_line_stuck")))
    late = {"E1": "xcpz", "E2": "axbyqrt", "E3": "axzq"}
    assert looking_on(late, "E3", 3, "c")["E2"] == 6
    assert failure_line(record(scenario("st_line_late")))["E2"] == 4


def test_what_section_2_says_in_passing() -> None:
    (result,) = check([SCENARIOS.with_name("st-1994-claims.prec")], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}
