"""Our engines as `precedes.testing` asks them; also for `python -m precedes.testing tests.conformance.engines:scan`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from precedes.core import formula as f
from precedes.core.execution import (
    ACKNOWLEDGEMENTS,
    UNKNOWN_NAME,
    Event,
    EventKind,
    Execution,
    History,
    Message,
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

MADE_WITH = frozenset({f.DeliveryAttribute, f.DeliveryText})
"""What asks for attributes of deliveries."""

OF_VIEWS = frozenset({f.ViewVariable, f.ViewNamed, f.ViewOf})
OF_GROUPS = frozenset({f.GroupVariable, f.GroupNamed})

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


def chosen(execution: Execution, message: str) -> frozenset[str]:
    """The members of the groups that a message is addressed to, but for those that it is addressed to by name."""
    about = execution.messages[message]
    found = frozenset[str]().union(*(execution.groups[group] for group in about.groups))
    return found - (about.destinations or frozenset())


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


def facts(execution: Execution, formula: f.Formula) -> Iterator[f.Formula]:
    """Everything that is so in an execution, by the names of its entities and messages: no other of its size has it
    all. Times, arrivals, crashes, attributes and the interleaving of sends and deliveries where the question speaks of
    them."""
    speaking = {type(node) for node in walk(formula)}
    attributes = attributes_in(formula)
    messages = [f.MessageNamed(name) for name in execution.messages]
    yield from (f.SameMessage(message, message) for message in messages)
    for history in execution.histories:
        here = f.EntityNamed(history.entity)
        yield f.SameEntity(here, here)
        logs = (
            (f.SendLog(here), execution.sent(history.entity)),
            (f.ReceiptLog(here), execution.delivered(history.entity)),
        )
        for log, entries in logs:
            yield from (stated(f.InLog(m, log), m.name in entries) for m in messages)
            yield from (
                f.Precedes(f.MessageNamed(one), f.MessageNamed(other), log)
                for one, other in pairwise(entries)
            )
        for message in messages:
            to = execution.messages[message.name].destinations or frozenset()
            if history.entity not in chosen(execution, message.name):
                yield stated(f.IsDestination(here, message), history.entity in to)
            if speaking & {f.Repeated, f.VectorTime}:
                delivered = [e.message for e in history.events if e.kind is execution.delivery]
                twice = delivered.count(message.name) > 1
                yield stated(f.Repeated(message, f.ReceiptLog(here)), twice)
        if f.Faulty in speaking:
            yield stated(f.Faulty(here), history.crashed)
        yield from order_of(history, messages, speaking)
        if not speaking.isdisjoint({f.DeliveryVariable, f.Acknowledged}):
            yield from deliveries_of(history, messages, formula, execution.delivery)
    for message in messages:
        yield from attributes_of(execution.messages[message.name], attributes)
    if not speaking.isdisjoint(OF_VIEWS):
        yield from views_of(execution, speaking)
    if not speaking.isdisjoint(OF_GROUPS):
        yield from groups_of(execution)
    if f.Delta in speaking:
        yield equal(f.Delta(), execution.delta or 0, f.Dimension.DURATION)
    if f.Epsilon in speaking:
        yield equal(f.Epsilon(), execution.epsilon, f.Dimension.DURATION)


def order_of(
    history: History, messages: Sequence[f.MessageNamed], speaking: set[type]
) -> Iterator[f.Formula]:
    """The order of the events at an entity, each at its first occurrence, and their times."""
    here = f.EntityNamed(history.entity)
    arrivals = f.ArrivalEvent in speaking
    first: dict[f.EventTerm, int | None] = {}
    for event in history.events:
        if event.message is None:
            continue
        about = f.MessageNamed(event.message)
        if event.kind is EventKind.SEND:
            first.setdefault(f.SendEvent(about), event.time)
        elif event.kind is EventKind.DELIVER:
            first.setdefault(f.DeliveryEvent(about, here), event.time)
        elif event.kind is EventKind.ARRIVE and arrivals:
            first.setdefault(f.ArrivalEvent(about, here), event.time)
    if speaking & {f.HappensBefore, f.VectorTime, f.TimeOf, f.ArrivalEvent}:
        yield from (f.HappensBefore(one, other) for one, other in pairwise(first))
    if arrivals:
        for message in messages:
            # Not by its time, which is not known to be itself where epsilon is asked for.
            clock = f.RecordedClock(f.ArrivalEvent(message, here), here)
            took_place = f.Comparison(f.Relation.EQUAL, clock, clock, f.Dimension.NUMBER)
            yield stated(took_place, clock.event in first)
    if f.TimeOf in speaking:
        for event, time in first.items():
            if time is not None:
                yield equal(f.TimeOf(event), time, f.Dimension.TIME)


def attributes_of(message: Message, attributes: Sequence[f.Attribute]) -> Iterator[f.Formula]:
    """What a message carries of these attributes."""
    about = f.MessageNamed(message.name)
    for attribute, value in message.attributes.items():
        if attribute not in attributes:
            continue
        if isinstance(value, str):
            yield f.SameText(f.TextOf(attribute, about), f.Text(value))
        else:
            yield equal(f.AttributeOf(attribute, about), value, f.Dimension(attribute.sort.value))


def attributes_of_delivery(event: Event, attributes: Sequence[f.Attribute]) -> Iterator[f.Formula]:
    """What a delivery carries of these attributes."""
    about = f.DeliveryVariable("d")
    for attribute, value in event.attributes.items():
        if attribute not in attributes:
            continue
        if isinstance(value, str):
            yield f.SameText(f.DeliveryText(attribute, about), f.Text(value))
        else:
            yield equal(f.DeliveryAttribute(attribute, about), value, f.Dimension(attribute.sort.value))


def deliveries_of(
    history: History, messages: Sequence[f.MessageNamed], formula: f.Formula, delivery: EventKind
) -> Iterator[f.Formula]:
    """Every delivery at an entity, how they follow each other, their times, and what was acknowledged when."""
    speaking = {type(node) for node in walk(formula)}
    here = f.EntityNamed(history.entity)
    made: list[tuple[str, int, int]] = []
    for place, event in enumerate(history.events):
        if event.kind is delivery and event.message is not None:
            made.append((event.message, 1 + sum(m == event.message for m, _, _ in made), place))
    for name in (message.name for message in messages):
        times = sum(m == name for m, _, _ in made)
        yield f.Not(some_delivery("d", here, name, times + 1, f.TRUTH))
        accepted = any(e.kind is EventKind.ACK and e.message == name for e in history.events)
        if f.Acknowledged in speaking or f.InFlight in speaking:
            yield stated(f.Acknowledged(f.MessageNamed(name), here), accepted)
    for message, nth, place in made:
        time = history.events[place].time
        if time is not None and f.DeliveryTime in speaking:
            happened = equal(f.DeliveryTime(f.DeliveryVariable("d")), time, f.Dimension.TIME)
            yield some_delivery("d", here, message, nth, happened)
        if not speaking.isdisjoint(MADE_WITH):
            made_with = f.And(tuple(attributes_of_delivery(history.events[place], attributes_in(formula))))
            yield some_delivery("d", here, message, nth, made_with)
        for other, again, later in made:
            if later > place:
                d, e = f.DeliveryVariable("d"), f.DeliveryVariable("e")
                between = history.events[place:later]
                flying = all(each.kind not in ACKNOWLEDGEMENTS or each.message != message for each in between)
                said: f.Formula = f.DeliveredBefore(d, e, here)
                if f.InFlight in speaking:
                    said = f.And((said, stated(f.InFlight(d, e), flying)))
                following = some_delivery("e", here, other, again, said)
                yield some_delivery("d", here, message, nth, following)


def views_of(execution: Execution, speaking: set[type]) -> Iterator[f.Formula]:
    """Which views there are, who is in them and who installs them in which order, and the view of each event."""
    views = [f.ViewNamed(name) for name in execution.views]
    any_view = f.ViewVariable("v")
    one_of_these = one_of(*(f.SameView(any_view, view) for view in views))
    yield f.Forall(any_view, f.TRUTH, one_of_these)
    for history in execution.histories:
        here = f.EntityNamed(history.entity)
        installed = [event.view for event in history.events if event.view is not None]
        for view in views:
            yield stated(f.IsMember(here, view), history.entity in execution.views[view.name])
            yield stated(f.Installs(here, view), view.name in installed)
            if f.InstallsAgain in speaking:
                yield stated(f.InstallsAgain(here, view), installed.count(view.name) > 1)
        for one, other in pairwise(execution.installed(history.entity)):
            yield f.InstallsBefore(f.ViewNamed(one), f.ViewNamed(other), here)
        if f.ViewOf in speaking:
            yield from views_at(history, views, speaking)


def views_at(history: History, views: Sequence[f.ViewNamed], speaking: set[type]) -> Iterator[f.Formula]:
    """The view of each event at an entity."""
    here = f.EntityNamed(history.entity)
    current: str | None = None
    made: dict[tuple[EventKind, str], int] = {}
    for event in history.events:
        current = event.view or current
        if event.message is None:
            continue
        nth = made[event.kind, event.message] = made.get((event.kind, event.message), 0) + 1
        about = f.MessageNamed(event.message)
        found: f.EventTerm
        if event.kind is EventKind.SEND:
            found = f.SendEvent(about)
        elif event.kind is EventKind.DELIVER:
            found = f.DeliveryEvent(about, here)
        elif event.kind is EventKind.ARRIVE and f.ArrivalEvent in speaking:
            found = f.ArrivalEvent(about, here)
        else:
            continue
        for view in views:
            if nth == 1:
                yield stated(f.SameView(f.ViewOf(found), view), view.name == current)
            if event.kind is EventKind.DELIVER and f.DeliveryVariable in speaking:
                same = stated(f.SameView(f.ViewOf(f.DeliveryVariable("d")), view), view.name == current)
                yield some_delivery("d", here, event.message, nth, same)


def groups_of(execution: Execution) -> Iterator[f.Formula]:
    """Which groups there are, who is in them, and which messages are addressed to them."""
    any_group = f.GroupVariable("g")
    these = [f.GroupNamed(name) for name in execution.groups]
    yield f.Forall(any_group, f.TRUTH, one_of(*(f.SameGroup(any_group, group) for group in these)))
    for group in these:
        yield f.SameGroup(group, group)
        for entity in execution.entities:
            yield stated(f.IsMember(f.EntityNamed(entity), group), entity in execution.groups[group.name])
        for message in execution.messages.values():
            yield stated(f.AddressedTo(f.MessageNamed(message.name), group), group.name in message.groups)


def some_delivery(variable: str, here: f.EntityNamed, message: str, nth: int, body: f.Formula) -> f.Formula:
    """There is the `nth` delivery of a message at an entity, and the body is so of it."""
    d = f.DeliveryVariable(variable)
    which = f.And(
        (
            f.DeliveredAt(d, here),
            f.SameMessage(f.MessageOf(d), f.MessageNamed(message)),
            equal(f.Nth(d), nth, f.Dimension.NUMBER),
        )
    )
    return f.Exists(d, which, body)


def one_of(*atoms: f.Formula) -> f.Formula:
    """Some atom is so."""
    return f.Not(f.conjunction(*map(f.Not, atoms)))


def stated(atom: f.Formula, so: bool) -> f.Formula:
    """The atom, or that it is not so."""
    return atom if so else f.Not(atom)


def equal(term: f.NumberTerm, value: int, dimension: f.Dimension) -> f.Formula:
    """The term is the value."""
    from fractions import Fraction

    return f.Comparison(f.Relation.EQUAL, term, f.Constant(Fraction(value), dimension), dimension)


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
