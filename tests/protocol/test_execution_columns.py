"""Executions that are gathered in columns are those that values make."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from precedes.core.columns import Batch
from precedes.core.transposition import batch_of
from precedes.protocol import Deliver, Here, Message, Protocol, Reliable, Step
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import formula_judge
from precedes.protocol.exploration.execution_columns import ExecutionColumns
from precedes.protocol.exploration.explorer import explore
from precedes_models.cmd.protocol import Cmd
from precedes_models.delta_causal.protocol import DeltaCausal
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.total_order.protocol import TotalOrder
from tests.protocol.toys import Plain


class Readdressing(Plain):
    """Delivers a message as one that was addressed to whoever delivers it."""

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        assert isinstance(packet, Message)
        mine = Message(packet.sender, packet.number, frozenset({here.entity}))
        return Step(state, (Deliver(mine),) if here.entity in packet.destinations else ())


CASES: list[tuple[Protocol[Any], Bounds]] = [
    (Cmd(), Bounds(3, 3)),
    (Cmd(), Bounds(2, 2, Destinations.ANY)),
    (DeltaCausal(), Bounds(2, 2)),
    (DynamicCluster(), Bounds(2, 1, Destinations.BROADCAST, crashes=1)),
    (TotalOrder(), Bounds(2, 1, Destinations.BROADCAST)),
    (Readdressing(given=Reliable(duplicates=True)), Bounds(3, 2, Destinations.MULTICAST, duplicates=1)),
]


def same(one: Any, other: Any) -> bool:
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        return type(one) is type(other) and all(same(getattr(one, n), getattr(other, n)) for n in names)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)


@pytest.mark.parametrize(
    ("protocol", "bounds", "by_machine"),
    [*((*case, False) for case in CASES), *((*CASES[place], True) for place in (1, 2, 5))],
)
def test_they_are_what_values_make(
    protocol: Protocol[Any], bounds: Bounds, by_machine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExecutionColumns, "_by_machine", lambda self, function: by_machine)
    judged = 0

    class Compared(ExecutionColumns):
        def batch(self, keys: Any, *, interleaved: bool, clocks: bool = True) -> Batch:
            nonlocal judged
            judged += len(keys)
            made = super().batch(keys, interleaved=interleaved)
            values = [self._execution(key, str(x), interleaved) for x, key in enumerate(keys)]
            assert same(made, batch_of(values))
            return made

    monkeypatch.setattr(formula_judge, "ExecutionColumns", Compared)
    explore(protocol, bounds)
    assert judged
