"""A model that delivers what comes in, in several networks, and packets with everything that one may have.

They stand in a module of their own, because other processes load them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from precedes.protocol import Deliver, Message, Protocol, Reliable, SingleChannel, Step, Transmit


class Color(Enum):
    """An enum in a packet."""

    RED = "r"
    BLUE = "b"


class Pair(NamedTuple):
    """A named tuple in a packet."""

    left: int
    right: str


@dataclass(frozen=True)
class Parcel:
    """A packet with everything that one may have."""

    message: Message
    color: Color
    pair: Pair
    known: frozenset[tuple[int, int]] = frozenset()
    text: bytes = b""
    share: float | None = None
    sure: bool = False


@dataclass(frozen=True)
class Post(Protocol[int]):
    """Delivers what comes in."""

    name = "post"
    claims = ("no_duplication",)

    @property
    def network(self) -> Reliable:
        """Without faults."""
        return Reliable()

    def start(self, here: Any) -> int:
        return 0

    def send(self, here: Any, state: int, message: Message) -> Step[int]:
        return Step(state, (Transmit(message, message.destinations),))

    def arrive(self, here: Any, state: int, packet: Any, sender: int) -> Step[int]:
        return Step(state + 1, (Deliver(packet),))


@dataclass(frozen=True)
class Channel(Post):
    """The same on one channel."""

    name = "channel"

    @property
    def network(self) -> Any:
        return SingleChannel()


@dataclass(frozen=True)
class Faulty(Post):
    """The same in a network with every fault."""

    name = "faulty"

    @property
    def network(self) -> Reliable:
        return Reliable(loses=True, duplicates=True, corrupts=True)

    def corrupted(self, packet: Any) -> tuple[Any, ...]:
        return (("damaged", packet),)


@dataclass(frozen=True)
class Breaks(Post):
    """A handler raises at the second packet."""

    name = "breaks"

    def arrive(self, here: Any, state: int, packet: Any, sender: int) -> Step[int]:
        if state:
            raise ValueError("two is too much")
        return super().arrive(here, state, packet, sender)


@dataclass(frozen=True)
class Remembers(Post):
    """Counts what it delivers, on a disk; the clock of a delivery shows the count."""

    name = "remembers"

    def arrive(self, here: Any, state: int, packet: Any, sender: int) -> Step[int]:
        clock = tuple(state + 1 if each == here.entity else 0 for each in range(here.entities))
        return Step(state + 1, (Deliver(packet, clock),))

    def crash(self, here: Any, state: int) -> int:
        return state

    def recover(self, here: Any, state: int) -> Step[int]:
        return Step(state)
