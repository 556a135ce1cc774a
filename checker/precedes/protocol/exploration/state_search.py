"""The search of an exploration: it expands states, judges them, and ends where it is done or meets a limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from precedes.core.diagnostics import usage
from precedes.core.machine import most_memory
from precedes.core.mode import Mode
from precedes.core.verdict import reasons
from precedes.engines.reference import explain
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration import expansion, kept_search
from precedes.protocol.exploration.found_states import CHUNK, PLAIN, FoundStates
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.kept_search import named, part
from precedes.protocol.exploration.matrices import MOST_ROWS
from precedes.protocol.exploration.quiescence import unheard
from precedes.protocol.exploration.reductions import Reduction
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
from precedes.protocol.exploration.state_space import Space, State
from precedes.protocol.exploration.symmetry_reduction import Symmetry
from precedes.protocol.exploration.transition_table import TransitionTable
from precedes.protocol.exploration.violating_behaviors import ViolatingBehaviors
from precedes.protocol.model import Protocol

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
NO_ROOM: Final = f"the limit of {MOST_ROWS:,} rows of a table"
"""What stopped a search in which something grows without end, such as what is in flight."""
Order: TypeAlias = Literal["breadth", "depth"]
_KEPT: Final = ("layer", "next", "end", "depth", "layers", "quiescent", "broken", "met", "spent")
"""What a search knows that is no array."""


class Search:
    """One search of the states of a protocol under bounds, breadth first or depth first, or by walks at random."""

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
            protocol, bounds.entities, judge.recording, judge.invariants.of_step, check_purity=check_purity
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
        # Where there is time, a request that is refused may be accepted later, and bounds say when the last is made.
        in_any_case = (STARVATION,) if self.table.timed else (DEADLOCK, STARVATION)
        self.met = dict.fromkeys(in_any_case, 0)
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
        self.walker: Callable[[], Search] | None = None
        """What walks where the search itself does not come to the end of behaviors; None: nothing does."""
        self.walked: Search | None = None
        """What walked, where it found a violation."""

    def run(self, order: Order) -> Exploration:
        for state, _ in self.space.initial():
            self.states.add_beginning(self._representative(state))
        if self.file is not None and self.file.exists():
            self._take_up(self.file)
        depth = self._breadth() if order == "breadth" else self._depth()
        kept = self.file is not None and self._keep(self.file)
        self.judge.formulas.finish(None if self.stopped_by is None else self.layer)
        undecided = self._open()
        if DEADLOCK in undecided:
            self.met.setdefault(DEADLOCK, 0)
        exercised = dict(self.judge.tally.exercised)
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
            open=undecided,
            executions=self.judge.formulas.executions,
            quiescent=self.quiescent,
            modes={**self.judge.modes, **dict.fromkeys(self.met, Mode.QUIESCENT)},
            reductions=tuple(reduction.value for reduction in Reduction if reduction in self.reductions),
            seconds=self.spent + time.monotonic() - self.started,
            kept=str(self.file) if kept else None,
        )

    def _open(self) -> dict[str, tuple[str, ...]]:
        found = {name: reasons(value) for name, value in self.judge.tally.unknown.items()}
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
                self.judge.formulas.finish()
                if self.wanted <= {*self.judge.tally.failures, *self.broken}:
                    break
        return self.depth

    def _expand_layer(self) -> bool:
        """Expand what is left of a layer. False where the search is over before its end."""
        while self.next < self.end:
            if self.next >= self.next_stop or self.table.matrices.full:
                if self._stops(self.depth, self.states.count - self.next):
                    return False
                self.next_stop = self.next - self.next % CHUNK + self.states.chunk
            last = min(self.end, self.next_stop)
            numbers, found = self.states.expand(self.next, last)
            self._look_at(numbers, found)
            self.next += len(numbers)
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
        self.judge.formulas.ended(numbers[(found & expansion.ENDS) != 0])
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
            self.judge.formulas.finish()
            self.judge.formulas.look_at(self.layer)
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
        elif self.table.matrices.full:
            self.stopped_by = NO_ROOM
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
        while not (self.judge.tally.failures or self.broken) and now < until:
            first = self.states.count
            numbers, found = self.states.walk(farthest)
            self.judge.reached(self.states.rows[first : self.states.count], first)
            self._look_at(numbers, found)
            now = time.process_time()
            if now - judged > WALKED or now >= until:
                self.judge.formulas.finish()
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
        if self.stopped_by in (None, NO_ROOM) or self.depth == self.bounds.depth:
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

    def _findings(self) -> list[Finding]:
        shown = ViolatingBehaviors(self.space, self.states, self.judge, symmetry=self.symmetric)
        return shown.findings(self.broken)

    def _sight(self) -> None:
        """Tell the observer of violations that it has not been told of."""
        for name, number in (*self.judge.tally.failures.items(), *self.broken.items()):
            if name not in self.sighted:
                self.sighted.add(name)
                moves = len(self.states.way(number)) - 1 + (name in self.broken)
                leaf, violated = self.judge.formulas.leaves.get(name), self.judge.formulas.violated.get(name)
                explanation = (
                    None
                    if violated is None
                    else explain(violated.asked, self.judge.formulas.execution(self.states.state(number)))
                )
                self.observer.violated(Sighting(name, moves, self.states.count, leaf, explanation))


def _mode(reductions: frozenset[Reduction]) -> int:
    """Which successors of a state are found."""
    if Reduction.BY_ITSELF in reductions:
        return expansion.BY_ITSELF
    if Reduction.ONE_BY_ONE in reductions:
        return expansion.ONE_BY_ONE
    return expansion.SILENT if Reduction.SILENTLY in reductions else expansion.EVERY
