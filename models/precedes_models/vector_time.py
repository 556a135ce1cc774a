"""Vector time, after Manabe, Tada, Higuchi, Fujii (CMD paper, section 2): pure functions on tuples of counts.

A clock of N entities is a tuple of N ints; component k counts the events of entity k that precede or are the event
(Lemma 2). Whoever keeps a clock decides when these functions are called.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

Clock: TypeAlias = tuple[int, ...]


def zero(entities: int) -> Clock:
    """The clock before any event (step 1)."""
    return (0,) * entities


def ticked(clock: Clock, entity: int) -> Clock:
    """The clock of the next event of `entity`, where that is a send (step 2)."""
    counts = list(clock)
    counts[entity] += 1
    return tuple(counts)


def supremum(first: Clock, second: Clock) -> Clock:
    """The greater of the two in every component (Definition 4)."""
    return tuple(map(max, first, second))


def received(clock: Clock, entity: int, carried: Clock) -> Clock:
    """The clock of the next event of `entity`, where that receives a message which carries `carried` (step 3).

    The component of the entity itself is counted on and not compared; `carried` is never ahead of it there.
    """
    joined = list(map(max, clock, carried))
    joined[entity] = clock[entity] + 1
    return tuple(joined)


def at_most(first: Clock, second: Clock) -> bool:
    """Not greater in any component (Definition 5)."""
    return all(mine <= other for mine, other in zip(first, second, strict=True))


@lru_cache(maxsize=1 << 14)
def renamed(clock: Clock, names: tuple[int, ...]) -> Clock:
    """The clock after entity k has become `names[k]`."""
    moved = [0] * len(clock)
    for entity, count in enumerate(clock):
        moved[names[entity]] = count
    return tuple(moved)
