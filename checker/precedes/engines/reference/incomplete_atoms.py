"""The value of an atom on an incomplete execution: true or false only where it is so in every completion.

`precedes.logic.completion` writes the quantifiers out; what is left is about messages and entities that were
recorded or are named. Rows are added anywhere, but the first event of a kind about a message at an entity stays the
first (ADR 0013). So the order of two recorded places stays, a message that is missing in a receipt log may be in it,
and happens-before only grows.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import assert_never

from precedes.core.formula import (
    Acknowledged,
    AddressedTo,
    ArrivalEvent,
    Atom,
    Attribute,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryTerm,
    DeliveryText,
    EntityNamed,
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
    MessageNamed,
    Precedes,
    Quiescent,
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
from precedes.core.verdict import FALSE, TRUE, Reason, conjunction
from precedes.engines.reference.incomplete_memberships import IncompleteMemberships
from precedes.engines.reference.incomplete_names import INCOMPLETE, IncompleteNames
from precedes.engines.reference.incomplete_numbers import IncompleteNumbers
from precedes.engines.reference.terms import Terms, Unknown


class IncompleteAtoms:
    """The atoms on one incomplete execution, under the bindings of its terms."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._names = IncompleteNames(terms)
        self._numbers = IncompleteNumbers(terms, self._names)
        self._memberships = IncompleteMemberships(terms, self._names)

    def judgement(self, atom: Atom) -> Callable[[], int]:
        """How an atom is judged, whatever the bindings are by then."""
        return lambda: self._value(atom)

    def _value(self, atom: Atom) -> int:
        names = self._names
        match atom:
            case InLog(message, log):
                return self._in_log(names.message(message), log)
            case Precedes(first, second, log):
                one, other = names.message(first), names.message(second)
                if one == other:
                    return FALSE
                if isinstance(log, SendLog):
                    return self._sent_before(one, other, log)
                return self._received_before(one, other, names.entity(log.entity))
            case Repeated(message, log):
                return self._repeated(names.message(message), log)
            case Sent(message):
                sent = self._terms.recorded.sender(names.message(message)) is not None
                return TRUE if sent else INCOMPLETE
            case IsDestination(entity, message):
                return names.addressed(names.message(message), names.entity(entity))
            case SameEntity(left, right):
                return _same(names.entity(left), names.entity(right), self._terms.recorded.place)
            case SameMessage(left, right):
                recorded = self._terms.recorded.execution.messages
                return _same(names.message(left), names.message(right), recorded)
            case SameText(left_text, right_text):
                return self._same_text(left_text, right_text)
            case SamePart(message, part):
                return self._same_part(names.message(message), names.message(part.message), part.attributes)
            case DeliveredAt(delivery, entity):
                return self._delivered_at(delivery, entity)
            case DeliveredBefore(earlier, later, entity):
                both = conjunction(self._delivered_at(earlier, entity), self._delivered_at(later, entity))
                return conjunction(both, self._delivered_before(earlier, later))
            case SameDelivery(left_delivery, right_delivery):
                made = self._terms.delivery(left_delivery), self._terms.delivery(right_delivery)
                return INCOMPLETE if None in made else TRUE if made[0] == made[1] else FALSE
            case InFlight(earlier, later):
                return self._in_flight(earlier, later)
            case Acknowledged(message, entity):
                pair = (names.entity(entity) or "", names.message(message))
                return TRUE if pair in self._terms.recorded.acknowledged else INCOMPLETE
            case Faulty():
                # A crash or a recovery may be missing.
                return INCOMPLETE
            case HappensBefore(first_event, second_event):
                return self._happens_before(first_event, second_event)
            case Comparison():
                return self._numbers.compared(atom)
            case FailureLine():
                return INCOMPLETE if self._terms.recorded.execution.marks else Reason.NO_MARK
            case (
                IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                return self._memberships.value(atom)
            case Truth(value):
                return TRUE if value else FALSE
            case Quiescent():
                return TRUE
            case Undetermined(_, reason):
                return reason
            case _:
                assert_never(atom)

    def _in_log(self, message: str, log: LogTerm) -> int:
        if isinstance(log, SendLog):
            return self._names.in_send_log(message, log)
        place = self._names.received(message, self._names.entity(log.entity))
        return INCOMPLETE if place is None else TRUE

    def _received_before(self, one: str, other: str, entity: str | None) -> int:
        """Of a message that was not recorded there, only happens-before may say that it cannot have come first."""
        before, after = self._names.received(one, entity), self._names.received(other, entity)
        if entity is not None and before is not None and after is not None:
            return self._terms.recorded.doubt[entity] or (TRUE if before < after else FALSE)
        if entity is None or after is None:
            return INCOMPLETE
        here = EntityNamed(entity)
        events = (DeliveryEvent(MessageNamed(message), here) for message in (one, other))
        return FALSE if self._terms.happens_before.in_completions(*events) == FALSE else INCOMPLETE

    def _sent_before(self, one: str, other: str, log: SendLog) -> int:
        recorded = self._terms.recorded
        both = conjunction(self._names.in_send_log(one, log), self._names.in_send_log(other, log))
        senders = (recorded.sender(one), recorded.sender(other))
        if both == FALSE or (None not in senders and senders[0] != senders[1]):
            return FALSE
        if not (recorded.logged(one) and recorded.logged(other)):
            return both | INCOMPLETE
        sender = senders[0]
        if sender is not None and recorded.doubt[sender]:
            return both | recorded.doubt[sender]
        return both if recorded.send_place[one] < recorded.send_place[other] else FALSE

    def _repeated(self, message: str, log: LogTerm) -> int:
        """A send repeated unchanged is one send."""
        if isinstance(log, SendLog):
            return FALSE
        entity = self._names.entity(log.entity)
        count = 0 if entity is None else self._terms.recorded.delivery_count.get((entity, message), 0)
        return TRUE if count > 1 else INCOMPLETE

    def _delivered_at(self, delivery: DeliveryTerm, entity: EntityTerm) -> int:
        """A delivery that was recorded is where it was recorded."""
        made, here = self._terms.delivery(delivery), self._names.entity(entity)
        if made is None or here is None:
            return INCOMPLETE
        return TRUE if made.entity == here else FALSE

    def _delivered_before(self, first: DeliveryTerm, second: DeliveryTerm) -> int:
        """The order of two deliveries that were recorded stays."""
        one, other = self._terms.delivery(first), self._terms.delivery(second)
        if one is None or other is None:
            return INCOMPLETE
        if one == other or one.entity != other.entity:
            return FALSE
        return self._terms.recorded.doubt[one.entity] or (TRUE if one.place < other.place else FALSE)

    def _in_flight(self, first: DeliveryTerm, second: DeliveryTerm) -> int:
        """An acknowledgement in between may be missing; one that was recorded stays there."""
        before = self._delivered_before(first, second)
        one, other = self._terms.delivery(first), self._terms.delivery(second)
        if before != TRUE or one is None or other is None:
            return before
        settled = self._terms.recorded.settled.get((one.entity, one.message), ())
        return FALSE if any(one.place < place < other.place for place in settled) else INCOMPLETE

    def _same_text(self, left: TextTerm, right: TextTerm) -> int:
        """Rows with the text of a message may be missing; the row of a delivery has its text, or none."""
        found = [self._terms.text(term) for term in (left, right)]
        for term, text in zip((left, right), found, strict=True):
            if isinstance(term, DeliveryText) and isinstance(text, Unknown):
                return text.reasons
        one, other = found
        if not isinstance(one, str) or not isinstance(other, str):
            return INCOMPLETE
        return TRUE if one == other else FALSE

    def _same_part(self, one: str, other: str, attributes: tuple[Attribute, ...]) -> int:
        """Two values that were recorded and differ decide it."""
        recorded = self._terms.recorded.execution.messages
        both = [(recorded[m].attributes if m in recorded else {}) for m in (one, other)]
        known = [a for a in attributes if all(a in each for each in both)]
        if any(both[0][a] != both[1][a] for a in known):
            return FALSE
        return TRUE if len(known) == len(attributes) else INCOMPLETE

    def _happens_before(self, first: EventTerm, second: EventTerm) -> int:
        arrivals = isinstance(first, ArrivalEvent) or isinstance(second, ArrivalEvent)
        if arrivals and not self._terms.recorded.has_arrivals:
            return Reason.NO_ARRIVAL
        return self._terms.happens_before.in_completions(self._names.event(first), self._names.event(second))


def _same(one: str | None, other: str | None, recorded: Container[str]) -> int:
    """Two different names are two things; one that was not recorded may not be there."""
    if one is None or other is None:
        return INCOMPLETE
    return FALSE if one != other else TRUE if one in recorded else INCOMPLETE
