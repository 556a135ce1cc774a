"""Whether later deliveries can undo a violation.

Many formulas stay false once they are false: receipt logs grow only at their ends, and what happened before
an event does not change after it. This decides which states a search may leave out, and never a verdict. If
the structure of a formula does not show that its violations are permanent, the search visits every state.
"""

from __future__ import annotations

from typing import Final, TypeAlias, assert_never

from precedes.core.formula import (
    TRUTH,
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    ArrivalEvent,
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
    MessageNamed,
    MessageTerm,
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
    SendEvent,
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
from precedes.core.mode import judged
from precedes.core.traversal import walk
from precedes.logic.parts import written_out

Known: TypeAlias = frozenset[tuple[MessageTerm, EntityTerm]]
"""What has been delivered at whom, where a formula is looked at."""

NOTHING: Final[Known] = frozenset()


def permanent(formula: Formula) -> bool:
    """Whether a violation is there in every later state, whatever is delivered or sent. False where that cannot be seen
    from how the formula is built.
    """
    return _asks_of_sent(formula) and stays_false(formula)


def _asks_of_sent(formula: Formula, *, positive: bool = True) -> bool:
    """Whether the formula asks only of messages that were sent, and says nothing of how many there are: then one that
    is sent later makes nothing true that was false.
    """
    match formula:
        case Not(body):
            return _asks_of_sent(body, positive=not positive)
        case And(parts) | Or(parts):
            return all(_asks_of_sent(part, positive=positive) for part in parts)
        case Implies(left, right):
            return _asks_of_sent(left, positive=not positive) and _asks_of_sent(right, positive=positive)
        case Forall(variable, extent, body):
            fitting = isinstance(variable, EntityVariable) or (
                positive and isinstance(variable, MessageVariable)
            )
            return (
                fitting
                and _asks_of_sent(extent, positive=not positive)
                and _asks_of_sent(body, positive=positive)
            )
        case Exists(variable, extent, body):
            fitting = isinstance(variable, EntityVariable) or (
                not positive and isinstance(variable, MessageVariable)
            )
            return fitting and all(_asks_of_sent(part, positive=positive) for part in (extent, body))
        case Iff(left, right):
            return all(
                _asks_of_sent(side, positive=either) for side in (left, right) for either in (True, False)
            )
        case Acyclic(_, _, body):
            return positive and _asks_of_sent(body, positive=False)
        case (
            Truth() | InLog() | Precedes() | IsDestination() | SameEntity() | SameMessage() | HappensBefore()
            | Repeated() | Sent()
        ):  # fmt: skip
            return not _names_a_message(formula)
        case Comparison(left=left, right=right):
            return _is_given(left) and _is_given(right) and not _names_a_message(formula)
        case (
            Per() | Quiescent() | Undetermined() | SameText() | SamePart() | Faulty() | DeliveredAt()
            | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged() | FailureLine() | IsMember()
            | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return False
        case _:
            assert_never(formula)


def _names_a_message(formula: Formula) -> bool:
    """Whether the formula speaks of a message by its name, which may be sent later."""
    return any(isinstance(node, MessageNamed) for node in walk(formula))


def _is_given(term: NumberTerm) -> bool:
    """Whether a number is given with an event or a message, and does not count what there is in all."""
    match term:
        case Sum(left, right) | Difference(left, right):
            return _is_given(left) and _is_given(right)
        case Scaled(_, inner):
            return _is_given(inner)
        case Position(part=part):
            return part is None
        case Constant() | Delta() | Epsilon() | TimeOf() | RecordedClock() | VectorTime() | AttributeOf():
            return True
        case Size() | Nth() | DeliveryTime() | DeliveryPosition() | DeliveryAttribute() | ViewNumber():
            return False
        case _:
            assert_never(term)


def lasts(formula: Formula) -> bool:
    """Whether a violation is there in the end, once everything that is in flight has come in: a state on the way that
    violates the formula leads to a quiescent one that does. False where that cannot be seen from how it is built.
    """
    on_the_way = judged(formula, quiescent=False)
    if on_the_way == TRUTH:
        return True
    return _asks_no_less_in_the_end(formula) and stays_false(on_the_way)


def _asks_no_less_in_the_end(formula: Formula, *, positive: bool = True) -> bool:
    """Whether quiescence stands as a premise only: then what is false on the way is false of the same execution in a
    quiescent state.
    """
    match formula:
        case Quiescent():
            return not positive
        case Not(body):
            return _asks_no_less_in_the_end(body, positive=not positive)
        case And(parts) | Or(parts):
            return all(_asks_no_less_in_the_end(part, positive=positive) for part in parts)
        case Implies(left, right):
            return _asks_no_less_in_the_end(left, positive=not positive) and _asks_no_less_in_the_end(
                right, positive=positive
            )
        case Forall(_, extent, body):
            return _asks_no_less_in_the_end(extent, positive=not positive) and _asks_no_less_in_the_end(
                body, positive=positive
            )
        case Exists(_, extent, body):
            return all(_asks_no_less_in_the_end(part, positive=positive) for part in (extent, body))
        case Acyclic(_, _, body):
            return _asks_no_less_in_the_end(body, positive=not positive)
        case Per():
            return _asks_no_less_in_the_end(written_out(formula), positive=positive)
        case Iff():
            return not any(isinstance(node, Quiescent) for node in walk(formula))
        case (
            Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
            | SameEntity() | SameMessage() | SameText() | SamePart() | Faulty() | HappensBefore() | Comparison()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged() | FailureLine()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return True
        case _:
            assert_never(formula)


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
            # There will be more deliveries, and views with them, and some may be what was looked for.
            grows = isinstance(variable, DeliveryVariable | ViewVariable)
            return not grows and stays_false(extent, inside) and stays_false(body, inside | _told(extent))
        case Acyclic(first, second, body):
            return stays_true(body, _without(_without(known, first), second))
        case Per():
            return stays_false(written_out(formula), known)
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
        case FailureLine() | Faulty() | Quiescent():
            return False
        case InLog() | Precedes() | Truth() | Undetermined() | Sent() | IsDestination():
            return True
        case SameEntity() | SameMessage() | SameText() | SamePart():
            return True
        case DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight():
            return True
        case AddressedTo() | SameGroup():
            return True
        case IsMember(_, members_of):
            return _is_there(members_of, known)
        case SameView(left, right):
            return _is_there(left, known) and _is_there(right, known)
        case Acknowledged() | Installs() | InstallsBefore() | InstallsAgain():
            return False
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
            grows = isinstance(variable, DeliveryVariable | ViewVariable)
            return not grows and stays_false(extent, inside) and stays_true(body, inside)
        case Exists(variable, extent, body):
            inside = _without(known, variable)
            return stays_true(extent, inside) and stays_true(body, inside | _told(extent))
        case Acyclic(first, second, body):
            return stays_false(body, _without(_without(known, first), second))
        case Per():
            return stays_true(written_out(formula), known)
        case Comparison(left=left, right=right):
            return _settled(left) and _settled(right)
        case FailureLine() | Faulty() | Quiescent():
            return False
        case InLog() | Precedes() | Repeated() | HappensBefore() | Truth() | Undetermined() | Sent():
            return True
        case IsDestination() | SameEntity() | SameMessage() | SameText() | SamePart():
            return True
        case DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged():
            return True
        case (
            IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return True
        case _:
            assert_never(formula)


def _told(formula: Formula) -> Known:
    """What has been delivered where the formula is true, as far as it is looked at."""
    if isinstance(formula, And):
        return NOTHING.union(*map(_told, formula.parts))
    if isinstance(formula, InLog) and isinstance(formula.log, ReceiptLog):
        return frozenset({(formula.message, formula.log.entity)})
    if isinstance(formula, Precedes) and isinstance(formula.log, ReceiptLog):
        return frozenset((message, formula.log.entity) for message in (formula.first, formula.second))
    if isinstance(formula, HappensBefore):
        events = (formula.first, formula.second)
        return frozenset(
            (event.message, event.entity) for event in events if isinstance(event, DeliveryEvent)
        )
    return NOTHING


def _without(known: Known, variable: Variable) -> Known:
    """What is known when a name has been given to something else."""
    return frozenset(fact for fact in known if not any(variable in walk(term) for term in fact))


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


def _is_there(term: GroupTerm | ViewTerm, known: Known) -> bool:
    """Whether the group or the view is surely there, so that its members stay what they are."""
    match term:
        case GroupVariable() | GroupNamed() | ViewVariable():
            return True
        case ViewNamed():
            return False
        case ViewOf(event):
            return isinstance(event, DeliveryTerm) or _has_happened(event, known)
        case _:
            assert_never(term)


def _settled(term: NumberTerm) -> bool:
    """Whether a number stays what it is once it is there."""
    match term:
        case Size(log):
            return not isinstance(log, ReceiptLog)
        case Sum(left, right) | Difference(left, right):
            return _settled(left) and _settled(right)
        case Scaled(_, inner):
            return _settled(inner)
        case (
            Constant() | Delta() | Epsilon() | TimeOf() | Position() | RecordedClock() | VectorTime() | AttributeOf()
            | Nth() | DeliveryTime() | DeliveryPosition() | DeliveryAttribute() | ViewNumber()
        ):  # fmt: skip
            return True
        case _:
            assert_never(term)


def _exists(term: NumberTerm, known: Known) -> bool:
    match term:
        case TimeOf(event) | RecordedClock(event, _) | VectorTime(event, _):
            return _has_happened(event, known)
        case Position(message, log):
            return _in(message, log, known)
        case ViewNumber(view):
            return _is_there(view, known)
        case Sum(left, right) | Difference(left, right):
            return _exists(left, known) and _exists(right, known)
        case Scaled(_, inner):
            return _exists(inner, known)
        case (
            Constant() | Delta() | Epsilon() | Size() | AttributeOf() | Nth() | DeliveryTime() | DeliveryPosition()
            | DeliveryAttribute()
        ):  # fmt: skip
            return True
        case _:
            assert_never(term)


def _in(message: MessageTerm, log: LogTerm, known: Known) -> bool:
    return not isinstance(log, ReceiptLog) or (message, log.entity) in known
