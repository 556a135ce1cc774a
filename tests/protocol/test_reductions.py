"""The reductions against the plain search: what one finds violated the other does, and just as soon."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import Here, Message, OfStep, Protocol, Step, Transmit
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.reductions import Reduction
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.exploration.stability import lasts
from precedes.protocol.invariants import Invariant
from precedes_models.cmd.auxiliary import LEMMA_6, Auxiliary
from tests.protocol.toys import ENTITY, STEP, Drawn, InTurn, Tabled

MOODS = st.integers(0, 2)
WHATS = st.sampled_from(("deliver", "deliver", "deliver", "keep", "drop", "refuse", "release"))
TABLED = st.builds(
    Tabled,
    sends=st.tuples(MOODS, MOODS, MOODS),
    arrivals=st.lists(st.tuples(MOODS, WHATS), min_size=9, max_size=9).map(tuple),
    wrong=st.integers(0, 9),
    refuses=st.sampled_from((0, 1, 2, 9, 9, 9)),
)
ASKED = (
    "order_preserving",
    "causal_order",
    "agreement",
    "selectively_information_preserving",
    "prefix_order",
)


def named(*names: str) -> list[Requirement]:
    return [requirement(name, standard_library()) for name in names]


def shortest(found: Exploration) -> dict[str, int]:
    return {finding.property: len(finding.behavior) for finding in found.findings}


def same(
    protocol: Protocol[Any], bounds: Bounds, asked: list[Requirement], invariants: tuple[Invariant, ...]
) -> tuple[Exploration, Exploration]:
    plain = explore(protocol, bounds, asked, invariants=invariants, plain=True)
    reduced = explore(protocol, bounds, asked, invariants=invariants)
    assert not plain.reductions
    assert shortest(reduced) == shortest(plain)
    assert reduced.verdicts == plain.verdicts
    return plain, reduced


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(protocol=TABLED, asked=st.sets(st.sampled_from(ASKED)), unicast=st.booleans())
def test_random_protocols(protocol: Tabled, asked: set[str], unicast: bool) -> None:
    destinations = Destinations.UNICAST if unicast else Destinations.MULTICAST
    bounds = Bounds(entities=3, messages=2, destinations=destinations)
    same(protocol, bounds, named(*sorted(asked)), (STEP, ENTITY))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(protocol=TABLED)
def test_random_protocols_entity_by_entity(protocol: Tabled) -> None:
    _, reduced = same(protocol, Bounds(entities=3, messages=3), [], (STEP, ENTITY))
    assert set(reduced.reductions) == {reduction.value for reduction in Reduction} - {
        Reduction.SILENTLY.value
    }


@dataclass(frozen=True)
class Answering(Tabled):
    """Answers in the mood and to the packet of number `wrong`, which it may deny; answers are not answered."""

    denies: bool = False
    symmetric: ClassVar[bool] = False

    @property
    def answers(self) -> bool:  # type: ignore[override]
        return not self.denies

    def arrive(self, here: Here, state: Drawn, packet: Any, sender: int) -> Step[Drawn] | None:
        if packet == "answer":
            return Step(state)
        step = super().arrive(here, state, packet, sender)
        if step is None or 3 * state.mood + packet[1] != self.wrong:
            return step
        return replace(step, actions=(*step.actions, Transmit("answer", frozenset({sender}))))


SILENT = OfStep(
    "silent",
    "made for this test",
    lambda protocol, here, before, cause, step: (
        None if isinstance(cause, Message) else not any(isinstance(a, Transmit) for a in step.actions)
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(protocol=TABLED, claims=st.sets(st.sampled_from(ASKED[:4])))
def test_whatever_answers_and_denies_it_is_met_in_the_reduced_search(
    protocol: Tabled, claims: set[str]
) -> None:
    bounds = Bounds(entities=3, messages=2)
    answering = Answering(**{field.name: getattr(protocol, field.name) for field in fields(protocol)})
    answers = explore(answering, bounds, [], invariants=(SILENT,)).of("silent") is Verdict.VIOLATED
    code = None
    try:
        explore(replace(answering, denies=True), bounds, named(*sorted(claims)), invariants=(STEP,))
    except PrecedesError as error:
        code = error.diagnostics[0].code
    assert code == ("M013" if answers else None)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(protocol=TABLED, asked=st.sets(st.sampled_from(ASKED)))
def test_more_random_protocols(protocol: Tabled, asked: set[str]) -> None:
    same(protocol, Bounds(entities=3, messages=3), named(*sorted(asked)), (STEP, ENTITY))


@pytest.mark.parametrize("mistake", ["", "at once", "forgets", "again", "one at a time"])
@pytest.mark.parametrize("faults", [{}, {"losses": 1}, {"duplicates": 1}])
def test_seeded_mistakes(mistake: str, faults: dict[str, int]) -> None:
    protocol = InTurn(mistake=mistake)
    bounds = Bounds(entities=3, messages=2, **faults)  # type: ignore[arg-type]
    plain, reduced = same(protocol, bounds, named(*protocol.claims), ())
    assert reduced.states < plain.states
    unfaulted = {"at once", "forgets", "one at a time"}
    if mistake in unfaulted or (mistake == "again" and "duplicates" in faults):
        assert plain.findings


@pytest.mark.parametrize("as_written", [False, True])
def test_the_auxiliary_procedure(as_written: bool) -> None:
    protocol = Auxiliary(as_written=as_written)
    _, reduced = same(protocol, Bounds(entities=3, messages=3), named(*protocol.claims), (LEMMA_6,))
    assert len(reduced.reductions) == 2
    assert bool(reduced.findings) is as_written


def test_named_entities_are_not_exchanged() -> None:
    found = explore(InTurn(), Bounds(entities=3, messages=1), named('forall p in RL["E1"]: sent(p)'))
    assert Reduction.SYMMETRY.value not in found.reductions


def test_what_is_seen_to_last() -> None:
    """Of these the reduced search is enough, as far as formulas go; of the others the plain search has to be made."""
    library = standard_library()
    lasting = (
        *("order_preserving", "order_equivalent", "causal_order", "causal_delivery", "fifo_delivery"),
        *(
            "delta_causal_order",
            "deadline",
            "acyclic_order",
            "gap_free_order",
            "no_duplication",
            "vector_time",
        ),
        *("no_creation", 'forall p in RL["E1"]: not p in RL["E2"]'),
        *("information_equivalent", "agreement", "validity", "timely_delivery", "TO", "ST", "reliable"),
        *("quiescent prefix_order", 'quiescent size(RL["E1"]) <= 2', "not not quiescent prefix_order"),
        'size(SL["E1"]) <= 2 or quiescent prefix_order',
    )
    for name in lasting:
        assert lasts(requirement(name, library).formula), name
    for name in (
        *("prefix_order", 'size(RL["E1"]) <= 2', "always agreement", "not no_duplication"),
        *("not quiescent agreement", "no_creation iff validity", "not (quiescent agreement) or prefix_order"),
    ):
        assert not lasts(requirement(name, library).formula), name
