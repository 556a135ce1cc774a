"""The compiled Δ-causal algorithm is the model, and what it calls deliverable is so by definition."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest

from experiments.delta_causal_delays import (
    BELOW_ZERO,
    CLIPPED,
    DISCARDED,
    PLAIN_DEVIATION,
    READINGS,
    REDRAWN,
    TRUE_MEAN,
    Reading,
)
from experiments.delta_causal_kernel import NEVER, Measured, Messages, drawn, measured, uniform_requests
from experiments.delta_causal_max_cb import Case, Work, executed
from precedes.protocol import Deliver, Here, Message, Step
from precedes.protocol.bounds import Conditions
from precedes.protocol.running.chance import Chance
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.delta_causal.agent import Packet
from precedes_models.delta_causal.protocol import DeltaCausal

DELTA = 1_000_000
COUNT = 250


def both(
    entities: int, load: float, reading: Reading, bound: int, number: int
) -> tuple[Messages, Measured, Measured]:
    """The messages, and what became of them in the compiled algorithm and in the model."""
    requests = uniform_requests(entities, COUNT, DELTA / 5 / load)
    delays = reading.delays(DELTA)
    messages = drawn(3, number, requests, delays)
    sent_at: dict[tuple[int, int], tuple[int, int, int]] = {}
    delivered_at: dict[tuple[int, int], int] = {}

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> None:
        for action in step.actions:
            if isinstance(action, Deliver):
                delivered_at[action.message.sender, action.message.number] = time
        if isinstance(cause, Message):
            (packet,) = (action.packet for action in step.actions)  # type: ignore[union-attr]
            assert isinstance(packet, Packet)
            (destination,) = cause.destinations
            sent_at[cause.sender, cause.number] = (
                time,
                len(packet.cb[destination]),
                len(packet.cb[cause.sender]),
            )

    model = DeltaCausal(delta=DELTA, lemmas=False, max_cb=bound)
    conditions = Conditions(entities=entities, messages=COUNT)
    Simulator(model, conditions, requests=requests, delays=delays, observe=observe).run(3, number)
    out = Measured(*(np.full(COUNT, NEVER, np.int64) for _ in range(4)))
    counts = [0] * entities
    for k, sender in enumerate(messages.sender.tolist()):
        counts[sender] += 1
        time, marks, marks_of_sender = sent_at[sender, counts[sender]]
        # No request was refused: at no tick are there two events of one entity, of which the first is a delivery.
        assert time == messages.sent[k]
        out.marks[k], out.marks_of_sender[k] = marks, marks_of_sender
        out.delivered[k] = delivered_at.get((sender, counts[sender]), NEVER)
    return messages, measured(messages, entities, DELTA, bound), out


@pytest.mark.parametrize("bound", [2, *(pytest.param(bound, marks=pytest.mark.slow) for bound in (1, 3, 6))])
@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_the_compiled_algorithm_is_the_model(bound: int, reading: Reading) -> None:
    for number, load in ((1, 3.0),) if bound == 2 else ((1, 1.0), (2, 3.0)):
        _, compiled, model = both(6, load, reading, bound, number)
        for name in ("marks", "marks_of_sender", "delivered"):
            assert (getattr(compiled, name) == getattr(model, name)).all(), name


def test_late_messages_are_discarded_by_both() -> None:
    slow = Reading("slow", 4.0, 1.5, True)
    messages, compiled, model = both(5, 1.0, slow, 2, 1)
    late = messages.delay > DELTA
    assert 0.1 < late.mean() < 0.5
    assert ((compiled.delivered == NEVER) == late).all()
    assert (compiled.delivered == model.delivered).all()


@pytest.mark.parametrize(("bound", "at_least"), [(1, 50), (2, 5), (5, 0)])
def test_a_message_is_deliverable_when_all_that_precedes_it_is_delivered_or_late(
    bound: int, at_least: int
) -> None:
    """Section 3.1, by Definition 4, from who sent and delivered what when."""
    messages, out, _ = both(4, 4.0, Reading("wide", 1.0, 2.0, True), bound, 1)
    order = sorted(
        [(int(time), 0, k) for k, time in enumerate(messages.sent)]
        + [(int(time), 1, k) for k, time in enumerate(out.delivered) if time != NEVER]
    )
    known: list[set[int]] = [set() for _ in range(4)]
    before: dict[int, set[int]] = {}
    for _, kind, k in order:
        if kind == 0:
            before[k] = set(known[messages.sender[k]])
            known[messages.sender[k]].add(k)
        else:
            known[messages.destination[k]] |= before[k] | {k}
    waited = 0
    for k in np.flatnonzero(out.delivered != NEVER).tolist():
        moments = [int(messages.sent[k] + messages.delay[k])]
        for other in before[k]:
            deadline = int(messages.sent[other]) + DELTA
            if messages.destination[other] == messages.destination[k] and deadline >= messages.sent[k]:
                gone = out.delivered[other]
                moments.append(deadline + 1 if gone == NEVER else int(gone))
        assert out.deliverable[k] == max(moments), k
        waited += out.delivered[k] > out.deliverable[k]
    assert waited >= at_least


def test_without_a_bound_nothing_waits_needlessly() -> None:
    messages = drawn(1, 1, uniform_requests(6, 2_000, DELTA / 5), REDRAWN.delays(DELTA))
    unbounded = measured(messages, 6, DELTA, 7)
    assert (unbounded.delivered == unbounded.deliverable).all()
    assert (
        measured(messages, 6, DELTA, 1).delivered != measured(messages, 6, DELTA, 1).deliverable
    ).sum() > 500


def test_the_numbers_of_the_text_imply_delays_below_zero() -> None:
    assert pytest.approx(1.0756, abs=1e-4) == PLAIN_DEVIATION
    assert pytest.approx(0.1762, abs=1e-4) == BELOW_ZERO
    for reading in READINGS:
        assert reading.late == pytest.approx(DISCARDED)
    assert TRUE_MEAN.mean_delay == pytest.approx(1)
    assert REDRAWN.mean_delay > CLIPPED.mean_delay > 1


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_delays_have_the_mean_and_the_zeros_that_are_computed(reading: Reading) -> None:
    chance, delay = Chance(1, 1, "network"), reading.delays(DELTA)
    delays = [delay(chance) for _ in range(40_000)]
    assert min(delays) >= 0
    assert sum(delays) / len(delays) / (DELTA / 5) == pytest.approx(reading.mean_delay, rel=0.02)
    assert delays.count(0) / len(delays) == pytest.approx(0.0 if reading.again else BELOW_ZERO, abs=0.01)


def test_a_run_is_the_same_wherever_it_is_run() -> None:
    work = Work(Case(5, 1.0, REDRAWN), 500, 1)
    assert executed(work) == executed(work) != executed(Work(work.case, 500, 2))
