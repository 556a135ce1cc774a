"""Atoms in words: what a closed atom says of an execution, or that it is not so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from precedes.core.counts import ordinal
from precedes.core.execution import EventKind, Execution
from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryVariable,
    Delta,
    EntityTerm,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
    HappensBefore,
    Iff,
    Implies,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    LogTerm,
    MessageTerm,
    Not,
    Or,
    Part,
    Per,
    Precedes,
    Quiescent,
    ReceiptLog,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Sum,
    Text,
    TextOf,
    TextTerm,
    TimeOf,
    Truth,
    Undetermined,
)
from precedes.core.traversal import entities_in, messages_in
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference.evaluation import Evaluator
from precedes.engines.reference.failure_line import failure_line
from precedes.engines.reference.happens_before import Occurrence
from precedes.language.quoting import quoted
from precedes.reports.prose.identifiers import identifiers_of, log_text
from precedes.reports.prose.memberships import MembershipStatements
from precedes.reports.prose.numbers import Numbers
from precedes.reports.prose.times import clock_of, duration_text

_VERBS: Final = {
    EventKind.SEND: "sends",
    EventKind.DELIVER: "delivers",
    EventKind.ARRIVE: "receives",
    EventKind.DISCARD: "discards",
    EventKind.CRASH: "crashes",
    EventKind.RECOVER: "recovers",
    EventKind.VIEW: "installs a view",
    EventKind.LOCAL: "does something of its own",
    EventKind.ACK: "acknowledges",
    EventKind.NACK: "gives back",
}


class Statements:
    """Puts what is true of one execution in words; `timed` adds to deliveries when they happened."""

    def __init__(self, execution: Execution, *, timed: bool) -> None:
        evaluator = Evaluator(execution)
        self.execution = execution
        self.recorded = evaluator.recorded
        self.terms = evaluator.terms
        self.ids = identifiers_of(execution)
        self._clock = clock_of(execution)
        self._numbers = Numbers(self.terms, self._clock, self.ids)
        self.memberships = MembershipStatements(self.terms, self.ids)
        self._timed = timed

    def statement(self, formula: Formula, value: int) -> str:
        """An atom as a statement, or as its denial where the value is FALSE."""
        true = value == TRUE
        match formula:
            case InLog(message, log):
                return self._membership(message, log, true)
            case Precedes(first, second, log):
                return self.order(first.name, second.name, log, true)
            case Repeated(message, log):
                return self._repetition(message, log, true)
            case Sent(message):
                return f"{'somebody' if true else 'nobody'} sent {self.ids.of_message(message)}"
            case IsDestination(entity, message):
                return f"{self.ids.of_message(message)} was {_not(true)}addressed to {self.ids.of_entity(entity)}"
            case SameEntity(Sender(message), other) | SameEntity(other, Sender(message)):
                return self._origin(message, other, true)
            case SameEntity(left, right):
                return f"{self.ids.of_entity(left)} is {_not(true)}{self.ids.of_entity(right)}"
            case SameMessage(left, right):
                return f"{self.ids.of_message(left)} is {_not(true)}{self.ids.of_message(right)}"
            case SameText(left, right):
                return self._texts(left, right, true)
            case SamePart(message, part):
                return self.part(message, part, true)
            case DeliveredAt(delivery, entity):
                return f"{self.ids.of_delivery(delivery)} is {_not(true)}at {self.ids.of_entity(entity)}"
            case DeliveredBefore(first, second):
                return self.deliveries(first, second, true)
            case SameDelivery(left, right):
                return self._same_delivery(left, right, true)
            case InFlight(delivery, at):
                return self._in_flight(delivery, at, true)
            case Acknowledged(message, entity):
                verb = "acknowledges" if true else "does not acknowledge"
                return f"{self.ids.of_entity(entity)} {verb} {self.ids.of_message(message)}"
            case Faulty(entity):
                return f"{self.ids.of_entity(entity)} {'crashed' if true else 'is correct'}"
            case (
                IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                return self.memberships.statement(formula, true)
            case HappensBefore(SendEvent(first), SendEvent(second)):
                return f"{_not(true)}{self.ids.of_message(first)} ~> {self.ids.of_message(second)}"
            case HappensBefore(earlier, later):
                return f"{_not(true)}{self.ids.of_event(earlier)} ~> {self.ids.of_event(later)}"
            case Comparison():
                return self._comparison(formula, value)
            case FailureLine():
                return self._marks() or "the marks stand on the failure line"
            case Undetermined(why):
                return why
            case Quiescent():
                return f"{'nothing' if true else 'something'} is in flight"
            case Truth():
                return "true" if true else "false"
            case Not(body):
                return self.statement(body, FALSE if true else TRUE)
            case Forall() | Exists() | Acyclic() | And() | Or() | Implies() | Iff() | Per():
                about = [
                    *map(self.ids.message, messages_in(formula)),
                    *map(self.ids.entity, entities_in(formula)),
                ]
                return f"what is said of {listed(about) or 'all of them'} is {'true' if true else 'false'}"
            case _:
                assert_never(formula)

    # ---- attributes ----------------------------------------------------------------------------------------

    def _texts(self, left: TextTerm, right: TextTerm, true: bool) -> str:
        for term in (left, right):
            if self.terms.text(term) is None:
                return f"there is no such thing as {self._text(term)}"
        return f"{self._text(left)} is {_not(true)}{self._text(right)}"

    def _text(self, term: TextTerm) -> str:
        match term:
            case Text(value):
                return quoted(value)
            case TextOf(attribute, message):
                found = self.terms.text(term)
                known = f" ({quoted(found)})" if isinstance(found, str) else ""
                return f"{attribute.name} of {self.ids.of_message(message)}{known}"
            case _:
                assert_never(term)

    def part(self, message: MessageTerm, part: Part, true: bool) -> str:
        """Whether a message is in a part; of a message that names the part, which values it has."""
        names = " and ".join(attribute.name for attribute in part.attributes)
        if message != part.message:
            same = "the same" if true else "another"
            return f"{self.ids.of_message(message)} has {same} {names} as {self.ids.of_message(part.message)}"
        return self.values(message, part) if true else f"{self.ids.of_message(message)} has no {names}"

    def values(self, message: MessageTerm, part: Part) -> str:
        """`key = k1`, of the part that a message is in."""
        name = self.terms.message(message)
        found = None if name is None else self.terms.values(name, part.attributes)
        return " and ".join(
            f"{attribute.name} = {value}"
            for attribute, value in zip(part.attributes, found or (), strict=False)
        )

    # ---- deliveries ----------------------------------------------------------------------------------------

    def deliveries(self, first: DeliveryTerm, second: DeliveryTerm, true: bool) -> str:
        """In which order an entity makes two deliveries; a repeat is said to be one."""
        one, other = (first, second) if true else (second, first)
        if not true and self._receiver(first) != self._receiver(second):
            return (
                f"{self.ids.of_delivery(first)} and {self.ids.of_delivery(second)} are at different entities"
            )
        joined = "and then" if _message_of(one) == _message_of(other) else "before"
        return f"{self._receiver(one)} delivers {self._of_delivery(one)} {joined} {self._of_delivery(other)}"

    def _in_flight(self, delivery: DeliveryTerm, at: DeliveryTerm, true: bool) -> str:
        here, name = self._receiver(delivery), self._of_delivery(delivery)
        settled = (
            f"neither acknowledges {name} nor gives it back"
            if true
            else f"acknowledges {name} or gives it back"
        )
        return f"{here} {settled} before it delivers {self._of_delivery(at)}"

    def _same_delivery(self, left: DeliveryTerm, right: DeliveryTerm, true: bool) -> str:
        """Two deliveries of one message are told by who makes them."""
        if true or _message_of(left) != _message_of(right):
            return f"{self.ids.of_delivery(left)} is {_not(true)}{self.ids.of_delivery(right)}"
        one, other = sorted((left, right), key=_nth)
        if self._receiver(left) == self._receiver(right):
            return (
                f"{self._receiver(one)} delivers {self._of_delivery(one)} and then {self._of_delivery(other)}"
            )
        both = ((self._receiver(each), self._of_delivery(each)) for each in (left, right))
        return ", ".join(f"{here} delivers {what}" for here, what in both)

    def _of_delivery(self, delivery: DeliveryTerm) -> str:
        """`m`, or `m again`, `m a 3rd time`, of a delivery at an entity that the sentence names."""
        match delivery:
            case DeliveryNamed(message, _, nth):
                name = self.ids.message(message)
                again = "" if nth == 1 else " again" if nth == 2 else f" a {ordinal(nth)} time"
                return f"{name}{again}"
            case DeliveryVariable(name):
                return name
            case _:
                assert_never(delivery)

    def _receiver(self, delivery: DeliveryTerm) -> str:
        if isinstance(delivery, DeliveryNamed):
            return self.ids.entity(delivery.entity)
        return f"the entity of {delivery.name}"

    # ---- logs ----------------------------------------------------------------------------------------------

    def _membership(self, message: MessageTerm, log: LogTerm, true: bool) -> str:
        here, name = self.ids.of_entity(log.entity), self.ids.of_message(message)
        if isinstance(log, ReceiptLog):
            return f"{here} delivers {name}" if true else f"{here} does not deliver {name}"
        to = "" if log.to is None else f" to {self.ids.of_entity(log.to)}"
        return f"{here} sends {name}{to}" if true else f"{here} does not send {name}{to}"

    def order(self, first: str, second: str, log: LogTerm, true: bool) -> str:
        """In which order, if at all, two messages stand in a log."""
        here = self.ids.of_entity(log.entity)
        if isinstance(log, SendLog):
            contained = [self.terms.in_send_log(message, log) == TRUE for message in (first, second)]
            before, after = map(self.ids.message, (first, second) if true else (second, first))
            if not all(contained):
                one, other = self.ids.message(first), self.ids.message(second)
                return f"{log_text(log)} does not have both {one} and {other}"
            return f"{here} sends {before} before {after}"
        owner = self.terms.entity(log.entity)
        log_places = {} if owner is None else self.recorded.delivery_place.get(owner, {})
        present = [message for message in (first, second) if message in log_places]
        if owner is not None and len(present) == 2:
            return self.delivery_order(owner, *sorted(present, key=lambda message: log_places[message]))
        one, other = self.ids.message(first), self.ids.message(second)
        if not present:
            return f"{here} delivers neither {one} nor {other}"
        if present[0] != first:
            one, other = other, one
        return f"{here} delivers {one} without {other}"

    def delivery_order(self, entity: str, first: str, second: str) -> str:
        """`E3 delivers m3 before m1`, or with the times of both where these matter and are known."""
        here, one, other = self.ids.entity(entity), self.ids.message(first), self.ids.message(second)
        if first == second:
            return f"{here} delivers {one}"
        before, after = (
            self.recorded.first[self.execution.delivery, name, entity].time for name in (first, second)
        )
        if not self._timed or before is None or after is None:
            return f"{here} delivers {one} before {other}"
        return f"{here} delivers {one} at {self._clock.text(before)}, {other} at {self._clock.text(after)}"

    def _origin(self, message: MessageTerm, other: EntityTerm, true: bool) -> str:
        """`o is from orders, not from payments`."""
        name, sender = self.ids.of_message(message), self.recorded.sender(message.name)
        if true or sender is None:
            return f"{name} is {_not(true)}from {self.ids.of_entity(other)}"
        return f"{name} is from {self.ids.entity(sender)}, not from {self.ids.of_entity(other)}"

    def _repetition(self, message: MessageTerm, log: LogTerm, true: bool) -> str:
        owner = self.terms.entity(log.entity)
        count = 0 if owner is None else self.recorded.delivery_count.get((owner, message.name), 0)
        times = "not more than once" if not true else "twice" if count == 2 else f"{count} times"
        return f"{self.ids.of_entity(log.entity)} delivers {self.ids.of_message(message)} {times}"

    def _marks(self) -> str:
        """Where the failure line is and no mark."""
        marks = self.execution.marks
        wrong = []
        for entity, place in failure_line(self.recorded).items():
            log = self.execution.delivered(entity)
            if marks.get(entity, len(log)) != place:
                before = f"before {self.ids.message(log[place])}" if place < len(log) else "at the end"
                wrong.append(f"the failure line of {self.ids.entity(entity)} is {before}")
        return ", ".join(wrong)

    # ---- time and happens-before ---------------------------------------------------------------------------

    def _comparison(self, atom: Comparison, value: int) -> str:
        """A comparison; a breach of a deadline in words of its own."""
        late = self._late(atom) if value == FALSE else None
        return self._numbers.comparison(atom, value) if late is None else late

    def _late(self, atom: Comparison) -> str | None:
        """`E2 delivers m 12 ms after its send, delta is 10 ms`, where that is what an atom denies."""
        left, delta = atom.left, self.execution.delta
        if not (isinstance(left, TimeOf) and isinstance(left.event, DeliveryEvent)):
            return None
        message, sending = left.event.message, TimeOf(SendEvent(left.event.message))
        late, at = self.terms.number(left), self.terms.number(sending)
        if atom.right != Sum(sending, Delta()) or not isinstance(late, int) or not isinstance(at, int):
            return None
        if delta is None:
            return None
        after = f"{self.ids.of_message(message)} {duration_text(late - at)} after its send"
        return f"{self.ids.of_entity(left.event.entity)} delivers {after}, delta is {duration_text(delta)}"

    def chain(self, events: Sequence[Occurrence]) -> str:
        """`E1 sends m1 then m2, E2 delivers m2 then sends m3`.

        A step between entities that no message makes is one that a recorded clock tells of.
        """
        told: list[str] = []
        here = verb = ""
        for place, event in enumerate(events):
            doing = "delivers" if event.kind is self.execution.delivery else _VERBS[event.kind]
            message = "" if event.message is None else self.ids.message(event.message)
            what = f"{doing} {message}".rstrip()
            if event.entity != here:
                by_message = (
                    event.kind is self.execution.delivery and event.message == events[place - 1].message
                )
                known = "" if not place or by_message else ", with a clock that counts that"
                told.append(f"{self.ids.entity(event.entity)} {what}{known}")
            else:
                told[-1] += f" then {message if message and doing == verb else what}"
            here, verb = event.entity, doing
        return ", ".join(told)

    # ---- names ---------------------------------------------------------------------------------------------

    def entities_in_order(self, entities: Iterable[str]) -> list[str]:
        """Entities in the cluster's order."""
        place = self.recorded.place
        return sorted(set(entities), key=lambda entity: place.get(entity, len(place)))

    def messages_in_order(self, messages: Iterable[str]) -> list[str]:
        """Messages in order of first appearance."""
        wanted = set(messages)
        return [message for message in self.recorded.messages if message in wanted]


def about_delta(formula: Formula) -> bool:
    """Whether a formula compares a time with another plus delta."""
    return (
        isinstance(formula, Comparison)
        and isinstance(formula.left, TimeOf)
        and isinstance(formula.right, Sum)
        and isinstance(formula.right.left, TimeOf)
        and isinstance(formula.right.right, Delta)
    )


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def _not(true: bool) -> str:
    return "" if true else "not "


def _nth(delivery: DeliveryTerm) -> int:
    return delivery.nth if isinstance(delivery, DeliveryNamed) else 0


def _message_of(delivery: DeliveryTerm) -> str:
    return delivery.message if isinstance(delivery, DeliveryNamed) else delivery.name
