"""What terms stand for on an execution: entities, messages, events and numbers.

A term may stand for nothing (None: nobody sent the message, the delivery did not happen, the name does not
exist) or for something that is not known (`Unknown`, with reasons). Nothing is stronger: an atom about
nothing is false, whatever else it mentions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import or_
from typing import assert_never

from precedes.core.execution import Event, EventKind, view_number
from precedes.core.formula import (
    ArrivalEvent,
    Attribute,
    AttributeOf,
    AttributeSort,
    Constant,
    DeliveryAttribute,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryPosition,
    DeliveryTerm,
    DeliveryText,
    DeliveryTime,
    DeliveryVariable,
    Delta,
    Difference,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    Epsilon,
    EventTerm,
    GroupNamed,
    GroupTerm,
    GroupVariable,
    LogTerm,
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Nth,
    NumberTerm,
    Part,
    Position,
    ReceiptLog,
    ReceiverOf,
    RecordedClock,
    Scaled,
    Sender,
    SendEvent,
    SendLog,
    Size,
    Sum,
    Text,
    TextOf,
    TextTerm,
    TimeOf,
    VectorTime,
    ViewNamed,
    ViewNumber,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.verdict import FALSE, NO_REASON, TRUE, Reason
from precedes.engines.reference.happens_before import HappensBeforeRelation
from precedes.engines.reference.recorded import Delivery, Recorded


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is not known, and why: bits of `Reason`."""

    reasons: int


Number = int | Fraction | Unknown | None


class Terms:
    """The terms of a formula on one execution, under bindings of its variables that change as quantifiers are
    gone through."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.entities: dict[str, str] = {}
        self.messages: dict[str, str] = {}
        self.deliveries: dict[str, Delivery] = {}
        self.groups: dict[str, str] = {}
        self.views: dict[str, str] = {}

    @cached_property
    def happens_before(self) -> HappensBeforeRelation:
        """The relation of the execution, built when first asked for."""
        return HappensBeforeRelation(self.recorded.execution)

    @cached_property
    def row_order(self) -> HappensBeforeRelation:
        """The relation that the rows alone make, without what recorded clocks add."""
        execution = self.recorded.execution
        if not execution.by_clocks and not execution.doubt:
            return self.happens_before
        return HappensBeforeRelation(replace(execution, by_clocks=False, doubt=NO_REASON))

    # ---- entities, messages, events ------------------------------------------------------------------------

    def entity_reader(self, term: EntityTerm) -> Callable[[], str | None]:
        """Reads the entity of the cluster that a term names, whatever the bindings are by then."""
        match term:
            case EntityVariable(name):
                bound = self.entities
                return lambda: bound[name]
            case EntityNamed(name):
                here = name if name in self.recorded.place else None
                return lambda: here
            case Sender(message):
                sent = self.message_reader(message)
                return lambda: self._sender(sent())
            case ReceiverOf(delivery):
                made = self.delivery_reader(delivery)
                return lambda: None if (found := made()) is None else found.entity
            case _:
                assert_never(term)

    def message_reader(self, term: MessageTerm) -> Callable[[], str | None]:
        """Reads the message of the execution that a term names, whatever the bindings are by then."""
        match term:
            case MessageVariable(name):
                bound = self.messages
                return lambda: bound[name]
            case MessageNamed(name):
                found = name if name in self.recorded.execution.messages else None
                return lambda: found
            case MessageOf(delivery):
                made = self.delivery_reader(delivery)
                return lambda: None if (one := made()) is None else one.message
            case _:
                assert_never(term)

    def delivery_reader(self, term: DeliveryTerm) -> Callable[[], Delivery | None]:
        """Reads the delivery that a term names, whatever the bindings are by then."""
        match term:
            case DeliveryVariable(name):
                bound = self.deliveries
                return lambda: bound[name]
            case DeliveryNamed(message, entity, nth):
                named = (message, entity, nth)
                found = next(
                    (d for d in self.recorded.deliveries if (d.message, d.entity, d.nth) == named), None
                )
                return lambda: found
            case _:
                assert_never(term)

    def delivery(self, term: DeliveryTerm) -> Delivery | None:
        """The delivery that a term names."""
        return self.delivery_reader(term)()

    def entity(self, term: EntityTerm) -> str | None:
        """The entity of the cluster that a term names."""
        return self.entity_reader(term)()

    def message(self, term: MessageTerm) -> str | None:
        """The message of the execution that a term names."""
        return self.message_reader(term)()

    def group(self, term: GroupTerm) -> str | None:
        """The group of the execution that a term names."""
        match term:
            case GroupVariable(name):
                return self.groups[name]
            case GroupNamed(name):
                return name if name in self.recorded.execution.groups else None
            case _:
                assert_never(term)

    def _sender(self, message: str | None) -> str | None:
        sender = None if message is None else self.recorded.sender(message)
        return sender if sender in self.recorded.place else None

    def event_reader(self, term: EventTerm) -> Callable[[], int | Unknown | None]:
        """Reads the number of an event in the happens-before relation."""
        message = self.message_reader(term.message)
        match term:
            case SendEvent():
                return lambda: self._found(message(), self.happens_before.send)
            case DeliveryEvent(_, entity):
                here = self.entity_reader(entity)
                return lambda: self._received(message(), here(), self.happens_before.delivery)
            case ArrivalEvent(_, entity):
                if not self.recorded.has_arrivals:
                    return lambda: Unknown(Reason.NO_ARRIVAL)
                here = self.entity_reader(entity)
                return lambda: self._received(message(), here(), self.happens_before.arrival)
            case _:
                assert_never(term)

    def event(self, term: EventTerm) -> int | Unknown | None:
        """The number of an event in the happens-before relation."""
        return self.event_reader(term)()

    @staticmethod
    def _found(message: str | None, find: Callable[[str], int | None]) -> int | None:
        return None if message is None else find(message)

    @staticmethod
    def _received(
        message: str | None, entity: str | None, find: Callable[[str, str], int | None]
    ) -> int | None:
        return None if message is None or entity is None else find(message, entity)

    def _logged_event(self, term: EventTerm) -> Event | Unknown | None:
        """The event as it stands in its history."""
        recorded = self.recorded
        match term:
            case SendEvent(message):
                name = self.message(message)
                sender = None if name is None else recorded.sender(name)
                if name is None or sender is None:
                    return None
                return (
                    recorded.first[EventKind.SEND, name, sender]
                    if recorded.logged(name)
                    else Unknown(Reason.SEND_NOT_LOGGED)
                )
            case DeliveryEvent(message, entity):
                kind = recorded.execution.delivery
            case ArrivalEvent(message, entity):
                if not recorded.has_arrivals:
                    return Unknown(Reason.NO_ARRIVAL)
                kind = EventKind.ARRIVE
            case _:
                assert_never(term)
        received, here = self.message(message), self.entity(entity)
        event = None if received is None or here is None else recorded.first.get((kind, received, here))
        if event is None or received is None or here is None:
            return None
        # Of several the first is meant; which that is depends on the order of the entity's events.
        once = isinstance(term, DeliveryEvent) and recorded.delivery_count[here, received] == 1
        return Unknown(recorded.doubt[here]) if recorded.doubt[here] and not once else event

    # ---- logs ----------------------------------------------------------------------------------------------

    def addressed(self, message: str, entity: str) -> int:
        """Whether the entity is a destination of the message."""
        if self.recorded.sender(message) is None:
            return FALSE
        destinations = self.recorded.destinations(message)
        if destinations is None:
            return Reason.SEND_NOT_LOGGED
        if entity in destinations:
            return TRUE
        return Reason.GROUP_CHOOSES if self.recorded.group_chooses(message, entity) else FALSE

    def in_send_log(self, message: str, log: SendLog) -> int:
        """Whether the message is in SL of an entity, or in the part of it that goes to another."""
        sender = self.entity(log.entity)
        if sender is None or self.recorded.sender(message) != sender:
            return FALSE
        if log.to is None:
            return TRUE
        to = self.entity(log.to)
        return FALSE if to is None else self.addressed(message, to)

    def _sublog(self, log: SendLog) -> tuple[str, ...] | Unknown | None:
        """The messages of a send log in order; unknown where a send is missing that could be among them, or a group
        chooses whether one is.
        """
        sender = self.entity(log.entity)
        if sender is None or (log.to is not None and self.entity(log.to) is None):
            return None
        if self.recorded.unlogged[sender]:
            return Unknown(Reason.SEND_NOT_LOGGED)
        inside = {message: self.in_send_log(message, log) for message in self.recorded.sent_by[sender]}
        reasons = reduce(or_, (value for value in inside.values() if value != FALSE), TRUE)
        return Unknown(reasons) if reasons else tuple(m for m, value in inside.items() if value == TRUE)

    # ---- views ---------------------------------------------------------------------------------------------

    def view(self, term: ViewTerm) -> str | Unknown | None:
        """The id of the view that a term names, where views are known.

        Two histories leave the view of an event open: one whose order is in doubt, and one of which only the send log
        and the receipt log are known, for its sends.
        """
        match term:
            case ViewVariable(name):
                return self.views[name]
            case ViewNamed(name):
                return name if name in self.recorded.execution.views else None
            case ViewOf(event):
                return self._view_of(event)
            case _:
                assert_never(term)

    def _view_of(self, event: EventTerm | DeliveryTerm) -> str | Unknown | None:
        if isinstance(event, DeliveryTerm):
            made = self.delivery(event)
            return None if made is None else self._view_at(made.entity, made.place)
        message = self.message(event.message)
        match event:
            case SendEvent():
                return None if message is None else self._view_of_send(message)
            case DeliveryEvent(_, entity):
                kind = self.recorded.execution.delivery
            case ArrivalEvent(_, entity):
                if not self.recorded.has_arrivals:
                    return Unknown(Reason.NO_ARRIVAL)
                kind = EventKind.ARRIVE
            case _:
                assert_never(event)
        here = self.entity(entity)
        if message is None or here is None:
            return None
        place = self.recorded.first_place.get((kind, message, here))
        return None if place is None else self._view_at(here, place)

    def _view_of_send(self, message: str) -> str | Unknown | None:
        sender = self.recorded.sender(message)
        if sender is None or not self.recorded.installations.get(sender):
            return None
        if not self.recorded.logged(message):
            return Unknown(Reason.SEND_NOT_LOGGED)
        if not self.recorded.execution.history(sender).interleaved:
            return Unknown(Reason.INTERLEAVING)
        return self._view_at(sender, self.recorded.first_place[EventKind.SEND, message, sender])

    def _view_at(self, entity: str, place: int) -> str | Unknown | None:
        """The last view that an entity installed before a place of its history."""
        installed = self.recorded.installations[entity]
        if installed and self.recorded.doubt[entity]:
            return Unknown(self.recorded.doubt[entity])
        return next((view for at, view in reversed(installed) if at < place), None)

    def _view_number(self, term: ViewTerm) -> Number:
        if self.recorded.execution.views_unknown:
            return Unknown(Reason.NO_VIEWS)
        view = self.view(term)
        if not isinstance(view, str):
            return view
        number = view_number(view)
        return Unknown(Reason.NO_VIEW_NUMBER) if number is None else number

    # ---- numbers -------------------------------------------------------------------------------------------

    def number(self, term: NumberTerm) -> Number:
        """The value of a number, or a time or duration in nanoseconds."""
        match term:
            case Constant(value, _):
                return value
            case Delta():
                delta = self.recorded.execution.delta
                return Unknown(Reason.NO_DELTA) if delta is None else delta
            case Epsilon():
                return self.recorded.execution.epsilon
            case TimeOf(event):
                return self._time(event)
            case Position(message, log, part):
                return self._position(message, log) if part is None else self._position_in(message, log, part)
            case Size(log, part):
                return self._size(log) if part is None else self._size_in(log, part)
            case Nth(delivery):
                return self._nth(self.delivery(delivery))
            case DeliveryTime(delivery):
                return self._delivery_time(self.delivery(delivery))
            case DeliveryPosition(delivery, entity, part):
                return self._delivery_position(self.delivery(delivery), self.entity(entity), part)
            case DeliveryAttribute(attribute, delivery):
                carried = _carried(attribute, self.delivery(delivery))
                assert not isinstance(carried, str)
                return carried
            case AttributeOf(attribute, message):
                found = self._value(attribute, message)
                assert not isinstance(found, str)
                return found
            case ViewNumber(view):
                return self._view_number(view)
            case RecordedClock(event, entity):
                return self._recorded_clock(event, entity)
            case VectorTime(event, entity):
                return self._vector_time(event, entity)
            case Sum(left, right):
                return _combined(self.number(left), self.number(right), lambda a, b: a + b)
            case Difference(left, right):
                return _combined(self.number(left), self.number(right), lambda a, b: a - b)
            case Scaled(factor, scaled):
                return _combined(factor, self.number(scaled), lambda a, b: a * b)
            case _:
                assert_never(term)

    def _time(self, term: EventTerm) -> Number:
        event = self._logged_event(term)
        if not isinstance(event, Event):
            return event
        if not self.recorded.clocks_fit:
            return Unknown(Reason.CLOCKS)
        return Unknown(Reason.NO_TIME) if event.time is None else event.time

    def _size(self, log: LogTerm) -> Number:
        here = self.entity(log.entity)
        if here is None:
            return None
        if isinstance(log, ReceiptLog):
            return len(self.recorded.delivery_place[here])
        if log.to is None:
            return len(self.recorded.sent_by[here])
        sublog = self._sublog(log)
        return len(sublog) if isinstance(sublog, tuple) else sublog

    def _position(self, term: MessageTerm, log: LogTerm) -> Number:
        message = self.message(term)
        if message is None:
            return None
        if isinstance(log, ReceiptLog):
            here = self.entity(log.entity)
            place = None if here is None else self.recorded.delivery_place[here].get(message)
            if here is None or place is None:
                return None
            return Unknown(self.recorded.doubt[here]) if self.recorded.doubt[here] else place + 1
        contained = self.in_send_log(message, log)
        if contained == FALSE:
            return None
        sublog = self._sublog(log)
        sender = self.recorded.sender(message)
        if not isinstance(sublog, tuple) or sender is None:
            return sublog if isinstance(sublog, Unknown) else None
        doubt = self.recorded.doubt[sender]
        return Unknown(doubt) if doubt else sublog.index(message) + 1

    # ---- deliveries ----------------------------------------------------------------------------------------

    def _nth(self, delivery: Delivery | None) -> Number:
        if delivery is None:
            return None
        doubt = self.recorded.doubt[delivery.entity]
        once = self.recorded.delivery_count[delivery.entity, delivery.message] == 1
        return Unknown(doubt) if doubt and not once else delivery.nth

    def _delivery_time(self, delivery: Delivery | None) -> Number:
        if delivery is None:
            return None
        if not self.recorded.clocks_fit:
            return Unknown(Reason.CLOCKS)
        return Unknown(Reason.NO_TIME) if delivery.time is None else delivery.time

    def _delivery_position(self, delivery: Delivery | None, entity: str | None, part: Part | None) -> Number:
        """The place of a delivery among those of its entity; with a part among those of the part."""
        if delivery is None or delivery.entity != entity:
            return None
        made = [each for each in self.recorded.deliveries_of[entity] if self._counts(each, part)]
        if delivery not in made:
            return None
        doubt = self.recorded.doubt[entity]
        return Unknown(doubt) if doubt else made.index(delivery) + 1

    def _counts(self, delivery: Delivery, part: Part | None) -> bool:
        """Whether a delivery is of a message of the part."""
        of = None if part is None else self.message(part.message)
        return part is None or (of is not None and self._shares(delivery.message, part.attributes, of))

    # ---- attributes ----------------------------------------------------------------------------------------

    def _value(self, attribute: Attribute, term: MessageTerm) -> str | int | Unknown | None:
        message = self.message(term)
        if message is None:
            return None
        return self.recorded.execution.messages[message].attributes.get(
            attribute, Unknown(Reason.NO_ATTRIBUTE)
        )

    def text(self, term: TextTerm) -> str | Unknown | None:
        """The value of a text."""
        match term:
            case Text(value):
                return value
            case TextOf(attribute, message):
                found = self._value(attribute, message)
                assert not isinstance(found, int)
                return found
            case DeliveryText(attribute, delivery):
                carried = _carried(attribute, self.delivery(delivery))
                assert not isinstance(carried, int)
                return carried
            case _:
                assert_never(term)

    def values(self, message: str, attributes: tuple[Attribute, ...]) -> tuple[str | int, ...] | None:
        """The values of the attributes of a message of the execution; None where one was not recorded."""
        recorded = self.recorded.execution.messages[message].attributes
        if any(attribute not in recorded for attribute in attributes):
            return None
        return tuple(recorded[attribute] for attribute in attributes)

    def in_part(self, term: MessageTerm, part: Part) -> bool:
        """Whether the message is in the part."""
        message, of = self.message(term), self.message(part.message)
        return message is not None and of is not None and self._shares(message, part.attributes, of)

    def _shares(self, message: str, attributes: tuple[Attribute, ...], of: str) -> bool:
        values = self.values(message, attributes)
        return values is not None and values == self.values(of, attributes)

    def _position_in(self, term: MessageTerm, log: LogTerm, part: Part) -> Number:
        """The place of a message among those of the part."""
        if not self.in_part(term, part):
            return None
        place = self._position(term, log)
        if place is None or isinstance(place, Unknown):
            return place
        before = self._logged_in(log, part)
        message = self.message(term)
        assert isinstance(before, tuple)
        assert message is not None
        return before.index(message) + 1

    def _size_in(self, log: LogTerm, part: Part) -> Number:
        messages = self._logged_in(log, part)
        return len(messages) if isinstance(messages, tuple) else messages

    def _logged_in(self, log: LogTerm, part: Part) -> tuple[str, ...] | Unknown | None:
        """The messages of the part that are in a log, in order."""
        here, of = self.entity(log.entity), self.message(part.message)
        if here is None or of is None:
            return None
        messages: tuple[str, ...] | Unknown | None
        if isinstance(log, ReceiptLog):
            messages = self.recorded.delivered[here]
        elif log.to is None:
            messages = self.recorded.sent_by[here]
        else:
            messages = self._sublog(log)
        if not isinstance(messages, tuple):
            return messages
        return tuple(message for message in messages if self._shares(message, part.attributes, of))

    def _recorded_clock(self, term: EventTerm, entity: EntityTerm) -> Number:
        event, of = self._logged_event(term), self.entity(entity)
        if of is None or event is None:
            return None
        if isinstance(event, Unknown):
            return event
        return Unknown(Reason.NO_CLOCK) if event.clock is None else event.clock.get(of, 0)

    def _vector_time(self, term: EventTerm, entity: EntityTerm) -> Number:
        event, of = self.event(term), self.entity(entity)
        if of is None or event is None:
            return None
        if isinstance(event, Unknown):
            return event
        if self.recorded.doubts:
            return Unknown(self.recorded.doubts)
        relation = self.row_order
        if relation.cycle:
            return Unknown(Reason.CYCLE)
        number = reasons = 0
        for other, weight in self._weights(of).items():
            value = TRUE if other == event else relation.before(other, event)
            reasons |= max(value, 0)
            number += weight if value == TRUE else 0
        return Unknown(reasons) if reasons else number

    def _weights(self, entity: str) -> dict[int, int]:
        """The events of an entity that clocks count, and how many events each of them stands for.

        More than one where the trace has no local events and the entity's own clock says that there were some before
        it.
        """
        execution, relation = self.recorded.execution, self.row_order
        has_local = any(e.kind is EventKind.LOCAL for h in execution.histories for e in h.events)
        strict = has_local or any(self.recorded.unlogged.values())
        events = execution.history(entity).events
        weights: dict[int, int] = {}
        position = 0
        for number in relation.of_entity(entity):
            index = relation.events[number].index
            event = None if index is None else events[index]
            counted = 0
            if event is not None and event.counted and event.clock is not None and not strict:
                counted = event.clock.get(entity, 0)
            weights[number] = max(1, counted - position)
            position += weights[number]
        return weights


def mentions_time(term: NumberTerm) -> bool:
    """Whether the time of an event is in a term: only then does epsilon matter to it."""
    match term:
        case TimeOf() | DeliveryTime():
            return True
        case Sum(left, right) | Difference(left, right):
            return mentions_time(left) or mentions_time(right)
        case Scaled(_, scaled):
            return mentions_time(scaled)
        case AttributeOf(attribute) | DeliveryAttribute(attribute):
            return attribute.sort is AttributeSort.TIME
        case (
            Constant() | Delta() | Epsilon() | Position() | Size() | RecordedClock() | VectorTime() | Nth()
            | DeliveryPosition() | ViewNumber()
        ):  # fmt: skip
            return False
        case _:
            assert_never(term)


def _carried(attribute: Attribute, delivery: Delivery | None) -> str | int | Unknown | None:
    return None if delivery is None else delivery.attributes.get(attribute, Unknown(Reason.NO_ATTRIBUTE))


def _combined(
    left: Number, right: Number, operation: Callable[[int | Fraction, int | Fraction], int | Fraction]
) -> Number:
    if left is None or right is None:
        return None
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown(reasons_in(left) | reasons_in(right))
    return operation(left, right)


def reasons_in(value: Number | str) -> int:
    """The reasons why a number or a text is not known; none where it is."""
    return value.reasons if isinstance(value, Unknown) else 0
