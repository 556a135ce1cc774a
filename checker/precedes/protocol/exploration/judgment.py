"""Judges the states of an exploration: invariants once for each entity, pair or state, and formulas once for
each execution, many executions in one scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

import numpy as np

from precedes.core.execution import EventKind, Execution
from precedes.core.formula import TRUTH, Requirement
from precedes.core.mode import Mode, completed, in_mode, judged, mode_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import Plan, leaves_of, plan
from precedes.logic.vacuity import PREMISE, premise_of
from precedes.protocol.exploration.execution_columns import ExecutionColumns
from precedes.protocol.exploration.histories import Histories, Recording, needed
from precedes.protocol.exploration.interned_states import TransitionTable
from precedes.protocol.exploration.state_space import State
from precedes.protocol.invariants import Invariant, OfEntity, OfPair, OfState, OfStep, Situation

AT_ONCE: Final = 20_000
"""Executions in one scan."""


@dataclass(slots=True)
class Formulas:
    """Formulas that are judged of the same executions, each execution once."""

    requirements: tuple[Requirement, ...]
    plan: Plan
    seen: set[tuple[int, ...]] = field(default_factory=set)
    waiting: list[Waiting] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An execution that is still to be judged, the state that it was met in, and the how many-th that was."""

    key: tuple[int, ...]
    state: State
    turn: int


@dataclass(frozen=True, slots=True)
class Violated:
    """What a formula that fails asks of the state in which it does, and the how many-th state that is."""

    asked: Requirement
    turn: int


_Kind = TypeVar("_Kind", bound=OfEntity | OfPair | OfState)


class _Invariants(Generic[_Kind]):
    """The invariants of one kind, and of what they have been judged."""

    def __init__(self, invariants: tuple[_Kind, ...]) -> None:
        self.all = invariants
        self._asked = {
            quiescent: tuple(i for i in invariants if i.quiescent is quiescent) for quiescent in (False, True)
        }
        self._judged: set[tuple[int, ...]] = set()

    def asked(self, quiescent: bool) -> tuple[_Kind, ...]:
        """Those of one mode."""
        return self._asked[quiescent]

    def is_new(self, what: tuple[int, ...]) -> bool:
        """Whether something has not been judged before; from now on it has."""
        if what in self._judged:
            return False
        self._judged.add(what)
        return True


class Judge:
    """Collects what does not hold: `failures` has, for each property, the first state in which it was seen to fail,
    `exercised` how often each was exercised: its premise was met, `unknown` why a verdict was open.
    """

    def __init__(
        self, requirements: Sequence[Requirement], invariants: Sequence[Invariant], *, quiescent: bool = False
    ) -> None:
        """`quiescent`: every formula, and every invariant of pairs and whole states, is judged where nothing is in
        flight, whatever mode it says. Invariants of single entities keep theirs.
        """
        asked = [in_mode(each, Mode.QUIESCENT) for each in requirements] if quiescent else requirements
        self.invariants = tuple(_quiescent(each) for each in invariants) if quiescent else tuple(invariants)
        self.leaves = leaves_of(asked)
        self.modes = {
            **{name: mode_of(leaf.formula) for name, leaf in self.leaves.items()},
            **{invariant.name: _mode(invariant) for invariant in self.invariants},
        }
        self.always, self.on_the_way, self.in_quiescence = _groups(tuple(self.leaves.values()))
        self.failures: dict[str, State] = {}
        self.violated: dict[str, Violated] = {}
        """Of the failures, those of formulas."""
        self._turn = 0
        self.exercised: dict[str, int] = dict.fromkeys(
            (*self.leaves, *(invariant.name for invariant in self.invariants)), 0
        )
        self.unknown: dict[str, int] = {}
        self.judged = 0
        """How many executions were judged."""
        self.of_entity = _Invariants(tuple(i for i in self.invariants if isinstance(i, OfEntity)))
        self.of_pair = _Invariants(tuple(i for i in self.invariants if isinstance(i, OfPair)))
        self.of_state = _Invariants(tuple(i for i in self.invariants if isinstance(i, OfState)))
        self.of_step = tuple(i for i in self.invariants if isinstance(i, OfStep))
        recording = needed(leaf.formula for leaf in self.leaves.values())
        # Invariants of whole states are shown who has sent and delivered what.
        self.recording: Recording = replace(recording, logs=recording.logs or bool(self.of_state.all))
        self._table: TransitionTable | None = None
        self._histories: Histories | None = None
        self._columns: ExecutionColumns | None = None

    @property
    def asks_on_the_way(self) -> bool:
        """Whether anything but of single entities is asked where something is in flight."""
        invariants = (*self.of_pair.asked(False), *self.of_state.asked(False))
        return bool(self.always.requirements or self.on_the_way.requirements or invariants)

    @property
    def table(self) -> TransitionTable:
        """The transition table of the exploration that is judged."""
        assert self._table is not None
        return self._table

    def begin(self, table: TransitionTable) -> None:
        """Judge states made of the local states of this table."""
        self._table = table
        self._histories = Histories(table.protocol, table.entities)
        self._columns = ExecutionColumns(table.protocol, self._histories, table.logs)

    def reached(self, states: Iterable[State]) -> None:
        """Judge what is asked of every state."""
        for state in states:
            self._each_entity(state, quiescent=False)
            self._each_pair(state, quiescent=False)
            if self.always.requirements:
                self._collect(self.always, state)

    def expanded(self, state: State, *, quiescent: bool) -> None:
        """Judge what is asked of a state of which it is known whether something is in flight."""
        self._turn += 1
        if quiescent:
            self._each_entity(state, quiescent=True)
            self._each_pair(state, quiescent=True)
        self._whole(state, quiescent=quiescent)
        formulas = self.in_quiescence if quiescent else self.on_the_way
        if formulas.requirements:
            self._collect(formulas, state)

    def finish(self) -> None:
        """Judge what has been collected."""
        for formulas in (self.always, self.on_the_way, self.in_quiescence):
            self._scan(formulas)

    def fail(self, name: str, state: State) -> None:
        """Remember the first state in which a property fails."""
        self.failures.setdefault(name, state)

    def _collect(self, formulas: Formulas, state: State) -> None:
        key = self._key(state)
        if key not in formulas.seen:
            formulas.seen.add(key)
            formulas.waiting.append(Waiting(key, state, self._turn))
            if len(formulas.waiting) >= AT_ONCE:
                self._scan(formulas)

    def _scan(self, formulas: Formulas) -> None:
        if not formulas.waiting:
            return
        assert self._columns is not None
        keys = np.array([each.key for each in formulas.waiting], np.int32)
        batch = self._columns.batch(keys, interleaved=self._interleaved)
        values = scan(batch, formulas.plan).values
        for column, name in enumerate(formulas.plan.names):
            value = values[:, column]
            if name.startswith(PREMISE):
                self.exercised[name.removeprefix(PREMISE)] += int((value == TRUE).sum())
                continue
            if name not in self.leaves:
                continue
            bad = (value == FALSE).nonzero()[0]
            if len(bad):
                first = formulas.waiting[int(bad[0])]
                # What is asked on the way and what is asked in quiescence are judged one after the other.
                if name not in self.violated or first.turn < self.violated[name].turn:
                    self.violated[name] = Violated(formulas.plan.leaves[name], first.turn)
                    self.failures[name] = first.state
            doubtful = value[value > TRUE]
            if len(doubtful):
                self.unknown.setdefault(name, int(doubtful[0]))
        self.judged += len(formulas.waiting)
        formulas.waiting.clear()

    def execution(self, state: State) -> Execution:
        """The execution of a state, as far as the formulas need it."""
        return self._execution(self._key(state), "found")

    def _key(self, state: State) -> tuple[int, ...]:
        seen_log = self.table.seen_log
        return tuple(seen_log[component] for component in state[:-1])

    def _execution(self, key: tuple[int, ...], name: str) -> Execution:
        table = self.table
        assert self._histories is not None
        return self._histories.execution(
            [table.logs[log] for log in key],
            name,
            interleaved=self._interleaved,
        )

    @property
    def _interleaved(self) -> bool:
        return not (self.table.rearranges and self.recording.interleaving)

    def _each_entity(self, state: State, *, quiescent: bool) -> None:
        asked = self.of_entity.asked(quiescent)
        if not asked:
            return
        table = self.table
        for component in state[:-1]:
            if not self.of_entity.is_new((quiescent, component)):
                continue
            row = table.rows[component]
            if table.locals[row.local].stopped:
                continue
            state_of_entity = table.state_of(row.local)
            here = table.here(row.placement, row.now)
            for invariant in asked:
                judged = invariant.check(table.protocol, here, state_of_entity)
                self._told(invariant.name, judged, state)

    def _each_pair(self, state: State, *, quiescent: bool) -> None:
        asked = self.of_pair.asked(quiescent)
        if not asked:
            return
        for one in state[:-1]:
            for other in state[:-1]:
                if one != other and self.of_pair.is_new((quiescent, one, other)):
                    self._pair(asked, one, other, state)

    def _pair(self, asked: Sequence[OfPair], one: int, other: int, state: State) -> None:
        table = self.table
        rows = table.rows[one], table.rows[other]
        if any(table.locals[row.local].stopped for row in rows):
            return
        first, second = (table.state_of(row.local) for row in rows)
        heres = tuple(table.here(row.placement, row.now) for row in rows)
        for invariant in asked:
            judged = invariant.check(table.protocol, heres[0], first, heres[1], second)
            self._told(invariant.name, judged, state)

    def _told(self, name: str, judged: bool | None, state: State) -> None:
        if judged is None:
            return
        self.exercised[name] += 1
        if not judged:
            self.fail(name, state)

    def _whole(self, state: State, *, quiescent: bool) -> None:
        asked = self.of_state.all if quiescent else self.of_state.asked(False)
        if not asked:
            return
        situation = situation_of(self.table, state)
        for invariant in asked:
            self._told(invariant.name, invariant.check(self.table.protocol, situation), state)


def _quiescent(invariant: Invariant) -> Invariant:
    """An invariant where everything is asked in quiescence only, but for what concerns one entity or one step."""
    return replace(invariant, quiescent=True) if isinstance(invariant, OfPair | OfState) else invariant


def _mode(invariant: Invariant) -> Mode:
    """A step is taken, whatever is in flight."""
    in_quiescence = not isinstance(invariant, OfStep) and invariant.quiescent
    return Mode.QUIESCENT if in_quiescence else Mode.ALWAYS


def _groups(leaves: tuple[Requirement, ...]) -> tuple[Formulas, Formulas, Formulas]:
    """What is asked of every state; and of the leaves that tell states apart, what they ask of those in which
    something is in flight, and of the quiescent ones.
    """
    always = tuple(leaf for leaf in leaves if mode_of(leaf.formula) is Mode.ALWAYS)
    others = tuple(leaf for leaf in leaves if leaf not in always)
    on_the_way = tuple(
        replace(leaf, formula=asked)
        for leaf in others
        if (asked := judged(leaf.formula, quiescent=False)) != TRUTH
    )
    return _formulas(always), _formulas(on_the_way), _formulas(tuple(map(completed, others)))


def _formulas(requirements: tuple[Requirement, ...]) -> Formulas:
    asked = tuple(map(completed, requirements))
    return Formulas(requirements, plan((*asked, *map(premise_of, asked))))


def situation_of(table: TransitionTable, state: State) -> Situation:
    """A whole state as values."""
    rows = [table.rows[component] for component in state[:-1]]
    locals_ = [table.locals[row.local] for row in rows]
    under_way = tuple(
        (flight[0], entity, table.packets[flight[1]])
        for entity, row in enumerate(rows)
        for flight in row.inbox
    )
    logs = [table.logs[table.seen_log[component]] if table.seen_log else () for component in state[:-1]]
    return Situation(
        tuple(None if local.stopped else table.states[local.state] for local in locals_),
        under_way,
        tuple(
            tuple(e.message for e in log if e.kind is EventKind.SEND and e.message is not None)
            for log in logs
        ),
        tuple(
            tuple(e.message for e in log if e.kind is EventKind.DELIVER and e.message is not None)
            for log in logs
        ),
    )
