"""The steps of the Δ-causal protocol, one at a time, at their edges."""

from __future__ import annotations

import pytest

from precedes.protocol import Arrive, Choose, Deliver, Discard, Here, Message, Step, Timer, Transmit
from precedes_models.delta_causal.agent import Agent, Packet, union_max
from precedes_models.delta_causal.fixed_wait import FixedWait
from precedes_models.delta_causal.protocol import DeltaCausal

NOTHING: frozenset[tuple[int, int]] = frozenset()


def here(entity: int, now: int) -> Here:
    return Here(entity, 3, now)


def sent(protocol: DeltaCausal, state: Agent, at: Here, to: set[int]) -> tuple[Agent, Packet]:
    step = protocol.send(at, state, Message(at.entity, 1, frozenset(to)))
    assert isinstance(step, Step)
    (transmit,) = step.actions
    assert isinstance(transmit, Transmit)
    assert isinstance(transmit.packet, Packet)
    return step.state, transmit.packet


def packet(stamp: int, *marks: tuple[int, int], sender: int = 0, to: int = 2) -> Packet:
    tag = tuple(frozenset(marks) if k == to else NOTHING for k in range(3))
    return Packet(Message(sender, 1, frozenset({to})), stamp, tag)


def test_union_max_keeps_the_latest_of_each_sender() -> None:
    first, second = frozenset({(0, 1), (1, 5)}), frozenset({(0, 3), (2, 2)})
    assert union_max(first, second) == {(0, 3), (1, 5), (2, 2)}
    assert union_max(first, NOTHING) == first


def test_s2_keeps_what_was_sent_exactly_delta_ago() -> None:
    protocol = DeltaCausal(delta=5)
    marks = frozenset({(0, 4), (1, 5)})
    assert protocol.unexpired((marks, NOTHING, NOTHING), 10) == ({(1, 5)}, NOTHING, NOTHING)


def test_s3_keeps_the_latest_and_of_one_time_any() -> None:
    protocol = DeltaCausal(delta=9, max_cb=2)
    marks = frozenset({(0, 7), (1, 5), (2, 5)})
    found = {tag[0] for tag in protocol.trimmed((marks,))}
    assert found == {frozenset({(0, 7), (1, 5)}), frozenset({(0, 7), (2, 5)})}
    step = protocol.send(
        here(0, 8), Agent((marks, NOTHING, NOTHING), (0, 0, 0)), Message(0, 1, frozenset({1}))
    )
    assert isinstance(step, Choose)
    assert len(step.options) == 2


def test_s5_replaces_the_marks_of_the_destinations_alone() -> None:
    protocol = DeltaCausal(delta=9)
    before = Agent((NOTHING, frozenset({(2, 1)}), frozenset({(1, 1)})), (0, 0, 0))
    state, tagged = sent(protocol, before, here(0, 3), {1})
    assert tagged.cb == before.cb
    assert state.cb == (NOTHING, {(0, 3)}, {(1, 1)})


def test_r1_delivers_exactly_delta_after_the_send_and_not_later() -> None:
    protocol = DeltaCausal(delta=5)
    start = protocol.start(here(2, 0))
    in_time = protocol.arrive(here(2, 8), start, packet(3), 0)
    late = protocol.arrive(here(2, 9), start, packet(3), 0)
    message = packet(3).message
    assert isinstance(in_time, Step)
    assert in_time.actions == (Arrive(message), Deliver(message))
    assert late == Step(start, (Arrive(message), Discard(message)))


def test_r2_waits_for_what_the_tag_names_or_for_its_deadline() -> None:
    protocol = DeltaCausal(delta=5, max_cb=2)
    waits = protocol.arrive(here(2, 4), protocol.start(here(2, 0)), packet(3, (1, 2)), 0)
    assert isinstance(waits, Step)
    assert protocol.waiting(waits.state) == {packet(3).message}
    assert protocol.timers(here(2, 4), waits.state) == (Timer("wait", due=8),)
    arrives = protocol.arrive(here(2, 6), waits.state, packet(2, sender=1), 1)
    assert isinstance(arrives, Step)
    assert arrives.actions[-1] == Deliver(packet(2, sender=1).message)
    # What else can be delivered follows in the same tick.
    assert protocol.timers(here(2, 6), arrives.state) == (Timer("wait", due=3),)
    expires = protocol.expire(here(2, 6), arrives.state, Timer("wait", due=3))
    assert isinstance(expires, Step)
    assert expires.actions == (Deliver(packet(3).message),)


def test_r2_with_a_full_tag_waits_for_a_deadline_even_of_what_was_delivered() -> None:
    full, roomy = DeltaCausal(delta=5, max_cb=1), DeltaCausal(delta=5, max_cb=2)
    state = Agent((NOTHING,) * 3, (0, 2, 0))
    assert full.due(here(2, 4), state, packet(3, (1, 2))) == 8
    assert roomy.due(here(2, 4), state, packet(3, (1, 2))) == 3
    assert DeltaCausal(delta=5, max_cb=None).due(here(2, 4), state, packet(3, (1, 2))) == 3


def test_r4_names_the_sender_and_as_written_the_receiver() -> None:
    came = Packet(Message(0, 1, frozenset({1, 2})), 3, (NOTHING, frozenset({(2, 1)}), NOTHING))
    cb = (NOTHING,) * 3
    assert DeltaCausal().learned(here(1, 4), cb, came) == (NOTHING, NOTHING, {(0, 3)})
    assert DeltaCausal(as_written=True).learned(here(1, 4), cb, came) == (NOTHING, NOTHING, {(1, 3)})


def test_r5_learns_of_who_is_no_destination() -> None:
    tag = (frozenset({(2, 1)}), frozenset({(2, 2)}), frozenset({(2, 3)}))
    came = Packet(Message(0, 1, frozenset({1})), 3, tag)
    assert DeltaCausal().learned(here(1, 4), (NOTHING,) * 3, came) == ({(2, 1)}, NOTHING, {(2, 3)})


def test_a_request_waits_for_the_clock_and_as_written_does_not() -> None:
    first, _ = sent(DeltaCausal(), DeltaCausal().start(here(0, 0)), here(0, 4), {1})
    again = Message(0, 2, frozenset({1}))
    assert DeltaCausal().send(here(0, 4), first, again) is None
    assert DeltaCausal().send(here(0, 5), first, again) is not None
    written = DeltaCausal(as_written=True)
    assert written.send(here(0, 4), first, again) is not None


def test_r0_waits_until_the_clock_shows_the_time_stamp() -> None:
    protocol = DeltaCausal(delta=5, epsilon=2)
    early = protocol.arrive(here(2, 1), protocol.start(here(2, 0)), packet(3), 0)
    assert isinstance(early, Step)
    assert early.actions == (Arrive(packet(3).message),)
    assert protocol.timers(here(2, 1), early.state) == (Timer("wait", due=3),)
    assert not protocol.is_late(here(2, 10), packet(3))
    assert protocol.is_late(here(2, 11), packet(3))


@pytest.mark.parametrize(
    "made",
    [
        lambda: DeltaCausal(delta=-1),
        lambda: DeltaCausal(max_cb=0),
        lambda: DeltaCausal(epsilon=-1),
        lambda: FixedWait(delta=5, wait=1),
        lambda: FixedWait(delta=6, wait=3),
    ],
)
def test_what_makes_no_sense_is_refused(made: object) -> None:
    with pytest.raises(ValueError, match=r"ticks|bound|between"):
        made()  # type: ignore[operator]
