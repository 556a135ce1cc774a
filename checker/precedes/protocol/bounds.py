"""The bounds of an exploration, and the conditions of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from precedes.protocol.model import Message


class Destinations(Enum):
    """Which destination sets are explored, or drawn."""

    UNICAST = "unicast"
    """one other entity"""
    MULTICAST = "multicast"
    """any set of other entities that is not empty"""
    BROADCAST = "broadcast"
    """every entity, the sender included"""
    ANY = "any"
    """any set that is not empty, the sender may be in it"""


MOST_STATES = 4_000_000
"""Where an exploration stops that was given no limit."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far an exploration goes: everything that may happen up to these numbers is explored.

    The last four are limits. An exploration that meets one is not complete, and its report says so.

    Attributes:
        entities: How many entities there are.
        messages: How many requests to send there are altogether.
        destinations: Which destination sets are explored: one other entity, unless this says otherwise. (The command,
            and `explore` with its bounds one by one, take those that the model names.)
        script: Who asks for what to be sent, in which order. Without it, every choice of senders and destinations is
            explored.
        losses: How many packets the network may lose.
        duplicates: How many packets the network may copy.
        corruptions: How many packets the network may change.
        crashes: How often an entity may stop.
        recoveries: How often a stopped entity may start again.
        early: How many time-outs may expire while packets are in flight.
        broken_links: How many pairs of entities are disconnected, chosen in the beginning.
        dead: How many entities have stopped before the beginning.
        ticks: The last tick of a request, in a network with time.
        depth: Stop after so many moves.
        seconds: Stop after so many seconds.
        states: Stop at so many states.
        megabytes: Stop at so much memory in use.
    """

    entities: int = 3
    messages: int = 3
    destinations: Destinations = Destinations.UNICAST
    script: tuple[tuple[Message, ...], ...] | None = None
    losses: int = 0
    duplicates: int = 0
    corruptions: int = 0
    crashes: int = 0
    recoveries: int = 0
    early: int = 0
    broken_links: int = 0
    dead: int = 0
    ticks: int | None = None
    depth: int | None = None
    seconds: float | None = None
    states: int | None = None
    megabytes: int | None = None

    def limited(self) -> Bounds:
        """The same with a limit, where there is none."""
        limits = (self.depth, self.seconds, self.states, self.megabytes)
        return replace(self, states=MOST_STATES) if limits == (None,) * 4 else self


@dataclass(frozen=True, slots=True)
class Conditions:
    """How one simulated execution comes about. Times are in ticks; written to a trace, a tick is a microsecond.

    Requests come as a Poisson process at each entity, one every `interval` ticks in the mean, `messages` of them
    altogether. Delays are normal; what falls below zero is drawn again. `loss`, `duplication`, `corruption`: the
    probability for each packet at each receiver. `crash`: the probability that an entity stops at some time of the
    run; `recovery`: that one which stopped starts again.
    """

    entities: int = 3
    messages: int = 12
    destinations: Destinations = Destinations.MULTICAST
    interval: float = 1000.0
    delay: float = 1000.0
    deviation: float = 300.0
    loss: float = 0.0
    duplication: float = 0.0
    corruption: float = 0.0
    crash: float = 0.0
    recovery: float = 0.0
    skew: int = 0
