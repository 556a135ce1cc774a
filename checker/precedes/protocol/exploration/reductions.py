"""Which states may be left out of a search, and when."""

from __future__ import annotations

from enum import Enum
from typing import Any

from precedes.core.faults import FAULTS, Moment
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration import symmetry_reduction
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.stability import lasts
from precedes.protocol.model import Protocol
from precedes.protocol.network import SingleChannel, Timed


class Reduction(Enum):
    """A way to leave states out that no property can tell apart from those that are looked at."""

    SYMMETRY = "symmetry of the entities"
    ONE_BY_ONE = "arrivals at one entity after the other"
    BY_ITSELF = "each entity by itself in the end"
    SILENTLY = "packets that nobody answers arrive first"


def usable(protocol: Protocol[Any], bounds: Bounds, judge: Judge) -> frozenset[Reduction]:
    """The reductions under which every property that is violated is found violated: see docs/protocols.md."""
    found = set()
    formulas = [leaf.formula for leaf in judge.formulas.leaves.values()]
    if symmetry_reduction.applies(protocol, bounds, formulas):
        found.add(Reduction.SYMMETRY)
    single_channel = isinstance(protocol.network, SingleChannel)
    if single_channel and not (judge.asks_on_the_way or bounds.crashes or bounds.early):
        found.add(Reduction.SILENTLY)
    faults = any(getattr(bounds, fault.count) for fault in FAULTS if fault.moment is not Moment.BEGINNING)
    rearranges = type(protocol).receipt_log is not Protocol.receipt_log
    if (
        not (
            protocol.answers
            or faults
            or rearranges
            or judge.invariants.of_pair.all
            or judge.invariants.of_state.all
        )
        and not isinstance(protocol.network, Timed)
        and all(map(lasts, formulas))
    ):
        found.add(Reduction.ONE_BY_ONE)
        has_timers = type(protocol).timers is not Protocol.timers
        if not (formulas or has_timers or judge.invariants.of_entity.asked(True)) and bounds.entities > 1:
            found.add(Reduction.BY_ITSELF)
    return frozenset(found)
