"""Random closed, sort-correct formulas of the core: every atom, every term, every connective and binder.

Names of entities and messages are those that `random_executions` gives, and some that no execution has.
Quantifiers range over what the language's definitions range over (logs, shared parts of logs, destination
sets) more often than over arbitrary formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, assert_never

from precedes.core import formula as f
from precedes.testing.choices import Choices, chance, pick

ATTRIBUTES: Final = (
    f.Attribute("key", f.AttributeSort.TEXT),
    f.Attribute("topic", f.AttributeSort.TEXT),
    f.Attribute("position", f.AttributeSort.NUMBER),
    f.Attribute("created", f.AttributeSort.TIME),
    f.Attribute("lifetime", f.AttributeSort.DURATION),
)
"""Attributes of every sort, for formulas and executions that have some."""

EVENT_ATTRIBUTES: Final = (
    f.Attribute("attempt", f.AttributeSort.NUMBER, f.Carrier.EVENT),
    f.Attribute("route", f.AttributeSort.TEXT, f.Carrier.EVENT),
    f.Attribute("handled", f.AttributeSort.TIME, f.Carrier.EVENT),
)
"""Attributes of deliveries, likewise."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a part of a formula may mention, and how many more binders it may have. Messages have the attributes.
    `every_delivery`: it may speak of deliveries and acknowledgements, and deliveries have `EVENT_ATTRIBUTES`.
    `membership`: it may speak of groups and views.
    """

    entities: tuple[f.EntityVariable | f.EntityNamed, ...] = ()
    messages: tuple[f.MessageVariable | f.MessageNamed, ...] = ()
    binders: int = 4
    attributes: tuple[f.Attribute, ...] = ()
    every_delivery: bool = False
    deliveries: tuple[f.DeliveryVariable, ...] = ()
    membership: bool = False
    groups: tuple[f.GroupVariable, ...] = ()
    views: tuple[f.ViewVariable, ...] = ()

    @property
    def bound(self) -> bool:
        """Whether it may mention something."""
        return bool(self.entities or self.messages or self.deliveries or self.groups or self.views)

    def bind(self, variable: f.Variable) -> Scope:
        """The scope below a binder."""
        below = replace(self, binders=self.binders - 1)
        match variable:
            case f.EntityVariable():
                return replace(below, entities=(*self.entities, variable))
            case f.MessageVariable():
                return replace(below, messages=(*self.messages, variable))
            case f.DeliveryVariable():
                return replace(below, deliveries=(*self.deliveries, variable))
            case f.GroupVariable():
                return replace(below, groups=(*self.groups, variable))
            case f.ViewVariable():
                return replace(below, views=(*self.views, variable))
            case _:
                assert_never(variable)


def formula(choices: Choices, depth: int = 5, scope: Scope | None = None) -> f.Formula:
    """One random formula, closed unless a scope is given."""
    scope = Scope() if scope is None else scope
    bound = scope.bound
    if depth <= 1 or (bound and chance(choices, 20)):
        return atom(choices, scope)
    if scope.attributes and chance(choices, 15):
        return f.Per(_some(choices, scope.attributes), formula(choices, depth - 1, scope))
    binder = scope.binders > 0 and chance(choices, 45 if bound else 80)
    if not binder:
        return _connective(choices, depth, scope)
    if chance(choices, 8) and scope.binders > 1:
        first, second = f.MessageVariable("a"), f.MessageVariable("b")
        below = scope.bind(first).bind(second)
        return f.Acyclic(first, second, formula(choices, min(depth - 1, 3), below))
    return _quantifier(choices, depth, scope)


def _connective(choices: Choices, depth: int, scope: Scope) -> f.Formula:
    kind = choices.integer(0, 4)
    if kind == 0:
        return f.Not(formula(choices, depth - 1, scope))
    left = formula(choices, depth - 1, scope)
    right = formula(choices, depth - 1, scope)
    if kind == 1:
        more = (formula(choices, depth - 1, scope),) if chance(choices, 20) else ()
        return f.And((left, right, *more))
    if kind == 2:
        more = (formula(choices, depth - 1, scope),) if chance(choices, 20) else ()
        return f.Or((left, right, *more))
    return f.Implies(left, right) if kind == 3 else f.Iff(left, right)


def _quantifier(choices: Choices, depth: int, scope: Scope) -> f.Formula:
    variable: f.Variable
    # Names are few, so that inner binders often hide outer ones of the same name.
    if scope.membership and chance(choices, 40):
        variable = (
            f.ViewVariable(pick(choices, ("v", "w")))
            if chance(choices, 60)
            else f.GroupVariable(pick(choices, ("g", "h")))
        )
    elif scope.every_delivery and chance(choices, 50):
        variable = f.DeliveryVariable(pick(choices, ("d", "e")))
    elif chance(choices, 60):
        variable = f.MessageVariable(pick(choices, ("p", "q", "r")))
    else:
        variable = f.EntityVariable(pick(choices, ("i", "j", "k")))
    below = scope.bind(variable)
    extent = _range(choices, depth, below, variable)
    body = formula(choices, depth - 1, below)
    return f.Exists(variable, extent, body) if chance(choices, 35) else f.Forall(variable, extent, body)


def _range(choices: Choices, depth: int, scope: Scope, variable: f.Variable) -> f.Formula:
    kind = choices.integer(0, 9)
    if kind == 9 and depth > 1:
        return formula(choices, min(depth - 1, 2), scope)
    if isinstance(variable, f.DeliveryVariable):
        if kind < 4:
            return f.TRUTH
        outer = replace(scope, deliveries=tuple(d for d in scope.deliveries if d != variable))
        here = f.DeliveredAt(variable, entity_term(choices, outer))
        return here if kind < 8 else f.And((here, atom(choices, scope)))
    if isinstance(variable, f.GroupVariable | f.ViewVariable):
        return _membership_range(choices, scope, variable)
    if isinstance(variable, f.EntityVariable):
        if scope.membership and kind < 4:
            return f.IsMember(variable, _group_or_view(choices, scope))
        if kind < 5 or not scope.messages:
            return f.TRUTH
        return f.IsDestination(variable, message_term(choices, scope))
    outer = replace(scope, messages=tuple(m for m in scope.messages if m != variable))
    if kind < 2:
        return f.TRUTH
    within = f.InLog(variable, log_term(choices, outer))
    if kind < 6:
        return within
    if kind < 8:
        return f.And((within, f.InLog(variable, log_term(choices, scope))))
    return f.And((within, atom(choices, scope)))


def _membership_range(
    choices: Choices, scope: Scope, variable: f.GroupVariable | f.ViewVariable
) -> f.Formula:
    kind = choices.integer(0, 9)
    if kind < 4:
        return f.TRUTH
    if kind < 6:
        return f.IsMember(entity_term(choices, scope), variable)
    here: f.Formula
    if isinstance(variable, f.GroupVariable):
        here = f.AddressedTo(message_term(choices, scope), variable)
    else:
        here = f.Installs(entity_term(choices, scope), variable)
    return here if kind < 8 else f.And((here, atom(choices, scope)))


def per_value(choices: Choices, attributes: tuple[f.Attribute, ...], body: f.Formula) -> f.Per:
    """The formula asked per value of some of the attributes."""
    return f.Per(_some(choices, attributes), body)


def _some(choices: Choices, attributes: tuple[f.Attribute, ...]) -> tuple[f.Attribute, ...]:
    """One or two of the attributes."""
    first = pick(choices, attributes)
    return tuple(dict.fromkeys((first, pick(choices, attributes)))) if chance(choices, 30) else (first,)


def decided_by_an_atom(
    choices: Choices,
    entities: Sequence[str] = ("E1", "E2"),
    messages: Sequence[str] = ("m1", "m2"),
    attributes: tuple[f.Attribute, ...] = (),
) -> f.Formula:
    """A formula in which one atom decides: of named things, below two quantifiers, or in a relation."""
    kind = choices.integer(0, 3)
    if kind < 2:
        here, there = (f.EntityNamed(pick(choices, entities)) for _ in range(2))
        named = Scope(
            (here, there),
            tuple(f.MessageNamed(pick(choices, messages)) for _ in range(2)),
            attributes=attributes,
        )
        if kind == 0:
            return atom(choices, named)
        first, second = event_term(choices, named), event_term(choices, named)
        if chance(choices, 50):
            return f.HappensBefore(first, second)
        count = f.Constant(Fraction(choices.integer(0, 3)), f.Dimension.NUMBER)
        return f.Comparison(f.Relation.EQUAL, f.VectorTime(first, there), count, f.Dimension.NUMBER)
    i, p, q = f.EntityVariable("i"), f.MessageVariable("p"), f.MessageVariable("q")
    scope = Scope((i,), (p, q), attributes=attributes)
    if kind == 3:
        one, other = f.InLog(p, f.ReceiptLog(i)), f.Precedes(p, q, f.SendLog(f.Sender(p)))
        related = f.And((f.Or((one, other)), atom(choices, scope)))
        return f.Forall(i, f.TRUTH, f.Acyclic(p, q, related))
    body: f.Formula = f.Implies(atom(choices, scope), atom(choices, scope))
    if chance(choices, 50):
        body = f.Implies(f.And((f.InLog(p, f.ReceiptLog(i)), atom(choices, scope))), body)
    return f.Forall(i, f.TRUTH, f.Forall(p, f.TRUTH, f.Forall(q, f.TRUTH, body)))


def decided_by_deliveries(choices: Choices, attributes: tuple[f.Attribute, ...] = ()) -> f.Formula:
    """A formula in which atoms about two deliveries decide, of one entity or of any."""
    i, d, e = f.EntityVariable("i"), f.DeliveryVariable("d"), f.DeliveryVariable("e")
    scope = Scope((i,), attributes=attributes, every_delivery=True, deliveries=(d, e))
    extents = [f.DeliveredAt(one, i) if chance(choices, 70) else f.TRUTH for one in (d, e)]
    premise = atom(choices, scope)
    if chance(choices, 50):
        premise = f.And((_delivery_atom(choices, scope), premise))
    body: f.Formula = f.Implies(premise, _delivery_atom(choices, scope))
    found = f.Forall(i, f.TRUTH, f.Forall(d, extents[0], f.Forall(e, extents[1], body)))
    return f.Not(found) if chance(choices, 20) else found


def _delivery_atom(choices: Choices, scope: Scope) -> f.Formula:
    """An atom about deliveries in scope, or about an acknowledgement."""
    kind = choices.integer(0, 13) if scope.deliveries else 9
    if kind == 9:
        return f.Acknowledged(message_term(choices, scope), entity_term(choices, scope))
    one, other = pick(choices, scope.deliveries[::-1]), pick(choices, scope.deliveries)
    if kind < 3:
        return f.DeliveredBefore(one, other, entity_term(choices, scope))
    if kind < 5:
        return f.InFlight(one, other)
    if kind < 6:
        return f.DeliveredAt(one, entity_term(choices, scope))
    if kind < 7:
        return f.SameDelivery(one, other)
    if kind < 8:
        return f.SameMessage(f.MessageOf(one), message_term(choices, scope))
    if kind == 13:
        return f.SameText(_delivery_text(choices, scope, one), _delivery_text(choices, scope, other))
    if kind == 12:
        placed, counted = _position_of(choices, scope, one), _delivery_number(choices, scope, other)
        return f.Comparison(pick(choices, tuple(f.Relation)), placed, counted, f.Dimension.NUMBER)
    left, right = _delivery_number(choices, scope, one), number_term(choices, scope, f.Dimension.NUMBER, 1)
    return f.Comparison(pick(choices, tuple(f.Relation)), left, right, f.Dimension.NUMBER)


def decided_by_membership(choices: Choices, attributes: tuple[f.Attribute, ...] = ()) -> f.Formula:
    """A formula in which atoms about two views or two groups decide, or about named ones."""
    i, j, p = f.EntityVariable("i"), f.EntityVariable("j"), f.MessageVariable("p")
    scope = Scope((i, j), (p,), attributes=attributes, membership=True)
    variables: tuple[f.Variable, ...] = (i, j, p)
    if chance(choices, 60):
        v, w = f.ViewVariable("v"), f.ViewVariable("w")
        scope, variables = replace(scope, views=(v, w)), (*variables, v, w)
    elif chance(choices, 70):
        g, h = f.GroupVariable("g"), f.GroupVariable("h")
        scope, variables = replace(scope, groups=(g, h)), (*variables, g, h)
    premise = _membership_atom(choices, scope)
    if chance(choices, 50):
        premise = f.And((premise, atom(choices, scope)))
    found: f.Formula = f.Implies(premise, _membership_atom(choices, scope))
    for variable in reversed(variables):
        found = f.Forall(variable, f.TRUTH, found)
    return f.Not(found) if chance(choices, 20) else found


def _membership_atom(choices: Choices, scope: Scope) -> f.Formula:
    """An atom about groups or views."""
    kind = choices.integer(0, 11)
    if kind > 9:
        left: f.NumberTerm = f.ViewNumber(view_term(choices, scope))
        right = number_term(choices, scope, f.Dimension.NUMBER, 1)
        if chance(choices, 60):
            right = f.ViewNumber(view_term(choices, scope))
        return f.Comparison(pick(choices, tuple(f.Relation)), left, right, f.Dimension.NUMBER)
    if kind < 2:
        return f.IsMember(entity_term(choices, scope), _group_or_view(choices, scope))
    if kind < 4:
        one, other = view_term(choices, scope), view_term(choices, scope)
        return f.InstallsBefore(one, other, entity_term(choices, scope))
    if kind < 5:
        return f.Installs(entity_term(choices, scope), view_term(choices, scope))
    if kind < 6:
        return f.InstallsAgain(entity_term(choices, scope), view_term(choices, scope))
    if kind < 8:
        return f.SameView(view_of(choices, scope), view_term(choices, scope))
    if kind < 9:
        return f.AddressedTo(message_term(choices, scope), group_term(choices, scope))
    return f.SameGroup(group_term(choices, scope), group_term(choices, scope))


def _group_or_view(choices: Choices, scope: Scope) -> f.GroupTerm | f.ViewTerm:
    one_of_both = bool(scope.groups) == bool(scope.views)
    in_group = chance(choices, 50) if one_of_both else bool(scope.groups)
    return group_term(choices, scope) if in_group else view_term(choices, scope)


def group_term(choices: Choices, scope: Scope) -> f.GroupTerm:
    """A term of sort group."""
    if scope.groups and not chance(choices, 8):
        return scope.groups[-1 - choices.integer(0, len(scope.groups) - 1)]
    return f.GroupNamed(pick(choices, ("G1", "G2", "G9")))


def view_term(choices: Choices, scope: Scope) -> f.ViewTerm:
    """A term of sort view."""
    if scope.views and chance(choices, 65):
        return scope.views[-1 - choices.integer(0, len(scope.views) - 1)]
    if scope.bound and chance(choices, 65):
        return view_of(choices, scope)
    return f.ViewNamed(pick(choices, ("V1", "V2", "V9", "1", "2")))


def view_of(choices: Choices, scope: Scope) -> f.ViewOf:
    """The view of an event or of a delivery."""
    if scope.deliveries and chance(choices, 60):
        return f.ViewOf(pick(choices, scope.deliveries))
    return f.ViewOf(event_term(choices, scope))


def _delivery_number(choices: Choices, scope: Scope, delivery: f.DeliveryVariable) -> f.NumberTerm:
    """A number of a delivery."""
    kind = choices.integer(0, 3)
    if kind < 2:
        return f.Nth(delivery)
    if kind < 3:
        return f.DeliveryAttribute(EVENT_ATTRIBUTES[0], delivery)
    return _position_of(choices, scope, delivery)


def _position_of(choices: Choices, scope: Scope, delivery: f.DeliveryVariable) -> f.DeliveryPosition:
    """The place of a delivery at its entity, or at another."""
    part = part_term(choices, scope) if scope.attributes and chance(choices, 20) else None
    here = f.ReceiverOf(delivery) if chance(choices, 70) else entity_term(choices, scope)
    return f.DeliveryPosition(delivery, here, part)


def _delivery_text(choices: Choices, scope: Scope, delivery: f.DeliveryVariable) -> f.TextTerm:
    """A text of a delivery, or another one."""
    if chance(choices, 20) and scope.attributes:
        return text_term(choices, scope)
    if chance(choices, 20):
        return f.Text(pick(choices, ("k1", "k2", "k9")))
    return f.DeliveryText(EVENT_ATTRIBUTES[1], delivery)


def entity_term(choices: Choices, scope: Scope) -> f.EntityTerm:
    """A term of sort entity."""
    if scope.deliveries and chance(choices, 25):
        return f.ReceiverOf(pick(choices, scope.deliveries))
    kind = choices.integer(0, 9)
    if kind < 7 and scope.entities:
        return scope.entities[-1 - choices.integer(0, len(scope.entities) - 1)]
    if kind < 9 and scope.messages:
        return f.Sender(message_term(choices, scope))
    return f.EntityNamed(pick(choices, ("E1", "E2", "E9")))


def message_term(choices: Choices, scope: Scope) -> f.MessageTerm:
    """A term of sort message."""
    if scope.deliveries and (not scope.messages or chance(choices, 50)):
        return f.MessageOf(pick(choices, scope.deliveries))
    if scope.messages and not chance(choices, 8):
        return scope.messages[-1 - choices.integer(0, len(scope.messages) - 1)]
    return f.MessageNamed(pick(choices, ("m1", "m2", "m9")))


def log_term(choices: Choices, scope: Scope) -> f.LogTerm:
    """A term of sort log."""
    kind = choices.integer(0, 9)
    if kind < 5:
        return f.ReceiptLog(entity_term(choices, scope))
    return f.SendLog(entity_term(choices, scope), entity_term(choices, scope) if kind > 7 else None)


def event_term(choices: Choices, scope: Scope) -> f.EventTerm:
    """A term of sort event."""
    kind = choices.integer(0, 9)
    if kind < 4:
        return f.SendEvent(message_term(choices, scope))
    if kind < 9:
        return f.DeliveryEvent(message_term(choices, scope), entity_term(choices, scope))
    return f.ArrivalEvent(message_term(choices, scope), entity_term(choices, scope))


def part_term(choices: Choices, scope: Scope) -> f.Part:
    """A part of the execution."""
    return f.Part(_some(choices, scope.attributes), message_term(choices, scope))


def text_term(choices: Choices, scope: Scope) -> f.TextTerm:
    """A term of sort text."""
    texts = [attribute for attribute in scope.attributes if attribute.sort is f.AttributeSort.TEXT]
    if chance(choices, 25):
        return f.Text(pick(choices, ("k1", "k2", "k9")))
    return f.TextOf(pick(choices, texts), message_term(choices, scope))


def number_term(choices: Choices, scope: Scope, dimension: f.Dimension, depth: int = 2) -> f.NumberTerm:
    """A number, time or duration: times differ by durations, and only those are scaled."""
    number, time, duration = f.Dimension.NUMBER, f.Dimension.TIME, f.Dimension.DURATION
    if scope.deliveries and dimension is not duration and chance(choices, 30):
        delivery = pick(choices, scope.deliveries)
        if dimension is number:
            return _delivery_number(choices, scope, delivery)
        timed = f.DeliveryAttribute(EVENT_ATTRIBUTES[2], delivery)
        return timed if chance(choices, 25) else f.DeliveryTime(delivery)
    if scope.membership and dimension is number and chance(choices, 25):
        return f.ViewNumber(view_term(choices, scope))
    numbers = [attribute for attribute in scope.attributes if attribute.sort.value == dimension.value]
    if numbers and chance(choices, 30):
        return f.AttributeOf(pick(choices, numbers), message_term(choices, scope))
    if depth > 0 and chance(choices, 35):
        kind = choices.integer(0, 2)
        if dimension is time:
            other = number_term(choices, scope, duration, depth - 1)
            left = number_term(choices, scope, time, depth - 1)
            return f.Sum(left, other) if kind else f.Difference(left, other)
        if kind == 2:
            factor = Fraction(choices.integer(0, 7) - 2, choices.integer(1, 3))
            return f.Scaled(factor, number_term(choices, scope, dimension, depth - 1))
        if dimension is duration and chance(choices, 50):
            return f.Difference(
                number_term(choices, scope, time, depth - 1), number_term(choices, scope, time, depth - 1)
            )
        left = number_term(choices, scope, dimension, depth - 1)
        right = number_term(choices, scope, dimension, depth - 1)
        return f.Sum(left, right) if kind else f.Difference(left, right)
    if dimension is time:
        if chance(choices, 8):
            return f.Constant(Fraction(choices.integer(0, 80)), time)
        return f.TimeOf(event_term(choices, scope))
    if dimension is duration:
        kind = choices.integer(0, 5)
        if kind < 3:
            return f.Delta()
        return (
            f.Epsilon()
            if kind == 3
            else f.Constant(Fraction(choices.integer(0, 60), choices.integer(1, 2)), duration)
        )
    kind = choices.integer(0, 9)
    if kind < 3:
        return f.Constant(Fraction(choices.integer(0, 12), choices.integer(1, 3)), number)
    part = part_term(choices, scope) if scope.attributes and 3 <= kind < 6 and chance(choices, 50) else None
    if kind < 5:
        return f.Position(message_term(choices, scope), log_term(choices, scope), part)
    if kind < 6:
        return f.Size(log_term(choices, scope), part)
    event, entity = event_term(choices, scope), entity_term(choices, scope)
    return f.RecordedClock(event, entity) if kind < 8 else f.VectorTime(event, entity)


def atom(choices: Choices, scope: Scope) -> f.Formula:
    """An atom over the variables in scope, or over names where there are none."""
    if scope.attributes and chance(choices, 30):
        if chance(choices, 50):
            return f.SameText(text_term(choices, scope), text_term(choices, scope))
        return f.SamePart(message_term(choices, scope), part_term(choices, scope))
    if scope.every_delivery and chance(choices, 40):
        return _delivery_atom(choices, scope)
    if scope.membership and chance(choices, 50):
        return _membership_atom(choices, scope)
    kind = choices.integer(0, 19)
    if kind < 4:
        first, second = message_term(choices, scope), message_term(choices, scope)
        return f.Precedes(first, second, log_term(choices, scope))
    if kind < 7:
        return f.InLog(message_term(choices, scope), log_term(choices, scope))
    if kind < 9:
        return f.IsDestination(entity_term(choices, scope), message_term(choices, scope))
    if kind < 12:
        return f.HappensBefore(event_term(choices, scope), event_term(choices, scope))
    if kind < 15:
        dimension = pick(choices, (f.Dimension.TIME, f.Dimension.NUMBER, f.Dimension.DURATION))
        left = number_term(choices, scope, dimension)
        right = number_term(choices, scope, dimension)
        return f.Comparison(pick(choices, tuple(f.Relation)), left, right, dimension)
    if kind < 16:
        return f.Sent(message_term(choices, scope))
    if kind < 17:
        return f.SameEntity(entity_term(choices, scope), entity_term(choices, scope))
    if kind < 18:
        return f.SameMessage(message_term(choices, scope), message_term(choices, scope))
    if kind < 19 and chance(choices, 50):
        return f.Faulty(entity_term(choices, scope))
    if kind < 19:
        return f.Repeated(message_term(choices, scope), log_term(choices, scope))
    plain: tuple[f.Formula, ...] = (
        f.TRUTH,
        f.FALSEHOOD,
        f.Undetermined("not in this version"),
        f.FailureLine(),
    )
    return pick(choices, plain)
