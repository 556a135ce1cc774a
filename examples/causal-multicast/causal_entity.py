"""The CMD protocol for one entity: messages are delivered in the causal order of their sends.

It is written from the paper alone:

    Manabe, Tada, Higuchi, Fujii: A Message Delivery Protocol Preserving Causal Order for Distributed Systems.

The paper counts the events of a process in a vector time V (§2). For each message that may still be on its way, it has
an s-record: who sent it, to whom, and when in the sender's own count (§3.1). A message carries the s-records of what
was sent before it. Whoever gets it waits until the messages to itself among these are delivered. The CMD procedure
(§3.3) also removes s-records that nobody needs.

The paper's messages have one receiver. §4 says that several are served in the same way, and here they are: the send is
one event, and each receiver is told of the other ones.

Where the paper can be read in two ways, `Reading` marks the choice and its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class SRecord(NamedTuple):
    """A message that may be on its way (§3.1, Definition 6): `sender` sent it to `receiver` at its own `time`."""

    sender: str
    receiver: str
    time: int


@dataclass(frozen=True, slots=True)
class Packet:
    """What goes over the network: a message m with V(m) and R(m)."""

    message: object
    sender: str
    clock: Mapping[str, int]
    records: frozenset[SRecord]


Transmit = Callable[[str, Packet], None]
Deliver = Callable[[object], None]


class Entity:
    """S_i, which stands between its process P_i and the network.

    Args:
        name: Its name, which is also the name of its process.
        transmit: Gives a packet to the network, for a receiver. It arrives there once, in finite time, and may
            overtake others (§1, §3).
        deliver: Hands a message to the process.
    """

    def __init__(self, name: str, transmit: Transmit, deliver: Deliver) -> None:
        self.name = name
        self.clock: Counter[str] = Counter()
        self.records: set[SRecord] = set()
        self.queue: list[Packet] = []
        self._transmit = transmit
        self._hand_over = deliver

    def send(self, message: object, to: Iterable[str]) -> None:
        """Send a message to other entities (§3.3, "when a message is sent").

        Reading: the s-record of the message is added after it was sent, so that no copy asks its own receiver to wait
        for it. Each copy has the s-records of the other ones, because who gets this copy may soon send to them.
        """
        self.count_send()
        sent = frozenset(SRecord(self.name, receiver, self.clock[self.name]) for receiver in to)
        for record in sorted(sent):
            self._transmit(record.receiver, self.packet(message, sent - {record}))
        self.records |= sent

    def count_send(self) -> None:
        """The vector time of a send event (§2, step 2)."""
        self.clock[self.name] += 1

    def packet(self, message: object, others: frozenset[SRecord]) -> Packet:
        """One copy of a message, with V_i and R_i as they are now, and the s-records of its other copies."""
        return Packet(message, self.name, dict(self.clock), others.union(self.records))

    def receive(self, packet: Packet) -> None:
        """Take what the network brings (§3.3, "when a message is received").

        Reading: the paper looks into the queue in case (i) only. A message without an s-record for this entity is
        delivered at once, and others may have waited for it, too (§3: a message waits until condition (1) cannot be
        broken any more, and not longer).
        """
        self.queue.append(packet)
        while ready := next(filter(self.may_deliver, self.queue), None):
            self.queue.remove(ready)
            self.deliver(ready)

    def may_deliver(self, packet: Packet) -> bool:
        """Cases (i) and (ii): whether everything that was sent to this entity before is delivered here.

        Reading: the i of "for all (i, j, t) in R(m)" is any sender, and not the sender of m alone. Theorem 1 needs it.
        """
        return all(self.clock[one.sender] >= one.time for one in packet.records if one.receiver == self.name)

    def deliver(self, packet: Packet) -> None:
        """Case (i): count the event, learn what the sender knew, and hand the message over."""
        self.merge_records(packet)
        self.count_delivery(packet)
        self._hand_over(packet.message)

    def count_delivery(self, packet: Packet) -> None:
        """The vector time of a receive event (§2, step 3)."""
        self.clock[self.name] += 1
        for entity, count in packet.clock.items():
            if entity != self.name:
                self.clock[entity] = max(self.clock[entity], count)

    def merge_records(self, packet: Packet) -> None:
        """Steps 1 to 3 of the CMD procedure, then the union of R_j and R(m).

        Reading: §3.3 updates V_j first, and takes the steps one after the other. Then step 3 would remove whatever is
        new, and steps 1 and 2 together whatever both sides have. §3.2 says what is meant: a record goes if the other
        side *has removed* it. So the steps compare both sides as they were before this delivery.
        """
        mine, carried = frozenset(self.records), packet.records
        self.records = needed(mine, carried, packet.clock) | needed(carried, mine, self.clock)


def needed(records: Iterable[SRecord], others: frozenset[SRecord], clock: Mapping[str, int]) -> set[SRecord]:
    """The s-records that stay beside those of the other side, which has the vector time `clock`.

    A record goes if the other side has a later one of the same two entities (step 1), or if it knows of the send and
    has the record no more (steps 2 and 3): it has learned that the message was delivered.
    """
    latest: dict[tuple[str, str], int] = {}
    for sender, receiver, time in others:
        latest[sender, receiver] = max(time, latest.get((sender, receiver), 0))
    return {
        one
        for one in records
        if latest.get((one.sender, one.receiver), 0) <= one.time
        and (one in others or clock.get(one.sender, 0) < one.time)
    }
