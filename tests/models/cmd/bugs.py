"""The protocols with one handler broken on purpose: exploring has to find every one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from precedes.protocol import Deliver, Here, Message, Step, Transmit
from precedes_models import birman_schiper_stephenson, raynal_schiper_toueg, vector_time
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary, Entity, Packet, Record
from precedes_models.cmd.protocol import Cmd
from precedes_models.raynal_schiper_toueg import RaynalSchiperToueg, one_more
from precedes_models.vector_time import Clock

# ---- the auxiliary procedure ----


@dataclass(frozen=True)
class ForgetsItsSends(Auxiliary):
    """Adds no s-record of a send."""

    def recorded(self, records: frozenset[Record], new: frozenset[Record]) -> frozenset[Record]:
        return records


@dataclass(frozen=True)
class HandsNothingOn(Auxiliary):
    """Does not add R(m) to R_j."""

    def kept(
        self, entity: int, state: Entity, clock: Clock, packet: Packet, *, addressed: bool
    ) -> frozenset[Record]:
        return state.records


@dataclass(frozen=True)
class OneAhead(Auxiliary):
    """Takes one event more of each sender to be known."""

    def known(self, entity: int, state: Entity, sender: int) -> int:
        return super().known(entity, state, sender) + 1


@dataclass(frozen=True)
class CountsOnlyItself(Auxiliary):
    """Does not join its clock with that of the message."""

    def delivered(
        self, here: Here, state: Entity, packet: Packet, came_in: Packet, *, addressed: bool
    ) -> tuple[Entity, Deliver]:
        after, delivery = super().delivered(here, state, packet, came_in, addressed=addressed)
        clock = vector_time.ticked(state.clock, here.entity)
        return replace(after, clock=clock), replace(delivery, clock=clock)


@dataclass(frozen=True)
class WaitsForOne(Auxiliary):
    """Delivers where one of the s-records for it is met, not all."""

    def deliverable(self, entity: int, state: Entity, packet: Packet) -> bool:
        mine = [record for record in packet.records if record.receiver == entity]
        return not mine or any(self.known(entity, state, record.sender) >= record.time for record in mine)


# ---- CMD ----


@dataclass(frozen=True)
class KeepsTheOlder(Cmd):
    """Rule 1 the wrong way round, at a send."""

    def recorded(self, records: frozenset[Record], new: frozenset[Record]) -> frozenset[Record]:
        pairs = {(record.sender, record.receiver) for record in records}
        return records | frozenset(record for record in new if (record.sender, record.receiver) not in pairs)


@dataclass(frozen=True)
class Rule1LooksAtSenders(Cmd):
    """Rule 1 does not ask whether the receivers are the same."""

    def rule_1(
        self, mine: frozenset[Record], carried: frozenset[Record]
    ) -> tuple[frozenset[Record], frozenset[Record]]:
        def behind(record: Record, others: frozenset[Record]) -> bool:
            return any(record.sender == other.sender and record.time < other.time for other in others)

        return (
            frozenset(record for record in mine if not behind(record, carried)),
            frozenset(record for record in carried if not behind(record, mine)),
        )


@dataclass(frozen=True)
class Rule2WithoutTime(Cmd):
    """Rule 2 does not ask whether the sender of m knew of it."""

    def rule_2(self, mine: frozenset[Record], carried: frozenset[Record], clock: Clock) -> frozenset[Record]:
        return mine & carried


@dataclass(frozen=True)
class Rule3OneAhead(Cmd):
    """Rule 3 takes one event more to be known."""

    def rule_3(self, mine: frozenset[Record], carried: frozenset[Record], clock: Clock) -> frozenset[Record]:
        return frozenset(
            record for record in carried if record in mine or record.time > clock[record.sender] + 1
        )


@dataclass(frozen=True)
class LearnsNothingNew(Cmd):
    """Rules 1 to 3 are right, and what is left of R(m) is not added."""

    def kept(
        self, entity: int, state: Entity, clock: Clock, packet: Packet, *, addressed: bool
    ) -> frozenset[Record]:
        return super().kept(entity, state, clock, packet, addressed=addressed) & state.records


# ---- Raynal, Schiper, Toueg ----


@dataclass(frozen=True)
class CountsNoSend(RaynalSchiperToueg):
    """Does not count what it sends."""

    def send(
        self, here: Here, state: raynal_schiper_toueg.Entity, message: Message
    ) -> Step[raynal_schiper_toueg.Entity]:
        return replace(super().send(here, state, message), state=state)


@dataclass(frozen=True)
class CopiesCountThemselves(RaynalSchiperToueg):
    """A copy carries the counts with itself in them, and waits for itself."""

    def send(
        self, here: Here, state: raynal_schiper_toueg.Entity, message: Message
    ) -> Step[raynal_schiper_toueg.Entity]:
        step = super().send(here, state, message)
        packet = raynal_schiper_toueg.Packet(message, step.state.sent)
        return replace(step, actions=(Transmit(packet, message.destinations),))


@dataclass(frozen=True)
class ReadsTheRow(RaynalSchiperToueg):
    """Waits for what it has sent itself: the row in place of the column."""

    def deliverable(
        self, entity: int, state: raynal_schiper_toueg.Entity, packet: raynal_schiper_toueg.Packet
    ) -> bool:
        return vector_time.at_most(packet.sent[entity], state.delivered)


@dataclass(frozen=True)
class LearnsNoCounts(RaynalSchiperToueg):
    """Does not merge the matrix of what it delivers."""

    def counted(
        self, entity: int, state: raynal_schiper_toueg.Entity, packet: raynal_schiper_toueg.Packet
    ) -> tuple[raynal_schiper_toueg.Matrix, Clock]:
        sender = packet.message.sender
        _, delivered = super().counted(entity, state, packet)
        return one_more(state.sent, sender, entity), delivered


@dataclass(frozen=True)
class CountsNoDelivery(RaynalSchiperToueg):
    """Does not count what it delivers."""

    def counted(
        self, entity: int, state: raynal_schiper_toueg.Entity, packet: raynal_schiper_toueg.Packet
    ) -> tuple[raynal_schiper_toueg.Matrix, Clock]:
        return super().counted(entity, state, packet)[0], state.delivered


# ---- Birman, Schiper, Stephenson ----


@dataclass(frozen=True)
class OnlyOfTheSender(BirmanSchiperStephenson):
    """Keeps the order of one sender and no other."""

    def deliverable(
        self, entity: int, state: birman_schiper_stephenson.Entity, packet: birman_schiper_stephenson.Packet
    ) -> bool:
        own = frozenset(told for told in packet.times if told.sender == packet.message.sender)
        return super().deliverable(entity, state, replace(packet, times=own))


@dataclass(frozen=True)
class NotOfTheSender(BirmanSchiperStephenson):
    """Keeps every order but that of one sender."""

    def deliverable(
        self, entity: int, state: birman_schiper_stephenson.Entity, packet: birman_schiper_stephenson.Packet
    ) -> bool:
        others = frozenset(told for told in packet.times if told.sender != packet.message.sender)
        return super().deliverable(entity, state, replace(packet, times=others))


@dataclass(frozen=True)
class OneGroupAtATime(BirmanSchiperStephenson):
    """Does not ask for what was sent to other groups."""

    def deliverable(
        self, entity: int, state: birman_schiper_stephenson.Entity, packet: birman_schiper_stephenson.Packet
    ) -> bool:
        own = frozenset(told for told in packet.times if told.group == packet.group)
        return super().deliverable(entity, state, replace(packet, times=own))


@dataclass(frozen=True)
class LearnsOfItsGroups(BirmanSchiperStephenson):
    """Does not hand on what it was told of groups that it is not in."""

    def send(
        self, here: Here, state: birman_schiper_stephenson.Entity, message: Message
    ) -> Step[birman_schiper_stephenson.Entity]:
        step = super().send(here, state, message)
        times = frozenset(told for told in step.state.times if here.entity in told.group)
        actions = tuple(
            Transmit(birman_schiper_stephenson.Packet(message, times), action.to)
            if isinstance(action, Transmit)
            else action
            for action in step.actions
        )
        return replace(step, actions=actions)


@dataclass(frozen=True)
class LearnsNoTimes(BirmanSchiperStephenson):
    """Does not count what it delivers."""

    def learned(
        self, state: birman_schiper_stephenson.Entity, packet: birman_schiper_stephenson.Packet
    ) -> birman_schiper_stephenson.Times:
        return state.times


OF_AUXILIARY: tuple[type[Auxiliary], ...] = (
    ForgetsItsSends,
    HandsNothingOn,
    OneAhead,
    CountsOnlyItself,
    WaitsForOne,
)
OF_CMD: tuple[type[Cmd], ...] = (
    KeepsTheOlder,
    Rule1LooksAtSenders,
    Rule2WithoutTime,
    Rule3OneAhead,
    LearnsNothingNew,
)
OF_BASELINES: tuple[type[RaynalSchiperToueg | BirmanSchiperStephenson], ...] = (
    CountsNoSend,
    CopiesCountThemselves,
    ReadsTheRow,
    LearnsNoCounts,
    CountsNoDelivery,
    OnlyOfTheSender,
    NotOfTheSender,
    OneGroupAtATime,
    LearnsOfItsGroups,
    LearnsNoTimes,
)
