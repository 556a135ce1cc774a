"""A random case judged by the compiler and by the reference evaluator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from precedes.core.execution import Execution
from precedes.core.formula import Formula
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import (
    ATTRIBUTES,
    Scope,
    decided_by_an_atom,
    decided_by_deliveries,
    formula,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A formula and an execution on which every engine must give the same value."""

    formula: Formula
    execution: Execution


def case(seed: int) -> Case:
    """The case with this number."""
    choices = Seeded(seed)
    return Case(formula(choices), execution(choices))


def carrying_case(seed: int) -> Case:
    """A case with this number about what messages carry: an atom decides in every other one."""
    choices = Seeded(seed)
    met = execution(choices, Shape(attributes=ATTRIBUTES))
    if seed % 2:
        return Case(formula(choices, scope=Scope(attributes=ATTRIBUTES)), met)
    names = met.entities or ("E1",), tuple(met.messages) or ("m1",)
    return Case(decided_by_an_atom(choices, *names, ATTRIBUTES), met)


def delivering_case(seed: int) -> Case:
    """A case with this number about every delivery and acknowledgements: atoms decide in every other one."""
    choices = Seeded(seed)
    met = execution(choices, Shape(attributes=ATTRIBUTES, acknowledgements=True))
    if seed % 2:
        return Case(formula(choices, scope=Scope(attributes=ATTRIBUTES, every_delivery=True)), met)
    return Case(decided_by_deliveries(choices, ATTRIBUTES), met)


def focused_case(seed: int) -> Case:
    """A case with this number in which one atom decides."""
    choices = Seeded(seed)
    met = execution(choices, Shape(messages=7))
    return Case(decided_by_an_atom(choices, met.entities or ("E1",), tuple(met.messages) or ("m1",)), met)


def compiled_value(case: Case, jit: bool = False) -> int:
    """What the compiled formula says; a witness must stand within the execution."""
    judged, witnesses = compile_formula(case.formula).run(BatchSource(batch_of([case.execution])), jit)
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
