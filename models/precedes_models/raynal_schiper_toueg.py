"""The algorithm of Raynal, Schiper and Toueg, which the CMD paper's tags are measured against.

M. Raynal, A. Schiper, S. Toueg: The causal ordering abstraction and a simple way to implement it, Information
Processing Letters 39 (1991). Every message carries an N × N matrix of the numbers of messages sent.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from precedes.protocol import (
    Action,
    Deliver,
    Here,
    Invariant,
    Message,
    OfStep,
    Protocol,
    Reliable,
    Step,
    Transmit,
)
from precedes_models import vector_time

Matrix: TypeAlias = tuple[tuple[int, ...], ...]
"""[k][l]: how many messages k has sent to l, as far as is known."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A message with what its sender knew of sends before it: of its other destinations it counts itself."""

    message: Message
    sent: Matrix


@dataclass(frozen=True, slots=True)
class Entity:
    """SENT, DELIV (how many of each sender's messages have been delivered here), and what waits, as it came in."""

    sent: Matrix
    delivered: tuple[int, ...]
    queue: tuple[Packet, ...] = ()


def tags(packet: Hashable) -> int:
    """How many numbers a packet carries: N²."""
    assert isinstance(packet, Packet)
    return sum(len(row) for row in packet.sent)


def _counted(
    protocol: RaynalSchiperToueg, here: Here, before: Entity, cause: Hashable, step: Step[Entity]
) -> bool | None:
    """DELIV[k] never runs ahead of what is known to have been sent here, and SENT[k][here] is at least it."""
    return all(
        count <= step.state.sent[sender][here.entity] for sender, count in enumerate(step.state.delivered)
    )


COUNTED = OfStep(
    "RST DELIV", "Raynal, Schiper, Toueg 1991: what is delivered is known to have been sent", _counted
)


@dataclass(frozen=True)
class RaynalSchiperToueg(Protocol[Entity]):
    """A message waits until everything that its matrix counts as sent to the receiver has been delivered there.

    The algorithm is stated for one receiver. A message to several is several copies of one send, each of which counts
    the others: this is the usual extension.
    """

    name: ClassVar[str] = "raynal-schiper-toueg"
    source: ClassVar[str] = "Raynal, Schiper, Toueg 1991"
    claims: ClassVar[tuple[str, ...]] = (
        "causal_order",
        "causal_delivery",
        "no_creation",
        "no_duplication",
        "selectively_information_preserving",
        "validity",
    )
    destinations: ClassVar[str] = "unicast"
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (COUNTED,)

    @property
    def network(self) -> Reliable:
        """Every message arrives; channels need not be FIFO."""
        return Reliable()

    def start(self, here: Here) -> Entity:
        """Nothing was sent."""
        return Entity((vector_time.zero(here.entities),) * here.entities, vector_time.zero(here.entities))

    def send(self, here: Here, state: Entity, message: Message) -> Step[Entity]:
        """Count the message; each copy carries the counts without itself."""
        receivers = sorted(message.destinations)
        sent = state.sent
        for receiver in receivers:
            sent = one_more(sent, here.entity, receiver)
        copies = tuple(
            Transmit(Packet(message, one_more(sent, here.entity, receiver, -1)), frozenset({receiver}))
            for receiver in receivers
        )
        return Step(Entity(sent, state.delivered, state.queue), copies)

    def arrive(self, here: Here, state: Entity, packet: Hashable, sender: int) -> Step[Entity]:
        """Put it with what waits, then deliver what can be delivered."""
        assert isinstance(packet, Packet)
        state = Entity(state.sent, state.delivered, (*state.queue, packet))
        actions: list[Action] = []
        while ready := [each for each in state.queue if self.deliverable(here.entity, state, each)]:
            rest = list(state.queue)
            rest.remove(ready[0])
            sent, delivered = self.counted(here.entity, state, ready[0])
            state = Entity(sent, delivered, tuple(rest))
            actions.append(Deliver(ready[0].message))
        return Step(state, tuple(actions))

    def deliverable(self, entity: int, state: Entity, packet: Packet) -> bool:
        """Whether everything sent here before has been delivered."""
        return all(count >= row[entity] for count, row in zip(state.delivered, packet.sent, strict=True))

    def counted(self, entity: int, state: Entity, packet: Packet) -> tuple[Matrix, tuple[int, ...]]:
        """SENT and DELIV after the delivery of a packet."""
        sender = packet.message.sender
        told = one_more(packet.sent, sender, entity)
        sent = tuple(map(vector_time.supremum, state.sent, told))
        return sent, vector_time.ticked(state.delivered, sender)

    def waiting(self, state: Entity) -> frozenset[Message]:
        """What came in and is not delivered."""
        return frozenset(packet.message for packet in state.queue)

    def renamed(self, state: Entity, names: tuple[int, ...]) -> Entity:
        """The state after entity k has become `names[k]`."""
        return Entity(
            _renamed(state.sent, names),
            vector_time.renamed(state.delivered, names),
            tuple(self.renamed_packet(packet, names) for packet in state.queue),
        )

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Packet:
        """A packet after entity k has become `names[k]`."""
        assert isinstance(packet, Packet)
        return Packet(packet.message.renamed(names), _renamed(packet.sent, names))


def one_more(matrix: Matrix, row: int, column: int, step: int = 1) -> Matrix:
    """The matrix with one element changed by `step`."""
    changed = tuple(count + step * (place == column) for place, count in enumerate(matrix[row]))
    return (*matrix[:row], changed, *matrix[row + 1 :])


def _renamed(matrix: Matrix, names: tuple[int, ...]) -> Matrix:
    rows: list[tuple[int, ...]] = [()] * len(matrix)
    for entity, row in enumerate(matrix):
        rows[names[entity]] = vector_time.renamed(row, names)
    return tuple(rows)
