"""`--check-purity` of a symmetric model: everything local is compared under every renaming, not handlers alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, ClassVar

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.protocol import (
    Here,
    Invariant,
    Message,
    Network,
    OfEntity,
    OfPair,
    OfState,
    OfStep,
    Reliable,
    Step,
    Timer,
    Transmit,
)
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.catalog import installed, models
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.validation.local_symmetry import LocalSymmetry
from precedes.protocol.validation.symmetry_check import Exchanging
from tests.protocol.toys import Ends, InTurn, Numbered

INVARIANTS: dict[str, Invariant] = {
    "entity": OfEntity("first", "made for this test", lambda protocol, here, state: here.entity > 0),
    "pair": OfPair(
        "pairs",
        "made for this test",
        lambda protocol, here, state, there, other: here.entity < there.entity,
    ),
    "step": OfStep(
        "steps", "made for this test", lambda protocol, here, before, cause, step: here.entity != 1
    ),
    "whole": OfState("whole", "made for this test", lambda protocol, situation: len(situation.sent[0]) == 0),
}
"""Each treats an entity by its number."""


@dataclass(frozen=True)
class Named(InTurn):
    """In turn, and one thing depends on the number of an entity."""

    how: str = ""

    name: ClassVar[str] = "named"
    answers: ClassVar[bool] = True

    @property
    def network(self) -> Network:
        return Reliable(corrupts=True)

    def timers(self, here: Here, state: Ends) -> tuple[Timer, ...]:
        if not state.held:
            return ()
        if self.how == "runs":
            return (Timer("t"),) * (here.entity == 0)
        sooner = self.how == "patience" and here.entity == 0
        return (Timer(f"of {here.entity}", patience=0 if sooner else 1),)

    def expire(self, here: Here, state: Ends, timer: Timer) -> Step[Ends]:
        to = min(here.others) if self.how == "expires" else here.entity
        return Step(state, (Transmit(min(state.held, key=lambda p: p.number), frozenset({to})),))

    def waiting(self, state: Ends) -> frozenset[Message]:
        if self.how == "waiting":
            return frozenset(p.message for p in state.held if p.message.sender)
        return super().waiting(state)

    def crash(self, here: Here, state: Ends) -> Ends | None:
        return None if self.how == "crash" and here.entity == 0 else state

    def corrupted(self, packet: Hashable) -> tuple[Hashable, ...]:
        assert isinstance(packet, Numbered)
        if self.how == "corrupted" and packet.message.sender:
            return ()
        return (replace(packet, number=9),)

    def renamed(self, state: Ends, names: tuple[int, ...]) -> Ends:
        if self.how == "renamed" and names == (1, 2, 0):
            return state
        return super().renamed(state, names)


def checked(how: str, **more: Any) -> Exploration:
    asked = (INVARIANTS[how],) if how in INVARIANTS else ()
    bounds = Bounds(3, 2, crashes=1, corruptions=1, **more)
    return explore(Named(how=how), bounds, [], invariants=asked, check_purity=True)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        *((how, "timers") for how in ("runs", "patience", "expires")),
        *((how, how) for how in ("waiting", "crash", "corrupted")),
        *((how, INVARIANTS[how].name) for how in INVARIANTS),
    ],
)
def test_what_depends_on_the_number_of_an_entity_is_a_mistake(how: str, said: str) -> None:
    with pytest.raises(PrecedesError) as raised:
        checked(how, states=300)
    diagnostic = raised.value.diagnostics[0]
    assert diagnostic.code == "M014"
    assert diagnostic.message.startswith(f"named: {said} ")


def test_a_timer_may_have_the_number_of_its_entity_in_its_name() -> None:
    found = checked("", states=300)
    assert found.reductions == ("symmetry of the entities",)


def test_two_renamings_one_after_the_other_are_one_renaming() -> None:
    exchanging = Exchanging(Named(how="renamed"), 3, tuple(permutations(range(3))))
    with pytest.raises(PrecedesError, match="named: renamed says something else"):
        LocalSymmetry(exchanging).of_state(Here(0, 3), Ends((0, 1, 0), (0, 0, 2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "as_written"),
    [
        (name, as_written)
        for name in installed()
        if models(name)[0].symmetric
        for as_written in ((False, True) if models(name)[0].repaired else (False,))
    ],
)
def test_the_symmetric_models_are(name: str, as_written: bool) -> None:
    for protocol in models(name, as_written=as_written):
        for destinations in (Destinations.UNICAST, Destinations.ANY):
            bounds = Bounds(3, 2, destinations, states=3_000)
            found = explore(protocol, bounds, check_purity=True)
            assert "symmetry of the entities" in found.reductions
