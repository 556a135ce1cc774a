"""Invariants of protocols: statements of the papers about states and steps, not about logs.

A check returns None if its premise is not met. An invariant whose premise was never met is never exercised.
A `quiescent` invariant is asked only where nothing is in flight, any other in every state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from precedes.protocol.model import Here, Message, Step


@dataclass(frozen=True, slots=True)
class OfEntity:
    """Of the state of one entity: `check(protocol, here, state)`."""

    name: str
    source: str
    check: Callable[[Any, Here, Any], bool | None]
    quiescent: bool = False


@dataclass(frozen=True, slots=True)
class OfPair:
    """Of the states of two different entities, in both orders: `check(protocol, here, state, there, other)`."""

    name: str
    source: str
    check: Callable[[Any, Here, Any, Here, Any], bool | None]
    quiescent: bool = False


@dataclass(frozen=True, slots=True)
class OfStep:
    """Of one step of one entity: `check(protocol, here, before, cause, step)`.

    `cause` is the Message that was requested, the packet that arrived or the Timer that expired.
    """

    name: str
    source: str
    check: Callable[[Any, Here, Any, Hashable, Step[Any]], bool | None]


@dataclass(frozen=True, slots=True)
class Situation:
    """A whole state: what every entity is in, None where it has stopped; what is in flight to whom; and who has sent
    and delivered what so far.
    """

    states: tuple[Any, ...]
    under_way: tuple[tuple[int, int, Hashable], ...]
    """Sender, receiver and packet, in a fixed order."""
    sent: tuple[tuple[Message, ...], ...]
    delivered: tuple[tuple[Message, ...], ...]


@dataclass(frozen=True, slots=True)
class OfState:
    """Of a whole state: `check(protocol, situation)`. The dearest kind: it is called for every state, or for
    every quiescent one.
    """

    name: str
    source: str
    check: Callable[[Any, Situation], bool | None]
    quiescent: bool = False


Invariant: TypeAlias = OfEntity | OfPair | OfStep | OfState
