"""Mistakes that somebody would make, each as the functions that it changes.

The docstring of each says what the programmer thought. `findings.py` shows what sees which. Nothing sees those of
`UNSEEN`: they change what an entity keeps, and nothing that a process sends or delivers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from causal_entity import Entity, Packet, SRecord, needed
from group import Program
from lossy_network import Link


class SendsNotCounted(Entity):
    """A vector time counts what a process has delivered."""

    def count_send(self) -> None:
        """Nothing."""


class MustBePassed(Entity):
    """A time that has just been reached is not over yet."""

    def may_deliver(self, packet: Packet) -> bool:
        """With `>` where the paper has `>=`."""
        return all(self.clock[one.sender] > one.time for one in packet.records if one.receiver == self.name)


class OneSenderOnly(Entity):
    """The i of (i, j, t) is the sender of m."""

    def may_deliver(self, packet: Packet) -> bool:
        """Look at the s-records of one sender."""
        return all(
            self.clock[one.sender] >= one.time
            for one in packet.records
            if (one.sender, one.receiver) == (packet.sender, self.name)
        )


class NextOfItsSender(Entity):
    """The vector times suffice, as in causal broadcast: a message is the next one of its sender."""

    def may_deliver(self, packet: Packet) -> bool:
        """Ask for every event that came before, although few of them are sends to this entity."""
        return all(
            self.clock[entity] >= count - (entity == packet.sender)
            for entity, count in packet.clock.items()
            if entity != self.name
        )


class LearnsAtArrival(Entity):
    """What has come in is known."""

    def receive(self, packet: Packet) -> None:
        """Join V(m) before it is known whether m has to wait."""
        for entity, count in packet.clock.items():
            if entity != self.name:
                self.clock[entity] = max(self.clock[entity], count)
        super().receive(packet)


class HandsNothingOn(Entity):
    """An s-record is the business of its sender."""

    def merge_records(self, packet: Packet) -> None:
        """Remove what is not needed, and add nothing."""
        self.records = needed(self.records, packet.records, packet.clock)


class CountsBeforeItCompares(Entity):
    """The steps of §3.3 are taken in the order in which they are printed: first V_j, then steps 1 to 3."""

    def deliver(self, packet: Packet) -> None:
        """Update V_j. Then step 3 finds it to be as late as any s-record in R(m)."""
        self.count_delivery(packet)
        self.merge_records(packet)
        self._hand_over(packet.message)


class RemovesWhatBothHave(Entity):
    """Steps 1 and 2 of §3.3 are taken as they are printed, one after the other."""

    def merge_records(self, packet: Packet) -> None:
        """Remove from R(m) what R_j has, too (step 1 (a) has `>=`). Step 2 then finds it in R_j alone."""
        carried = needed(packet.records, frozenset(self.records), self.clock) - self.records
        self.records = needed(self.records, frozenset(carried), packet.clock) | carried


class CopiesAreSilent(Entity):
    """Several receivers are served in the same way (§4): each copy carries what R_i had before the send."""

    def packet(self, message: object, others: frozenset[SRecord]) -> Packet:
        """Make a copy that does not tell who else gets one."""
        return super().packet(message, frozenset())


class SharesItsClock(Entity):
    """A message carries the vector time of its sender."""

    def packet(self, message: object, others: frozenset[SRecord]) -> Packet:
        """Give the object away. It goes on counting while the message is on its way."""
        return replace(super().packet(message, others), clock=self.clock)


class LooksOnce(Entity):
    """Something comes in, so something may go out."""

    def receive(self, packet: Packet) -> None:
        """With `if` for `while`."""
        self.queue.append(packet)
        if ready := next(filter(self.may_deliver, self.queue), None):
            self.queue.remove(ready)
            self.deliver(ready)


class LooksInCaseI(Entity):
    """The queue is looked at in case (i), as §3.3 has it: after a message with an s-record for this entity."""

    def receive(self, packet: Packet) -> None:
        """Deliver a message without such an s-record, and end there."""
        if not self.may_deliver(packet):
            self.queue.append(packet)
        elif any(one.receiver == self.name for one in packet.records):
            super().receive(packet)
        else:
            self.deliver(packet)


class LooksAtTheFirst(Entity):
    """The queue is in the order of time, so that nothing can go before its first message."""

    def receive(self, packet: Packet) -> None:
        """Look at the message with the fewest events before it. What is concurrent to it waits, too."""
        self.queue.append(packet)
        self.queue.sort(key=lambda waiting: sum(waiting.clock.values()))
        while self.queue and self.may_deliver(self.queue[0]):
            self.deliver(self.queue.pop(0))


class TakesTwice(Link):
    """What comes in was sent."""

    def is_new(self, number: int) -> bool:
        """Always. It was sent again because an acknowledgement was lost."""
        return True


class KeepsAll(Entity):
    """§3.1 is simpler, and right."""

    def merge_records(self, packet: Packet) -> None:
        """Add R(m) and remove nothing."""
        self.records |= packet.records


class LearnsOfTheSender(Entity):
    """A message tells of its sender."""

    def count_delivery(self, packet: Packet) -> None:
        """Learn one component of V(m). What was delivered is still known, and fewer s-records are removed."""
        self.clock[self.name] += 1
        self.clock[packet.sender] = packet.clock[packet.sender]


MISTAKES: Final[tuple[type[Entity] | type[Link], ...]] = (
    SendsNotCounted,
    MustBePassed,
    OneSenderOnly,
    NextOfItsSender,
    LearnsAtArrival,
    HandsNothingOn,
    CountsBeforeItCompares,
    RemovesWhatBothHave,
    CopiesAreSilent,
    SharesItsClock,
    LooksOnce,
    LooksInCaseI,
    LooksAtTheFirst,
    TakesTwice,
)

UNSEEN: Final[tuple[type[Entity], ...]] = (KeepsAll, LearnsOfTheSender)


def program(mistake: type[Entity] | type[Link]) -> Program:
    """The program with one mistake."""
    return Program(entity=mistake) if issubclass(mistake, Entity) else Program(link=mistake)
