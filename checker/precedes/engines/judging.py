"""From scanned batches to a report: what every engine that scans has in common.

A batch is judged into a `Partial`, wherever it was scanned; partials merge in any order into the same result;
the merged one becomes a `Report`, in which each violation shown has been replayed through the reference
evaluator. So the in-process engine and Spark differ in who scans, and in nothing that a user reads.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from precedes.columns import Batch, execution_of
from precedes.engines.columnar.plan import Plan
from precedes.engines.columnar.scan import Scan, scan
from precedes.engines.reference import Explanation, explain
from precedes.execution import Execution
from precedes.formula import Requirement
from precedes.verdict import FALSE, TRUE, Verdict, reasons

WHOLE_EXECUTION_LIMIT = 5_000
"""Events up to which a whole execution is replayed where the messages of a witness alone do not show the
violation.
"""


@dataclass(frozen=True, slots=True)
class Count:
    """How many executions came out how, for one predicate."""

    holds: int = 0
    violated: int = 0
    unknown: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.holds + other.holds, self.violated + other.violated, self.unknown + other.unknown)

    @property
    def verdict(self) -> Verdict:
        """Violated before unknown before holds; unknown where nothing was judged."""
        if self.violated:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if self.unknown or not self.holds else Verdict.HOLDS


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """Where a predicate does not hold. `rank` is the predicate's place in the plan, so that found cases have
    one order.
    """

    execution: str
    rank: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A violation found by the scan: `cut` is the execution reduced to the messages of the witness, `whole`
    all of it where small.
    """

    found: Found
    cut: Execution
    whole: Execution | None


@dataclass(frozen=True, slots=True)
class Doubt:
    """A predicate that is unknown on an execution, and why."""

    found: Found
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Partial:
    """What one or more batches came to. At most `limit` candidates and doubts are kept, the first in their
    order.
    """

    executions: int
    events: int
    messages: int
    counts: Mapping[str, Count]
    candidates: tuple[Candidate, ...]
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation as the reference evaluator sees it, on the part of the execution that shows it."""

    execution: str
    predicate: str
    requirement: Requirement
    cut: Execution
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown verdict with its reasons."""

    execution: str
    predicate: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run. `counts` are in the plan's order; `leaves` names those that have no parts;
    `violations` and `unknowns` are the first few of all.
    """

    executions: int
    events: int
    messages: int
    counts: Mapping[str, Count]
    leaves: frozenset[str]
    violations: tuple[Violation, ...]
    unknowns: tuple[Unknown, ...]

    @property
    def verdict(self) -> Verdict:
        """Of all that was required together. A run that met no message is unknown: it checked nothing."""
        verdicts = {count.verdict for count in self.counts.values()}
        if Verdict.VIOLATED in verdicts:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts or not self.messages else Verdict.HOLDS


class ReplayError(RuntimeError):
    """The scan found a violation that the reference evaluator does not see: a defect of this program, never
    of the trace.
    """


def judge(batch: Batch, plan: Plan, limit: int) -> tuple[Partial, Scan]:
    """Scan a batch and keep what a report needs of it, `limit` candidates and doubts at most."""
    result = scan(batch, plan)
    names = [str(name) for name in batch.names]
    leaves = {leaf: rank for rank, leaf in enumerate(plan.names) if leaf in plan.leaves}
    counts: dict[str, Count] = {}
    violated: list[Found] = []
    unknown: list[Found] = []
    place = {name: x for x, name in enumerate(names)}
    for column, name in enumerate(plan.names):
        values = result.values[:, column]
        false = np.flatnonzero(values == FALSE)
        doubtful = np.flatnonzero(values > TRUE)
        counts[name] = Count(len(values) - len(false) - len(doubtful), len(false), len(doubtful))
        if name in leaves:
            violated += heapq.nsmallest(limit, (Found(names[x], leaves[name]) for x in false))
            unknown += heapq.nsmallest(limit, (Found(names[x], leaves[name]) for x in doubtful))
    candidates = []
    for found in heapq.nsmallest(limit, violated):
        x = place[found.execution]
        candidates.append(_candidate(batch, x, found, result, plan.names[found.rank]))
    doubts = []
    for found in heapq.nsmallest(limit, unknown):
        x = place[found.execution]
        why = (
            (batch.contradictions[x],)
            if x in batch.contradictions
            else reasons(int(result.values[x, found.rank]))
        )
        doubts.append(Doubt(found, why))
    events = int(batch.event_offsets[-1]) if len(batch.event_offsets) else 0
    messages = int(batch.message_offsets[-1]) if len(batch.message_offsets) else 0
    return Partial(batch.executions, events, messages, counts, tuple(candidates), tuple(doubts)), result


def _candidate(batch: Batch, x: int, found: Found, result: Scan, name: str) -> Candidate:
    witness = result.witness(x, name)
    first, last = batch.entity_offsets[x], batch.entity_offsets[x + 1]
    events = int(batch.event_offsets[last] - batch.event_offsets[first])
    whole = execution_of(batch, x) if events <= WHOLE_EXECUTION_LIMIT else None
    return Candidate(found, execution_of(batch, x, tuple(witness.messages)), whole)


def merge(partials: Iterable[Partial], plan: Plan, limit: int) -> Partial:
    """All partials as one; the same whatever their order."""
    executions = events = messages = 0
    counts = dict.fromkeys(plan.names, Count())
    candidates: list[Candidate] = []
    doubts: list[Doubt] = []
    for partial in partials:
        executions += partial.executions
        events += partial.events
        messages += partial.messages
        counts = {name: counts[name] + partial.counts[name] for name in plan.names}
        candidates = heapq.nsmallest(limit, [*candidates, *partial.candidates], key=lambda c: c.found)
        doubts = heapq.nsmallest(limit, [*doubts, *partial.doubts], key=lambda d: d.found)
    return Partial(executions, events, messages, counts, tuple(candidates), tuple(doubts))


def report(partial: Partial, plan: Plan) -> Report:
    """The report of a merged partial; ReplayError where a violation does not stand up to the reference
    evaluator.
    """
    return Report(
        partial.executions,
        partial.events,
        partial.messages,
        partial.counts,
        frozenset(plan.leaves),
        tuple(_replayed(candidate, plan) for candidate in partial.candidates),
        tuple(
            Unknown(doubt.found.execution, plan.names[doubt.found.rank], doubt.why)
            for doubt in partial.doubts
        ),
    )


def _replayed(candidate: Candidate, plan: Plan) -> Violation:
    name = plan.names[candidate.found.rank]
    requirement = plan.leaves[name]
    attempts: Sequence[Execution | None] = (candidate.cut, candidate.whole)
    for execution in attempts:
        if execution is None:
            continue
        explanation = explain(requirement, execution)
        if explanation.value == FALSE:
            return Violation(candidate.found.execution, name, requirement, execution, explanation)
    raise ReplayError(
        f"execution {candidate.found.execution}: the scan finds {name} violated, the definition does not"
    )
