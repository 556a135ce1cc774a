"""What a term may stand for in an encoding: cases that exclude each other, each with its condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import assert_never, overload

from precedes.core.formula import (
    ArrivalEvent,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryText,
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
    Part,
    ReceiptLog,
    ReceiverOf,
    Sender,
    SendEvent,
    SendLog,
    Text,
    TextOf,
    TextTerm,
    Variable,
    ViewNamed,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.traversal import Node, walk
from precedes.engines.solver.logic import Element, Linear, Proposition, both, some
from precedes.engines.solver.structure import Cases, Happening, Kind, Log, Sharing, Structure

Bindings = Mapping[Variable, Element]


class TermCases:
    """The cases of the terms of a formula in one encoding."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure

    def entity(self, term: EntityTerm, bindings: Bindings) -> Cases:
        """The entities that a term may stand for."""
        match term:
            case EntityVariable():
                return [(True, bindings[term])]
            case EntityNamed(name):
                return self._structure.entity_named(name)
            case Sender(message):
                return [
                    (both(guard, sends), sender)
                    for guard, element in self.message(message, bindings)
                    for sends, sender in self._structure.senders(element)
                ]
            case ReceiverOf(delivery):
                return [(True, self._structure.receiver_of(self.delivery(delivery, bindings)))]
            case _:
                assert_never(term)

    def message(self, term: MessageTerm, bindings: Bindings) -> Cases:
        """The messages that a term may stand for."""
        match term:
            case MessageVariable():
                return [(True, bindings[term])]
            case MessageNamed(name):
                return self._structure.message_named(name)
            case MessageOf(delivery):
                return [(True, self._structure.message_of(self.delivery(delivery, bindings)))]
            case _:
                assert_never(term)

    def delivery(self, term: DeliveryTerm, bindings: Bindings) -> Element:
        """The delivery that a term stands for."""
        match term:
            case DeliveryVariable():
                return bindings[term]
            case DeliveryNamed():
                raise AssertionError("no text names a delivery")
            case _:
                assert_never(term)

    def group(self, term: GroupTerm, bindings: Bindings) -> Cases:
        """The groups that a term may stand for."""
        match term:
            case GroupVariable():
                return [(True, bindings[term])]
            case GroupNamed(name):
                return self._structure.group_named(name)
            case _:
                assert_never(term)

    def view(self, term: ViewTerm, bindings: Bindings) -> Cases:
        """The views that a term may stand for."""
        match term:
            case ViewVariable():
                return [(True, bindings[term])]
            case ViewNamed(name):
                return self._structure.view_named(name)
            case ViewOf(event):
                return self._view_of(event, bindings)
            case _:
                assert_never(term)

    def _view_of(self, event: EventTerm | DeliveryTerm, bindings: Bindings) -> Cases:
        match event:
            case DeliveryVariable() | DeliveryNamed():
                return self._structure.view_of_delivery(self.delivery(event, bindings))
            case SendEvent() | DeliveryEvent() | ArrivalEvent():
                return [
                    (both(guard, there), view)
                    for guard, found in self.event(event, bindings)
                    for there, view in self._structure.view_at(found)
                ]
            case _:
                assert_never(event)

    def log(self, term: LogTerm, bindings: Bindings) -> Iterator[tuple[Proposition, Log]]:
        """The logs that a term may stand for."""
        match term:
            case ReceiptLog(entity):
                for guard, element in self.entity(entity, bindings):
                    yield guard, Log(True, element)
            case SendLog(entity, None):
                for guard, element in self.entity(entity, bindings):
                    yield guard, Log(False, element)
            case SendLog(entity, to):
                assert to is not None
                for guards, (element, there) in together(
                    self.entity(entity, bindings), self.entity(to, bindings)
                ):
                    yield both(*guards), Log(False, element, there)
            case _:
                assert_never(term)

    def event(self, term: EventTerm, bindings: Bindings) -> Iterator[tuple[Proposition, Happening]]:
        """The events that a term may stand for, each with the condition that it is the one and took place."""
        match term:
            case SendEvent(message):
                kind, places = Kind.SEND, None
            case DeliveryEvent(message, entity):
                kind, places = Kind.DELIVERY, self.entity(entity, bindings)
            case ArrivalEvent(message, entity):
                kind, places = Kind.ARRIVAL, self.entity(entity, bindings)
            case _:
                assert_never(term)
        for guard, element in self.message(message, bindings):
            for there, place in self._structure.senders(element) if places is None else places:
                event = Happening(kind, element, place)
                yield both(guard, there, self._structure.happened(event)), event

    def exists(self, term: EventTerm, bindings: Bindings) -> Proposition:
        """Some event is the one that the term stands for."""
        return some(guard for guard, _ in self.event(term, bindings))

    @overload
    def part(self, part: Part, bindings: Bindings) -> Iterator[tuple[Proposition, Sharing]]: ...

    @overload
    def part(self, part: Part | None, bindings: Bindings) -> Iterator[tuple[Proposition, Sharing | None]]: ...

    def part(self, part: Part | None, bindings: Bindings) -> Iterator[tuple[Proposition, Sharing | None]]:
        """The parts that a message may be in; the whole, where no part is meant."""
        if part is None:
            yield True, None
            return
        for guard, element in self.message(part.message, bindings):
            yield guard, Sharing(part.attributes, element)

    def text(self, term: TextTerm, bindings: Bindings) -> Iterator[tuple[Proposition, Linear]]:
        """The numbers of the texts that a term may stand for."""
        match term:
            case Text(value):
                yield True, self._structure.text(value)
            case TextOf(attribute, message):
                for guard, element in self.message(message, bindings):
                    yield guard, self._structure.attribute(attribute, element)
            case DeliveryText(attribute, delivery):
                yield True, self._structure.delivery_attribute(attribute, self.delivery(delivery, bindings))
            case _:
                assert_never(term)


def of_arrivals(node: Node) -> bool:
    """Whether the node speaks of arrivals."""
    return any(isinstance(part, ArrivalEvent) for part in walk(node))


def together(
    first: Cases, second: Cases
) -> Iterator[tuple[tuple[Proposition, Proposition], tuple[Element, Element]]]:
    """The pairs of what two terms may stand for."""
    for (here, one), (there, other) in product(first, second):
        yield (here, there), (one, other)
