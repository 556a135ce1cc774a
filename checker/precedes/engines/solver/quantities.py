"""Numbers and times as linear sums, and when a comparison of two is certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import assert_never

from precedes.core.formula import (
    AttributeOf,
    Comparison,
    Constant,
    DeliveryAttribute,
    DeliveryPosition,
    DeliveryTime,
    Delta,
    Difference,
    Dimension,
    Epsilon,
    Nth,
    NumberTerm,
    Position,
    RecordedClock,
    Relation,
    Scaled,
    Size,
    Sum,
    TimeOf,
    VectorTime,
    ViewNumber,
)
from precedes.core.traversal import walk
from precedes.engines.solver.logic import (
    Element,
    Linear,
    Proposition,
    both,
    compared,
    either,
    every,
    implied,
    negated,
    same,
    some,
)
from precedes.engines.solver.structure import Sharing, Structure, in_log, shares
from precedes.engines.solver.term_cases import Bindings, TermCases, of_arrivals
from precedes.logic.linear_forms import Measure, is_time

Numbers = Iterable[tuple[Proposition, Linear]]
_LEAVES = (TimeOf, Position, Size, RecordedClock, VectorTime, AttributeOf, ViewNumber)


class Quantities:
    """The numbers of a formula in one encoding."""

    def __init__(self, structure: Structure, terms: TermCases, with_epsilon: bool) -> None:
        self._structure = structure
        self._terms = terms
        self._with_epsilon = with_epsilon

    def comparisons(self, formula: Comparison, want: bool, bindings: Bindings) -> Iterator[Proposition]:
        """The cases in which a comparison is certainly true, or false: what is undefined is false."""
        left, right = list(self._number(formula.left, bindings)), list(self._number(formula.right, bindings))
        recorded = self._structure.arrivals_recorded() if of_arrivals(formula) else True
        numbered = self._are_numbered(formula, bindings)
        timed = self._with_epsilon and any(
            isinstance(node, Measure) and is_time(node) for node in walk(formula)
        )
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
            yield both(recorded, numbered, guard, apart, holds if want else negated(holds))
        if not want:
            yield both(recorded, negated(some(defined)))
            # What does not exist is false, whatever else is not known.
            yield from (
                negated(some(guard for guard, _ in self._number(leaf, bindings)))
                for leaf in walk(formula)
                if recorded is not True and isinstance(leaf, _LEAVES) and not of_arrivals(leaf)
            )

    def _are_numbered(self, formula: Comparison, bindings: Bindings) -> Proposition:
        """The views whose numbers are compared have one."""
        return every(
            implied(there, self._structure.is_numbered(view))
            for node in walk(formula)
            if isinstance(node, ViewNumber)
            for there, view in self._terms.view(node.view, bindings)
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
                return [(guard, structure.time(found)) for guard, found in self._terms.event(event, bindings)]
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
                    for guard, element in self._terms.message(message, bindings)
                    for there, place in self._terms.log(log, bindings)
                    for known, whose in self._terms.part(part, bindings)
                ]
            case Size(log, part):
                return [
                    (both(guard, known), structure.size(place, whose))
                    for guard, place in self._terms.log(log, bindings)
                    for known, whose in self._terms.part(part, bindings)
                ]
            case Nth(delivery):
                return [(True, structure.nth(self._terms.delivery(delivery, bindings)))]
            case DeliveryTime(delivery):
                return [(True, structure.delivery_time(self._terms.delivery(delivery, bindings)))]
            case DeliveryPosition():
                return list(self._delivery_position(term, bindings))
            case DeliveryAttribute(attribute, delivery):
                made = self._terms.delivery(delivery, bindings)
                return [(True, structure.delivery_attribute(attribute, made))]
            case AttributeOf(attribute, message):
                return [
                    (guard, structure.attribute(attribute, element))
                    for guard, element in self._terms.message(message, bindings)
                ]
            case ViewNumber(view):
                return [
                    (guard, structure.view_number(element))
                    for guard, element in self._terms.view(view, bindings)
                ]
            case RecordedClock(event, entity):
                return [
                    (both(guard, there), structure.clock(found, of))
                    for guard, found in self._terms.event(event, bindings)
                    for there, of in self._terms.entity(entity, bindings)
                ]
            case VectorTime(event, entity):
                return [
                    (both(guard, there), structure.vector_time(found, of))
                    for guard, found in self._terms.event(event, bindings)
                    for there, of in self._terms.entity(entity, bindings)
                ]
            case Sum() | Difference() | Scaled():
                return self._arithmetic(term, bindings)
            case _:
                assert_never(term)

    def _delivery_position(self, term: DeliveryPosition, bindings: Bindings) -> Numbers:
        structure, made = self._structure, self._terms.delivery(term.delivery, bindings)
        for guard, place in self._terms.entity(term.entity, bindings):
            here = both(guard, same(structure.receiver_of(made), place))
            for known, whose in self._terms.part(term.part, bindings):
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
