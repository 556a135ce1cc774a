"""The offenders of a formula on one execution, by definition: everything that one of its clauses is false of.

The columnar engine finds the same without going through everything; it is tested to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from precedes.core.execution import Execution
from precedes.core.formula import Acyclic, Formula
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference.causes import Cause, binding_of
from precedes.engines.reference.evaluation import Evaluator
from precedes.engines.reference.relations import components, shortest_cycle
from precedes.logic.universals import Binder, Clause, clauses, naming_parts, universal


@dataclass(frozen=True, slots=True)
class Offender:
    """Entities and messages that a clause is false of, in the order of its quantifiers, each once. For a relation with
    cycles a shortest cycle of each strongly connected component: its messages in order.
    """

    entities: tuple[str, ...]
    messages: tuple[str, ...]


def offenders(formula: Formula, execution: Execution) -> tuple[Offender, ...]:
    """All offenders, no two about the same entities and messages. None where the formula is not false."""
    evaluator = Evaluator(execution)
    found: dict[tuple[frozenset[str], frozenset[str]], Offender] = {}
    for clause in clauses(formula, complete=execution.complete):
        for offender in _of_clause(evaluator, clause.body, _steps(clause), Offender((), ())):
            key = frozenset(offender.entities), frozenset(offender.messages)
            found.setdefault(key, offender)
    return tuple(found.values())


Step = tuple[Binder, Formula, bool]
"""A binder, what is asked of everything in its range, and whether that is part of an offender."""


def _steps(clause: Clause) -> tuple[Step, ...]:
    parts = naming_parts(clause)
    return tuple(
        (binder, universal(Clause(clause.binders[place + 1 :], clause.body)), binder[0] not in parts)
        for place, binder in enumerate(clause.binders)
    )


def _of_clause(
    evaluator: Evaluator, body: Formula, steps: tuple[Step, ...], bound: Offender
) -> Iterator[Offender]:
    if not steps:
        yield from _of_body(evaluator, body, bound)
        return
    ((variable, extent), inner, shown), *rest = steps
    for inside in evaluator.instances(variable, extent, inner):
        if inside != TRUE:
            continue
        binding = binding_of(variable, (), evaluator.terms) if shown else Cause()
        here = Offender(
            tuple(dict.fromkeys(bound.entities + binding.entities)),
            tuple(dict.fromkeys(bound.messages + binding.messages)),
        )
        yield from _of_clause(evaluator, body, tuple(rest), here)


def _of_body(evaluator: Evaluator, body: Formula, bound: Offender) -> Iterator[Offender]:
    if evaluator.value(body) != FALSE:
        return
    if not isinstance(body, Acyclic):
        yield bound
        return
    certain, _ = evaluator.related(body.first, body.second, body.body)
    for component in components(certain):
        inside = {name: [other for other in certain[name] if other in component] for name in component}
        yield Offender(bound.entities, tuple(dict.fromkeys(bound.messages + shortest_cycle(inside))))
