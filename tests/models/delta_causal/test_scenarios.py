"""The scenarios of specs/papers/delta-causal-protocol.prec: confirmed, made by the model that they are said to be of,
and not by the repaired one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.checking import check
from precedes.engines.solver.schedules_replay import Flight, Schedule, carried_out
from precedes.engines.solver.search import Mismatch
from precedes.execution import EventKind, Execution
from precedes.language.compiling import compile_text
from precedes.language.library import standard_library
from precedes.outcomes import Limits, Outcome
from precedes_models.delta_causal import DeltaCausal
from tests.models.delta_causal.halves import MarksRepaired, StampsRepaired

SCENARIOS = Path(__file__).parents[3] / "specs" / "papers" / "delta-causal-protocol.prec"
SECOND, TICK = 10**9, 10**3


def scenarios() -> dict[str, Execution]:
    text = compile_text(SCENARIOS.read_text(encoding="utf-8"), str(SCENARIOS), standard_library())
    return {each.name: each.execution for each in text.scenarios}


def schedule(execution: Execution, ahead: tuple[int, ...], epsilon: int) -> Schedule:
    """The scenario's sends, arrivals and deliveries, as something that a model can carry out."""
    entities = {entity: place for place, entity in enumerate(execution.entities)}
    when: dict[tuple[EventKind, str, int], int] = {}
    for history in execution.histories:
        for event in history.events:
            assert event.message is not None
            assert event.time is not None
            when[event.kind, event.message, entities[history.entity]] = event.time // SECOND
    sends = sorted((time, name, at) for (kind, name, at), time in when.items() if kind is EventKind.SEND)
    number = {name: place for place, (_, name, _) in enumerate(sends)}
    flights = tuple(
        Flight(number[name], to, time, when.get((EventKind.DELIVER, name, to)))
        for (kind, name, to), time in when.items()
        if kind is EventKind.ARRIVE
    )
    wanted = (EventKind.SEND, EventKind.DELIVER)
    orders = tuple(
        tuple((number[str(e.message)], e.kind is EventKind.SEND) for e in history.events if e.kind in wanted)
        for history in execution.histories
    )
    assert execution.delta is not None
    delta = execution.delta // SECOND - epsilon
    return Schedule(delta, epsilon, ahead, tuple((at, time) for time, _, at in sends), None, flights, orders)


def logged(execution: Execution) -> set[str]:
    """Every history; what a schedule does at one time has no order between its kinds."""
    return {
        " ".join(
            sorted(f"{event.kind.value} {event.message} {(event.time or 0) // tick}" for event in h.events)
        )
        for h in execution.histories
        for tick in [TICK if execution.name == "schedule" else SECOND]
    }


def test_the_scenarios_are_confirmed() -> None:
    (checked,) = check([SCENARIOS], Limits())
    assert set(checked.outcomes) == {Outcome.AS_STATED}
    assert len(checked.outcomes) == 20
    assert len(scenarios()) == 8


WRITTEN = {
    "r4_names_the_receiver": (StampsRepaired, (0, 0), 0),
    "s1_three_of_one_time": (MarksRepaired, (0, 0), 0),
    "s1_waits_beyond_the_deadline": (MarksRepaired, (0, 0), 0),
    "s1_no_delay": (MarksRepaired, (0, 0, 0), 0),
    "s1_clocks": (MarksRepaired, (1, 0, 0), 1),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_the_letter_makes_the_repaired_form_does_not(name: str) -> None:
    model, ahead, epsilon = WRITTEN[name]
    wanted = schedule(scenarios()[name], ahead, epsilon)
    for written in (model, DeltaCausal):
        made = carried_out(written(as_written=True, delta=wanted.delta, epsilon=epsilon), wanted)
        assert logged(made) == logged(scenarios()[name])
    with pytest.raises(Mismatch):
        carried_out(DeltaCausal(delta=wanted.delta, epsilon=epsilon), wanted)


BOTH = {
    "clocks_late": ((1, 0), 1, 2),
    "clocks_early": ((0, 1), 1, 2),
    "lemma_1_needless_wait": ((0, 0), 0, 1),
}


@pytest.mark.parametrize("name", BOTH)
def test_what_both_forms_do(name: str) -> None:
    ahead, epsilon, max_cb = BOTH[name]
    wanted = schedule(scenarios()[name], ahead, epsilon)
    for as_written in (False, True):
        protocol = DeltaCausal(as_written=as_written, delta=wanted.delta, epsilon=epsilon, max_cb=max_cb)
        assert logged(carried_out(protocol, wanted)) == logged(scenarios()[name])


def test_every_scenario_is_carried_out() -> None:
    assert set(WRITTEN) | set(BOTH) == set(scenarios())
