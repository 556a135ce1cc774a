"""The scenarios of specs/papers/delta-causal-protocol.prec: confirmed, made by the model that they are said to be of,
and not by the repaired one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from precedes.core.execution import EventKind, Execution
from precedes.core.outcome import Limits, Outcome
from precedes.engines.solver.search import Mismatch
from precedes.jobs.check import check
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes_models.delta_causal.protocol import DeltaCausal, Letter, Part
from precedes_models.delta_causal.schedules.replay import Flight, Schedule, carried_out

PAPERS = Path(__file__).parents[3] / "specs" / "papers"
SCENARIOS, FIGURES = PAPERS / "delta-causal-protocol.prec", PAPERS / "delta-causal.prec"
SECOND, TICK = 10**9, 10**3


def scenarios(path: Path = SCENARIOS) -> dict[str, Execution]:
    text = compile_text(path.read_text(encoding="utf-8"), str(path), standard_library())
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


def logged(execution: Execution, names: Mapping[str, str] | None = None) -> set[str]:
    """Every history; what a schedule does at one time has no order between its kinds. `names`: for messages."""
    given = names or {}
    return {
        " ".join(
            sorted(
                f"{event.kind.value} {given.get(event.message or '', event.message)} {(event.time or 0) // tick}"
                for event in h.events
            )
        )
        for h in execution.histories
        for tick in [TICK if execution.name == "schedule" else SECOND]
    }


def test_the_scenarios_are_confirmed() -> None:
    (checked,) = check([SCENARIOS], Limits())
    assert set(checked.outcomes) == {Outcome.AS_STATED}
    assert len(checked.outcomes) == 26
    assert len(scenarios()) == 10


R4, S1 = ({"letters": frozenset({letter})} for letter in (Letter.R4, Letter.S1))
WRITTEN: dict[str, tuple[dict[str, Any], tuple[int, ...], int]] = {
    "r4_names_the_receiver": (R4, (0, 0), 0),
    "r4_waits_needlessly": (R4, (0, 0, 0), 0),
    "s1_three_of_one_time": (S1, (0, 0), 0),
    "s1_waits_beyond_the_deadline": (S1, (0, 0), 0),
    "s1_no_delay": (S1, (0, 0, 0), 0),
    "s1_clocks": (S1, (1, 0, 0), 1),
    "r0_left_out": ({**S1, "without": frozenset({Part.R0})}, (1, 0, 0), 1),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_the_letter_makes_the_repaired_form_does_not(name: str) -> None:
    parameters, ahead, epsilon = WRITTEN[name]
    wanted = schedule(scenarios()[name], ahead, epsilon)
    single = DeltaCausal(delta=wanted.delta, epsilon=epsilon, **parameters)
    # Where a step is left out, it is by that, everything else being repaired or named.
    forms = [single] if single.without else [single, replace(single, as_written=True)]
    for written in forms:
        made = carried_out(written, wanted)
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


# The other scenarios of that file: what the algorithm is there to exclude, and what a judge of logs cannot know.
EXCLUDED = {"figure_1", "figure_3_delivered_late", "within_epsilon"}


@pytest.mark.parametrize("name", sorted(scenarios(FIGURES).keys() - EXCLUDED))
@pytest.mark.parametrize("as_written", [False, True])
def test_what_the_figures_show_the_model_does(name: str, as_written: bool) -> None:
    shown = scenarios(FIGURES)[name]
    wanted = schedule(shown, (0,) * len(shown.entities), 0)
    made = carried_out(DeltaCausal(as_written=as_written, delta=wanted.delta), wanted)
    assert logged(made, _as_in(shown, made)) == logged(shown)


def test_what_is_excluded_the_model_does_not_do() -> None:
    late = scenarios(FIGURES)["figure_3_delivered_late"]
    with pytest.raises(Mismatch):
        carried_out(DeltaCausal(delta=10), schedule(late, (0, 0, 0), 0))


def _as_in(shown: Execution, made: Execution) -> dict[str, str]:
    """The names of the messages of a figure by those of the model: in the order of the times at which they are sent."""
    return dict(zip(*(map(_sends, (made, shown))), strict=True))


def _sends(execution: Execution) -> list[str]:
    sends = [e for history in execution.histories for e in history.events if e.kind is EventKind.SEND]
    return [str(event.message) for event in sorted(sends, key=lambda event: event.time or 0)]
