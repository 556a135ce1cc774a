"""When a formula is to be judged, and whether a violation of it can be undone by what is delivered later.

A formula asks for something to be done where, under its quantifiers and premises, a message must be in a receipt log.
It is judged where nothing is under way; until then it may still be done. Of the others many are broken for good once
they are broken: receipt logs only grow at their ends, and what happened before an event does not change after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, assert_never

from precedes.formula import (
    Acyclic,
    And,
    ArrivalEvent,
    Comparison,
    Constant,
    DeliveryEvent,
    Delta,
    Difference,
    EntityTerm,
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
    InLog,
    IsDestination,
    LogTerm,
    MessageTerm,
    Not,
    NumberTerm,
    Or,
    Position,
    Precedes,
    ReceiptLog,
    RecordedClock,
    Repeated,
    SameEntity,
    SameMessage,
    Scaled,
    SendEvent,
    Sent,
    Size,
    Sum,
    TimeOf,
    Truth,
    Undetermined,
    Variable,
    VectorTime,
)

Known: TypeAlias = frozenset[tuple[MessageTerm, EntityTerm]]
"""What has been delivered at whom, where a formula is looked at."""

NOTHING: Final[Known] = frozenset()


def at_rest_only(formula: Formula) -> bool:
    """Whether the formula asks for deliveries."""
    match formula:
        case InLog(_, ReceiptLog()):
            return True
        case Forall(_, _, body) | Exists(_, _, body):
            return at_rest_only(body)
        case Implies(_, right):
            return at_rest_only(right)
        case And(parts):
            return any(map(at_rest_only, parts))
        case Or(parts):
            return all(map(_plain, parts)) and any(map(at_rest_only, parts))
        case _:
            return False


def _plain(formula: Formula) -> bool:
    """Without a quantifier over everything: prefix_order says of two logs that one or the other is longer."""
    match formula:
        case Forall():
            return False
        case And(parts) | Or(parts):
            return all(map(_plain, parts))
        case Not(body):
            return _plain(body)
        case _:
            return True


def stays_false(formula: Formula, known: Known = NOTHING) -> bool:
    """Whether the formula, once it is false, is false after any further deliveries, nothing being sent any more.

    False where that cannot be seen from how it is built.
    """
    match formula:
        case Not(body):
            return stays_true(body, known)
        case And(parts) | Or(parts):
            return all(stays_false(part, known) for part in parts)
        case Implies(left, right):
            return stays_true(left, known) and stays_false(right, known | _told(left))
        case Iff(left, right):
            return all(stays(side, known) for side in (left, right) for stays in (stays_true, stays_false))
        case Forall(variable, extent, body):
            inside = _without(known, variable)
            return stays_true(extent, inside) and stays_false(body, inside | _told(extent))
        case Exists(variable, extent, body):
            inside = _without(known, variable)
            return stays_false(extent, inside) and stays_false(body, inside | _told(extent))
        case Acyclic(first, second, body):
            return stays_true(body, _without(_without(known, first), second))
        case InLog(message, ReceiptLog(entity)):
            return (message, entity) in known
        case Precedes(_, second, ReceiptLog(entity)):
            # What is delivered after the second can no more come before it.
            return (second, entity) in known
        case Repeated(_, log):
            return not isinstance(log, ReceiptLog)
        case HappensBefore(first, second):
            return _has_happened(first, known) and _has_happened(second, known)
        case Comparison(left=left, right=right):
            return all(_settled(term) and _exists(term, known) for term in (left, right))
        case FailureLine() | Faulty():
            return False
        case InLog() | Precedes() | Truth() | Undetermined() | Sent() | IsDestination():
            return True
        case SameEntity() | SameMessage():
            return True
        case _:
            assert_never(formula)


def stays_true(formula: Formula, known: Known = NOTHING) -> bool:
    """Whether the formula, once it is true, is true after any further deliveries, nothing being sent any more."""
    match formula:
        case Not(body):
            return stays_false(body, known)
        case And(parts) | Or(parts):
            return all(stays_true(part, known) for part in parts)
        case Implies(left, right):
            return stays_false(left, known) and stays_true(right, known)
        case Iff(left, right):
            return all(stays(side, known) for side in (left, right) for stays in (stays_true, stays_false))
        case Forall(variable, extent, body):
            inside = _without(known, variable)
            return stays_false(extent, inside) and stays_true(body, inside)
        case Exists(variable, extent, body):
            inside = _without(known, variable)
            return stays_true(extent, inside) and stays_true(body, inside | _told(extent))
        case Acyclic(first, second, body):
            return stays_false(body, _without(_without(known, first), second))
        case Comparison(left=left, right=right):
            return _settled(left) and _settled(right)
        case FailureLine() | Faulty():
            return False
        case InLog() | Precedes() | Repeated() | HappensBefore() | Truth() | Undetermined() | Sent():
            return True
        case IsDestination() | SameEntity() | SameMessage():
            return True
        case _:
            assert_never(formula)


def _told(formula: Formula) -> Known:
    """What has been delivered where the formula is true."""
    match formula:
        case And(parts):
            return NOTHING.union(*map(_told, parts))
        case InLog(message, ReceiptLog(entity)):
            return frozenset({(message, entity)})
        case Precedes(first, second, ReceiptLog(entity)):
            return frozenset({(first, entity), (second, entity)})
        case HappensBefore(first, second):
            return frozenset(
                (event.message, event.entity) for event in (first, second) if isinstance(event, DeliveryEvent)
            )
        case _:
            return NOTHING


def _without(known: Known, variable: Variable) -> Known:
    """What is known when a name has been given to something else."""
    return frozenset(fact for fact in known if variable not in _terms(fact))


def _terms(fact: tuple[MessageTerm, EntityTerm]) -> Iterator[MessageTerm | EntityTerm]:
    message, entity = fact
    yield message
    yield entity
    inner = getattr(entity, "message", None)
    if inner is not None:
        yield inner


def _has_happened(event: EventTerm, known: Known) -> bool:
    match event:
        case SendEvent():
            return True
        case DeliveryEvent(message, entity):
            return (message, entity) in known
        case ArrivalEvent():
            return False
        case _:
            assert_never(event)


def _settled(term: NumberTerm) -> bool:
    """Whether a number stays what it is once it is there."""
    match term:
        case Size(log):
            return not isinstance(log, ReceiptLog)
        case Sum(left, right) | Difference(left, right):
            return _settled(left) and _settled(right)
        case Scaled(_, inner):
            return _settled(inner)
        case Constant() | Delta() | Epsilon() | TimeOf() | Position() | RecordedClock() | VectorTime():
            return True
        case _:
            assert_never(term)


def _exists(term: NumberTerm, known: Known) -> bool:
    match term:
        case TimeOf(event) | RecordedClock(event, _) | VectorTime(event, _):
            return _has_happened(event, known)
        case Position(message, log):
            return _in(message, log, known)
        case Sum(left, right) | Difference(left, right):
            return _exists(left, known) and _exists(right, known)
        case Scaled(_, inner):
            return _exists(inner, known)
        case Constant() | Delta() | Epsilon() | Size():
            return True
        case _:
            assert_never(term)


def _in(message: MessageTerm, log: LogTerm, known: Known) -> bool:
    return not isinstance(log, ReceiptLog) or (message, log.entity) in known
