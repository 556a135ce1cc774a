"""What is run in processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from precedes.protocol.bounds import Conditions
from precedes.protocol.catalog import Given, Named
from precedes.protocol.model import Protocol
from precedes.protocol.network import SingleChannel
from precedes.protocol.running.setting import Observe
from precedes.protocol.simulation.simulator import Simulator


@dataclass(frozen=True, slots=True)
class Workload:
    """Executions of a model. Of several instances the executions take turns; `conditions` by instance, in their order.

    `tick`: how long a tick is, in nanoseconds. `at_once`: how many executions are under way at the same time.
    `longest`: seconds after which an execution that does not end is given up. `observe`: as for a `Simulator`, a
    function that other processes can import; what it returns is added to the counters.
    """

    model: Named | Given
    conditions: tuple[Conditions, ...]
    seed: int
    executions: int
    tick: int
    at_once: int = 1
    longest: float = 60.0
    most_steps: int | None = None
    observe: Observe | None = None

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return self.conditions[0].entities

    @property
    def kills(self) -> bool:
        """Whether entities stop, so that their processes are killed. Then each execution has processes of its own."""
        return any(each.crash for each in self.conditions)

    def simulators(self) -> tuple[Simulator, ...]:
        """The settings of the instances. PrecedesError for conditions that a network does not know."""
        return tuple(
            Simulator(protocol, conditions, most_steps=self.most_steps, observe=self.observe)
            for protocol, conditions in zip(self.model.load(), self.conditions, strict=True)
        )


def network_of(workload: Workload, protocol: Protocol[Any]) -> str | None:
    """What the network is called where it is a process of its own: where all share one channel, which puts packets in
    an order; and where entities stop, because packets outlive who transmitted them.
    """
    if isinstance(protocol.network, SingleChannel):
        return "the channel"
    return "the network" if workload.kills else None
