"""The scan: every execution of a source judged by every name of a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Batch
from precedes.core.formula import Per
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.compiler.estimate import SECONDS
from precedes.engines.columnar.compiler.formula_compiler import Witnesses, compile_formula, senderless
from precedes.engines.columnar.connectives import joined
from precedes.engines.columnar.execution_source import BatchSource, ExecutionSource
from precedes.engines.columnar.kernels.choice import reads_destinations, tuning
from precedes.engines.columnar.kernels.disorder import SELECTED, Overtaken, messages_between
from precedes.engines.columnar.kernels.kernel import PLAIN_EVENTS
from precedes.engines.columnar.kernels.order import KNOWN_LOGS
from precedes.engines.columnar.kernels.per_part import PartKernels
from precedes.engines.columnar.kernels.witness import (
    CHAIN,
    CHAINED,
    chain,
    clocks_say_more,
    deliveries_in_turn,
    shortest_cycle,
)
from precedes.engines.columnar.offenders import Offenders, OffenderSearch
from precedes.engines.columnar.parts import Parts, named_values
from precedes.logic.plan import Both, Expression, Followed, Inverse, Plan, Step, Value, conjuncts
from precedes.logic.senders import without_sends
from precedes.native.codes import DEFERRED

FEW: Final = 4
"""Where less than one execution in so many is left to the compiled formula, these are copied out first."""

Values = npt.NDArray[np.int32]
Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Witness:
    """What shows a violation: local numbers of entities and messages; either may be empty.

    `part`: where something is asked per value, the values of the part that violates it, by the names of the attributes.
    """

    entities: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()
    part: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The values of one step, and where its violations are.

    `row` gives the row of an execution in `compiled`, -1 where the tuned kernel judged it and `places` has
    the row. `parts` are those of which the step asks something, if it does.
    """

    step: Step
    values: Values
    places: Values | None
    compiled: Witnesses | None = None
    row: npt.NDArray[np.int64] | None = None
    parts: Parts | None = None


Evidence = Mapping[int, _Evidence]
"""What was found for the steps, by their numbers."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The verdicts on the executions of a source.

    names      P      as in the plan
    values     E x P  see `precedes.core.verdict`; an execution whose rows contradict each other has that reason
    under every name
    vacuous    E      the execution has no message: what holds there, holds vacuously
    source     the executions
    offenders  of what has no parts: what violates it, by execution and name; None: not asked for
    """

    names: tuple[str, ...]
    values: Values
    vacuous: npt.NDArray[np.bool_]
    source: ExecutionSource = field(repr=False)
    _plan: Plan = field(repr=False)
    _evidence: Evidence = field(repr=False)
    offenders: Mapping[tuple[int, str], Offenders] | None = None

    def with_offenders(self, limit: int, only: Collection[tuple[int, str]] | None = None) -> Scan:
        """The scan with the offenders of what has no parts: the first `limit` each, and how many there are.

        `only` of some executions and names, if not of all.
        """
        names = [name for name in self.names if name in self._plan.leaves]
        wanted: dict[int, list[str]] = {}
        for place, name in enumerate(self.names):
            for x in np.flatnonzero(self.values[:, place] == FALSE).tolist() if name in names else ():
                if only is None or (x, name) in only:
                    wanted.setdefault(x, []).append(name)
        found: dict[tuple[int, str], Offenders] = {}
        for batch, xs in self.source.whole(sorted(wanted)):
            events = np.diff(batch.event_offsets[batch.entity_offsets])[list(xs.values())].sum()
            search = OffenderSearch(batch, True if events >= PLAIN_EVENTS else None)
            for x, there in xs.items():
                for name in wanted[x]:
                    found[x, name] = search.of(self._plan.leaves[name].formula, there, limit)
        return replace(self, offenders=found)

    def witness(self, x: int, name: str) -> Witness:
        """What shows that execution `x` violates `name`; an empty one where it does not."""
        column = self.names.index(name)
        if self.values[x, column] != FALSE:
            return Witness()
        found = list(self._why(x, self._plan.expressions[column], FALSE))
        entities = tuple(dict.fromkeys(e for witness in found for e in witness.entities))
        messages = tuple(dict.fromkeys(m for witness in found for m in witness.messages))
        return Witness(entities, messages, next((witness.part for witness in found if witness.part), ()))

    def shown(self, name: str) -> npt.NDArray[np.bool_]:
        """The executions (E) that violate the name and are shown under it: a requirement with parts is shown by
        these, unless none of them is violated and something that follows from them is.
        """
        violated: npt.NDArray[np.bool_] = self.values[:, self.names.index(name)] == FALSE
        if name in self._plan.leaves:
            return violated
        leaves = [self.names.index(leaf) for leaf in self._plan.below[name]]
        undecided: npt.NDArray[np.bool_] = np.all(self.values[:, leaves] != FALSE, axis=1)
        return violated & undecided

    def _why(self, x: int, expression: Expression, wanted: int) -> Iterable[Witness]:
        match expression:
            case Value(step):
                if wanted == FALSE:
                    yield self._shown(x, self._evidence[step])
            case Inverse(part):
                yield from self._why(x, part, TRUE if wanted == FALSE else FALSE)
            case Both() | Followed():
                for part in conjuncts(expression, complete=self.source.complete):
                    if wanted == TRUE:
                        yield from self._why(x, part, TRUE)
                    elif _value(part, self._evidence, x, self.source.complete) == FALSE:
                        yield from self._why(x, part, FALSE)
                        return
            case _:
                assert_never(expression)

    def _shown(self, x: int, evidence: _Evidence) -> Witness:
        found, asked = self._located(x, evidence), evidence.step.formula
        if not isinstance(asked, Per) or not found.messages:
            return found
        # The first message of a witness is one of the part.
        message = int(self.source.columns(()).message_offsets[x]) + found.messages[0]
        return replace(found, part=named_values(self.source, message, asked.attributes))

    def _located(self, x: int, evidence: _Evidence) -> Witness:
        kernel = evidence.step.definition
        if evidence.compiled is not None and evidence.row is not None and evidence.row[x] >= 0:
            found = Witness(*evidence.compiled.of(int(evidence.row[x])))
            return self._with_overtakers(x, evidence, found) if kernel == "bounded_disorder" else found
        assert evidence.places is not None
        by_machine = self.source.by_machine
        places = evidence.places[x].tolist()
        if kernel == "acyclic_order":
            if evidence.parts:
                return self._cycle_in(x, evidence.parts, places[2])
            return Witness(*shortest_cycle(self.source.columns(KNOWN_LOGS), x, by_machine=by_machine))
        entities = tuple(e for e in places[:2] if e >= 0)
        messages = tuple(m for m in places[2:] if m >= 0)
        if kernel == "bounded_disorder":
            return self._with_overtakers(x, evidence, Witness(entities, messages))
        if kernel in CHAINED:
            columns = self.source.columns(CHAIN)
            between: tuple[int, ...] = ()
            if kernel == "causal_order" and clocks_say_more(columns, x):
                between = deliveries_in_turn(columns, x, entities[0], *messages)
            path = chain(columns, x, *messages, by_machine=by_machine)
            messages = tuple(dict.fromkeys((*path, *between)))
        return Witness(entities, messages)

    def _with_overtakers(self, x: int, evidence: _Evidence, found: Witness) -> Witness:
        """What shows that a message is overtaken from afar, with enough of what the sender sent in between."""
        columns = self.source.columns(SELECTED)
        here = slice(*columns.message_offsets[x : x + 2].tolist())
        part, bound = [0] * (here.stop - here.start), evidence.step.bound
        if evidence.parts is not None:
            part = evidence.parts.part[here].tolist()
        elif evidence.step.per:
            # Which of them are in the part is not known here, so that all are shown.
            bound = len(part)
        overtaken, overtaker = found.messages
        pair = Overtaken(found.entities[0], overtaken, overtaker)
        return replace(found, messages=messages_between(columns, x, pair, bound, part))

    def _cycle_in(self, x: int, parts: Parts, first: int) -> Witness:
        """A cycle of messages that are in one part with a message."""
        here = slice(*self.source.columns(()).message_offsets[x : x + 2].tolist())
        part = parts.part[here]
        inside = np.flatnonzero(part == part[first]).tolist()
        ((batch, numbers),) = self.source.whole([x])
        alone = BatchSource(batch_of([execution_of(batch, numbers[x], inside)]))
        entities, messages = shortest_cycle(alone.columns(KNOWN_LOGS), 0, by_machine=alone.by_machine)
        return Witness(entities, tuple(inside[m] for m in messages))


def scan(batch: Batch, plan: Plan, jit: bool | None = None) -> Scan:
    """Judge every execution of a batch. `jit` None: numba is loaded only for a large batch."""
    return scan_source(BatchSource(batch), plan, jit)


def scan_source(source: ExecutionSource, plan: Plan, jit: bool | None = None) -> Scan:
    """Judge every execution of a source; `jit` as for a batch."""
    needed = plan.needed(complete=source.complete)
    jit = True if source.by_machine and jit is None else jit
    of_parts = PartKernels(source, jit)
    evidence = {step: _evaluated(source, plan.steps[step], of_parts, jit) for step in needed}
    columns = source.columns(("unknown",))
    values = np.zeros((source.executions, len(plan.names)), np.int32)
    for column, expression in enumerate(plan.expressions):
        values[:, column] = np.where(
            columns.unknown != 0,
            columns.unknown,
            _value(expression, evidence, slice(None), source.complete),
        )
    vacuous = np.diff(columns.message_offsets) == 0
    return Scan(plan.names, values, vacuous, source, plan, evidence)


def columns_read(plan: Plan, *, complete: bool) -> frozenset[str]:
    """The columns that a scan by the plan reads, or may read."""
    read: set[str] = set()
    for step in (plan.steps[number] for number in plan.needed(complete=complete)):
        # A kernel reads the same of the whole and of its parts.
        tuned = tuning(replace(step, per=(), alike=False), complete=complete)
        read |= tuned.columns
        if tuned.defers or step.per:
            read |= compile_formula(step.formula, sought=step.sought).reads(complete=complete)
    return frozenset(read)


def long_steps(source: ExecutionSource, plan: Plan, most: float) -> Iterator[tuple[str, Seconds]]:
    """The requirements without parts that the compiled formula judges, if it may take longer than `most` seconds on
    some execution; with its seconds on each (E).
    """
    for number in plan.needed(complete=source.complete):
        step = plan.steps[number]
        tuned = tuning(step, complete=source.complete)
        if _by_parts(step, source) or not tuned.left or _surely(source, step).all():
            continue
        seconds = compile_formula(step.formula, sought=step.sought).steps(source) * SECONDS
        if seconds.max(initial=0) > most and tuned.kernels:
            values, _ = _of_whole(source, step, None)
            seconds = np.where(values == DEFERRED, seconds, 0)
        if seconds.max(initial=0) > most:
            yield plan.asking(number, complete=source.complete), seconds


def _by_parts(step: Step, source: ExecutionSource) -> bool:
    """Whether tuned kernels judge the parts of which a step asks something."""
    return bool(step.per) and step.definition is not None and source.complete


def _value(expression: Expression, evidence: Evidence, rows: slice | int, complete: bool) -> Any:
    """The value of an expression on one execution or, given a slice, on many at once."""
    return joined(expression, lambda step: evidence[step].values[rows], complete=complete)


def _evaluated(source: ExecutionSource, step: Step, of_parts: PartKernels, jit: bool | None) -> _Evidence:
    parts = None
    sure = _surely(source, step)
    if sure.all():
        return _Evidence(step, np.full(source.executions, TRUE, np.int32), None)
    if step.definition is not None and _by_parts(step, source):
        if step.alike:
            values, places = of_parts.run_on_pairs(step.definition, step.per)
        else:
            values, places = of_parts.run(step.definition, step.per, step.bound)
        parts = of_parts.cut(step.per).parts
        _left_out(source, step, values)
    else:
        values, places = _of_whole(source, step, jit)
    values[sure] = TRUE
    left = np.flatnonzero(values == DEFERRED)
    if len(left) == 0:
        return _Evidence(step, values, places, parts=parts)
    if len(left) * FEW > source.executions:
        rows, part = left, source
    else:
        rows, part = np.arange(len(left)), BatchSource(_copied(source, left.tolist()))
    judged, witnesses = compile_formula(step.formula, sought=step.sought).run(part, jit)
    values[left] = judged[rows]
    row = np.full(source.executions, -1, np.int64)
    row[left] = rows
    return _Evidence(step, values, places, witnesses, row, parts)


def _surely(source: ExecutionSource, step: Step) -> npt.NDArray[np.bool_]:
    """The executions (E) of which it is known beforehand that a step holds."""
    if step.screened is None:
        return np.zeros(source.executions, np.bool_)
    return source.surely(step.screened)


def _of_whole(source: ExecutionSource, step: Step, jit: bool | None) -> tuple[Values, Values]:
    """The values and the places by the kernels for a step, if there are any."""
    tuned = tuning(step, complete=source.complete)
    values, places = tuned.run(source.columns(tuned.columns), jit)
    _left_out(source, step, values)
    return values, places


def _left_out(source: ExecutionSource, step: Step, values: Values) -> None:
    """Leave the executions to the compiled formula of which kernels do not know all that they ask."""
    if reads_destinations(step.definition or step.implied_by):
        # These kernels know who is a destination by name, and nothing of groups.
        values[_to_groups(source)] = DEFERRED
    if without_sends(step.formula) != step.formula:
        values[senderless(source)] = DEFERRED


def _to_groups(source: ExecutionSource) -> npt.NDArray[np.bool_]:
    """The executions (E) in which some message is addressed to a group."""
    columns = source.columns(("to_groups", "to_group_offsets"))
    if not len(columns.to_groups):
        return np.zeros(source.executions, np.bool_)
    found: npt.NDArray[np.bool_] = np.diff(columns.to_group_offsets[columns.message_offsets]) > 0
    return found


def _copied(source: ExecutionSource, executions: Sequence[int]) -> Batch:
    """Some executions as a batch of their own, in their order."""
    found = {
        x: execution_of(batch, there)
        for batch, numbers in source.whole(executions)
        for x, there in numbers.items()
    }
    return batch_of([found[x] for x in executions])
