"""The auxiliary procedure and CMD side by side, on one network: whether they do the same (CMD paper, Theorem 2)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import ClassVar

from precedes.protocol import Deliver, Here, Message, OfEntity, OfStep, Protocol, Reliable, Step, Transmit
from precedes.protocol.invariants import Invariant
from precedes_models.cmd.auxiliary import Auxiliary, Entity, Packet
from precedes_models.cmd.protocol import Cmd

State = tuple[Entity, Entity]


def _same_queue(protocol: Both, here: Here, state: State) -> bool:
    one, other = state
    return (one.clock, one.own) == (other.clock, other.own) and [p.message for p in one.queue] == [
        p.message for p in other.queue
    ]


def _fewer(protocol: Both, here: Here, state: State) -> bool | None:
    """CMD keeps nothing that the auxiliary procedure does not keep."""
    one, other = state
    return other.records <= one.records if one.records else None


def _same_deliveries(
    protocol: Both, here: Here, before: State, cause: Hashable, step: Step[State]
) -> bool | None:
    if isinstance(cause, Message):
        return None
    one = protocol.auxiliary.arrive(here, before[0], cause[0], cause[0].sender)  # type: ignore[index]
    other = protocol.cmd.arrive(here, before[1], cause[1], cause[1].sender)  # type: ignore[index]
    assert one is not None
    assert other is not None
    return one.actions == other.actions


SAME_QUEUE = OfEntity("CMD Theorem 2, the same waits", "CMD paper, proof of Theorem 2", _same_queue)
FEWER = OfEntity("CMD Theorem 2, fewer s-records", "CMD paper, section 3.2", _fewer)
SAME = OfStep("CMD Theorem 2, the same is delivered", "CMD paper, proof of Theorem 2", _same_deliveries)


@dataclass(frozen=True)
class Both(Protocol[State]):
    """Every step is taken by both; what the auxiliary procedure delivers is logged."""

    auxiliary: Auxiliary = field(default_factory=Auxiliary)
    cmd: Cmd = field(default_factory=Cmd)

    name: ClassVar[str] = "auxiliary-and-cmd"
    answers: ClassVar[bool] = False
    invariants: ClassVar[tuple[Invariant, ...]] = (SAME_QUEUE, FEWER, SAME)

    @property
    def network(self) -> Reliable:
        return Reliable()

    def start(self, here: Here) -> State:
        return self.auxiliary.start(here), self.cmd.start(here)

    def send(self, here: Here, state: State, message: Message) -> Step[State]:
        one, other = (
            p.send(here, s, message) for p, s in zip((self.auxiliary, self.cmd), state, strict=True)
        )
        pairs = zip(one.actions, other.actions, strict=True)
        return Step(
            (one.state, other.state),
            tuple(
                Transmit((a.packet, b.packet), a.to)
                for a, b in pairs
                if isinstance(a, Transmit) and isinstance(b, Transmit)
            ),
            one.clock,
        )

    def arrive(self, here: Here, state: State, packet: Hashable, sender: int) -> Step[State]:
        assert isinstance(packet, tuple)
        assert all(isinstance(each, Packet) for each in packet)
        one = self.auxiliary.arrive(here, state[0], packet[0], sender)
        other = self.cmd.arrive(here, state[1], packet[1], sender)
        assert one is not None
        assert other is not None
        return Step(
            (one.state, other.state), tuple(action for action in one.actions if isinstance(action, Deliver))
        )

    def waiting(self, state: State) -> frozenset[Message]:
        return self.auxiliary.waiting(state[0]) | self.cmd.waiting(state[1])
