"""What the processes of a cluster say to each other: datagrams, and lines between each of them and who started them."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

HOST: Final = "127.0.0.1"
LARGEST: Final = 65_507
"""Bytes in a datagram of UDP over IPv4."""


class Letter(Struct, frozen=True, array_like=True):
    """A packet of the protocol, encoded: who transmitted it, when in ticks, and to whom, where a channel asks that."""

    sender: int
    sent: int
    packet: Raw
    to: tuple[int, ...] = ()


class Datagram(Struct, frozen=True, array_like=True):
    """A letter of one ticket and its number on the way from a process to another; or, without a letter, the number up
    to which everything has come. `token` keeps out what other programs send here.
    """

    token: str
    ticket: int
    source: int
    number: int
    letter: Letter | None = None


class Hello(Struct, frozen=True, tag="hello"):
    """A process is there, and where its socket is."""

    token: str
    party: int
    port: int


class Ports(Struct, frozen=True, tag="ports"):
    """Where the sockets of all processes are."""

    ports: tuple[int, ...]


class Begin(Struct, frozen=True, tag="begin"):
    """An execution begins at a time of the monotonic clock. One that is run again gets another ticket."""

    ticket: int
    number: int
    at: int


class Idle(Struct, frozen=True, tag="idle"):
    """Nothing is left to do in a process unless something comes in; how many letters it has handed over and taken."""

    ticket: int
    sent: int
    taken: int


class Ask(Struct, frozen=True, tag="ask"):
    """Is it still so?"""

    ticket: int


class Still(Struct, frozen=True, tag="still"):
    """The answer to that."""

    ticket: int
    idle: bool
    sent: int
    taken: int


class End(Struct, frozen=True, tag="end"):
    """An execution has ended; it is to be recorded."""

    ticket: int


class Ended(Struct, frozen=True, tag="ended"):
    """It is recorded; what was counted, and how often something was later than the model allows."""

    ticket: int
    counters: dict[str, float]
    late: int
    resent: int


class Stop(Struct, frozen=True, tag="stop"):
    """There is no other execution."""


Order: TypeAlias = Ports | Begin | Ask | End | Stop
"""What a process is told."""
Word: TypeAlias = Hello | Idle | Still | Ended
"""What a process says."""

encode = msgspec.json.encode
datagram_of = msgspec.json.Decoder(Datagram).decode
order_of = msgspec.json.Decoder(Order).decode
word_of = msgspec.json.Decoder(Word).decode
