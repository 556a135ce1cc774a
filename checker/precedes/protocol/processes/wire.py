"""What the processes of a cluster say to each other: datagrams, and lines between each of them and who started them."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

HOST: Final = "127.0.0.1"
LARGEST: Final = 65_507
"""Bytes in a datagram of UDP over IPv4."""


class Parcel(Struct, frozen=True, array_like=True):
    """A packet of the protocol, encoded, and to whom it goes, where it is the network that delivers it."""

    packet: Raw
    to: tuple[int, ...] = ()


class Letter(Struct, frozen=True, array_like=True):
    """Packets of one step: who transmitted them, and when in ticks. The network delivers them one by one."""

    sender: int
    sent: int
    parcels: tuple[Parcel, ...]


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
    """A process is there, by its number among all processes, and where its socket is."""

    token: str
    place: int
    port: int


class Ports(Struct, frozen=True, tag="ports"):
    """Where the sockets of all processes are, by their numbers; 0 for one that is not there yet."""

    ports: tuple[int, ...]


class Begin(Struct, frozen=True, tag="begin"):
    """An execution begins at a time of the monotonic clock. One that is run again gets another ticket. `places`: the
    process of each entity and, behind the last of them, of the network, where that is a process.
    """

    ticket: int
    number: int
    at: int
    places: tuple[int, ...]


class TakeOver(Struct, frozen=True, tag="take over"):
    """An entity whose process was killed is to start again in this one, at tick `due`."""

    begun: Begin
    entity: int
    due: int


class Gone(Struct, frozen=True, tag="gone"):
    """Told to the network: the process of an entity was killed, after it had taken so many letters."""

    ticket: int
    entity: int
    taken: int


class Back(Struct, frozen=True, tag="back"):
    """Told to the network: an entity is in another process now."""

    ticket: int
    entity: int
    place: int


class Known(Struct, frozen=True, tag="known"):
    """Said by the network: it knows where an entity is now, and delivers there what comes in."""

    ticket: int
    entity: int


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


class Part(Struct, frozen=True, array_like=True):
    """What a process had in an execution: what was counted, how often something was later than the model allows, and
    how many datagrams were sent again. `channel`: who transmitted into the channel, once for each step.
    """

    counters: dict[str, float]
    late: int
    resent: int
    channel: tuple[int, ...] | None = None


class Ended(Struct, frozen=True, tag="ended"):
    """An execution is recorded."""

    ticket: int
    part: Part


class Stopped(Struct, frozen=True, tag="stopped"):
    """An entity has stopped, and all that it had transmitted has left. Its process does nothing any more and is to be
    killed. `due`: when the entity starts again, in ticks.
    """

    ticket: int
    part: Part
    sent: int
    taken: int
    due: int | None


class Stop(Struct, frozen=True, tag="stop"):
    """There is no other execution."""


Order: TypeAlias = Ports | Begin | TakeOver | Gone | Back | Ask | End | Stop
"""What a process is told."""
Word: TypeAlias = Hello | Known | Idle | Still | Ended | Stopped
"""What a process says."""

encode = msgspec.json.encode
datagram_of = msgspec.json.Decoder(Datagram).decode
order_of = msgspec.json.Decoder(Order).decode
word_of = msgspec.json.Decoder(Word).decode
