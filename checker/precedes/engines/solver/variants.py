"""Variants of an execution that decide more formulas: the same sends and deliveries, with times, arrivals, recorded
clocks and a view.

One counterexample refutes many implications, but a formula about times is unknown on an execution without
times. Each variant is a possible execution of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

from precedes.core.execution import Event, EventKind, Execution, History

SECOND: Final = 10**9


def variants(execution: Execution) -> Iterator[Execution]:
    """Histories with a known interleaving, where every event has a time, in the order of happens-before: with
    everything delivered in time, or late, and with clocks as the events imply them, or not. Nothing, where
    the execution has more than sends, deliveries and crashes.
    """
    plain = (EventKind.SEND, EventKind.DELIVER, EventKind.CRASH)
    if any(e.kind not in plain for h in execution.histories for e in h.events):
        return
    ordered = _in_causal_order(execution)
    clocks = _clocks(execution, ordered)
    for in_time, right in product((True, False), repeat=2):
        histories = []
        for entity in execution.entities:
            events: list[Event] = []
            for place, (owner, index, event) in enumerate(ordered):
                if owner != entity:
                    continue
                time = place * SECOND
                clock = clocks[entity, index] if right else {}
                if event.kind is EventKind.DELIVER:
                    events.append(Event(EventKind.ARRIVE, event.message, time))
                events.append(Event(event.kind, event.message, time, clock, attributes=event.attributes))
            histories.append(History(entity, tuple(events)))
        delta = len(ordered) * SECOND if in_time else 0
        yield replace(execution, histories=tuple(histories), delta=delta)


def interleaved(execution: Execution) -> Execution:
    """The execution with every entity's sends before its deliveries, where it was not known how they follow
    each other.
    """
    histories = tuple(replace(history, interleaved=True) for history in execution.histories)
    return replace(execution, histories=histories)


def in_one_view(execution: Execution) -> Execution | None:
    """The execution with one view of all entities, which each of them installs first. None, where there are views, or
    where it is not known how sends and deliveries follow each other.
    """
    if execution.views or not all(history.interleaved for history in execution.histories):
        return None
    installation = Event(EventKind.VIEW, members=execution.entities, view="v1")
    histories = tuple(
        replace(history, events=(installation, *history.events)) for history in execution.histories
    )
    return replace(execution, histories=histories)


def _in_causal_order(execution: Execution) -> list[tuple[str, int, Event]]:
    """All events, none before one that happens before it: entity, place in its history, event."""
    waiting = {history.entity: list(enumerate(history.events)) for history in execution.histories}
    unsent = {name for name, message in execution.messages.items() if message.sender is not None}
    ordered: list[tuple[str, int, Event]] = []
    while any(waiting.values()):
        for entity, events in waiting.items():
            if not events or (events[0][1].kind is EventKind.DELIVER and events[0][1].message in unsent):
                continue
            index, event = events.pop(0)
            if event.kind is EventKind.SEND and event.message is not None:
                unsent.discard(event.message)
            ordered.append((entity, index, event))
            break
        else:
            raise ValueError("the execution is impossible: happens-before has a cycle")
    return ordered


def _clocks(
    execution: Execution, ordered: list[tuple[str, int, Event]]
) -> Mapping[tuple[str, int], Mapping[str, int]]:
    """The vector time of every event (CMD paper, computation of vector time)."""
    current: dict[str, dict[str, int]] = {entity: {} for entity in execution.entities}
    sent: dict[str | None, dict[str, int]] = {}
    found: dict[tuple[str, int], Mapping[str, int]] = {}
    for entity, index, event in ordered:
        mine = dict(current[entity])
        if event.kind is EventKind.DELIVER:
            for other, ticks in sent.get(event.message, {}).items():
                mine[other] = max(mine.get(other, 0), ticks)
        if event.kind is not EventKind.CRASH:
            mine[entity] = mine.get(entity, 0) + 1
        if event.kind is EventKind.SEND:
            sent[event.message] = mine
        current[entity] = mine
        found[entity, index] = mine
    return found
