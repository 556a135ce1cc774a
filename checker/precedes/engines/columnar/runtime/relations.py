"""What generated code calls about relations between messages: whether one has a cycle, and which.

A relation is m x m three-valued integers, flat; see `runtime` for what such code may be.
"""

from __future__ import annotations

from precedes.engines.columnar.runtime.logs import Column, Scratch


def peeled(
    m: int, relation: Column, certain_only: bool, left: Scratch, degree: Scratch, waiting: Scratch
) -> int:
    """Take away messages that lead to nothing that is left; how many remain. They are 1 in `left`, and
    there is a cycle if there are any.
    """
    for first in range(m):
        left[first] = 1
        degree[first] = 0
        for second in range(m):
            value = relation[first * m + second]
            if value == 0 or (value > 0 and not certain_only):
                degree[first] += 1
    remaining = m
    size = 0
    for message in range(m):
        if degree[message] == 0:
            waiting[size] = message
            size += 1
    while size > 0:
        size -= 1
        second = waiting[size]
        left[second] = 0
        remaining -= 1
        for first in range(m):
            value = relation[first * m + second]
            if value == 0 or (value > 0 and not certain_only):
                degree[first] -= 1
                if degree[first] == 0:
                    waiting[size] = first
                    size += 1
    return remaining


def acyclic(m: int, relation: Column, left: Scratch, degree: Scratch, waiting: Scratch) -> int:
    """Whether a relation has no cycle; unknown where pairs that may be related would close one, by the
    reasons of these pairs.
    """
    if peeled(m, relation, True, left, degree, waiting) > 0:
        return -1
    reasons = 0
    if peeled(m, relation, False, left, degree, waiting) > 0:
        for second in range(m):
            if left[second] == 0:
                continue
            reach(m, relation, second, degree, waiting)
            for first in range(m):
                if relation[first * m + second] > 0 and (first == second or degree[first] > 0):
                    reasons |= relation[first * m + second]
    return reasons


def reach(m: int, relation: Column, start: int, distance: Scratch, waiting: Scratch) -> None:
    """How many steps of pairs that are or may be related lead from `start` to every message; 0 where none
    do.
    """
    for message in range(m):
        distance[message] = 0
    waiting[0] = start
    size = 1
    place = 0
    while place < size:
        first = waiting[place]
        place += 1
        for second in range(m):
            if relation[first * m + second] >= 0 and distance[second] == 0:
                distance[second] = 1 if first == start else distance[first] + 1
                if second != start:
                    waiting[size] = second
                    size += 1


def shortest_cycle(
    m: int, relation: Column, left: Scratch, degree: Scratch, waiting: Scratch, cycle_messages: Scratch
) -> int:
    """A cycle of a relation that has one, the shortest where there are at most 256 messages; its messages
    in `cycle_messages`. Returns its length.
    """
    peeled(m, relation, True, left, degree, waiting)
    best = 0
    for start in range(m):
        if left[start] == 0:
            continue
        # `degree` is now the message that each was reached from, over certain pairs only.
        for message in range(m):
            degree[message] = -1
        waiting[0] = start
        size = 1
        place = 0
        while place < size and degree[start] < 0:
            first = waiting[place]
            place += 1
            for second in range(m):
                if relation[first * m + second] == 0 and degree[second] < 0:
                    degree[second] = first
                    if second == start:
                        break
                    waiting[size] = second
                    size += 1
        if degree[start] < 0:
            continue
        length = 1
        message = degree[start]
        while message != start:
            message = degree[message]
            length += 1
        if best == 0 or length < best:
            best = length
            cycle_messages[0] = start
            message = degree[start]
            for place in range(length - 1, 0, -1):
                cycle_messages[place] = message
                message = degree[message]
        if m > 256 or best == 1:
            break
    return best
