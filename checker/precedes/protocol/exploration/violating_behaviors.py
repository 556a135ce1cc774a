"""The behaviors that a search shows: how a state is reached in which a property fails, found by replay of its moves."""

from __future__ import annotations

from precedes.core.verdict import FALSE
from precedes.engines.reference import explain
from precedes.protocol.exploration.found_states import FoundStates
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.quiescence import starving
from precedes.protocol.exploration.result import DEADLOCK, STARVATION, Finding
from precedes.protocol.exploration.state_space import Space, State
from precedes.protocol.moves import Arrived, Move


class ViolatingBehaviors:
    """Shows how the states of a search are reached. In a search with `symmetry` a state stands for its renamings, and
    what is shown is a behavior that leads to one of them.
    """

    def __init__(self, space: Space, states: FoundStates, judge: Judge, *, symmetry: bool) -> None:
        self.table = space.table
        self.space = space
        self.states = states
        self.judge = judge
        self.symmetry = symmetry

    def findings(self, broken: dict[str, int]) -> list[Finding]:
        """Everything that fails, the shortest behavior first, and of equal ones what was asked first: not what was
        judged first, which depends on how long the search took. `broken`: of each invariant that a step breaks, the
        state from which it does.
        """
        failures = self.judge.tally.failures
        found = [self._finding(name, self._behavior(number)) for name, number in failures.items()]
        found += [self._finding(name, self._breaking(name, number)) for name, number in broken.items()]
        # No deadlock and no starvation, which nobody asks for, come first.
        places = {name: place for place, name in enumerate(self.judge.modes)}
        return sorted(found, key=lambda one: (len(one.behavior), places.get(one.property, -1)))

    def _behavior(self, number: int) -> tuple[list[Move], State]:
        """How a state, or a renaming of it, is reached; and which it is."""
        way = [self.states.state(each) for each in self.states.way(number)]
        now, first = next(
            (state, move) for state, move in self.space.initial() if self._representative(state) == way[0]
        )
        moves = [first]
        for wanted in way[1:]:
            now, move = self._towards(now, wanted)
            moves.append(move)
        return moves, now

    def _towards(self, now: State, wanted: State) -> tuple[State, Move]:
        """The move that leads to what is, but for the names of entities, the state that is wanted."""
        successors = self.space.expanded(now).successors
        if not self.space.is_alone(wanted):
            plain = self.space.plain(wanted)
            return next((after, move) for after, move in successors if self._representative(after) == plain)
        orbit = self.table.orbit if self.symmetry else _itself
        return next(
            (after, move)
            for after, move in successors
            if isinstance(move, Arrived) and orbit(after[move.entity]) == orbit(wanted[0])
        )

    def _at_the_end(self, moves: list[Move], now: State) -> tuple[list[Move], State]:
        """The same behavior until nothing comes in any more, but for what a fault makes of it."""
        while True:
            more = [
                (after, move)
                for after, move in self.space.expanded(now).successors
                if isinstance(move, Arrived) and not move.copied and move.original is None
            ]
            if not more:
                return moves, now
            now, move = more[0]
            moves = [*moves, move]

    def _breaking(self, name: str, number: int) -> tuple[list[Move], State]:
        """A behavior whose last step breaks an invariant."""
        moves, now = self._behavior(number)
        expanded = self.space.expanded(now)
        after, move = next(
            successor
            for successor, names in zip(expanded.successors, expanded.broken, strict=True)
            if name in names
        )
        return [*moves, move], after

    def _finding(self, name: str, reached: tuple[list[Move], State]) -> Finding:
        if name == STARVATION:
            reached = self._at_the_end(*reached)
        behavior, state = tuple(reached[0]), reached[1]
        execution = replayed(
            self.table.protocol,
            self.space.entities,
            behavior,
            timed=self.table.timed,
            name="found",
        )
        leaf = self.judge.formulas.leaves.get(name)
        quiescent = self.space.expanded(state).quiescent
        if leaf is None:
            if name == STARVATION:
                messages, packets = starving(self.table, state)
                about = (*(f"{message} is never delivered at {at}" for message, at in messages), *packets)
                return Finding(name, behavior, execution, quiescent, about=about, starving=tuple(messages))
            about = ("every remaining request is refused",) if name == DEADLOCK else ()
            return Finding(name, behavior, execution, quiescent, about=about)
        explanation = explain(self.judge.formulas.violated[name].asked, execution)
        if explanation.value != FALSE:
            raise RuntimeError(f"{name} was found violated and is not when it is judged by definition")
        return Finding(name, behavior, explanation.execution, quiescent, leaf, explanation)

    def _representative(self, state: State) -> State:
        return self.space.representative(state) if self.symmetry else state


def _itself(component: int) -> int:
    return component
