"""Cycles of a finite relation between messages, given as who is related to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from precedes.core.verdict import TRUE

Related = Mapping[str, Sequence[str]]


def has_cycle(related: Related) -> bool:
    """Whether the relation has a cycle; one message related to itself is one."""
    try:
        TopologicalSorter(related).prepare()
    except CycleError:
        return True
    return False


def components(related: Related) -> tuple[tuple[str, ...], ...]:
    """The strongly connected components that have a cycle, each in the order of the relation; of several
    the one with the first message first.
    """
    ahead = {name: _reached(related, name) for name in related}
    found: dict[str, tuple[str, ...]] = {}
    for name, reached in ahead.items():
        if name in reached and name not in found:
            component = tuple(other for other in related if other in reached and name in ahead[other])
            found |= dict.fromkeys(component, component)
    return tuple(dict.fromkeys(found.values()))


def _reached(related: Related, start: str) -> frozenset[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        following = [name for name in related[waiting.pop()] if name not in reached]
        reached.update(following)
        waiting += following
    return frozenset(reached)


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
