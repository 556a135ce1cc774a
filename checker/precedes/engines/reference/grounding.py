"""Formulas with their variables replaced by what they stand for."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from precedes.engines.reference.terms import Terms
from precedes.formula import (
    Acyclic,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    Exists,
    Forall,
    Formula,
    MessageNamed,
    MessageVariable,
    SameEntity,
    Sender,
    Variable,
)

Node = TypeVar("Node")


def ground(formula: Formula, terms: Terms) -> Formula:
    """The formula with every variable that is bound now replaced by its value, and `sender(p)` by the sender where
    there is one; but in a comparison of entities the sender of a message is still told as that.
    """
    return _ground(formula, terms, frozenset())


def _ground(node: Node, terms: Terms, hidden: Set[Variable]) -> Node:
    return cast(Node, _replaced(node, terms, hidden))


def _replaced(node: Any, terms: Terms, hidden: Set[Variable]) -> Any:
    match node:
        case EntityVariable(name) if node not in hidden and name in terms.entities:
            return EntityNamed(terms.entities[name])
        case MessageVariable(name) if node not in hidden and name in terms.messages:
            return MessageNamed(terms.messages[name])
        case EntityVariable() | MessageVariable():
            return node
        case Sender(MessageVariable() as message) if message in hidden:
            return node
        case Sender():
            sender = terms.entity(node)
            return Sender(_ground(node.message, terms, hidden)) if sender is None else EntityNamed(sender)
        case SameEntity(left, right):
            return SameEntity(*(_side(side, terms, hidden) for side in (left, right)))
        case Forall() | Exists():
            hidden |= {node.variable}
        case Acyclic():
            hidden |= {node.first, node.second}
        case tuple():
            return tuple(_ground(part, terms, hidden) for part in node)
        case _ if not is_dataclass(node):
            return node
    return replace(node, **{f.name: _ground(getattr(node, f.name), terms, hidden) for f in fields(node)})


def _side(side: EntityTerm, terms: Terms, hidden: Set[Variable]) -> EntityTerm:
    if isinstance(side, Sender):
        return Sender(_ground(side.message, terms, hidden))
    return _ground(side, terms, hidden)
