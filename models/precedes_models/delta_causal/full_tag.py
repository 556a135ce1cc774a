"""Δ-causal order with a tag of size O(N²), which never waits needlessly (reference [2] of the Δ-causal paper).

The paper tells two things of it (§3.1): a message is delivered at once when every message before it has been delivered
or has passed its deadline, and the tag grows to O(N²). How the tag comes to that is our reading, after the matrices of
Raynal, Schiper and Toueg: for every pair (l, k), the time stamp of the latest message from l to k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import Here, Message
from precedes_models.delta_causal.agent import Agent, DeltaAgent, Packet, Tag, union_max, with_mark


@dataclass(frozen=True)
class FullTag(DeltaAgent):
    """CB[k] has a mark for every sender of whom a message to k is known, and only the latest of each; nothing is ever
    taken out. As the paper does not give its steps, there is no letter: both forms are the same.
    """

    name: ClassVar[str] = "delta-causal-full-tag"
    source: ClassVar[str] = "Δ-causal paper, section 3.1, of its reference [2]"

    def tags(self, here: Here, state: Agent, message: Message) -> Iterator[Tag]:
        """Everything."""
        yield state.cb

    def after_sending(self, tag: Tag, message: Message, stamp: int) -> Tag:
        """The message itself, beside all else."""
        return with_mark(tag, message, stamp)

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        """Condition (1) and no more."""
        return self.expired(here, state, packet)

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        """All that the sender knew, and the message itself."""
        known = tuple(union_max(marks, more) for marks, more in zip(cb, packet.cb, strict=True))
        return with_mark(known, packet.message, packet.stamp)
