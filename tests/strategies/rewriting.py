"""The same formula in other words: De Morgan, double negation, prenexing, renaming, and modes put in.

Every step keeps the value in Kleene's logic on every execution. `ranges` allows what a complete execution allows only:
to say in the body what the range of a quantifier says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from precedes.core import formula as f
from precedes.core.traversal import Node, bound, free_variables, substituted, transformed
from precedes.testing.choices import Choices, chance, pick, shuffled


def rewritten(choices: Choices, formula: f.Formula, *, ranges: bool = False) -> f.Formula:
    """An equivalent formula, about three times as often changed as not at each of its connectives and binders."""
    return _Rewriting(choices, ranges).anew(formula)


def with_modes(choices: Choices, formula: f.Formula, percent: int = 15) -> f.Formula:
    """The formula with some of its parts asked in quiescence only."""

    def asked(before: Node, after: Node) -> Node:
        if not isinstance(after, f.Formula) or not chance(choices, percent):
            return after
        return pick(choices, (f.Implies(f.Quiescent(), after), f.And((f.Quiescent(), after)), f.Quiescent()))

    result: f.Formula = transformed(formula, asked)
    return result


Step = Callable[[f.Formula], f.Formula | None]


@dataclass(slots=True)
class _Rewriting:
    choices: Choices
    ranges: bool
    names: int = 0

    def anew(self, formula: f.Formula) -> f.Formula:
        result: f.Formula = transformed(formula, self._changed)
        return result

    def _changed(self, before: Node, after: Node) -> Node:
        if not isinstance(after, f.Formula):
            return after
        for _ in range(self.choices.integer(0, 2)):
            after = self._step(after)
        return after

    def _step(self, formula: f.Formula) -> f.Formula:
        if chance(self.choices, 20):
            return f.Not(f.Not(formula))
        if isinstance(formula, f.Atom):
            return formula
        match formula:
            case f.Not(body):
                return self._denied(formula, body)
            case f.And(parts):
                return self._joined(f.And, f.Or, f.Exists, parts)
            case f.Or(parts):
                return self._joined(f.Or, f.And, f.Forall, parts)
            case f.Implies(left, right):
                return self._implication(left, right)
            case f.Iff(left, right):
                if chance(self.choices, 50):
                    return f.Iff(right, left)
                return f.And((f.Implies(left, right), f.Implies(right, left)))
            case f.Forall() | f.Exists():
                return self._quantified(formula)
            case f.Acyclic():
                return self._renamed(formula)
            case _:
                assert_never(formula)

    def _denied(self, formula: f.Not, body: f.Formula) -> f.Formula:
        if isinstance(body, f.Not):
            return body.body
        if isinstance(body, f.And | f.Or):
            other = f.Or if isinstance(body, f.And) else f.And
            return other(tuple(map(f.Not, body.parts)))
        if isinstance(body, f.Forall):
            return f.Exists(body.variable, body.range, f.Not(body.body))
        if isinstance(body, f.Exists):
            return f.Forall(body.variable, body.range, f.Not(body.body))
        if isinstance(body, f.Implies):
            return f.And((body.left, f.Not(body.right)))
        return formula

    def _joined(
        self,
        kind: type[f.And | f.Or],
        dual: type[f.And | f.Or],
        binder: type[f.Forall | f.Exists],
        parts: tuple[f.Formula, ...],
    ) -> f.Formula:
        """A conjunction with an existential among its parts moves under it, a disjunction with a universal."""
        way = self.choices.integer(0, 2)
        if way == 0:
            return f.Not(dual(tuple(map(f.Not, parts))))
        for place, part in enumerate(parts):
            if way == 1 and isinstance(part, binder):
                inner = self._renamed(part)
                assert isinstance(inner, f.Forall | f.Exists)
                joined = kind((*parts[:place], inner.body, *parts[place + 1 :]))
                return replace(inner, body=joined)
        return kind(tuple(shuffled(self.choices, parts)))

    def _implication(self, left: f.Formula, right: f.Formula) -> f.Formula:
        way = self.choices.integer(0, 3)
        if way == 0:
            return f.Implies(f.Not(right), f.Not(left))
        if way == 1 and isinstance(left, f.Exists):
            inner = self._renamed(left)
            assert isinstance(inner, f.Exists)
            return f.Forall(inner.variable, inner.range, f.Implies(inner.body, right))
        if way == 2 and isinstance(right, f.Forall):
            inner = self._renamed(right)
            assert isinstance(inner, f.Forall)
            return replace(inner, body=f.Implies(left, inner.body))
        return f.Or((f.Not(left), right))

    def _quantified(self, formula: f.Forall | f.Exists) -> f.Formula:
        way = self.choices.integer(0, 4)
        universal = isinstance(formula, f.Forall)
        variable, extent, body = formula.variable, formula.range, formula.body
        if way == 0:
            dual = f.Exists if universal else f.Forall
            return f.Not(dual(variable, extent, f.Not(body)))
        if way == 1 and self.ranges:
            said = f.Implies(extent, body) if universal else f.And((extent, body))
            return replace(formula, range=f.TRUTH, body=said)
        if way == 2 and isinstance(body, f.And if universal else f.Or):
            return type(body)(tuple(replace(formula, body=part) for part in body.parts))
        if way == 3 and isinstance(body, type(formula)):
            return self._exchanged(formula, body)
        return self._renamed(formula)

    def _exchanged(self, outer: f.Forall | f.Exists, inner: f.Forall | f.Exists) -> f.Formula:
        """Two binders of one kind in the other order, where neither range speaks of the other variable."""
        if outer.variable == inner.variable or outer.variable in free_variables(inner.range):
            return outer
        if inner.variable in free_variables(outer.range):
            return outer
        return replace(inner, body=replace(outer, body=inner.body))

    def _renamed(self, formula: f.Forall | f.Exists | f.Acyclic) -> f.Forall | f.Exists | f.Acyclic:
        """Bound variables by names that stand nowhere else."""
        names: dict[f.Variable, f.Variable] = {}
        for variable in bound(formula):
            self.names += 1
            names[variable] = replace(variable, name=f"{variable.name}_{self.names}x")
        inside: dict[f.Variable, f.EntityTerm | f.MessageTerm] = {**names}
        body: f.Formula = substituted(formula.body, inside)
        if isinstance(formula, f.Acyclic):
            first, second = names[formula.first], names[formula.second]
            assert isinstance(first, f.MessageVariable)
            assert isinstance(second, f.MessageVariable)
            return f.Acyclic(first, second, body)
        extent: f.Formula = substituted(formula.range, inside)
        return replace(formula, variable=names[formula.variable], range=extent, body=body)
