"""Cycles of a finite relation between messages, given as who is related to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from precedes.verdict import TRUE

Related = Mapping[str, Sequence[str]]


def has_cycle(related: Related) -> bool:
    """Whether the relation has a cycle; one message related to itself is one."""
    try:
        TopologicalSorter(related).prepare()
    except CycleError:
        return True
    return False


def shortest_cycle(related: Related) -> tuple[str, ...]:
    """A cycle of the fewest messages, each once; of several, that of the first message. Empty where there is
    none."""
    best: tuple[str, ...] = ()
    for start in related:
        path = _shortest_path(related, start, start)
        if path and (not best or len(path) < len(best)):
            best = path
    return best


def reasons_of_cycles(certain: Related, uncertain: Mapping[tuple[str, str], int]) -> int:
    """The reasons of every uncertain pair that would close a cycle, were all uncertain pairs related; TRUE
    where none would."""
    related = {name: list(following) for name, following in certain.items()}
    for first, second in uncertain:
        related[first].append(second)
    reasons = TRUE
    for (first, second), reason in uncertain.items():
        if _shortest_path(related, second, first):
            reasons |= reason
    return reasons


def _shortest_path(related: Related, start: str, end: str) -> tuple[str, ...]:
    """The messages from start up to, and without, the end, over one step or more; empty where nothing leads
    there."""
    origin: dict[str, str] = {}
    layer = [start]
    while layer:
        following_layer: list[str] = []
        for name in layer:
            for following in related[name]:
                if following not in origin:
                    origin[following] = name
                    following_layer.append(following)
        if end in origin:
            path = [origin[end]]
            while path[-1] != start:
                path.append(origin[path[-1]])
            return tuple(reversed(path))
        layer = following_layer
    return ()
