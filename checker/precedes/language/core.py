"""Walking over core formulas: what they mention, and asking them of some of the entities only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from precedes import formula as core


def nodes(formula: core.Formula) -> Iterator[object]:
    """Every node of a formula, terms too, found without recursion."""
    waiting: list[object] = [formula]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(node)
            continue
        slots = getattr(type(node), "__slots__", None)
        if slots and type(node).__module__ == core.__name__:
            yield node
            waiting.extend(getattr(node, slot) for slot in slots)


def mentions(formula: core.Formula, variable: core.Variable) -> bool:
    """Whether the variable occurs, bound or free; lowering gives every binder in a scope its own name."""
    return any(node == variable for node in nodes(formula))


def among(formula: core.Formula, entities: tuple[str, ...]) -> core.Formula:
    """The formula asked of some entities: owners of receipt logs, and who delivers, are among them."""

    def inside(part: core.Formula) -> core.Formula:
        return among(part, entities)

    match formula:
        case core.Not(body):
            return core.Not(inside(body))
        case core.And(parts):
            return core.And(tuple(inside(part) for part in parts))
        case core.Or(parts):
            return core.Or(tuple(inside(part) for part in parts))
        case core.Implies(left, right):
            return core.Implies(inside(left), inside(right))
        case core.Iff(left, right):
            return core.Iff(inside(left), inside(right))
        case core.Forall(variable, range_, body) | core.Exists(variable, range_, body):
            narrowed = range_
            if isinstance(variable, core.EntityVariable) and (
                _receives(range_, variable) or _receives(body, variable)
            ):
                narrowed = core.conjunction(one_of(variable, entities), range_)
            return replace(formula, range=narrowed, body=inside(body))
        case core.Acyclic(body=body):
            return replace(formula, body=inside(body))
        case (
            core.Truth()
            | core.Undetermined()
            | core.InLog()
            | core.Precedes()
            | core.Repeated()
            | core.Sent()
            | core.IsDestination()
            | core.SameEntity()
            | core.SameMessage()
            | core.HappensBefore()
            | core.Comparison()
            | core.FailureLine()
        ):
            return formula
        case _:
            assert_never(formula)


def one_of(entity: core.EntityTerm, names: tuple[str, ...]) -> core.Formula:
    """The entity is one of these; false where there are none."""
    parts = tuple(core.SameEntity(entity, core.EntityNamed(name)) for name in names)
    return core.FALSEHOOD if not parts else parts[0] if len(parts) == 1 else core.Or(parts)


def _receives(formula: core.Formula, entity: core.EntityVariable) -> bool:
    return any(
        isinstance(node, core.ReceiptLog | core.DeliveryEvent | core.ArrivalEvent) and node.entity == entity
        for node in nodes(formula)
    )
