"""Seeded bugs: each protocol with one handler broken, and a case small enough to find it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from precedes.protocol import Here, Message, Transmit
from precedes.protocol.bounds import Bounds
from precedes_models.delta_causal.agent import Agent, DeltaAgent, Mark, Packet, Tag
from precedes_models.delta_causal.fixed_wait import FixedWait
from precedes_models.delta_causal.full_tag import FullTag
from precedes_models.delta_causal.invariants import NEVER, Sent
from precedes_models.delta_causal.protocol import DeltaCausal

ORDER, WAIT = "Theorem 3, as Theorem 2 has it", "Theorem 4: no wait outlasts Δ"


@dataclass(frozen=True)
class Forgets(DeltaCausal):
    """(S5) does not note what is sent."""

    def after_sending(self, tag: Tag, message: Message, stamp: int) -> Tag:
        return tag


@dataclass(frozen=True)
class NotesFirst(DeltaCausal):
    """(S5) before (S4): a message has itself in its tag."""

    def tags(self, here: Here, state: Agent, message: Message) -> Iterator[Tag]:
        for tag in super().tags(here, state, message):
            yield self.after_sending(tag, message, here.now)


@dataclass(frozen=True)
class Deaf(DeltaCausal):
    """(R5) learns nothing."""

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        blank = Packet(packet.message, packet.stamp, (frozenset(),) * here.entities)
        return super().learned(here, cb, blank)


@dataclass(frozen=True)
class KeepsTheOldest(DeltaCausal):
    """(S3) keeps the MAX_CB smallest."""

    def trimmed(self, cb: Tag) -> Iterator[Tag]:
        def oldest(marks: frozenset[Mark]) -> frozenset[Mark]:
            return frozenset(islice(sorted(marks, key=lambda mark: (mark[1], mark[0])), self.max_cb))

        yield tuple(map(oldest, cb))


@dataclass(frozen=True)
class Impatient(DeltaCausal):
    """(R2) takes a full tag for a complete one."""

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        return max(packet.stamp, self.expired(here, state, packet))


@dataclass(frozen=True)
class TooSoon(DeltaCausal):
    """Condition (1) has x + Δ <= time."""

    def expired(self, here: Here, state: Agent, packet: Packet) -> int:
        due = super().expired(here, state, packet)
        return due if due == NEVER else due - 1


@dataclass(frozen=True)
class NeverLate(DeltaCausal):
    """(R1) throws nothing away."""

    def is_late(self, here: Here, packet: Packet) -> bool:
        return False


@dataclass(frozen=True)
class NotesEverybody(DeltaCausal):
    """(R6) for every sender."""

    def noted(self, deliv: tuple[int, ...], packet: Packet) -> tuple[int, ...]:
        return (packet.stamp,) * len(deliv)


@dataclass(frozen=True)
class OwnOnly(FullTag):
    """Learns of the message and of nothing that the sender knew."""

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        blank = Packet(packet.message, packet.stamp, (frozenset(),) * here.entities)
        return super().learned(here, cb, blank)


@dataclass(frozen=True)
class DoesNotWait(FullTag):
    """Delivers what arrives."""

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        return packet.stamp


@dataclass(frozen=True)
class WaitsForItself(FullTag):
    """Has the message itself in its tag."""

    def tags(self, here: Here, state: Agent, message: Message) -> Iterator[Tag]:
        yield self.after_sending(state.cb, message, here.now)


@dataclass(frozen=True)
class OneMark(FullTag):
    """Of all senders together the latest mark only."""

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        known = super().learned(here, cb, packet)
        return tuple(frozenset(sorted(marks, key=lambda mark: mark[1])[-1:]) for marks in known)


@dataclass(frozen=True)
class LateAgain(FullTag):
    """Throws nothing away."""

    def is_late(self, here: Here, packet: Packet) -> bool:
        return False


@dataclass(frozen=True)
class NoColumn(FixedWait):
    """Tells a destination of the sender's own messages alone."""

    def packets(self, here: Here, message: Message, tag: Tag, past: frozenset[Sent]) -> tuple[Transmit, ...]:
        own = tuple(frozenset(mark for mark in marks if mark[0] == here.entity) for marks in tag)
        return super().packets(here, message, own, past)


@dataclass(frozen=True)
class NoRow(FixedWait):
    """Does not tell the others of its own messages."""

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        blank = Packet(packet.message, packet.stamp, (frozenset(),) * here.entities)
        return super().learned(here, cb, blank)


@dataclass(frozen=True)
class NoWait(FixedWait):
    """w is not waited."""

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        return self.expired(here, state, packet)


@dataclass(frozen=True)
class WaitsOnly(FixedWait):
    """w is all that is waited."""

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        return packet.stamp + self.wait


@dataclass(frozen=True)
class WaitsTooLong(FixedWait):
    """Δ and one tick is waited."""

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        return packet.stamp + self.limit + 1


@dataclass(frozen=True)
class ThirdOfDelta(FixedWait):
    """w is Δ/3 exactly, which §3.1 excludes. No bug of a handler, but of the choice of w."""

    delta: int = 3
    wait: int = 1

    def __post_init__(self) -> None:
        DeltaAgent.__post_init__(self)


def script(*requests: tuple[set[int], ...]) -> tuple[tuple[Message, ...], ...]:
    """For each entity the destinations of what it sends, one after the other."""
    return tuple(
        tuple(Message(entity, number, frozenset(to)) for number, to in enumerate(sends, start=1))
        for entity, sends in enumerate(requests)
    )


PAIR = Bounds(entities=2, messages=2, ticks=2)
TRIANGLE = Bounds(entities=3, script=script(({2}, {1}), ({2},), ()), ticks=2)
"""E1 tells E3, then E2, which tells E3."""
CROWDED = Bounds(entities=3, script=script(({1, 2},), ({2}, {2}), ()), ticks=2)
"""What E2 sends to E3 the second time comes after two messages to E3, of two senders."""
CHAIN = Bounds(entities=4, script=script(({1, 3},), ({2},), ({3},), ()), ticks=3)
"""E1 tells E2 and E4, E2 tells E3, and E3 tells E4."""

BUGS: tuple[tuple[DeltaAgent, Bounds, str], ...] = (
    (Forgets(delta=1), PAIR, ORDER),
    (NotesFirst(delta=1), PAIR, WAIT),
    (Deaf(delta=2), TRIANGLE, ORDER),
    (KeepsTheOldest(delta=2, max_cb=1), CROWDED, ORDER),
    (Impatient(delta=2, max_cb=1), CROWDED, ORDER),
    (TooSoon(delta=1), PAIR, ORDER),
    (NeverLate(delta=1), PAIR, "deadline"),
    (NotesEverybody(delta=2), CROWDED, ORDER),
    (OwnOnly(delta=2), TRIANGLE, ORDER),
    (DoesNotWait(delta=1), PAIR, ORDER),
    (WaitsForItself(delta=1), PAIR, WAIT),
    (OneMark(delta=2), CROWDED, ORDER),
    (LateAgain(delta=1), PAIR, "deadline"),
    (NoColumn(), Bounds(entities=3, script=script(({2}, {1}), ({2},), ()), ticks=4), ORDER),
    (NoRow(), Bounds(entities=3, script=script(({2}, {1}), ({2},), ()), ticks=4), ORDER),
    (NoWait(), CHAIN, ORDER),
    (WaitsOnly(), Bounds(entities=2, messages=2, ticks=3), ORDER),
    (WaitsTooLong(), Bounds(entities=2, messages=1, ticks=0), WAIT),
)
