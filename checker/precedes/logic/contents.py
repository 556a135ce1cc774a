"""The parts of a formula that matter for judging it."""

from __future__ import annotations

from precedes.core.formula import (
    Acknowledged,
    DeliveryPosition,
    Formula,
    InFlight,
    Position,
    Size,
    VectorTime,
)
from precedes.core.traversal import entities_in, messages_in, walk


def names_in(formula: Formula) -> frozenset[str]:
    """The entities and messages that it names."""
    return frozenset((*entities_in(formula), *messages_in(formula)))


def counts_in(formula: Formula) -> bool:
    """Whether it counts events or places, so that it says something else of an execution cut to some messages."""
    return any(isinstance(node, Position | Size | VectorTime | DeliveryPosition) for node in walk(formula))


def acknowledgements_in(formula: Formula) -> bool:
    """Whether it asks what was acknowledged."""
    return any(isinstance(node, Acknowledged | InFlight) for node in walk(formula))
