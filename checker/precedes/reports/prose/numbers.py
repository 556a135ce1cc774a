"""Numbers, times and their comparisons in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

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
    ViewNamed,
    ViewNumber,
)
from precedes.core.verdict import TRUE
from precedes.engines.reference.terms import Terms, Unknown
from precedes.reports.prose.identifiers import Identifiers, log_text
from precedes.reports.prose.times import Clock, duration_text

_TIME_WORDS: Final = {
    (Relation.AT_MOST, True): "is no later than",
    (Relation.AT_MOST, False): "is later than",
    (Relation.LESS, True): "is before",
    (Relation.LESS, False): "is not before",
    (Relation.EQUAL, True): "is",
    (Relation.EQUAL, False): "is not",
}
_NUMBER_WORDS: Final = {
    (Relation.AT_MOST, True): "is at most",
    (Relation.AT_MOST, False): "is more than",
    (Relation.LESS, True): "is less than",
    (Relation.LESS, False): "is not less than",
    (Relation.EQUAL, True): "is",
    (Relation.EQUAL, False): "is not",
}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Puts the numbers of one execution in words, each with its value."""

    terms: Terms
    clock: Clock
    ids: Identifiers

    def comparison(self, atom: Comparison, value: int) -> str:
        """A comparison that came out true or false."""
        for term in (atom.left, atom.right):
            if self.terms.number(term) is None:
                return f"there is no such thing as {self.number(term)}"
        words = _TIME_WORDS if atom.dimension is Dimension.TIME else _NUMBER_WORDS
        return f"{self.number(atom.left)} {words[atom.relation, value == TRUE]} {self.number(atom.right)}"

    def number(self, term: NumberTerm) -> str:
        """A term, and its value where it is no constant."""
        match term:
            case Constant(value, dimension):
                return self._value(value, dimension)
            case Delta():
                return "delta" + self._known(term, Dimension.DURATION)
            case Epsilon():
                return "epsilon" + self._known(term, Dimension.DURATION)
            case TimeOf(event):
                return self.ids.of_event(event) + self._known(term, Dimension.TIME)
            case Position(message, log):
                return f"the place of {self.ids.of_message(message)} in {log_text(log)}" + self._known(term)
            case Size(log):
                return f"the size of {log_text(log)}" + self._known(term)
            case RecordedClock(event, entity):
                return (
                    f"the recorded clock of {self.ids.of_event(event)} for {self.ids.of_entity(entity)}"
                    + self._known(term)
                )
            case VectorTime(event, entity):
                return (
                    f"the clock of {self.ids.of_event(event)} for {self.ids.of_entity(entity)} that the events imply"
                    + self._known(term)
                )
            case Nth(delivery):
                return f"the number of {self.ids.of_delivery(delivery)}" + self._known(term)
            case DeliveryTime(delivery):
                return self.ids.of_delivery(delivery) + self._known(term, Dimension.TIME)
            case DeliveryPosition(delivery, entity):
                made = f"all deliveries of {self.ids.of_entity(entity)}"
                return f"the place of {self.ids.of_delivery(delivery)} among {made}" + self._known(term)
            case DeliveryAttribute(attribute, delivery):
                dimension = Dimension(attribute.sort.value)
                return f"{attribute.name} of {self.ids.of_delivery(delivery)}" + self._known(term, dimension)
            case AttributeOf(attribute, message):
                dimension = Dimension(attribute.sort.value)
                return f"{attribute.name} of {self.ids.of_message(message)}" + self._known(term, dimension)
            case ViewNumber(view):
                # The id of a named view says its number.
                known = "" if isinstance(view, ViewNamed) else self._known(term)
                return f"the number of {self.ids.of_view(view)}{known}"
            case Sum(left, right):
                return f"{self.number(left)} + {self.number(right)}"
            case Difference(left, right):
                return f"{self.number(left)} - {self.number(right)}"
            case Scaled(factor, scaled):
                return f"{factor} * {self.number(scaled)}"
            case _:
                assert_never(term)

    def _known(self, term: NumberTerm, dimension: Dimension = Dimension.NUMBER) -> str:
        value = self.terms.number(term)
        return "" if value is None or isinstance(value, Unknown) else f" ({self._value(value, dimension)})"

    def _value(self, value: int | Fraction, dimension: Dimension) -> str:
        match dimension:
            case Dimension.TIME:
                return self.clock.text(value)
            case Dimension.DURATION:
                return duration_text(value)
            case Dimension.NUMBER:
                return str(value)
            case _:
                assert_never(dimension)
