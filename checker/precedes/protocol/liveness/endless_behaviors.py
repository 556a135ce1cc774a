"""What is asked of behaviors in the end: where nothing can happen any more, and in loops that can go on for ever.

A formula that asks of quiescent states only says nothing of a behavior that never comes to rest. Asked in the end, it
must come true there, too, and stay so: it is violated by a fair loop with a state in which it is false. So that a loop
comes back to a state, no reduction is used: renaming entities, or leaving interleavings out, changes what is fair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from precedes.core.formula import Requirement
from precedes.core.mode import Mode
from precedes.core.verdict import FALSE, TRUE, reasons
from precedes.engines.reference import explain
from precedes.language.library import Library
from precedes.language.requirements import requirement
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.expansion import MESSAGES
from precedes.protocol.exploration.formula_judge import AtTheEnd
from precedes.protocol.exploration.found_states import FoundStates
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.exploration.interned_values import Cause
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.recurring_steps import ARRIVAL, KINDS, NOWHERE, REQUEST, TICK
from precedes.protocol.exploration.result import DEADLOCK, Exploration, Finding
from precedes.protocol.exploration.state_space import Space, State
from precedes.protocol.liveness.fairness import Endless, endless, fair_kinds
from precedes.protocol.liveness.lassos import Lasso, shortest
from precedes.protocol.liveness.step_graph import Int32, StepGraph, step_graph
from precedes.protocol.liveness.strong_components import strong_components
from precedes.protocol.moves import Arrived, Expired, Move, Ticked, Vanished

Loops: TypeAlias = tuple[StepGraph, Endless]
"""Steps, and which of the loops that they make are fair."""

DELIVERY: Final = "eventual delivery"
LIVELOCK: Final = "no livelock"
REST: Final = "eventual quiescence"
PROPERTIES: Final = (DELIVERY, LIVELOCK, REST)
"""What can be asked in the end of any model, by name."""

EVERY_MESSAGE: Final = "quiescent forall i, j: forall p in SL[j, i]: p in RL[i]"
OF_THE_CORRECT: Final = (
    "quiescent forall i, j: (not faulty(i) and not faulty(j)) implies forall p in SL[j, i]: p in RL[i]"
)
"""What eventual delivery is: every message is delivered by every entity that it is for; where entities may stop, if its
sender and that entity are correct."""


def owed_text(bounds: Bounds) -> str:
    """What eventual delivery asks, in the language."""
    return OF_THE_CORRECT if bounds.crashes or bounds.dead else EVERY_MESSAGE


def owed(bounds: Bounds, library: Library) -> Requirement:
    """What eventual delivery asks."""
    return replace(requirement(owed_text(bounds), library), name=DELIVERY)


@dataclass(frozen=True, slots=True)
class Searched:
    """A search of every interleaving that has come to its end, or to a limit. `asked`: the properties of any model that
    are asked by name.
    """

    space: Space
    states: FoundStates
    judge: Judge
    asked: Collection[str]

    def in_the_end(self, found: Exploration) -> Exploration:
        """What the search found, with what is violated by behaviors that never end or may stop too soon."""
        return _Asking(self, step_graph(self.states)).answered(found)


class _Asking:
    def __init__(self, searched: Searched, graph: StepGraph) -> None:
        self.space, self.states, self.judge = searched.space, searched.states, searched.judge
        self.asked = searched.asked
        self.table = searched.space.table
        self.protocol = self.table.protocol
        self.graph = graph
        self.kinds = fair_kinds(self.protocol.fair)
        components = strong_components(graph, self.table.code)
        self.endless: Endless = endless(graph, components, self.kinds)
        self.on_loops = self.endless.on_loops
        self.concerned = np.flatnonzero(self.on_loops | self.endless.ends)
        """The states that a behavior may meet for ever, in the order in which they were found."""

    def answered(self, found: Exploration) -> Exploration:
        """The exploration with the findings that are lassos."""
        judged = self.judge.formulas.at_the_end(self.states.rows[self.concerned])
        findings = {finding.property: finding for finding in found.findings}
        for name, states, loops in self._violating(judged):
            if not len(states):
                continue
            lasso = shortest(
                *loops,
                self.kinds,
                states.tolist(),
                self._depth,
                moves_on=name in (LIVELOCK, REST, DEADLOCK),
            )
            known = findings.get(name)
            if known is None or self._depth(lasso.state) + len(lasso.loop) < len(known.behavior) - 1:
                findings[name] = self._finding(name, lasso)
        hidden = {DELIVERY} - set(self.asked)
        exercised = {**found.exercised, **self._exercised(found.exercised, judged)}
        modes = {**found.modes, **dict.fromkeys(set(self.asked) - {DELIVERY}, Mode.QUIESCENT)}
        of_requests = () if self.table.timed else (DEADLOCK,)
        live = (*(name for name in judged.names if name in exercised), *self.asked, *of_requests)
        ordered = sorted(findings.values(), key=lambda finding: len(finding.behavior))
        return replace(
            found,
            findings=tuple(each for each in ordered if each.property not in hidden),
            exercised={name: count for name, count in exercised.items() if name not in hidden},
            open={**self._open(judged), **found.open},
            modes=modes,
            live=tuple(name for name in dict.fromkeys(live) if name not in hidden),
            fair=dict(self.protocol.fair),
        )

    # ---- what is violated ----

    def _violating(self, judged: AtTheEnd) -> Iterator[tuple[str, np.ndarray, Loops]]:
        """For each property, the states that violate it if they are met for ever, and the loops that count."""
        every, on_loops = (self.graph, self.endless), self.on_loops[self.concerned]
        for name in judged.names:
            yield name, self.concerned[judged.values(name) == FALSE], every
        if LIVELOCK in self.asked:
            yield LIVELOCK, self.concerned[(judged.values(DELIVERY) == FALSE) & on_loops], every
        if REST in self.asked:
            yield REST, self.concerned[on_loops], every
        if not self.table.timed:
            refusing = self._refusing()
            yield DEADLOCK, np.flatnonzero(refusing[1].on_loops), refusing

    def _refusing(self) -> Loops:
        """The loops with requests left, all of which are refused all the way: a larger loop may come to a state that
        accepts one.
        """
        graph = self.graph
        refuses = self._requests()[0] > 0
        refuses[graph.sources[graph.kinds == REQUEST]] = False
        stays = refuses[graph.sources] & (graph.targets >= 0) & refuses[np.maximum(graph.targets, 0)]
        only = replace(graph, targets=np.where(stays, graph.targets, np.int32(NOWHERE)))
        return only, endless(only, strong_components(only, self.table.code), self.kinds)

    def _requests(self) -> tuple[Int32, int]:
        """How many requests are left in each state, and how many there are altogether."""
        place = c.SETTINGS + 2 * MESSAGES
        stride, radix = self.table.matrices.arrays["setting"][place : place + 2].tolist()
        return self.states.rows[: self.states.count, -1] // stride % radix, radix - 1

    def _exercised(self, before: Mapping[str, int], judged: AtTheEnd) -> dict[str, int]:
        """How often properties were exercised: formulas by executions; eventual quiescence by states in which something
        can happen, and the absence of livelocks by those of them that come after a request.
        """
        found = {name: before.get(name, 0) + judged.exercised[name] for name in judged.names}
        can_happen = np.zeros(self.graph.states, np.bool_)
        can_happen[self.graph.sources[self.graph.kinds != REQUEST]] = True
        left, most = self._requests()
        going_on = {LIVELOCK: int((can_happen & (left < most)).sum()), REST: int(can_happen.sum())}
        return found | {name: count for name, count in going_on.items() if name in self.asked}

    def _open(self, judged: AtTheEnd) -> dict[str, tuple[str, ...]]:
        """Why a formula could not be judged in a state that is met for ever."""
        doubtful = {name: values[values > TRUE] for name in judged.names for values in (judged.values(name),)}
        return {name: reasons(int(values[0])) for name, values in doubtful.items() if len(values)}

    # ---- lassos as behaviors ----

    def _depth(self, state: int) -> int:
        return len(self.states.way(state)) - 1

    def _finding(self, name: str, lasso: Lasso) -> Finding:
        way = [self.states.state(each) for each in self.states.way(lasso.state)]
        now, first = next((state, move) for state, move in self.space.initial() if state == way[0])
        moves = [first]
        for wanted in way[1:]:
            moves.append(self._towards(now, wanted, _any_move))
            now = wanted
        for after, label in lasso.loop:
            wanted = self.states.state(after)
            moves.append(self._towards(now, wanted, self._is(label)))
            now = wanted
        execution = replayed(self.protocol, self.space.entities, moves, timed=self.table.timed, name="found")
        finding = Finding(
            name, tuple(moves), execution, quiescent=False, about=self._about(lasso), loop=len(lasso.loop)
        )
        asked = self.judge.formulas.asked_at_the_end(DELIVERY if name == LIVELOCK else name)
        if asked is None:
            return finding
        explanation = explain(asked, execution)
        if explanation.value != FALSE:
            raise RuntimeError(f"{name} was found violated and is not when it is judged by definition")
        return replace(finding, execution=explanation.execution, requirement=asked, explanation=explanation)

    def _towards(self, now: State, wanted: State, fits: Callable[[Move], bool]) -> Move:
        """A move that leads from a state to another one."""
        return next(
            move for after, move in self.space.expanded(now).successors if after == wanted and fits(move)
        )

    def _is(self, label: int) -> Callable[[Move], bool]:
        """Whether a move is a step of a label."""
        kind, rest = label % KINDS, label // KINDS
        cause, entity = divmod(rest, self.space.entities)

        def fits(move: Move) -> bool:
            if kind == TICK:
                return isinstance(move, Ticked)
            came = self.table.triggers.values[cause]
            if isinstance(move, Arrived | Vanished) and isinstance(came, Cause):
                return kind == ARRIVAL and (move.entity, move.sender, move.packet) == (
                    entity,
                    came.sender,
                    came.packet,
                )
            return isinstance(move, Expired) and (move.entity, move.timer, move.early) == (
                entity,
                came,
                False,
            )

        return fits

    def _about(self, lasso: Lasso) -> tuple[str, ...]:
        """What could happen in a state in which a behavior may stay."""
        if lasso.loop:
            return ()
        said = []
        for _, move in self.space.expanded(self.states.state(lasso.state)).successors:
            if isinstance(move, Expired) and not move.early:
                said.append(f"timer {move.timer.name} of {self.protocol.name_of(move.entity)} could expire")
            elif isinstance(move, Arrived | Vanished):
                said.append(f"a packet could arrive at {self.protocol.name_of(move.entity)}")
        return (f"{', '.join(dict.fromkeys(said))}, but this step is not fair",)


def _any_move(_move: Move) -> bool:
    return True
