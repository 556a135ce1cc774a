"""The packets of the high-integrity protocol and what a node knows of one origin's multicasts.

The paper has one node, 0, send, "without loss of generality" (section 3.3). Here every entity may; a node keeps one
`Part` for each origin that it has heard of, and the parts have nothing to do with each other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

from precedes.protocol import Message


@dataclass(frozen=True, slots=True)
class Data:
    """Step 1, and step 6 with `round` > 0: the data, all of it in one packet (section 3.1).

    `members` is the list of the group, which all participants share by other means (section 3.3).
    """

    message: Message
    round: int
    members: tuple[int, ...]
    payload: bytes


@dataclass(frozen=True, slots=True)
class Query:
    """Step 3: has the data of this round arrived?"""

    message: Message
    round: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Step 4: it has, and this is its hash."""

    message: Message
    round: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """Step 5: these nodes did not confirm, in ascending order.

    `repeat` is False where the reporter knows by majority that its own copy is right (section 3.4.4): then it is a
    report, and no request for repetition.
    """

    message: Message
    round: int
    failed: tuple[int, ...]
    repeat: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """Repaired protocol only: the origin has the request of this round."""

    message: Message
    round: int


Packet: TypeAlias = Data | Query | Answer | Request | Heard


@dataclass(frozen=True, slots=True, order=True)
class Report:
    """What the origin learned in a round: `reporter`, which may be itself, had no confirmation from `failed`."""

    round: int
    reporter: int
    failed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What a node knows of the multicasts of one origin.

    `message`, `round` and `copy` are those of the latest data that arrived; None, -1 and None before that. The
    fields from `reports` on are used at the origin alone.
    """

    origin: int
    message: Message | None = None
    round: int = -1
    copy: bytes | None = None
    members: tuple[int, ...] = ()
    neighbours: frozenset[int] = frozenset()
    """B_i of this round."""
    waiting: frozenset[int] = frozenset()
    """Neighbours that have not confirmed, while the time-out runs."""
    differing: frozenset[tuple[int, bytes]] = frozenset()
    """Those of them that answered with another hash."""
    unconfirmed: frozenset[int] = frozenset()
    """Neighbours that had not confirmed when the time-out expired."""
    asked: frozenset[tuple[Query, int]] = frozenset()
    """Queries, and by whom, about data that has not arrived yet."""
    unheard: Request | None = None
    """A request that the origin has not acknowledged, and how often it was sent again."""
    tries: int = 0
    alarm: bool = False
    """The user of this node was told that the origin cannot be reached."""
    reports: frozenset[Report] = frozenset()
    requested: bool = False
    """A request for repetition came in this round."""
    ended: bool = False
    removed: frozenset[int] = frozenset()

    @property
    def confirmed(self) -> frozenset[int]:
        """Neighbours that hold the same data, as far as hashes tell."""
        return self.neighbours - self.waiting - self.unconfirmed

    def holds(self, message: Message) -> bool:
        """Whether the copy is what the origin sent."""
        return self.message == message and self.copy == payload(message)

    def times_reported(self, node: int) -> int:
        """How many reports of others than the origin name a node, two in one round being two (step 7 as written)."""
        return sum(node in report.failed for report in self.reports if report.reporter != self.origin)

    def rounds_reported(self, node: int) -> int:
        """In how many rounds a node was named."""
        return len({report.round for report in self.reports if node in report.failed})


State: TypeAlias = tuple[Part, ...]
"""The parts of a node, by origin, in ascending order."""


def part_of(state: State, origin: int) -> Part:
    """The part for an origin, empty where nothing was heard of it."""
    return next((part for part in state if part.origin == origin), Part(origin))


def with_part(state: State, part: Part) -> State:
    """The state with one part renewed."""
    others = [other for other in state if other.origin != part.origin]
    return tuple(sorted([*others, part], key=lambda one: one.origin))


def payload(message: Message) -> bytes:
    """The data of a message, as bytes."""
    return _text(message.sender, message.number)


def stale(message: Message) -> bytes:
    """The data of the message before it: what a stale copy holds."""
    return _text(message.sender, message.number - 1)


def _text(sender: int, number: int) -> bytes:
    return f"node {sender}, clearance {number}".encode()


def flipped(data: bytes, bit: int) -> bytes:
    """Data with one bit flipped, counted from the front."""
    changed = bytearray(data)
    changed[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(changed)


def digest_of(data: bytes, name: str) -> bytes:
    """The hash of data by one of hashlib's names; of a length that a packet has room for."""
    return hashlib.new(name, data, usedforsecurity=False).digest()
