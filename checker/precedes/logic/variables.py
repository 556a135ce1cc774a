"""A copy of a formula in which no two binders share a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from precedes.core.formula import Formula, Variable
from precedes.core.traversal import Node, bound, free_variables, rebuilt


def distinct(formula: Formula) -> Formula:
    """The formula with its bound variables numbered, so that every binder has names of its own. Free ones stay."""
    count = 0
    free = {variable.name for variable in free_variables(formula)}

    def numbered(variable: Variable) -> Variable:
        nonlocal count
        count += 1
        while f"{variable.name} {count}" in free:
            count += 1
        return replace(variable, name=f"{variable.name} {count}")

    def copied(node: Node, names: Mapping[Variable, Variable]) -> Any:
        if isinstance(node, Variable):
            return names.get(node, node)
        below = {**names, **{variable: numbered(variable) for variable in bound(node)}}
        return rebuilt(node, lambda child: copied(child, below))

    renamed: Formula = copied(formula, {})
    return renamed
