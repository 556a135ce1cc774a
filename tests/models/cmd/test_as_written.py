"""The CMD paper as written: what each reading breaks, and that it is gone where the reading is not taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.execution import EventKind, Execution
from precedes.core.outcome import Limits, Outcome
from precedes.core.verdict import Verdict
from precedes.jobs.check import check
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.protocol import Message
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.result import Finding
from precedes_models.cmd.auxiliary import Auxiliary, Reading
from precedes_models.cmd.protocol import Cmd
from tests.models.cmd.explored import explored
from tests.sampling import one_in

PAPERS = Path(__file__).parents[3] / "specs" / "papers"
SCENARIOS = PAPERS / "cmd-as-written.prec"

TWO, THREE = Bounds(entities=2, messages=2), Bounds(entities=2, messages=3)
UNICAST = Bounds(entities=3, messages=3)
FOUR = Bounds(entities=3, messages=4)
MULTICAST = Bounds(entities=3, messages=2, destinations=Destinations.MULTICAST)
ANY = Bounds(entities=2, messages=2, destinations=Destinations.ANY)
SIX = Bounds(entities=2, script=(tuple(Message(0, k, frozenset({1})) for k in range(1, 7)), ()))
"""Six messages from one to the other."""

FOUND: tuple[tuple[type[Auxiliary], Reading, Bounds, str, int], ...] = (
    (Auxiliary, Reading.QUEUE_IN_CASE_I, TWO, "no starvation", 4),
    (Auxiliary, Reading.QUEUE_JOINS_V_OF_M, THREE, "no starvation", 6),
    (Auxiliary, Reading.QUEUE_JOINS_V_OF_M, TWO, "vector_time", 4),
    (Auxiliary, Reading.OWN_COMPONENT, ANY, "causal_order", 4),
    (Auxiliary, Reading.MULTICAST_THE_SAME_WAY, MULTICAST, "causal_order", 5),
    (Auxiliary, Reading.INDEX_IS_THE_SENDER, UNICAST, "causal_order", 6),
    (Cmd, Reading.QUEUE_IN_CASE_I, TWO, "no starvation", 4),
    (Cmd, Reading.QUEUE_JOINS_V_OF_M, THREE, "no starvation", 6),
    (Cmd, Reading.OWN_COMPONENT, ANY, "causal_order", 4),
    (Cmd, Reading.MULTICAST_THE_SAME_WAY, MULTICAST, "causal_order", 5),
    (Cmd, Reading.INDEX_IS_THE_SENDER, UNICAST, "causal_order", 6),
    (Cmd, Reading.QUEUE_DELIVERS_M, TWO, "no_duplication", 4),
    (Cmd, Reading.RULE_3_AFTER_UPDATE, UNICAST, "causal_order", 6),
    (Cmd, Reading.RULE_1_WITH_EQUALITY, FOUR, "causal_order", 8),
    (Cmd, Reading.RULES_IN_CASE_I, FOUR, "CMD rule 1", 6),
    (Cmd, Reading.SEND_ADDS_ONLY, SIX, "CMD tags", 6),
)
"""Protocol, reading, bounds, the property that it breaks there, and after how many moves."""


def scenario(name: str) -> Execution:
    """A scenario of the file, by name."""
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    return next(each.execution for each in text.scenarios if each.name == name)


def shown(execution: Execution) -> dict[str, list[tuple[EventKind, str | None]]]:
    """What was sent and delivered."""
    kinds = EventKind.SEND, EventKind.DELIVER
    return {
        history.entity: [(event.kind, event.message) for event in history.events if event.kind in kinds]
        for history in execution.histories
    }


def finding(protocol: Auxiliary, bounds: Bounds, name: str) -> Finding:
    """The finding of one property."""
    found = explored(protocol, bounds)
    return next(each for each in found.findings if each.property == name)


@pytest.mark.parametrize(("model", "reading", "bounds", "property_", "moves"), one_in(2, FOUND))
def test_a_reading_breaks_something(
    model: type[Auxiliary], reading: Reading, bounds: Bounds, property_: str, moves: int
) -> None:
    found = finding(model(readings=frozenset({reading})), bounds, property_)
    # The first move is how it began.
    assert len(found.behavior) - 1 == moves
    if property_ != "vector_time":
        assert shown(found.execution) == shown(scenario(reading.name.lower()))


@pytest.mark.parametrize("bounds", [THREE, FOUR, MULTICAST, ANY])
@pytest.mark.parametrize("model", [Auxiliary, Cmd])
def test_what_breaks_is_gone_in_the_repaired_form(model: type[Auxiliary], bounds: Bounds) -> None:
    assert explored(model(), bounds).verdict is Verdict.HOLDS


def test_the_tags_are_n_squared_at_most_in_the_repaired_form() -> None:
    assert explored(Cmd(), SIX).of("CMD tags") is Verdict.HOLDS


@pytest.mark.parametrize("reading", [Reading.RULES_IN_CASE_I, Reading.SEND_ADDS_ONLY])
def test_what_only_piles_up_breaks_no_order(reading: Reading) -> None:
    found = explored(Cmd(readings=frozenset({reading})), FOUR)
    assert {each.property for each in found.findings} == {"CMD rule 1"}


def test_cmd_to_the_letter_breaks_theorem_2() -> None:
    found = finding(Cmd(as_written=True), FOUR, "causal_order")
    assert len(found.behavior) - 1 == 8
    assert shown(found.execution) == shown(scenario("cmd_as_written"))


def test_the_auxiliary_procedure_to_the_letter_keeps_theorem_1_among_other_processes() -> None:
    found = explored(Auxiliary(as_written=True), FOUR)
    assert found.of("causal_order") is Verdict.HOLDS
    assert found.of("no starvation") is Verdict.VIOLATED


def test_every_reading_has_its_scenario_and_is_in_the_letter_or_named_as_not() -> None:
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    names = {each.name for each in text.scenarios}
    assert names == {reading.name.lower() for reading in Reading} | {"cmd_as_written"}
    assert set(Reading) - Cmd.letter == {Reading.INDEX_IS_THE_SENDER}
    assert Auxiliary.letter < Cmd.letter


def test_check_confirms_the_scenarios() -> None:
    (result,) = check([SCENARIOS], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}


@pytest.mark.slow
def test_check_confirms_the_lemmas() -> None:
    (result,) = check([PAPERS / "cmd-claims.prec"], Limits())
    assert set(result.outcomes) == {Outcome.AS_STATED}
