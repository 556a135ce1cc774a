"""What shows a violation where two messages do not: the shortest cycle of orders, the chain of `p ~> q`.

Plain Python, called for one execution at a time and only where somebody asks. The answer depends on names and
histories, never on the order of rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from precedes.columns import Batch
from precedes.engines.columnar.kernels import delivery_index

CHAINED: Final = frozenset({"causal_order", "process_causal_order", "causal_delivery", "delta_causal_order"})
"""The kernels whose two messages are the ends of a chain."""

EFFORT: Final = 2_000_000
"""Steps after which the shortest cycle found so far is good enough."""

_SEND: Final = 0

Logs = Sequence[Sequence[int]]


def shortest_cycle(batch: Batch, x: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The entities and messages of a shortest cycle: each entity delivers a message of it before the next.

    Empty if there is none.
    """
    logs = _receipt_logs(batch, x)
    for order in (1, -1):
        logs = [log[::order] for log in _stuck([log[::order] for log in logs])]
    for (i, first), (j, second) in combinations(enumerate(logs), 2):
        place = {m: k for k, m in enumerate(first)}
        shared = [m for m in second if m in place]
        for earlier, later in pairwise(shared):
            if place[later] < place[earlier]:
                return (i, j), (later, earlier)
    best: list[tuple[int, int]] = []
    steps = 0
    where: dict[int, list[tuple[int, int]]] = {}
    for i, log in enumerate(logs):
        for k, m in enumerate(log):
            where.setdefault(m, []).append((i, k))
    for start in sorted(where):
        found, effort = _cycle_through(start, logs, where, len(best))
        steps += effort
        best = found or best
        if len(best) == 3 or (best and steps > EFFORT):
            break
    return tuple(dict.fromkeys(i for i, _ in best)), tuple(m for _, m in best)


def _stuck(logs: Logs) -> list[Sequence[int]]:
    """What stays of the logs when messages are taken off that head every log that has them."""
    holders: dict[int, int] = {}
    for log in logs:
        for m in log:
            holders[m] = holders.get(m, 0) + 1
    at = [0] * len(logs)
    heading: dict[int, list[int]] = {}
    moved = list(range(len(logs)))
    while moved:
        i = moved.pop()
        if at[i] == len(logs[i]):
            continue
        m = logs[i][at[i]]
        heading.setdefault(m, []).append(i)
        if len(heading[m]) == holders[m]:
            for j in heading[m]:
                at[j] += 1
            moved.extend(heading[m])
    return [log[start:] for log, start in zip(logs, at, strict=True)]


def _cycle_through(
    start: int, logs: Logs, where: dict[int, list[tuple[int, int]]], limit: int
) -> tuple[list[tuple[int, int]], int]:
    """A shortest cycle through one message, as (log, message), and the steps that it took to find it.

    Empty where there is none, or none shorter than a `limit` other than 0.
    """
    reached = [len(log) for log in logs]
    source: dict[int, tuple[int, int]] = {}
    depth = {start: 0}
    waiting = deque([start])
    steps = 0
    while waiting:
        m = waiting.popleft()
        if limit and depth[m] + 1 >= limit:
            break
        for i, k in where[m]:
            for following in logs[i][k + 1 : reached[i]]:
                steps += 1
                if following == start:
                    cycle = [(i, m)]
                    while cycle[-1][1] != start:
                        cycle.append(source[cycle[-1][1]])
                    return cycle[::-1], steps
                if following not in depth:
                    depth[following] = depth[m] + 1
                    source[following] = (i, m)
                    waiting.append(following)
            reached[i] = min(reached[i], k + 1)
    return [], steps


def chain(batch: Batch, x: int, first: int, last: int) -> tuple[int, ...]:
    """The fewest messages that lead from the send of `first` to the send of `last`, these two at the ends.

    Each is sent by an entity that sent or delivered the one before it earlier.
    """
    sends: list[list[int]] = []
    places: list[list[int]] = []
    known: dict[int, list[tuple[int, int]]] = {}
    counted = (_SEND, delivery_index(batch))
    for i, entity in enumerate(range(int(batch.entity_offsets[x]), int(batch.entity_offsets[x + 1]))):
        begin, end = int(batch.event_offsets[entity]), int(batch.event_offsets[entity + 1])
        kinds, messages = batch.event_kind[begin:end].tolist(), batch.event_message[begin:end].tolist()
        at = [k for k, kind in enumerate(kinds) if kind == _SEND]
        places.append(at)
        sends.append([messages[k] for k in at])
        for k, (kind, m) in enumerate(zip(kinds, messages, strict=True)):
            if kind in counted:
                known.setdefault(m, []).append((i, k))
    source: dict[int, int] = {first: first}
    reached = [len(log) for log in sends]
    waiting = deque([first])
    while waiting and last not in source:
        m = waiting.popleft()
        for i, k in known.get(m, ()):
            start = bisect_right(places[i], k)
            for following in sends[i][start : reached[i]]:
                if following not in source:
                    source[following] = m
                    waiting.append(following)
            reached[i] = min(reached[i], start)
    if last not in source:
        return (first, last)
    path = [last]
    while path[-1] != first:
        path.append(source[path[-1]])
    return tuple(path[::-1])


def _receipt_logs(batch: Batch, x: int) -> list[Sequence[int]]:
    entities = range(int(batch.entity_offsets[x]), int(batch.entity_offsets[x + 1]))
    return [
        batch.delivered[batch.delivered_offsets[e] : batch.delivered_offsets[e + 1]].tolist()
        for e in entities
    ]
