"""A canonical form of formulas: definitions that say the same in other words compare equal.

Two formulas with the same canonical form have the same verdict on every execution. The converse does not hold
and is not necessary. Each rewriting step is sound in Kleene's logic: negations move to the atoms; a bounded
quantifier becomes `range implies body`; quantifiers of one kind move to the front and distribute over the
connective with which they commute; variables lose their names; operands of commutative connectives lose their
order. A quantifier over views is unknown where a view has no id, whatever its body is; so it moves to nowhere, and
nothing moves out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Any, Final, assert_never

from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    ArrivalEvent,
    Atom,
    Attribute,
    AttributeOf,
    Comparison,
    Constant,
    DeliveredAt,
    DeliveredBefore,
    DeliveryAttribute,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryPosition,
    DeliveryTerm,
    DeliveryText,
    DeliveryTime,
    DeliveryVariable,
    Delta,
    Difference,
    EntityNamed,
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
    MembershipAtom,
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Not,
    Nth,
    NumberTerm,
    Or,
    Part,
    Per,
    Position,
    Precedes,
    Quiescent,
    ReceiptLog,
    ReceiverOf,
    RecordedClock,
    Relation,
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
    Text,
    TextOf,
    TextTerm,
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

Node = tuple[Any, ...]
"""A node of the canonical form: a tag, then nodes, names and numbers. Hashable."""

ORDERINGS_TRIED = 24
"""How many orders of a block's variables are compared at most; beyond, less is recognized."""


def canonical(formula: Formula) -> frozenset[Node]:
    """The canonical conjuncts of a closed formula: the formula is their conjunction; none for `true`."""
    normal = _Normaliser().formula(formula, True)
    parts = normal[1] if normal[0] == "and" else (normal,)
    return frozenset(_numbered(part, {}) for part in parts)


# ---- normal form: ("and" | "or", parts), ("all" | "some", variables, body), the same with " views", ("iff", positive,
# ---- a, b), ("atom"

_TRUE: Node = ("and", ())
_FALSE: Node = ("or", ())


def _joined(tag: str, parts: Iterable[Node]) -> Node:
    """A flat conjunction or disjunction; in the one `some`, in the other `all` comes out in front."""
    outer = "some" if tag == "and" else "all"
    opposite = "or" if tag == "and" else "and"
    variables: list[Node] = []
    flat: list[Node] = []
    pending = list(parts)[::-1]
    while pending:
        part = pending.pop()
        if part[0] == tag:
            pending.extend(reversed(part[1]))
        elif part[0] == outer:
            variables.extend(part[1])
            pending.append(part[2])
        elif part == (opposite, ()):
            return part
        else:
            flat.append(part)
    body = flat[0] if len(flat) == 1 else (tag, tuple(flat))
    return _bound(outer, tuple(variables), body)


def _bound(tag: str, variables: tuple[Node, ...], body: Node) -> Node:
    """A block of quantifiers, merged with the one below and spread over what it commutes with."""
    if not variables:
        return body
    spreads = "and" if tag in ("all", "all views") else "or"
    if body[0] == spreads and (body[1] or tag in ("all", "some")):
        return _joined(spreads, [_bound(tag, variables, part) for part in body[1]])
    if body[0] == tag:
        return (tag, variables + body[1], body[2])
    return (tag, variables, body)


@dataclass(slots=True)
class _Normaliser:
    """Rewrites one formula; every bound variable gets a number of its own, so that none is ever captured."""

    scope: dict[Variable, Node] = field(default_factory=dict)
    bound: int = 0

    def formula(self, formula: Formula, positive: bool) -> Node:
        if isinstance(formula, Truth):
            return _TRUE if formula.value is positive else _FALSE
        if isinstance(formula, Quiescent):
            return _TRUE if positive else _FALSE
        if isinstance(formula, Atom):
            return ("atom", positive, self._atom(formula))
        match formula:
            case Not(body):
                return self.formula(body, not positive)
            case And(parts):
                return _joined("and" if positive else "or", [self.formula(p, positive) for p in parts])
            case Or(parts):
                return _joined("or" if positive else "and", [self.formula(p, positive) for p in parts])
            case Implies(left, right):
                sides = [self.formula(left, not positive), self.formula(right, positive)]
                return _joined("or" if positive else "and", sides)
            case Iff(left, right):
                return (
                    "iff",
                    positive,
                    self.formula(left, True),
                    self.formula(right, True),
                )
            case Forall(variable, span, body):
                return self._quantified(variable, span, body, positive, universal=True)
            case Exists(variable, span, body):
                return self._quantified(variable, span, body, positive, universal=False)
            case Acyclic(first, second, body):
                outside = dict(self.scope)
                numbers = self._bind(first), self._bind(second)
                related = self.formula(body, True)
                self.scope = outside
                return ("acyclic", positive, *numbers, related)
            case Per(attributes, body):
                return ("per", positive, self._attributes(attributes), self.formula(body, True))
            case _:
                assert_never(formula)

    def _quantified(
        self,
        variable: Variable,
        span: Formula,
        body: Formula,
        positive: bool,
        universal: bool,
    ) -> Node:
        outside = dict(self.scope)
        number = self._bind(variable)
        allowed = self.formula(span, not universal if positive else universal)
        judged = self.formula(body, positive)
        self.scope = outside
        tag, joint = ("all", "or") if universal is positive else ("some", "and")
        if isinstance(variable, ViewVariable):
            tag += " views"
        return _bound(tag, (number,), _joined(joint, [allowed, judged]))

    def _bind(self, variable: Variable) -> Node:
        self.bound += 1
        match variable:
            case EntityVariable():
                sort = "entity"
            case MessageVariable():
                sort = "message"
            case DeliveryVariable():
                sort = "delivery"
            case GroupVariable():
                sort = "group"
            case ViewVariable():
                sort = "view"
            case _:
                assert_never(variable)
        node: Node = ("variable", sort, self.bound)
        self.scope[variable] = node
        return node

    def _atom(self, atom: Formula) -> Node:
        match atom:
            case InLog(message, log):
                return ("in", self._message(message), self._log(log))
            case Precedes(first, second, log):
                return ("precedes", self._message(first), self._message(second), self._log(log))
            case Repeated(message, log):
                return ("repeated", self._message(message), self._log(log))
            case Sent(message):
                return ("sent", self._message(message))
            case IsDestination(entity, message):
                return ("destination", self._entity(entity), self._message(message))
            case SameEntity(left, right):
                return ("same", _Unordered((self._entity(left), self._entity(right))))
            case SameMessage(left, right):
                return ("same", _Unordered((self._message(left), self._message(right))))
            case SameText(left, right):
                return ("same text", _Unordered((self._text(left), self._text(right))))
            case SamePart(message, part):
                return ("same part", self._message(message), self._part(part))
            case DeliveredAt(delivery, entity):
                return ("delivered", self._delivery(delivery), self._entity(entity))
            case DeliveredBefore(first, second, entity):
                sides = self._delivery(first), self._delivery(second)
                return ("delivered before", *sides, self._entity(entity))
            case SameDelivery(left, right):
                return ("same", _Unordered((self._delivery(left), self._delivery(right))))
            case InFlight(delivery, at):
                return ("in flight", self._delivery(delivery), self._delivery(at))
            case Acknowledged(message, entity):
                return ("acknowledged", self._message(message), self._entity(entity))
            case Faulty(entity):
                return ("faulty", self._entity(entity))
            case (
                IsMember()
                | AddressedTo()
                | SameGroup()
                | SameView()
                | Installs()
                | InstallsBefore()
                | InstallsAgain()
            ):
                return self._membership(atom)
            case HappensBefore(first, second):
                return ("before", self._event(first), self._event(second))
            case Comparison(relation, left, right, dimension):
                sides = (self._number(left), self._number(right))
                ordered = _Unordered(sides) if relation is Relation.EQUAL else sides
                return ("compare", relation.value, ordered, dimension.value)
            case FailureLine():
                return ("failure_line",)
            case Undetermined(why, reason):
                return ("undetermined", why, int(reason))
            case (
                Truth()
                | Quiescent()
                | Not()
                | And()
                | Or()
                | Implies()
                | Iff()
                | Forall()
                | Exists()
                | Acyclic()
                | Per()
            ):
                raise TypeError(f"not an atom: {type(atom).__name__}")
            case _:
                assert_never(atom)

    def _membership(self, atom: MembershipAtom) -> Node:
        match atom:
            case IsMember(entity, members_of):
                return ("member", self._entity(entity), self._with_members(members_of))
            case AddressedTo(message, group):
                return ("addressed", self._message(message), self._with_members(group))
            case SameGroup(left, right) | SameView(left, right):
                return ("same", _Unordered((self._with_members(left), self._with_members(right))))
            case Installs(entity, view):
                return ("installs", self._entity(entity), self._with_members(view))
            case InstallsBefore(first, second, entity):
                sides = self._with_members(first), self._with_members(second)
                return ("installs before", *sides, self._entity(entity))
            case InstallsAgain(entity, view):
                return ("installs again", self._entity(entity), self._with_members(view))
            case _:
                assert_never(atom)

    def _entity(self, term: EntityTerm) -> Node:
        match term:
            case EntityVariable():
                return self.scope[term]
            case EntityNamed(name):
                return ("entity", name)
            case Sender(message):
                return ("sender", self._message(message))
            case ReceiverOf(delivery):
                return ("receiver", self._delivery(delivery))
            case _:
                assert_never(term)

    def _message(self, term: MessageTerm) -> Node:
        match term:
            case MessageVariable():
                return self.scope[term]
            case MessageNamed(name):
                return ("message", name)
            case MessageOf(delivery):
                return ("message of", self._delivery(delivery))
            case _:
                assert_never(term)

    def _delivery(self, term: DeliveryTerm) -> Node:
        match term:
            case DeliveryVariable():
                return self.scope[term]
            case DeliveryNamed(message, entity, nth):
                return ("delivery", message, entity, nth)
            case _:
                assert_never(term)

    def _with_members(self, term: GroupTerm | ViewTerm) -> Node:
        """A group or a view."""
        match term:
            case GroupVariable() | ViewVariable():
                return self.scope[term]
            case GroupNamed(name):
                return ("group", name)
            case ViewNamed(name):
                return ("view", name)
            case ViewOf(event):
                of = self._delivery(event) if isinstance(event, DeliveryTerm) else self._event(event)
                return ("view of", of)
            case _:
                assert_never(term)

    def _log(self, term: LogTerm) -> Node:
        match term:
            case SendLog(entity, to):
                return ("SL", self._entity(entity), () if to is None else self._entity(to))
            case ReceiptLog(entity):
                return ("RL", self._entity(entity))
            case _:
                assert_never(term)

    def _event(self, term: EventTerm) -> Node:
        match term:
            case SendEvent(message):
                return ("send", self._message(message))
            case DeliveryEvent(message, entity):
                return ("deliver", self._message(message), self._entity(entity))
            case ArrivalEvent(message, entity):
                return ("arrive", self._message(message), self._entity(entity))
            case _:
                assert_never(term)

    def _number(self, term: NumberTerm) -> Node:
        match term:
            case Constant(value, dimension):
                return ("constant", value.numerator, value.denominator, dimension.value)
            case Delta():
                return ("delta",)
            case Epsilon():
                return ("epsilon",)
            case TimeOf(event):
                return ("time", self._event(event))
            case Position(message, log, part):
                return ("position", self._message(message), self._log(log), self._part(part))
            case Size(log, part):
                return ("size", self._log(log), self._part(part))
            case AttributeOf(attribute, message):
                return ("attribute", *self._attributes((attribute,)), self._message(message))
            case Nth(delivery):
                return ("nth", self._delivery(delivery))
            case DeliveryTime(delivery):
                return ("delivery time", self._delivery(delivery))
            case DeliveryPosition(delivery, entity, part):
                return ("delivery position", self._delivery(delivery), self._entity(entity), self._part(part))
            case DeliveryAttribute(attribute, delivery):
                return ("attribute", *self._attributes((attribute,)), self._delivery(delivery))
            case ViewNumber(view):
                return ("view number", self._with_members(view))
            case RecordedClock(event, entity):
                return ("clock", self._event(event), self._entity(entity))
            case VectorTime(event, entity):
                return ("vector", self._event(event), self._entity(entity))
            case Sum(left, right):
                return ("sum", _Unordered((self._number(left), self._number(right))))
            case Difference(left, right):
                return ("difference", self._number(left), self._number(right))
            case Scaled(factor, inner):
                return ("scaled", factor.numerator, factor.denominator, self._number(inner))
            case _:
                assert_never(term)

    def _text(self, term: TextTerm) -> Node:
        match term:
            case Text(value):
                return ("text", value)
            case TextOf(attribute, message):
                return ("attribute", *self._attributes((attribute,)), self._message(message))
            case DeliveryText(attribute, delivery):
                return ("attribute", *self._attributes((attribute,)), self._delivery(delivery))
            case _:
                assert_never(term)

    def _part(self, part: Part | None) -> Node:
        if part is None:
            return ()
        return ("part", self._attributes(part.attributes), self._message(part.message))

    @staticmethod
    def _attributes(attributes: tuple[Attribute, ...]) -> Node:
        return tuple(sorted(f"{attribute.name}: {attribute.sort.value}" for attribute in attributes))


class _Unordered(tuple[Any, ...]):
    """Two terms whose order says nothing."""

    __slots__ = ()


# ---- numbering ---------------------------------------------------------------------------------------------

_Numbers = dict[Node, int]

_SORTS: Final = ("entity", "message", "delivery", "group", "view")


def _numbered(node: Any, numbers: _Numbers) -> Any:
    """The node with its variables numbered by depth, every commutative part in the order of its print."""
    if not isinstance(node, tuple) or not node:
        return node
    if isinstance(node, _Unordered):
        return tuple(sorted((_numbered(part, numbers) for part in node), key=repr))
    match node:
        case ("variable", sort, _):
            return (sort, numbers[node])
        case ("and" | "or" as tag, parts):
            return (tag, *sorted({_numbered(part, numbers) for part in parts}, key=repr))
        case ("iff", positive, left, right):
            return ("iff", positive, *sorted((_numbered(left, numbers), _numbered(right, numbers)), key=repr))
        case ("acyclic", positive, first, second, body):
            depth = len(numbers)
            return ("acyclic", positive, _numbered(body, {**numbers, first: depth, second: depth + 1}))
        case ("all" | "some" | "all views" | "some views" as tag, variables, body):
            return _least_block(tag, variables, numbers, lambda chosen: _numbered(body, chosen))
        case _:
            return tuple(_numbered(part, numbers) for part in node)


def _least_block(
    tag: str, variables: tuple[Node, ...], numbers: _Numbers, body: Callable[[_Numbers], Node]
) -> Node:
    """The block with its variables in the order that prints least, sort by sort."""
    by_sort = [[v for v in variables if v[1] == sort] for sort in _SORTS]
    depth = len(numbers)
    if prod(factorial(len(each)) for each in by_sort) <= ORDERINGS_TRIED:
        orders = [tuple(chain(*choice)) for choice in product(*map(permutations, by_sort))]
    else:
        orders = [tuple(chain(*by_sort))]
    bodies = (body({**numbers, **{v: depth + k for k, v in enumerate(order)}}) for order in orders)
    return (tag, *map(len, by_sort), min(bodies, key=repr))
