"""Values with numbers, and those of an exploration: where entities are, what they are in, and what handlers are called
for.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from precedes.protocol.model import Message, Timer


class Interned:
    """Values with numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value. TypeError where it cannot be hashed."""
        values = self.values
        new = len(values)
        number = self._numbers.setdefault(value, new)
        if number == new:
            values.append(value)
        return number

    def add(self, value: Any) -> int:
        """Add a value that is never looked for. Its number."""
        self.values.append(value)
        return len(self.values) - 1

    def known(self, value: Any) -> int | None:
        """The number of a value; None where it has none."""
        return self._numbers.get(value)

    def reserve(self, count: int) -> int:
        """Keep so many numbers for values that are placed later. The first of them."""
        first = len(self.values)
        self.values += [None] * count
        return first

    def place(self, number: int, value: Any) -> None:
        """Give a value a number that was kept for it."""
        self.values[number] = value
        self._numbers[value] = number

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Placement:
    """An entity under conditions that never change: how far its clock is ahead, and from whom nothing reaches it."""

    entity: int
    ahead: int = 0
    cut: frozenset[int] = frozenset()


class InnerState(NamedTuple):
    """What an entity is in: where and when, and the number of its protocol's state.

    `stopped`: it has crashed, and its state is what it has left; `lost` where that is nothing and it cannot recover.
    """

    placement: int
    now: int
    state: int
    stopped: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Cause:
    """A packet that comes in. `original`: what it was before the network corrupted it."""

    sender: int
    packet: Hashable
    original: Hashable = None


Trigger: TypeAlias = Cause | Message | Timer | None
"""What a handler is called for: a packet, a request, a timer, or a recovery."""
