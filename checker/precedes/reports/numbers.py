"""Numbers, times and their comparisons in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, assert_never

from precedes.engines.reference.terms import Terms, Unknown
from precedes.formula import (
    ArrivalEvent,
    Comparison,
    Constant,
    DeliveryEvent,
    Delta,
    Difference,
    Dimension,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    Epsilon,
    EventTerm,
    LogTerm,
    MessageTerm,
    NumberTerm,
    Position,
    ReceiptLog,
    RecordedClock,
    Relation,
    Scaled,
    Sender,
    SendEvent,
    Size,
    Sum,
    TimeOf,
    VectorTime,
)
from precedes.language.names import shown
from precedes.reports.moments import Clock, duration_text
from precedes.verdict import TRUE

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
                return event_words(event) + self._known(term, Dimension.TIME)
            case Position(message, log):
                return f"the place of {message_name(message)} in {log_name(log)}" + self._known(term)
            case Size(log):
                return f"the size of {log_name(log)}" + self._known(term)
            case RecordedClock(event, entity):
                return f"the recorded clock of {event_words(event)} for {entity_name(entity)}" + self._known(
                    term
                )
            case VectorTime(event, entity):
                return (
                    f"the clock of {event_words(event)} for {entity_name(entity)} that the events imply"
                    + self._known(term)
                )
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


def event_words(event: EventTerm) -> str:
    """`the delivery of m at E1`."""
    match event:
        case SendEvent(message):
            return f"the send of {message_name(message)}"
        case DeliveryEvent(message, entity):
            return f"the delivery of {message_name(message)} at {entity_name(entity)}"
        case ArrivalEvent(message, entity):
            return f"the arrival of {message_name(message)} at {entity_name(entity)}"
        case _:
            assert_never(event)


def log_name(log: LogTerm) -> str:
    """`RL[E1]`, `SL[E1, E2]`, as the language writes them."""
    if isinstance(log, ReceiptLog):
        return f"RL[{entity_name(log.entity)}]"
    to = "" if log.to is None else f", {entity_name(log.to)}"
    return f"SL[{entity_name(log.entity)}{to}]"


def entity_name(entity: EntityTerm) -> str:
    """The name of an entity, or of the variable that stands for it."""
    match entity:
        case EntityNamed(name) | EntityVariable(name):
            return shown(name)
        case Sender(message):
            return f"the sender of {message_name(message)}"
        case _:
            assert_never(entity)


def message_name(message: MessageTerm) -> str:
    """The name of a message, or of the variable that stands for it."""
    return shown(message.name)
