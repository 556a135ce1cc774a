"""The same executions simulated and run in processes: what was counted in each, and their rows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precedes import Execution, read
from precedes.protocol import Conditions, Protocol, Simulator
from precedes.protocol.catalog import Given
from precedes.protocol.processes.cluster import Cluster, Recorded
from precedes.protocol.processes.workload import Workload
from precedes.protocol.running.setting import Observe


@dataclass(frozen=True, slots=True)
class Measured:
    """Some executions: what was counted in each, what was recorded, and how many messages were sent in a second."""

    counters: Sequence[Mapping[str, float]]
    executions: Sequence[Execution]
    rate: float
    late: int = 0


def simulated(
    protocol: Protocol[Any], conditions: Conditions, executions: int, observe: Observe | None = None
) -> Measured:
    """Simulate, in this process."""
    simulator = Simulator(protocol, conditions, observe=observe)
    began = time.perf_counter()
    runs = [simulator.run(1, number) for number in range(1, executions + 1)]
    seconds = time.perf_counter() - began
    counters = [each.counters for each in runs]
    return Measured(counters, [each.execution for each in runs], _sent(counters) / seconds)


def run(workload: Workload) -> Measured:
    """Run in processes."""
    counters: list[Mapping[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        with trace.open("wb") as file:

            def take(recorded: Recorded) -> None:
                file.write(recorded.rows)
                counters.append(recorded.counters)

            totals = Cluster(workload, folder, take, 120.0).run(lambda: None)
        found = list(read(trace))
    return Measured(counters, found, _sent(counters) / totals.seconds, totals.late)


def workload(
    protocol: Protocol[Any],
    conditions: Conditions,
    executions: int,
    tick: int,
    observe: Observe | None = None,
    *,
    at_once: int = 1,
) -> Workload:
    """Executions of one instance; a tick in nanoseconds."""
    return Workload(Given((protocol,)), (conditions,), 1, executions, tick, at_once, observe=observe)


def _sent(counters: Sequence[Mapping[str, float]]) -> float:
    return sum(each["requests"] for each in counters)
