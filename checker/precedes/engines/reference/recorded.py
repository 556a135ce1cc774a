"""What an execution records, looked up by message and entity.

Everything here is read off the histories; nothing is judged. One decision is taken: the place of a message in
a log is that of its first occurrence, and a send repeated unchanged is one send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Final

from precedes.core.execution import ACKNOWLEDGEMENTS, Event, EventKind, Execution
from precedes.core.formula import Attribute
from precedes.core.verdict import NO_REASON, Reason

_STOPS: Final = frozenset({EventKind.CRASH, EventKind.RECOVER})


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery: the `nth` of its message at its entity, from 1, at a place of its history, from 0; `attributes` has
    what it carries.
    """

    entity: str
    message: str
    nth: int
    place: int
    time: int | None
    attributes: Mapping[Attribute, str | int] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True)
class Recorded:
    """An execution with its look-ups.

    `place` is an entity's place in the cluster and `messages` all messages in order of first appearance,
    reading the histories one after the other: the orders that witnesses are sorted by. Places in logs count
    from 0. `first` gives the first event of a kind about a message at an entity. `sent_by` has, after the
    logged sends of an entity in their order, those that a delivery names but that were not logged; `unlogged`
    has these alone. `faulty` are the entities whose last crash is not followed by a recovery; `stops` says which
    of the two kinds an entity has at all, `doubt` why the order of its events is not known. `deliveries` has every one,
    entity by entity in order. `settled` has the places in the history at which an entity accepted a message or gave it
    back, `acknowledged` the pairs of entity and message that were accepted.
    """

    execution: Execution
    place: Mapping[str, int]
    messages: tuple[str, ...]
    first: Mapping[tuple[EventKind, str, str], Event]
    send_place: Mapping[str, int]
    delivered: Mapping[str, tuple[str, ...]]
    delivery_place: Mapping[str, Mapping[str, int]]
    delivery_count: Mapping[tuple[str, str], int]
    deliveries: tuple[Delivery, ...]
    settled: Mapping[tuple[str, str], tuple[int, ...]]
    acknowledged: frozenset[tuple[str, str]]
    sent_by: Mapping[str, tuple[str, ...]]
    unlogged: Mapping[str, tuple[str, ...]]
    faulty: frozenset[str]
    doubt: Mapping[str, Reason]
    stops: Mapping[str, frozenset[EventKind]]
    has_arrivals: bool
    clocks_fit: bool

    @cached_property
    def deliveries_of(self) -> Mapping[str, tuple[Delivery, ...]]:
        """The deliveries of each entity, in order."""
        found: dict[str, list[Delivery]] = {entity: [] for entity in self.place}
        for delivery in self.deliveries:
            found[delivery.entity].append(delivery)
        return {entity: tuple(made) for entity, made in found.items()}

    @cached_property
    def has_acknowledgements(self) -> bool:
        """Whether some entity is recorded to have accepted a message or to have given it back."""
        return self.execution.has_acknowledgements

    @cached_property
    def first_place(self) -> Mapping[tuple[EventKind, str, str], int]:
        """The place in its history, from 0, of the first event of a kind about a message at an entity."""
        found: dict[tuple[EventKind, str, str], int] = {}
        for history in self.execution.histories:
            for place, event in enumerate(history.events):
                if event.message is not None:
                    found.setdefault((event.kind, event.message, history.entity), place)
        return found

    @cached_property
    def installations(self) -> Mapping[str, tuple[tuple[int, str], ...]]:
        """Every installation of a view with an id by an entity, in order: its place in the history, and the id."""
        return {
            history.entity: tuple(
                (place, event.view) for place, event in enumerate(history.events) if event.view is not None
            )
            for history in self.execution.histories
        }

    def times_installed(self, entity: str, view: str) -> int:
        """How often an entity installed a view."""
        return sum(installed == view for _, installed in self.installations[entity])

    @property
    def doubts(self) -> Reason:
        """Why the order of some entity's events is not known; no reason where all are."""
        return reduce(or_, self.doubt.values(), NO_REASON)

    def sender(self, message: str) -> str | None:
        """Who sent the message; None where nobody did or the message does not exist."""
        found = self.execution.messages.get(message)
        return None if found is None else found.sender

    def destinations(self, message: str) -> frozenset[str] | None:
        """The destinations of a message, by name; None where they are not known."""
        return self.execution.messages[message].destinations

    def group_chooses(self, message: str, entity: str) -> bool:
        """Whether the entity is in a group that the message is addressed to."""
        groups = self.execution.groups
        return any(entity in groups.get(group, ()) for group in self.execution.messages[message].groups)

    def logged(self, message: str) -> bool:
        """Whether the send of the message stands in a history."""
        return message in self.send_place


def record(execution: Execution) -> Recorded:
    """Read the look-ups off the histories."""
    first: dict[tuple[EventKind, str, str], Event] = {}
    deliveries: dict[tuple[str, str], int] = {}
    appearance: dict[str, None] = {}
    every: list[Delivery] = []
    settled: dict[tuple[str, str], tuple[int, ...]] = {}
    acknowledged: set[tuple[str, str]] = set()
    for history in execution.histories:
        for place, event in enumerate(history.events):
            if event.message is None:
                continue
            appearance.setdefault(event.message)
            first.setdefault((event.kind, event.message, history.entity), event)
            if event.kind is execution.delivery:
                pair = (history.entity, event.message)
                deliveries[pair] = deliveries.get(pair, 0) + 1
                every.append(Delivery(*pair, deliveries[pair], place, event.time, event.attributes))
            elif event.kind in ACKNOWLEDGEMENTS:
                pair = (history.entity, event.message)
                settled[pair] = (*settled.get(pair, ()), place)
                if event.kind is EventKind.ACK:
                    acknowledged.add(pair)
    for message in execution.messages:
        appearance.setdefault(message)
    send_place = {
        message: place
        for entity in execution.entities
        for place, message in enumerate(execution.sent(entity))
    }
    unlogged: dict[str, tuple[str, ...]] = dict.fromkeys(execution.entities, ())
    for name in appearance:
        sender = execution.messages[name].sender
        if sender in unlogged and name not in send_place:
            unlogged[sender] += (name,)
    return Recorded(
        execution=execution,
        place={entity: place for place, entity in enumerate(execution.entities)},
        messages=tuple(appearance),
        first=first,
        send_place=send_place,
        delivered={entity: execution.delivered(entity) for entity in execution.entities},
        delivery_place={
            entity: {message: place for place, message in enumerate(execution.delivered(entity))}
            for entity in execution.entities
        },
        delivery_count=deliveries,
        deliveries=tuple(every),
        settled=settled,
        acknowledged=frozenset(acknowledged),
        sent_by={entity: execution.sent(entity) + unlogged[entity] for entity in execution.entities},
        unlogged=unlogged,
        faulty=frozenset(history.entity for history in execution.histories if history.crashed),
        doubt={history.entity: history.doubt for history in execution.histories},
        stops={
            history.entity: frozenset(event.kind for event in history.events) & _STOPS
            for history in execution.histories
        },
        has_arrivals=any(kind is EventKind.ARRIVE for kind, _, _ in first),
        clocks_fit=_clocks_fit(execution, first),
    )


def _clocks_fit(execution: Execution, first: Mapping[tuple[EventKind, str, str], Event]) -> bool:
    """Whether no first delivery is earlier than its send by more than epsilon."""
    for (kind, name, _), delivery in first.items():
        if kind is not execution.delivery or delivery.time is None:
            continue
        sender = execution.messages[name].sender
        send = None if sender is None else first.get((EventKind.SEND, name, sender))
        if send is not None and send.time is not None and send.time - delivery.time > execution.epsilon:
            return False
    return True
