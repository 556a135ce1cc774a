"""What a formula contains, as far as judging it needs to know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from precedes.formula import EntityNamed, Formula, MessageNamed, Position, Size, VectorTime


def names_in(formula: Formula) -> frozenset[str]:
    """The entities and messages that it names."""
    return frozenset(node.name for node in _nodes(formula) if isinstance(node, EntityNamed | MessageNamed))


def counts_in(formula: Formula) -> bool:
    """Whether it counts events or places, so that it says something else of an execution cut to some messages."""
    return any(isinstance(node, Position | Size | VectorTime) for node in _nodes(formula))


def _nodes(formula: object) -> Iterator[object]:
    waiting = [formula]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(node)
        elif is_dataclass(node):
            yield node
            waiting.extend(getattr(node, field.name) for field in fields(node))
