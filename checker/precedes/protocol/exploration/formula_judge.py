"""Judges the formulas of an exploration: once for each execution, many executions in one scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from precedes.core.execution import Execution
from precedes.core.formula import TRUTH, Not, RecordedClock, Requirement, Sent
from precedes.core.mode import Mode, completed, judged, mode_of
from precedes.core.traversal import walk
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import Plan, plan
from precedes.logic.premises import PREMISE, premise_of
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.distinct_rows import DistinctRows
from precedes.protocol.exploration.execution_columns import ExecutionColumns
from precedes.protocol.exploration.histories import Histories, needed
from precedes.protocol.exploration.inherited_verdicts import InheritedVerdicts
from precedes.protocol.exploration.kept_search import Kept, named, part
from precedes.protocol.exploration.seen_histories import SeenHistories
from precedes.protocol.exploration.stability import permanent
from precedes.protocol.exploration.state_space import State
from precedes.protocol.exploration.tally import Tally

AT_ONCE: Final = 20_000
"""Executions in one scan."""
IN_CACHE: Final = 1 << 15
"""States whose histories are looked up at once: what is made for these stays in the caches of the processor."""

Int64: TypeAlias = npt.NDArray[np.int64]
Rows: TypeAlias = npt.NDArray[np.int32]
"""States, one in a row."""


@dataclass(slots=True)
class Formulas:
    """Formulas that are judged of the same executions, each execution once."""

    requirements: tuple[Requirement, ...]
    plan: Plan
    seen: DistinctRows | None = None
    """The executions, each as the histories of its entities."""
    judged: int = 0
    """How many of these were judged."""
    states: list[Int64] = field(default_factory=list)
    """Of those that were not, the state that each was met in, and the how many-th that was."""
    turns: list[Int64] = field(default_factory=list)

    def asks(self, name: str, asked: Requirement) -> bool:
        """Whether this is what is asked under a name."""
        return self.plan.leaves.get(name) == asked


@dataclass(frozen=True, slots=True)
class Violated:
    """What a formula that fails asks of the state in which it does, and the how many-th state that is."""

    asked: Requirement
    turn: int


@dataclass(frozen=True, slots=True)
class AtTheEnd:
    """What formulas that ask of quiescent states say of some states, whatever is in flight there.

    `names` are the formulas, `of_states` has the values of each state in its row, premises among them, and `executions`
    those of each execution once.
    """

    names: tuple[str, ...]
    columns: Mapping[str, int]
    of_states: npt.NDArray[np.int32]
    executions: npt.NDArray[np.int32]

    def values(self, name: str) -> npt.NDArray[np.int32]:
        """The value of a formula in each of the states."""
        return self.of_states[:, self.columns[name]]

    @property
    def exercised(self) -> dict[str, int]:
        """By how many executions each formula was exercised."""
        return {
            name: int((self.executions[:, self.columns[PREMISE + name]] == TRUE).sum()) for name in self.names
        }


class FormulaJudge:
    """Judges formulas, and counts in a tally what came of it."""

    def __init__(self, leaves: Mapping[str, Requirement], tally: Tally, *, inherits: bool) -> None:
        """`inherits`: states come in layers, and are not judged where what is known of the states before and after them
        says enough.
        """
        self.leaves = leaves
        self._tally = tally
        self.lasting, self.always, self.on_the_way, self.in_quiescence = _groups(
            tuple(leaves.values()), inherits=inherits
        )
        asked = tuple(map(completed, self.lasting.requirements))
        self._verdicts, self._premises = plan(asked), plan(tuple(map(premise_of, asked)))
        """What is asked of an execution whose violations last, and whether it could be violated."""
        self._ask_who_sent = any(isinstance(node, Sent) for one in asked for node in walk(one.formula))
        self.violated: dict[str, Violated] = {}
        """Of the failures, those of formulas."""
        self.recording = needed(leaf.formula for leaf in leaves.values())
        """What the verdicts depend on."""
        self.inherited: InheritedVerdicts | None = None
        """What is known of the formulas that are `lasting`, until one of them is found violated or unknown."""
        self._turn = 0
        """How many states were expanded."""
        self._ended: list[Int64] = []
        """States that lead to no farther one and were not judged yet."""
        self._histories: Histories | None = None
        self._columns: ExecutionColumns | None = None
        self._seen: SeenHistories | None = None

    @property
    def ask_on_the_way(self) -> bool:
        """Whether anything is asked where something is in flight."""
        return any(formulas.requirements for formulas in (self.lasting, self.always, self.on_the_way))

    @property
    def executions(self) -> int:
        """How many executions were judged, or told by others; once for each group of formulas that was asked."""
        told = self.lasting.judged if self.inherited is None else self.inherited.seen.count
        return max(told, self.always.judged) + self.on_the_way.judged + self.in_quiescence.judged

    def begin(self, seen: SeenHistories, reserve: int) -> None:
        """Judge states made of the local states of a table, which have these histories. `reserve`: how many states
        there may be, where that is known.
        """
        table = seen.table
        self._seen = seen
        self._histories = Histories(table.protocol, table.entities)
        self._columns = ExecutionColumns(table.protocol, self._histories, seen)
        for formulas in (self.always, self.on_the_way, self.in_quiescence):
            formulas.seen = DistinctRows(table.entities, table.code)
        if self.lasting.requirements:
            self.inherited = InheritedVerdicts(table.entities, table.code, reserve)

    @property
    def seen(self) -> SeenHistories:
        """The histories of the exploration that is judged."""
        assert self._seen is not None
        return self._seen

    def reached(self, rows: Rows, numbers: Int64, parents: Rows | None) -> None:
        """Judge what is asked of every state; `parents` are the states from which these were found, where this judge
        `inherits`.
        """
        self._collect(self.always, rows, numbers, numbers)
        if self.inherited is None:
            self._collect(self.lasting, rows, numbers, numbers)
        elif parents is not None:
            first = self.inherited.seen.count
            unknown = []
            for begin in range(0, len(rows), IN_CACHE):
                part = slice(begin, begin + IN_CACHE)
                executions, met = self.inherited.reached(self._logs(rows[part]), parents[part])
                unknown.append(executions)
                for leaf in self.lasting.requirements:
                    self._tally.exercised[leaf.name] += met
            self._refuse_unsent(self.inherited.seen.rows[first : self.inherited.seen.count])
            self._count_lasting(self.inherited, np.concatenate(unknown))

    def expanded(self, rows: Rows, numbers: Int64, quiescent: npt.NDArray[np.bool_]) -> None:
        """Judge what is asked of states of which it is known whether something is in flight."""
        turns = np.arange(self._turn, self._turn + len(rows))
        self._turn += len(rows)
        calm = np.flatnonzero(quiescent)
        self._collect(self.in_quiescence, rows[calm], numbers[calm], turns[calm])
        if self.on_the_way.requirements:
            moving = np.flatnonzero(~quiescent)
            self._collect(self.on_the_way, rows[moving], numbers[moving], turns[moving])

    def finish(self, unended: int | None = None) -> None:
        """Judge what has been collected. `unended`: from this state on it is not known what states lead to."""
        for formulas in (self.always, self.on_the_way, self.in_quiescence, self.lasting):
            self._scan(formulas)
        if self.inherited is not None and unended is not None:
            self._ended.append(np.arange(unended, self.inherited.states))
        self._judge_ended()

    def ended(self, numbers: Int64) -> None:
        """Judge states that lead to no farther one, when there are many or others are judged, too."""
        if self.inherited is not None and len(numbers):
            self._ended.append(numbers)
            if sum(map(len, self._ended)) >= AT_ONCE:
                self._judge_ended()

    def _judge_ended(self) -> None:
        if self.inherited is not None and self._ended:
            numbers = np.concatenate(self._ended)
            self._ended.clear()
            self._judge_lasting(self.inherited, self.inherited.unjudged(numbers))

    def look_at(self, first: int) -> None:
        """Judge some of the states from this one on."""
        if self.inherited is not None:
            self._judge_lasting(self.inherited, self.inherited.sample(first))

    def _refuse_unsent(self, executions: npt.NDArray[np.int32]) -> None:
        """PrecedesError where a message is delivered that nobody was asked to send. What lasts relies on it: a formula
        may ask whether a message was sent, and one that is not sent yet may be sent later.
        """
        assert self._columns is not None
        if self._ask_who_sent:
            for first in range(0, len(executions), AT_ONCE):
                self._columns.refuse_unsent(executions[first : first + AT_ONCE])

    def _judge_lasting(self, inherited: InheritedVerdicts, executions: Int64) -> None:
        """Judge executions by the formulas whose violations last."""
        for first in range(0, len(executions), AT_ONCE):
            some = executions[first : first + AT_ONCE]
            if (self._values(self._verdicts, inherited.seen.rows[some]) != TRUE).any():
                self._judge_every_execution(inherited)
                return
            inherited.note_judged(some)

    def _count_lasting(self, inherited: InheritedVerdicts, executions: Int64) -> None:
        """Count the executions that exercise the formulas whose violations last, and note which exercise all."""
        for first in range(0, len(executions), AT_ONCE):
            some = executions[first : first + AT_ONCE]
            met = self._values(self._premises, inherited.seen.rows[some]) == TRUE
            inherited.note_met(some[met.all(axis=1)])
            for column, name in enumerate(self._premises.names):
                self._tally.exercised[name.removeprefix(PREMISE)] += int(met[:, column].sum())

    def _judge_every_execution(self, inherited: InheritedVerdicts) -> None:
        """Judge every execution so far, the first ones first, and from now on each by itself."""
        self.inherited = None
        formulas = self.lasting
        for leaf in formulas.requirements:
            self._tally.exercised[leaf.name] = 0
        every = np.arange(inherited.seen.count)
        formulas.seen = inherited.seen
        formulas.states, formulas.turns = [inherited.first_states(every)], [inherited.first_states(every)]
        self._scan(formulas)

    # ---- a search that is kept ----

    @property
    def _every_group(self) -> tuple[Formulas, ...]:
        return self.lasting, self.always, self.on_the_way, self.in_quiescence

    def kept(self) -> tuple[Kept, dict[str, Any]]:
        """What was judged, and of what is not; as arrays, and as what JSON can say."""
        self._judge_ended()
        arrays: Kept = {}
        if self.inherited is not None:
            arrays |= named("inherited", self.inherited.kept())
        for number, formulas in enumerate(self._every_group):
            if formulas.seen is not None:
                waiting = np.zeros((2, 0), np.int64)
                if formulas.states:
                    waiting = np.array([np.concatenate(formulas.states), np.concatenate(formulas.turns)])
                rows = formulas.seen.rows[: formulas.seen.count]
                arrays |= named(f"group{number}", {"seen": rows, "waiting": waiting})
        violated = {
            name: (
                next(k for k, one in enumerate(self._every_group) if one.asks(name, each.asked)),
                each.turn,
            )
            for name, each in self.violated.items()
        }
        judged = [formulas.judged for formulas in self._every_group]
        return arrays, {"judged": judged, "turn": self._turn, "violated": violated}

    def take_up(self, arrays: Kept, numbers: dict[str, Any]) -> None:
        """Know what was judged."""
        inherited = part(arrays, "inherited")
        if self.inherited is not None and inherited:
            self.inherited.take_up(inherited)
        else:
            self.inherited = None
        table = self.seen.table
        for number, formulas in enumerate(self._every_group):
            kept = part(arrays, f"group{number}")
            if kept:
                formulas.seen = DistinctRows(table.entities, table.code)
                formulas.seen.take_up(kept["seen"])
                states, turns = kept["waiting"]
                if len(states):
                    formulas.states, formulas.turns = [states], [turns]
            formulas.judged = numbers["judged"][number]
        self._turn = numbers["turn"]
        self.violated = {
            name: Violated(self._every_group[group].plan.leaves[name], turn)
            for name, (group, turn) in numbers["violated"].items()
        }

    # ---- executions ----

    def _logs(self, rows: Rows) -> npt.NDArray[np.int32]:
        """The histories of the entities of some states."""
        return self.seen.of(self.seen.table.matrices.arrays["components"][rows[:, :-1], c.LOCAL])

    def _collect(self, formulas: Formulas, rows: Rows, numbers: Int64, turns: Int64) -> None:
        if not formulas.requirements or not len(rows):
            return
        assert formulas.seen is not None
        for first in range(0, len(rows), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            new = formulas.seen.add(self._logs(rows[part]))
            formulas.states.append(numbers[part][new])
            formulas.turns.append(turns[part][new])
            if formulas.seen.count - formulas.judged >= AT_ONCE:
                self._scan(formulas)

    def _scan(self, formulas: Formulas) -> None:
        if formulas.seen is None or formulas.seen.count == formulas.judged:
            return
        states, turns = np.concatenate(formulas.states), np.concatenate(formulas.turns)
        for first in range(0, len(states), AT_ONCE):
            some = slice(formulas.judged, min(formulas.judged + AT_ONCE, formulas.seen.count))
            part = slice(first, first + AT_ONCE)
            self._note(
                formulas.plan,
                self._values(formulas.plan, formulas.seen.rows[some]),
                states[part],
                turns[part],
            )
            formulas.judged = some.stop
        formulas.states.clear()
        formulas.turns.clear()

    def _values(self, asked: Plan, executions: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """What is judged of executions, each by the histories of its entities."""
        assert self._columns is not None
        clocks = any(isinstance(node, RecordedClock) for step in asked.steps for node in walk(step.formula))
        batch = self._columns.batch(executions, interleaved=self._interleaved, clocks=clocks)
        values: npt.NDArray[np.int32] = scan(batch, asked).values
        return values

    def _note(self, asked: Plan, values: npt.NDArray[np.int32], states: Int64, turns: Int64) -> None:
        """Note what was judged of executions: in which states these were met, and the how many-th that was."""
        for column, name in enumerate(asked.names):
            value = values[:, column]
            if name.startswith(PREMISE):
                self._tally.exercised[name.removeprefix(PREMISE)] += int((value == TRUE).sum())
                continue
            if name not in self.leaves:
                continue
            bad = (value == FALSE).nonzero()[0]
            if len(bad):
                first = int(bad[0])
                # What is asked on the way and what is asked in quiescence are judged one after the other.
                if name not in self.violated or turns[first] < self.violated[name].turn:
                    self.violated[name] = Violated(asked.leaves[name], int(turns[first]))
                    self._tally.failures[name] = int(states[first])
            doubtful = value[value > TRUE]
            if len(doubtful):
                self._tally.unknown.setdefault(name, int(doubtful[0]))

    def at_the_end(self, rows: Rows) -> AtTheEnd:
        """What the formulas that ask of quiescent states say of some states, as if nothing were in flight there."""
        asked = self.in_quiescence.plan
        names = tuple(leaf.name for leaf in self.in_quiescence.requirements)
        distinct = DistinctRows(self.seen.table.entities, self.seen.table.code)
        numbers = distinct.numbered(self._logs(rows))[0]
        columns = {name: column for column, name in enumerate(asked.names)}
        executions = np.zeros((distinct.count, len(columns)), np.int32)
        for first in range(0, distinct.count if names else 0, AT_ONCE):
            part = slice(first, min(first + AT_ONCE, distinct.count))
            executions[part] = self._values(asked, distinct.rows[part])
        of_states = executions[numbers]
        return AtTheEnd(names, columns, of_states, executions)

    def asked_at_the_end(self, name: str) -> Requirement | None:
        """What a formula asks of a quiescent state; None for what is no formula."""
        return self.in_quiescence.plan.leaves.get(name)

    def execution(self, state: State) -> Execution:
        """The execution of a state, as far as the formulas need it."""
        assert self._histories is not None
        logs = [self.seen[log] for log in self._logs(np.array([state], np.int32))[0].tolist()]
        return self._histories.execution(logs, "found", interleaved=self._interleaved)

    @property
    def _interleaved(self) -> bool:
        return not (self.seen.rearranges and self.recording.interleaving)


def _groups(
    leaves: tuple[Requirement, ...], *, inherits: bool
) -> tuple[Formulas, Formulas, Formulas, Formulas]:
    """What is asked of every state, first what lasts there; and of the leaves that tell states apart, what they ask of
    those in which something is in flight, and of the quiescent ones.
    """
    always = tuple(leaf for leaf in leaves if mode_of(leaf.formula) is Mode.ALWAYS)
    lasting = tuple(leaf for leaf in always if inherits and _is_lasting(completed(leaf)))
    others = tuple(leaf for leaf in leaves if leaf not in always)
    on_the_way = tuple(
        replace(leaf, formula=asked)
        for leaf in others
        if (asked := judged(leaf.formula, quiescent=False)) != TRUTH
    )
    rest = tuple(leaf for leaf in always if leaf not in lasting)
    return (
        _formulas(lasting),
        _formulas(rest),
        _formulas(on_the_way),
        _formulas(tuple(map(completed, others))),
    )


def _is_lasting(asked: Requirement) -> bool:
    """Whether a requirement is violated wherever it was violated before, and exercised wherever it was."""
    return permanent(asked.formula) and permanent(Not(premise_of(asked).formula))


def _formulas(requirements: tuple[Requirement, ...]) -> Formulas:
    asked = tuple(map(completed, requirements))
    return Formulas(requirements, plan((*asked, *map(premise_of, asked))))
