"""What the terms of a formula stand for on an incomplete execution."""

from __future__ import annotations

from typing import Final, assert_never

from precedes.core.formula import (
    ArrivalEvent,
    DeliveryEvent,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    EventTerm,
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    ReceiverOf,
    Sender,
    SendEvent,
    SendLog,
    ViewNamed,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.verdict import FALSE, TRUE, Reason, conjunction
from precedes.engines.reference.terms import Terms

INCOMPLETE: Final = int(Reason.INCOMPLETE)


class IncompleteNames:
    """What terms stand for, by name, recorded or not. None is the sender of a message that nobody is known to have
    sent."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.recorded = terms.recorded

    def message(self, term: MessageTerm) -> str:
        """The name of the message."""
        match term:
            case MessageVariable(name):
                return self._terms.messages[name]
            case MessageNamed(name):
                return name
            case MessageOf(delivery):
                made = self._terms.delivery(delivery)
                assert made is not None
                return made.message
            case _:
                assert_never(term)

    def entity(self, term: EntityTerm) -> str | None:
        """The name of the entity."""
        match term:
            case EntityVariable(name):
                return self._terms.entities[name]
            case EntityNamed(name):
                return name
            case Sender(message):
                return self.recorded.sender(self.message(message))
            case ReceiverOf(delivery):
                made = self._terms.delivery(delivery)
                assert made is not None
                return made.entity
            case _:
                assert_never(term)

    def view(self, term: ViewTerm) -> str | None:
        """The id of the view; None for the view of an event."""
        match term:
            case ViewVariable(name):
                return self._terms.views[name]
            case ViewNamed(name):
                return name
            case ViewOf():
                return None
            case _:
                assert_never(term)

    def event(self, term: EventTerm) -> EventTerm:
        """The event by names, as far as these are known."""
        message = MessageNamed(self.message(term.message))
        match term:
            case SendEvent():
                return SendEvent(message)
            case DeliveryEvent(_, entity):
                return DeliveryEvent(message, self._named(entity))
            case ArrivalEvent(_, entity):
                return ArrivalEvent(message, self._named(entity))
            case _:
                assert_never(term)

    def _named(self, term: EntityTerm) -> EntityTerm:
        name = self.entity(term)
        return term if name is None else EntityNamed(name)

    # ---- what several atoms and numbers ask ----------------------------------------------------------------

    def received(self, message: str, entity: str | None) -> int | None:
        """The recorded place of a message in a receipt log, from 0."""
        return None if entity is None else self.recorded.delivery_place.get(entity, {}).get(message)

    def addressed(self, message: str, entity: str | None) -> int:
        """Whether the entity is a destination of the message."""
        if entity is None or entity not in self.recorded.place or self.recorded.sender(message) is None:
            return INCOMPLETE
        destinations = self.recorded.destinations(message)
        if destinations is None:
            return Reason.SEND_NOT_LOGGED
        if entity in destinations:
            return TRUE
        return Reason.GROUP_CHOOSES if self.recorded.group_chooses(message, entity) else FALSE

    def in_send_log(self, message: str, log: SendLog) -> int:
        """Whether the message is in SL of an entity, or in the part of it that goes to another."""
        sender, entity = self.recorded.sender(message), self.entity(log.entity)
        by = INCOMPLETE if sender is None or entity is None else TRUE if sender == entity else FALSE
        return by if log.to is None else conjunction(by, self.addressed(message, self.entity(log.to)))
