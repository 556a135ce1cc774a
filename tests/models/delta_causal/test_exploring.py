"""Δ-causal order, explored: exact numbers of states, what holds, and what a step as written breaks."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes_models.delta_causal.agent import DeltaAgent
from precedes_models.delta_causal.fixed_wait import FixedWait
from precedes_models.delta_causal.full_tag import FullTag
from precedes_models.delta_causal.invariants import AS_WRITTEN
from precedes_models.delta_causal.invariants import THEOREM_4 as WAITS
from precedes_models.delta_causal.protocol import DeltaCausal, Letter, Part
from tests.models.delta_causal.bugs import BUGS, CHAIN, ORDER, WAIT, ThirdOfDelta, script

S1_ALONE, R4_ALONE = frozenset({Letter.S1}), frozenset({Letter.R4})

PAIR = Bounds(entities=2, messages=2, ticks=2)
TRIO = Bounds(entities=3, messages=2, ticks=2)
THREE = Bounds(entities=2, messages=3, ticks=2)

STATES = [
    (DeltaCausal(delta=1, max_cb=1), PAIR, 457, 484),
    (DeltaCausal(delta=1, max_cb=2), PAIR, 437, 464),
    (DeltaCausal(delta=1, max_cb=None), PAIR, 437, 464),
    (DeltaCausal(as_written=True, delta=1, max_cb=1), PAIR, 775, 808),
    (DeltaCausal(as_written=True, delta=1, max_cb=2), PAIR, 689, 722),
    (DeltaCausal(as_written=True, delta=1, max_cb=None), PAIR, 689, 722),
    (FullTag(delta=1), PAIR, 437, 464),
    (DeltaCausal(delta=1, max_cb=2), TRIO, 3654, 3998),
    (FixedWait(), Bounds(entities=2, messages=2, ticks=1), 1110, 1177),
]
LARGER = [
    (DeltaCausal(delta=1, max_cb=2), THREE, 3201, 3602),
    (DeltaCausal(delta=1, max_cb=2, epsilon=1), PAIR, 3459, 3620),
]


def named(protocol: DeltaAgent) -> str:
    shown = ("as_written", "max_cb", "epsilon")
    return " ".join(
        [type(protocol).__name__, *(f"{n}={getattr(protocol, n)}" for n in shown if hasattr(protocol, n))]
    )


def cases(*rows: tuple[object, ...], slow: bool = False) -> list[object]:
    marks = [pytest.mark.slow] if slow else []
    return [pytest.param(*row, id=named(row[0]), marks=marks) for row in rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("protocol", "bounds", "states", "transitions"), [*cases(*STATES), *cases(*LARGER, slow=True)]
)
def test_exact_numbers_of_states_in_both_orders(
    protocol: DeltaAgent, bounds: Bounds, states: int, transitions: int
) -> None:
    breadth = explore(protocol, bounds, plain=True)
    depth = explore(protocol, bounds, plain=True, order="depth")
    assert (breadth.states, breadth.transitions) == (depth.states, depth.transitions) == (states, transitions)
    assert breadth.complete
    assert breadth.verdicts == depth.verdicts
    assert explore(protocol, bounds).verdicts == breadth.verdicts


def failing(found: Exploration) -> set[str]:
    assert found.complete, found.stopped_by
    return {finding.property for finding in found.findings}


REPAIRED = [
    (DeltaCausal(delta=1, max_cb=1), THREE),
    (DeltaCausal(delta=1, max_cb=2), THREE),
    (DeltaCausal(delta=1, max_cb=None), THREE),
    (FullTag(delta=1), THREE),
]
FEWER = [
    (DeltaCausal(delta=1, max_cb=1, epsilon=1), THREE),
    (FixedWait(), THREE),
]


@pytest.mark.parametrize(("protocol", "bounds"), cases(*REPAIRED))
def test_repaired_everything_holds_and_is_exercised(protocol: DeltaAgent, bounds: Bounds) -> None:
    found = explore(protocol, bounds)
    assert set(found.verdicts.values()) == {Verdict.HOLDS}, found.verdicts
    assert set(protocol.claims) <= set(found.verdicts)
    assert {invariant.name for invariant in protocol.invariants} <= set(found.verdicts)


@pytest.mark.parametrize(("protocol", "bounds"), cases(*FEWER))
def test_repaired_the_theorems_hold(protocol: DeltaAgent, bounds: Bounds) -> None:
    """By the invariants alone: without what the formulas look at there are fewer states."""
    found = explore(protocol, bounds, ())
    assert set(found.verdicts.values()) == {Verdict.HOLDS}, found.verdicts


@pytest.mark.slow
@pytest.mark.parametrize("max_cb", [1, 2, None])
@pytest.mark.parametrize("destinations", [Destinations.UNICAST, Destinations.MULTICAST])
def test_repaired_three_messages_among_three(max_cb: int | None, destinations: Destinations) -> None:
    bounds = Bounds(entities=3, messages=3, ticks=2, destinations=destinations)
    found = explore(DeltaCausal(delta=1, max_cb=max_cb), bounds, ())
    assert set(found.verdicts.values()) == {Verdict.HOLDS}, found.verdicts


@pytest.mark.slow
def test_repaired_messages_to_oneself() -> None:
    for max_cb in (1, 2, None):
        bounds = Bounds(entities=2, messages=3, ticks=2, destinations=Destinations.ANY)
        found = explore(DeltaCausal(delta=1, max_cb=max_cb), bounds, ())
        assert set(found.verdicts.values()) == {Verdict.HOLDS}, found.verdicts


# ---- as written -----------------------------------------------------------------------------------------------


def claims(*names: str) -> tuple[Requirement, ...]:
    return tuple(requirement(name, standard_library()) for name in names)


LEMMA_2 = "Lemma 2 of messages to others"

R4 = Bounds(entities=2, script=script(({1}, {1}), ({0, 1},)), ticks=2)
"""E1 sends twice to E2, E2 to both."""


def test_r4_to_the_letter_lets_a_message_overtake() -> None:
    asked = claims("causal_order", "delta_causal_order")
    written = explore(DeltaCausal(letters=R4_ALONE, delta=2), R4, asked)
    assert {"causal_order", "delta_causal_order", LEMMA_2, "Lemma 3", ORDER} <= failing(written)
    assert not failing(explore(DeltaCausal(delta=2), R4, asked))


def test_s1_to_the_letter_breaks_theorems_3_and_4() -> None:
    thrice = Bounds(entities=2, script=script(({1}, {1}, {1}), ()), ticks=2)
    written = explore(DeltaCausal(letters=S1_ALONE, delta=1), thrice)
    assert {"causal_order", "delta_causal_order", "deadline", "Lemma 3", ORDER, WAIT} <= failing(written)
    assert "timely_delivery" not in failing(written)
    assert not failing(explore(DeltaCausal(delta=1), thrice))


def test_s1_to_the_letter_breaks_theorem_4_with_two_messages() -> None:
    for max_cb in (1, 2, None):
        written = explore(DeltaCausal(as_written=True, delta=1, max_cb=max_cb), PAIR, claims("deadline"))
        assert failing(written) == {"deadline", WAIT}
        assert not failing(explore(DeltaCausal(delta=1, max_cb=max_cb), PAIR, claims("deadline")))


def test_s1_to_the_letter_breaks_theorem_4_where_clocks_differ() -> None:
    relayed = Bounds(entities=3, script=script(({1, 2},), ({2},), ()), ticks=1)
    assert WAIT in failing(explore(DeltaCausal(letters=S1_ALONE, delta=1, epsilon=1), relayed, ()))
    assert not failing(explore(DeltaCausal(delta=1, epsilon=1), relayed, ()))


def test_lemma_1_holds_in_neither_form() -> None:
    answered = Bounds(entities=2, script=script(({1}, {1}), ({0},)), ticks=2)
    for protocol in (
        DeltaCausal(delta=2),
        DeltaCausal(letters=R4_ALONE, delta=2),
        DeltaCausal(letters=S1_ALONE, delta=2),
    ):
        assert "Lemma 1" in failing(explore(protocol, answered, (), invariants=AS_WRITTEN))
    assert not failing(explore(DeltaCausal(delta=2), answered))


def test_lemma_2_holds_of_messages_to_others_only() -> None:
    to_itself = Bounds(entities=2, script=script(({1},), ({1},)), ticks=2)
    assert failing(explore(DeltaCausal(delta=1), to_itself, (), invariants=AS_WRITTEN)) == {"Lemma 2"}
    assert not failing(explore(DeltaCausal(delta=1), PAIR, (), invariants=AS_WRITTEN))


def test_where_clocks_differ_the_deadline_is_not_kept_in_real_time() -> None:
    once = Bounds(entities=2, messages=1, ticks=0)
    protocol = DeltaCausal(delta=1, epsilon=1)
    assert "deadline" not in protocol.claims
    assert failing(explore(protocol, once, claims("deadline", "timely_delivery"))) == {"deadline"}


# ---- what is asked by name, and steps left out ---------------------------------------------------------------------

GROWS, NEEDLESS, SECTION_2_2, STAMPS = DeltaCausal.further[-4:]


def test_deliv_is_the_maximum_unless_s1_is_taken_to_the_letter() -> None:
    """(R6) assigns; of messages of one time a later delivery may take back what an earlier one noted."""
    assert explore(DeltaCausal(), THREE, (), invariants=(GROWS,)).of(GROWS.name) is Verdict.HOLDS
    assert failing(explore(DeltaCausal(letters=S1_ALONE), THREE, (), invariants=(GROWS,))) == {GROWS.name}


def test_with_a_tag_that_is_not_full_nothing_waits_needlessly() -> None:
    """Section 4.1. As (R4) is written, a mark may name a message that was never sent."""
    for max_cb in (2, None):
        repaired = explore(DeltaCausal(delta=1, max_cb=max_cb), THREE, (), invariants=(NEEDLESS,))
        assert repaired.of(NEEDLESS.name) is Verdict.HOLDS
    relayed = Bounds(entities=3, script=script(({1, 2},), ({2},), ()), ticks=2)
    written = explore(DeltaCausal(delta=2, letters=R4_ALONE), relayed, (), invariants=(NEEDLESS,))
    assert failing(written) == {NEEDLESS.name}
    repaired = explore(DeltaCausal(delta=2), relayed, (), invariants=(NEEDLESS,))
    assert repaired.of(NEEDLESS.name) is Verdict.HOLDS


def test_a_full_tag_may_wait_needlessly() -> None:
    answered = Bounds(entities=2, script=script(({1}, {1}), ({0},)), ticks=4)
    found = explore(DeltaCausal(delta=5, max_cb=1), answered, (), invariants=(NEEDLESS,))
    assert found.exercised[NEEDLESS.name] == 0


def test_a_wait_may_end_exactly_at_delta() -> None:
    """Section 2.2 throws away what is received Δ or more after its send; (R1) and Theorem 4 are of more than Δ."""
    found = explore(DeltaCausal(delta=1), PAIR, (), invariants=(SECTION_2_2,))
    assert failing(found) == {SECTION_2_2.name}


def test_without_r0_a_message_may_have_an_earlier_stamp_than_one_before_it() -> None:
    """Section 3.5. What comes after then cannot be delivered in time without being out of order."""
    relayed = Bounds(entities=3, script=script(({1, 2},), ({2},), ()), ticks=1)
    lost = DeltaCausal(delta=1, epsilon=1, letters=S1_ALONE, without=frozenset({Part.R0}))
    assert failing(explore(lost, relayed, (), invariants=(STAMPS, WAITS))) == {STAMPS.name, WAIT}
    for kept in (replace(lost, without=frozenset()), replace(lost, letters=frozenset())):
        assert explore(kept, relayed, (), invariants=(STAMPS,)).of(STAMPS.name) is Verdict.HOLDS


def test_without_s2_marks_stay_and_nothing_else_changes() -> None:
    within = Bounds(entities=3, script=script(({1}, {1}), ({2},), ()), ticks=3)
    for max_cb in (1, 2, None):
        found = explore(DeltaCausal(delta=1, max_cb=max_cb, without=frozenset({Part.S2})), within)
        assert failing(found) == {"Lemma 1 without 'directly'"}


# ---- what they are measured against ------------------------------------------------------------------------------


def test_the_wait_of_the_fixed_wait_must_be_more_than_a_third_of_delta() -> None:
    assert ORDER in failing(explore(ThirdOfDelta(), CHAIN, ()))
    assert not failing(explore(FixedWait(), CHAIN, ()))


@pytest.mark.parametrize(("broken", "bounds", "name"), cases(*BUGS))
def test_every_seeded_bug_is_found(broken: DeltaAgent, bounds: Bounds, name: str) -> None:
    asked = claims(name) if name == "deadline" else ()
    assert name in failing(explore(broken, bounds, asked))
    whole = next(base for base in (DeltaCausal, FullTag, FixedWait) if isinstance(broken, base))
    parameters = {field.name: getattr(broken, field.name) for field in fields(broken)}
    assert name not in failing(explore(whole(**parameters), bounds, asked))
