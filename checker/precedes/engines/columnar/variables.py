"""The variables of a formula: which it leaves free, and a copy in which no two binders share a name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from precedes.formula import Acyclic, EntityVariable, Exists, Forall, Formula, MessageVariable, Variable


@lru_cache(maxsize=10_000)
def free_variables(node: Any) -> frozenset[Variable]:
    """The free variables of a formula, a term or a tuple of them."""
    if isinstance(node, EntityVariable | MessageVariable):
        return frozenset({node})
    if isinstance(node, tuple):
        return frozenset().union(*map(free_variables, node))
    if not is_dataclass(node):
        return frozenset()
    found = frozenset[Variable]().union(*(free_variables(getattr(node, part.name)) for part in fields(node)))
    if isinstance(node, Forall | Exists):
        return found - {node.variable}
    return found - {node.first, node.second} if isinstance(node, Acyclic) else found


def distinct(formula: Formula) -> Formula:
    """The closed formula with its bound variables numbered, so that every binder has names of its own."""
    count = 0

    def numbered(variable: Variable) -> Variable:
        nonlocal count
        count += 1
        return replace(variable, name=f"{variable.name} {count}")

    def copied(node: Any, names: dict[Variable, Variable]) -> Any:
        match node:
            case EntityVariable() | MessageVariable():
                return names[node]
            case tuple():
                return tuple(copied(part, names) for part in node)
            case Forall(variable, extent, body) | Exists(variable, extent, body):
                below = {**names, variable: numbered(variable)}
                return replace(
                    node, variable=below[variable], range=copied(extent, below), body=copied(body, below)
                )
            case Acyclic(first, second, body):
                below = {**names, first: numbered(first), second: numbered(second)}
                return Acyclic(below[first], below[second], copied(body, below))  # type: ignore[arg-type]
        if isinstance(node, type) or not is_dataclass(node):
            return node
        changed: Any = replace  # its type asks for a dataclass of a known kind
        return changed(node, **{part.name: copied(getattr(node, part.name), names) for part in fields(node)})

    renamed: Formula = copied(formula, {})
    return renamed
