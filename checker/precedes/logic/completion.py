"""A formula as it is judged on an incomplete execution (ADR 0013).

What holds in every completion holds, what is violated in every one is violated, and all else is unknown. A completion
adds rows and takes none away: events of messages and entities that were recorded, and of others. So a quantifier also
ranges over messages and entities that nobody recorded, and `opened` writes these instances out. An atom about
something unrecorded is unknown, but for what cannot be otherwise: a message that somebody is known to have sent is in
the send log of no other entity. Whether there is something unrecorded is unknown, too. So that instance makes a
universal formula unknown at best, unless the body is true whatever there is; an existential one likewise.

The formula that is left speaks of recorded things only. Its quantifiers range over what is certainly in the range.
Where an unrecorded instance already makes the whole unknown, something that is perhaps in the range changes nothing;
where it does not, the range is part of the body. Every engine judges the opened formula, its atoms as
`precedes.core.formula` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Flag, auto
from functools import lru_cache
from itertools import product
from typing import Final, assert_never

from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    ArrivalEvent,
    Atom,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryVariable,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    EventTerm,
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
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Not,
    Or,
    Per,
    Precedes,
    Quiescent,
    ReceiptLog,
    ReceiverOf,
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
    Truth,
    Undetermined,
    Variable,
    ViewNamed,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.traversal import free_variables
from precedes.core.verdict import Reason
from precedes.logic.lemmas import consequences
from precedes.logic.parts import written_out

UNRECORDED: Final = Undetermined("what was not recorded", Reason.INCOMPLETE)
"""Of something that was not recorded, and may be there."""

MOST: Final = 3
"""Unrecorded things told apart at once; with more, an instance is unknown without being looked at."""


@lru_cache(maxsize=512)
def opened(formula: Formula) -> Formula:
    """The closed formula as it is judged on incomplete executions, with what follows from it."""
    match formula:
        case Quiescent():
            return TRUTH
        case Not(body):
            return _not(opened(body))
        case And(parts):
            return _and(*map(opened, parts), *(_opened(one, {}) for one in consequences(formula)))
        case Or(parts):
            return _or(*map(opened, parts))
        case Implies(left, right):
            return _implies(opened(left), opened(right))
        case Iff(left, right):
            return _iff(opened(left), opened(right))
        case Forall() | Exists() | Acyclic():
            return _and(_opened(formula, {}), *(_opened(one, {}) for one in consequences(formula)))
        case Per():
            return _opened(written_out(formula), {})
        case (
            Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
            | SameEntity() | SameMessage() | SameText() | SamePart() | Faulty() | HappensBefore() | Comparison()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged() | FailureLine()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return formula
        case _:
            assert_never(formula)


Strangers = Mapping[Variable, int]
"""The variables that stand for something unrecorded, by its number; all others stand for what was recorded."""


def opened_instance(formula: Formula) -> Formula:
    """A formula whose free variables stand for what was recorded, as it is judged on incomplete executions."""
    return _opened(formula, {})


def _opened(formula: Formula, strangers: Strangers) -> Formula:
    match formula:
        case Quiescent():
            return TRUTH
        case Not(body):
            return _not(_opened(body, strangers))
        case And(parts):
            return _and(*(_opened(part, strangers) for part in parts))
        case Or(parts):
            return _or(*(_opened(part, strangers) for part in parts))
        case Implies(left, right):
            return _implies(_opened(left, strangers), _opened(right, strangers))
        case Iff(left, right):
            return _iff(_opened(left, strangers), _opened(right, strangers))
        case Forall() | Exists():
            return _quantified(formula, strangers)
        case Acyclic():
            return _acyclic(formula, strangers)
        case Per():
            return _opened(written_out(formula), strangers)
        case (
            Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
            | SameEntity() | SameMessage() | SameText() | SamePart() | Faulty() | HappensBefore() | Comparison()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged() | FailureLine()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return _atom(formula, strangers) if _mentions(formula, strangers) else formula
        case _:
            assert_never(formula)


# ---- binders -----------------------------------------------------------------------------------------------


def _quantified(formula: Forall | Exists, strangers: Strangers) -> Formula:
    universal, variable = isinstance(formula, Forall), formula.variable
    joined, deciding = (_and, Kinds.TRUE) if universal else (_or, Kinds.FALSE)

    def instance(here: Strangers) -> Formula:
        extent, body = _opened(formula.range, here), _opened(formula.body, here)
        return _implies(extent, body) if universal else _and(extent, body)

    unrecorded: list[Formula] = [UNRECORDED]
    if len(strangers) < MOST:
        known = {number for other, number in strangers.items() if type(other) is type(variable)}
        some = instance({**strangers, variable: len(strangers)})
        unrecorded = [
            _or(UNRECORDED, some) if universal else _and(UNRECORDED, some),
            *(instance({**strangers, variable: number}) for number in sorted(known)),
        ]
    rest = joined(*unrecorded)
    others = _recorded(strangers, variable)
    extent, body = _opened(formula.range, others), _opened(formula.body, others)
    if deciding in kinds(rest):
        extent, body = TRUTH, _implies(extent, body) if universal else _and(extent, body)
    else:
        body = _without_unrecorded(body, universal)
        while universal and isinstance(body, Implies):
            extent, body = _and(extent, body.left), body.right
    if (Kinds.FALSE if universal else Kinds.TRUE) not in kinds(body) and rest == UNRECORDED:
        return rest
    return joined(replace(formula, range=extent, body=body), rest)


def _recorded(strangers: Strangers, *variables: Variable) -> Strangers:
    """The same with these variables standing for what was recorded."""
    return {other: number for other, number in strangers.items() if other not in variables}


def _without_unrecorded(body: Formula, universal: bool) -> Formula:
    """The body of a quantifier that is unknown at best (or, an existential one, at worst) for another reason."""
    if body == UNRECORDED:
        return TRUTH if universal else FALSEHOOD
    if isinstance(body, And if universal else Or):
        parts = tuple(part for part in body.parts if part != UNRECORDED)
        return _and(*parts) if universal else _or(*parts)
    if isinstance(body, Implies) and universal:
        return _implies(body.left, _without_unrecorded(body.right, universal))
    return body


def _acyclic(formula: Acyclic, strangers: Strangers) -> Formula:
    """Unrecorded messages may be on a cycle, unless the relation cannot be between them and others."""
    first, second = formula.first, formula.second
    others = _recorded(strangers, first, second)
    here = replace(formula, body=_opened(formula.body, others))
    if len(others) + 2 > MOST:
        return _and(here, UNRECORDED)
    known = {number for other, number in others.items() if isinstance(other, MessageVariable)}
    choices = (None, *known, len(others), len(others) + 1)
    for one, other in product(choices, repeat=2):
        if one is None and other is None:
            continue
        ends: dict[Variable, int] = {}
        ends |= {} if one is None else {first: one}
        ends |= {} if other is None else {second: other}
        if kinds(_opened(formula.body, {**others, **ends})) != Kinds.FALSE:
            return _and(here, UNRECORDED)
    return here


# ---- atoms about something unrecorded ----------------------------------------------------------------------


def _mentions(node: Atom, strangers: Strangers) -> bool:
    return bool(strangers) and not free_variables(node).isdisjoint(strangers)


def _atom(atom: Atom, strangers: Strangers) -> Formula:
    """An atom of which some variable stands for something unrecorded."""
    if any(isinstance(variable, DeliveryVariable) for variable in free_variables(atom) & strangers.keys()):
        return UNRECORDED
    match atom:
        case InLog(message, log):
            return _in_log(message, log, strangers)
        case Precedes(first, second, log):
            both = _opened(And((InLog(first, log), InLog(second, log))), strangers)
            return _and(UNRECORDED, both, _not(_same_message(first, second, strangers)))
        case Repeated(_, log):
            return FALSEHOOD if isinstance(log, SendLog) else UNRECORDED
        case IsDestination(entity, message):
            return _is_destination(entity, message, strangers)
        case SameEntity(left, right):
            return _same_entity(left, right, strangers)
        case SameMessage(left, right):
            return _same_message(left, right, strangers)
        case SameView(left, right):
            return _same_view(left, right, strangers)
        case InstallsBefore(first, second, _):
            return _and(UNRECORDED, _not(_same_view(first, second, strangers)))
        case HappensBefore(first, second):
            return _happens_before(first, second, strangers)
        case (
            Sent() | Comparison() | SameText() | SamePart() | Truth() | Undetermined() | Quiescent() | Faulty()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged() | FailureLine()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsAgain()
        ):  # fmt: skip
            return UNRECORDED
        case _:
            assert_never(atom)


def _in_log(message: MessageTerm, log: SendLog | ReceiptLog, strangers: Strangers) -> Formula:
    if isinstance(log, ReceiptLog) or message in strangers or _is_anyone(log.entity, strangers):
        return UNRECORDED
    stranger = log.entity in strangers
    sent = _and(UNRECORDED, _not(Sent(message))) if stranger else InLog(message, SendLog(log.entity))
    return sent if log.to is None else _and(sent, _opened(IsDestination(log.to, message), strangers))


def _is_anyone(entity: EntityTerm, strangers: Strangers) -> bool:
    """Whether it may be any entity: the sender of something unrecorded."""
    return isinstance(entity, Sender) and entity.message in strangers


def _is_destination(entity: EntityTerm, message: MessageTerm, strangers: Strangers) -> Formula:
    """A message that names its destinations has no others; one that went to every recorded entity may go to all. In a
    group that it is addressed to there may be others.
    """
    if message in strangers or _is_anyone(entity, strangers):
        return UNRECORDED
    to_all = Forall(_EACH, TRUTH, IsDestination(_EACH, message))
    return _and(UNRECORDED, _or(to_all, Exists(_SOME_GROUP, TRUTH, AddressedTo(message, _SOME_GROUP))))


_EACH: Final = EntityVariable("each recorded entity")
_SOME_GROUP: Final = GroupVariable("some group")


def _same_entity(left: EntityTerm, right: EntityTerm, strangers: Strangers) -> Formula:
    if _is_anyone(left, strangers) or _is_anyone(right, strangers):
        return UNRECORDED
    one, other = (strangers.get(term) if isinstance(term, EntityVariable) else None for term in (left, right))
    if one is not None and other is not None:
        return TRUTH if one == other else FALSEHOOD
    rest = right if one is not None else left
    match rest:
        case EntityVariable() | ReceiverOf():
            return FALSEHOOD
        case EntityNamed():
            return _and(UNRECORDED, _not(SameEntity(rest, rest)))
        case Sender(message):
            return _and(UNRECORDED, _not(Sent(message)))
        case _:
            assert_never(rest)


def _same_message(left: MessageTerm, right: MessageTerm, strangers: Strangers) -> Formula:
    one, other = (
        strangers.get(term) if isinstance(term, MessageVariable) else None for term in (left, right)
    )
    if one is None and other is None:
        return TRUTH if left == right and isinstance(left, MessageVariable) else SameMessage(left, right)
    if one is not None and other is not None:
        return TRUTH if one == other else FALSEHOOD
    rest = right if one is not None else left
    match rest:
        case MessageVariable() | MessageOf():
            return FALSEHOOD
        case MessageNamed():
            return _and(UNRECORDED, _not(SameMessage(rest, rest)))
        case _:
            assert_never(rest)


def _same_view(left: ViewTerm, right: ViewTerm, strangers: Strangers) -> Formula:
    """Two views of which none is the view of an event; that of an event is never certain."""
    if isinstance(left, ViewOf) or isinstance(right, ViewOf):
        return UNRECORDED
    one, other = (strangers.get(term) if isinstance(term, ViewVariable) else None for term in (left, right))
    if one is None and other is None:
        return TRUTH if left == right and isinstance(left, ViewVariable) else SameView(left, right)
    if one is not None and other is not None:
        return TRUTH if one == other else FALSEHOOD
    rest = right if one is not None else left
    match rest:
        case ViewVariable():
            return FALSEHOOD
        case ViewNamed():
            return _and(UNRECORDED, _not(SameView(rest, rest)))
        case _:
            assert_never(rest)


def _happens_before(first: EventTerm, second: EventTerm, strangers: Strangers) -> Formula:
    """Nothing happens before itself; no delivery happens before its send, or before what comes before that."""
    if isinstance(first, ArrivalEvent) or isinstance(second, ArrivalEvent):
        return UNRECORDED
    same = _same_message(first.message, second.message, strangers)
    if isinstance(first, SendEvent):
        return _and(UNRECORDED, _not(same)) if isinstance(second, SendEvent) else UNRECORDED
    if isinstance(second, DeliveryEvent):
        same = _and(same, _opened(SameEntity(first.entity, second.entity), strangers))
    return _and(UNRECORDED, _not(same), _not(_before_send(second, first.message, strangers)))


def _before_send(event: EventTerm, message: MessageTerm, strangers: Strangers) -> Formula:
    return (
        UNRECORDED if message in strangers else _opened(HappensBefore(event, SendEvent(message)), strangers)
    )


# ---- what a formula can be ---------------------------------------------------------------------------------


class Kinds(Flag):
    """What an opened formula may turn out to be on some incomplete execution."""

    TRUE = auto()
    FALSE = auto()
    UNKNOWN = auto()


_ANY: Final = Kinds.TRUE | Kinds.FALSE | Kinds.UNKNOWN


def kinds(formula: Formula) -> Kinds:
    """What the opened formula can be; it may be less."""
    match formula:
        case Truth(value):
            return Kinds.TRUE if value else Kinds.FALSE
        case Quiescent():
            return Kinds.TRUE
        case Undetermined() | Faulty() | FailureLine():
            return Kinds.UNKNOWN
        case Sent() | Acknowledged() | InLog(_, ReceiptLog()) | Repeated(_, ReceiptLog()):
            return Kinds.TRUE | Kinds.UNKNOWN
        case Installs() | InstallsAgain():
            return Kinds.TRUE | Kinds.UNKNOWN
        case Repeated():
            return Kinds.FALSE
        case (
            InLog()
            | Precedes()
            | IsDestination()
            | SameEntity()
            | SameMessage()
            | SameText()
            | SamePart()
            | DeliveredAt()
            | DeliveredBefore()
            | SameDelivery()
            | InFlight()
            | HappensBefore()
            | Comparison()
            | IsMember()
            | AddressedTo()
            | SameGroup()
            | InstallsBefore()
            | SameView()
        ):
            return _ANY
        case Not(body):
            return _inverse(kinds(body))
        case And(parts):
            return _both(*map(kinds, parts))
        case Or(parts):
            return _inverse(_both(*(_inverse(kinds(part)) for part in parts)))
        case Implies(left, right):
            return _inverse(_both(kinds(left), _inverse(kinds(right))))
        case Iff(left, right):
            return _equal(kinds(left), kinds(right))
        case Forall(ViewVariable()) | Exists(ViewVariable()):
            # Where a view has no id, it is unknown whatever the body is.
            return _ANY
        case Forall(_, _, body):
            return Kinds.TRUE | kinds(body)
        case Exists(_, _, body):
            return Kinds.FALSE | kinds(body)
        case Acyclic() | Per():
            return _ANY
        case _:
            assert_never(formula)


def _inverse(of: Kinds) -> Kinds:
    swapped = of & Kinds.UNKNOWN
    if Kinds.TRUE in of:
        swapped |= Kinds.FALSE
    return swapped | Kinds.TRUE if Kinds.FALSE in of else swapped


def _both(*parts: Kinds) -> Kinds:
    """Of a conjunction."""
    found = Kinds(0)
    if any(Kinds.FALSE in part for part in parts):
        found |= Kinds.FALSE
    if all(part & (Kinds.TRUE | Kinds.UNKNOWN) for part in parts):
        if any(Kinds.UNKNOWN in part for part in parts):
            found |= Kinds.UNKNOWN
        if all(Kinds.TRUE in part for part in parts):
            found |= Kinds.TRUE
    return found


def _equal(left: Kinds, right: Kinds) -> Kinds:
    """Of an equivalence."""
    found = (left | right) & Kinds.UNKNOWN
    known = Kinds.TRUE | Kinds.FALSE
    if left & right & known:
        found |= Kinds.TRUE
    if left & _inverse(right) & known:
        found |= Kinds.FALSE
    return found


# ---- connectives, constants folded -------------------------------------------------------------------------


def _not(body: Formula) -> Formula:
    if isinstance(body, Truth):
        return Truth(not body.value)
    if isinstance(body, Not):
        return body.body
    return body if body == UNRECORDED else Not(body)


def _and(*parts: Formula) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, And) else (part,))
    left = [part for part in dict.fromkeys(flat) if part != TRUTH]
    if FALSEHOOD in left:
        return FALSEHOOD
    if UNRECORDED in left:
        left = [part for part in left if part == UNRECORDED or Kinds.FALSE in kinds(part)]
    if not left:
        return TRUTH
    return left[0] if len(left) == 1 else And(tuple(left))


def _or(*parts: Formula) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Or) else (part,))
    left = [part for part in dict.fromkeys(flat) if part != FALSEHOOD]
    if TRUTH in left:
        return TRUTH
    if UNRECORDED in left:
        left = [part for part in left if part == UNRECORDED or Kinds.TRUE in kinds(part)]
    if not left:
        return FALSEHOOD
    return left[0] if len(left) == 1 else Or(tuple(left))


def _implies(left: Formula, right: Formula) -> Formula:
    if TRUTH in (left, right):
        return right
    if left == FALSEHOOD:
        return TRUTH
    if right == FALSEHOOD or UNRECORDED in (left, right):
        return _or(_not(left), right)
    return Implies(left, right)


def _iff(left: Formula, right: Formula) -> Formula:
    if UNRECORDED in (left, right):
        return UNRECORDED
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Truth):
            return other if one.value else _not(other)
    return Iff(left, right)
