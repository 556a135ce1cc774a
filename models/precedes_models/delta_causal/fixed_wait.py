"""Δ-causal order with a tag of size O(N), for which every message waits (reference [3] of the Δ-causal paper).

The paper tells three things of it (§3.1): there is a constant w with Δ/3 < w < Δ/2, no message is delivered before w
after its send, and the tag is O(N). The rest is our reading of why that is enough. A chain of messages, each delivered
before the next is sent, takes w or more for each. When m arrives over a chain of three from m', m' has passed its
deadline, 3w being more than Δ; over a chain of two, when m is delivered, w after its own send. What is left are
messages of m's sender, and messages of whom m's sender has delivered a later message. So each tells in its tag when it
last sent to everyone: N marks; and the time, for each process, of the last send to the destination of this message that
this process itself has told of: N marks, others for each destination.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import Here, Message, Transmit
from precedes_models.delta_causal.agent import Agent, DeltaAgent, Packet, Tag, union_max, with_mark
from precedes_models.delta_causal.invariants import Sent


@dataclass(frozen=True)
class FixedWait(DeltaAgent):
    """CB[k] has the last send of each process to k that it told of itself. As the paper does not give its steps, there
    is no letter: both forms are the same.
    """

    delta: int = 5
    wait: int = 2
    """w, in ticks."""

    name: ClassVar[str] = "delta-causal-fixed-wait"
    source: ClassVar[str] = "Δ-causal paper, section 3.1, of its reference [3]"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta < 3 * self.wait or not 2 * self.wait < self.delta:
            raise ValueError(
                f"wait is between delta / 3 and delta / 2, exclusively: of {self.delta} that is {self._fitting()}"
            )

    def _fitting(self) -> str:
        fitting = [str(w) for w in range(self.delta) if self.delta < 3 * w and 2 * w < self.delta]
        return " or ".join(fitting) if fitting else "no whole number of ticks"

    def tags(self, here: Here, state: Agent, message: Message) -> Iterator[Tag]:
        """Everything; `packets` takes from it what each destination is told."""
        yield state.cb

    def packets(self, here: Here, message: Message, tag: Tag, past: frozenset[Sent]) -> tuple[Transmit, ...]:
        """For each destination what it waits for, and the sender's own sends to all others."""
        own = tuple(frozenset(mark for mark in marks if mark[0] == here.entity) for marks in tag)
        return tuple(
            Transmit(Packet(message, here.now, (*own[:to], tag[to], *own[to + 1 :]), past), frozenset({to}))
            for to in sorted(message.destinations)
        )

    def after_sending(self, tag: Tag, message: Message, stamp: int) -> Tag:
        """The message itself."""
        return with_mark(tag, message, stamp)

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        """w after the send, and condition (1)."""
        return max(packet.stamp + self.wait, self.expired(here, state, packet))

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        """What the sender told of itself, and the message."""
        sender = packet.message.sender
        told = tuple(frozenset(mark for mark in marks if mark[0] == sender) for marks in packet.cb)
        known = tuple(union_max(marks, more) for marks, more in zip(cb, told, strict=True))
        return with_mark(known, packet.message, packet.stamp)
