"""What must occur for a formula to be anything but false: sends, deliveries, two messages, views, groups.

If a trace lacks the kinds of things that a premise needs, the premise cannot be met. That is cheap to find out.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import Final, assert_never

from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    ArrivalEvent,
    Atom,
    AttributeOf,
    Comparison,
    Constant,
    DeliveredAt,
    DeliveredBefore,
    DeliveryAttribute,
    DeliveryEvent,
    DeliveryPosition,
    DeliveryTerm,
    DeliveryTime,
    DeliveryVariable,
    Delta,
    Difference,
    EntityTerm,
    EntityVariable,
    Epsilon,
    EventTerm,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
    GroupNamed,
    GroupTerm,
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
    LogTerm,
    MessageVariable,
    Not,
    Nth,
    NumberTerm,
    Or,
    Per,
    Position,
    Precedes,
    Quiescent,
    ReceiptLog,
    RecordedClock,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Scaled,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Size,
    Sum,
    TimeOf,
    Truth,
    Undetermined,
    Variable,
    VectorTime,
    ViewNamed,
    ViewNumber,
    ViewOf,
    ViewTerm,
    ViewVariable,
)


class Seen(Flag):
    """Kinds of things that may occur in some execution: a message that somebody is known to have sent, a delivery, two
    messages, an entity that delivers two, a view that somebody installs, a group.
    """

    SENT = auto()
    DELIVERED = auto()
    TWO_MESSAGES = auto()
    TWO_DELIVERIES = auto()
    VIEW = auto()
    GROUP = auto()


NOTHING: Final = Seen(0)
EVERYTHING: Final = ~NOTHING

_WORDS: Final = {
    Seen.SENT: ("a send", NOTHING),
    Seen.DELIVERED: ("a delivery", NOTHING),
    Seen.TWO_MESSAGES: ("two messages", NOTHING),
    Seen.TWO_DELIVERIES: ("an entity that delivers two messages", Seen.DELIVERED | Seen.TWO_MESSAGES),
    Seen.VIEW: ("a view", NOTHING),
    Seen.GROUP: ("a group", NOTHING),
}
"""The kinds in words; what goes without saying where one of some others is missing."""


def in_words(missing: Seen) -> str:
    """Some kinds of things as what is missing: `a send or a delivery`; empty for none."""
    return " or ".join(
        words for kind, (words, instead) in _WORDS.items() if kind in missing and not instead & missing
    )


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
        case Exists(variable, extent, body):
            return _ranging(variable) in seen and possible(extent, seen) and possible(body, seen)
        case Not(SameMessage(MessageVariable(), MessageVariable())):
            return Seen.TWO_MESSAGES in seen
        case (
            InLog() | Precedes() | Repeated() | Sent() | IsDestination() | SameEntity() | SameMessage()
            | SameText() | SamePart() | Faulty() | HappensBefore() | Comparison()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return needed(formula) in seen
        case (
            Undetermined() | FailureLine() | Quiescent() | Not() | Implies() | Iff() | Forall() | Acyclic() | Per()
        ):  # fmt: skip
            # These may be true for want of something.
            return True
        case _:
            assert_never(formula)


def lacking(formula: Formula, seen: Seen) -> Seen:
    """Which kinds of things that were not seen a formula cannot do without; nothing where it can be true as it is, or
    cannot be true at all.
    """
    if possible(formula, seen):
        return NOTHING
    missing = NOTHING
    for kind in Seen:
        if kind not in seen and not possible(formula, EVERYTHING & ~kind) and possible(formula, EVERYTHING):
            missing |= kind
    return missing


def needed(atom: Atom) -> Seen:
    """What must occur for an atom to be anything but false."""
    match atom:
        case InLog(_, log) | Repeated(_, log):
            return _in(log)
        case Precedes(_, _, log):
            two = Seen.TWO_MESSAGES
            return _in(log) | (two | Seen.TWO_DELIVERIES if isinstance(log, ReceiptLog) else two)
        case Sent() | IsDestination():
            return Seen.SENT
        case DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight():
            return Seen.DELIVERED
        case Acknowledged(_, entity):
            return _exists(entity)
        case Faulty(entity):
            return _exists(entity)
        case IsMember(entity, members_of):
            return _exists(entity) | _with_members(members_of)
        case AddressedTo():
            return Seen.SENT | Seen.GROUP
        case SameGroup():
            return Seen.GROUP
        case Installs(entity, view) | InstallsAgain(entity, view):
            return _exists(entity) | _with_members(view)
        case InstallsBefore(first_view, second_view, entity):
            return _exists(entity) | _with_members(first_view) | _with_members(second_view)
        case SameView(left_view, right_view):
            return _with_members(left_view) | _with_members(right_view)
        case HappensBefore(first, second):
            # Nothing of a message happens before its send.
            several = isinstance(second, SendEvent) and not isinstance(first, ArrivalEvent)
            return _happens(first) | _happens(second) | (Seen.TWO_MESSAGES if several else NOTHING)
        case Comparison(_, left, right):
            return _measured(left) | _measured(right)
        case (
            Truth() | Undetermined() | FailureLine() | Quiescent() | SameEntity() | SameMessage() | SameText()
            | SamePart()
        ):  # fmt: skip
            return NOTHING
        case _:
            assert_never(atom)


def _ranging(variable: Variable) -> Seen:
    """What must occur for a quantifier to have something in its range."""
    match variable:
        case GroupVariable():
            return Seen.GROUP
        case ViewVariable():
            return Seen.VIEW
        case EntityVariable() | MessageVariable() | DeliveryVariable():
            return NOTHING
        case _:
            assert_never(variable)


def _with_members(term: GroupTerm | ViewTerm) -> Seen:
    match term:
        case GroupVariable() | GroupNamed():
            return Seen.GROUP
        case ViewVariable() | ViewNamed():
            return Seen.VIEW
        case ViewOf(event):
            return Seen.VIEW | (Seen.DELIVERED if isinstance(event, DeliveryTerm) else _happens(event))
        case _:
            assert_never(term)


def _in(log: LogTerm) -> Seen:
    match log:
        case SendLog():
            return Seen.SENT
        case ReceiptLog(entity):
            return Seen.DELIVERED | _exists(entity)
        case _:
            assert_never(log)


def _happens(event: EventTerm) -> Seen:
    match event:
        case SendEvent():
            return Seen.SENT
        case DeliveryEvent(_, entity):
            return Seen.DELIVERED | _exists(entity)
        case ArrivalEvent(_, entity):
            # Without any, what is asked of arrivals is unknown and not false.
            return _exists(entity)
        case _:
            assert_never(event)


def _exists(entity: EntityTerm) -> Seen:
    return Seen.SENT if isinstance(entity, Sender) else NOTHING


def _measured(term: NumberTerm) -> Seen:
    match term:
        case TimeOf(event) | RecordedClock(event, _) | VectorTime(event, _):
            return _happens(event)
        case Position(_, log):
            return _in(log)
        case Sum(left, right) | Difference(left, right):
            return _measured(left) | _measured(right)
        case Scaled(_, inner):
            return _measured(inner)
        case ViewNumber(view):
            return _with_members(view)
        case Nth() | DeliveryTime() | DeliveryPosition() | DeliveryAttribute():
            return Seen.DELIVERED
        case Size() | AttributeOf() | Constant() | Delta() | Epsilon():
            return NOTHING
        case _:
            assert_never(term)
