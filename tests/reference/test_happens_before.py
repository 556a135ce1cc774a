"""Happens-before against clocks, and against every possible execution where something is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from precedes.core.execution import Event, EventKind, Execution, History
from precedes.core.formula import (
    DeliveryEvent,
    EntityNamed,
    Formula,
    HappensBefore,
    MessageNamed,
    Or,
    SendEvent,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference import evaluate
from precedes.engines.reference.evaluation import Evaluator, judged
from precedes.engines.reference.happens_before import HappensBeforeRelation, Occurrence
from precedes.engines.reference.interleavings import possible_interleavings
from precedes.testing.random_executions import Shape
from tests.reference import definitions as d
from tests.reference import scenarios as s
from tests.strategies.drawn import executions, formulas

Place = tuple[str, int]
Clocks = dict[Place, dict[str, int]]


def vector_clocks(execution: Execution) -> Clocks | None:
    """Every event's clock as an implementation would compute it; None where the events cannot be put in
    order.
    """
    clocks: Clocks = {}
    current = {entity: dict.fromkeys(execution.entities, 0) for entity in execution.entities}
    sent: dict[str, dict[str, int]] = {}
    next_event = dict.fromkeys(execution.entities, 0)
    progress = True
    while progress:
        progress = False
        for history in execution.histories:
            place = next_event[history.entity]
            if place == len(history.events):
                continue
            event = history.events[place]
            clock = current[history.entity]
            if event.kind is execution.delivery and event.message is not None:
                if execution.messages[event.message].sender is not None and event.message not in sent:
                    continue
                for entity, count in sent.get(event.message, {}).items():
                    clock[entity] = max(clock[entity], count)
            clock[history.entity] += 1
            clocks[history.entity, place] = dict(clock)
            if event.kind is EventKind.SEND and event.message is not None:
                sent[event.message] = dict(clock)
            next_event[history.entity] += 1
            progress = True
    return clocks if len(clocks) == sum(len(history.events) for history in execution.histories) else None


def is_fully_known(execution: Execution) -> bool:
    """Whether every history is interleaved and every send logged."""
    return all(h.interleaved for h in execution.histories) and all(
        message.sender is None or message.logged for message in execution.messages.values()
    )


@given(executions(Shape(entities=4, messages=6, evidence=False)).filter(is_fully_known))
def test_agrees_with_vector_clocks(execution: Execution) -> None:
    relation, clocks = HappensBeforeRelation(execution), vector_clocks(execution)
    assert (clocks is None) == bool(relation.cycle)
    for first, second in product(range(len(relation.events)), repeat=2):
        value = relation.before(first, second)
        if clocks is None:
            assert value == Reason.CYCLE
            continue
        one, other = relation.events[first], relation.events[second]
        assert one.index is not None
        assert other.index is not None
        earlier, later = clocks[one.entity, one.index], clocks[other.entity, other.index]
        expected = first != second and earlier[one.entity] <= later[one.entity]
        assert value == (TRUE if expected else FALSE)


@given(executions(Shape(entities=4, messages=6, evidence=False)).filter(is_fully_known))
def test_a_chain_leads_from_one_event_to_the_other(execution: Execution) -> None:
    relation = HappensBeforeRelation(execution)
    for first, second in product(range(len(relation.events)), repeat=2):
        chain = relation.chain(first, second)
        if relation.before(first, second) != TRUE:
            assert chain == ()
            continue
        assert (chain[0], chain[-1]) == (relation.events[first], relation.events[second])
        for one, other in pairwise(chain):
            if one.entity == other.entity:
                assert (one.index or 0) < (other.index or 0)
            else:
                assert (one.kind, other.kind) == (EventKind.SEND, execution.delivery)
                assert one.message == other.message


# ---- what is not known ------------------------------------------------------------


def possible_executions(execution: Execution) -> Iterator[Execution]:
    """Every possible execution that the recorded one may be: each merge of logs, each place of a send not
    logged.
    """
    choices = []
    for history in execution.histories:
        unlogged = [
            Event(EventKind.SEND, name)
            for name, message in execution.messages.items()
            if message.sender == history.entity and not message.logged
        ]
        merges = [history.events]
        if not history.interleaved:
            sends = [event for event in history.events if event.kind is EventKind.SEND]
            others = [event for event in history.events if event.kind is not EventKind.SEND]
            merges = list(merged(sends, others))
        for send in unlogged:
            merges = [(*m[:place], send, *m[place:]) for m in merges for place in range(len(m) + 1)]
        choices.append([History(history.entity, tuple(events)) for events in merges])
    for histories in product(*choices):
        messages = {
            name: message
            if message.sender is None or message.logged
            else replace(message, destinations=frozenset())
            for name, message in execution.messages.items()
        }
        found = replace(execution, histories=histories, messages=messages)
        if vector_clocks(found) is not None:
            yield found


def merged(left: list[Event], right: list[Event]) -> Iterator[tuple[Event, ...]]:
    """Every merge of two sequences."""
    length = len(left) + len(right)
    for places in combinations(range(length), len(left)):
        one, other = iter(left), iter(right)
        yield tuple(next(one) if place in places else next(other) for place in range(length))


def count_of_choices(execution: Execution) -> int:
    """A bound on how many executions a recorded one may be."""
    count = 1
    for history in execution.histories:
        unlogged = sum(m.sender == history.entity and not m.logged for m in execution.messages.values())
        count *= (len(history.events) + unlogged) ** unlogged
        if not history.interleaved:
            count *= 2 ** len(history.events)
    return count


def key(event: Occurrence, among: HappensBeforeRelation) -> tuple[str, EventKind, str | None, int]:
    """What an event is called whatever its place: the n-th of its kind about its message at its entity."""
    same = [
        e for e in among.events if (e.entity, e.kind, e.message) == (event.entity, event.kind, event.message)
    ]
    return event.entity, event.kind, event.message, sorted(e.index or 0 for e in same).index(event.index or 0)


@given(executions(Shape(entities=3, messages=4, scenarios=True)).filter(lambda x: count_of_choices(x) < 300))
def test_what_is_said_holds_in_every_possible_execution(execution: Execution) -> None:
    relation = HappensBeforeRelation(execution)
    if relation.cycle:
        assert not list(possible_executions(execution))
        return
    possible = [HappensBeforeRelation(found) for found in possible_executions(execution)]
    assert possible
    tables = [{key(event, found): n for n, event in enumerate(found.events)} for found in possible]
    for first, second in product(range(len(relation.events)), repeat=2):
        one, other = (key(relation.events[n], relation) for n in (first, second))
        seen = {found.before(table[one], table[other]) for found, table in zip(possible, tables, strict=True)}
        said = relation.before(first, second)
        if said in (TRUE, FALSE):
            assert seen == {said}
        else:
            assert said & (Reason.INTERLEAVING | Reason.SEND_NOT_LOGGED)
            assert seen != {TRUE}


LOGS_ONLY = Shape(entities=3, messages=4, scenarios=True, odd=False)


def few_merges(execution: Execution) -> bool:
    """Whether an execution has logs without their interleaving, and few merges of them."""
    return not all(h.interleaved for h in execution.histories) and count_of_choices(execution) < 300


@given(executions(LOGS_ONLY).filter(few_merges), formulas(depth=4), st.booleans())
def test_a_verdict_on_logs_is_that_of_every_interleaving(
    execution: Execution, formula: Formula, bounds_only: bool
) -> None:
    by_bounds = Evaluator(execution).value(judged(formula, execution))
    value = by_bounds if bounds_only else evaluate(formula, execution)
    if value in (TRUE, FALSE):
        assert {evaluate(formula, found) for found in possible_executions(execution)} <= {value}


@given(executions(Shape(entities=3, messages=4, scenarios=True)).filter(few_merges))
def test_interleavings_are_the_possible_ones(execution: Execution) -> None:
    if all(message.logged or message.sender is None for message in execution.messages.values()):
        found = possible_interleavings(execution)
        assert found is not None
        assert {x.histories for x in map(plain, found)} == {
            x.histories for x in map(plain, possible_executions(execution))
        }


def plain(execution: Execution) -> Execution:
    """Without clocks, so that histories can be told apart by their hash."""
    return replace(
        execution,
        histories=tuple(
            replace(history, events=tuple(replace(event, clock=None) for event in history.events))
            for history in execution.histories
        ),
    )


def test_logs_that_leave_one_interleaving_are_judged_by_it() -> None:
    # E2 can only have sent b after it delivered a: c, which it sent before b, was an answer at E1.
    execution = s.logs("E1 E2", SL1="a", SL2="b", RL1="a b", RL2="a b")
    earlier = HappensBefore(SendEvent(MessageNamed("b")), SendEvent(MessageNamed("a")))
    assert Evaluator(execution).value(earlier) == FALSE
    assert evaluate(d.CAUSAL_ORDER.formula, execution) == TRUE


def test_interleavings_are_listed_where_bounds_do_not_decide() -> None:
    # Whatever E2 did first, one of the two is true; neither is alone.
    execution = s.logs("E1 E2", SL1="a{2}", SL2="b{1}", RL1="", RL2="a")
    delivery, send = DeliveryEvent(MessageNamed("a"), EntityNamed("E2")), SendEvent(MessageNamed("b"))
    either = Or((HappensBefore(delivery, send), HappensBefore(send, delivery)))
    assert Evaluator(execution).value(either) == Reason.INTERLEAVING
    assert evaluate(either, execution) == TRUE


def test_one_kind_of_event_needs_no_interleaving() -> None:
    execution = s.logs("E1 E2", SL1="a{2} b{2}", RL2="a b")
    assert (
        evaluate(HappensBefore(SendEvent(MessageNamed("a")), SendEvent(MessageNamed("b"))), execution) == TRUE
    )
    assert evaluate(d.CAUSAL_ORDER.formula, execution) == TRUE
