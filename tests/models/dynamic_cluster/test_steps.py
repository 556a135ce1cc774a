"""Steps of the two agreements, one at a time."""

from __future__ import annotations

from dataclasses import replace

from precedes.protocol import Here, Message, Step, Transmit
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.dynamic_cluster.state import (
    Member,
    Rcv,
    RcvAck,
    RcvPack,
    Standing,
    Stop,
    StopAck,
    StopPack,
)
from precedes_models.total_order.transfer import Data

E1, E2, E3 = (Here(k, 3) for k in range(3))
NOBODY, ONLY_E3 = frozenset[int](), frozenset({2})
ROW = (1, 1, 1)
A1 = Message(0, 1, frozenset({0, 1, 2}))


def said(step: object) -> tuple[object, ...]:
    """What a step transmits."""
    assert isinstance(step, Step)
    return tuple(action.packet for action in step.actions if isinstance(action, Transmit))


def returning() -> Member:
    """E1, which has stopped, has sent RCV and answered it with RCV_PACK."""
    protocol = DynamicCluster()
    step = protocol.recover(E1, protocol.crash(E1, protocol.start(E1)))
    assert said(step) == (Rcv(0),)
    answered = protocol.arrive(E1, step.state, Rcv(0), 0)
    assert said(answered) == (RcvPack(0, 0, NOBODY, ROW, 0, 0),)
    return answered.state


def test_recovery_3_otherwise_the_merged_emask_is_told_again() -> None:
    """E2 has agreed that E3 has stopped, and E1 could not know. BMAP and emask differ: E1 broadcasts RCV_PACK again."""
    protocol = DynamicCluster()
    step = protocol.arrive(E1, returning(), RcvPack(1, 0, ONLY_E3, ROW, 0, 0), 1)
    assert said(step) == (RcvPack(0, 0, ONLY_E3, ROW, 0, 0),)
    assert step.state.emask == ONLY_E3
    assert step.state.standing is Standing.RECOVERING
    # (3) is carried out when that has come in, from all whose bit is off.
    settled = protocol.arrive(E1, step.state, RcvPack(0, 0, ONLY_E3, ROW, 0, 0), 0)
    assert said(settled) == (RcvAck(0, 0, ONLY_E3, ROW, 0, again=False),)


def test_recovery_3_where_bmap_is_emask_it_goes_on() -> None:
    protocol = DynamicCluster()
    step = protocol.arrive(E1, returning(), RcvPack(1, 0, NOBODY, ROW, 0, 0), 1)
    assert said(step) == ()


def test_stop_3_goes_on_by_a_stop_ack_where_the_stop_pack_was_lost() -> None:
    """E1 and E2 take E3 for stopped. Of E2 only the STOP_ACK has come to E1: it shows that E2 has answered."""
    protocol = DynamicCluster()
    state = protocol.arrive(E1, protocol.start(E1), Stop(1, ONLY_E3, ROW), 1).state
    state = protocol.arrive(E1, state, StopPack(0, ONLY_E3, ROW), 0).state
    step = protocol.arrive(E1, state, StopAck(1, ONLY_E3, ROW), 1)
    assert said(step) == (StopAck(0, ONLY_E3, ROW),)


def test_data_is_sent_while_a_stop_is_agreed_on() -> None:
    """Section 3.2: the agreement goes on without a stop of data transfer."""
    protocol = DynamicCluster()
    state = protocol.arrive(E1, protocol.start(E1), Stop(1, ONLY_E3, ROW), 1).state
    assert state.stopping is not None
    assert said(protocol.send(E1, state, A1)) == (Data(0, 1, ROW, A1),)


def test_no_data_is_sent_while_somebody_is_taken_back() -> None:
    """Recovery (5): the sending of data begins again."""
    protocol = DynamicCluster()
    state = replace(protocol.start(E1), emask=ONLY_E3, marked=ONLY_E3)
    assert protocol.send(E1, state, A1) is not None
    answered = protocol.arrive(E1, state, Rcv(2), 2)
    assert said(answered) == (RcvPack(0, 2, NOBODY, ROW, 0, 0),)
    assert protocol.send(E1, answered.state, A1) is None


def test_recovery_3_an_rcv_after_rcv_pack_is_ignored() -> None:
    protocol = DynamicCluster()
    state = protocol.arrive(E1, replace(protocol.start(E1), emask=ONLY_E3, marked=ONLY_E3), Rcv(2), 2).state
    assert protocol.arrive(E1, state, Rcv(2), 2) == Step(state)
