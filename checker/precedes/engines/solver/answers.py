"""Questions to the solver and its answers, as values.

The bound is part of an answer: "proved" is for every size, and a search says how far it went.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from precedes.core.counts import counted
from precedes.core.execution import Execution
from precedes.core.witness import Witness
from precedes.language.syntax import Counted, Size


@dataclass(frozen=True, slots=True)
class Bounds:
    """The sizes of executions to look at: entities and messages, first and last included."""

    entities: tuple[int, int] = (1, 4)
    messages: tuple[int, int] = (0, 6)

    def __post_init__(self) -> None:
        if self.entities[0] < 1 or self.messages[0] < 0:
            raise ValueError("an execution has an entity at least, and no fewer than 0 messages")

    def narrowed(self, sizes: Sequence[Size]) -> Bounds:
        """These bounds, with what a question says of sizes in place of them: `entities = 2, messages <= 2`."""
        entities, messages = self.entities, self.messages
        for size in sizes:
            match size.counted:
                case Counted.ENTITIES:
                    entities = (size.number if size.exactly else 1, size.number)
                case Counted.MESSAGES:
                    messages = (size.number if size.exactly else 0, size.number)
        return Bounds(entities, messages)


@dataclass(frozen=True, slots=True)
class Options:
    """Limits of one question: `timeout` in seconds, `memory` in megabytes. `progress` is told, now and then,
    how far it got.
    """

    timeout: float = 60.0
    memory: int = 2048
    bounds: Bounds = Bounds()
    progress: Callable[[str], None] | None = None


DEFAULT: Final = Options()


@dataclass(frozen=True, slots=True)
class Proved:
    """The formula holds on every possible execution, of every size."""

    def __str__(self) -> str:
        return "proved for every size"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The formula is false on this execution, and on none that is smaller. `witness` shows where; None where
    nothing is to be shown.
    """

    execution: Execution
    witness: Witness | None

    def __str__(self) -> str:
        return f"counterexample with {_size(self.execution)}"


@dataclass(frozen=True, slots=True)
class NoCounterexample:
    """The formula holds on every possible execution of up to so many entities and messages, and of what `others` name:
    larger ones were not looked at.
    """

    entities: int
    messages: int
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"no counterexample up to {_sizes(self.entities, self.messages, *self.others)}"


@dataclass(frozen=True, slots=True)
class Undecided:
    """The solver gave up, or the formula is beyond it."""

    why: str

    def __str__(self) -> str:
        return f"undecided ({self.why})"


@dataclass(frozen=True, slots=True)
class Example:
    """The formula is true on this execution, and on none within the bounds that is smaller."""

    execution: Execution

    def __str__(self) -> str:
        return f"example with {_size(self.execution)}"


@dataclass(frozen=True, slots=True)
class NoExample:
    """The formula is true on no execution: within the bounds and those that `others` name, or (`every_size`) at all."""

    bounds: Bounds
    every_size: bool
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.every_size:
            return "proved for every size: there is no example"
        return f"no example up to {_sizes(self.bounds.entities[1], self.bounds.messages[1], *self.others)}"


Answer = Proved | Counterexample | NoCounterexample | Undecided
Finding = Example | NoExample | Undecided


class OutOfTime(Exception):
    """The deadline has passed."""


class Deadline:
    """When a question must be answered."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left; OutOfTime where there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left


def _size(execution: Execution) -> str:
    return _sizes(len(execution.entities), len(execution.messages))


def _sizes(entities: int, messages: int, *others: str) -> str:
    *first, last = [counted(entities, "entity", "entities"), counted(messages, "message"), *others]
    return f"{', '.join(first)} and {last}"
