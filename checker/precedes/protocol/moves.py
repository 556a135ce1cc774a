"""The moves of a behavior, which an exploration finds and reports show."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from precedes.protocol.model import Message, Step, Timer


@dataclass(frozen=True, slots=True)
class Began:
    """How it began, where that was chosen: which pairs of entities are cut off from each other, who has stopped,
    and how far each clock is ahead of the slowest, in ticks.
    """

    cut: frozenset[tuple[int, int]] = frozenset()
    stopped: frozenset[int] = frozenset()
    ahead: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Requested:
    """An entity accepted a request of its user."""

    entity: int
    message: Message
    step: Step[Any]


@dataclass(frozen=True, slots=True)
class Arrived:
    """A packet came in. `copied`: a copy of it is still under way. `original`: what it was before the network
    corrupted it.
    """

    entity: int
    sender: int
    packet: Hashable
    step: Step[Any]
    copied: bool = False
    original: Hashable = None


@dataclass(frozen=True, slots=True)
class Expired:
    """A timer expired. `early`: a time-out, although packets were under way."""

    entity: int
    timer: Timer
    step: Step[Any]
    early: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """The network lost a packet."""

    entity: int
    sender: int
    packet: Hashable


@dataclass(frozen=True, slots=True)
class Vanished:
    """A packet came to an entity that had stopped."""

    entity: int
    sender: int
    packet: Hashable


@dataclass(frozen=True, slots=True)
class Crashed:
    """An entity stopped. `shown`: the state that says what RL is then, where a protocol rearranges what it received:
    what the entity has left, or its last one where it has nothing left.
    """

    entity: int
    shown: Any = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """An entity that had stopped started again."""

    entity: int
    step: Step[Any]


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time went on to `now`."""

    now: int


Move: TypeAlias = Began | Requested | Arrived | Expired | Lost | Vanished | Crashed | Recovered | Ticked
