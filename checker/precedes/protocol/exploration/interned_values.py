"""Values with numbers, and those of an exploration: where entities are, what they are in, and what handlers are called
for.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from precedes.core.frozen_values import made_by_slots
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

    def __len__(self) -> int:
        return len(self.values)


PLACE_BITS: Final = 32
PLACE: Final = (1 << PLACE_BITS) - 1
NOT_PLACED: Final = -1
_NONE: Final = -1
_MORE: Final = 8
"""Where room ends, there is made more for one in so many of what there is."""


class InternedPairs:
    """Pairs of whole numbers with numbers, in the order in which they came. A pair is one number: its second one has
    the last 32 bits, and is its place.

    Nearly every place is that of one pair or of few, one after the other. So a pair takes 16 bytes, and is found as
    fast as in a dictionary, where it takes a hundred.
    """

    def __init__(self) -> None:
        self.values = array("q")
        """The pairs; `NOT_PLACED` where a number is kept."""
        self._last = array("i")
        """By place, the number of the pair that was placed there last ..."""
        self._before = array("i")
        """... and by number, that of the pair before it."""

    def number(self, pair: int) -> int:
        """The number of a pair, which is new where it has none."""
        place, last, values = pair & PLACE, self._last, self.values
        if place < len(last):
            number = last[place]
            while number >= 0:
                if values[number] == pair:
                    return number
                number = self._before[number]
        number = len(values)
        values.append(NOT_PLACED)
        self._before.append(_NONE)
        self._put(number, pair)
        return number

    def known(self, pair: int) -> int | None:
        """The number of a pair; None where it has none."""
        number = self.last_at(pair & PLACE)
        while number >= 0 and self.values[number] != pair:
            number = self._before[number]
        return None if number < 0 else number

    def last_at(self, place: int) -> int:
        """The number of the last pair at a place, negative where there is none."""
        return self._last[place] if place < len(self._last) else _NONE

    def reserve(self, count: int) -> int:
        """Keep so many numbers for pairs that are placed later. The first of them."""
        first = len(self.values)
        self.values.extend([NOT_PLACED] * count)
        self._before.extend([_NONE] * count)
        return first

    def place(self, number: int, pair: int) -> None:
        """Give a pair a number that was kept for it, or that it has."""
        if self.values[number] == NOT_PLACED:
            self._put(number, pair)

    def _put(self, number: int, pair: int) -> None:
        place, last = pair & PLACE, self._last
        if place >= len(last):
            last.extend([_NONE] * (place + 1 - len(last) + len(last) // _MORE))
        self.values[number], self._before[number], last[place] = pair, last[place], number

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


@made_by_slots
@dataclass(frozen=True, slots=True)
class Cause:
    """A packet that comes in. `original`: what it was before the network corrupted it."""

    sender: int
    packet: Hashable
    original: Hashable = None


Trigger: TypeAlias = Cause | Message | Timer | None
"""What a handler is called for: a packet, a request, a timer, or a recovery."""
