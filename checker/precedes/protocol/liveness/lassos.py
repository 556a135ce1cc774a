"""The shortest lasso: a stem to a state, and a fair loop through it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from precedes.protocol.exploration.recurring_steps import KINDS
from precedes.protocol.liveness.fairness import Endless
from precedes.protocol.liveness.step_graph import StepGraph

EFFORT: Final = 300_000
"""States of loops that are looked at, over all loops, once a lasso was found."""


@dataclass(frozen=True, slots=True)
class Lasso:
    """A state that is met again and again, and the steps of the loop that leads back to it: where each leads, and its
    label. Without steps: a behavior may stay in the state.
    """

    state: int
    loop: tuple[tuple[int, int], ...]


def shortest(
    graph: StepGraph,
    endless: Endless,
    kinds: frozenset[int],
    states: Sequence[int],
    depth: Callable[[int], int],
    *,
    moves_on: bool = False,
) -> Lasso:
    """The lasso of least moves through one of the states, each of which is on a fair loop or one of the ends.

    `states` are in the order in which a search breadth first found them. `depth` is how many moves lead to one of them.
    `moves_on`: a behavior that stays in a state is none, and each of the states is on a loop.
    """
    best: tuple[int, Lasso] | None = None
    looked_at = 0
    for state in states:
        stays, stem = not moves_on and bool(endless.ends[state]), depth(state)
        if best is not None and stem >= best[0]:
            break
        loop: tuple[tuple[int, int], ...] = ()
        if not stays:
            if best is not None and (stem + 1 >= best[0] or looked_at > EFFORT):
                # A behavior may still stay in one of the next states, which is shorter.
                continue
            loop, effort = _loop(graph, endless, kinds, state)
            looked_at += effort
        length = stem + len(loop)
        if best is None or length < best[0]:
            best = length, Lasso(state, loop)
    assert best is not None, "there is a state to begin with"
    return best[1]


def _loop(
    graph: StepGraph, endless: Endless, kinds: frozenset[int], state: int
) -> tuple[tuple[tuple[int, int], ...], int]:
    """A shortest fair loop through a state, and how much was looked at.

    What can be taken in the state is owed, until it is taken or could not be taken; of any other fair step the state
    itself shows that it cannot always be taken.
    """
    component = endless.components[state]
    owed = frozenset(label for _, label in graph.steps_of(state) if label % KINDS in kinds)
    start = (state, owed)
    before: dict[tuple[int, frozenset[int]], tuple[tuple[int, frozenset[int]], int]] = {}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for after, label in graph.steps_of(here[0]):
            if after < 0 or endless.components[after] != component:
                continue
            left = here[1] - {label}
            left &= _labels(graph.steps_of(after))
            there = (after, left)
            if there == (state, frozenset()):
                return (*_way(before, start, here), (after, label)), len(before)
            if there not in before and there != start:
                before[there] = here, label
                waiting.append(there)
    raise AssertionError("a fair component has a fair loop through each of its states")


def _labels(steps: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(label for _, label in steps)


def _way(
    before: dict[tuple[int, frozenset[int]], tuple[tuple[int, frozenset[int]], int]],
    start: tuple[int, frozenset[int]],
    last: tuple[int, frozenset[int]],
) -> tuple[tuple[int, int], ...]:
    """The steps from the start to the last."""
    steps: list[tuple[int, int]] = []
    while last != start:
        one, label = before[last]
        steps.append((last[0], label))
        last = one
    return tuple(reversed(steps))
