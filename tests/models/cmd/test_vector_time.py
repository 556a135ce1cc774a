"""Vector time as the CMD paper computes it, against the number of events that precede (Lemma 2)."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from precedes_models import vector_time

CLOCKS = st.lists(st.integers(0, 5), min_size=3, max_size=3).map(tuple)
"""Clocks of three entities."""


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[int, int | None]]:
    """Events in their order: (entity, None) a send, (entity, k) the delivery of what the k-th event sent."""
    events: list[tuple[int, int | None]] = []
    for _ in range(draw(st.integers(0, 12))):
        sends = [None, *(k for k, (_, sent) in enumerate(events) if sent is None)]
        events.append((draw(st.integers(0, 2)), draw(st.sampled_from(sends))))
    return events


@given(histories())
def test_a_component_is_the_number_of_events_that_precede(events: list[tuple[int, int | None]]) -> None:
    clocks: list[vector_time.Clock] = []
    before: list[frozenset[int]] = []
    now = [vector_time.zero(3)] * 3
    seen: list[frozenset[int]] = [frozenset()] * 3
    for k, (entity, sent) in enumerate(events):
        if sent is None:
            now[entity] = vector_time.ticked(now[entity], entity)
            seen[entity] = seen[entity] | {k}
        else:
            now[entity] = vector_time.received(now[entity], entity, clocks[sent])
            seen[entity] = seen[entity] | before[sent] | {k}
        clocks.append(now[entity])
        before.append(seen[entity])
    for clock, preceding in zip(clocks, before, strict=True):
        assert clock == tuple(sum(events[k][0] == entity for k in preceding) for entity in range(3))
    for p, q in permutations(range(len(events)), 2):
        assert (p in before[q]) == vector_time.at_most(clocks[p], clocks[q])


@given(CLOCKS, CLOCKS)
def test_the_supremum_is_the_least_clock_that_neither_exceeds(
    one: vector_time.Clock, other: vector_time.Clock
) -> None:
    joined = vector_time.supremum(one, other)
    assert vector_time.at_most(one, joined)
    assert vector_time.at_most(other, joined)
    assert all(count in (a, b) for count, a, b in zip(joined, one, other, strict=True))


@given(CLOCKS, st.permutations(range(3)).map(tuple))
def test_renaming_moves_the_components(clock: vector_time.Clock, names: tuple[int, ...]) -> None:
    moved = vector_time.renamed(clock, names)
    assert all(moved[names[entity]] == clock[entity] for entity in range(3))


def test_clocks_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        vector_time.at_most((1, 2), (1, 2, 3))
