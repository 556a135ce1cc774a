"""Where random cases get their choices.

The generators beside this module are written once against `Choices`. `Seeded` takes choices from a seed, which is fast
and always gives the same case. A test that uses hypothesis can draw them from it: the first alternative of every choice
is the plainest one, so that a failing case shrinks towards short logs, no loss and no oddities.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """A source of choices."""

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included; `low` is the plainest."""
        ...


class Seeded:
    """Choices from a pseudo-random generator: the same seed gives the same case."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - the same case every time is what is wanted

    def integer(self, low: int, high: int) -> int:
        """See `Choices`."""
        return low + int(self._random.random() * (high - low + 1))


def chance(choices: Choices, percent: int) -> bool:
    """True in about `percent` of 100 cases; False is the plainest."""
    return choices.integer(0, 99) >= 100 - percent


def pick(choices: Choices, alternatives: Sequence[T]) -> T:
    """One of the alternatives, the first being the plainest."""
    return alternatives[choices.integer(0, len(alternatives) - 1)]


def shuffled(choices: Choices, items: Sequence[T]) -> list[T]:
    """The items in some order; their own is the plainest."""
    rest = list(items)
    return [rest.pop(choices.integer(0, len(rest) - 1)) for _ in items]
