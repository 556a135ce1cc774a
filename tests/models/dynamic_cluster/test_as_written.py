"""The dynamic cluster paper as written: what each step breaks, and that it is gone where the step is repaired."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from precedes.core.execution import EventKind, Execution
from precedes.core.outcome import Limits, Outcome
from precedes.core.verdict import Verdict
from precedes.jobs.check import check
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.protocol import Here, Protocol
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.liveness.endless_behaviors import LIVELOCK, REST
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.dynamic_cluster.state import Letter, Member
from precedes_models.total_order.protocol import TotalOrder
from precedes_models.total_order.transfer import Letter as Base
from precedes_models.total_order.transfer import Row, Transfer
from tests.models.dynamic_cluster.exploring import bounds, explored, finding, violated
from tests.models.replay import made
from tests.sampling import one_in

SCENARIOS = Path(__file__).parents[3] / "specs" / "papers" / "dynamic-cluster-as-written.prec"

ENDS = "cluster: agreement ends"
EVERYTHING = "cluster: TO among the active, everything"
ACCURATE = "cluster: only who has stopped is taken for stopped"
EXPECTED = "cluster: what is expected can come"
ONE_CUT = "cluster: one cut"
NEW = "cluster: an answer says something new"

FOUND: tuple[tuple[Letter, frozenset[int], Bounds, str, int], ...] = (
    (Letter.ANSWERS, frozenset(), bounds(2, crashes=1, depth=20), NEW, 17),
    (Letter.OWN_ROW, frozenset({2}), bounds(3, script="c", losses=1), ACCURATE, 45),
    (Letter.ONCE, frozenset(), bounds(2, crashes=1, losses=1), ENDS, 16),
    (Letter.GOES_ON, frozenset({0, 1}), bounds(2, 2), EVERYTHING, 49),
    (Letter.NUMBER, frozenset(), bounds(2, crashes=1, recoveries=1, depth=30), EXPECTED, 18),
    (Letter.LAST, frozenset(), bounds(2, crashes=1, recoveries=1), EXPECTED, 21),
)
"""A step taken as written, with whom the protocol is hasty, bounds, what breaks there, after how many moves."""


SLOW: tuple[tuple[Letter, frozenset[int], Bounds, str, int], ...] = (
    (Letter.EQUAL, frozenset(), bounds(2, crashes=1, recoveries=1, losses=1, depth=34), ENDS, 34),
    (Letter.UNION, frozenset(), bounds(3, 0, crashes=1, recoveries=1, losses=1, depth=41), ACCURATE, 41),
    (
        Letter.AT_ONCE,
        frozenset(),
        bounds(3, script="c", crashes=1, recoveries=1, losses=1, depth=27),
        EVERYTHING,
        27,
    ),
)
"""The same, for those whose states are many."""

TWICE = Letter.EARLIER, frozenset[int](), bounds(2, 0, crashes=2, recoveries=2), ACCURATE, 32
"""An entity that stops twice. In these bounds both may have stopped, and then no agreement ends in either form."""

RETURN = bounds(2, crashes=1, recoveries=1)
CUTS = bounds(3, script="c", losses=1), ONE_CUT


def scenario(name: str) -> Execution:
    """A scenario of the file, by name."""
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    return next(each.execution for each in text.scenarios if each.name == name)


def shown(execution: Execution) -> dict[str, list[tuple[EventKind, str | None, tuple[str, ...]]]]:
    """What happened, without arrivals."""
    return {
        history.entity: [
            (event.kind, event.message, event.members)
            for event in history.events
            if event.kind is not EventKind.ARRIVE
        ]
        for history in execution.histories
    }


@pytest.mark.parametrize(
    ("letter", "hasty", "within", "name", "moves"),
    [*FOUND, TWICE, *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW)],
)
def test_a_step_to_the_letter_breaks_something(
    letter: Letter, hasty: frozenset[int], within: Bounds, name: str, moves: int
) -> None:
    found = finding(DynamicCluster(letter=frozenset({letter}), hasty=hasty), within, name)
    assert len(found.behavior) - 1 == moves
    assert shown(found.execution) == shown(scenario(letter.name.lower()))


@dataclass(frozen=True)
class FromZero(DynamicCluster):
    """REQ_h := rc.SEQ, which is 0."""

    def aligned(self, here: Here, state: Member, rows: list[Row]) -> Transfer:
        data = super().aligned(here, state, rows)
        assert state.returning is not None
        assert data.req[state.returning.who] == 0
        return data


def test_req_is_rc_seq_where_numbers_begin_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery (1) has rc.SEQ = rc.ACK_h = 0; recovery (3) is then right as it is printed."""
    for module in ("total_order.transfer", "dynamic_cluster.recovery", "dynamic_cluster.invariants"):
        monkeypatch.setattr(f"precedes_models.{module}.FIRST", 0)
    found = explore(FromZero(), RETURN)
    assert found.complete
    assert found.states == 8_127
    assert {found.of(name) for name in (EXPECTED, ENDS, EVERYTHING)} == {Verdict.HOLDS}
    assert found.verdict is not Verdict.VIOLATED


def test_own_row_cuts_in_two_places() -> None:
    """What own_row comes to in the end begins with this."""
    found = finding(DynamicCluster(letter=frozenset({Letter.OWN_ROW}), hasty=frozenset({2})), *CUTS)
    assert len(found.behavior) - 1 == 15


def test_without_the_rcv_ack_of_who_returns_recovery_goes_on_for_ever() -> None:
    """The others take it for stopped again, it sends RCV again, and so on."""
    letter = DynamicCluster(letter=frozenset({Letter.OTHERS_ONLY}))
    found = explore(letter, RETURN, [], invariants=(), live=(LIVELOCK, REST))
    lassos = {each.property: (len(each.behavior) - 1, each.loop) for each in found.findings}
    assert lassos == {REST: (43, 31), LIVELOCK: (58, 31)}
    repaired = explore(DynamicCluster(), RETURN, [], invariants=(), live=(LIVELOCK, REST))
    assert repaired.of(LIVELOCK) is repaired.of(REST) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("hasty", "within"),
    [
        *one_in(3, [(hasty, within) for _, hasty, within, _, _ in FOUND]),
        *(pytest.param(hasty, within, marks=pytest.mark.slow) for _, hasty, within, _, _ in SLOW),
    ],
)
def test_what_breaks_is_gone_in_the_repaired_form(hasty: frozenset[int], within: Bounds) -> None:
    found = explored(DynamicCluster(hasty=hasty), within)
    assert not violated(found)
    assert found.complete or within.depth is not None


def test_what_was_sent_in_an_earlier_recovery_does_not_count_in_the_repaired_form() -> None:
    assert violated(explored(DynamicCluster(), TWICE[2])) == {ENDS: 13}


REPLAYED: tuple[tuple[str, Protocol[Any], Bounds], ...] = (
    ("others_only", DynamicCluster(letter=frozenset({Letter.OTHERS_ONLY})), RETURN),
    ("one_cut", TotalOrder(letter=frozenset({Base.ONE_CUT})), bounds(2, script="ab", losses=1)),
    ("forgets", TotalOrder(letter=frozenset({Base.FORGETS})), bounds(3, script="abc", losses=1)),
    ("deleted", DynamicCluster(), bounds(3, script="c", crashes=1, losses=1)),
)
"""Scenarios that are not found by the property that they break."""


WITHOUT: tuple[tuple[str, Protocol[Any], Bounds, str, int], ...] = (
    (
        "one_attempt",
        DynamicCluster(attempts=1),
        bounds(2, crashes=1, losses=2, depth=20),
        "cluster: same emask",
        19,
    ),
    ("refused", DynamicCluster(hasty=frozenset({2})), bounds(3, script="ac"), "no deadlock", 40),
    ("serves_nobody", TotalOrder(), bounds(2, crashes=1), "no starvation", 46),
    ("unasked", TotalOrder(attempts=0), bounds(2, losses=1), "information_preserving", 18),
)
"""What happens where no step is taken as written: a scenario, a protocol and bounds, what breaks, after how many
moves."""


@pytest.mark.parametrize(("name", "protocol", "within", "broken", "moves"), WITHOUT)
def test_what_the_bounds_or_a_parameter_break(
    name: str, protocol: Protocol[Any], within: Bounds, broken: str, moves: int
) -> None:
    found = finding(protocol, within, broken)
    assert len(found.behavior) - 1 == moves
    assert shown(found.execution) == shown(scenario(name))


@pytest.mark.parametrize(
    ("name", "literal", "within"),
    [pytest.param(*one, marks=[pytest.mark.slow] if one[0] == "forgets" else []) for one in REPLAYED],
)
def test_the_letter_makes_the_histories_of_the_scenario(
    name: str, literal: Protocol[Any], within: Bounds
) -> None:
    assert made(literal, within, scenario(name)) is not None


def test_every_scenario_is_made_by_a_model() -> None:
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    explored_too = {letter.name.lower() for letter, *_ in (*FOUND, TWICE, *SLOW)}
    explored_too |= {name for name, *_ in WITHOUT}
    assert {each.name for each in text.scenarios} == explored_too | {name for name, *_ in REPLAYED}


def test_to_the_letter_the_first_stop_never_ends() -> None:
    found = explored(DynamicCluster(as_written=True), bounds(2, crashes=1, depth=20))
    assert violated(found) == {NEW: 17}


def test_check_confirms_the_scenarios() -> None:
    (result,) = check([SCENARIOS], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}


def test_every_step_has_its_scenario() -> None:
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    assert {each.name for each in text.scenarios} >= {letter.name.lower() for letter in Letter}


def test_the_repaired_form_holds() -> None:
    found = explored(DynamicCluster(), bounds(3, crashes=1))
    assert found.complete
    assert not violated(found)
