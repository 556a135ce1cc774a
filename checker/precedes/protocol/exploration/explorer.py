"""Explores every behavior of a protocol, within bounds: which states it reaches, and what it violates."""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final, Literal

from precedes.core.diagnostics import usage
from precedes.core.formula import Requirement
from precedes.core.garbage_collection import paused
from precedes.core.machine import most_memory
from precedes.core.mode import Mode
from precedes.core.verdict import FALSE, reasons
from precedes.engines.reference import explain
from precedes.language.library import Library, standard_library
from precedes.language.requirements import requirement
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.exploration.interned_states import TransitionTable
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.quiescence import starving, unheard
from precedes.protocol.exploration.reductions import Reduction, usable
from precedes.protocol.exploration.result import (
    DEADLOCK,
    INTERRUPTED,
    STARVATION,
    Exploration,
    Finding,
    Observer,
    Sighting,
)
from precedes.protocol.exploration.state_space import Space, State, refuse_what_cannot_happen
from precedes.protocol.exploration.symmetry_reduction import Symmetry
from precedes.protocol.invariants import Invariant
from precedes.protocol.model import Protocol
from precedes.protocol.moves import Arrived, Move
from precedes.protocol.validation import declarations

SHORTENING: Final = 20.0
"""Seconds for finding shorter behaviors after a reduced search."""
AWHILE: Final = 1.0
"""Seconds after which what has been collected is judged, so that a violation is seen soon."""
Order = Literal["breadth", "depth"]


def claims(protocol: Protocol[Any], library: Library | None = None) -> tuple[Requirement, ...]:
    """What the protocol's paper claims."""
    known = standard_library() if library is None else library
    file = getattr(sys.modules.get(type(protocol).__module__), "__file__", None)
    where = f"{PurePath(file).name if file else type(protocol).__name__}: claims"
    return tuple(requirement(claim, known, where) for claim in protocol.claims)


def explore(
    protocol: Protocol[Any],
    bounds: Bounds,
    requirements: Sequence[Requirement] | None = None,
    *,
    invariants: Sequence[Invariant] | None = None,
    plain: bool = False,
    quiescent: bool = False,
    order: Order = "breadth",
    check_purity: bool = False,
    observer: Observer | None = None,
) -> Exploration:
    """Explore every behavior of a protocol up to bounds.

    `requirements` None: what the paper claims; `invariants` None: the protocol's. `plain` leaves the reductions out.
    `quiescent`: what concerns several entities at once is judged only where nothing is in flight, whatever mode it
    says, which takes far fewer states on a single channel. PrecedesError for a mistake of the model.
    """
    declarations.check(protocol)
    if order == "depth" and bounds.depth is not None:
        raise usage(
            "a search depth first cannot stop at a depth", "leave out the depth, or search breadth first"
        )
    refuse_what_cannot_happen(protocol.name, protocol.network, bounds)
    asked = claims(protocol) if requirements is None else tuple(requirements)
    checked = protocol.invariants if invariants is None else tuple(invariants)
    judge = Judge(asked, checked, quiescent=quiescent)
    reductions = frozenset[Reduction]() if plain else usable(protocol, bounds, judge)
    watching = Observer() if observer is None else observer
    search = _Search(protocol, bounds, judge, reductions, check_purity=check_purity, observer=watching)
    with paused():
        found = search.run(order)
        if order == "breadth" and Reduction.ONE_BY_ONE in reductions:
            found = replace(found, findings=_shortest(protocol, bounds, judge, found, watching))
    return found


def _shortest(
    protocol: Protocol[Any], bounds: Bounds, judge: Judge, found: Exploration, observer: Observer
) -> tuple[Finding, ...]:
    """The findings with shortest behaviors, where these are found with about as much effort again.

    One entity after the other, a violation may be seen only after more has come in than it needs.
    """
    if not found.findings:
        return ()
    names = {finding.property for finding in found.findings}
    leaves = [leaf for name, leaf in judge.leaves.items() if name in names]
    asked = [invariant for invariant in judge.invariants if invariant.name in names]
    again = Judge(leaves, asked)
    limits = replace(
        bounds,
        depth=max(len(finding.behavior) for finding in found.findings) - 1,
        seconds=min(SHORTENING, bounds.seconds or SHORTENING),
    )
    reductions = usable(protocol, bounds, again) - {
        Reduction.ONE_BY_ONE,
        Reduction.BY_ITSELF,
        Reduction.SILENTLY,
    }
    shorter = _Search(
        protocol, limits, again, reductions, check_purity=False, observer=observer, wanted=names
    )
    best = {finding.property: finding for finding in found.findings}
    for finding in shorter.run("breadth").findings:
        if finding.property in best and len(finding.behavior) < len(best[finding.property].behavior):
            best[finding.property] = finding
    return tuple(sorted(best.values(), key=lambda finding: len(finding.behavior)))


class _Search:
    def __init__(
        self,
        protocol: Protocol[Any],
        bounds: Bounds,
        judge: Judge,
        reductions: frozenset[Reduction],
        *,
        check_purity: bool,
        observer: Observer,
        wanted: AbstractSet[str] | None = None,
    ) -> None:
        """`wanted`: the search is over when a violation of each of these is found; None: it goes to the end."""
        self.wanted = wanted
        self.protocol = protocol
        self.bounds = bounds
        self.judge = judge
        self.observer = observer
        self.table = TransitionTable(
            protocol, bounds.entities, judge.recording, judge.of_step, check_purity=check_purity
        )
        judge.begin(self.table)
        self.space = Space(self.table, bounds)
        self.reductions = reductions
        self.expanded = (
            self.space.by_itself
            if Reduction.BY_ITSELF in reductions
            else self.space.one_by_one
            if Reduction.ONE_BY_ONE in reductions
            else self.space.silently
            if Reduction.SILENTLY in reductions
            else self.space.expanded
        )
        self.symmetry = Symmetry(self.space) if Reduction.SYMMETRY in reductions else None
        self.numbers: dict[State, int] = {}
        self.states: list[State] = []
        self.parents = array("q")
        self.transitions = 0
        self.quiescent = 0
        self.broken: dict[str, State] = {}
        self.met = {DEADLOCK: 0, STARVATION: 0}
        self.started = self.judged = time.monotonic()
        self.sighted: set[str] = set()
        self.stopped_by: str | None = None

    def run(self, order: Order) -> Exploration:
        for state, _ in self.space.initial():
            self._add(self._representative(state), -1)
        depth = self._breadth() if order == "breadth" else self._depth()
        self.judge.finish()
        exercised = dict(self.judge.exercised)
        exercised.update(self.table.met)
        exercised.update(self.met)
        return Exploration(
            states=len(self.states),
            transitions=self.transitions,
            depth=depth,
            complete=self.stopped_by is None,
            stopped_by=self.stopped_by,
            findings=tuple(self._findings()),
            exercised=exercised,
            open=self._open(),
            executions=self.judge.judged,
            quiescent=self.quiescent,
            modes={**self.judge.modes, DEADLOCK: Mode.QUIESCENT, STARVATION: Mode.QUIESCENT},
            reductions=tuple(reduction.value for reduction in Reduction if reduction in self.reductions),
            seconds=time.monotonic() - self.started,
        )

    def _open(self) -> dict[str, tuple[str, ...]]:
        found = {name: reasons(value) for name, value in self.judge.unknown.items()}
        silent = unheard(self.table, exchanged=self.symmetry is not None)
        if silent and self.stopped_by is None:
            found[DEADLOCK] = (
                f"no request of {' and '.join(silent)} was accepted in any state; a script says who sends",
            )
        return found

    def _add(self, state: State, parent: int) -> bool:
        if state in self.numbers:
            return False
        self.numbers[state] = len(self.states)
        self.states.append(state)
        self.parents.append(parent)
        return True

    def _breadth(self) -> int:
        depth, first = 0, 0
        while first < len(self.states):
            end = len(self.states)
            self.judge.reached(self.states[first:end])
            if depth == self.bounds.depth:
                self.stopped_by = f"the depth of {depth}" if self._goes_on(first, end) else None
                break
            for number in range(first, end):
                if number % 512 == 0 and self._stops(depth, len(self.states) - number):
                    return depth
                self._expand(number)
            if len(self.states) == end:
                break
            first, depth = end, depth + 1
            if self.wanted is not None:
                self.judge.finish()
                if self.wanted <= {*self.judge.failures, *self.broken}:
                    break
        return depth

    def _goes_on(self, first: int, end: int) -> bool:
        """Whether anything new would come after the last layer; what is quiescent in it is judged."""
        goes_on = False
        for number in range(first, end):
            expanded = self._looked_at(number)
            goes_on = goes_on or any(self._representative(after) not in self.numbers for after, _ in expanded)
        return goes_on

    def _depth(self) -> int:
        deepest = 0
        stack = [(number, 0) for number in range(len(self.states))]
        self.judge.reached(self.states)
        expansions = 0
        while stack:
            number, depth = stack.pop()
            deepest = max(deepest, depth)
            expansions += 1
            if expansions % 512 == 0 and self._stops(depth, len(stack)):
                break
            first = len(self.states)
            self._expand(number)
            new = range(first, len(self.states))
            self.judge.reached(self.states[first:])
            stack += [(child, depth + 1) for child in new]
        return deepest

    def _expand(self, number: int) -> None:
        successors = self._looked_at(number)
        self.transitions += len(successors)
        numbers, states, parents = self.numbers, self.states, self.parents
        symmetry = self.symmetry
        for after, _ in successors:
            state = after if symmetry is None else symmetry.representative(after)
            if state not in numbers:
                numbers[state] = len(states)
                states.append(state)
                parents.append(number)

    def _representative(self, state: State) -> State:
        return state if self.symmetry is None else self.symmetry.representative(state)

    def _looked_at(self, number: int) -> list[tuple[State, Move]]:
        state = self.states[number]
        expanded = self.expanded(state)
        self.judge.expanded(state, quiescent=expanded.quiescent)
        if expanded.quiescent:
            self._quiescent(state, refused=expanded.refused)
        # Seen without the others: whether a message starves in a quiescent state does not depend on them.
        elif STARVATION not in self.judge.failures and any(
            starving(self.table, (*expanded.resting, state[-1]))
        ):
            self.judge.fail(STARVATION, state)
        if self.table.broken:
            for _, move in expanded.successors:
                for name in self.table.broken.get(id(move), ()):
                    self.broken.setdefault(name, state)
        return expanded.successors

    def _quiescent(self, state: State, *, refused: bool) -> None:
        self.quiescent += 1
        for name in self.met:
            self.met[name] += 1
        if refused and DEADLOCK not in self.judge.failures:
            self.judge.fail(DEADLOCK, state)
        if STARVATION not in self.judge.failures and any(starving(self.table, state)):
            self.judge.fail(STARVATION, state)

    def _stops(self, depth: int, frontier: int) -> bool:
        """Whether the search is over before its end. Its observer is told how far it is, and what it found."""
        self.observer.progress(len(self.states), depth, frontier)
        now = time.monotonic()
        if self.wanted is None and now - self.judged > AWHILE:
            self.judge.finish()
            self._sight()
            self.judged = time.monotonic()
        bounds = self.bounds
        if self.observer.interrupts():
            self.stopped_by = INTERRUPTED
        elif bounds.states is not None and len(self.states) >= bounds.states:
            self.stopped_by = f"the limit of {bounds.states:,} states"
        elif bounds.seconds is not None and now - self.started > bounds.seconds:
            self.stopped_by = f"the limit of {bounds.seconds:g} s"
        elif bounds.megabytes is not None and (most_memory() or 0) > bounds.megabytes:
            self.stopped_by = f"the limit of {bounds.megabytes:,} MB"
        return self.stopped_by is not None

    # ---- what was found ----

    def _sight(self) -> None:
        """Tell the observer of violations that it has not been told of."""
        for name, state in (*self.judge.failures.items(), *self.broken.items()):
            if name not in self.sighted:
                self.sighted.add(name)
                moves = len(self._way(state)) - 1 + (name in self.broken)
                leaf, violated = self.judge.leaves.get(name), self.judge.violated.get(name)
                explanation = (
                    None if violated is None else explain(violated.asked, self.judge.execution(state))
                )
                self.observer.violated(Sighting(name, moves, len(self.states), leaf, explanation))

    def _findings(self) -> list[Finding]:
        found = [self._finding(name, self._behavior(state)) for name, state in self.judge.failures.items()]
        found += [self._finding(name, self._breaking(name, state)) for name, state in self.broken.items()]
        return sorted(found, key=lambda finding: len(finding.behavior))

    def _behavior(self, state: State) -> tuple[list[Move], State]:
        """How a state, or a renaming of it, is reached; and which it is."""
        way = self._way(state)
        beginning = self.states[way[0]]
        now, first = next(
            (state, move) for state, move in self.space.initial() if self._representative(state) == beginning
        )
        moves = [first]
        for number in way[1:]:
            now, move = self._towards(now, self.states[number])
            moves.append(move)
        return moves, now

    def _way(self, state: State) -> list[int]:
        """The numbers of the states on the way to one, from the beginning."""
        way = [self.numbers[state]]
        while self.parents[way[-1]] >= 0:
            way.append(self.parents[way[-1]])
        return way[::-1]

    def _towards(self, now: State, wanted: State) -> tuple[State, Move]:
        """The move that leads to what is, but for the names of entities, the state that is wanted."""
        successors = self.space.expanded(now).successors
        if len(wanted) == len(now):
            plain = self.space.plain(wanted)
            return next((after, move) for after, move in successors if self._representative(after) == plain)
        orbit = self.symmetry.orbit if self.symmetry is not None else _itself
        return next(
            (after, move)
            for after, move in successors
            if isinstance(move, Arrived) and orbit(after[move.entity]) == orbit(wanted[0])
        )

    def _at_the_end(self, moves: list[Move], now: State) -> tuple[list[Move], State]:
        """The same behavior until nothing comes in any more."""
        while True:
            more = [
                (after, move)
                for after, move in self.space.expanded(now).successors
                if isinstance(move, Arrived)
            ]
            if not more:
                return moves, now
            now, move = more[0]
            moves = [*moves, move]

    def _breaking(self, name: str, state: State) -> tuple[list[Move], State]:
        """A behavior whose last step breaks an invariant."""
        moves, now = self._behavior(state)
        after, move = next(
            (after, move)
            for after, move in self.space.expanded(now).successors
            if name in self.table.broken.get(id(move), ())
        )
        return [*moves, move], after

    def _finding(self, name: str, reached: tuple[list[Move], State]) -> Finding:
        if name == STARVATION:
            reached = self._at_the_end(*reached)
        behavior, state = tuple(reached[0]), reached[1]
        execution = replayed(
            self.protocol,
            self.bounds.entities,
            behavior,
            timed=self.table.timed,
            name="found",
        )
        leaf = self.judge.leaves.get(name)
        quiescent = self.space.expanded(state).quiescent
        if leaf is None:
            if name == STARVATION:
                messages, packets = starving(self.table, state)
                about = (*(f"{message} is never delivered at {at}" for message, at in messages), *packets)
                return Finding(name, behavior, execution, quiescent, about=about, starving=tuple(messages))
            about = ("every remaining request is refused",) if name == DEADLOCK else ()
            return Finding(name, behavior, execution, quiescent, about=about)
        explanation = explain(self.judge.violated[name].asked, execution)
        if explanation.value != FALSE:
            raise RuntimeError(f"{name} was found violated and is not when it is judged by definition")
        return Finding(name, behavior, explanation.execution, quiescent, leaf, explanation)


def _itself(component: int) -> int:
    return component
