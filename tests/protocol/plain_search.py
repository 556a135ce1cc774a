"""A search by values, written from the words of docs/protocols.md: no numbers, no tables, no reductions.

It knows requests, arrivals, losses and duplicates, of models without timers in networks without time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, combinations, count
from typing import Any, Final

from precedes.protocol import Choose, Here, Message, Protocol, Reliable, SingleChannel, Step, Transmit

Flight = tuple[int, Any]
"""Sender and packet."""


_COUNT: Final = count()


@dataclass(frozen=True)
class Whole:
    """A whole state: of each entity its state, how many requests it accepted and what is in flight to it, a list where
    the network keeps an order, else sorted; then how many requests, losses and duplicates are left.
    """

    states: tuple[Any, ...]
    accepted: tuple[int, ...]
    in_flight: tuple[tuple[Flight, ...], ...]
    requests: int
    losses: int = 0
    duplicates: int = 0


def reached(
    protocol: Protocol[Any], entities: int, messages: int, *, losses: int = 0, duplicates: int = 0
) -> tuple[int, int, int]:
    """How many states and steps there are, and in how many states nothing can come in. Messages go to any others."""
    start = Whole(
        tuple(protocol.start(Here(k, entities)) for k in range(entities)),
        (0,) * entities,
        ((),) * entities,
        messages,
        losses,
        duplicates,
    )
    known, waiting, steps, quiescent = {start}, [start], 0, 0
    while waiting:
        state = waiting.pop()
        arrivals = list(_arrivals(protocol, state))
        after = [*arrivals, *_requests(protocol, state), *_faults(protocol, state)]
        quiescent += not arrivals
        steps += len(after)
        for one in after:
            if one not in known:
                known.add(one)
                waiting.append(one)
    return len(known), steps, quiescent


def _arrivals(protocol: Protocol[Any], state: Whole, *, keep: bool = False) -> Iterator[Whole]:
    for entity, place in _next(protocol, state):
        sender, packet = state.in_flight[entity][place]
        rest = state if keep else _without(state, entity, place)
        here = Here(entity, len(state.states))
        for step in _steps(protocol.arrive(here, state.states[entity], packet, sender)):
            yield _after(protocol, rest, entity, step)


def _requests(protocol: Protocol[Any], state: Whole) -> Iterator[Whole]:
    entities = range(len(state.states))
    for entity in entities if state.requests else ():
        others = [k for k in entities if k != entity]
        sets = chain.from_iterable(combinations(others, size) for size in range(1, len(others) + 1))
        for to in sets:
            message = Message(entity, state.accepted[entity] + 1, frozenset(to))
            accepted = tuple(n + (k == entity) for k, n in enumerate(state.accepted))
            rest = replace(state, accepted=accepted, requests=state.requests - 1)
            here = Here(entity, len(entities))
            for step in _steps(protocol.send(here, state.states[entity], message)):
                yield _after(protocol, rest, entity, step)


def _faults(protocol: Protocol[Any], state: Whole) -> Iterator[Whole]:
    if state.losses:
        for entity, place in _next(protocol, state):
            yield replace(_without(state, entity, place), losses=state.losses - 1)
    if state.duplicates:
        for after in _arrivals(protocol, state, keep=True):
            yield replace(after, duplicates=state.duplicates - 1)


def _next(protocol: Protocol[Any], state: Whole) -> Iterator[tuple[int, int]]:
    """Whose packet could come in next, and its place; of equal ones, one."""
    network = protocol.network
    for entity, flights in enumerate(state.in_flight):
        seen = set()
        for place, flight in enumerate(flights):
            if isinstance(network, SingleChannel):
                what: Any = None
            else:
                assert isinstance(network, Reliable)
                what = flight[0] if network.fifo else flight
            if what not in seen:
                seen.add(what)
                yield entity, place


def _sender(flight: Flight) -> int:
    return flight[0]


@cache
def _number(_flight: Flight) -> int:
    """Some order of all flights."""
    return next(_COUNT)


def _steps(outcome: Step[Any] | Choose[Any] | None) -> list[Step[Any]]:
    if outcome is None:
        return []
    return [outcome] if isinstance(outcome, Step) else [step for _, step in outcome.options]


def _without(state: Whole, entity: int, place: int) -> Whole:
    flights = state.in_flight[entity]
    return _with_flights(state, entity, flights[:place] + flights[place + 1 :])


def _with_flights(state: Whole, entity: int, flights: tuple[Flight, ...]) -> Whole:
    return replace(
        state, in_flight=tuple(flights if k == entity else f for k, f in enumerate(state.in_flight))
    )


def _after(protocol: Protocol[Any], state: Whole, entity: int, step: Step[Any]) -> Whole:
    state = replace(state, states=tuple(step.state if k == entity else s for k, s in enumerate(state.states)))
    network = protocol.network
    for action in step.actions:
        if isinstance(action, Transmit):
            for receiver in range(len(state.states)) if action.to is None else sorted(action.to):
                flights = (*state.in_flight[receiver], (entity, action.packet))
                if isinstance(network, Reliable):
                    flights = tuple(sorted(flights, key=_sender if network.fifo else _number))
                state = _with_flights(state, receiver, flights)
    return state
