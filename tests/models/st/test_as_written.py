"""The letter of 1994: what each step breaks, and that it is gone within the same bounds where the step is repaired."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.st_channel import Channel
from precedes.checking import check
from precedes.engines.reference.failure_line import Stuck, as_written
from precedes.engines.reference.recorded import record
from precedes.execution import EventKind, Execution
from precedes.language.compiling import compile_text
from precedes.language.library import standard_library
from precedes.outcomes import Limits, Outcome
from precedes.protocol import Here
from precedes.protocol.exploration import DEADLOCK
from precedes.protocol.invariants import OfEntity, OfState, Situation
from precedes.verdict import Verdict
from precedes_models.st import SelectiveTotalOrder
from precedes_models.st_state import Letter, State
from tests.models.st.exploring import explored

SCENARIOS = Path(__file__).parents[3] / "specs" / "papers" / "st-1994-as-written.prec"

PLAIN = SelectiveTotalOrder(confirms=False, repeats=2)
LACKING, ORDER = "selectively_information_preserving", "order_equivalent"

FOUND: tuple[tuple[Letter, str, int, str, int], ...] = (
    (Letter.DETECTION, "a{2} a{1}", 1, LACKING, 16),
    (Letter.FAILURE_POINT, "a{1,2} b{1,2}", 1, ORDER, 25),
    (Letter.RENUMBERING, "a{2}", 1, LACKING, 25),
    (Letter.RESENDING, "a{2}", 1, LACKING, 29),
    (Letter.RECEIVING, "a{2}", 1, LACKING, 35),
    (Letter.CONTROL, "a{2}", 2, LACKING, 11),
    (Letter.SORTING, "a{1,2} b{1,2}", 2, ORDER, 30),
)
"""For two entities: step, requests, losses, what it breaks, and after how many moves all is at rest."""


def scenario(name: str) -> Execution:
    """A scenario of the file, by name."""
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    return next(each.execution for each in text.scenarios if each.name == name)


def logs(execution: Execution) -> dict[str, tuple[list[str | None], list[str | None]]]:
    """What each entity has sent and received."""
    return {
        history.entity: (
            [event.message for event in history.events if event.kind is EventKind.SEND],
            [event.message for event in history.events if event.kind is EventKind.DELIVER],
        )
        for history in execution.histories
    }


@pytest.mark.parametrize(("letter", "sends", "losses", "broken", "moves"), FOUND, ids=lambda v: str(v))
def test_a_step_to_the_letter(letter: Letter, sends: str, losses: int, broken: str, moves: int) -> None:
    found = explored(replace(PLAIN, letters=frozenset({letter})), 2, sends, losses, at_rest=True)
    assert found.complete
    finding = next(finding for finding in found.findings if finding.property == broken)
    assert len(finding.behaviour) == moves
    assert logs(finding.execution) == logs(scenario(f"st_{letter.name.lower()}"))


@pytest.mark.parametrize(("sends", "losses"), sorted({(each[1], each[2]) for each in FOUND}))
def test_it_is_gone_where_the_step_is_repaired(sends: str, losses: int) -> None:
    found = explored(PLAIN, 2, sends, losses, at_rest=True)
    assert found.complete
    assert not found.findings


def test_all_steps_to_the_letter_lose_the_only_pdu() -> None:
    found = explored(replace(PLAIN, as_written=True), 2, "a{2}", 1)
    assert found.of(LACKING) is Verdict.VIOLATED
    assert explored(PLAIN, 2, "a{2}", 1).of(LACKING) is Verdict.HOLDS


def test_a_gap_that_is_for_others_shuts_the_window() -> None:
    """Acceptance condition (2) asks for a PDU for E_i: E1 sends to itself, and E2 has missed the first."""
    shut = explored(replace(PLAIN, letters=frozenset({Letter.ACCEPTANCE}), window=2), 2, "a{1} a{1} a{1}", 1)
    assert [finding.property for finding in shut.findings] == [DEADLOCK]
    assert not explored(replace(PLAIN, window=2), 2, "a{1} a{1} a{1}", 1).findings


def _acknowledged(protocol: SelectiveTotalOrder, situation: Situation) -> bool | None:
    if not situation.quiet or not any(situation.sent):
        return None
    return all(not state.rrl and not state.prl for state in situation.states)


ACKNOWLEDGED = OfState("acknowledged in the end", "1994, section 3.4", _acknowledged)


def test_what_is_discarded_acknowledges_nothing() -> None:
    literal = SelectiveTotalOrder(letters=frozenset({Letter.DISCARDING}))
    for sends in ("a{2,3}", "a{2,3} b{1,3}"):
        assert explored(literal, 3, sends, 0, (ACKNOWLEDGED,)).of(ACKNOWLEDGED.name) is Verdict.VIOLATED
        assert (
            explored(SelectiveTotalOrder(), 3, sends, 0, (ACKNOWLEDGED,)).of(ACKNOWLEDGED.name)
            is Verdict.HOLDS
        )


def _once(protocol: SelectiveTotalOrder, here: Here, state: State) -> bool | None:
    return state.round <= 1 if state.round else None


ONCE = OfEntity("one agreement for one loss", "1994, section 4.1", _once)


def test_a_gap_that_stays_is_found_again_and_again() -> None:
    """E3 misses a1, which is for E2 alone."""
    literal = SelectiveTotalOrder(letters=frozenset({Letter.GAPS}))
    found = explored(literal, 3, "a{2}", 1, (ONCE,), at_rest=True, depth=50)
    assert [finding.property for finding in found.findings] == [ONCE.name]


def test_a_gap_is_closed_by_the_agreement() -> None:
    found = explored(SelectiveTotalOrder(), 3, "a{2}", 1, (ONCE,), at_rest=True)
    assert found.complete
    assert found.of(ONCE.name) is Verdict.HOLDS


def late_reader(*letters: Letter) -> Channel:
    """E1 and E2 fill each other's logs while E3 reads nothing; E3 misses a1, and E2 is the first with its RST_PAK."""
    channel = Channel(replace(PLAIN, letters=frozenset(letters)), 3)
    for entity, *destinations in (
        (0, 0, 2),
        (0, 0, 1),
        (1, 0, 2),
        (0, 0, 1),
        (1, 0, 1),
        (0, 0, 1),
        (1, 0, 1),
    ):
        channel.send(entity, *destinations)
        channel.read_all(0, 1)
    channel.read(2, lost=True)
    channel.read_all(2)
    channel.read_all(1)
    channel.settle()
    return channel


def test_acknowledged_though_something_before_it_is_lost() -> None:
    channel = late_reader(Letter.PRE_ACKNOWLEDGMENT)
    shown = {name: received for name, (_, received) in logs(scenario("st_pre_acknowledgment")).items()}
    assert {f"E{entity + 1}": channel.log(entity) for entity in range(3)} == shown
    repaired = late_reader()
    assert repaired.log(0).index("b1") < repaired.log(0).index("a1")
    assert repaired.log(2) == ["b1", "a1"]


def test_the_scenarios_are_what_they_say() -> None:
    (result,) = check([SCENARIOS], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}


def test_the_steps_of_the_failure_line_to_the_letter() -> None:
    """In front of the failure points: stuck where E2 has nothing of w, one PDU too far where it has more behind q."""
    assert as_written(record(scenario("st_line_stuck"))) == Stuck("E3", "w", ("E2",))
    assert as_written(record(scenario("st_line_late"))) == {"E1": 1, "E2": 5, "E3": 2}


def test_what_section_2_says_in_passing() -> None:
    (result,) = check([SCENARIOS.with_name("st-1994-claims.prec")], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}
