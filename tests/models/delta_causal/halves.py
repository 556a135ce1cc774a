"""The protocol as written but for one of the two steps that differ: which of them breaks what."""

from __future__ import annotations

from dataclasses import dataclass

from precedes.protocol import Here
from precedes_models.delta_causal import DeltaCausal
from precedes_models.delta_causal_agent import Agent, Packet, Tag, union_max


@dataclass(frozen=True)
class StampsRepaired(DeltaCausal):
    """(S1) repaired, (R4) to the letter."""

    as_written: bool = True

    def may_send(self, here: Here, state: Agent) -> bool:
        return here.now > state.latest

    def later(self, latest: int, stamp: int) -> int:
        return max(latest, stamp)


@dataclass(frozen=True)
class MarksRepaired(DeltaCausal):
    """(R4) repaired, (S1) to the letter."""

    as_written: bool = True

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        mark = frozenset({(packet.message.sender, packet.stamp)})
        return tuple(
            marks
            if k == here.entity
            else union_max(marks, mark if k in packet.message.destinations else packet.cb[k])
            for k, marks in enumerate(cb)
        )
