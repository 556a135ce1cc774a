"""Executions: what was sent and delivered by whom, as frozen values.

An execution is a set of entities, each with a history: the sequence of its events. Its send log SL and
receipt log RL are the sends and deliveries in that order (1994, §2.2: `SL_i`, `RL_i`). This module holds the
values and nothing that judges them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Final

from precedes.core.formula import Attribute
from precedes.core.verdict import NO_REASON, Reason


class EventKind(Enum):
    """What happened at an entity. The values are those of the trace's `event` column.

    A local event carries no message; it stands in the history, and clocks count it. `ack` and `nack` say that an entity
    accepted a message that it had been delivered, or gave it back.
    """

    SEND = "send"
    DELIVER = "deliver"
    ARRIVE = "arrive"
    DISCARD = "discard"
    CRASH = "crash"
    RECOVER = "recover"
    VIEW = "view"
    LOCAL = "local"
    ACK = "ack"
    NACK = "nack"


EVENT_CODES: Final = {kind: code for code, kind in enumerate(EventKind)}
"""The number of each kind in columns and columnar files."""

WITHOUT_MESSAGE: Final = frozenset({EventKind.CRASH, EventKind.RECOVER, EventKind.VIEW, EventKind.LOCAL})
FIRST_WITHOUT_MESSAGE: Final = min(EVENT_CODES[kind] for kind in WITHOUT_MESSAGE)
LAST_WITHOUT_MESSAGE: Final = max(EVENT_CODES[kind] for kind in WITHOUT_MESSAGE)
"""The codes of the kinds without a message are those from the one to the other."""
ACKNOWLEDGEMENTS: Final = frozenset({EventKind.ACK, EventKind.NACK})
ACKNOWLEDGEMENT_CODES: Final = sorted(EVENT_CODES[kind] for kind in ACKNOWLEDGEMENTS)
"""The kinds by which an entity accepts a message or gives it back, and their codes."""

UNKNOWN_NAME: Final = "?"
"""The group of all who may be meant where it is not known whom a message is for: no quantifier speaks of this group. In
a row of a trace also the sender of a message of which it is not known who sent it.
"""

_NUMBERED: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
LARGEST_VIEW_NUMBER: Final = 2**63 - 1


def view_number(view: str) -> int | None:
    """The whole number that the id of a view is written as, so that different numbers are different views: `007`, `+7`
    and `-0` are none. Nor is one beyond 64 bits, or the least of these, by which columns say that there is none.
    """
    number = int(view) if _NUMBERED.fullmatch(view) else None
    return None if number is None or abs(number) > LARGEST_VIEW_NUMBER else number


@dataclass(frozen=True, slots=True)
class Event:
    """One event in a history. `time` is in int64 nanoseconds; `clock` maps entities to counts. `counted`: the clock is
    known to count the event itself (see `precedes.core.clock_order`). `view` is the id of the view that an event of
    kind `VIEW` installs, and `members` are those in it, who need not be in the cluster. `attributes` has what the event
    carries, as `Message` has what a message does.
    """

    kind: EventKind
    message: str | None = None
    time: int | None = None
    clock: Mapping[str, int] | None = None
    members: tuple[str, ...] = ()
    counted: bool = False
    view: str | None = None
    attributes: Mapping[Attribute, str | int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Message:
    """A message (a PDU, where the papers say so).

    `sender` is None for a message that nobody sent. `destinations` is None where they are not known: the
    message has a sender, named by a delivery, but its send was not logged. A message sent without
    destinations goes to every entity, and that is written out here. `groups` are those that it is addressed to by
    name; the members of these are not in `destinations`, unless they are named, too. `attributes` has what it carries:
    texts, whole numbers, times and durations in nanoseconds. What was not recorded is not in it.
    """

    name: str
    sender: str | None
    destinations: frozenset[str] | None
    attributes: Mapping[Attribute, str | int] = field(default_factory=dict, hash=False)
    groups: frozenset[str] = frozenset()

    @property
    def logged(self) -> bool:
        """Whether the send stands in the sender's history."""
        return self.sender is not None and self.destinations is not None


@dataclass(frozen=True, slots=True)
class History:
    """The events of one entity.

    `interleaved` is False where only SL and RL are known: `events` then holds all sends, then all else, and
    nothing is known of how the two followed each other. `doubt` says why the order of events is not known at all, and
    that in which they stand is only the one in which they were read; no reason where it is known.
    """

    entity: str
    events: tuple[Event, ...] = ()
    interleaved: bool = True
    doubt: Reason = NO_REASON

    @property
    def crashed(self) -> bool:
        """Whether the last crash is not followed by a recovery."""
        stops = [event.kind for event in self.events if event.kind in (EventKind.CRASH, EventKind.RECOVER)]
        return bool(stops) and stops[-1] is EventKind.CRASH

    def messages(self, kind: EventKind) -> tuple[str, ...]:
        """The messages of the events of one kind, in order, each at its first occurrence only."""
        return tuple(
            dict.fromkeys(e.message for e in self.events if e.kind is kind and e.message is not None)
        )


@dataclass(frozen=True)
class Execution:
    """One execution of a group of entities (a cluster).

    Attributes:
        name: What the trace or the scenario calls it.
        histories: The history of each entity, in the cluster's order.
        messages: Every message of the histories, by its name.
        delta: The time that a message may take, in nanoseconds.
        epsilon: How far clocks may be apart, in nanoseconds.
        complete: False if rows may be missing.
        marks: For an entity with a failure point `||`, the number of deliveries before it.
        delivery: Which kind of event counts as the delivery.
        by_clocks: Recorded clocks are evidence of what happened before what.
        doubt: Why happens-before is not known; no reason if it is.
        groups: The members of each group, by its name. An entity may be in several. See also `UNKNOWN_NAME`.
        acknowledging: This is a part of an execution of which acknowledgements are recorded, be they here or not.
    """

    name: str
    histories: tuple[History, ...]
    messages: Mapping[str, Message]
    delta: int | None = None
    epsilon: int = 0
    complete: bool = True
    marks: Mapping[str, int] = field(default_factory=dict)
    delivery: EventKind = EventKind.DELIVER
    by_clocks: bool = False
    doubt: Reason = NO_REASON
    acknowledging: bool = False
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def entities(self) -> tuple[str, ...]:
        """The cluster, in its order."""
        return tuple(history.entity for history in self.histories)

    @property
    def named_groups(self) -> tuple[str, ...]:
        """The groups of which quantifiers speak."""
        return tuple(group for group in self.groups if group != UNKNOWN_NAME)

    @cached_property
    def views(self) -> Mapping[str, frozenset[str]]:
        """The members of each view that somebody installs, by its id, in the order of the histories."""
        views: dict[str, frozenset[str]] = {}
        for history in self.histories:
            for event in history.events:
                if event.view is not None:
                    views.setdefault(event.view, frozenset(event.members))
        return views

    @cached_property
    def views_unknown(self) -> bool:
        """Whether nobody knows which views there are: none is installed, or one without an id."""
        views = [e.view for history in self.histories for e in history.events if e.kind is EventKind.VIEW]
        return not views or None in views

    def installed(self, entity: str) -> tuple[str, ...]:
        """VL of an entity: the ids of the views it installed, in order, each at its first installation."""
        return self._installed[entity]

    @property
    def has_acknowledgements(self) -> bool:
        """Whether some entity is recorded to have accepted a message or to have given it back."""
        return self.acknowledging or any(
            event.kind in ACKNOWLEDGEMENTS for history in self.histories for event in history.events
        )

    def history(self, entity: str) -> History:
        """The history of an entity of the cluster; KeyError for another."""
        return self._by_entity[entity]

    def sent(self, entity: str) -> tuple[str, ...]:
        """SL of an entity: the messages it sent, in order."""
        return self._sent[entity]

    def delivered(self, entity: str) -> tuple[str, ...]:
        """RL of an entity: the messages it delivered, in order, each at its first delivery."""
        return self._delivered[entity]

    @cached_property
    def _by_entity(self) -> dict[str, History]:
        return {history.entity: history for history in self.histories}

    @cached_property
    def _sent(self) -> dict[str, tuple[str, ...]]:
        return {history.entity: history.messages(EventKind.SEND) for history in self.histories}

    @cached_property
    def _delivered(self) -> dict[str, tuple[str, ...]]:
        return {history.entity: history.messages(self.delivery) for history in self.histories}

    @cached_property
    def _installed(self) -> dict[str, tuple[str, ...]]:
        return {
            history.entity: tuple(dict.fromkeys(e.view for e in history.events if e.view is not None))
            for history in self.histories
        }
