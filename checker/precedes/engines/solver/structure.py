"""What a translation needs from an encoding of executions. There are two encodings: `unbounded` and
`bounded`.

An element is a number in the bounded encoding and a symbol of Z3 in the unbounded one. A term that may stand
for nothing, or for one of several elements, is a list of cases that exclude each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from precedes.core.formula import Attribute, Relation
from precedes.engines.solver.logic import Element, Linear, Proposition, Sort, both, compared, every

Cases = Sequence[tuple[Proposition, Element]]


class Kind(Enum):
    """The kinds of events that formulas speak of."""

    SEND = "send"
    DELIVERY = "delivery"
    ARRIVAL = "arrival"
    REPEAT = "repeated delivery"
    ACKNOWLEDGEMENT = "acknowledgement"
    NEGATIVE_ACKNOWLEDGEMENT = "negative acknowledgement"
    INSTALLATION = "installation"


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of a kind about a message at an entity, whether or not it happened; an installation is about a view."""

    kind: Kind
    message: Element
    entity: Element


@dataclass(frozen=True, slots=True)
class Log:
    """A receipt log, a send log, or the part of a send log that goes to `to`."""

    received: bool
    entity: Element
    to: Element | None = None


@dataclass(frozen=True, slots=True)
class Sharing:
    """The messages that have the values of these attributes that `message` has."""

    attributes: tuple[Attribute, ...]
    message: Element


class Structure(Protocol):
    """The parts of an execution as propositions and numbers."""

    def quantified(self, universal: bool, sort: Sort, body: Callable[[Element], Proposition]) -> Proposition:
        """`for all`, or `for some`, elements of the sort."""
        ...

    def entity_named(self, name: str) -> Cases:
        """The entity of a name; no case where there is none in the cluster."""
        ...

    def message_named(self, name: str) -> Cases:
        """The message of a name."""
        ...

    def group_named(self, name: str) -> Cases:
        """The group of a name; no case where there is none."""
        ...

    def view_named(self, name: str) -> Cases:
        """The view of an id; no case where nobody installs one."""
        ...

    def senders(self, message: Element) -> Cases:
        """Who sent a message; no case for one that nobody sent."""
        ...

    def sent(self, message: Element) -> Proposition:
        """Somebody sent it."""
        ...

    def addressed(self, message: Element, entity: Element) -> Proposition:
        """It was sent, and the entity is a destination by name."""
        ...

    def chosen(self, message: Element, entity: Element) -> Proposition:
        """The entity is in a group that the message is addressed to, and may be the one to deliver it."""
        ...

    def addressed_to_group(self, message: Element, group: Element) -> Proposition:
        """It was sent, and addressed to the group by the group's name."""
        ...

    def in_group(self, entity: Element, group: Element) -> Proposition:
        """The entity is in the group."""
        ...

    def in_view(self, entity: Element, view: Element) -> Proposition:
        """The entity is in the view."""
        ...

    def installs(self, entity: Element, view: Element) -> Proposition:
        """The entity installs the view."""
        ...

    def installs_before(self, first: Element, second: Element, entity: Element) -> Proposition:
        """The entity installs both views, the first before the second."""
        ...

    def installs_again(self, entity: Element, view: Element) -> Proposition:
        """The entity installs the view more than once."""
        ...

    def view_at(self, event: Happening) -> Cases:
        """The view in which an event happened; no case for one that did not, or before any installation."""
        ...

    def view_of_delivery(self, delivery: Element) -> Cases:
        """The view in which a delivery happened."""
        ...

    def view_number(self, view: Element) -> Linear:
        """The number of a view, which is that of no other. Every view has one but those that a formula calls by
        another id.
        """
        ...

    def is_numbered(self, view: Element) -> Proposition:
        """The id of the view is a number."""
        ...

    def happened(self, event: Happening) -> Proposition:
        """The event took place; a send takes place at the sender only."""
        ...

    def earlier(self, first: Happening, second: Happening) -> Proposition:
        """Both took place, at one entity, the first before the second."""
        ...

    def reaches(self, first: Element, second: Element) -> Proposition:
        """Both messages were sent, and the send of the first happens before that of the second."""
        ...

    def happens_before(self, first: Happening, second: Happening) -> Proposition:
        """Both took place and the first happens before the second."""
        ...

    def entered(self, source: Element, event: Happening) -> Proposition:
        """The send of the source is, or happens before, that of a message which the event's entity has
        delivered by then.
        """
        ...

    def faulty(self, entity: Element) -> Proposition:
        """It crashed, and did not recover."""
        ...

    def repeated(self, message: Element, entity: Element) -> Proposition:
        """It was delivered there more than once."""
        ...

    def arrivals_recorded(self) -> Proposition:
        """Some arrival is recorded; otherwise nothing is known of arrivals."""
        ...

    def failure_line(self) -> Proposition:
        """There are failure marks, and they are where they should be; where there are marks."""
        ...

    def acyclic(
        self,
        want: bool,
        parameters: Sequence[Element],
        body: Callable[[Element, Element, bool], Proposition],
        /,
    ) -> Proposition:
        """The relation has no cycle (`want`), or has one, for certain; `parameters` are what its free
        variables stand for.
        """
        ...

    def time(self, event: Happening) -> Linear:
        """When the event happened."""
        ...

    def duration(self, nanoseconds: Linear) -> Linear:
        """A constant time or duration in the encoding's unit."""
        ...

    def delta(self) -> Linear:
        """Δ."""
        ...

    def epsilon(self) -> Linear:
        """ε."""
        ...

    def clock(self, event: Happening, of: Element) -> Linear:
        """The recorded clock's component."""
        ...

    def vector_time(self, event: Happening, of: Element) -> Linear:
        """How many sends and deliveries of an entity happen before the event or are it."""
        ...

    def position(self, message: Element, log: Log, part: Sharing | None) -> Linear:
        """The place of a message in a log that it is in; in a part, among those of the part."""
        ...

    def size(self, log: Log, part: Sharing | None) -> Linear:
        """How many messages a log has; how many of the part."""
        ...

    def message_of(self, delivery: Element) -> Element:
        """The message of a delivery."""
        ...

    def receiver_of(self, delivery: Element) -> Element:
        """The entity of a delivery."""
        ...

    def delivered_before(self, first: Element, second: Element) -> Proposition:
        """Two deliveries of one entity, the first before the second."""
        ...

    def in_flight(self, first: Element, second: Element) -> Proposition:
        """The first comes before the second, and was neither acknowledged nor given back in between."""
        ...

    def acknowledged(self, message: Element, entity: Element) -> Proposition:
        """The entity acknowledged the message."""
        ...

    def acknowledgements_recorded(self) -> Proposition:
        """Some acknowledgement is recorded; otherwise nothing is known of them."""
        ...

    def nth(self, delivery: Element) -> Linear:
        """Which delivery of its message at its entity it is."""
        ...

    def delivery_time(self, delivery: Element) -> Linear:
        """When it happened."""
        ...

    def attribute(self, attribute: Attribute, message: Element) -> Linear:
        """The value of an attribute of a message, which every message has: a number, a time or duration in the
        encoding's unit, or the number of a text.
        """
        ...

    def delivery_position(self, delivery: Element, part: Sharing | None) -> Linear:
        """The place of a delivery in the log of all deliveries of its entity; in a part, among those of the part."""
        ...

    def delivery_attribute(self, attribute: Attribute, delivery: Element) -> Linear:
        """The value of an attribute of a delivery, which every delivery has; see `attribute`."""
        ...

    def text(self, value: str) -> Linear:
        """The number of a text."""
        ...


def shares(structure: Structure, message: Element, part: Sharing) -> Proposition:
    """The message is one of the part."""
    if message == part.message:
        return True
    return every(
        compared(
            structure.attribute(attribute, message),
            Relation.EQUAL,
            structure.attribute(attribute, part.message),
        )
        for attribute in part.attributes
    )


def in_log(structure: Structure, message: Element, log: Log) -> Proposition:
    """The message is in the log."""
    if log.received:
        return structure.happened(Happening(Kind.DELIVERY, message, log.entity))
    sent = structure.happened(Happening(Kind.SEND, message, log.entity))
    return sent if log.to is None else both(sent, structure.addressed(message, log.to))
