"""The premise of a formula: what must be met for it to say anything.

Of `forall p, q in L: A implies B` that there are p and q in L of which A is true. A formula whose premise no execution
met has not been tested. Whether a premise is met can be judged like any other formula (`premise`). That it cannot be,
because what it speaks of is nowhere in a trace, follows at no cost from the kinds of things that were seen
(`possible`).
"""

from __future__ import annotations

from enum import Flag, auto
from typing import Final, assert_never

from precedes.formula import (
    TRUTH,
    Acyclic,
    And,
    ArrivalEvent,
    Comparison,
    DeliveryEvent,
    Difference,
    EntityTerm,
    EventTerm,
    Exists,
    Faulty,
    Forall,
    Formula,
    HappensBefore,
    Implies,
    InLog,
    IsDestination,
    LogTerm,
    Not,
    NumberTerm,
    Or,
    Position,
    Precedes,
    ReceiptLog,
    RecordedClock,
    Repeated,
    Requirement,
    Scaled,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Sum,
    TimeOf,
    Truth,
    VectorTime,
    conjunction,
)

PREMISE: Final = "premise of "
"""Before the name of a requirement: that of its premise. No requirement's text begins like this."""


class Seen(Flag):
    """Kinds of things that may occur in some executions: a message that somebody is known to have sent, a delivery."""

    SENT = auto()
    DELIVERED = auto()


NOTHING: Final = Seen(0)


def premise(formula: Formula) -> Formula:
    """A formula that is true where the premise of some part of the given one is met."""
    match formula:
        case Forall(variable, extent, body):
            return Exists(variable, extent, premise(body))
        case Not(Exists(variable, extent, body)):
            return Exists(variable, extent, premise(Not(body)))
        case Implies(left, right):
            return conjunction(left, premise(right))
        case And(parts):
            premises = tuple(dict.fromkeys(premise(part) for part in parts))
            if TRUTH in premises:
                return TRUTH
            return premises[0] if len(premises) == 1 else Or(premises)
        case Or(parts):
            # One part that holds of nothing makes the whole hold, whatever the others say.
            return conjunction(*dict.fromkeys(premise(part) for part in parts))
        case Acyclic(first, second, body):
            return Exists(first, TRUTH, Exists(second, TRUTH, body))
        case _:
            return TRUTH


def premise_of(requirement: Requirement) -> Requirement:
    """The premise of a requirement, under a name of its own."""
    return Requirement(PREMISE + requirement.name, premise(requirement.formula))


def possible(formula: Formula, seen: Seen) -> bool:
    """Whether a formula can be anything but false where no more than that was seen. It may be false all the same: only
    for want of what was not seen it is found to be.
    """
    match formula:
        case Truth(value):
            return value
        case And(parts):
            return all(possible(part, seen) for part in parts)
        case Or(parts):
            return any(possible(part, seen) for part in parts)
        case Exists(_, extent, body):
            return possible(extent, seen) and possible(body, seen)
        case InLog(_, log) | Precedes(_, _, log) | Repeated(_, log):
            return _in(log, seen)
        case Sent() | IsDestination():
            return Seen.SENT in seen
        case Faulty(entity):
            return _exists(entity, seen)
        case HappensBefore(first, second):
            return _happens(first, seen) and _happens(second, seen)
        case Comparison(_, left, right):
            return _defined(left, seen) and _defined(right, seen)
        case _:
            return True


def _in(log: LogTerm, seen: Seen) -> bool:
    match log:
        case SendLog():
            return Seen.SENT in seen
        case ReceiptLog(entity):
            return Seen.DELIVERED in seen and _exists(entity, seen)
        case _:
            assert_never(log)


def _happens(event: EventTerm, seen: Seen) -> bool:
    match event:
        case SendEvent():
            return Seen.SENT in seen
        case DeliveryEvent(_, entity):
            return Seen.DELIVERED in seen and _exists(entity, seen)
        case ArrivalEvent(_, entity):
            # Without any, what is asked of arrivals is unknown and not false.
            return _exists(entity, seen)
        case _:
            assert_never(event)


def _exists(entity: EntityTerm, seen: Seen) -> bool:
    return not isinstance(entity, Sender) or Seen.SENT in seen


def _defined(term: NumberTerm, seen: Seen) -> bool:
    match term:
        case TimeOf(event) | RecordedClock(event, _) | VectorTime(event, _):
            return _happens(event, seen)
        case Position(_, log):
            return _in(log, seen)
        case Sum(left, right) | Difference(left, right):
            return _defined(left, seen) and _defined(right, seen)
        case Scaled(_, inner):
            return _defined(inner, seen)
        case _:
            return True
