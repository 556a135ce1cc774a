"""TO with one handler broken, each in a way that a property is there to find."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from precedes.protocol import Deliver, Here, Message, Step
from precedes.protocol.bounds import Bounds
from precedes_models.total_order import transfer
from precedes_models.total_order.protocol import TotalOrder, everybody
from precedes_models.total_order.reset import Rst, RstAck, RstPak
from precedes_models.total_order.transfer import Data, Transfer
from tests.models.dynamic_cluster.exploring import bounds


@dataclass(frozen=True)
class AcknowledgesTooEarly(TotalOrder):
    """A PDU is acknowledged when it is pre-acknowledged: one level too early."""

    def arrive(self, here: Here, state: Transfer, packet: Hashable, sender: int) -> Step[Transfer]:
        step = super().arrive(here, state, packet, sender)
        early = tuple(Deliver(pdu.message) for pdu in step.state.prl if pdu.message is not None)
        left = tuple(pdu for pdu in step.state.prl if pdu.message is None)
        return Step(replace(step.state, prl=left), step.actions + early)


@dataclass(frozen=True)
class AcceptsWithGaps(TotalOrder):
    """A PDU is accepted although one of the same source before it is missing."""

    def data(self, here: Here, state: Transfer, pdu: Data) -> Step[Transfer]:
        if state.round is None and pdu.epoch == state.epoch and pdu.seq > state.req[pdu.source]:
            return transfer.accepted(here, state, pdu, everybody(here))
        return super().data(here, state, pdu)


@dataclass(frozen=True)
class KeepsNothing(TotalOrder):
    """What was sent is not kept, and not sent again."""

    def send(self, here: Here, state: Transfer, message: Message) -> Step[Transfer] | None:
        step = super().send(here, state, message)
        return None if step is None else Step(replace(step.state, kept=()), step.actions)


@dataclass(frozen=True)
class TakesOneForAll(TotalOrder):
    """AL: what one entity has accepted counts as accepted by all."""

    def data(self, here: Here, state: Transfer, pdu: Data) -> Step[Transfer]:
        step = super().data(here, state, pdu)
        al = tuple((max(row),) * here.entities for row in step.state.al)
        return Step(replace(step.state, al=al), step.actions)


@dataclass(frozen=True)
class ForgetsWhatPrecedesTheLine(TotalOrder):
    """At the end of a reset what stands before the failure line is thrown away instead of acknowledged."""

    def arrive(self, here: Here, state: Transfer, packet: Hashable, sender: int) -> Step[Transfer]:
        step = super().arrive(here, state, packet, sender)
        if step.state.epoch == state.epoch:
            return step
        return Step(step.state, tuple(action for action in step.actions if not isinstance(action, Deliver)))


@dataclass(frozen=True)
class JoinsWithAnOldLog(TotalOrder):
    """Another reset is joined while the one before it has not ended, with the log from before that."""

    def arrive(self, here: Here, state: Transfer, packet: Hashable, sender: int) -> Step[Transfer]:
        if isinstance(packet, Rst | RstPak | RstAck) and packet.epoch > state.epoch + 1:
            state = replace(state, epoch=packet.epoch - 1)
        return super().arrive(here, state, packet, sender)


BROKEN: tuple[tuple[type[TotalOrder], Bounds, str, int], ...] = (
    (AcknowledgesTooEarly, bounds(2, 1), "TO: acknowledged is pre-acknowledged by all", 11),
    (AcceptsWithGaps, bounds(2, 1, losses=1, depth=22), "TO: accepted without a gap", 8),
    (KeepsNothing, bounds(2, 1, losses=1), "information_preserving", 16),
    (TakesOneForAll, bounds(2, 1), "no starvation", 15),
    (ForgetsWhatPrecedesTheLine, bounds(2, 1, losses=1), "information_preserving", 19),
)
"""What exploring finds, with the bounds, what is broken, and after how many moves. The mistake above shows only after
three losses: see `two_resets`."""
