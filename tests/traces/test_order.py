"""The order of events from rows, times and clocks: against its definition, and against what truly happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from precedes.core.clock_order import Compared, compared, counted_events, has_cycle
from precedes.core.columns import Batch, histories_of
from precedes.core.execution import Event, EventKind, Execution
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference.happens_before import HappensBeforeRelation
from precedes.testing.choices import Seeded
from precedes.traces.order import backwards
from tests.strategies.clocked import COUNTS, EVERYTHING, run, spoiled

RUNS = 400
Place = tuple[str, int]

PREFERENCE = [
    EventKind.SEND,
    EventKind.DELIVER,
    EventKind.LOCAL,
    EventKind.ARRIVE,
    EventKind.DISCARD,
    EventKind.CRASH,
    EventKind.RECOVER,
    EventKind.VIEW,
]


def clocked(execution: Execution) -> Iterator[tuple[Place, Event]]:
    for history in execution.histories:
        for place, event in enumerate(history.events):
            if event.clock is not None:
                yield (history.entity, place), event


def own(place: Place, event: Event) -> int:
    return (event.clock or {}).get(place[0], 0)


def counted(execution: Execution) -> set[Place]:
    """Whose clocks count them, by the definition in `precedes.core.clock_order`."""
    events = dict(clocked(execution))
    uncounted: set[EventKind] = set()
    for one, event in events.items():
        if own(one, event) == 0:
            uncounted.add(event.kind)
        for other, rival in events.items():
            same = one != other and one[0] == other[0] and own(one, event) == own(other, rival)
            if same and PREFERENCE.index(rival.kind) <= PREFERENCE.index(event.kind):
                uncounted.add(event.kind)
    return {place for place, event in events.items() if event.kind not in uncounted}


def at_most(one: Event, other: Event) -> bool:
    """V(one) <= V(other)."""
    return all(count <= (other.clock or {}).get(entity, 0) for entity, count in (one.clock or {}).items())


def disagreements(execution: Execution) -> tuple[set[str], bool]:
    """The entities whose rows contradict their clocks, and whether the clocks contradict each other or messages."""
    events, known = dict(clocked(execution)), counted(execution)
    within = set()
    for (one, event), (other, later) in product(events.items(), repeat=2):
        if one[0] == other[0] and one[1] < other[1] and other in known:
            falls = one in known and own(other, later) <= own(one, event)
            if falls or not at_most(event, later):
                within.add(one[0])
    sends = {event.message: place for place, event in events.items() if event.kind is EventKind.SEND}
    across = False
    for (one, event), (other, later) in product(events.items(), repeat=2):
        if one[0] != other[0] and one in known:
            knows = (later.clock or {}).get(one[0], 0) >= own(one, event)
            across |= knows and not at_most(event, later)
        receives = later.kind is EventKind.DELIVER and sends.get(later.message) == one
        across |= receives and one in known and (later.clock or {}).get(one[0], 0) < own(one, event)
    return within, across


def found(execution: Execution) -> tuple[Batch, Compared, set[Place]]:
    batch = batch_of([execution])
    assert batch.clocks is not None
    events = histories_of(batch)
    clocks = replace(batch.clocks, counted=counted_events(events, batch.clocks))
    marked = {place_of(batch, int(event)) for event in np.flatnonzero(clocks.counted)}
    return batch, compared(events, clocks), marked


def place_of(batch: Batch, event: int) -> Place:
    entity = int(np.searchsorted(batch.event_offsets, event, "right")) - 1
    return str(batch.entity_names[entity]), event - int(batch.event_offsets[entity])


def with_evidence(execution: Execution) -> Execution:
    """The execution with what `precedes.traces.order` finds in it."""
    known = counted(execution)
    histories = tuple(
        replace(
            history,
            events=tuple(
                replace(event, counted=(history.entity, place) in known)
                for place, event in enumerate(history.events)
            ),
        )
        for history in execution.histories
    )
    return replace(execution, histories=histories)


def has_clocks(execution: Execution) -> bool:
    return any(True for _ in clocked(execution))


@pytest.mark.parametrize(
    ("counts", "clocks", "hidden"),
    [
        (EVERYTHING, 100, 40),
        (EVERYTHING, 50, 40),
        # What clocks do not count is seen where all rows are there with their clocks.
        *((counts, 100, 0) for counts in COUNTS),
    ],
)
def test_true_clocks_agree_with_the_rows_and_say_what_was_so(
    counts: frozenset[EventKind], clocks: int, hidden: int
) -> None:
    told = 0
    for seed in range(RUNS):
        made = run(Seeded(seed), clocks=clocks, hidden=hidden, counted=counts)
        if not has_clocks(made.execution):
            continue
        assert disagreements(made.execution) == (set(), False)
        _, result, known = found(made.execution)
        assert not len(result.within.second)
        assert not len(result.across.second)
        relation = HappensBeforeRelation(with_evidence(made.execution))
        numbers = {(event.entity, event.index): k for k, event in enumerate(relation.events)}
        events = dict(clocked(made.execution))
        for one, other in product(made.before, repeat=2):
            value = relation.before(numbers[one], numbers[other])
            assert value in (TRUE, FALSE)
            truly = one in made.before[other]
            assert truly or value == FALSE
            if one in known and other in events:
                assert (value == TRUE) is truly
            told += value == TRUE
    assert told > RUNS


@pytest.mark.parametrize("clocks", [100, 60])
def test_disagreements_are_those_of_the_definition(clocks: int) -> None:
    met = {"within": 0, "across": 0, "agree": 0}
    for seed in range(RUNS):
        choices = Seeded(seed)
        execution = spoiled(choices, run(choices, clocks=clocks).execution)
        if not has_clocks(execution):
            continue
        batch, result, known = found(execution)
        assert known == counted(execution)
        within, across = disagreements(execution)
        assert {place_of(batch, int(event))[0] for event in result.within.second} == within
        if not within:
            assert bool(len(result.across.second)) is across
        met["within" if within else "across" if across else "agree"] += 1
    assert min(met.values()) > 20


@pytest.mark.parametrize("clocks", [100, 60])
def test_what_clocks_add_is_left_of_all_that_they_say(clocks: int) -> None:
    added = 0
    for seed in range(RUNS):
        choices = Seeded(seed)
        execution = run(choices, clocks=clocks, hidden=40, events=24, counted=EVERYTHING).execution
        if seed % 2:
            execution = spoiled(choices, execution)
        if not has_clocks(execution):
            continue
        batch, result, _ = found(execution)
        relation = HappensBeforeRelation(with_evidence(execution))
        rows = HappensBeforeRelation(replace(execution, by_clocks=False))
        edges = dict(rows._certain)
        numbers = {(event.entity, event.index): k for k, event in enumerate(rows.events)}
        for event in range(len(batch.event_kind)):
            here = numbers[place_of(batch, event)]
            for earlier in result.edges.earlier[
                result.edges.offsets[event] : result.edges.offsets[event + 1]
            ]:
                first = numbers[place_of(batch, int(earlier))]
                edges[first] = [*edges[first], here]
                added += 1
        reached = HappensBeforeRelation(replace(execution, by_clocks=False))
        reached._certain = edges
        assert bool(reached.cycle) is bool(relation.cycle)
        assert has_cycle(histories_of(batch), result.edges, 0) is (bool(relation.cycle) and not rows.cycle)
        if not relation.cycle:
            for first, second in product(range(len(rows.events)), repeat=2):
                assert relation.before(first, second) == reached.before(first, second)
    assert added > 50


def test_times_that_run_backwards() -> None:
    entity = np.array([0, 0, 0, 0, 1, 1, 2])
    time = np.array([5, 9, np.iinfo(np.int64).min, 7, 3, 4, 1])
    pairs = backwards(entity, time, 0)
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([1], [3])
    assert not len(backwards(entity, time, 2).second)
    assert backwards(entity, time, 1).second.tolist() == [3]
    falling = backwards(np.zeros(3, np.int64), np.array([3, 2, 1]), 1)
    assert (falling.first.tolist(), falling.second.tolist()) == ([0], [2])
