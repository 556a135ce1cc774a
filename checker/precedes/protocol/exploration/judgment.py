"""Judges the states of an exploration: invariants once for each entity, pair or state, and formulas once for
each execution, many executions in one scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from precedes.core.formula import Requirement
from precedes.core.mode import Mode, in_mode, mode_of
from precedes.logic.plan import leaves_of
from precedes.protocol.exploration.formula_judge import FormulaJudge
from precedes.protocol.exploration.histories import Recording
from precedes.protocol.exploration.invariant_judge import InvariantJudge
from precedes.protocol.exploration.kept_search import Kept, named, part
from precedes.protocol.exploration.seen_histories import SeenHistories
from precedes.protocol.exploration.tally import Tally
from precedes.protocol.exploration.transition_table import TransitionTable
from precedes.protocol.invariants import Invariant, OfPair, OfState, OfStep

Int64: TypeAlias = npt.NDArray[np.int64]
Rows: TypeAlias = npt.NDArray[np.int32]
"""States, one in a row."""


class Judge:
    """Judges formulas and invariants, and counts in a tally what came of it."""

    def __init__(
        self,
        requirements: Sequence[Requirement],
        invariants: Sequence[Invariant],
        *,
        quiescent: bool = False,
        inherits: bool = False,
    ) -> None:
        """`quiescent`: every formula, and every invariant of pairs and whole states, is judged where nothing is in
        flight, whatever mode it says. Invariants of single entities keep theirs. `inherits`: states come in layers, and
        are not judged where what is known of the states before and after them says enough.
        """
        asked = [in_mode(each, Mode.QUIESCENT) for each in requirements] if quiescent else requirements
        checked = tuple(_quiescent(each) for each in invariants) if quiescent else tuple(invariants)
        leaves = leaves_of(asked)
        self.tally = Tally((*leaves, *(invariant.name for invariant in checked)))
        self.formulas = FormulaJudge(leaves, self.tally, inherits=inherits)
        self.invariants = InvariantJudge(checked, self.tally)
        self.modes = {
            **{name: mode_of(leaf.formula) for name, leaf in leaves.items()},
            **{invariant.name: _mode(invariant) for invariant in checked},
        }

    @property
    def recording(self) -> Recording:
        """What is kept of histories. Invariants of whole states are shown who has sent and delivered what."""
        recording = self.formulas.recording
        return replace(recording, logs=recording.logs or bool(self.invariants.of_state.all))

    @property
    def asks_on_the_way(self) -> bool:
        """Whether anything but of single entities is asked where something is in flight."""
        return self.formulas.ask_on_the_way or self.invariants.ask_on_the_way

    def begin(self, table: TransitionTable, reserve: int = 0) -> None:
        """Judge states made of the local states of this table. `reserve`: how many states there may be, where that is
        known.
        """
        self._seen = SeenHistories(table)
        self.formulas.begin(self._seen, reserve)
        self.invariants.begin(self._seen)

    def reached(self, rows: Rows, first: int, parents: Rows | None = None) -> None:
        """Judge what is asked of every state: `rows` are states in the order in which they were found, from number
        `first` on; `parents` those from which they were found, where this judge `inherits`.
        """
        numbers = np.arange(first, first + len(rows))
        self.invariants.reached(rows, numbers)
        self.formulas.reached(rows, numbers, parents)

    def expanded(self, rows: Rows, numbers: Int64, quiescent: npt.NDArray[np.bool_]) -> None:
        """Judge what is asked of states of which it is known whether something is in flight: their rows and numbers in
        the order in which they were expanded.
        """
        self.invariants.expanded(rows, numbers, quiescent)
        self.formulas.expanded(rows, numbers, quiescent)

    def fail(self, name: str, state: int) -> None:
        """Remember the first state in which a property fails."""
        self.tally.fail(name, state)

    # ---- a search that is kept ----

    def kept(self) -> tuple[Kept, dict[str, Any]]:
        """What was judged, and of what is not; as arrays, and as what JSON can say."""
        arrays, numbers = self.formulas.kept()
        histories: Kept = {"histories": self._seen.kept()}
        kept = histories | named("formulas", arrays) | named("invariants", self.invariants.kept())
        return kept, {"formulas": numbers, "tally": vars(self.tally)}

    def take_up(self, arrays: Kept, numbers: dict[str, Any]) -> None:
        """Know what was judged."""
        self._seen.take_up(arrays["histories"])
        self.formulas.take_up(part(arrays, "formulas"), numbers["formulas"])
        self.invariants.take_up(part(arrays, "invariants"))
        self.tally.take_up(**numbers["tally"])


def _quiescent(invariant: Invariant) -> Invariant:
    """An invariant where everything is asked in quiescence only, but for what concerns one entity or one step."""
    return replace(invariant, quiescent=True) if isinstance(invariant, OfPair | OfState) else invariant


def _mode(invariant: Invariant) -> Mode:
    """A step is taken, whatever is in flight."""
    in_quiescence = not isinstance(invariant, OfStep) and invariant.quiescent
    return Mode.QUIESCENT if in_quiescence else Mode.ALWAYS
