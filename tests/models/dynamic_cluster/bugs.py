"""The dynamic cluster with one handler broken, each in a way that a property is there to find."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from precedes.protocol import Deliver, Discard, Here, Step
from precedes.protocol.bounds import Bounds
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.dynamic_cluster.state import Member, StopAck, StopPdu
from precedes_models.total_order.transfer import Row
from tests.models.dynamic_cluster.exploring import bounds

HASTY = frozenset({2})
EVERYTHING = "cluster: TO among the active, everything"
ACCURATE = "cluster: only who has stopped is taken for stopped"


@dataclass(frozen=True)
class EmaskNotMerged(DynamicCluster):
    """Step (2) without emask = emask or s.BMAP."""

    def merged(self, state: Member, pdu: StopPdu) -> frozenset[int]:
        return state.emask


@dataclass(frozen=True)
class AcknowledgesTooEarly(DynamicCluster):
    """A PDU is acknowledged when it is pre-acknowledged: one level too early."""

    def arrive(self, here: Here, state: Member, packet: Hashable, sender: int) -> Step[Member]:
        step = super().arrive(here, state, packet, sender)
        data = step.state.data
        early = tuple(Deliver(pdu.message) for pdu in data.prl if pdu.message is not None)
        data = replace(data, prl=tuple(pdu for pdu in data.prl if pdu.message is None))
        return Step(replace(step.state, data=data), step.actions + early)


@dataclass(frozen=True)
class DeletesNothing(DynamicCluster):
    """Step (4) left out: what not all have of an entity that has stopped stays."""

    def stopped(self, here: Here, state: Member) -> Step[Member]:
        step = super().stopped(here, replace(state, data=replace(state.data, req=_beyond(here, state))))
        assert not any(isinstance(action, Discard) for action in step.actions)
        return step


@dataclass(frozen=True)
class NeverIgnores(DynamicCluster):
    """Step (5) left out: the confirmations of an entity that has stopped are waited for."""

    def group(self, here: Here, state: Member) -> frozenset[int]:
        return frozenset(range(here.entities))


@dataclass(frozen=True)
class CutsToTheMost(DynamicCluster):
    """Step (3) with the most that anybody has of an entity that has stopped, where it is the least."""

    def agreed_req(self, here: Here, state: Member, packs: list[Row]) -> Row:
        return tuple(
            max(pack[j] for pack in packs) if j in state.emask else value
            for j, value in enumerate(state.data.req)
        )


@dataclass(frozen=True)
class CountsNoStopAck(DynamicCluster):
    """Step (3) without "or STOP_ACK": who has agreed already no longer sends what is waited for."""

    def on_stop_ack(self, here: Here, state: Member, pdu: StopAck) -> Step[Member]:
        waits = state.stopping is not None and state.stopping.settled != state.emask
        told = state.stopping.packs[pdu.source] if state.stopping is not None else None
        if waits and (told is None or told[0] != pdu.bmap):
            return Step(state)
        return super().on_stop_ack(here, state, pdu)


def _beyond(here: Here, state: Member) -> Row:
    """REQ as far as the log goes."""
    log = (*state.data.prl, *state.data.rrl)
    return tuple(
        max([state.data.req[k], *(pdu.seq + 1 for pdu in log if pdu.source == k)])
        for k in range(here.entities)
    )


BROKEN: tuple[tuple[type[DynamicCluster], frozenset[int], Bounds, str, int], ...] = (
    (EmaskNotMerged, frozenset(), bounds(3, crashes=1), ACCURATE, 73),
    (AcknowledgesTooEarly, frozenset(), bounds(3), "cluster: acknowledged is pre-acknowledged by all", 26),
    (DeletesNothing, HASTY, bounds(3, script="c", losses=1), ACCURATE, 45),
    (DeletesNothing, HASTY, bounds(3, script="c", losses=1), "cluster: one cut", 15),
    (NeverIgnores, frozenset(), bounds(2, crashes=1), EVERYTHING, 23),
    (CutsToTheMost, HASTY, bounds(3, script="c", losses=1), ACCURATE, 49),
    (CountsNoStopAck, HASTY, bounds(3, script="c", losses=1), ACCURATE, 79),
)
"""What exploring finds, with whom the protocol is hasty, the bounds, what is broken, and after how many moves."""
