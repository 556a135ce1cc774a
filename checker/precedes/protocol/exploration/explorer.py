"""Explores every behavior of a protocol, within bounds: which states it reaches, and what it violates."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

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
from precedes.protocol.exploration import expansion, kept_search, symmetry_reduction
from precedes.protocol.exploration.found_states import CHUNK, PLAIN, FoundStates
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.exploration.interned_states import TransitionTable
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.kept_search import named, part, question
from precedes.protocol.exploration.quiescence import starving, unheard
from precedes.protocol.exploration.reductions import Reduction, usable
from precedes.protocol.exploration.remaining_states import remaining_states
from precedes.protocol.exploration.result import (
    DEADLOCK,
    FIRST,
    INTERRUPTED,
    STARVATION,
    Exploration,
    Finding,
    Observer,
    Sighting,
    SoFar,
)
from precedes.protocol.exploration.search_steps import FARTHEST
from precedes.protocol.exploration.state_space import Space, State, refuse_what_cannot_happen
from precedes.protocol.exploration.symmetry_reduction import Symmetry
from precedes.protocol.invariants import Invariant
from precedes.protocol.liveness.endless_behaviors import DELIVERY, LIVELOCK, Searched, owed
from precedes.protocol.model import Protocol
from precedes.protocol.moves import Arrived, Move
from precedes.protocol.validation import declarations

SHORTENING: Final = 20.0
"""Seconds for finding shorter behaviors after a reduced search."""
AWHILE: Final = 1.0
"""Seconds after which what has been collected is judged, so that a violation is seen soon."""
AHEAD: Final = 3.0
"""Seconds of the processor after which walks at random look ahead, where nothing was violated so far and behaviors are
too long to end. A search that takes no longer than that needs none ..."""
WALKING: Final = 0.5
"""... and for how many seconds of the processor. What walks find in the papers' protocols they find in less than half
of that."""
WALKED: Final = 0.1
"""Seconds of walking after which formulas are judged: to judge few executions takes longer than to walk."""
MOST_RESERVED: Final = 1 << 26
"""The most states that room is reserved for."""
SELDOM: Final = 100
"""Behaviors are too long to end where less than one state in so many is quiescent."""
Order = Literal["breadth", "depth"]
_KEPT: Final = ("layer", "next", "end", "depth", "layers", "quiescent", "broken", "met", "spent")
"""What a search knows that is no array."""


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
    first: bool = False,
    live: Collection[str] | None = None,
    resume: Path | None = None,
    observer: Observer | None = None,
) -> Exploration:
    """Explore every behavior of a protocol up to bounds.

    `requirements` None: what the paper claims; `invariants` None: the protocol's. `plain` leaves the reductions out.
    `quiescent`: what concerns several entities at once is judged only where nothing is in flight, whatever mode it
    says, which takes far fewer states on a single channel. `first`: the search ends soon after a violation is found.
    `live`: what is asked of quiescent states is also asked of behaviors that never end, and of the properties of any
    model (`endless_behaviors.PROPERTIES`) those that are named. `resume`: a search that met a limit is kept in this
    file, and goes on from it where it is there. PrecedesError for a mistake of the model, and where the file has
    another search.
    """
    declarations.check(protocol)
    _refuse_of_order(order, bounds, first=first, live=live is not None, keeps=resume is not None)
    refuse_what_cannot_happen(protocol.name, protocol.network, bounds)
    asked = claims(protocol) if requirements is None else tuple(requirements)
    if live is not None and not {DELIVERY, LIVELOCK}.isdisjoint(live):
        asked = (*asked, owed(bounds, standard_library()))
    checked = protocol.invariants if invariants is None else tuple(invariants)
    rearranges = type(protocol).receipt_log is not Protocol.receipt_log
    inherits = order == "breadth" and not (first or rearranges)
    judge = Judge(asked, checked, quiescent=quiescent, inherits=inherits)
    every = plain or live is not None
    reductions = frozenset[Reduction]() if every else usable(protocol, bounds, judge)
    if check_purity and Reduction.SYMMETRY in reductions:
        checked = symmetry_reduction.compared(protocol, bounds.entities, checked)
        judge = Judge(asked, checked, quiescent=quiescent, inherits=inherits)
    watching = Observer() if observer is None else observer
    search = _Search(
        protocol, bounds, judge, reductions, check_purity=check_purity, first=first, observer=watching
    )
    if order == "breadth":
        search.walker = lambda: _Search(
            protocol,
            bounds,
            Judge(asked, checked, quiescent=quiescent),
            frozenset(),
            check_purity=check_purity,
            observer=watching,
        )
    if resume is not None:
        options = {"plain": plain, "quiescent": quiescent, "live": None if live is None else sorted(live)}
        search.keep_in(resume, question(protocol, bounds, asked, checked, options))
    with paused():
        found = search.run(order)
        if order == "breadth" and Reduction.ONE_BY_ONE in reductions and not first:
            found = replace(found, findings=_shortest(protocol, bounds, judge, found, watching))
        if live is not None:
            found = Searched(search.space, search.states, judge, live).in_the_end(found)
    return found


def _refuse_of_order(order: Order, bounds: Bounds, *, first: bool, live: bool, keeps: bool) -> None:
    """PrecedesError U001 for what a search in this order cannot do."""
    if order == "depth" and bounds.depth is not None:
        raise usage(
            "a search depth first cannot stop at a depth", "leave out the depth, or search breadth first"
        )
    if order == "depth" and live:
        raise usage(
            "a search depth first does not find the shortest lasso", "search breadth first for what is live"
        )
    if keeps and (order == "depth" or first):
        raise usage(
            "only a search breadth first that goes to the end can be resumed",
            "leave out `order`, `first` or `resume`",
        )


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
        first: bool = False,
        wanted: AbstractSet[str] | None = None,
    ) -> None:
        """`wanted`: the search is over when a violation of each of these is found; None: it goes to the end.
        `first`: it is over when one is found.
        """
        self.wanted = wanted
        self.first = first
        self.protocol = protocol
        self.bounds = bounds
        self.judge = judge
        self.observer = observer
        self.table = TransitionTable(
            protocol, bounds.entities, judge.recording, judge.of_step, check_purity=check_purity
        )
        reserve = min(bounds.states or 0, MOST_RESERVED)
        judge.begin(self.table, reserve)
        self.reductions = reductions
        self.symmetric = Reduction.SYMMETRY in reductions
        self.space = Space(self.table, bounds, symmetric=self.symmetric)
        if self.symmetric:
            Symmetry(self.space)
        self.states = FoundStates(self.table, _mode(reductions), reserve)
        self.quiescent = 0
        self.broken: dict[str, int] = {}
        self.met = {DEADLOCK: 0, STARVATION: 0}
        self.started = self.judged = time.monotonic()
        self.began = time.process_time()
        self.sighted: set[str] = set()
        self.next_stop = 0
        """The number of the state before which it is asked again whether the search is over."""
        self.stopped_by: str | None = None
        self.layer = 0
        """Breadth first, the number of the first state of the layer that is being expanded."""
        self.next = 0
        """Breadth first, the number of the first state of the layer that was not expanded."""
        self.end = 0
        """Breadth first, the number of the first state of the next layer."""
        self.layers: list[int] = []
        """Breadth first, how many states were in each layer so far."""
        self.depth = 0
        """Breadth first, how many moves lead to the layer."""
        self.spent = 0.0
        """Seconds that the search had taken when it was kept."""
        self.file: Path | None = None
        """Where the search is kept when it meets a limit."""
        self.question = ""
        self.walker: Callable[[], _Search] | None = None
        """What walks where the search itself does not come to the end of behaviors; None: nothing does."""
        self.walked: _Search | None = None
        """What walked, where it found a violation."""

    def run(self, order: Order) -> Exploration:
        for state, _ in self.space.initial():
            self.states.add_beginning(self._representative(state))
        if self.file is not None and self.file.exists():
            self._take_up(self.file)
        depth = self._breadth() if order == "breadth" else self._depth()
        kept = self.file is not None and self._keep(self.file)
        self.judge.finish(None if self.stopped_by is None else self.layer)
        exercised = dict(self.judge.exercised)
        exercised.update(self.table.met)
        exercised.update(self.met)
        return Exploration(
            states=self.states.count,
            transitions=self.states.transitions,
            depth=depth,
            complete=self.stopped_by is None,
            stopped_by=self.stopped_by,
            findings=self._all_findings(),
            exercised=exercised,
            open=self._open(),
            executions=self.judge.executions,
            quiescent=self.quiescent,
            modes={**self.judge.modes, DEADLOCK: Mode.QUIESCENT, STARVATION: Mode.QUIESCENT},
            reductions=tuple(reduction.value for reduction in Reduction if reduction in self.reductions),
            seconds=self.spent + time.monotonic() - self.started,
            kept=str(self.file) if kept else None,
        )

    def _open(self) -> dict[str, tuple[str, ...]]:
        found = {name: reasons(value) for name, value in self.judge.unknown.items()}
        silent = unheard(self.table, exchanged=self.symmetric)
        if silent and self.stopped_by is None:
            found[DEADLOCK] = (
                f"no request of {' and '.join(silent)} was accepted in any state; a script says who sends",
            )
        return found

    def _breadth(self) -> int:
        states = self.states
        while self.next < states.count:
            if self.next == self.end:
                self.layer, self.end = self.next, states.count
                found = slice(self.layer, self.end)
                self.judge.reached(states.rows[found], self.layer, states.parents(self.layer, self.end))
                states.begin_layer()
                self.layers.append(self.end - self.layer)
            if self.depth == self.bounds.depth:
                # What is quiescent in the last layer is judged.
                if self._expand_layer() and states.count > self.end:
                    self.stopped_by = self.stopped_by or f"the depth of {self.depth}"
                states.forget(self.end)
                break
            if not self._expand_layer() or states.count == self.end:
                break
            self.depth += 1
            if self.wanted is not None:
                self.judge.finish()
                if self.wanted <= {*self.judge.failures, *self.broken}:
                    break
        return self.depth

    def _expand_layer(self) -> bool:
        """Expand what is left of a layer. False where the search is over before its end."""
        while self.next < self.end:
            if self.next >= self.next_stop:
                if self._stops(self.depth, self.states.count - self.next):
                    return False
                self.next_stop = self.next - self.next % CHUNK + self.states.chunk
            last = min(self.end, self.next_stop)
            self._look_at(*self.states.expand(self.next, last))
            self.next = last
        return True

    def _depth(self) -> int:
        states = self.states
        self.judge.reached(states.rows[: states.count], 0)
        states.wait()
        while states.waiting:
            first = states.count
            numbers, found = states.expand_last(CHUNK)
            self.judge.reached(states.rows[first : states.count], first)
            self._look_at(numbers, found)
            if states.waiting and self._stops(states.deepest, states.waiting):
                break
        return states.deepest

    def _representative(self, state: State) -> State:
        return self.space.representative(state) if self.symmetric else state

    def _look_at(self, numbers: npt.NDArray[np.int64], found: npt.NDArray[np.int32]) -> None:
        """Judge states that were expanded, by what was found out about them."""
        quiescent = (found & expansion.QUIESCENT) != 0
        self.judge.expanded(self.states.rows[numbers], numbers, quiescent)
        self.judge.ended(numbers[(found & expansion.ENDS) != 0])
        count = int(quiescent.sum())
        self.quiescent += count
        for name in self.met:
            self.met[name] += count
        for name, sign in ((DEADLOCK, expansion.REFUSED), (STARVATION, expansion.STARVING)):
            bad = np.flatnonzero(found & sign)
            if len(bad):
                self.judge.fail(name, int(numbers[bad[0]]))
        for number, names in self.states.broken():
            for name in names:
                self.broken.setdefault(name, number)

    def _stops(self, depth: int, frontier: int) -> bool:
        """Whether the search is over before its end. Its observer is told how far it is, and what it found."""
        count = self.states.count
        self.observer.progress(SoFar(count, depth, frontier, remaining_states(self.layers)))
        now = time.monotonic()
        if self.wanted is None and (self.first or now - self.judged > AWHILE):
            self.judge.finish()
            self.judge.look_at(self.layer)
            self._sight()
            if time.process_time() - self.began > AHEAD:
                self._look_ahead()
            self.judged = time.monotonic()
        bounds = self.bounds
        if self.first and self.sighted:
            self.stopped_by = FIRST
        elif self.observer.interrupts():
            self.stopped_by = INTERRUPTED
        elif bounds.states is not None and count >= bounds.states:
            self.stopped_by = f"the limit of {bounds.states:,} states"
        elif bounds.seconds is not None and now - self.started > bounds.seconds:
            self.stopped_by = f"the limit of {bounds.seconds:g} s"
        elif bounds.megabytes is not None and (most_memory() or 0) > bounds.megabytes:
            self.stopped_by = f"the limit of {bounds.megabytes:,} MB"
        return self.stopped_by is not None

    def _look_ahead(self) -> None:
        """Walk at random, once, where nothing was violated so far and the ends of behaviors are far."""
        if self.walker is None or self.sighted or self.quiescent * SELDOM > self.states.count:
            return
        walking = self.walker()
        self.walker = None
        walking.table.code.by_machine = self.table.code.by_machine
        walking.walk(WALKING)
        walking._sight()
        self.sighted |= walking.sighted
        self.walked = walking if walking.sighted else None

    def walk(self, seconds: float) -> None:
        """Walk at random until something is violated, but for no more seconds of the processor."""
        for state, _ in self.space.initial():
            self.states.add_beginning(state)
        self.states.begin_walks()
        depth = self.bounds.depth
        farthest = FARTHEST if depth is None else min(depth, FARTHEST)
        now = time.process_time()
        until, judged = now + seconds, now
        while not (self.judge.failures or self.broken) and now < until:
            first = self.states.count
            numbers, found = self.states.walk(farthest)
            self.judge.reached(self.states.rows[first : self.states.count], first)
            self._look_at(numbers, found)
            now = time.process_time()
            if now - judged > WALKED or now >= until:
                self.judge.finish()
                judged = now

    # ---- a search that is kept ----

    def keep_in(self, file: Path, asked: str) -> None:
        """Keep the search in a file when it meets a limit, and go on from the file where it is there. `asked` is a
        digest of what is explored and asked.
        """
        if not os.access(file.absolute().parent, os.W_OK):
            raise usage(
                f"{file} cannot be written", "name a file in a folder that is there and can be written"
            )
        self.file, self.question = file, asked
        self.table.rounds = []

    def _keep(self, file: Path) -> bool:
        """Keep the search where it met a limit; where it did not, it is done and the file goes. Whether it is kept."""
        if self.stopped_by is None:
            file.unlink(missing_ok=True)
        if self.stopped_by is None or self.depth == self.bounds.depth:
            return False
        arrays, judged = self.judge.kept()
        kept = {
            **named("states", self.states.kept()),
            **named("table", self.table.kept()),
            **named("judge", arrays),
        }
        header = {name: getattr(self, name) for name in _KEPT} | {
            "spent": self.spent + time.monotonic() - self.started,
            "said": self.table.matrices.said(),
            "judged": judged,
        }
        try:
            kept_search.write(file, self.question, kept, header)
        except OSError as error:
            # The report of a long search is not lost with it.
            self.stopped_by += f" (not kept: {error.strerror})"
            return False
        return True

    def _take_up(self, file: Path) -> None:
        """Go on from a file."""
        kept, header = kept_search.read(file, self.question)
        count = len(kept["states.rows"])
        self.table.code.by_machine = count > PLAIN
        so_far = SoFar(count, header["depth"], count - header["next"])
        self.table.take_up(part(kept, "table"), lambda: self.observer.progress(so_far))
        if self.table.matrices.said() != header["said"]:
            raise kept_search.refused(file, "was written when handlers of the model said something else")
        self.states.take_up(part(kept, "states"))
        self.judge.take_up(part(kept, "judge"), header["judged"])
        for name in _KEPT:
            setattr(self, name, header[name])

    # ---- what was found ----

    def _all_findings(self) -> tuple[Finding, ...]:
        """The findings, with those of walks where the search did not come so far."""
        found = self._findings()
        if self.walked is not None and self.stopped_by is not None:
            known = {finding.property for finding in found}
            found += [finding for finding in self.walked._findings() if finding.property not in known]
        return tuple(found)

    def _sight(self) -> None:
        """Tell the observer of violations that it has not been told of."""
        for name, number in (*self.judge.failures.items(), *self.broken.items()):
            if name not in self.sighted:
                self.sighted.add(name)
                moves = len(self.states.way(number)) - 1 + (name in self.broken)
                leaf, violated = self.judge.leaves.get(name), self.judge.violated.get(name)
                explanation = (
                    None
                    if violated is None
                    else explain(violated.asked, self.judge.execution(self.states.state(number)))
                )
                self.observer.violated(Sighting(name, moves, self.states.count, leaf, explanation))

    def _findings(self) -> list[Finding]:
        found = [self._finding(name, self._behavior(number)) for name, number in self.judge.failures.items()]
        found += [self._finding(name, self._breaking(name, number)) for name, number in self.broken.items()]
        return sorted(found, key=lambda finding: len(finding.behavior))

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
        orbit = self.table.orbit if self.symmetric else _itself
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


def _mode(reductions: frozenset[Reduction]) -> int:
    """Which successors of a state are found."""
    if Reduction.BY_ITSELF in reductions:
        return expansion.BY_ITSELF
    if Reduction.ONE_BY_ONE in reductions:
        return expansion.ONE_BY_ONE
    return expansion.SILENT if Reduction.SILENTLY in reductions else expansion.EVERY


def _itself(component: int) -> int:
    return component
