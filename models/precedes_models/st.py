"""The selective total order protocol: T. Tachikawa, A. Nakamura, M. Takizawa: Data Transmission with Selectively Totally
Ordered Broadcast Protocol on Single Channel Network. Transactions of the Information Processing Society of Japan, 1994.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import ClassVar

from precedes.protocol import Here, Message, Step, Timer
from precedes.protocol.invariants import Invariant
from precedes_models.st_invariants import INVARIANTS
from precedes_models.st_recovery import Recovery
from precedes_models.st_state import Collecting, Pdu, Poll, Request, Rst, RstAck, RstPak, State


@dataclass(frozen=True)
class SelectiveTotalOrder(Recovery):
    """Sections 3 and 4."""

    name: ClassVar[str] = "st"
    source: ClassVar[str] = "Tachikawa, Nakamura, Takizawa 1994, sections 3 and 4"
    claims: ClassVar[tuple[str, ...]] = ("ST", "no_creation", "no_duplication")
    invariants: ClassVar[tuple[Invariant, ...]] = INVARIANTS

    def arrive(self, here: Here, state: State, packet: Hashable, sender: int) -> Step[State]:
        match packet:
            case Pdu() | Poll():
                step = self._pdu(here, state, packet)
            case Rst():
                step = self.on_rst(here, state, packet)
            case RstPak():
                step = self.on_pak(here, state, packet, sender)
            case RstAck():
                step = self.on_ack(here, state, packet, sender)
            case Request():
                step = self.on_request(here, state, packet, sender)
            case _:
                raise TypeError(f"no packet of this protocol: {packet!r}")
        after = step.state
        if after.recovery is None:
            after = self.promoted(here, after)
        if after.silent and _progress(after) != _progress(state):
            after = replace(after, silent=0)
        return Step(after, step.actions)

    def _pdu(self, here: Here, state: State, pdu: Pdu | Poll) -> Step[State]:
        if self.stopped(state):
            return Step(state)
        if pdu.source in state.behind and not (isinstance(pdu, Pdu) and pdu.again):
            state = self.followed(state, pdu.source)
        if state.recovery is not None:
            return self.late(here, state, pdu) if isinstance(pdu, Pdu) else Step(state)
        if isinstance(pdu, Poll):
            after = self.polled(here, state, pdu)
        elif self.acceptable(here, state, pdu):
            after = self.accepted(here, state, pdu)
        else:
            after = state
        return self.alarmed(after) if self.failed(here, after, pdu) else Step(after)

    def timers(self, here: Here, state: State) -> tuple[Timer, ...]:
        if state.recovery is not None or state.alarm:
            return self.recovery_timers(here, state)
        return self.transfer_timers(here, state)

    def expire(self, here: Here, state: State, timer: Timer) -> Step[State]:
        if state.recovery is not None or state.alarm:
            return self.repeated(here, state)
        return self.told(here, state)

    def receipt_log(self, state: State) -> tuple[Message, ...]:
        """RL = ARL, PRL, RRL. From the RST_ACK of an entity until it has sorted, ARL alone: the order of the rest is not
        decided yet."""
        undecided = state.recovery is not None and state.rst_ack is not None and not self.stopped(state)
        log = state.arl if undecided else state.received
        return tuple(pdu.message for pdu in log if pdu.message is not None)


def _progress(state: State) -> tuple[object, ...]:
    collected = 0
    if isinstance(state.recovery, Collecting):
        collected = sum(part is not None for part in state.recovery.paks + state.recovery.acks)
    return state.sl, state.rrl, state.prl, state.arl, state.round, type(state.recovery), collected
