"""The model of the CMD protocol, which also logs what comes in.

    precedes conform arrivals.py runs --quiescent

The model `cmd` logs sends and deliveries only. A message that a program delivers late may have come in late, as far as
`cmd` knows. This model is held against the arrivals that were recorded: what waits must have something to wait for.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import permutations
from typing import ClassVar

from precedes.protocol import Arrive, Choose, Here, Step
from precedes_models.cmd.auxiliary import Entity, Packet
from precedes_models.cmd.protocol import Cmd


@dataclass(frozen=True)
class CmdWithArrivals(Cmd):
    """CMD with arrivals. What has waited is delivered in any order: §3.3 does not say in which, and `cmd` takes one."""

    name: ClassVar[str] = "cmd-with-arrivals"

    def arrive(self, here: Here, state: Entity, packet: Hashable, sender: int) -> Choose[Entity]:
        """Log the arrival, then do what CMD does, with the queue in any order that makes a difference."""
        assert isinstance(packet, Packet)
        step = self._logged(here, state, packet, sender)
        stay = tuple(one for one in state.queue if one in step.state.queue)
        leave = [one for one in state.queue if one not in step.state.queue]
        steps = [
            self._logged(here, replace(state, queue=(*order, *stay)), packet, sender)
            for order in permutations(leave)
        ]
        return Choose(tuple((1.0, one) for one in dict.fromkeys(steps)))

    def _logged(self, here: Here, state: Entity, packet: Packet, sender: int) -> Step[Entity]:
        step = super().arrive(here, state, packet, sender)
        assert step is not None
        return replace(step, actions=(Arrive(packet.message), *step.actions))
