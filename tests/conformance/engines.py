"""Our engines as `precedes.testing` asks them; also for `python -m precedes.testing tests.conformance.engines:scan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from precedes.core import formula as f
from precedes.core.execution import (
    ACKNOWLEDGEMENTS,
    UNKNOWN_NAME,
    EventKind,
    Execution,
)
from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of
from precedes.core.traversal import attributes_in, walk
from precedes.core.verdict import FALSE, TRUE, Reason, Verdict, verdict
from precedes.engines.columnar.batch_scan import scan as scan_batch
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.logic.parts import without_parts
from precedes.logic.plan import plan
from precedes.testing import Answer, Unsupported, rows
from precedes.traces import TraceOptions
from tests.conformance.stated_executions import OF_GROUPS, OF_VIEWS, chosen, facts
from tests.oracle import oracle as papers
from tests.oracle.conversion import questions, run_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def said(value: int) -> Answer:
    """The answer that a value stands for, with its reasons."""
    return Verdict.HOLDS if value == TRUE else Verdict.VIOLATED if value == FALSE else Reason(value)


@dataclass(frozen=True, slots=True)
class OneByOne:
    """An engine that judges one requirement on one execution."""

    name: str
    judge: Callable[[Requirement, Execution], Answer]

    def verdicts(
        self, requirements: Sequence[Requirement], executions: Sequence[Execution]
    ) -> list[list[Answer]]:
        """See `precedes.testing.Engine`."""
        return [[self.judge(one, execution) for one in requirements] for execution in executions]


# ---- the oracle ----


def by_the_papers(asked: Requirement, execution: Execution) -> Answer:
    """What the papers' sentences say, where nothing is unknown."""
    if asked.name not in papers.ALL:
        return Unsupported("a formula without a name")
    run = run_of(execution)
    if asked.name not in questions(execution, run):
        return Unsupported("what is not known for certain")
    return Verdict.HOLDS if papers.ALL[asked.name](run) else Verdict.VIOLATED


oracle = OneByOne("oracle", by_the_papers)


# ---- columns ----


def doubly_unknown(execution: Execution) -> bool:
    """Whether a row may be missing and the order is doubted, too: the engines may name either reason, or both."""
    return not execution.complete and any(history.doubt for history in execution.histories)


@dataclass(frozen=True, slots=True)
class Compiled:
    """Every formula compiled to loops over columns, none recognized."""

    name: str = "compiled"
    jit: bool = False

    def verdicts(
        self, requirements: Sequence[Requirement], executions: Sequence[Execution]
    ) -> list[list[Answer]]:
        """See `precedes.testing.Engine`."""
        batch = batch_of(executions)
        columns = [
            compile_formula(one.formula).run(BatchSource(batch), self.jit)[0].tolist() for one in requirements
        ]
        judged = zip(executions, zip(*columns, strict=True), strict=True)
        return [
            [verdict(value) if doubly_unknown(one) else said(value) for value in row] for one, row in judged
        ]


@dataclass(frozen=True, slots=True)
class Scan:
    """What `precedes verify` does in one process: kernels for the definitions, compiled formulas for the rest."""

    name: str = "scan"
    jit: bool = False

    def verdicts(
        self, requirements: Sequence[Requirement], executions: Sequence[Execution]
    ) -> list[list[Answer]]:
        """See `precedes.testing.Engine`."""
        batch = batch_of(executions)
        found = scan_batch(batch, plan(requirements), self.jit)
        places = [found.names.index(one.name) for one in requirements]
        # Of an incomplete execution a kernel says that it is incomplete, whatever else is not known.
        answer = said if batch.complete else verdict
        return [[answer(int(row[place])) for place in places] for row in found.values]


compiled, scan = Compiled(), Scan()
as_machine_code = Scan("scan, as machine code", jit=True)


# ---- Spark ----

SCHEMA = (
    "execution string, entity string, seq bigint, event string, message string, dest array<string>, sender string,"
    " time double, clock map<string, bigint>, view string, members array<string>, group array<string>"
)

COLUMN_TYPES = {f.AttributeSort.NUMBER: "bigint"}
"""The types of columns of attributes, where they are not text."""


@dataclass(frozen=True, slots=True)
class OnSpark:
    """One DataFrame with the rows of many executions."""

    session: SparkSession
    name: str = "spark"

    def verdicts(
        self, requirements: Sequence[Requirement], executions: Sequence[Execution]
    ) -> list[list[Answer]]:
        """See `precedes.testing.Engine`."""
        from precedes.engines.spark.frames import verdicts

        common = executions[0]
        options = TraceOptions(
            delivery=common.delivery,
            cluster=common.entities,
            delta=common.delta,
            epsilon=common.epsilon,
            complete=common.complete,
        )
        carried = dict.fromkeys(each for one in requirements for each in attributes_in(one.formula))
        columns = (f"{each.name} {COLUMN_TYPES.get(each.sort, 'string')}" for each in carried)
        known = [one for one in executions if not any(h.doubt & Reason.ROW_ORDER for h in one.histories)]
        events = self.session.createDataFrame(
            [row for one in known for row in rows(one)], ", ".join((SCHEMA, *columns))
        )
        found = {
            (row.execution, row.predicate): Verdict(row.verdict)
            for row in verdicts(events, plan(requirements), options, all_verdicts=True).collect()
        }
        return [[self._answer(one, each, found) for each in requirements] for one in executions]

    @staticmethod
    def _answer(execution: Execution, asked: Requirement, found: dict[tuple[str, str], Verdict]) -> Answer:
        if any(h.doubt & Reason.ROW_ORDER for h in execution.histories):
            return Unsupported("rows without seq")
        if not any(history.events for history in execution.histories):
            return Unsupported("an execution without rows")
        return found[execution.name, asked.name]


# ---- the solver ----


def by_the_solver(asked: Requirement, execution: Execution) -> Answer:
    """What the solver finds, if it has the time."""
    from precedes.engines.solver.answers import OutOfTime

    try:
        return found_by_the_solver(asked, execution)
    except OutOfTime:
        return Unsupported("no answer in a minute")


def found_by_the_solver(asked: Requirement, execution: Execution) -> Answer:
    """Whether the solver finds an execution that is this one and satisfies the formula, or violates it."""
    lacking = beyond_the_solver(asked, execution)
    if lacking is not None:
        return Unsupported(lacking)
    execution = with_one_delivery(execution)
    formula = without_parts(asked.formula)
    this_one = f.conjunction(*facts(execution, asked.formula))
    holds = satisfied(f.And((this_one, formula)), execution)
    fails = satisfied(f.And((this_one, f.Not(formula))), execution)
    if not (holds or fails):
        assert satisfied(this_one, execution), "the solver has no such execution"
    assert not (holds and fails), "what was said of the execution leaves the verdict open"
    return Verdict.HOLDS if holds else Verdict.VIOLATED if fails else Verdict.UNKNOWN


def with_one_delivery(execution: Execution) -> Execution:
    """The execution with what counts as its deliveries as the only ones: the solver has no others."""
    histories = tuple(
        replace(
            history,
            events=tuple(
                replace(event, kind=EventKind.DELIVER) if event.kind is execution.delivery else event
                for event in history.events
                if execution.delivery is EventKind.DELIVER or event.kind is not EventKind.DELIVER
            ),
        )
        for history in execution.histories
    )
    names = {event.message for history in histories for event in history.events}
    messages = {name: message for name, message in execution.messages.items() if name in names}
    return replace(execution, histories=histories, messages=messages, delivery=EventKind.DELIVER)


def beyond_the_solver(asked: Requirement, execution: Execution) -> str | None:
    """What an execution or formula has that the solver's executions have not."""
    events = [event for history in execution.histories for event in history.events]
    speaking = {type(node) for node in walk(asked.formula)}
    times = not speaking.isdisjoint({f.TimeOf, f.DeliveryTime})
    of_messages = [event for event in events if event.message is not None]
    lacks = {
        "incomplete executions": not execution.complete,
        "arrivals that are deliveries": execution.delivery is not EventKind.DELIVER
        and f.ArrivalEvent in speaking,
        "doubts about the order of events": bool(execution.doubt)
        or any(h.doubt for h in execution.histories),
        "clocks that add to the rows": any(event.clock is not None for event in events)
        and not clocks_are_implied(execution),
        "messages that are nowhere": len(with_one_delivery(execution).messages) < len(execution.messages),
        "sends that were not logged": any(
            m.sender is not None and not m.logged for m in execution.messages.values()
        ),
        "impossible executions": not papers.possible(run_of(execution)),
        "failure marks": f.FailureLine in speaking,
        "repeats in vector times": f.VectorTime in speaking and has_repeats(execution),
        "local events in vector times": f.VectorTime in speaking
        and any(event.kind is EventKind.LOCAL for event in events),
        "events without a time": times and any(event.time is None for event in of_messages),
        "times that do not fit": times and not times_fit(with_one_delivery(execution)),
        "times before 0": times and any((event.time or 0) < 0 for event in of_messages),
        "no arrivals": f.ArrivalEvent in speaking
        and not any(event.kind is EventKind.ARRIVE for event in events),
        "times closer than epsilon": (times or carries_times(asked.formula)) and execution.epsilon > 0,
        **beyond_two_deliveries(execution, asked),
        **beyond_first_installations(execution, asked),
        "no delta": f.Delta in speaking and execution.delta is None,
        "no clocks": f.RecordedClock in speaking,
    }
    return next((reason for reason, it_does in lacks.items() if it_does), None)


def has_repeats(execution: Execution) -> bool:
    """Whether an entity delivers a message again. No formula says where in its history that is."""
    made = [
        (history.entity, event.message)
        for history in execution.histories
        for event in history.events
        if event.kind is execution.delivery
    ]
    return len(set(made)) < len(made)


def carries_times(formula: f.Formula) -> bool:
    """Whether it asks for an attribute that is a time."""
    return any(attribute.sort is f.AttributeSort.TIME for attribute in attributes_in(formula))


def beyond_two_deliveries(execution: Execution, asked: Requirement) -> dict[str, bool]:
    """What is asked of every delivery, on executions with others than the solver's bounds have."""
    speaking = {type(node) for node in walk(asked.formula)}
    attributes = frozenset(attributes_in(asked.formula))
    of_events = {one for one in attributes if one.carrier is f.Carrier.EVENT}
    every = not speaking.isdisjoint({f.DeliveryVariable, f.Acknowledged})
    acts: list[tuple[str, str, EventKind]] = []
    thrice = bare = False
    for history in execution.histories:
        counts: dict[str, int] = {}
        for event in history.events:
            name = event.message or ""
            if event.kind is execution.delivery:
                counts[name] = counts.get(name, 0) + 1
                thrice |= counts[name] > 2
                bare |= not of_events <= event.attributes.keys()
            elif event.kind in ACKNOWLEDGEMENTS:
                acts.append((history.entity, name, event.kind))
    return {
        "a third delivery": every and thrice,
        "two acknowledgements of one kind": every and len(set(acts)) < len(acts),
        "no acknowledgements": not acts and not speaking.isdisjoint({f.InFlight, f.Acknowledged}),
        "deliveries without an attribute": bare,
        "messages without an attribute": any(
            not attributes - of_events <= message.attributes.keys() for message in execution.messages.values()
        ),
    }


def beyond_first_installations(execution: Execution, asked: Requirement) -> dict[str, bool]:
    """What is asked of groups and views, on executions with others than the solver's bounds have."""
    nodes = list(walk(asked.formula))
    speaking = {type(node) for node in nodes}
    again = False
    for history in execution.histories:
        views = [
            event.view for event in history.events if event.view is not None or event.message is not None
        ]
        again |= any(
            view is not None and view in views[:k] and None in views[k:] for k, view in enumerate(views)
        )
    whom = any(
        isinstance(node, f.IsDestination) or (isinstance(node, f.SendLog) and node.to is not None)
        for node in nodes
    )
    return {
        "views that nobody knows": execution.views_unknown and not speaking.isdisjoint(OF_VIEWS),
        "events after a second installation": again and f.ViewOf in speaking,
        "a group of all who may be meant": UNKNOWN_NAME in execution.groups
        and not speaking.isdisjoint(OF_GROUPS),
        "whom a message to a group is for": whom and any(chosen(execution, m) for m in execution.messages),
    }


def clocks_are_implied(execution: Execution) -> bool:
    """Every recorded clock is what the rows imply, so that they say no more than the rows."""
    run = run_of(execution)
    events = zip(
        (what for history in run.histories for what, _, _ in history),
        (clock for kept in run.clocks for clock in kept),
        strict=True,
    )
    return papers.vector_time(run) and all(
        clock is not None for what, clock in events if what in papers.CLOCKED
    )


def times_fit(execution: Execution) -> bool:
    """Nothing is delivered earlier than it was sent."""
    sent = {
        event.message: event.time
        for history in execution.histories
        for event in history.events
        if event.kind is EventKind.SEND
    }
    return all(
        event.time >= (sent.get(event.message) or event.time)
        for history in execution.histories
        for event in history.events
        if event.kind is EventKind.DELIVER and event.time is not None
    )


def satisfied(formula: f.Formula, execution: Execution) -> bool:
    """Whether the encoding of executions of this size has one of which the formula is certainly true."""
    from precedes.engines.solver.answers import Deadline
    from precedes.engines.solver.bounded import Bounded
    from precedes.engines.solver.features import features
    from precedes.engines.solver.logic import Solver, Watch
    from precedes.engines.solver.minimization import satisfiable
    from precedes.engines.solver.translation import Translation

    deadline = Deadline(60.0)
    wanted = features(formula)
    encoding = Bounded(wanted, len(execution.entities), len(execution.messages))
    target = Translation(encoding, deadline, wanted.epsilon).value(formula, want=True, bindings={})
    if target is False:
        return False
    with Watch(2048) as watch:
        solver = Solver(propositional=not wanted.numbers, watch=watch)
        solver.add(target)
        for constraint in encoding.constraints():
            solver.add(constraint)
        return satisfiable(solver, deadline)


solver = OneByOne("solver", by_the_solver)
