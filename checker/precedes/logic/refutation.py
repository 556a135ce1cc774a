"""The refutations of a formula: the ways in which an execution can make it false.

A refutation says what has to be there and what has to be absent: `forall p, q in L & M: p <[L] q iff p <[M] q` is
false for two messages of both logs with `p <[L] q` there and `p <[M] q` absent, or the other way about. Refutations are
found by logic alone: formulas that differ by De Morgan's laws, double negation, `implies` for `or`, the place of a
quantifier or the names of variables have the same. A refutation that contradicts itself (`p <[L] p`, an atom both there
and absent) is left out; a formula without any cannot be false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Final, assert_never

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
    Constant,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryVariable,
    Dimension,
    EntityVariable,
    EventTerm,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
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
    MembershipAtom,
    MessageOf,
    MessageVariable,
    Not,
    Or,
    Per,
    Precedes,
    Quiescent,
    ReceiptLog,
    ReceiverOf,
    Relation,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    SendEvent,
    SendLog,
    Sent,
    Text,
    Truth,
    Undetermined,
    Variable,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.traversal import Node, substituted
from precedes.logic.parts import asked_of_each
from precedes.logic.variables import distinct

MOST: Final = 64
"""How many refutations are told apart. Formulas that are made of `iff` within `iff` have more."""

FEW_PAIRS: Final = 10
"""Pairs of variables up to which it is looked for two equalities that contradict a refutation together."""

Equality = SameEntity | SameMessage | SameDelivery | SameGroup | SameView


class TooManyError(Exception):
    """A formula has more than `MOST` refutations."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """Things for which every one of the `facts` is there and every one of the `absences` is not.

    `universal` is what it asks of all things, with whatever has to be absent left out. `further`: it asks for more that
    is no atom, such as that a relation closes to a cycle.
    """

    variables: tuple[Variable, ...] = ()
    facts: tuple[Atom, ...] = ()
    absences: tuple[Atom, ...] = ()
    universal: tuple[Formula, ...] = ()
    further: bool = False

    def __add__(self, other: Refutation) -> Refutation:
        return Refutation(
            self.variables + other.variables,
            tuple(dict.fromkeys(self.facts + other.facts)),
            tuple(dict.fromkeys(self.absences + other.absences)),
            tuple(dict.fromkeys(self.universal + other.universal)),
            self.further or other.further,
        )

    @property
    def is_contradictory(self) -> bool:
        """Whether no execution can be like that."""
        there: set[Any] = set(self.facts)
        absent: set[Any] = set(self.absences)
        for consequence in consequences(self.facts):
            if isinstance(consequence, Not):
                absent.add(consequence.body)
            else:
                there.add(consequence)
        return (
            FALSEHOOD in self.universal
            or any(_decided(fact) is False for fact in there)
            or any(_decided(atom) is True for atom in absent)
            or not there.isdisjoint(absent)
        )

    def merged(self, equalities: Iterable[Equality]) -> Refutation:
        """The refutation where things that it calls by two names are one."""
        merged = self
        names: dict[Any, Any] = {}
        for equality in equalities:
            kept, given_up = (names.get(side, side) for side in (equality.left, equality.right))
            names = {name: kept if now == given_up else now for name, now in names.items()} | {given_up: kept}
            merged = _renamed(merged, kept, given_up)
        return merged

    def apart(self) -> tuple[tuple[Equality, ...], ...]:
        """Which of its things must be different: of each group of equalities at least one is not so."""
        pairs = list(self._pairs())
        groups: list[tuple[Equality, ...]] = [
            (pair,) for pair in pairs if self.merged([pair]).is_contradictory
        ]
        rest = [pair for pair in pairs if (pair,) not in groups]
        if len(rest) <= FEW_PAIRS:
            groups += [two for two in combinations(rest, 2) if self.merged(two).is_contradictory]
        return tuple(groups)

    def _pairs(self) -> Iterator[Equality]:
        for left, right in combinations(self.variables, 2):
            if isinstance(left, EntityVariable) and isinstance(right, EntityVariable):
                yield SameEntity(left, right)
            elif isinstance(left, MessageVariable) and isinstance(right, MessageVariable):
                yield SameMessage(left, right)
            elif isinstance(left, DeliveryVariable) and isinstance(right, DeliveryVariable):
                yield SameDelivery(left, right)
            elif isinstance(left, GroupVariable) and isinstance(right, GroupVariable):
                yield SameGroup(left, right)
            elif isinstance(left, ViewVariable) and isinstance(right, ViewVariable):
                yield SameView(left, right)


def refutations(formula: Formula) -> tuple[Refutation, ...]:
    """The refutations of a closed formula. TooManyError where there are more than `MOST`."""
    found = (_unified(one) for one in _ways(distinct(formula), False))
    return tuple(dict.fromkeys(one for one in found if not one.is_contradictory))


# ---- from a formula to the ways in which it is true or false ----


def _ways(formula: Formula, wanted: bool) -> list[Refutation]:
    """The ways in which a formula has a truth value."""
    match formula:
        case Truth(value):
            return [Refutation()] if value is wanted else []
        case Not(body):
            return _ways(body, not wanted)
        case And(parts):
            return _all(parts, True) if wanted else _any((part, False) for part in parts)
        case Or(parts):
            return _any((part, True) for part in parts) if wanted else _all(parts, False)
        case Implies(left, right):
            sides = ((left, not wanted), (right, wanted))
            return _any(sides) if wanted else _product(sides)
        case Iff(left, right):
            return _limited(
                [*_product(((left, True), (right, wanted))), *_product(((left, False), (right, not wanted)))]
            )
        case Forall(variable, extent, body) | Exists(variable, extent, body):
            if isinstance(formula, Forall) is wanted:
                return [Refutation(universal=(relaxed(formula, wanted),))]
            bound = [Refutation((variable,))]
            return _joined(bound, _product(((extent, True), (body, wanted))))
        case Acyclic(first, second, body):
            if wanted:
                return [Refutation(further=True)]
            return _joined([Refutation((first, second), further=True)], _ways(body, True))
        case Per():
            return _ways(distinct(asked_of_each(formula)), wanted)
        case Undetermined() | FailureLine():
            return [Refutation(further=True)]
        case (
            InLog() | Precedes() | Repeated() | Sent() | IsDestination() | SameEntity() | SameMessage() | SameText()
            | SamePart() | Faulty() | Quiescent() | HappensBefore() | Comparison()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return [Refutation(facts=(formula,)) if wanted else Refutation(absences=(formula,))]
        case _:
            assert_never(formula)


def _all(parts: Iterable[Formula], wanted: bool) -> list[Refutation]:
    return _product((part, wanted) for part in parts)


def _product(parts: Iterable[tuple[Formula, bool]]) -> list[Refutation]:
    found = [Refutation()]
    for part, wanted in parts:
        found = _joined(found, _ways(part, wanted))
    return found


def _joined(left: list[Refutation], right: list[Refutation]) -> list[Refutation]:
    if len(left) * len(right) > MOST:
        raise TooManyError
    return [one + other for one, other in product(left, right)]


def _any(parts: Iterable[tuple[Formula, bool]]) -> list[Refutation]:
    return _limited([way for part, wanted in parts for way in _ways(part, wanted)])


def _limited(found: list[Refutation]) -> list[Refutation]:
    if len(found) > MOST:
        raise TooManyError
    return found


def relaxed(formula: Formula, wanted: bool) -> Formula:
    """What has to be there for a formula to have a truth value, whatever has to be absent; things that are to be
    different still are.
    """
    match formula:
        case Truth(value):
            return TRUTH if value is wanted else FALSEHOOD
        case Not(body):
            return relaxed(body, not wanted)
        case And(parts) | Or(parts):
            every = isinstance(formula, And) is wanted
            return _connected([relaxed(part, wanted) for part in parts], every=every)
        case Implies(left, right):
            return _connected([relaxed(left, not wanted), relaxed(right, wanted)], every=not wanted)
        case Iff(left, right):
            ways = ((left, True), (right, wanted)), ((left, False), (right, not wanted))
            return _connected(
                [_connected([relaxed(*side) for side in sides], every=True) for sides in ways], every=False
            )
        case Forall(variable, extent, body) | Exists(variable, extent, body):
            if isinstance(formula, Forall) is wanted:
                each = _connected([relaxed(extent, False), relaxed(body, wanted)], every=False)
                return TRUTH if each == TRUTH else Forall(variable, TRUTH, each)
            some = relaxed(body, wanted)
            return FALSEHOOD if some == FALSEHOOD else Exists(variable, relaxed(extent, True), some)
        case Per():
            return relaxed(distinct(asked_of_each(formula)), wanted)
        case Acyclic() | Undetermined() | FailureLine():
            return TRUTH
        case (
            SameEntity() | SameMessage() | SameText() | SamePart() | SameDelivery() | SameGroup() | SameView()
        ):  # fmt: skip
            return formula if wanted else Not(formula)
        case (
            InLog() | Precedes() | Repeated() | Sent() | IsDestination() | Faulty() | Quiescent()
            | HappensBefore() | Comparison() | DeliveredAt() | DeliveredBefore() | InFlight() | Acknowledged()
            | IsMember() | AddressedTo() | Installs() | InstallsBefore() | InstallsAgain()
        ):  # fmt: skip
            return formula if wanted else TRUTH
        case _:
            assert_never(formula)


def _connected(parts: list[Formula], *, every: bool) -> Formula:
    neutral, deciding = (TRUTH, FALSEHOOD) if every else (FALSEHOOD, TRUTH)
    rest = tuple(dict.fromkeys(part for part in parts if part != neutral))
    if deciding in rest:
        return deciding
    if len(rest) <= 1:
        return rest[0] if rest else neutral
    return And(rest) if every else Or(rest)


# ---- what logic says of atoms ----


def _decided(atom: Atom) -> bool | None:
    """The truth value that an atom has in every execution; None where executions differ."""
    match atom:
        case Truth(value):
            return value
        case Precedes(first, second, _):
            return False if first == second else None
        case HappensBefore(first, second):
            before_its_send = isinstance(second, SendEvent) and first.message == second.message
            return False if first == second or before_its_send else None
        case SameEntity(left, right):
            return True if left == right and isinstance(left, EntityVariable) else None
        case SameMessage(left, right):
            return True if left == right and isinstance(left, MessageVariable) else None
        case DeliveredBefore(first, second) | InFlight(first, second) | InstallsBefore(first, second):
            return False if first == second else None
        case SameGroup(left, right):
            return True if left == right and isinstance(left, GroupVariable) else None
        case SameView(left, right):
            return True if left == right and isinstance(left, ViewVariable) else None
        case SameDelivery(left, right):
            return True if left == right and isinstance(left, DeliveryVariable) else None
        case SameText(left, right):
            return left == right if isinstance(left, Text) and isinstance(right, Text) else None
        case Comparison(relation, left, right, dimension):
            if isinstance(left, Constant) and isinstance(right, Constant) and dimension is Dimension.NUMBER:
                return _COMPARED[relation](left, right)
            return False if left == right and relation is Relation.LESS else None
        case (
            InLog()
            | Repeated()
            | Sent()
            | IsDestination()
            | SamePart()
            | DeliveredAt()
            | Acknowledged()
            | Faulty()
            | Quiescent()
            | Undetermined()
            | FailureLine()
            | IsMember()
            | AddressedTo()
            | Installs()
            | InstallsAgain()
        ):
            return None
        case _:
            assert_never(atom)


_COMPARED: Final = {
    Relation.LESS: lambda left, right: bool(left.value < right.value),
    Relation.AT_MOST: lambda left, right: bool(left.value <= right.value),
    Relation.EQUAL: lambda left, right: bool(left.value == right.value),
}


def consequences(facts: Iterable[Formula]) -> Iterator[Any]:
    """What else is there, and as `not` what is absent, where some facts are there."""
    for fact in facts:
        match fact:
            case Not(SameEntity(left, right)):
                yield Not(SameEntity(right, left))
            case Not(SameMessage(left, right)):
                yield Not(SameMessage(right, left))
            case Not(SameDelivery(left, right)):
                yield Not(SameDelivery(right, left))
            case Not(SameGroup(left, right)):
                yield Not(SameGroup(right, left))
            case Not(SameView(left, right)):
                yield Not(SameView(right, left))
            case Not() | And() | Or() | Implies() | Iff() | Forall() | Exists() | Acyclic() | Per():
                continue
            case (
                Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
                | SameEntity() | SameMessage() | SameText() | SamePart() | DeliveredAt() | DeliveredBefore()
                | SameDelivery() | InFlight() | Acknowledged() | Faulty() | Quiescent()
                | HappensBefore() | Comparison() | FailureLine() | IsMember() | AddressedTo() | SameGroup()
                | Installs() | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                implied = (fact, *_implied(fact))
                yield from implied[1:]
                for one in implied:
                    yield from map(Not, _excluded(one))
            case _:
                assert_never(fact)


def _implied(fact: Atom) -> Iterator[Atom]:
    """What is there where a fact is."""
    match fact:
        case Precedes(first, second, log):
            for message in (first, second):
                yield InLog(message, log)
                yield from _implied(InLog(message, log))
        case Repeated(message, log):
            yield InLog(message, log)
            yield from _implied(InLog(message, log))
        case InLog(message, SendLog(entity, to)):
            yield Sent(message)
            if to is not None:
                yield InLog(message, SendLog(entity))
                yield IsDestination(to, message)
        case IsDestination(_, message):
            yield Sent(message)
        case HappensBefore(first, second):
            yield from happened(first)
            yield from happened(second)
        case SameEntity(left, right):
            yield SameEntity(right, left)
        case SameMessage(left, right):
            yield SameMessage(right, left)
        case SameText(left, right):
            yield SameText(right, left)
        case SameDelivery(left, right):
            yield SameDelivery(right, left)
        case (
            IsMember()
            | AddressedTo()
            | SameGroup()
            | SameView()
            | Installs()
            | InstallsBefore()
            | InstallsAgain()
        ):
            yield from _implied_of_members(fact)
        case DeliveredAt(delivery, entity):
            yield InLog(MessageOf(delivery), ReceiptLog(entity))
        case DeliveredBefore(first, second, entity):
            for delivery in (first, second):
                yield DeliveredAt(delivery, entity)
                yield from _implied(DeliveredAt(delivery, entity))
        case InFlight(earlier, at):
            before = DeliveredBefore(earlier, at, ReceiverOf(at))
            yield before
            yield from _implied(before)
        case SamePart(message, part):
            yield SamePart(message, replace(part, message=message))
            yield SamePart(part.message, replace(part, message=message))
            yield SamePart(part.message, part)
        case (
            InLog()
            | Sent()
            | Acknowledged()
            | Faulty()
            | Quiescent()
            | Comparison()
            | Truth()
            | Undetermined()
            | FailureLine()
        ):
            return
        case _:
            assert_never(fact)


def _implied_of_members(fact: MembershipAtom) -> Iterator[Atom]:
    match fact:
        case SameGroup(left, right):
            yield SameGroup(right, left)
        case SameView(left, right):
            yield SameView(right, left)
            yield from viewed(left, right)
        case AddressedTo(message, _):
            yield Sent(message)
        case IsMember(_, members_of):
            yield from viewed(members_of)
        case Installs(_, view):
            yield from viewed(view)
        case InstallsAgain(entity, view):
            yield Installs(entity, view)
            yield from viewed(view)
        case InstallsBefore(first, second, entity):
            yield Installs(entity, first)
            yield Installs(entity, second)
            yield from viewed(first, second)
        case _:
            assert_never(fact)


def viewed(*terms: GroupTerm | ViewTerm) -> Iterator[Atom]:
    """What is there where views are: of the view of an event, the event."""
    for term in terms:
        if isinstance(term, ViewOf):
            yield from happened(term.event)


def happened(event: EventTerm | DeliveryTerm) -> Iterator[Atom]:
    """What is there where an event is."""
    match event:
        case DeliveryVariable() | DeliveryNamed():
            yield DeliveredAt(event, ReceiverOf(event))
        case SendEvent(message):
            yield Sent(message)
        case DeliveryEvent(message, entity):
            yield InLog(message, ReceiptLog(entity))
        case ArrivalEvent():
            return
        case _:
            assert_never(event)


def _excluded(fact: Atom) -> Iterator[Atom]:
    """What is absent where a fact is there."""
    match fact:
        case Precedes(first, second, log):
            yield Precedes(second, first, log)
            yield SameMessage(first, second)
            yield SameMessage(second, first)
        case HappensBefore(first, second):
            yield HappensBefore(second, first)
        case DeliveredBefore(first, second, entity):
            yield DeliveredBefore(second, first, entity)
            yield SameDelivery(first, second)
            yield SameDelivery(second, first)
        case InstallsBefore(first, second, entity):
            yield InstallsBefore(second, first, entity)
            yield SameView(first, second)
            yield SameView(second, first)
        case (
            InLog() | Repeated() | Sent() | IsDestination() | SameEntity() | SameMessage() | SameText() | SamePart()
            | DeliveredAt() | SameDelivery() | InFlight() | Acknowledged()
            | Comparison()
            | Faulty() | Quiescent() | Truth() | Undetermined() | FailureLine()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return
        case _:
            assert_never(fact)


# ---- names ----


def _unified(refutation: Refutation) -> Refutation:
    """The refutation without equalities of variables: what they make one has one name."""
    for fact in refutation.facts:
        if isinstance(fact, Equality) and {fact.left, fact.right} <= set(refutation.variables):
            return _unified(_renamed(refutation, fact.left, fact.right))
    return refutation


def _renamed(refutation: Refutation, kept: Any, given_up: Any) -> Refutation:
    def renamed(parts: Iterable[Node]) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(substituted(part, {given_up: kept}) for part in parts))

    return replace(
        refutation,
        variables=renamed(refutation.variables),
        facts=tuple(fact for fact in renamed(refutation.facts) if _decided(fact) is not True),
        absences=renamed(refutation.absences),
        universal=renamed(refutation.universal),
    )
