"""How far an exploration goes, and under which conditions a simulation runs."""

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
    """Everything that may happen up to these numbers is explored.

    `script` says who asks for what to be sent, in whose order; without one, every choice of senders and destinations is
    explored, up to `messages` requests altogether. Limits: an exploration that meets one is not complete, and says so.
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
    """time-outs that expire although packets are under way"""
    broken_links: int = 0
    """pairs of entities between which nothing arrives, chosen in the beginning"""
    dead: int = 0
    """entities that have stopped before the beginning"""
    ticks: int | None = None
    """the last tick at which a message may be requested, in a network with time"""
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
