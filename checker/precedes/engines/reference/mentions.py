"""What a ground formula speaks of: the entities, messages, atoms of happens-before and logs that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from precedes.formula import EntityNamed, Formula, HappensBefore, MessageNamed, NumberTerm


def messages_in(formula: Formula | NumberTerm) -> tuple[str, ...]:
    """The messages named in a formula, each once, in the order in which it names them."""
    return tuple(dict.fromkeys(node.name for node in nodes(formula) if isinstance(node, MessageNamed)))


def entities_in(formula: Formula | NumberTerm) -> tuple[str, ...]:
    """The entities named in a formula, each once, in the order in which it names them."""
    return tuple(dict.fromkeys(node.name for node in nodes(formula) if isinstance(node, EntityNamed)))


def happens_before_in(formula: Formula) -> tuple[HappensBefore, ...]:
    """The atoms of happens-before in a formula."""
    return tuple(node for node in nodes(formula) if isinstance(node, HappensBefore))


def nodes(node: Any) -> Iterator[Any]:
    """A node of the tree and all below it."""
    if isinstance(node, tuple):
        for part in node:
            yield from nodes(part)
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            yield from nodes(getattr(node, field.name))
