"""What is asked of the states of an exploration: invariants once for each entity, pair or state, formulas once for each
execution, many executions in one scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from precedes.columns import batch_of
from precedes.engines.columnar.plan import Plan, plan
from precedes.engines.columnar.scan import scan
from precedes.engines.vacuity import PREMISE, premise_of
from precedes.execution import EventKind, Execution
from precedes.formula import Requirement
from precedes.protocol.components import Components
from precedes.protocol.histories import Histories, Recording, needed
from precedes.protocol.invariants import Invariant, OfEntity, OfPair, OfState, OfStep, Situation
from precedes.protocol.space import State
from precedes.protocol.stability import at_rest_only
from precedes.verdict import FALSE, TRUE

AT_ONCE: Final = 20_000
"""Executions in one scan."""


@dataclass(slots=True)
class Formulas:
    """Formulas that are judged of the same executions, each execution once."""

    requirements: tuple[Requirement, ...]
    plan: Plan
    seen: set[tuple[int, ...]] = field(default_factory=set)
    waiting: list[tuple[tuple[int, ...], State]] = field(default_factory=list)


class Judge:
    """Collects what does not hold: `failures` has, for each property, the first state in which it was seen to fail,
    `premises` how often the premise of each was met, `unknown` why a verdict was open.
    """

    def __init__(
        self, requirements: Sequence[Requirement], invariants: Sequence[Invariant], *, at_rest: bool = False
    ) -> None:
        """`at_rest`: what concerns several entities at once is judged only where nothing can happen any more."""
        self.invariants = tuple(invariants)
        self.at_rest = at_rest
        self.leaves = plan(requirements).leaves
        resting = tuple(leaf for leaf in self.leaves.values() if at_rest or at_rest_only(leaf.formula))
        always = tuple(leaf for leaf in self.leaves.values() if leaf not in resting)
        self.always, self.resting = _formulas(always), _formulas(resting)
        self.failures: dict[str, State] = {}
        self.premises: dict[str, int] = dict.fromkeys(
            (*self.leaves, *(invariant.name for invariant in invariants)), 0
        )
        self.unknown: dict[str, int] = {}
        self.judged = 0
        """How many executions were judged."""
        self.of_entity = tuple(i for i in invariants if isinstance(i, OfEntity))
        self.of_pair = tuple(i for i in invariants if isinstance(i, OfPair))
        self.of_state = tuple(i for i in invariants if isinstance(i, OfState))
        self.of_step = tuple(i for i in invariants if isinstance(i, OfStep))
        recording = needed(leaf.formula for leaf in self.leaves.values())
        # Invariants of whole states are shown who has sent and delivered what.
        self.recording: Recording = replace(recording, logs=recording.logs or bool(self.of_state))
        self._entities: set[int] = set()
        self._pairs: set[tuple[int, int]] = set()
        self._components: Components | None = None
        self._histories: Histories | None = None

    @property
    def components(self) -> Components:
        """The components of the exploration that is judged."""
        assert self._components is not None
        return self._components

    def begin(self, components: Components) -> None:
        """Judge states made of these components."""
        self._components = components
        self._histories = Histories(components.protocol, components.entities)

    def reached(self, states: Iterable[State]) -> None:
        """Judge what is asked of every state."""
        if self.of_entity or self.of_pair:
            for state in states:
                self._local(state)
                if not self.at_rest:
                    self._each_pair(state)
        if self.always.requirements:
            for state in states:
                self._collect(self.always, state)

    def expanded(self, state: State, *, quiet: bool) -> None:
        """Judge what is asked of a state of which it is known whether it is at rest."""
        if quiet and self.at_rest:
            self._each_pair(state)
        if self.of_state and (quiet or not self.at_rest):
            self._whole(state, quiet=quiet)
        if quiet and self.resting.requirements:
            self._collect(self.resting, state)

    def finish(self) -> None:
        """Judge what has been collected."""
        for formulas in (self.always, self.resting):
            self._scan(formulas)

    def fail(self, name: str, state: State) -> None:
        """Remember the first state in which a property fails."""
        self.failures.setdefault(name, state)

    def _collect(self, formulas: Formulas, state: State) -> None:
        key = self._key(state)
        if key not in formulas.seen:
            formulas.seen.add(key)
            formulas.waiting.append((key, state))
            if len(formulas.waiting) >= AT_ONCE:
                self._scan(formulas)

    def _scan(self, formulas: Formulas) -> None:
        if not formulas.waiting:
            return
        batch = batch_of(
            [self._execution(key, str(number)) for number, (key, _) in enumerate(formulas.waiting)]
        )
        values = scan(batch, formulas.plan).values
        for column, name in enumerate(formulas.plan.names):
            value = values[:, column]
            if name.startswith(PREMISE):
                self.premises[name.removeprefix(PREMISE)] += int((value == TRUE).sum())
                continue
            if name not in self.leaves:
                continue
            bad = (value == FALSE).nonzero()[0]
            if len(bad):
                self.fail(name, formulas.waiting[int(bad[0])][1])
            doubtful = value[value > TRUE]
            if len(doubtful):
                self.unknown.setdefault(name, int(doubtful[0]))
        self.judged += len(formulas.waiting)
        formulas.waiting.clear()

    def execution(self, state: State) -> Execution:
        """The execution of a state, as far as the formulas need it."""
        return self._execution(self._key(state), "found")

    def _key(self, state: State) -> tuple[int, ...]:
        seen_log = self.components.seen_log
        return tuple(seen_log[component] for component in state[:-1])

    def _execution(self, key: tuple[int, ...], name: str) -> Execution:
        components = self.components
        assert self._histories is not None
        return self._histories.execution(
            [components.logs[log] for log in key],
            name,
            interleaved=not (components.rearranges and self.recording.interleaving),
        )

    def _local(self, state: State) -> None:
        components = self.components
        for component in state[:-1]:
            if component not in self._entities:
                self._entities.add(component)
                row = components.rows[component]
                if components.locals[row.local].stopped:
                    continue
                state_of_entity = components.state_of(row.local)
                here = components.here(row.seat, row.now)
                for invariant in self.of_entity:
                    self._told(
                        invariant.name, invariant.check(components.protocol, here, state_of_entity), state
                    )

    def _each_pair(self, state: State) -> None:
        if not self.of_pair:
            return
        for one in state[:-1]:
            for other in state[:-1]:
                if one != other and (one, other) not in self._pairs:
                    self._pairs.add((one, other))
                    self._pair(one, other, state)

    def _pair(self, one: int, other: int, state: State) -> None:
        components = self.components
        rows = components.rows[one], components.rows[other]
        if any(components.locals[row.local].stopped for row in rows):
            return
        first, second = (components.state_of(row.local) for row in rows)
        heres = tuple(components.here(row.seat, row.now) for row in rows)
        for invariant in self.of_pair:
            judged = invariant.check(components.protocol, heres[0], first, heres[1], second)
            self._told(invariant.name, judged, state)

    def _told(self, name: str, judged: bool | None, state: State) -> None:
        if judged is None:
            return
        self.premises[name] += 1
        if not judged:
            self.fail(name, state)

    def _whole(self, state: State, *, quiet: bool) -> None:
        situation = situation_of(self.components, state, quiet=quiet)
        for invariant in self.of_state:
            self._told(invariant.name, invariant.check(self.components.protocol, situation), state)


def _formulas(requirements: tuple[Requirement, ...]) -> Formulas:
    premises = (premise_of(leaf) for leaf in requirements)
    return Formulas(requirements, plan((*requirements, *premises)))


def situation_of(components: Components, state: State, *, quiet: bool) -> Situation:
    """A whole state as values."""
    rows = [components.rows[component] for component in state[:-1]]
    locals_ = [components.locals[row.local] for row in rows]
    under_way = tuple(
        (flight[0], entity, components.packets[flight[1]])
        for entity, row in enumerate(rows)
        for flight in row.inbox
    )
    logs = [
        components.logs[components.seen_log[component]] if components.seen_log else ()
        for component in state[:-1]
    ]
    return Situation(
        tuple(None if local.stopped else components.states[local.state] for local in locals_),
        under_way,
        quiet,
        tuple(
            tuple(e.message for e in log if e.kind is EventKind.SEND and e.message is not None)
            for log in logs
        ),
        tuple(
            tuple(e.message for e in log if e.kind is EventKind.DELIVER and e.message is not None)
            for log in logs
        ),
    )
