"""Formulas as propositions: when a formula is certainly true, and when it is certainly false.

The two are translated separately (`want`), because a formula may be neither: a comparison may be closer than
epsilon, or this version may not be able to judge a statement. If a formula has no such part, one is the
negation of the other. An encoding may replace `acyclic` with something weaker. No translation is ever negated
here, so the whole is then weaker, too, and a proof stays sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import assert_never, overload

from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    And,
    ArrivalEvent,
    AttributeOf,
    Comparison,
    Constant,
    DeliveredAt,
    DeliveredBefore,
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
    Dimension,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    Epsilon,
    EventTerm,
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
    IsDestination,
    LogTerm,
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Not,
    Nth,
    NumberTerm,
    Or,
    Part,
    Per,
    Position,
    Precedes,
    Quiescent,
    ReceiptLog,
    ReceiverOf,
    RecordedClock,
    Relation,
    Repeated,
    SameDelivery,
    SameEntity,
    SameMessage,
    SamePart,
    SameText,
    Scaled,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Size,
    Sum,
    Text,
    TextOf,
    TextTerm,
    TimeOf,
    Truth,
    Undetermined,
    Variable,
    VectorTime,
)
from precedes.core.traversal import FreeVariables, Node, walk
from precedes.engines.solver.answers import Deadline
from precedes.engines.solver.logic import (
    Element,
    Linear,
    Proposition,
    Sort,
    both,
    compared,
    either,
    every,
    negated,
    same,
    some,
)
from precedes.engines.solver.structure import Cases, Happening, Kind, Log, Sharing, Structure, in_log, shares

Bindings = Mapping[Variable, Element]
Numbers = Iterable[tuple[Proposition, Linear]]
_LEAVES = (TimeOf, Position, Size, RecordedClock, VectorTime, AttributeOf)


class Translation:
    """The translation of one formula into one encoding. OutOfTime where the deadline passes on the way."""

    def __init__(self, structure: Structure, deadline: Deadline, with_epsilon: bool) -> None:
        self._structure = structure
        self._deadline = deadline
        self._with_epsilon = with_epsilon
        self._free = FreeVariables()
        self._known: dict[tuple[object, ...], Proposition] = {}

    def value(self, formula: Formula, want: bool, bindings: Bindings) -> Proposition:
        """The formula is certainly true (`want`), or certainly false."""
        elements = tuple(bindings[variable] for variable in self._free.of(formula))
        # Symbols are new at every binder: only numbers are met again.
        if not all(isinstance(element, int) for element in elements):
            return self._value(formula, want, bindings)
        key = (id(formula), want, elements)
        if key not in self._known:
            self._known[key] = self._value(formula, want, bindings)
        return self._known[key]

    def _value(self, formula: Formula, want: bool, bindings: Bindings) -> Proposition:
        match formula:
            case Not(body):
                return self.value(body, not want, bindings)
            case And(parts):
                return (every if want else some)(self.value(part, want, bindings) for part in parts)
            case Or(parts):
                return (some if want else every)(self.value(part, want, bindings) for part in parts)
            case Implies(left, right):
                premise = self.value(left, not want, bindings)
                return (either if want else both)(premise, self.value(right, want, bindings))
            case Iff(left, right):
                return either(
                    both(self.value(left, True, bindings), self.value(right, want, bindings)),
                    both(self.value(left, False, bindings), self.value(right, not want, bindings)),
                )
            case Forall(variable, extent, body):
                return self._binder(variable, extent, body, want, universal=True, bindings=bindings)
            case Exists(variable, extent, body):
                return self._binder(variable, extent, body, want, universal=False, bindings=bindings)
            case Acyclic():
                return self._acyclic(formula, want, bindings)
            case Per():
                raise AssertionError("a question has what is asked per value written out")
            case InFlight() | Acknowledged():
                return self._acknowledgement(formula, want, bindings)
            case Undetermined():
                return False
            case Comparison():
                return some(self._comparisons(formula, want, bindings))
            case HappensBefore(first, second) if _of_arrivals(formula):
                holds = self._atom(formula, bindings)
                others = [
                    self._exists(event, bindings) for event in (first, second) if not _of_arrivals(event)
                ]
                known = either(self._structure.arrivals_recorded(), *([] if want else map(negated, others)))
                return both(known, holds if want else negated(holds))
            case (
                Truth() | InLog() | Precedes() | Repeated() | Sent() | IsDestination() | SameEntity()
                | SameMessage() | SameText() | SamePart() | DeliveredAt() | DeliveredBefore() | SameDelivery()
                | Faulty() | HappensBefore() | FailureLine() | Quiescent()
            ):  # fmt: skip
                holds = self._atom(formula, bindings)
                return holds if want else negated(holds)
            case _:
                assert_never(formula)

    def _binder(
        self,
        variable: Variable,
        extent: Formula,
        body: Formula,
        want: bool,
        universal: bool,
        bindings: Bindings,
    ) -> Proposition:
        self._deadline.remaining()
        match variable:
            case EntityVariable():
                sort = Sort.ENTITY
            case MessageVariable():
                sort = Sort.MESSAGE
            case DeliveryVariable():
                sort = Sort.DELIVERY
            case _:
                assert_never(variable)
        everywhere = universal is want

        def instance(element: Element) -> Proposition:
            inner = {**bindings, variable: element}
            inside = self.value(extent, not everywhere, inner)
            if inside is everywhere:
                return everywhere
            judged = self.value(body, want, inner)
            return either(inside, judged) if everywhere else both(inside, judged)

        return self._structure.quantified(everywhere, sort, instance)

    def _acknowledgement(
        self, formula: InFlight | Acknowledged, want: bool, bindings: Bindings
    ) -> Proposition:
        """Unknown where none is recorded, but for deliveries that do not follow each other."""
        structure = self._structure
        known = structure.acknowledgements_recorded()
        match formula:
            case InFlight(delivery, at):
                one, other = self._delivery(delivery, bindings), self._delivery(at, bindings)
                flying = structure.in_flight(one, other)
                if want:
                    return both(known, flying)
                return either(negated(structure.delivered_before(one, other)), both(known, negated(flying)))
            case Acknowledged(message, entity):
                cases = list(_together(self._message(message, bindings), self._entity(entity, bindings)))
                there = some(both(*guards) for guards, _ in cases)
                done = some(both(*guards, structure.acknowledged(*pair)) for guards, pair in cases)
                return both(known, done) if want else either(negated(there), both(known, negated(done)))
            case _:
                assert_never(formula)

    def _acyclic(self, formula: Acyclic, want: bool, bindings: Bindings) -> Proposition:
        outer = [bindings[variable] for variable in self._free.of(formula)]

        def related(first: Element, second: Element, certain: bool) -> Proposition:
            inner = {**bindings, formula.first: first, formula.second: second}
            return self.value(formula.body, certain, inner)

        return self._structure.acyclic(want, outer, related)

    # ---- atoms ------------------------------------------------------------------------------------------

    def _atom(
        self,
        formula: Truth
        | InLog
        | Precedes
        | Repeated
        | Sent
        | IsDestination
        | SameEntity
        | SameMessage
        | SameText
        | SamePart
        | DeliveredAt
        | DeliveredBefore
        | SameDelivery
        | Faulty
        | HappensBefore
        | FailureLine
        | Quiescent,
        bindings: Bindings,
    ) -> Proposition:
        structure = self._structure
        match formula:
            case Truth(value):
                return value
            case Quiescent():
                return True
            case InLog() | Precedes() | Repeated():
                return self._of_logs(formula, bindings)
            case Sent(message):
                cases = self._message(message, bindings)
                return some(both(guard, structure.sent(element)) for guard, element in cases)
            case IsDestination(entity, message):
                return some(
                    both(*guards, structure.addressed(element, here))
                    for guards, (element, here) in _together(
                        self._message(message, bindings), self._entity(entity, bindings)
                    )
                )
            case SameEntity() | SameMessage():
                return self._same(formula, bindings)
            case SameText() | SamePart():
                return self._of_attributes(formula, bindings)
            case DeliveredAt() | DeliveredBefore() | SameDelivery():
                return self._of_deliveries(formula, bindings)
            case Faulty(entity):
                return some(
                    both(guard, structure.faulty(here)) for guard, here in self._entity(entity, bindings)
                )
            case HappensBefore(first, second):
                return some(
                    both(there, then, structure.happens_before(before, after))
                    for there, before in self._event(first, bindings)
                    for then, after in self._event(second, bindings)
                )
            case FailureLine():
                return structure.failure_line()
            case _:
                assert_never(formula)

    def _of_logs(self, formula: InLog | Precedes | Repeated, bindings: Bindings) -> Proposition:
        structure = self._structure
        match formula:
            case InLog(message, log):
                return some(
                    both(guard, there, in_log(structure, element, place))
                    for guard, element in self._message(message, bindings)
                    for there, place in self._log(log, bindings)
                )
            case Precedes(first, second, log):
                return some(
                    both(*guards, there, self._precedes(before, after, place))
                    for guards, (before, after) in _together(
                        self._message(first, bindings), self._message(second, bindings)
                    )
                    for there, place in self._log(log, bindings)
                )
            case Repeated(message, log):
                # A send repeated unchanged is one send.
                return some(
                    both(guard, there, structure.repeated(element, place.entity))
                    for guard, element in self._message(message, bindings)
                    for there, place in self._log(log, bindings)
                    if place.received
                )
            case _:
                assert_never(formula)

    def _of_attributes(self, formula: SameText | SamePart, bindings: Bindings) -> Proposition:
        match formula:
            case SameText(left, right):
                return some(
                    both(here, there, compared(one, Relation.EQUAL, other))
                    for (here, one), (there, other) in product(
                        list(self._text(left, bindings)), list(self._text(right, bindings))
                    )
                )
            case SamePart(message, part):
                return some(
                    both(guard, there, shares(self._structure, element, whose))
                    for guard, element in self._message(message, bindings)
                    for there, whose in self._part(part, bindings)
                )
            case _:
                assert_never(formula)

    def _of_deliveries(
        self, formula: DeliveredAt | DeliveredBefore | SameDelivery, bindings: Bindings
    ) -> Proposition:
        structure = self._structure
        match formula:
            case DeliveredAt(delivery, entity):
                receiver = structure.receiver_of(self._delivery(delivery, bindings))
                return some(
                    both(guard, same(here, receiver)) for guard, here in self._entity(entity, bindings)
                )
            case DeliveredBefore(earlier, later, entity):
                one, other = self._delivery(earlier, bindings), self._delivery(later, bindings)
                receiver = structure.receiver_of(one)
                return both(
                    structure.delivered_before(one, other),
                    some(both(guard, same(here, receiver)) for guard, here in self._entity(entity, bindings)),
                )
            case SameDelivery(made, again):
                return same(self._delivery(made, bindings), self._delivery(again, bindings))
            case _:
                assert_never(formula)

    def _same(self, formula: SameEntity | SameMessage, bindings: Bindings) -> Proposition:
        match formula:
            case SameEntity(left, right):
                cases = _together(self._entity(left, bindings), self._entity(right, bindings))
            case SameMessage(left, right):
                cases = _together(self._message(left, bindings), self._message(right, bindings))
            case _:
                assert_never(formula)
        return some(both(*guards, same(here, there)) for guards, (here, there) in cases)

    def _precedes(self, first: Element, second: Element, log: Log) -> Proposition:
        kind = Kind.DELIVERY if log.received else Kind.SEND
        before = self._structure.earlier(
            Happening(kind, first, log.entity), Happening(kind, second, log.entity)
        )
        if log.to is None:
            return before
        to = [self._structure.addressed(message, log.to) for message in (first, second)]
        return both(before, *to)

    # ---- terms ------------------------------------------------------------------------------------------

    def _entity(self, term: EntityTerm, bindings: Bindings) -> Cases:
        match term:
            case EntityVariable():
                return [(True, bindings[term])]
            case EntityNamed(name):
                return self._structure.entity_named(name)
            case Sender(message):
                return [
                    (both(guard, sends), sender)
                    for guard, element in self._message(message, bindings)
                    for sends, sender in self._structure.senders(element)
                ]
            case ReceiverOf(delivery):
                return [(True, self._structure.receiver_of(self._delivery(delivery, bindings)))]
            case _:
                assert_never(term)

    def _message(self, term: MessageTerm, bindings: Bindings) -> Cases:
        match term:
            case MessageVariable():
                return [(True, bindings[term])]
            case MessageNamed(name):
                return self._structure.message_named(name)
            case MessageOf(delivery):
                return [(True, self._structure.message_of(self._delivery(delivery, bindings)))]
            case _:
                assert_never(term)

    def _delivery(self, term: DeliveryTerm, bindings: Bindings) -> Element:
        match term:
            case DeliveryVariable():
                return bindings[term]
            case DeliveryNamed():
                raise AssertionError("no text names a delivery")
            case _:
                assert_never(term)

    def _log(self, term: LogTerm, bindings: Bindings) -> Iterator[tuple[Proposition, Log]]:
        match term:
            case ReceiptLog(entity):
                for guard, element in self._entity(entity, bindings):
                    yield guard, Log(True, element)
            case SendLog(entity, None):
                for guard, element in self._entity(entity, bindings):
                    yield guard, Log(False, element)
            case SendLog(entity, to):
                assert to is not None
                for guards, (element, there) in _together(
                    self._entity(entity, bindings), self._entity(to, bindings)
                ):
                    yield both(*guards), Log(False, element, there)
            case _:
                assert_never(term)

    def _event(self, term: EventTerm, bindings: Bindings) -> Iterator[tuple[Proposition, Happening]]:
        """The events that a term may stand for, each with the condition that it is the one and took place."""
        match term:
            case SendEvent(message):
                kind, places = Kind.SEND, None
            case DeliveryEvent(message, entity):
                kind, places = Kind.DELIVERY, self._entity(entity, bindings)
            case ArrivalEvent(message, entity):
                kind, places = Kind.ARRIVAL, self._entity(entity, bindings)
            case _:
                assert_never(term)
        for guard, element in self._message(message, bindings):
            for there, place in self._structure.senders(element) if places is None else places:
                event = Happening(kind, element, place)
                yield both(guard, there, self._structure.happened(event)), event

    def _exists(self, term: EventTerm, bindings: Bindings) -> Proposition:
        return some(guard for guard, _ in self._event(term, bindings))

    @overload
    def _part(self, part: Part, bindings: Bindings) -> Iterator[tuple[Proposition, Sharing]]: ...

    @overload
    def _part(
        self, part: Part | None, bindings: Bindings
    ) -> Iterator[tuple[Proposition, Sharing | None]]: ...

    def _part(self, part: Part | None, bindings: Bindings) -> Iterator[tuple[Proposition, Sharing | None]]:
        """The parts that a message may be in; the whole, where no part is meant."""
        if part is None:
            yield True, None
            return
        for guard, element in self._message(part.message, bindings):
            yield guard, Sharing(part.attributes, element)

    def _text(self, term: TextTerm, bindings: Bindings) -> Iterator[tuple[Proposition, Linear]]:
        match term:
            case Text(value):
                yield True, self._structure.text(value)
            case TextOf(attribute, message):
                for guard, element in self._message(message, bindings):
                    yield guard, self._structure.attribute(attribute, element)
            case DeliveryText(attribute, delivery):
                yield True, self._structure.delivery_attribute(attribute, self._delivery(delivery, bindings))
            case _:
                assert_never(term)

    # ---- numbers ----------------------------------------------------------------------------------------

    def _comparisons(self, formula: Comparison, want: bool, bindings: Bindings) -> Iterator[Proposition]:
        """The cases in which a comparison is certainly true, or false: what is undefined is false."""
        left, right = list(self._number(formula.left, bindings)), list(self._number(formula.right, bindings))
        recorded = self._structure.arrivals_recorded() if _of_arrivals(formula) else True
        timed = self._with_epsilon and any(isinstance(node, TimeOf | DeliveryTime) for node in walk(formula))
        defined: list[Proposition] = []
        for (here, one), (there, other) in product(left, right):
            guard = both(here, there)
            if guard is False:
                continue
            defined.append(guard)
            holds = compared(one, formula.relation, other)
            apart: Proposition = True
            if timed:
                epsilon = self._structure.epsilon()
                apart = either(
                    compared(one.plus(epsilon), Relation.AT_MOST, other),
                    compared(other.plus(epsilon), Relation.AT_MOST, one),
                )
            yield both(recorded, guard, apart, holds if want else negated(holds))
        if not want:
            yield both(recorded, negated(some(defined)))
            # What does not exist is false, whatever else is not known.
            yield from (
                negated(some(guard for guard, _ in self._number(leaf, bindings)))
                for leaf in walk(formula)
                if recorded is not True and isinstance(leaf, _LEAVES) and not _of_arrivals(leaf)
            )

    def _number(self, term: NumberTerm, bindings: Bindings) -> Numbers:
        structure = self._structure
        match term:
            case Constant(value, dimension):
                constant = Linear(Fraction(value))
                return [(True, constant if dimension is Dimension.NUMBER else structure.duration(constant))]
            case Delta():
                return [(True, structure.delta())]
            case Epsilon():
                return [(True, structure.epsilon())]
            case TimeOf(event):
                return [(guard, structure.time(found)) for guard, found in self._event(event, bindings)]
            case Position(message, log, part):
                return [
                    (
                        both(
                            guard,
                            there,
                            known,
                            in_log(structure, element, place),
                            _within(structure, element, whose),
                        ),
                        structure.position(element, place, whose),
                    )
                    for guard, element in self._message(message, bindings)
                    for there, place in self._log(log, bindings)
                    for known, whose in self._part(part, bindings)
                ]
            case Size(log, part):
                return [
                    (both(guard, known), structure.size(place, whose))
                    for guard, place in self._log(log, bindings)
                    for known, whose in self._part(part, bindings)
                ]
            case Nth(delivery):
                return [(True, structure.nth(self._delivery(delivery, bindings)))]
            case DeliveryTime(delivery):
                return [(True, structure.delivery_time(self._delivery(delivery, bindings)))]
            case DeliveryPosition():
                return list(self._delivery_position(term, bindings))
            case DeliveryAttribute(attribute, delivery):
                return [(True, structure.delivery_attribute(attribute, self._delivery(delivery, bindings)))]
            case AttributeOf(attribute, message):
                return [
                    (guard, structure.attribute(attribute, element))
                    for guard, element in self._message(message, bindings)
                ]
            case RecordedClock(event, entity):
                return [
                    (both(guard, there), structure.clock(found, of))
                    for guard, found in self._event(event, bindings)
                    for there, of in self._entity(entity, bindings)
                ]
            case VectorTime(event, entity):
                return [
                    (both(guard, there), structure.vector_time(found, of))
                    for guard, found in self._event(event, bindings)
                    for there, of in self._entity(entity, bindings)
                ]
            case Sum() | Difference() | Scaled():
                return self._arithmetic(term, bindings)
            case _:
                assert_never(term)

    def _delivery_position(self, term: DeliveryPosition, bindings: Bindings) -> Numbers:
        structure, made = self._structure, self._delivery(term.delivery, bindings)
        for guard, place in self._entity(term.entity, bindings):
            here = both(guard, same(structure.receiver_of(made), place))
            for known, whose in self._part(term.part, bindings):
                inside = _within(structure, structure.message_of(made), whose)
                yield both(here, known, inside), structure.delivery_position(made, whose)

    def _arithmetic(self, term: Sum | Difference | Scaled, bindings: Bindings) -> Numbers:
        match term:
            case Sum(left, right):
                return [
                    (both(here, there), one.plus(other))
                    for (here, one), (there, other) in product(
                        self._number(left, bindings), self._number(right, bindings)
                    )
                ]
            case Difference(left, right):
                return [
                    (both(here, there), one.minus(other))
                    for (here, one), (there, other) in product(
                        self._number(left, bindings), self._number(right, bindings)
                    )
                ]
            case Scaled(factor, scaled):
                return [(guard, value.times(factor)) for guard, value in self._number(scaled, bindings)]
            case _:
                assert_never(term)


def _within(structure: Structure, message: Element, part: Sharing | None) -> Proposition:
    return True if part is None else shares(structure, message, part)


def _of_arrivals(node: Node) -> bool:
    return any(isinstance(part, ArrivalEvent) for part in walk(node))


def _together(
    first: Cases, second: Cases
) -> Iterator[tuple[tuple[Proposition, Proposition], tuple[Element, Element]]]:
    for (here, one), (there, other) in product(first, second):
        yield (here, there), (one, other)
