"""The multicast of Birman, Schiper and Stephenson, from which the CMD paper starts.

K. Birman, A. Schiper, P. Stephenson: Lightweight causal and atomic group multicast, ACM Transactions on Computer
Systems 9 (1991). Every message goes to a group and carries the vector times of all groups. One destination is a group
of two (CMD paper, section 1), so that unicast among N entities needs N (N - 1) counts in a message; broadcast needs N.
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
    OfEntity,
    OfStep,
    Protocol,
    Reliable,
    Step,
    Transmit,
)

Group: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True)
class Count:
    """How many messages `sender` has sent to the group, as far as is known: at least one."""

    group: Group
    sender: int
    sent: int

    def renamed(self, names: tuple[int, ...]) -> Count:
        """The count after entity k has become `names[k]`."""
        return Count(frozenset(names[k] for k in self.group), names[self.sender], self.sent)


Times: TypeAlias = frozenset[Count]
"""The vector times of all groups."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A message with the vector times of its sender, itself counted."""

    message: Message
    times: Times

    @property
    def group(self) -> Group:
        """The destinations and the sender."""
        return self.message.destinations | {self.message.sender}


@dataclass(frozen=True, slots=True)
class Entity:
    """The vector times, and what waits, as it came in. Of the groups that the entity is in, what is counted of others
    has been delivered."""

    times: Times = frozenset()
    queue: tuple[Packet, ...] = ()


def tags(packet: Hashable) -> int:
    """How many counts that are not zero a packet carries."""
    assert isinstance(packet, Packet)
    return len(packet.times)


def count(times: Times, group: Group, sender: int) -> int:
    """How many messages of the sender to the group are counted."""
    return next((each.sent for each in times if each.group == group and each.sender == sender), 0)


def merged(first: Times, second: Times) -> Times:
    """The greater count of each sender in each group."""
    greatest: dict[tuple[Group, int], int] = {}
    for each in (*first, *second):
        place = each.group, each.sender
        greatest[place] = max(greatest.get(place, 0), each.sent)
    return frozenset(Count(group, sender, sent) for (group, sender), sent in greatest.items())


def _one_of_each(protocol: BirmanSchiperStephenson, here: Here, state: Entity) -> bool | None:
    """One count, greater than zero, of each sender in each group, and of members only."""
    if not state.times:
        return None
    places = {(each.group, each.sender) for each in state.times}
    return len(places) == len(state.times) and all(
        each.sent > 0 and each.sender in each.group for each in state.times
    )


def _tags(
    protocol: BirmanSchiperStephenson, here: Here, before: Entity, cause: Hashable, step: Step[Entity]
) -> bool | None:
    """With one destination each, a message carries a count for every ordered pair that has used its group: N (N - 1) at
    most, of the N² groups of the CMD paper those of two."""
    sizes = [tags(action.packet) for action in step.actions if isinstance(action, Transmit)]
    return max(sizes) <= here.entities * (here.entities - 1) if sizes else None


TAGS = OfStep("BSS tags", "CMD paper, section 1: N² tags where every group is a pair", _tags)
ONE_OF_EACH = OfEntity(
    "BSS vector times",
    "Birman, Schiper, Stephenson 1991: one count of each member of each group",
    _one_of_each,
)


@dataclass(frozen=True)
class BirmanSchiperStephenson(Protocol[Entity]):
    """A message waits until it is the next of its sender in its group, and until everything has been delivered that its
    sender had seen of the groups that the receiver is in.

    The group of a message is its destinations with its sender. A sender that is among the destinations delivers its
    message as it sends it.
    """

    name: ClassVar[str] = "birman-schiper-stephenson"
    source: ClassVar[str] = "Birman, Schiper, Stephenson 1991"
    claims: ClassVar[tuple[str, ...]] = (
        "causal_order",
        "causal_delivery",
        "no_creation",
        "no_duplication",
        "selectively_information_preserving",
        "validity",
    )
    destinations: ClassVar[str] = "broadcast"
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (ONE_OF_EACH,)
    further: ClassVar[tuple[Invariant, ...]] = (TAGS,)

    @property
    def network(self) -> Reliable:
        """Every message arrives; channels need not be FIFO."""
        return Reliable()

    def start(self, here: Here) -> Entity:
        """Nothing is counted."""
        return Entity()

    def send(self, here: Here, state: Entity, message: Message) -> Step[Entity]:
        """Count the message, and hand it to the other members."""
        group = message.destinations | {here.entity}
        times = merged(
            state.times, frozenset({Count(group, here.entity, count(state.times, group, here.entity) + 1)})
        )
        packet = Packet(message, times)
        actions: list[Action] = []
        if here.entity in message.destinations:
            actions.append(Deliver(message))
        if group != {here.entity}:
            actions.append(Transmit(packet, group - {here.entity}))
        return Step(Entity(times, state.queue), tuple(actions))

    def arrive(self, here: Here, state: Entity, packet: Hashable, sender: int) -> Step[Entity]:
        """Put it with what waits, then deliver what can be delivered."""
        assert isinstance(packet, Packet)
        state = Entity(state.times, (*state.queue, packet))
        actions: list[Action] = []
        while ready := [each for each in state.queue if self.deliverable(here.entity, state, each)]:
            rest = list(state.queue)
            rest.remove(ready[0])
            state = Entity(self.learned(state, ready[0]), tuple(rest))
            actions.append(Deliver(ready[0].message))
        return Step(state, tuple(actions))

    def deliverable(self, entity: int, state: Entity, packet: Packet) -> bool:
        """Whether a packet is the next of its sender, and what it tells of has been delivered."""
        for told in packet.times:
            if entity not in told.group:
                continue
            known = count(state.times, told.group, told.sender)
            mine = told.group == packet.group and told.sender == packet.message.sender
            if known + mine < told.sent:
                return False
        return True

    def learned(self, state: Entity, packet: Packet) -> Times:
        """The vector times after the delivery of a packet."""
        return merged(state.times, packet.times)

    def waiting(self, state: Entity) -> frozenset[Message]:
        """What came in and is not delivered."""
        return frozenset(packet.message for packet in state.queue)

    def renamed(self, state: Entity, names: tuple[int, ...]) -> Entity:
        """The state after entity k has become `names[k]`."""
        return Entity(
            frozenset(each.renamed(names) for each in state.times),
            tuple(self.renamed_packet(packet, names) for packet in state.queue),
        )

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Packet:
        """A packet after entity k has become `names[k]`."""
        assert isinstance(packet, Packet)
        return Packet(packet.message.renamed(names), frozenset(each.renamed(names) for each in packet.times))
