"""Traversal of formulas: the only module that knows where a node keeps its parts.

The types of a node's fields say which parts it has, so a new kind of node is traversed like any other. Other
modules decide what a node means, with a `match` that ends in `assert_never`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from operator import is_
from typing import Any, Final, TypeAlias, get_args, get_type_hints

from precedes.core import formula as core
from precedes.core.formula import (
    Attribute,
    AttributeOf,
    DeliveryAttribute,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryText,
    EntityNamed,
    EntityTerm,
    EventTerm,
    Formula,
    GroupTerm,
    LogTerm,
    MessageNamed,
    MessageTerm,
    NumberTerm,
    Part,
    Per,
    TextOf,
    TextTerm,
    Variable,
    ViewTerm,
)

Node: TypeAlias = (
    Formula
    | NumberTerm
    | TextTerm
    | EventTerm
    | LogTerm
    | EntityTerm
    | MessageTerm
    | DeliveryTerm
    | GroupTerm
    | ViewTerm
    | Part
)

Subject: TypeAlias = EntityTerm | MessageTerm | DeliveryTerm | GroupTerm | ViewTerm
"""What a variable can stand for."""


def _mentioned(hint: Any) -> Iterator[Any]:
    yield hint
    for inner in get_args(hint):
        yield from _mentioned(inner)


def _fields(kind: type, holds: Callable[[frozenset[Any]], bool]) -> tuple[str, ...]:
    hints = get_type_hints(kind, vars(core))
    return tuple(field.name for field in fields(kind) if holds(frozenset(_mentioned(hints[field.name]))))


_KINDS: Final = frozenset(get_args(Node))
_VARIABLES: Final = frozenset(get_args(Variable))
_PARTS: Final[Mapping[type, tuple[str, ...]]] = {
    kind: _fields(kind, lambda mentioned: bool(mentioned & _KINDS)) for kind in _KINDS
}
"""The fields of each kind of node that hold nodes, tuples of nodes or None."""
_BOUND: Final[Mapping[type, tuple[str, ...]]] = {
    kind: _fields(kind, lambda mentioned: bool(mentioned & _KINDS) and mentioned & _KINDS <= _VARIABLES)
    for kind in _KINDS
}
"""The fields that can hold nothing but a variable: the node binds it."""


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below one, in the order of its fields; the variables that it binds are among them."""
    found: list[Node] = []
    for name in _PARTS[type(node)]:
        part = getattr(node, name)
        if isinstance(part, tuple):
            found.extend(part)
        elif part is not None:
            found.append(part)
    return tuple(found)


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, each before what is below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def rebuilt(node: Node, change: Callable[[Any], Any]) -> Any:
    """The node with each of its children changed; the node itself where none of them is."""
    changed: dict[str, Any] = {}
    for name in _PARTS[type(node)]:
        part = getattr(node, name)
        if isinstance(part, tuple):
            after: Any = tuple(map(change, part))
            same = all(map(is_, part, after))
        else:
            after = None if part is None else change(part)
            same = after is part
        if not same:
            changed[name] = after
    return replace(node, **changed) if changed else node


def transformed(node: Node, change: Callable[[Node, Node], Node]) -> Any:
    """The tree changed from below: `change` has each node as it was, and with its children changed."""
    done: dict[int, Node] = {}
    for each in reversed(list(walk(node))):
        done[id(each)] = change(each, rebuilt(each, lambda child: done[id(child)]))
    return done[id(node)]


# ---- variables -------------------------------------------------------------------------------------------------


def bound(node: Node) -> tuple[Variable, ...]:
    """The variables that a node binds in what is below it."""
    return tuple(getattr(node, name) for name in _BOUND[type(node)])


class FreeVariables:
    """The free variables of the parts of one tree, each found once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Node, tuple[Variable, ...]]] = {}

    def of(self, node: Node) -> tuple[Variable, ...]:
        """The free variables of a node, in the order in which they occur."""
        known = self._found.get(id(node))
        if known is not None:
            return known[1]
        if isinstance(node, Variable):
            found: tuple[Variable, ...] = (node,)
        else:
            hidden = bound(node)
            below = (variable for child in children(node) for variable in self.of(child))
            found = tuple(dict.fromkeys(variable for variable in below if variable not in hidden))
        # The node is kept so that its id stays its own.
        self._found[id(node)] = (node, found)
        return found


@lru_cache(maxsize=10_000)
def free_variables(node: Node) -> frozenset[Variable]:
    """The free variables of a node."""
    return frozenset(FreeVariables().of(node))


def substituted(node: Node, terms: Mapping[Variable, Subject]) -> Any:
    """The tree with its free variables replaced. No binder may capture a variable of what replaces them."""
    if isinstance(node, Variable):
        return terms.get(node, node)
    hidden = bound(node)
    if hidden:
        terms = {variable: term for variable, term in terms.items() if variable not in hidden}
    return rebuilt(node, lambda child: substituted(child, terms))


# ---- what is named ---------------------------------------------------------------------------------------------


def entities_in(node: Node) -> tuple[str, ...]:
    """The entities named in a tree, each once, in the order in which it names them."""
    named: list[str] = []
    for each in walk(node):
        if isinstance(each, EntityNamed):
            named.append(each.name)
        elif isinstance(each, DeliveryNamed):
            named.append(each.entity)
    return tuple(dict.fromkeys(named))


def messages_in(node: Node) -> tuple[str, ...]:
    """The messages named in a tree, each once, in the order in which it names them."""
    named: list[str] = []
    for each in walk(node):
        if isinstance(each, MessageNamed):
            named.append(each.name)
        elif isinstance(each, DeliveryNamed):
            named.append(each.message)
    return tuple(dict.fromkeys(named))


def attributes_in(node: Node) -> tuple[Attribute, ...]:
    """The attributes that a tree asks for, each once, in the order of their names."""
    found: set[Attribute] = set()
    for each in walk(node):
        if isinstance(each, AttributeOf | TextOf | DeliveryAttribute | DeliveryText):
            found.add(each.attribute)
        elif isinstance(each, Per | Part):
            found.update(each.attributes)
    return tuple(sorted(found, key=lambda attribute: attribute.name))
