"""Entities and messages in sentences: their ids, and also their kind if an entity and a message have the same
id.

Terms keep the recorded ids. The text from here is only for reading; nothing looks it up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, assert_never

from precedes.core.counts import ordinal
from precedes.core.execution import Execution
from precedes.core.formula import (
    ArrivalEvent,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryVariable,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    EventTerm,
    GroupNamed,
    GroupTerm,
    GroupVariable,
    LogTerm,
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    ReceiptLog,
    ReceiverOf,
    Sender,
    SendEvent,
    SendLog,
    ViewNamed,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.language.quoting import shown, written

_BY_MEMBERS: Final = re.compile(r"\{(?:\w+(?:, \w+)*)?\}")
"""The id of a view that is called by its members, where these have plain names."""


@dataclass(frozen=True, slots=True)
class Identifiers:
    """How one execution's entities and messages are named. `alike`: a reader could take one for the other."""

    alike: bool = False

    def entity(self, name: str) -> str:
        """`E1`; `entity 1` where messages have numbers, too."""
        return f"entity {shown(name)}" if self.alike else shown(name)

    def message(self, name: str) -> str:
        """`m`; `message 1` where entities have numbers, too."""
        return f"message {shown(name)}" if self.alike else shown(name)

    def group(self, name: str) -> str:
        """`group billing`."""
        return f"group {shown(name)}"

    def view(self, name: str) -> str:
        """`view v1`, `view {a, b}`."""
        return f"view {name if _BY_MEMBERS.fullmatch(name) else shown(name)}"

    def of_group(self, group: GroupTerm) -> str:
        """A group, or the variable that stands for it."""
        match group:
            case GroupNamed(name) | GroupVariable(name):
                return self.group(name)
            case _:
                assert_never(group)

    def of_view(self, view: ViewTerm) -> str:
        """A view, or the variable that stands for it."""
        match view:
            case ViewNamed(name) | ViewVariable(name):
                return self.view(name)
            case ViewOf(event):
                named = self.of_delivery(event) if isinstance(event, DeliveryTerm) else self.of_event(event)
                return f"the view of {named}"
            case _:
                assert_never(view)

    def of_entity(self, entity: EntityTerm) -> str:
        """An entity, or the variable that stands for it."""
        match entity:
            case EntityNamed(name) | EntityVariable(name):
                return self.entity(name)
            case Sender(message):
                return f"the sender of {self.of_message(message)}"
            case ReceiverOf(delivery):
                return f"the entity of {self.of_delivery(delivery)}"
            case _:
                assert_never(entity)

    def of_message(self, message: MessageTerm) -> str:
        """A message, or the variable that stands for it."""
        match message:
            case MessageNamed(name) | MessageVariable(name):
                return self.message(name)
            case MessageOf(delivery):
                return f"the message of {self.of_delivery(delivery)}"
            case _:
                assert_never(message)

    def of_delivery(self, delivery: DeliveryTerm) -> str:
        """`the delivery of m at E1`, `the 2nd delivery of m at E1`, or the variable that stands for it."""
        match delivery:
            case DeliveryVariable(name):
                return name
            case DeliveryNamed(message, entity, nth):
                which = "" if nth == 1 else f"{ordinal(nth)} "
                return f"the {which}delivery of {self.message(message)} at {self.entity(entity)}"
            case _:
                assert_never(delivery)

    def of_event(self, event: EventTerm) -> str:
        """`the delivery of m at E1`."""
        match event:
            case SendEvent(message):
                return f"the send of {self.of_message(message)}"
            case DeliveryEvent(message, entity):
                return f"the delivery of {self.of_message(message)} at {self.of_entity(entity)}"
            case ArrivalEvent(message, entity):
                return f"the arrival of {self.of_message(message)} at {self.of_entity(entity)}"
            case _:
                assert_never(event)


def identifiers_of(execution: Execution) -> Identifiers:
    """Alike are ids that an entity and a message share, and numbers."""
    entities, messages = frozenset(execution.entities), frozenset(execution.messages)
    shared = not entities.isdisjoint(messages)
    return Identifiers(shared or (_has_number(entities) and _has_number(messages)))


def _has_number(names: frozenset[str]) -> bool:
    return any(name.isdecimal() for name in names)


def log_text(log: LogTerm) -> str:
    """`RL[E1]`, `SL[E1, E2]`, as the language writes them."""
    owner = _written(log.entity)
    match log:
        case ReceiptLog():
            return f"RL[{owner}]"
        case SendLog(to=to):
            return f"SL[{owner}]" if to is None else f"SL[{owner}, {_written(to)}]"
        case _:
            assert_never(log)


def _written(entity: EntityTerm) -> str:
    match entity:
        case EntityNamed(name) | EntityVariable(name):
            return written(name)
        case Sender(message):
            return f"sender({_message(message)})"
        case ReceiverOf(delivery):
            return f"receiver({_delivery(delivery)})"
        case _:
            assert_never(entity)


def _message(message: MessageTerm) -> str:
    return (
        f"message({_delivery(message.delivery)})" if isinstance(message, MessageOf) else written(message.name)
    )


def _delivery(delivery: DeliveryTerm) -> str:
    return written(delivery.name if isinstance(delivery, DeliveryVariable) else delivery.message)
