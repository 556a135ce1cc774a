"""Lassos by values, from the words of docs/protocols.md: no numbers, no components, no tables.

A loop is looked for from each state by itself: it comes back to the state, and each fair step that could be taken there
is taken on the way, or could not be taken somewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from precedes.protocol import Here, Protocol
from tests.protocol.plain_search import Whole, _after, _faults, _next, _requests, _steps, _without

Label = tuple[Any, ...]
"""A packet that comes in at somebody, or a time-out of somebody."""


@dataclass(frozen=True)
class Found:
    """The least number of moves of a lasso through a state of a kind, None where there is none; and how many states
    there are.
    """

    states: int
    lasso: int | None
    stays: int | None
    """The same of behaviors that stay in a state although something could happen ..."""
    rests: int | None = None
    """... and of those that come to a state in which nothing can happen but requests and faults."""


def lassos(
    protocol: Protocol[Any],
    entities: int,
    messages: int,
    wanted: Callable[[Whole], bool],
    *,
    losses: int = 0,
    most: int = 1_000,
    throughout: bool = False,
) -> Found | None:
    """The shortest lasso through a wanted state, or, `throughout`, through wanted states alone; None where there are
    more states than `most`.
    """
    start = Whole(
        tuple(protocol.start(Here(k, entities)) for k in range(entities)),
        (0,) * entities,
        ((),) * entities,
        messages,
        losses,
    )
    depths, waiting = {start: 0}, deque([start])
    steps: dict[Whole, list[tuple[Label, Whole]]] = {}
    while waiting:
        state = waiting.popleft()
        steps[state] = list(recurring(protocol, state))
        others = [*_requests(protocol, state), *_faults(protocol, state)]
        for after in [*(after for _, after in steps[state]), *others]:
            if after not in depths:
                depths[after] = depths[state] + 1
                waiting.append(after)
        if len(depths) > most:
            return None
    fair = {
        state: {label for label, _ in labels if label[0] in protocol.fair} for state, labels in steps.items()
    }
    known = {state for state in depths if wanted(state)}
    loops = [
        depths[state] + length
        for state in known
        if (length := _loop(steps, fair, state, known if throughout else depths)) is not None
    ]
    stays = [depths[state] for state in known if steps[state] and not fair[state]]
    rests = [depths[state] for state in known if not steps[state]]
    return Found(len(depths), min(loops, default=None), min(stays, default=None), min(rests, default=None))


def refusing(protocol: Protocol[Any]) -> Callable[[Whole], bool]:
    """Whether requests are left in a state, all of which are refused."""
    return lambda state: state.requests > 0 and not any(_requests(protocol, state))


def recurring(protocol: Protocol[Any], state: Whole) -> Iterator[tuple[Label, Whole]]:
    """What can happen but for requests and faults."""
    entities, happens = len(state.states), False
    for entity, place in _next(protocol, state):
        sender, packet = state.in_flight[entity][place]
        here, rest = Here(entity, entities), _without(state, entity, place)
        for step in _steps(protocol.arrive(here, state.states[entity], packet, sender)):
            happens = True
            yield ("arrivals", entity, sender, packet), _after(protocol, rest, entity, step)
    if happens:
        return
    running = [
        (timer.patience, entity, timer)
        for entity in range(entities)
        for timer in protocol.timers(Here(entity, entities), state.states[entity])
    ]
    for patience, entity, timer in running:
        if patience != min(running, key=lambda each: each[0])[0]:
            continue
        for step in _steps(protocol.expire(Here(entity, entities), state.states[entity], timer)):
            if step.actions or step.state != state.states[entity]:
                yield ("time-outs", entity, timer), _after(protocol, state, entity, step)


def _loop(
    steps: dict[Whole, list[tuple[Label, Whole]]],
    fair: dict[Whole, set[Label]],
    start: Whole,
    among: Collection[Whole],
) -> int | None:
    """How many moves the shortest fair loop through a state has that stays among some states."""
    begin = (start, frozenset(fair[start]))
    lengths, waiting = {begin: 0}, deque([begin])
    while waiting:
        state, owed = here = waiting.popleft()
        for label, after in steps[state]:
            if after not in among:
                continue
            left = frozenset((owed - {label}) & {other for other, _ in steps[after]})
            if after == start and not left:
                return lengths[here] + 1
            if (after, left) not in lengths:
                lengths[after, left] = lengths[here] + 1
                waiting.append((after, left))
    return None
