"""Executions of models with a mistake, or as written, against the repaired model: which do not conform.

The tables have, for each mistake, the first simulated execution that shows it. Some show only if it is known that an
execution was recorded to its end: what is then wrong is that something is never delivered.
"""

from __future__ import annotations

from typing import Any

import pytest

from precedes.protocol import Conditions, Destinations, Protocol, catalog
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.verdicts import Deviates, Limits
from precedes.protocol.simulation.simulator import Simulator, usual
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from precedes_models.raynal_schiper_toueg import RaynalSchiperToueg
from tests.models.cmd import bugs

THREE = Conditions(entities=3, messages=8, interval=1000, delay=1500, deviation=700)
ANY = Conditions(
    entities=3, messages=8, interval=1000, delay=1500, deviation=700, destinations=Destinations.ANY
)
FOUR = Conditions(entities=4, messages=12, interval=1000, delay=1500, deviation=900)

SHOWN: tuple[tuple[type[Protocol[Any]], Protocol[Any], Conditions, int], ...] = (
    (bugs.ForgetsItsSends, Auxiliary(), ANY, 1),
    (bugs.HandsNothingOn, Auxiliary(), ANY, 10),
    (bugs.OneAhead, Auxiliary(), ANY, 1),
    (bugs.CountsOnlyItself, Auxiliary(), ANY, 1),
    (bugs.WaitsForOne, Auxiliary(), ANY, 1),
    (bugs.KeepsTheOlder, Cmd(), ANY, 1),
    (bugs.Rule2WithoutTime, Cmd(), ANY, 8),
    (bugs.Rule3OneAhead, Cmd(), ANY, 10),
    (bugs.LearnsNothingNew, Cmd(), ANY, 10),
    (bugs.CountsNoSend, RaynalSchiperToueg(), THREE, 1),
    (bugs.ReadsTheRow, RaynalSchiperToueg(), THREE, 1),
    (bugs.NotOfTheSender, BirmanSchiperStephenson(), THREE, 1),
    (bugs.OneGroupAtATime, BirmanSchiperStephenson(), THREE, 2),
)
"""The mistake, the model without it, the conditions, and the number of the execution."""
LONGER: tuple[tuple[type[Protocol[Any]], Protocol[Any], Conditions, int], ...] = (
    (bugs.LearnsNoCounts, RaynalSchiperToueg(), FOUR, 4),
    (bugs.OnlyOfTheSender, BirmanSchiperStephenson(), FOUR, 4),
)
"""The same, and the search takes a second."""

AT_THE_END: tuple[tuple[type[Protocol[Any]], Protocol[Any], int], ...] = (
    (bugs.CountsNoDelivery, RaynalSchiperToueg(), 2),
    (bugs.LearnsNoTimes, BirmanSchiperStephenson(), 2),
)
"""Something waits for ever: no trace shows that unless it is known that nothing was in flight at its end."""

NOT_SHOWN = {
    bugs.CopiesCountThemselves: "nothing to several is ever delivered; of all that is in flight too much may be late",
    bugs.Rule1LooksAtSenders: "needs s-records of one sender with two receivers that meet; the first 40 have none",
    bugs.LearnsOfItsGroups: "needs a chain through two groups; none of the first 15 executions has one that matters",
}
"""Why no execution of the sample shows a mistake."""


@pytest.mark.parametrize(
    ("bug", "repaired", "conditions", "number"),
    [*SHOWN, *(pytest.param(*one, marks=pytest.mark.slow) for one in LONGER)],
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
@pytest.mark.parametrize(("bug", "repaired", "number"), AT_THE_END)
def test_what_waits_for_ever_shows_at_the_end(
    bug: type[Protocol[Any]], repaired: Protocol[Any], number: int
) -> None:
    execution = Simulator(bug(), FOUR).run(1, number).execution
    answer, _ = Judge(repaired, Limits(quiescent=True)).judge(execution)
    assert isinstance(answer, Deviates)
    assert answer.event is None


def test_every_mistake_stands_in_a_table() -> None:
    told = {bug for bug, *_ in (*SHOWN, *LONGER)} | {bug for bug, *_ in AT_THE_END} | NOT_SHOWN.keys()
    assert told == {*bugs.OF_AUXILIARY, *bugs.OF_CMD, *bugs.OF_BASELINES}


@pytest.mark.parametrize(("name", "number"), [("cmd", 2), ("cmd-auxiliary", 2), ("delta-causal", 1)])
def test_the_form_as_written_does_not_conform_to_the_repaired_one(name: str, number: int) -> None:
    written, repaired = catalog.models(name, as_written=True)[0], catalog.models(name)[0]
    execution = Simulator(written, usual(written)).run(1, number).execution
    answer, _ = Judge(repaired).judge(execution)
    assert isinstance(answer, Deviates)
    assert answer.event is not None
