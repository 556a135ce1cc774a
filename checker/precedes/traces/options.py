"""What the user says about a trace because the trace does not say it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from precedes.core.execution import EventKind
from precedes.core.formula import Attribute

GroupMembers = tuple[tuple[str, tuple[str, ...]], ...]
"""The members of groups, by the names of these."""


class Order(Enum):
    """What gives the order of events where rows and recorded clocks disagree. Without one, it is not known there."""

    ROWS = "rows"
    CLOCKS = "clocks"


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """How rows become executions. Picklable.

    `delivery` is the kind of event that counts as delivery; `cluster` names entities of every execution, for
    those that left no trace; `strict` makes contradictions errors; `delta` and `epsilon` are nanoseconds;
    `complete` False: what was not recorded may yet have happened; `order` says what gives the order of events where
    rows and clocks disagree; `origins`: where its row was read is kept for every event; `attributes` are those that are
    read of what messages and events carry, and `parted` the names of those by whose values something is asked. `groups`
    are in every execution, beside those that rows state.
    """

    delivery: EventKind = EventKind.DELIVER
    cluster: tuple[str, ...] = ()
    strict: bool = False
    delta: int | None = None
    epsilon: int = 0
    complete: bool = True
    order: Order | None = None
    origins: bool = False
    attributes: tuple[Attribute, ...] = ()
    groups: GroupMembers = ()
    parted: frozenset[str] = frozenset()
