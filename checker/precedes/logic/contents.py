"""The parts of a formula that matter for judging it."""

from __future__ import annotations

from precedes.core.formula import (
    Acknowledged,
    DeliveryPosition,
    Formula,
    GroupNamed,
    GroupTerm,
    InFlight,
    Position,
    Size,
    VectorTime,
    ViewNamed,
    ViewNumber,
    ViewTerm,
)
from precedes.core.traversal import entities_in, messages_in, walk


def names_in(formula: Formula) -> frozenset[str]:
    """The entities, messages, groups and views that it names."""
    with_members = (node.name for node in walk(formula) if isinstance(node, GroupNamed | ViewNamed))
    return frozenset((*entities_in(formula), *messages_in(formula), *with_members))


def views_in(formula: Formula) -> bool:
    """Whether it speaks of views."""
    return any(isinstance(node, ViewTerm) for node in walk(formula))


def view_numbers_in(formula: Formula) -> bool:
    """Whether it asks for the numbers of views."""
    return any(isinstance(node, ViewNumber) for node in walk(formula))


def groups_in(formula: Formula) -> bool:
    """Whether it speaks of groups."""
    return any(isinstance(node, GroupTerm) for node in walk(formula))


def counts_in(formula: Formula) -> bool:
    """Whether it counts events or places, so that it says something else of an execution cut to some messages."""
    return any(isinstance(node, Position | Size | VectorTime | DeliveryPosition) for node in walk(formula))


def acknowledgements_in(formula: Formula) -> bool:
    """Whether it asks what was acknowledged."""
    return any(isinstance(node, Acknowledged | InFlight) for node in walk(formula))
