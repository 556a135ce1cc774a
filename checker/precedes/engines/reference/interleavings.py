"""The interleavings that send and receipt logs allow, for executions small enough to list them.

Where only SL and RL of an entity are known, its history is some merge of the two. An execution is possible
where happens-before has no cycle, and only such merges are listed: what is said of happens-before must be
true of each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import comb, prod
from typing import Final

from precedes.core.execution import Event, EventKind, Execution, History
from precedes.engines.reference.happens_before import HappensBeforeRelation

LIMIT: Final = 300


def possible_interleavings(execution: Execution, limit: int = LIMIT) -> tuple[Execution, ...] | None:
    """Every possible execution with these logs, histories in full; None where there are more merges than the
    limit."""
    if prod(_merge_count(history) for history in execution.histories) > limit:
        return None
    candidates = (
        replace(execution, histories=histories) for histories in product(*map(_merges, execution.histories))
    )
    return tuple(found for found in candidates if not HappensBeforeRelation(found).cycle)


def _sends_first(history: History) -> tuple[Sequence[Event], Sequence[Event]]:
    sends = sum(event.kind is EventKind.SEND for event in history.events)
    return history.events[:sends], history.events[sends:]


def _merge_count(history: History) -> int:
    if history.interleaved:
        return 1
    sends, _ = _sends_first(history)
    return comb(len(history.events), len(sends))


def _merges(history: History) -> Iterator[History]:
    if history.interleaved:
        yield history
        return
    sends, others = _sends_first(history)
    for places in combinations(range(len(history.events)), len(sends)):
        sending, remaining, chosen = iter(sends), iter(others), set(places)
        merged = tuple(
            next(sending if place in chosen else remaining) for place in range(len(history.events))
        )
        yield History(history.entity, merged)
