"""Strongly connected components of a graph of states, after Tarjan 1972, without recursion. In the subset of Python
that numba compiles.
"""

from __future__ import annotations

import numpy as np

from precedes.native.compiled_functions import Int32Out, Int64Out
from precedes.protocol.exploration.distinct_rows import Code
from precedes.protocol.liveness.step_graph import Int32, StepGraph

UNSEEN, DONE = -1, 2**31 - 1


def number_components(
    next_step: Int64Out, ends: Int64Out, targets: Int32Out, low: Int32Out, path: Int32Out, numbers: Int32Out
) -> int:
    """Write the component of each state to `numbers`; it begins with -1 everywhere, as `low` does. How many there are.

    `next_step[k]` and `ends[k]` are where the steps of state k begin and end; the former is used up. `path` has room
    twice over: the states that wait for their component, and, from its other end, those that the search came through.
    """
    found, seen, waiting = 0, 0, 0
    for root in range(len(low)):
        if low[root] != UNSEEN:
            continue
        depth = len(path) - 1
        path[depth] = path[waiting] = root
        low[root] = seen
        numbers[root] = -2 - seen
        seen += 1
        waiting += 1
        while depth < len(path):
            state = int(path[depth])
            if next_step[state] < ends[state]:
                after = int(targets[next_step[state]])
                next_step[state] += 1
                if after < 0:
                    continue
                if low[after] == UNSEEN:
                    low[after] = seen
                    numbers[after] = -2 - seen
                    seen += 1
                    depth -= 1
                    path[depth] = path[waiting] = after
                    waiting += 1
                elif low[after] < low[state]:
                    low[state] = low[after]
                continue
            depth += 1
            if low[state] == -2 - numbers[state]:
                while True:
                    waiting -= 1
                    other = int(path[waiting])
                    low[other] = DONE
                    numbers[other] = found
                    if other == state:
                        break
                found += 1
            elif depth < len(path) and low[state] < low[path[depth]]:
                low[path[depth]] = low[state]
    return found


def strong_components(graph: StepGraph, code: Code) -> Int32:
    """The number of the strongly connected component that each state is in."""
    states = graph.states
    numbers, low = np.full(states, UNSEEN, np.int32), np.full(states, UNSEEN, np.int32)
    starts, ends = graph.starts[:-1].copy(), graph.starts[1:].copy()
    path = np.empty(2 * states, np.int32)
    code(number_components)(starts, ends, graph.targets, low, path, numbers)
    return numbers
