"""Whether what is under way comes to an end: an endless exchange is no deadlock, and no quiescent state shows it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.histories import needed
from precedes.protocol.exploration.interned_states import TransitionTable
from precedes.protocol.exploration.state_space import Space, State
from precedes.protocol.model import Protocol
from precedes.protocol.moves import Arrived, Expired, Vanished


def restless(protocol: Protocol[Any], bounds: Bounds) -> tuple[int, int]:
    """How many states there are, and of how many no quiescent state can be reached although nothing more is requested,
    lost or stops."""
    space = Space(TransitionTable(protocol, bounds.entities, needed(())), bounds)
    stack = [state for state, _ in space.initial()]
    known = set(stack)
    before: defaultdict[State, list[State]] = defaultdict(list)
    resting: list[State] = []
    while stack:
        state = stack.pop()
        expanded = space.expanded(state)
        if expanded.quiescent:
            resting.append(state)
        for after, move in expanded.successors:
            if isinstance(move, Arrived | Expired | Vanished):
                before[after].append(state)
            if after not in known:
                known.add(after)
                stack.append(after)
    calm = set(resting)
    while resting:
        for state in before[resting.pop()]:
            if state not in calm:
                calm.add(state)
                resting.append(state)
    return len(known), len(known - calm)
