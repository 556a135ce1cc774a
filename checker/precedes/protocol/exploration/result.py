"""The result of an exploration, as values: the states reached, the violations, and the verdict of each
property.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.mode import Mode
from precedes.core.verdict import Verdict
from precedes.core.witness import Explanation
from precedes.protocol.moves import Move

DEADLOCK: Final = "no deadlock"
STARVATION: Final = "no starvation"
INTERRUPTED: Final = "an interrupt"
"""What stopped a search that its observer ended."""
FIRST: Final = "the first violation"
"""What stopped a search that was to end with it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A property that a behavior breaks: a shortest one where the search was breadth first and no walk
    found it.

    `quiescent`: nothing is in flight where it is broken. `requirement` and `explanation` where the property is a
    formula. `about` says what starves or is refused, `starving` has the messages that starve, each with its entity.
    `loop`: the behavior is a lasso, and so many moves at its end can go on for ever; with 0, nothing more need happen.
    """

    property: str
    behavior: tuple[Move, ...]
    execution: Execution
    quiescent: bool
    requirement: Requirement | None = None
    explanation: Explanation | None = None
    about: tuple[str, ...] = ()
    starving: tuple[tuple[str, str], ...] = ()
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A violation as it is seen first, while the search goes on: `moves` lead to it, those of a shortest behavior
    unless reductions or a walk took others. `requirement` and `explanation` where the property is a formula.
    """

    property: str
    moves: int
    states: int
    requirement: Requirement | None = None
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class SoFar:
    """How far a search is: how many states there are, how deep it is, and how many of them wait to be expanded.

    `remaining`: about how many states will be found beside these; None: that cannot be guessed yet.
    """

    states: int
    depth: int
    frontier: int
    remaining: int | None = None


class Observer:
    """Who watches a search. This one does nothing."""

    def progress(self, so_far: SoFar) -> None:
        """Called every few hundred states."""

    def violated(self, sighting: Sighting) -> None:
        """Called at most once for each property, within a second or so of the violation being reached."""

    def interrupts(self) -> bool:
        """Whether the search is to end with what it knows."""
        return False


@dataclass(frozen=True, slots=True)
class Exploration:
    """What an exploration came to.

    `depth` is the number of moves to the farthest state; `stopped_by` the limit that was met. `exercised`: how often
    each property was, that is, its premise met, by different executions, states, pairs or steps. `open` says why a
    property could not be judged somewhere, `modes` where each is judged; `quiescent` counts the states in which nothing
    is in flight. `live` are the properties that were also asked of behaviors that never end, and `fair` which steps
    these take for certain, each with the reason that the model gives. `kept`: the file from which the search can go on.
    """

    states: int
    transitions: int
    depth: int
    complete: bool
    stopped_by: str | None
    findings: tuple[Finding, ...]
    exercised: Mapping[str, int]
    open: Mapping[str, tuple[str, ...]]
    executions: int = 0
    quiescent: int = 0
    modes: Mapping[str, Mode] = field(default_factory=dict)
    reductions: tuple[str, ...] = ()
    seconds: float = 0.0
    live: tuple[str, ...] = ()
    fair: Mapping[str, str] = field(default_factory=dict)
    kept: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The properties that were asked for, beside those that are checked in any case."""
        return tuple(name for name in self.exercised if name not in (DEADLOCK, STARVATION))

    def of(self, name: str) -> Verdict:
        """The verdict of one property."""
        if any(finding.property == name for finding in self.findings):
            return Verdict.VIOLATED
        if not self.complete or name in self.open or not self.exercised[name]:
            return Verdict.UNKNOWN
        return Verdict.HOLDS

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict of every property."""
        return {name: self.of(name) for name in self.exercised}

    @property
    def verdict(self) -> Verdict:
        """Of all together; unknown where nothing was asked for and nothing is violated."""
        verdicts = set(self.verdicts.values())
        if Verdict.VIOLATED in verdicts:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts or not self.asked else Verdict.HOLDS
