"""Formulas as propositions: when a formula is certainly true, and when it is certainly false.

The two are translated separately (`want`), because a formula may be neither: a comparison may be closer than
epsilon, or this version may not be able to judge a statement. If a formula has no such part, one is the
negation of the other. An encoding may replace `acyclic` with something weaker. No translation is ever negated
here, so the whole is then weaker, too, and a proof stays sound.
"""

from __future__ import annotations

from itertools import product
from typing import assert_never

from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryVariable,
    EntityVariable,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
    GroupVariable,
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
    MessageVariable,
    Not,
    Or,
    Per,
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
    Sent,
    Truth,
    Undetermined,
    Variable,
    ViewVariable,
)
from precedes.core.traversal import FreeVariables
from precedes.engines.solver.answers import Deadline
from precedes.engines.solver.logic import (
    Element,
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
from precedes.engines.solver.membership import Membership
from precedes.engines.solver.quantities import Quantities
from precedes.engines.solver.structure import Happening, Kind, Log, Structure, in_log, shares
from precedes.engines.solver.term_cases import Bindings, TermCases, of_arrivals, together


class Translation:
    """The translation of one formula into one encoding. OutOfTime where the deadline passes on the way."""

    def __init__(self, structure: Structure, deadline: Deadline, with_epsilon: bool) -> None:
        self._structure = structure
        self._deadline = deadline
        self._terms = TermCases(structure)
        self._quantities = Quantities(structure, self._terms, with_epsilon)
        self._membership = Membership(structure, self._terms)
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
                return some(self._quantities.comparisons(formula, want, bindings))
            case HappensBefore(first, second) if of_arrivals(formula):
                holds = self._atom(formula, bindings)
                others = [
                    self._terms.exists(event, bindings) for event in (first, second) if not of_arrivals(event)
                ]
                known = either(self._structure.arrivals_recorded(), *([] if want else map(negated, others)))
                return both(known, holds if want else negated(holds))
            case (
                IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                known = self._structure.arrivals_recorded() if of_arrivals(formula) else True
                holds = self._membership.holds(formula, bindings)
                return both(known, holds if want else negated(holds))
            case IsDestination():
                return self._destination(formula, want, bindings)
            case (
                Truth() | InLog() | Precedes() | Repeated() | Sent() | SameEntity()
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
            case GroupVariable():
                sort = Sort.GROUP
            case ViewVariable():
                sort = Sort.VIEW
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

    def _destination(self, formula: IsDestination, want: bool, bindings: Bindings) -> Proposition:
        """Unknown of those who are in a group that the message is addressed to."""
        structure = self._structure
        cases = list(
            together(
                self._terms.message(formula.message, bindings), self._terms.entity(formula.entity, bindings)
            )
        )
        if want:
            return some(both(*guards, structure.addressed(*pair)) for guards, pair in cases)
        return negated(
            some(
                both(*guards, either(structure.addressed(*pair), structure.chosen(*pair)))
                for guards, pair in cases
            )
        )

    def _acknowledgement(
        self, formula: InFlight | Acknowledged, want: bool, bindings: Bindings
    ) -> Proposition:
        """Unknown where none is recorded, but for deliveries that do not follow each other."""
        structure = self._structure
        known = structure.acknowledgements_recorded()
        match formula:
            case InFlight(delivery, at):
                one, other = self._terms.delivery(delivery, bindings), self._terms.delivery(at, bindings)
                flying = structure.in_flight(one, other)
                if want:
                    return both(known, flying)
                return either(negated(structure.delivered_before(one, other)), both(known, negated(flying)))
            case Acknowledged(message, entity):
                cases = list(
                    together(self._terms.message(message, bindings), self._terms.entity(entity, bindings))
                )
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
                cases = self._terms.message(message, bindings)
                return some(both(guard, structure.sent(element)) for guard, element in cases)
            case SameEntity() | SameMessage():
                return self._same(formula, bindings)
            case SameText() | SamePart():
                return self._of_attributes(formula, bindings)
            case DeliveredAt() | DeliveredBefore() | SameDelivery():
                return self._of_deliveries(formula, bindings)
            case Faulty(entity):
                return some(
                    both(guard, structure.faulty(here))
                    for guard, here in self._terms.entity(entity, bindings)
                )
            case HappensBefore(first, second):
                return some(
                    both(there, then, structure.happens_before(before, after))
                    for there, before in self._terms.event(first, bindings)
                    for then, after in self._terms.event(second, bindings)
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
                    for guard, element in self._terms.message(message, bindings)
                    for there, place in self._terms.log(log, bindings)
                )
            case Precedes(first, second, log):
                return some(
                    both(*guards, there, self._precedes(before, after, place))
                    for guards, (before, after) in together(
                        self._terms.message(first, bindings), self._terms.message(second, bindings)
                    )
                    for there, place in self._terms.log(log, bindings)
                )
            case Repeated(message, log):
                # A send repeated unchanged is one send.
                return some(
                    both(guard, there, structure.repeated(element, place.entity))
                    for guard, element in self._terms.message(message, bindings)
                    for there, place in self._terms.log(log, bindings)
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
                        list(self._terms.text(left, bindings)), list(self._terms.text(right, bindings))
                    )
                )
            case SamePart(message, part):
                return some(
                    both(guard, there, shares(self._structure, element, whose))
                    for guard, element in self._terms.message(message, bindings)
                    for there, whose in self._terms.part(part, bindings)
                )
            case _:
                assert_never(formula)

    def _of_deliveries(
        self, formula: DeliveredAt | DeliveredBefore | SameDelivery, bindings: Bindings
    ) -> Proposition:
        structure = self._structure
        match formula:
            case DeliveredAt(delivery, entity):
                receiver = structure.receiver_of(self._terms.delivery(delivery, bindings))
                return some(
                    both(guard, same(here, receiver)) for guard, here in self._terms.entity(entity, bindings)
                )
            case DeliveredBefore(earlier, later, entity):
                one, other = self._terms.delivery(earlier, bindings), self._terms.delivery(later, bindings)
                receiver = structure.receiver_of(one)
                return both(
                    structure.delivered_before(one, other),
                    some(
                        both(guard, same(here, receiver))
                        for guard, here in self._terms.entity(entity, bindings)
                    ),
                )
            case SameDelivery(made, again):
                return same(self._terms.delivery(made, bindings), self._terms.delivery(again, bindings))
            case _:
                assert_never(formula)

    def _same(self, formula: SameEntity | SameMessage, bindings: Bindings) -> Proposition:
        match formula:
            case SameEntity(left, right):
                cases = together(self._terms.entity(left, bindings), self._terms.entity(right, bindings))
            case SameMessage(left, right):
                cases = together(self._terms.message(left, bindings), self._terms.message(right, bindings))
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
