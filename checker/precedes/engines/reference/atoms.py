"""The value of an atom on one complete execution, as `precedes.core.formula` defines it.

Each atom becomes, once, a function without arguments. The function returns the atom's value under the
bindings at the time of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import assert_never

from precedes.core.formula import (
    Acknowledged,
    AddressedTo,
    Atom,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryTerm,
    EntityTerm,
    EventTerm,
    FailureLine,
    Faulty,
    HappensBefore,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    LogTerm,
    MessageTerm,
    Precedes,
    Quiescent,
    Relation,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    SendLog,
    Sent,
    TextTerm,
    Truth,
    Undetermined,
)
from precedes.core.verdict import FALSE, NO_REASON, TRUE, Reason, conjunction
from precedes.engines.reference.failure_line import failure_line
from precedes.engines.reference.memberships import Memberships
from precedes.engines.reference.terms import Terms, Unknown, mentions_time, reasons_in

Judgement = Callable[[], int]
"""Gives the value of a formula under the current bindings."""


class Atoms:
    """The atoms on one complete execution."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._recorded = terms.recorded
        self._memberships = Memberships(terms)

    def judgement(self, atom: Atom) -> Judgement:
        """How an atom is judged."""
        match atom:
            case Precedes(first, second, log):
                if isinstance(log, SendLog):
                    return partial(self._sent_before, first, second, log)
                return self._received_before(first, second, log.entity)
            case InLog(message, log):
                if isinstance(log, SendLog):
                    return partial(self._in_send_log, message, log)
                return self._received(message, log.entity)
            case HappensBefore(first, second):
                return self._happens_before(first, second)
            case IsDestination(entity, message):
                return partial(self._is_destination, entity, message)
            case Comparison():
                return partial(self._comparison, atom)
            case Sent(message):
                return partial(self._sent, message)
            case Faulty(entity):
                return self._faulty(entity)
            case Repeated(message, log):
                return partial(self._repeated, message, log)
            case SameEntity(left, right):
                one, other = self._terms.entity_reader(left), self._terms.entity_reader(right)
                return lambda: _same(one(), other())
            case SameMessage(left, right):
                one, other = self._terms.message_reader(left), self._terms.message_reader(right)
                return lambda: _same(one(), other())
            case SameText(left_text, right_text):
                return partial(self._same_text, left_text, right_text)
            case SamePart(message, part):
                return lambda: _truth(self._terms.in_part(message, part))
            case DeliveredAt(delivery, entity):
                return partial(self._delivered_at, delivery, entity)
            case DeliveredBefore(earlier, later, entity):
                return partial(self._delivered_before, earlier, later, entity)
            case SameDelivery(left_delivery, right_delivery):
                made, other_made = map(self._terms.delivery_reader, (left_delivery, right_delivery))
                return lambda: _truth(made() is not None and made() == other_made())
            case InFlight(earlier, later):
                return partial(self._in_flight, earlier, later)
            case Acknowledged(message, entity):
                return partial(self._acknowledged, message, entity)
            case (
                IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                return partial(self._memberships.value, atom)
            case Truth(true):
                value = _truth(true)
                return lambda: value
            case Undetermined(_, reason):
                return lambda: reason
            case FailureLine():
                return self._failure_line
            case Quiescent():
                return lambda: TRUE
            case _:
                assert_never(atom)

    def _received_before(self, first: MessageTerm, second: MessageTerm, entity: EntityTerm) -> Judgement:
        before, after = self._terms.message_reader(first), self._terms.message_reader(second)
        owner, logs = self._terms.entity_reader(entity), self._recorded.delivery_place
        doubt = self._recorded.doubt

        def judge() -> int:
            here = owner()
            one, other = before(), after()
            if here is None or one is None or other is None or one == other:
                return FALSE
            places = logs[here]
            if one not in places or other not in places:
                return FALSE
            return doubt[here] or _truth(places[one] < places[other])

        return judge

    def _received(self, message: MessageTerm, entity: EntityTerm) -> Judgement:
        name, owner = self._terms.message_reader(message), self._terms.entity_reader(entity)
        logs = self._recorded.delivery_place

        def judge() -> int:
            here, received = owner(), name()
            if here is None or received is None:
                return FALSE
            return _truth(received in logs[here])

        return judge

    def _faulty(self, entity: EntityTerm) -> Judgement:
        owner, recorded = self._terms.entity_reader(entity), self._recorded

        def judge() -> int:
            here = owner()
            if here is None:
                return FALSE
            unsure = recorded.doubt[here] if len(recorded.stops[here]) > 1 else NO_REASON
            return unsure or _truth(here in recorded.faulty)

        return judge

    def _in_send_log(self, message: MessageTerm, log: SendLog) -> int:
        name = self._terms.message(message)
        return FALSE if name is None else self._terms.in_send_log(name, log)

    def _sent_before(self, first: MessageTerm, second: MessageTerm, log: SendLog) -> int:
        before, after = self._terms.message(first), self._terms.message(second)
        if before is None or after is None or before == after:
            return FALSE
        both = conjunction(self._terms.in_send_log(before, log), self._terms.in_send_log(after, log))
        if both == FALSE:
            return FALSE
        if not (self._recorded.logged(before) and self._recorded.logged(after)):
            return both | Reason.SEND_NOT_LOGGED
        places, sender = self._recorded.send_place, self._recorded.sender(before)
        assert sender is not None
        return conjunction(both, self._recorded.doubt[sender] or _truth(places[before] < places[after]))

    def _is_destination(self, entity: EntityTerm, message: MessageTerm) -> int:
        here, sent = self._terms.entity(entity), self._terms.message(message)
        return FALSE if here is None or sent is None else self._terms.addressed(sent, here)

    def _sent(self, message: MessageTerm) -> int:
        name = self._terms.message(message)
        return _truth(name is not None and self._recorded.sender(name) is not None)

    def _repeated(self, message: MessageTerm, log: LogTerm) -> int:
        """Whether a message was delivered more than once. A send repeated unchanged is one send."""
        name = self._terms.message(message)
        here = None if isinstance(log, SendLog) else self._terms.entity(log.entity)
        if name is None or here is None:
            return FALSE
        return _truth(self._recorded.delivery_count.get((here, name), 0) > 1)

    def _happens_before(self, first: EventTerm, second: EventTerm) -> Judgement:
        earlier, later = self._terms.event_reader(first), self._terms.event_reader(second)

        def judge() -> int:
            before, after = earlier(), later()
            if before is None or after is None:
                return FALSE
            if isinstance(before, Unknown):
                return before.reasons
            if isinstance(after, Unknown):
                return after.reasons
            return self._terms.happens_before.before(before, after)

        return judge

    def _comparison(self, comparison: Comparison) -> int:
        left, right = self._terms.number(comparison.left), self._terms.number(comparison.right)
        if left is None or right is None:
            return FALSE
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return reasons_in(left) | reasons_in(right)
        difference = left - right
        timed = mentions_time(comparison.left) or mentions_time(comparison.right)
        epsilon = self._recorded.execution.epsilon
        if timed and -epsilon < difference < epsilon:
            return Reason.EPSILON
        match comparison.relation:
            case Relation.LESS:
                return _truth(difference < 0)
            case Relation.AT_MOST:
                return _truth(difference <= 0)
            case Relation.EQUAL:
                return _truth(difference == 0)
            case _:
                assert_never(comparison.relation)

    def _same_text(self, left: TextTerm, right: TextTerm) -> int:
        one, other = self._terms.text(left), self._terms.text(right)
        if one is None or other is None:
            return FALSE
        if isinstance(one, Unknown) or isinstance(other, Unknown):
            return reasons_in(one) | reasons_in(other)
        return _truth(one == other)

    def _delivered_at(self, delivery: DeliveryTerm, entity: EntityTerm) -> int:
        made = self._terms.delivery(delivery)
        return _truth(made is not None and made.entity == self._terms.entity(entity))

    def _delivered_before(self, first: DeliveryTerm, second: DeliveryTerm, entity: EntityTerm) -> int:
        one, other = self._terms.delivery(first), self._terms.delivery(second)
        here = self._terms.entity(entity)
        if one is None or other is None or one == other or not one.entity == other.entity == here:
            return FALSE
        return self._recorded.doubt[one.entity] or _truth(one.place < other.place)

    def _in_flight(self, first: DeliveryTerm, second: DeliveryTerm) -> int:
        one, other = self._terms.delivery(first), self._terms.delivery(second)
        if one is None or other is None or one == other or one.entity != other.entity:
            return FALSE
        if self._recorded.doubt[one.entity]:
            return self._recorded.doubt[one.entity]
        if one.place > other.place:
            return FALSE
        if not self._recorded.has_acknowledgements:
            return Reason.NO_ACKNOWLEDGEMENT
        settled = self._recorded.settled.get((one.entity, one.message), ())
        return _truth(not any(one.place < place < other.place for place in settled))

    def _acknowledged(self, message: MessageTerm, entity: EntityTerm) -> int:
        here, name = self._terms.entity(entity), self._terms.message(message)
        if here is None or name is None:
            return FALSE
        if not self._recorded.has_acknowledgements:
            return Reason.NO_ACKNOWLEDGEMENT
        return _truth((here, name) in self._recorded.acknowledged)

    def _failure_line(self) -> int:
        """An entity without a mark has it at the end of its log. What another member of a group may have delivered, an
        entity may have lost or not.
        """
        execution = self._recorded.execution
        if not execution.marks:
            return Reason.NO_MARK
        if any(
            self._terms.addressed(message, entity) == Reason.GROUP_CHOOSES
            for message in self._recorded.messages
            for entity in execution.entities
            if message not in self._recorded.delivery_place[entity]
        ):
            return Reason.GROUP_CHOOSES
        ends = {entity: len(execution.delivered(entity)) for entity in execution.entities}
        return _truth(ends | dict(execution.marks) == failure_line(self._recorded))


def _truth(true: bool) -> int:
    return TRUE if true else FALSE


def _same(one: str | None, other: str | None) -> int:
    return _truth(one is not None and one == other)
