"""Definitions with a parameter that are recognized, and formulas that ask less than a definition.

Like `recognition`, by the canonical form: whatever a formula is called, it is compared with the definition for the
numbers and the attributes that it has in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Final

from precedes.core.formula import (
    TRUTH,
    And,
    Attribute,
    AttributeOf,
    AttributeSort,
    Carrier,
    Comparison,
    Constant,
    Dimension,
    EntityVariable,
    Forall,
    Formula,
    Iff,
    Implies,
    InLog,
    IsDestination,
    LogTerm,
    MessageVariable,
    Position,
    Precedes,
    ReceiptLog,
    Relation,
    SameText,
    SendLog,
    Sum,
    TextOf,
)
from precedes.core.traversal import attributes_in, walk
from precedes.logic.canonical_form import canonical
from precedes.logic.recognition import UNTUNED, recognise

_I, _J = EntityVariable("i"), EntityVariable("j")
_P, _Q = MessageVariable("p"), MessageVariable("q")
_L, _M, _SELECTED = ReceiptLog(_I), ReceiptLog(_J), SendLog(_J, _I)

MOST: Final = 1 << 60
"""No log is longer, so that a larger number asks for the same."""


@dataclass(frozen=True, slots=True)
class Member:
    """What a formula says: a definition of a family, by its name, and what stands for the parameter.

    With attributes `alike`, it is the definition asked of each two messages that have equal values of them. `bound` is
    a whole number: what is compared with it is one.
    """

    name: str
    bound: int = 0
    alike: tuple[Attribute, ...] = ()


def _both(first: LogTerm, second: LogTerm, body: Formula) -> Formula:
    """Said of each entity, another one, and two messages that are in both logs."""
    for message in (_Q, _P):
        body = Forall(message, And((InLog(message, first), InLog(message, second))), body)
    return Forall(_I, TRUTH, Forall(_J, TRUTH, body))


def bounded_disorder(most: Fraction) -> Formula:
    """Only the next messages that its sender sent to the entity overtake a message there, and at most so many."""
    place = Position(_P, _SELECTED)
    limit = Sum(place, Constant(most, Dimension.NUMBER)) if most else place
    near = Comparison(Relation.AT_MOST, Position(_Q, _SELECTED), limit, Dimension.NUMBER)
    overtakes = And((Precedes(_P, _Q, _SELECTED), Precedes(_Q, _P, _L)))
    return _both(_L, _SELECTED, Implies(overtakes, near))


def one_order_of_equals(attributes: Sequence[Attribute]) -> Formula:
    """Pedone and Schiper 1999, where messages interfere that have equal values of all attributes."""
    equal = tuple(_equal(attribute) for attribute in attributes)
    interfere = equal[0] if len(equal) == 1 else And(equal)
    return _both(_L, _M, Implies(interfere, Iff(Precedes(_P, _Q, _L), Precedes(_P, _Q, _M))))


def _equal(attribute: Attribute) -> Formula:
    if attribute.sort is AttributeSort.TEXT:
        return SameText(TextOf(attribute, _P), TextOf(attribute, _Q))
    sides = AttributeOf(attribute, _P), AttributeOf(attribute, _Q)
    return Comparison(Relation.EQUAL, *sides, Dimension.NUMBER)


def member_of_family(formula: Formula) -> Member | None:
    """The definition with a parameter that a formula is, or None."""
    looked_for: tuple[Callable[[Formula], Member | None], ...] = (_of_disorder, _of_equals)
    return next(filter(None, (find(formula) for find in looked_for)), None)


def _of_disorder(formula: Formula) -> Member | None:
    nodes = list(walk(formula))
    if not any(isinstance(node, Position) for node in nodes):
        return None
    wanted = canonical(formula)
    for most in (Fraction(0), *(node.value for node in nodes if isinstance(node, Constant))):
        if canonical(bounded_disorder(most)) == wanted:
            # Whoever overtakes is at least one place behind, so that less than nothing asks for no more than nothing.
            return Member("bounded_disorder", min(max(floor(most), 0), MOST))
    return None


def _of_equals(formula: Formula) -> Member | None:
    attributes = attributes_in(formula)
    sorts = (AttributeSort.TEXT, AttributeSort.NUMBER)
    crisp = all(each.carrier is Carrier.MESSAGE and each.sort in sorts for each in attributes)
    if not attributes or not crisp or canonical(one_order_of_equals(attributes)) != canonical(formula):
        return None
    return Member("order_equivalent", alike=attributes)


def implying(formula: Formula) -> str | None:
    """A definition that has a kernel and asks no less than a formula: what the formula says of all for which a premise
    is true, the definition says of all. None where none is known.
    """
    stronger = _without_premise(formula)
    if stronger is not None and canonical(stronger) == canonical(DELIVERED_WHERE_ADDRESSED):
        return "selectively_information_preserving"
    names = None if stronger is None else recognise(stronger)
    return names[0] if names and len(names) == 1 and names[0] not in UNTUNED else None


DELIVERED_WHERE_ADDRESSED: Final = Forall(_P, TRUTH, Forall(_I, IsDestination(_I, _P), InLog(_P, _L)))
"""What selectively information preserving logs come to for messages that were sent: a message that is for an entity is
in SL of its sender to that entity.
"""


def _without_premise(formula: Formula) -> Formula | None:
    """What follows from the premise that stands behind the quantifiers; None where there is none."""
    if isinstance(formula, Forall):
        inner = _without_premise(formula.body)
        return None if inner is None else replace(formula, body=inner)
    return formula.right if isinstance(formula, Implies) else None
