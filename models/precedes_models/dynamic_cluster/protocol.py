"""The dynamic cluster. H. Suzuki, A. Nakamura, M. Takizawa: Design of Fault-tolerant Dynamic Cluster Control
Protocol (in Japanese)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import Here, Invariant, Message, SingleChannel, Step, Timer, Transmit, replace
from precedes_models.dynamic_cluster import stop as stopping
from precedes_models.dynamic_cluster.invariants import INVARIANTS
from precedes_models.dynamic_cluster.recovery import RecoveryAgreement
from precedes_models.dynamic_cluster.state import (
    Letter,
    Member,
    Rcv,
    RcvAck,
    RcvPack,
    Standing,
    Stop,
    StopAck,
    StopPack,
)
from precedes_models.total_order import protocol, transfer
from precedes_models.total_order import reset as total_order_reset
from precedes_models.total_order.protocol import AGAIN, ASK, staggered
from precedes_models.total_order.reset import Rst, RstAck, RstPak
from precedes_models.total_order.transfer import Data, Transfer

HASTY, SUSPECT = 0, ASK + 1
"""The time-out after which an entity is taken for stopped: before it was asked, or long after."""


@dataclass(frozen=True)
class DynamicCluster(RecoveryAgreement):
    """Section 3, over TO: entities stop, are found out by time-out, and may come back.

    Section 3.2, detection: E_k takes E_h for stopped when it waits for something of E_h, a confirmation or an
    answer in an agreement, has asked `attempts` times, and nothing has come.

    As written and repaired differ in eleven steps, each of which `letter` takes as written by itself; the scenario of
    its name in specs/papers/dynamic-cluster-as-written.prec has the shortest behavior in which it fails.

    - ANSWERS, stop (2): a STOP_PACK answers a STOP_PACK, without end. Repaired: answered where emask is new.
    - OWN_ROW, stop (3): REQ_h of each is its own, so that the cuts differ. Repaired: the least that anybody tells.
    - ONCE, stop and recovery: what is lost is lost. Repaired: repeated by time-out, and answered when over.
    - GOES_ON, stop: who is taken for stopped, and its PDUs, are treated as before. Repaired: it stops, and is ignored.
    - AT_ONCE, recovery (2): E_h is taken back before a stop was agreed on. Repaired: first the stop agreement.
    - UNION, recovery (2): one that missed RCV puts the bit of E_h on again. Repaired: for all but that bit.
    - OTHERS_ONLY, recovery (3): all wait for the RCV_ACK that E_h does not send. Repaired: it does.
    - NUMBER, recovery (3): REQ_h = rc.SEQ = 0, which E_h never sends, for numbers begin with 1 here. Repaired: rc.SEQ +
      1. If they begin with 0, which is how rc.ACK_h = 0 can be read, the paper's REQ_h is right.
    - LAST, AL reset: REQ_h is that of the time before the stop. Repaired: of all but E_h.
    - EQUAL, recovery (4): nobody goes on where REQ differ. Repaired: all cut to the least and send the rest again.
    - EARLIER, recovery: an entity that has stopped again is taken back by what was sent before. Repaired: recoveries
      have numbers, and an entity knows after a stop how often it has come back.

    A stop and a recovery at once, which section 4 leaves open: the stop goes first, and the recovery begins again. Two
    recoveries at once: one after the other, and who recovers takes emask over from those that are active. A reset of
    TO and a recovery at once: first the one in which somebody has answered; who has done with one of them tells how
    it ended while the other goes on.
    """

    window: int = 4
    attempts: int = 1
    hasty: frozenset[int] = frozenset()
    """The entities that are taken for stopped at once, before any other time-out expires, whether or not they run."""

    name: ClassVar[str] = "dynamic-cluster"
    repaired: ClassVar[bool] = True
    source: ClassVar[str] = "dynamic cluster paper, section 3"
    destinations: ClassVar[str] = "broadcast"
    claims: ClassVar[tuple[str, ...]] = (
        "order_preserving",
        "order_equivalent",
        "no_creation",
        "no_duplication",
    )
    invariants: ClassVar[tuple[Invariant, ...]] = INVARIANTS
    fair: ClassVar[Mapping[str, str]] = {
        "arrivals": "one channel; what an entity does not miss, it receives (1994, section 2.1)",
        "time-outs": "a stop is detected by a time-out while a confirmation is waited for (section 3.1)",
    }

    @property
    def network(self) -> SingleChannel:
        return SingleChannel()

    def start(self, here: Here) -> Member:
        return Member(transfer.established(here.entities))

    def crash(self, here: Here, state: Member) -> Member:
        """Nothing is left but that the entity was there, and how often it has come back."""
        return Member(transfer.established(here.entities), recoveries=state.recoveries)

    def send(self, here: Here, state: Member, message: Message) -> Step[Member] | None:
        """Data is sent by active entities, also while a stop is being agreed on, and not during a recovery."""
        data = state.data
        if state.standing is not Standing.ACTIVE or state.returning is not None or data.round is not None:
            return None
        if not transfer.within_window(here, data, self.group(here, state), self.window):
            return None
        return _within(state, transfer.emitted(here, data, message))

    def arrive(self, here: Here, state: Member, packet: Hashable, sender: int) -> Step[Member]:
        match packet:
            case Data():
                return self.data(here, state, packet)
            case Rst() | RstPak() | RstAck():
                return self.reset(here, state, packet)
            case Stop() | StopPack():
                return self.on_stop(here, state, packet)
            case StopAck():
                return self.on_stop_ack(here, state, packet)
            case Rcv():
                return self.on_rcv(here, state, packet)
            case RcvPack():
                return self.on_rcv_pack(here, state, packet)
            case RcvAck():
                return self.on_rcv_ack(here, state, packet)
            case _:
                raise TypeError(f"not a packet of this protocol: {packet!r}")

    def listens(self, state: Member, source: int) -> bool:
        """Whether TO's PDUs of a source are for this entity now."""
        return state.standing is Standing.ACTIVE and (
            source not in state.emask or self.literal(Letter.GOES_ON)
        )

    def data(self, here: Here, state: Member, pdu: Data) -> Step[Member]:
        """As in TO, but that nothing is missed of those that have stopped."""
        data = state.data
        if not self.listens(state, pdu.source) or state.returning is not None:
            return Step(state)
        if total_order_reset.stale(data, pdu) or pdu.seq < data.req[pdu.source]:
            return Step(state)
        group = self.group(here, state)
        if transfer.lost(data, pdu, group - state.emask):
            return _within(state, total_order_reset.reset(here, data))
        accepted = transfer.accepted(here, data, pdu, group)
        return _within(state, protocol.answered(here, accepted, pdu))

    def reset(self, here: Here, state: Member, pdu: total_order_reset.ResetPdu) -> Step[Member]:
        """TO's go-back, among those that count.

        Who asks for the end of a reset that is over here is told also while a recovery goes on: that waits for the
        same entity. Somebody has answered in a reset before it learned of the recovery: the reset goes first, and who
        recovers, as long as it hears of one, goes on asking.
        """
        if state.standing is Standing.RECOVERING:
            return Step(replace(state, tries=0))
        if not self.listens(state, pdu.source):
            return Step(state)
        if state.returning is not None and pdu.epoch > state.data.epoch:
            if isinstance(pdu, Rst) or state.returning.settled:
                return Step(state)
            state = self.given_up(state)
        joined = total_order_reset.joined(here, state.data, pdu, self.group(here, state), once=False)
        return _within(state, joined)

    # ------------------------------------------------------------------------------------------------ time-outs

    def timers(self, here: Here, state: Member) -> tuple[Timer, ...]:
        match state.standing:
            case Standing.OUT:
                return ()
            case Standing.RECOVERING:
                return self.repeats(here, state)
            case Standing.ACTIVE:
                running = list(self.repeats(here, state))
                if state.returning is None:
                    group = self.group(here, state)
                    running += protocol.timers(here, state.data, group, self.attempts)
                running += [
                    staggered(here, "stopped", HASTY, about=k)
                    if k in self.hasty
                    else staggered(here, "stopped", SUSPECT, about=k, times=self.attempts)
                    for k in sorted(self.silent(here, state))
                ]
                return tuple(running)

    def repeats(self, here: Here, state: Member) -> tuple[Timer, ...]:
        """The time-out by which an entity says again what it said last in an agreement. Not in the text.

        One that recovers has an attempt more: its first RCV may come before anybody knew that it had stopped.
        """
        attempts = self.attempts + (state.standing is Standing.RECOVERING)
        if self.literal(Letter.ONCE) or state.tries >= attempts:
            return ()
        if state.stopping is None and state.returning is None:
            return ()
        return (staggered(here, "repeat", AGAIN),)

    def silent(self, here: Here, state: Member) -> frozenset[int]:
        """Those of whom this entity waits for something."""
        off = frozenset(range(here.entities)) - state.emask
        silent: frozenset[int] = frozenset()
        if state.stopping is not None:
            if state.stopping.settled == state.emask:
                silent = frozenset(k for k in off if state.stopping.acks[k] != state.emask)
            else:
                packs = state.stopping.packs
                silent = frozenset(k for k in off if (packs[k] or (None,))[0] != state.emask)
        if state.returning is not None:
            rows = state.returning.acks if state.returning.settled else state.returning.packs
            silent |= frozenset(k for k in off if rows[k] is None)
        elif state.data.round is not None:
            silent |= total_order_reset.missing(state.data, self.group(here, state))
        else:
            silent |= transfer.awaited(here, state.data, self.group(here, state))
        return silent - state.emask - {here.entity}

    def expire(self, here: Here, state: Member, timer: Timer) -> Step[Member]:
        match timer.name:
            case "stopped":
                assert timer.about is not None
                return self.suspected(here, state, timer.about)
            case "repeat":
                state = replace(state, tries=state.tries + 1)
                if state.stopping is not None:
                    return Step(state, (Transmit(stopping.last_said(here, state)),))
                return Step(state, (Transmit(self.last_said_of_return(here, state)),))
            case _:
                return _within(state, protocol.expired(here, state.data, timer))

    def waiting(self, state: Member) -> frozenset[Message]:
        return frozenset(pdu.message for pdu in (*state.data.prl, *state.data.rrl) if pdu.message is not None)


def _within(state: Member, step: Step[Transfer]) -> Step[Member]:
    return Step(replace(state, data=step.state), step.actions)
