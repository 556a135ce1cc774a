"""What is asked about a recorded execution and a model, and the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from precedes.core.verdict import Verdict
from precedes.protocol.conformance.observation import Expected
from precedes.protocol.model import Message
from precedes.protocol.moves import Move


@dataclass(frozen=True, slots=True)
class Limits:
    """How much that was not recorded a run may have, and how long it is searched for.

    `losses`, `duplicates`, `corruptions`: of packets, where the network does that. `timeouts`: timers that expire by
    themselves, not at a time. `states`: after so many in one execution it is undecided. `quiescent`: each execution
    was recorded until nothing was in flight; without it, a recording may end anywhere.
    """

    losses: int = 2
    duplicates: int = 1
    corruptions: int = 1
    timeouts: int = 200
    states: int = 5_000
    quiescent: bool = False


@dataclass(frozen=True, slots=True)
class Naming:
    """What the trace calls the entities, by their place in the model, and the messages, where that is another name."""

    entities: tuple[str, ...]
    messages: tuple[tuple[Message, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Conforms:
    """A run of the model has exactly what was recorded."""

    behavior: tuple[Move, ...]
    states: int

    @property
    def verdict(self) -> Verdict:
        """The verdict on "conforms"."""
        return Verdict.HOLDS


@dataclass(frozen=True, slots=True)
class Deviates:
    """No run has what was recorded.

    Attributes:
        behavior: A run of the model that has as many of the recorded events as any.
        explained: How many events of each entity it has.
        entity: Where the first event is that no run has after these.
        event: That event. None: every event has been explained, but something is in flight after the last.
        allowed: What the model could log there instead, or after the last event.
        states: The states of the entities at the end of the run; None for one that has stopped.
        unlogged: The model logged no event of this kind in anything that was tried: it may have none.
        within: The limits that kept a move from being made, by their names.
        searched: How many states were searched.
        in_one_step: What the model logs in one step with the event, where something else, or nothing, was recorded.
    """

    behavior: tuple[Move, ...]
    explained: tuple[int, ...]
    entity: int
    event: Expected | None
    allowed: tuple[Expected, ...]
    states: tuple[Any, ...]
    unlogged: bool
    within: tuple[str, ...]
    searched: int
    in_one_step: tuple[Expected, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on "conforms"."""
        return Verdict.VIOLATED


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither a run nor that there is none was found."""

    reason: str
    states: int = 0

    @property
    def verdict(self) -> Verdict:
        """The verdict on "conforms"."""
        return Verdict.UNKNOWN


Answer: TypeAlias = Conforms | Deviates | Undecided
