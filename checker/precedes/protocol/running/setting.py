"""What the runs of one simulator share, and what each of them leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from precedes.protocol.bounds import Conditions
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.model import Here, Protocol, Step
from precedes.protocol.network import Reliable, SingleChannel, Timed
from precedes.protocol.running.chance import Delaying, Requesting

Observe: TypeAlias = Callable[[Here, Any, Hashable, Step[Any], int], Mapping[str, float] | None]
"""Told of every step: where, the state before it, its cause (the Message requested, the packet that arrived, the Timer
that expired, None for a recovery), the step, and the time in ticks since the beginning. What it returns is added to the
counters of the run."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A simulated execution as it was recorded: the history of each entity, and what a `Run` has."""

    histories: tuple[tuple[Entry, ...], ...]
    states: tuple[Any, ...]
    counters: Mapping[str, float]


class Setting:
    """What all runs of a simulator have in common."""

    def __init__(
        self,
        protocol: Protocol[Any],
        conditions: Conditions,
        requests: Requesting,
        delay: Delaying,
        observe: Observe | None,
        most_steps: int,
    ) -> None:
        self.protocol = protocol
        self.conditions = conditions
        self.requests = requests
        self.delay = delay
        self.observe = observe
        self.most_steps = most_steps
        network = protocol.network
        self.timed = isinstance(network, Timed)
        self.ordered_by: str | None = None
        if isinstance(network, SingleChannel):
            self.ordered_by = "receiver"
        elif isinstance(network, Reliable) and network.fifo:
            self.ordered_by = "pair"
        self.has_timers = type(protocol).timers is not Protocol.timers
        self.rearranges = type(protocol).receipt_log is not Protocol.receipt_log
        self.silent = not protocol.answers
        self.heres = tuple(Here(entity, conditions.entities) for entity in range(conditions.entities))
        self.quiet = max(1, round(4 * (conditions.delay + 3 * conditions.deviation)))
        """How long an entity waits before it takes the network to be empty, in ticks."""
