"""Formulas with their variables replaced by what they stand for."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, assert_never

from precedes.core.formula import (
    DeliveryNamed,
    DeliveryVariable,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    Formula,
    GroupNamed,
    GroupVariable,
    MessageNamed,
    MessageOf,
    MessageVariable,
    ReceiverOf,
    SameEntity,
    Sender,
    Variable,
    ViewNamed,
    ViewVariable,
)
from precedes.core.traversal import Node, Subject, bound, rebuilt
from precedes.engines.reference.terms import Terms


def ground(formula: Formula, terms: Terms) -> Formula:
    """The formula with every variable that is bound now replaced by its value, and `sender(p)` by the sender where
    there is one; but in a comparison of entities the sender of a message is still told as that.
    """
    grounded: Formula = _ground(formula, terms, frozenset())
    return grounded


def _ground(node: Node, terms: Terms, hidden: Set[Variable]) -> Any:
    if isinstance(node, Variable):
        return node if node in hidden else _value(node, terms)
    if isinstance(node, Sender) and node.message not in hidden:
        sender = terms.entity(node)
        if sender is not None:
            return EntityNamed(sender)
    if isinstance(node, MessageOf) and node.delivery not in hidden:
        made = terms.delivery(node.delivery)
        if made is not None:
            return MessageNamed(made.message)
    if isinstance(node, ReceiverOf) and node.delivery not in hidden:
        made = terms.delivery(node.delivery)
        if made is not None:
            return EntityNamed(made.entity)
    if isinstance(node, SameEntity):
        return SameEntity(*(_side(side, terms, hidden) for side in (node.left, node.right)))
    hidden = hidden | frozenset(bound(node))
    return rebuilt(node, lambda child: _ground(child, terms, hidden))


def _value(variable: Variable, terms: Terms) -> Subject:
    match variable:
        case EntityVariable(name):
            return EntityNamed(terms.entities[name]) if name in terms.entities else variable
        case MessageVariable(name):
            return MessageNamed(terms.messages[name]) if name in terms.messages else variable
        case DeliveryVariable(name):
            made = terms.deliveries.get(name)
            return variable if made is None else DeliveryNamed(made.message, made.entity, made.nth)
        case GroupVariable(name):
            return GroupNamed(terms.groups[name]) if name in terms.groups else variable
        case ViewVariable(name):
            return ViewNamed(terms.views[name]) if name in terms.views else variable
        case _:
            assert_never(variable)


def _side(side: EntityTerm, terms: Terms, hidden: Set[Variable]) -> EntityTerm:
    if isinstance(side, Sender):
        return Sender(_ground(side.message, terms, hidden))
    entity: EntityTerm = _ground(side, terms, hidden)
    return entity
