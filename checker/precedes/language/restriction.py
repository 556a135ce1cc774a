"""Core formulas asked of some of the entities only, and what they mention."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from precedes.core import formula as core
from precedes.core.traversal import Node, rebuilt, walk

_RECEIVING: Final = (
    core.ReceiptLog,
    core.DeliveryEvent,
    core.ArrivalEvent,
    core.DeliveredAt,
    core.DeliveredBefore,
    core.Acknowledged,
    core.Installs,
    core.InstallsBefore,
    core.InstallsAgain,
)


def mentions(formula: core.Formula, variable: core.Variable) -> bool:
    """Whether the variable occurs, bound or free; lowering gives every binder in a scope its own name."""
    return any(node == variable for node in walk(formula))


def among(formula: core.Formula, entities: tuple[str, ...]) -> core.Formula:
    """The formula asked of some entities: owners of receipt logs, and who delivers, are among them."""

    def inside(part: Node) -> Node:
        return among(part, entities) if isinstance(part, core.Formula) else part

    if not isinstance(formula, core.Forall | core.Exists):
        asked: core.Formula = rebuilt(formula, inside)
        return asked
    variable, narrowed = formula.variable, formula.range
    if isinstance(variable, core.EntityVariable) and (
        _receives(formula.range, variable) or _receives(formula.body, variable)
    ):
        narrowed = core.conjunction(one_of(variable, entities), formula.range)
    return replace(formula, range=narrowed, body=among(formula.body, entities))


def one_of(entity: core.EntityTerm, names: tuple[str, ...]) -> core.Formula:
    """The entity is one of these; false where there are none."""
    parts = tuple(core.SameEntity(entity, core.EntityNamed(name)) for name in names)
    return core.FALSEHOOD if not parts else parts[0] if len(parts) == 1 else core.Or(parts)


def _receives(formula: core.Formula, entity: core.EntityVariable) -> bool:
    return any(isinstance(node, _RECEIVING) and node.entity == entity for node in walk(formula))
