"""Section 3 of 1994 by single steps: the flow condition, what acknowledgment takes, and what shows a loss."""

from __future__ import annotations

import pytest

from experiments.st_channel import Channel
from precedes.protocol.exploration.result import DEADLOCK
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.state import Pdu
from tests.models.st.exploring import explored


@pytest.mark.parametrize(
    ("buffers", "factor", "accepted"), [(1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 1, 2), (4, 2, 1), (5, 2, 2)]
)
def test_the_flow_condition_does_not_round(buffers: int, factor: int, accepted: int) -> None:
    """TSEQ - minAL < minBUF/(H * n), n = 2: with 3 buffers the second PDU goes out, for 1 < 1.5."""
    channel = Channel(SelectiveTotalOrder(buffers=buffers, factor=factor), 2)
    assert [channel.send(0, 0, 1) is not None for _ in range(4)] == [k < accepted for k in range(4)]


@pytest.mark.parametrize(("buffers", "moves"), [(1, 9), (2, 12), (3, 15)])
def test_full_buffers_shut_the_window_for_good(buffers: int, moves: int) -> None:
    """The flow condition counts what is not accepted, the buffers hold what is not acknowledged. Where they are full,
    nobody may send the PDUs that would acknowledge it."""
    protocol = SelectiveTotalOrder(confirms=False, buffers=buffers, repeats=1)
    sends = " ".join(["a{1,2} b{1,2}"] * 3)
    found = explored(protocol, 2, sends, 0)
    assert [(each.property, len(each.behavior) - 1) for each in found.findings] == [(DEADLOCK, moves)]


@pytest.mark.parametrize("entities", [2, 3, 5, 8])
def test_acknowledgment_takes_two_confirmations_of_everybody(entities: int) -> None:
    """Section 3.2: O(n) PDUs. Without loss the PDU itself and 2n confirmations."""
    channel = Channel(SelectiveTotalOrder(), entities)
    channel.send(0, *range(entities))
    channel.read_all()
    sent = []
    while not all(state.arl for state in channel.states):
        sent.append(len(channel.transmitted))
        assert channel.expire()
        channel.read_all()
    assert [*sent, len(channel.transmitted)] == list(range(1, 2 * entities + 2))


def test_pre_acknowledged_here_and_unknown_there() -> None:
    """Section 2.3: why two levels. E3 misses the confirmation of E2, and does not know that E2 has accepted a1."""
    channel = Channel(SelectiveTotalOrder(), 3)
    channel.send(0, 1, 2)
    channel.read_all()
    for _ in range(3):
        assert channel.expire()
        from_e2 = channel.inboxes[2][0][0] == 1
        channel.read_all(0, 1)
        channel.read(2, lost=from_e2)
    here, there = channel.states[1], channel.states[2]
    assert [pdu.tseq for pdu in here.prl] == [1]
    assert there.al[0][1] == 1
    assert there.rrl
    channel.settle()
    assert all(not state.rrl and not state.prl for state in channel.states)


def test_the_first_half_of_the_failure_condition_alone_shows_a_loss() -> None:
    """E2 misses a1. The ACK of a2 says nothing of it, PSEQ_2 of a2 does."""
    channel = Channel(SelectiveTotalOrder(confirms=False), 2)
    channel.send(0, 1)
    channel.send(0, 1)
    channel.read(1, lost=True)
    last = channel.read(1)
    state = channel.states[1]
    assert isinstance(last, Pdu)
    assert last.ack == (1, 1)
    assert state.preq[0] < last.pseq[1]
    assert state.alarm


def test_the_second_half_of_the_failure_condition_alone_shows_a_loss() -> None:
    """E2 misses a1, which E3 has; c1 is the first PDU of E3, and its ACK_1 tells."""
    channel = Channel(SelectiveTotalOrder(confirms=False), 3)
    channel.send(0, 1, 2)
    channel.read(1, lost=True)
    channel.read(2)
    channel.send(2, 0)
    last = channel.read(1)
    state = channel.states[1]
    assert isinstance(last, Pdu)
    assert last.pseq[1] == state.preq[2]
    assert state.treq[0] < last.ack[0]
    assert state.alarm
