"""A random case judged by the compiler and by the reference evaluator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from precedes.core import formula as f
from precedes.core.columns import batch_of
from precedes.core.execution import Execution
from precedes.core.formula import Formula
from precedes.core.verdict import FALSE
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.reference import evaluate
from tests.strategies.choices import Seeded, chance, pick
from tests.strategies.executions import Shape, execution
from tests.strategies.formulas import Scope, atom, event_term, formula


@dataclass(frozen=True, slots=True)
class Case:
    """A formula and an execution on which every engine must give the same value."""

    formula: Formula
    execution: Execution


def case(seed: int) -> Case:
    """The case with this number."""
    choices = Seeded(seed)
    return Case(formula(choices), execution(choices))


def focused_case(seed: int) -> Case:
    """A case with this number in which one atom decides: of named things, below two quantifiers, or in a
    relation.
    """
    choices = Seeded(seed)
    execution_met = execution(choices, Shape(messages=7))
    kind = choices.integer(0, 3)
    if kind < 2:
        entities = [f.EntityNamed(name) for name in execution_met.entities] or [f.EntityNamed("E1")]
        messages = [f.MessageNamed(name) for name in execution_met.messages] or [f.MessageNamed("m1")]
        here, there, p, q = (pick(choices, of) for of in (entities, entities, messages, messages))
        named = Scope((here, there), (p, q))
        if kind == 0:
            return Case(atom(choices, named), execution_met)
        first, second = event_term(choices, named), event_term(choices, named)
        if chance(choices, 50):
            return Case(f.HappensBefore(first, second), execution_met)
        count = f.Constant(Fraction(choices.integer(0, 3)), f.Dimension.NUMBER)
        found = f.VectorTime(first, there)
        return Case(f.Comparison(f.Relation.EQUAL, found, count, f.Dimension.NUMBER), execution_met)
    here, p, q = f.EntityVariable("i"), f.MessageVariable("p"), f.MessageVariable("q")
    scope = Scope((here,), (p, q))
    if kind == 2:
        body: Formula = f.Implies(atom(choices, scope), atom(choices, scope))
        if chance(choices, 50):
            body = f.Implies(f.And((f.InLog(p, f.ReceiptLog(here)), atom(choices, scope))), body)
        body = f.Forall(p, f.TRUTH, f.Forall(q, f.TRUTH, body))
    else:
        one, other = f.InLog(p, f.ReceiptLog(here)), f.Precedes(p, q, f.SendLog(f.Sender(p)))
        body = f.Acyclic(p, q, f.And((f.Or((one, other)), atom(choices, scope))))
    return Case(f.Forall(here, f.TRUTH, body), execution_met)


def compiled_value(case: Case, jit: bool = False) -> int:
    """What the compiled formula says; a witness must stand within the execution."""
    judged, witnesses = compile_formula(case.formula).run(batch_of([case.execution]), jit)
    entities, messages = witnesses.of(0)
    assert all(0 <= entity < len(case.execution.entities) for entity in entities)
    assert all(0 <= message < len(case.execution.messages) for message in messages)
    assert int(judged[0]) == FALSE or not (entities or messages)
    return int(judged[0])


def values(case: Case, jit: bool = False) -> tuple[int, int]:
    """What the compiled formula says, and what the reference evaluator says."""
    return compiled_value(case, jit), int(evaluate(case.formula, case.execution))


def disagreement(case: Case, jit: bool = False) -> str | None:
    """What the two say where they differ."""
    found, meant = values(case, jit)
    return None if found == meant else f"compiled {found}, by definition {meant}: {case}"


def executions_alike(seeds: Iterable[int]) -> list[list[Execution]]:
    """Random executions in groups that one batch can hold, the largest first."""
    groups: dict[object, list[Execution]] = {}
    for seed in seeds:
        found = execution(Seeded(seed))
        key = (found.delta, found.epsilon, found.complete, found.delivery, found.by_clocks)
        groups.setdefault(key, []).append(found)
    return sorted(groups.values(), key=len, reverse=True)
