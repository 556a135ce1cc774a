"""The networks of protocols: what may happen to a packet between `Transmit` and `arrive`.

A network says what it can do. `Bounds` says how often this may happen in one exploration, and `Conditions`
how probable it is in one simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Reliable:
    """Between any two entities, asynchronous: every packet arrives after some time, and so do its copies.

    `fifo`: packets between the same two entities arrive in the order in which they were transmitted. `loses`,
    `duplicates`, `corrupts`: what it may do to a packet. (With any of these it is not reliable any more, but the
    faults are counted.)
    """

    fifo: bool = False
    loses: bool = False
    duplicates: bool = False
    corrupts: bool = False


@dataclass(frozen=True, slots=True)
class SingleChannel:
    """1C: one channel that orders all packets; every receiver, the sender included, gets them in that order, but
    each may miss some (1994, §2.4)."""

    loses: bool = True


@dataclass(frozen=True, slots=True)
class Timed:
    """Between any two entities, with one global time in ticks that all clocks follow.

    A packet arrives at a tick of the network's choice, `shortest` to `longest` ticks after its transmission, or,
    where it `loses`, never. Clocks differ from each other by at most `skew` ticks.
    """

    shortest: int = 0
    longest: int = 4
    loses: bool = False
    skew: int = 0


Network: TypeAlias = Reliable | SingleChannel | Timed
