"""Whether a model makes given histories: a search that goes on only where what has happened is a beginning of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from precedes.core.execution import EventKind, Execution, History
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.histories import Recording, entries, needed
from precedes.protocol.exploration.state_space import Space
from precedes.protocol.exploration.transition_table import TransitionTable
from precedes.protocol.model import Protocol
from precedes.protocol.moves import Arrived, Crashed, Expired, Move, Recovered, Requested

EVERYTHING: Final = Recording(times=False, clocks=False)

Logged = tuple[EventKind, str | None, tuple[str, ...]]


def made(protocol: Protocol[Any], bounds: Bounds, execution: Execution) -> tuple[Move, ...] | None:
    """The moves of some behavior within the bounds with these histories; None where there is none.

    Arrivals need not agree.
    """
    wanted = [line for history in execution.histories for line in _lines(history)]
    space = Space(TransitionTable(protocol, bounds.entities, needed(())), bounds)
    start = (0,) * len(wanted)
    stack = [(state, start, (move,)) for state, move in space.initial()]
    known = {(state, start) for state, _, _ in stack}
    goal = tuple(len(events) for _, _, events in wanted)
    while stack:
        state, done, moves = stack.pop()
        if done == goal:
            return moves
        for after, move in space.expanded(state).successors:
            further = done
            for event in _events(protocol, move):
                if event[1][0] is not EventKind.ARRIVE:
                    further = _further(wanted, further, event)
            if further and (after, further) not in known:
                known.add((after, further))
                stack.append((after, further, (*moves, move)))
    return None


def _lines(history: History) -> Iterator[tuple[str, frozenset[EventKind], list[Logged]]]:
    """The events whose order is known: all of a history, or its sends and its deliveries."""
    events = [(e.kind, e.message, tuple(e.members)) for e in history.events if e.kind is not EventKind.ARRIVE]
    if history.interleaved:
        yield history.entity, frozenset(EventKind), events
        return
    for kind in (EventKind.SEND, EventKind.DELIVER):
        yield history.entity, frozenset({kind}), [event for event in events if event[0] is kind]


def _further(
    wanted: list[tuple[str, frozenset[EventKind], list[Logged]]],
    done: tuple[int, ...],
    event: tuple[str, Logged],
) -> tuple[int, ...]:
    """How far the histories are after an event; nothing where they do not go on so."""
    if not done:
        return ()
    entity, logged = event
    for place, (whose, kinds, events) in enumerate(wanted):
        if whose == entity and logged[0] in kinds:
            fits = done[place] < len(events) and events[done[place]] == logged
            return (*done[:place], done[place] + 1, *done[place + 1 :]) if fits else ()
    return done


def _events(protocol: Protocol[Any], move: Move) -> Iterator[tuple[str, Logged]]:
    match move:
        case Requested(entity, message, step):
            logged = entries(step, message, EVERYTHING, None, rearranges=False)
        case Arrived(entity=entity, step=step) | Expired(entity=entity, step=step):
            logged = entries(step, None, EVERYTHING, None, rearranges=False)
        case Crashed(entity):
            yield protocol.name_of(entity), (EventKind.CRASH, None, ())
            return
        case Recovered(entity, step):
            yield protocol.name_of(entity), (EventKind.RECOVER, None, ())
            logged = entries(step, None, EVERYTHING, None, rearranges=False)
        case _:
            return
    for entry in logged:
        members = tuple(protocol.name_of(k) for k in sorted(entry.members or ()))
        yield (
            protocol.name_of(entity),
            (entry.kind, entry.message.name if entry.message else None, members),
        )
