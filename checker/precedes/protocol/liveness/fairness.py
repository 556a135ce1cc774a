"""Weak fairness: a fair step that can be taken from some time on, in every state, is taken in the end.

A behavior without end is a stem and then steps that stay in one strongly connected component. Such a loop is fair if
each fair step is taken in it, or cannot be taken in some state of it. The larger a loop, the more of its steps are
taken and the fewer can always be: so a component has a fair loop exactly if the loop through all of it is fair
(Lichtenstein and Pnueli 1985).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from precedes.protocol.exploration.recurring_steps import ARRIVAL, REQUEST, TICK, TIMEOUT, TIMER
from precedes.protocol.liveness.step_graph import Int32, StepGraph
from precedes.protocol.model import ARRIVALS, TIMEOUTS

Bools: TypeAlias = npt.NDArray[np.bool_]

SAID: Final = {ARRIVALS: ARRIVAL, TIMEOUTS: TIMEOUT}
"""The kinds of steps of which a model says whether they are fair."""
ALWAYS: Final = frozenset({TIMER, TICK})
"""Time does not stand still, and a timer that is due expires before it goes on."""


@dataclass(frozen=True, slots=True)
class Endless:
    """The behaviors without end: `components` of the states, and of each whether it has a fair loop of at least one
    step. `ends` are states in which a behavior may stay although something could happen: no fair step can be taken.
    """

    components: Int32
    fair: Bools
    ends: Bools

    @property
    def on_loops(self) -> Bools:
        """The states that are on a fair loop."""
        found: Bools = self.fair[self.components]
        return found


def fair_kinds(said: Collection[str]) -> frozenset[int]:
    """The kinds of steps that are fair, where a model says so of these."""
    return ALWAYS | {SAID[name] for name in said}


def endless(graph: StepGraph, components: Int32, kinds: frozenset[int]) -> Endless:
    """Which components have a fair loop, and in which states a behavior may end before nothing can happen."""
    count = int(components.max(initial=-1)) + 1
    sources, is_fair = graph.sources, np.isin(graph.kinds, list(kinds))
    inside = (graph.targets >= 0) & (components[sources] == components[np.maximum(graph.targets, 0)])
    fair = np.zeros(count, np.bool_)
    fair[components[sources[inside]]] = True
    concerned = is_fair & fair[components[sources]]
    fair[_unfair(graph, components, sources, concerned, inside)] = False
    can_happen = np.zeros(graph.states, np.bool_)
    can_happen[sources[graph.kinds != REQUEST]] = True
    can_happen[sources[is_fair]] = False
    return Endless(components, fair, can_happen)


def _unfair(graph: StepGraph, components: Int32, sources: Int32, steps: Bools, inside: Bools) -> Int32:
    """The components in all of whose states some fair step can be taken that leads out of it wherever it is taken.

    `steps`: the fair steps of those that are to be looked at. `inside`: the steps that stay in their component.
    """
    sizes = np.bincount(components)
    chosen = np.flatnonzero(steps)
    order = chosen[np.lexsort((sources[chosen], graph.labels[chosen], components[sources[chosen]]))]
    of, labels, states = components[sources[order]], graph.labels[order], sources[order]
    if not len(order):
        return of
    new_group = np.flatnonzero(np.r_[True, (of[1:] != of[:-1]) | (labels[1:] != labels[:-1])])
    new_state = np.r_[True, states[1:] != states[:-1]].astype(np.int64)
    new_state[new_group] = 1
    enabled = np.add.reduceat(new_state, new_group)
    taken = np.logical_or.reduceat(inside[order], new_group)
    owed = of[new_group]
    unfair: Int32 = owed[(enabled == sizes[owed]) & ~taken]
    return unfair
