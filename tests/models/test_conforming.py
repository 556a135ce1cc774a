"""Executions of models with a mistake, or as written, against the repaired model: which do not conform.

`tests/models/shown.py` looks for an execution that shows each mistake, and writes the tables of docs/conform.md.
"""

from __future__ import annotations

from typing import Any

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol import Conditions, Destinations, Protocol, catalog
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.verdicts import Deviates, Limits
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from precedes_models.raynal_schiper_toueg import RaynalSchiperToueg
from tests.models.cmd import bugs
from tests.models.counterexamples import FORMS, SHOWS, Case, tried
from tests.models.shown import (
    NOT_SHOWN,
    OWN,
    PAGE,
    UNDECIDED,
    Shown,
    form_shown,
    forms,
    key,
    mistakes,
    of_itself,
    rows_of,
    shown,
    without,
)
from tests.models.st import bugs as of_st

THREE = Conditions(entities=3, messages=8, interval=1000, delay=1500, deviation=700)
ANY = Conditions(
    entities=3, messages=8, interval=1000, delay=1500, deviation=700, destinations=Destinations.ANY
)
FOUR = Conditions(entities=4, messages=12, interval=1000, delay=1500, deviation=900)

SHOWN: tuple[tuple[type[Protocol[Any]], Protocol[Any], Conditions, int], ...] = (
    (bugs.ForgetsItsSends, Auxiliary(), ANY, 1),
    (bugs.HandsNothingOn, Auxiliary(), ANY, 10),
    (bugs.WaitsForOne, Auxiliary(), ANY, 1),
    (bugs.KeepsTheOlder, Cmd(), ANY, 1),
    (bugs.Rule2WithoutTime, Cmd(), ANY, 8),
    (bugs.LearnsNothingNew, Cmd(), ANY, 10),
    (bugs.CountsNoSend, RaynalSchiperToueg(), THREE, 1),
    (bugs.NotOfTheSender, BirmanSchiperStephenson(), THREE, 1),
    (bugs.OneGroupAtATime, BirmanSchiperStephenson(), THREE, 2),
)
"""The mistake, the model without it, the conditions, and the number of an execution that shows it."""


@pytest.mark.parametrize(
    ("bug", "repaired", "conditions", "number"),
    SHOWN,
    ids=lambda each: getattr(each, "__name__", None) or getattr(each, "name", None),
)
def test_a_mistake_does_not_conform(
    bug: type[Protocol[Any]], repaired: Protocol[Any], conditions: Conditions, number: int
) -> None:
    execution = Simulator(bug(), conditions).run(1, number).execution
    answer, _ = Judge(repaired).judge(execution)
    assert isinstance(answer, Deviates)
    assert answer.event is not None


@pytest.mark.slow
def test_what_waits_for_ever_shows_at_the_end() -> None:
    execution = Simulator(bugs.CountsNoDelivery(), FOUR).run(1, 2).execution
    answer, _ = Judge(RaynalSchiperToueg(), Limits(quiescent=True)).judge(execution)
    assert isinstance(answer, Deviates)
    assert answer.event is None


def test_a_counterexample_with_states_does_not_conform() -> None:
    """What a trace of sends and deliveries does not show, the matrix AL shows."""
    case = next(each for each in SHOWS if isinstance(each.mistaken, of_st.MixesUpTheAcks))
    (with_states,) = tried(case, without(case.mistaken))
    assert with_states.said == "E1 delivers a2 with al = [[1, 2], [1, 1]] (its event 4), and no run has that"
    (plain,) = tried(Case(case.mistaken, case.bounds), without(case.mistaken))
    assert (plain.verdict, plain.broken) == (Verdict.HOLDS, "AL is known")


@pytest.mark.slow
@pytest.mark.parametrize("mistaken", mistakes(), ids=key)
def test_a_mistake_is_shown_or_it_is_said_why_not(mistaken: Protocol[Any]) -> None:
    as_on_the_page(shown(mistaken), key(mistaken))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FORMS))
def test_a_form_as_written_is_shown_or_it_is_said_why_not(name: str) -> None:
    as_on_the_page(form_shown(name), f"{name}.form")


def as_on_the_page(found: Shown, name: str) -> None:
    """The page says of each what was found."""
    assert bool(found.undecided) is (name in UNDECIDED)
    assert bool(found.said) is (name not in NOT_SHOWN and name not in UNDECIDED)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(catalog.installed()))
def test_a_model_conforms_to_itself(name: str) -> None:
    protocol = catalog.models(name)[-1]
    _, counts = of_itself(protocol, OWN)
    assert counts[Verdict.VIOLATED] == 0
    assert counts[Verdict.HOLDS] > OWN * 0.99


def test_every_mistake_stands_on_the_page() -> None:
    rows = rows_of(PAGE.read_text(encoding="utf-8"))
    keys = {*map(key, mistakes()), *(f"{name}.form" for name in forms())}
    assert rows.keys() == keys | {f"{name}.itself" for name in catalog.installed()}
    assert {name for name, row in rows.items() if NOT_SHOWN.get(name, "?") in row} == NOT_SHOWN.keys()
    assert {name for name, row in rows.items() if "; undecided: " in row} == UNDECIDED


@pytest.mark.parametrize(("name", "number"), [("cmd", 2), ("cmd-auxiliary", 2), ("delta-causal", 1)])
def test_the_form_as_written_does_not_conform_to_the_repaired_one(name: str, number: int) -> None:
    written, repaired = catalog.models(name, as_written=True)[0], catalog.models(name)[0]
    execution = Simulator(written, usual(written)).run(1, number).execution
    answer, _ = Judge(repaired).judge(execution)
    assert isinstance(answer, Deviates)
    assert answer.event is not None
