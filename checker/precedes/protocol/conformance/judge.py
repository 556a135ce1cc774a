"""Judges recorded executions by a model, each shape once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from precedes.core.diagnostics import usage
from precedes.core.execution import EventKind, Execution
from precedes.protocol.conformance import logged_runs
from precedes.protocol.conformance.blocks import MOST_SILENT, Level, TooMany
from precedes.protocol.conformance.direct_runs import DirectRuns
from precedes.protocol.conformance.handlers import Done, Handlers
from precedes.protocol.conformance.observation import (
    EVERYTHING_READ,
    IGNORABLE,
    Expected,
    Observed,
    Reading,
    Unfit,
    observed,
)
from precedes.protocol.conformance.search import NAMES, Search, Trail, faults_of, keeps_order
from precedes.protocol.conformance.state_values import hint_for, shown
from precedes.protocol.conformance.verdicts import Answer, Conforms, Deviates, Limits, Naming, Undecided
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.model import Here, Protocol
from precedes.protocol.network import Timed
from precedes.protocol.running.move_log import MoveLog
from precedes.protocol.validation import declarations
from precedes.protocol.validation.handler_calls import called

_MOST_REMEMBERED: Final = 200_000
"""Steps of handlers after which they are forgotten, so that a trace of any length is judged in bounded memory."""
_MOST_SHAPES: Final = 20_000
"""Answers after which they are forgotten, too."""
_MANY: Final = 100
"""Entities of a cluster in which a field of a state is looked for."""
_ATTEMPTS: Final = 12
_ATTEMPT: Final = 120
"""How many short attempts there are, and how many states each may search."""


@dataclass(slots=True)
class Judge:
    """Judges executions by one model.

    `reading`: what of an execution is compared. PrecedesError M005 to M013 for mistakes of the model, M012 at once, and
    U001 for a field of states that it has not.
    """

    protocol: Protocol[Any]
    limits: Limits = field(default_factory=Limits)
    reading: Reading = EVERYTHING_READ
    direct_runs: DirectRuns = field(init=False)
    _handlers: dict[int, Handlers] = field(init=False, default_factory=dict)
    _answers: dict[Any, Answer] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        declarations.check(self.protocol)
        if self.reading.state:
            self._know_fields()
        self.direct_runs = DirectRuns(self.protocol, self.reading, quiescent=self.limits.quiescent)

    def _know_fields(self) -> None:
        # How many entities there are is not known yet, and fields may be named after one of them.
        entities = max(_MANY, self.reading.entities)
        start = called(self.protocol, "start", Here(0, entities))
        compared = self.protocol.compared(start, entities)
        for name, _ in self.reading.state:
            if shown(compared, name) is None:
                said = f"a state of {self.protocol.name} has no field {name}"
                raise usage(said, hint_for(compared, name))

    def follow(self, execution: Execution, log: MoveLog) -> bool:
        """Whether an execution is a behavior of the model by the moves that are said to have been made."""
        try:
            seen = observed(self.protocol, execution, self.reading)
        except Unfit:
            return False
        handlers = self._remembering(len(seen.histories))
        still = (0,) * handlers.entities
        search = Search(handlers, seen, self.limits, still, faults=True, attempt=0, most_states=0)
        behavior = logged_runs.behavior(search, log)
        if behavior is not None:
            self._answers.setdefault(seen.shape, Conforms(behavior, len(behavior)))
        return behavior is not None

    def judge(self, execution: Execution) -> tuple[Answer, Naming]:
        """Whether an execution is a behavior of the model, and what the trace calls what the answer names."""
        try:
            seen = observed(self.protocol, execution, self.reading)
        except Unfit as error:
            return Undecided(str(error)), Naming(execution.entities)
        answer = self._answers.get(seen.shape)
        if answer is None:
            if len(self._answers) > _MOST_SHAPES:
                self._answers.clear()
            behavior = self.direct_runs.behavior(execution)
            answer = self._searched_for(seen) if behavior is None else Conforms(behavior, len(behavior))
            self._answers[seen.shape] = answer
        return answer, Naming(seen.entities, seen.names)

    def _searched_for(self, seen: Observed) -> Answer:
        handlers = self._remembering(len(seen.histories))
        trails: list[Trail] = []
        for faults in self._passes():
            trails = []
            for ahead in product(range(self._skew() + 1), repeat=handlers.entities):
                trail = self._searched(handlers, seen, ahead, faults=faults)
                if trail.found:
                    return Conforms(trail.behavior(), trail.searched)
                trails.append(trail)
        return self._without_run(handlers, seen, trails)

    def _passes(self) -> tuple[bool, ...]:
        """First without faults of the network, which is quick where it is enough; then with them."""
        limits = self.limits
        faulty = any(getattr(limits, name) for name in faults_of(self.protocol.network))
        return (False, True) if faulty else (False,)

    def _skew(self) -> int:
        """How far clocks may be apart."""
        network = self.protocol.network
        return network.skew if isinstance(network, Timed) else 0

    def _searched(self, handlers: Handlers, seen: Observed, ahead: tuple[int, ...], *, faults: bool) -> Trail:
        """Search; where packets keep an order, in several short attempts first."""
        whole = self.limits.states
        short = (
            [(k, min(whole, _ATTEMPT)) for k in range(_ATTEMPTS)]
            if keeps_order(self.protocol.network)
            else []
        )
        trail: Trail | None = None
        for attempt, states in (*short, (0, whole)):
            trail = Search(handlers, seen, self.limits, ahead, faults, attempt, states).run()
            if trail.found or trail.complete:
                break
        assert trail is not None
        return trail

    def _remembering(self, entities: int) -> Handlers:
        """The handlers in a cluster of a size, with what is remembered of them."""
        handlers = self._handlers.get(entities)
        if handlers is None or handlers.size > _MOST_REMEMBERED:
            handlers = self._handlers[entities] = Handlers(self.protocol, entities)
        return handlers

    def _without_run(self, handlers: Handlers, seen: Observed, trails: Sequence[Trail]) -> Answer:
        searched = sum(trail.searched for trail in trails)
        if not all(trail.complete for trail in trails):
            return Undecided(f"no run was found among {searched:,} states", searched)
        if any(trail.crowded for trail in trails):
            said = f"no run was found, and packets may have come in at one entity in more than {MOST_SILENT:,} ways"
            return Undecided(said, searched)
        if any(trail.rearranged for trail in trails):
            said = "the model may put in another order what was received before, and not every such order was tried"
            return Undecided(said, searched)
        best = max(trails, key=lambda trail: trail.explained)
        met = {name for trail in trails for name in trail.met}
        if not best.faults:
            met |= {name for name in faults_of(self.protocol.network) if not getattr(self.limits, name)}
        within = tuple(name for name in NAMES if name in met)
        search = Search(handlers, seen, self.limits, best.ahead, best.faults, 0, 0)
        entity, event = _first_unexplained(seen, best)
        allowed = _allowed(search, best, entity)
        if event is None:
            still = ((k, _allowed(search, best, k)) for k in range(handlers.entities))
            entity, allowed = next((found for found in still if found[1]), (entity, allowed))
        return Deviates(
            best.behavior(),
            tuple(local.done for local in best.state.locals),
            entity,
            event,
            allowed,
            tuple(handlers.states[local.state] if local.up else None for local in best.state.locals),
            event is not None and event.kind.value in IGNORABLE and event.kind not in handlers.logged,
            within,
            searched,
            () if event is None else _in_one_step(search, best, entity),
        )


def _first_unexplained(seen: Observed, trail: Trail) -> tuple[int, Expected | None]:
    """The first event that a run does not have: of those whose message has been sent in it, where there is one."""
    sent = {
        each.message
        for history, local in zip(seen.histories, trail.state.locals, strict=True)
        for each in history[: local.done]
        if each.kind is EventKind.SEND
    }
    waiting: list[tuple[bool, int, int]] = []
    for entity, local in enumerate(trail.state.locals):
        history = seen.histories[entity]
        if local.done < len(history):
            each = history[local.done]
            is_open = each.kind in (EventKind.DELIVER, EventKind.ARRIVE) and each.message not in sent
            waiting.append((is_open, seen.ranks[entity][local.done], entity))
    if not waiting:
        return 0, None
    entity = min(waiting)[2]
    return entity, seen.histories[entity][trail.state.locals[entity].done]


def _allowed(search: Search, trail: Trail, entity: int) -> tuple[Expected, ...]:
    """What the model could log next at an entity, after silent arrivals or none, with what is recorded of states."""
    expected = search.blocks.expected(entity, trail.state.locals[entity])
    fields = () if expected is None else tuple(name for name, _ in expected.state)
    found: dict[Expected, None] = {}
    for done, (first, *_) in _steps(search, trail, entity):
        values = ((name, search.handlers.shown(done.state, name)) for name in fields)
        state = tuple((name, value) for name, value in values if value is not None)
        found[replace(_as_expected(first), state=state)] = None
    return tuple(found)


def _in_one_step(search: Search, trail: Trail, entity: int) -> tuple[Expected, ...]:
    """What the model logs in one step with the next recorded event of an entity, where something else was recorded;
    nothing where all that it logs with it in some step was recorded."""
    recorded = search.observed.histories[entity][trail.state.locals[entity].done :]
    found: dict[Expected, None] = {}
    for _, logged in _steps(search, trail, entity):
        if not recorded[0].is_met_by(logged[0]):
            continue
        other = next(
            (
                entry
                for place, entry in enumerate(logged)
                if place >= len(recorded) or not recorded[place].is_met_by(entry)
            ),
            None,
        )
        if other is None:
            return ()
        found[_as_expected(other)] = None
    return tuple(found)


def _steps(search: Search, trail: Trail, entity: int) -> Iterator[tuple[Done, list[Entry]]]:
    """What an entity could do next after a run, after silent arrivals or none, and what it logs then; each logs
    something."""
    local, now = trail.state.locals[entity], trail.state.now
    if not local.up:
        return
    try:
        reached = search.blocks.silently(entity, local, now, Level.ANY)
    except TooMany:
        return
    for at in reached:
        for end in search.blocks.ends(entity, at.local, now):
            logged = [each for each in end.done.entries if each.kind in search.observed.kinds]
            if logged:
                yield end.done, logged


def _as_expected(entry: Entry) -> Expected:
    """What a model logs, as it would be recorded."""
    return Expected(entry.kind, entry.message, entry.members, entry.clock)
