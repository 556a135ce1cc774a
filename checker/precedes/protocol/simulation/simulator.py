"""Simulated executions and their conditions. `run` computes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from precedes.core.diagnostics import usage
from precedes.core.execution import Execution
from precedes.core.faults import FAULTS
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.exploration.histories import Histories
from precedes.protocol.model import Protocol
from precedes.protocol.network import Timed
from precedes.protocol.running.chance import Delaying, Requesting, normal_delays, poisson
from precedes.protocol.running.setting import Observe, Recorded, Setting
from precedes.protocol.simulation.run import Running
from precedes.protocol.validation import declarations


@dataclass(frozen=True, slots=True)
class Run:
    """A simulated execution: the state of each entity at its end, None where it has stopped, and what was counted.

    Counters: requests, refused (for good), packets, lost, duplicated, corrupted, vanished (came to an entity that had
    stopped), crashes, recoveries, steps, waiting (messages that starve, see `Protocol.waiting`), ticks (when it ended),
    and those of an observer.
    """

    execution: Execution
    states: tuple[Any, ...]
    counters: Mapping[str, float]


class Simulator:
    """Runs of a protocol under conditions.

    `requests` and `delays` stand in for those that the conditions describe. `most_steps`: a run that takes more is
    given up. PrecedesError for conditions that the network of the protocol does not know, and for M012.
    """

    def __init__(
        self,
        protocol: Protocol[Any],
        conditions: Conditions,
        *,
        requests: Requesting | None = None,
        delays: Delaying | None = None,
        observe: Observe | None = None,
        most_steps: int | None = None,
    ) -> None:
        declarations.check(protocol)
        _refuse(protocol, conditions)
        self.setting = Setting(
            protocol,
            conditions,
            poisson(conditions) if requests is None else requests,
            normal_delays(conditions, protocol.network) if delays is None else delays,
            observe,
            most_steps or 10_000 + 100 * conditions.messages * conditions.entities**2,
        )

    def recorded(self, seed: int, number: int) -> Recorded:
        """The execution of a number. PrecedesError M005 to M013 for mistakes of the model."""
        running = Running(self.setting, seed, number)
        running.go()
        return running.recorded()

    def run(self, seed: int, number: int) -> Run:
        """The execution of a number, as a value."""
        recorded = self.recorded(seed, number)
        histories = Histories(self.setting.protocol, self.setting.conditions.entities)
        execution = histories.execution(recorded.histories, name_of(number))
        return Run(execution, recorded.states, recorded.counters)


def run(
    protocol: Protocol[Any],
    conditions: Conditions,
    seed: int,
    number: int = 1,
    observe: Observe | None = None,
) -> Run:
    """One execution, which depends on the arguments and on nothing else."""
    return Simulator(protocol, conditions, observe=observe).run(seed, number)


def name_of(number: int) -> str:
    """The name of an execution in a trace. Names are in the order of numbers, up to a billion."""
    return f"{number:09d}"


def usual(protocol: Protocol[Any]) -> Conditions:
    """The conditions of a simulation that is not told any: those of `Conditions`; in a network with time, such that
    delays range over all that it allows and some messages are under way at any time.
    """
    destinations = Destinations(protocol.destinations)
    network = protocol.network
    if not isinstance(network, Timed):
        return Conditions(destinations=destinations)
    span = float(network.longest - network.shortest)
    return Conditions(
        destinations=destinations,
        interval=max(1.0, span),
        delay=network.shortest + span / 2,
        deviation=span / 2,
        skew=network.skew,
    )


def _refuse(protocol: Protocol[Any], conditions: Conditions) -> None:
    network = protocol.network
    for fault in FAULTS:
        if fault.ability is None or fault.rate is None:
            continue
        rate = getattr(conditions, fault.rate)
        if rate and not getattr(network, fault.ability, False):
            raise usage(
                f"the network of {protocol.name} does not {fault.verb} packets, but {fault.rate} is {rate:g}",
                f"it is {network}",
            )
    if conditions.skew and not (isinstance(network, Timed) and conditions.skew <= network.skew):
        raise usage(
            f"clocks {conditions.skew} ticks apart are more than {protocol.name} assumes", f"it is {network}"
        )
