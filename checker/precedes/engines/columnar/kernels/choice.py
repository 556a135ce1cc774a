"""Which kernels judge a recognised definition, and what their values mean there.

On complete executions a definition has one kernel, which decides it. On incomplete ones none of the definitions
holds, and what a kernel finds violated is so either by what was recorded, whatever else there is, or for want of a
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.verdict import TRUE, Reason
from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.causal_order import CAUSAL_KERNELS
from precedes.engines.columnar.kernels.claimed_positions import POSITION_KERNELS
from precedes.engines.columnar.kernels.disorder import DISORDER_KERNELS
from precedes.engines.columnar.kernels.every_delivery import DELIVERY_KERNELS
from precedes.engines.columnar.kernels.information import INFORMATION_KERNELS
from precedes.engines.columnar.kernels.kernel import PLACES, Kernel
from precedes.engines.columnar.kernels.order import ORDER_KERNELS, SCREEN_KERNELS
from precedes.engines.columnar.kernels.shared_logs import SHARED_LOG_KERNELS
from precedes.engines.columnar.kernels.strict_order import STRICT_KERNELS
from precedes.engines.columnar.kernels.time import TIME_KERNELS
from precedes.engines.columnar.kernels.views import VIEW_KERNELS
from precedes.logic.plan import Step
from precedes.logic.recognition import UNTUNED
from precedes.native.codes import DEFERRED

TUNED: Final[dict[str, Kernel]] = {
    **ORDER_KERNELS,
    **INFORMATION_KERNELS,
    **CAUSAL_KERNELS,
    **STRICT_KERNELS,
    **SHARED_LOG_KERNELS,
    **TIME_KERNELS,
    **DELIVERY_KERNELS,
    **POSITION_KERNELS,
    **VIEW_KERNELS,
}
"""The kernels by the names of their definitions."""

KERNELS: Final[Mapping[str, Kernel]] = {**TUNED, **DISORDER_KERNELS, **SCREEN_KERNELS}
"""The same, with those of definitions that have a parameter and those that only tell where something holds."""

Values = npt.NDArray[np.int32]

NEVER_CERTAIN: Final = frozenset(
    {
        "no_creation",
        "information_equivalent",
        "information_preserving",
        "agreement",
        "uniform_agreement",
        "validity",
        "ordered_until_acknowledged",
        "nothing_skipped",
        "virtual_synchrony",
        "same_view_delivery",
        "sending_view_delivery",
        "nonuniform_total_order",
        "nonuniform_fifo_delivery",
        "nonuniform_local_order",
        "nonuniform_causal_delivery",
    }
)
"""What only a missing row violates: it is unknown on every incomplete execution."""

SCREENS: Final[Mapping[str, tuple[str, ...]]] = {
    "fifo_delivery": ("order_preserving",),
    "bounded_disorder": ("order_preserving",),
    "causal_delivery": ("causal_order",),
    "local_order": ("causal_order",),
    "one_order": ("one_order",),
    "begins": ("order_equivalent", "causal_order"),
    "prefix_order": ("order_equivalent", "causal_order"),
    "gap_free_order": ("order_equivalent", "causal_order"),
}
"""What also a missing row violates. Where what was recorded violates it, it violates one of these, too: two messages
delivered out of order, or one delivered before another that was sent after it. The compiled formula then decides."""


COMPILED: Final = frozenset({"once_per_group", "initial_view_event", "self_delivery"}) | (
    UNTUNED - SCREENS.keys()
)
"""What the compiled formula judges on incomplete executions: what has no kernel, or one that does not say what is
violated whatever is missing.
"""


class Meaning(Enum):
    """What the values of the kernels say of the definition."""

    DECIDED = auto()
    HOLDS_OR_DEFERRED = auto()
    VIOLATED_OR_UNKNOWN = auto()
    UNKNOWN_OR_DEFERRED = auto()
    DEFERRED = auto()


@dataclass(frozen=True, slots=True)
class Tuning:
    """The kernels for a definition, on complete executions or on incomplete ones, and what their values mean.

    `bound`: the number that is asked for, of a definition that has one.
    """

    kernels: tuple[str, ...]
    meaning: Meaning
    bound: int = 0

    @property
    def defers(self) -> bool:
        """Whether some executions may be left to the compiled formula."""
        deferring = (Meaning.HOLDS_OR_DEFERRED, Meaning.UNKNOWN_OR_DEFERRED, Meaning.DEFERRED)
        return self.meaning in deferring or any(KERNELS[name].defers for name in self.kernels)

    @property
    def left(self) -> bool:
        """Whether all executions are left to the compiled formula, or all but those that are as they should be."""
        return self.meaning in (Meaning.DEFERRED, Meaning.HOLDS_OR_DEFERRED)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the kernels read."""
        return frozenset(column for name in self.kernels for column in KERNELS[name].reads)

    def run(self, columns: Columns, jit: bool | None) -> tuple[Values, Values]:
        """The values and the places, as of a kernel; `DEFERRED` where the compiled formula is to decide."""
        executions = columns.executions
        nowhere = np.full((executions, PLACES), -1, np.int32)
        unknown = np.full(executions, int(Reason.INCOMPLETE), np.int32)
        found = [replace(KERNELS[name], bound=self.bound).run(columns, jit) for name in self.kernels]
        match self.meaning:
            case Meaning.DECIDED:
                ((values, places),) = found
                return values, places
            case Meaning.HOLDS_OR_DEFERRED:
                ((values, _),) = found
                return np.where(values == TRUE, values, np.int32(DEFERRED)), nowhere
            case Meaning.VIOLATED_OR_UNKNOWN:
                values, places = found[0] if found else (unknown, nowhere)
                return np.where(values < TRUE, values, values | unknown), places
            case Meaning.UNKNOWN_OR_DEFERRED:
                kept = np.logical_and.reduce([values == TRUE for values, _ in found])
                return np.where(kept, unknown, np.int32(DEFERRED)), nowhere
            case Meaning.DEFERRED:
                return np.full(executions, DEFERRED, np.int32), nowhere
            case _:
                assert_never(self.meaning)


_LEFT: Final = Tuning((), Meaning.DEFERRED)


def reads_destinations(definition: str | None) -> bool:
    """Whether a definition has a kernel, and this kernel reads who the destinations of messages are."""
    return definition is not None and definition in KERNELS and "destinations" in KERNELS[definition].reads


def tuning(step: Step, *, complete: bool) -> Tuning:
    """How the formula of a step is judged as a whole; of one that is not recognised, what is left to the compiler."""
    definition = step.definition
    if step.alike and not complete:
        return Tuning(() if definition is None else (definition,), Meaning.UNKNOWN_OR_DEFERRED)
    if definition is None and step.implied_by is not None and complete:
        return Tuning((step.implied_by,), Meaning.HOLDS_OR_DEFERRED)
    if step.per or definition is None or definition in (UNTUNED if complete else COMPILED):
        return _LEFT
    if complete:
        return Tuning((definition,), Meaning.DECIDED, step.bound)
    if definition in SCREENS:
        return Tuning(SCREENS[definition], Meaning.UNKNOWN_OR_DEFERRED)
    return Tuning(() if definition in NEVER_CERTAIN else (definition,), Meaning.VIOLATED_OR_UNKNOWN)
