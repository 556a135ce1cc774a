"""Schedules of the Δ-causal protocol that Z3 chooses: what it finds, what it excludes, and that what it is told of the
protocol is what the model does.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.core.formula import Relation
from precedes.engines.solver.logic import Linear, Outcome, Solver, Watch, compared, negated, number
from precedes.engines.solver.search import Mismatch
from precedes_models.delta_causal.full_tag import FullTag
from precedes_models.delta_causal.protocol import DeltaCausal, Letter, Part
from precedes_models.delta_causal.schedules.encoding import Encoding
from precedes_models.delta_causal.schedules.replay import carried_out
from precedes_models.delta_causal.schedules.search import (
    Claim,
    NoViolation,
    ScheduleViolation,
    Undecided,
    find_schedule,
    read,
)
from tests.sampling import one_in


def test_as_written_two_messages_of_one_time_break_theorem_4() -> None:
    found = find_schedule(DeltaCausal(as_written=True, max_cb=None), Claim.THEOREM_4)
    assert isinstance(found, ScheduleViolation)
    assert len(found.schedule.sends) == 2
    late = next(flight for flight in found.schedule.flights if flight.delivered == found.schedule.delta + 1)
    assert late.arrives == found.schedule.sends[late.message][1]


def test_as_written_three_messages_of_one_time_break_theorem_3() -> None:
    found = find_schedule(DeltaCausal(as_written=True), Claim.THEOREM_3)
    assert isinstance(found, ScheduleViolation)
    assert len(found.schedule.sends) == 3
    assert {time for _, time in found.schedule.sends} == {0}


def test_step_r4_to_the_letter_breaks_theorem_3_whatever_the_times() -> None:
    found = find_schedule(DeltaCausal(as_written=True), Claim.THEOREM_3, apart=True)
    assert isinstance(found, ScheduleViolation)
    assert found.schedule.delta == 3
    receipts = {h.entity: h.messages(EventKind.DELIVER) for h in found.execution.histories}
    assert receipts == {"E1": ("b1",), "E2": ("a1", "a2", "b1")}
    # a2 goes out with the mark of a1 alone: that of b1 had the number of its receiver.
    assert found.schedule.tags[2][1] == frozenset({(0, 0)})


@pytest.mark.parametrize("claim", list(Claim))
@pytest.mark.parametrize("epsilon", [0, 1])
def test_repaired_no_schedule_of_three_messages_breaks_a_theorem(claim: Claim, epsilon: int) -> None:
    max_cb = 1 if claim is Claim.THEOREM_4 else 2
    found = find_schedule(DeltaCausal(max_cb=max_cb, epsilon=epsilon), claim, entities=2)
    assert isinstance(found, NoViolation), str(found)
    assert len(found.sizes) == 6


@pytest.mark.slow
def test_with_max_cb_1_step_r4_to_the_letter_breaks_nothing_that_four_messages_show() -> None:
    """A message with a mark waits for the deadline of the mark, delivered or not, and order comes of that alone."""
    protocol = DeltaCausal(as_written=True, max_cb=1)
    found = find_schedule(protocol, Claim.THEOREM_3, messages=4, apart=True, timeout=900)
    assert isinstance(found, NoViolation), str(found)


@pytest.mark.slow
@pytest.mark.parametrize("claim", list(Claim))
@pytest.mark.parametrize("epsilon", [0, 1])
@pytest.mark.parametrize("max_cb", [1, 2, None])
def test_repaired_no_schedule_of_four_messages_breaks_a_theorem(
    claim: Claim, epsilon: int, max_cb: int | None
) -> None:
    protocol = DeltaCausal(max_cb=max_cb, epsilon=epsilon)
    found = find_schedule(protocol, claim, entities=3, messages=4, timeout=900)
    assert isinstance(found, NoViolation), str(found)


def test_the_answer_is_the_same_each_time() -> None:
    first, second = (
        find_schedule(DeltaCausal(as_written=True, epsilon=1), Claim.THEOREM_4) for _ in range(2)
    )
    assert isinstance(first, ScheduleViolation)
    assert isinstance(second, ScheduleViolation)
    assert first.schedule == second.schedule


def test_out_of_time_is_no_answer() -> None:
    found = find_schedule(DeltaCausal(), Claim.THEOREM_3, timeout=0.0)
    assert isinstance(found, Undecided)
    assert "0 s" in str(found)


def test_another_model_is_refused() -> None:
    with pytest.raises(PrecedesError):
        find_schedule(FullTag(), Claim.THEOREM_3)


# ---- what Z3 is told is what the model does ----------------------------------------------------------------------


def _scheduled(seed: int, protocol: DeltaCausal, epsilon: int) -> None:
    """Senders, destinations, times and clocks drawn; what the propositions make of them is what the model makes."""
    draw = random.Random(seed)
    encoding = Encoding(
        3, 4, protocol.max_cb, protocol.clock_stamps, protocol.receiver_marks, skewed=epsilon > 0
    )
    with Watch(2048) as watch:
        solver = Solver(propositional=False, watch=watch)
        for constraint in encoding.constraints():
            solver.add(constraint)
        for m in encoding.messages:
            destinations = draw.sample(encoding.entities, draw.randint(1, 3))
            for e in encoding.entities:
                goes = encoding.is_destination(m, e)
                solver.add(goes if e in destinations else negated(goes))
        wanted = [(encoding.delta, draw.choice((2, 3, 5)))]
        if epsilon:
            wanted.append((encoding.epsilon, epsilon))
            wanted += [(encoding.ahead(e), draw.randint(0, epsilon)) for e in encoding.entities]
        for m in encoding.messages:
            sender = encoding.is_sender(m, draw.randrange(3))
            sent = draw.randint(0, 3)
            wanted.append((encoding.sent(m), sent + m))
            if solver.check(60, sender) is Outcome.SATISFIABLE:
                solver.add(sender)
            wanted += [(encoding.arrived(m, e), sent + m + draw.randint(0, 5)) for e in encoding.entities]
        for symbol, value in wanted:
            here = compared(number(symbol), Relation.EQUAL, Linear(value))  # type: ignore[arg-type]
            if solver.check(60, here) is Outcome.SATISFIABLE:
                solver.add(here)
        assert solver.check(60) is Outcome.SATISFIABLE
        schedule = read(encoding, solver)
    carried_out(replace(protocol, delta=schedule.delta, epsilon=schedule.epsilon), schedule)


LETTERS = frozenset[Letter](), frozenset({Letter.S1}), frozenset({Letter.R4}), frozenset(Letter)


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_what_the_propositions_say_happens_is_what_the_model_does(seed: int) -> None:
    max_cb = (1, 2, None)[seed % 3]
    _scheduled(seed, DeltaCausal(max_cb=max_cb, letters=LETTERS[seed]), epsilon=seed % 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 100))
def test_it_is_so_of_many_schedules(seed: int) -> None:
    max_cb = (1, 2, None)[seed % 3]
    letters = frozenset[Letter]() if seed % 2 else LETTERS[seed % 8 // 2]
    _scheduled(seed, DeltaCausal(max_cb=max_cb, letters=letters), epsilon=seed % 2)


def test_to_the_letter_of_one_step_what_both_break_is_found() -> None:
    """(R4) alone at distinct times; (S1) alone breaks nothing there."""
    found = find_schedule(DeltaCausal(letters=frozenset({Letter.R4})), Claim.THEOREM_3, apart=True)
    assert isinstance(found, ScheduleViolation)
    clocks = find_schedule(
        DeltaCausal(letters=frozenset({Letter.S1})), Claim.THEOREM_3, entities=2, apart=True
    )
    assert isinstance(clocks, NoViolation)


def test_a_protocol_with_a_step_left_out_is_refused() -> None:
    with pytest.raises(PrecedesError, match="whole protocol"):
        find_schedule(DeltaCausal(without=frozenset({Part.R0})), Claim.THEOREM_3)


def test_a_schedule_that_the_model_does_not_keep_is_noticed() -> None:
    """A model that is another than the propositions say, here by its bound, is not taken for the one that they mean."""
    found = find_schedule(DeltaCausal(as_written=True, max_cb=None), Claim.THEOREM_4)
    assert isinstance(found, ScheduleViolation)
    other = DeltaCausal(max_cb=None, delta=found.schedule.delta)
    with pytest.raises(Mismatch):
        carried_out(other, found.schedule)
