"""One simulated execution: events in the order of their times. It ends when nothing is left to happen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from precedes.protocol.model import Timer
from precedes.protocol.running.chance import Chance
from precedes.protocol.running.entity import RunningEntity, Surroundings, Transmission, Wake
from precedes.protocol.running.medium import Medium, Place
from precedes.protocol.running.setting import Recorded, Setting
from precedes.protocol.validation import errors

_ARRIVE: Final = -1
"""Beside the kinds of `Wake`: a packet comes in."""


class Running(Surroundings):
    """A run under way."""

    def __init__(self, setting: Setting, seed: int, number: int) -> None:
        super().__init__()
        self.setting = setting
        self.number, self.seed = number, seed
        self.network = Chance(seed, number, "network")
        self.other = other = Chance(seed, number, "other")
        self.medium = Medium(setting, self.network, self.counters, self._carry)
        self.heap: list[tuple[int, float, int, Any, int, Any]] = []
        self.pushed = 0
        self.under_way = 0
        skew = setting.conditions.skew
        ahead = [other.below(skew + 1) if skew else 0 for _ in range(setting.conditions.entities)]
        self.entities = [
            RunningEntity(setting, self, entity, behind, other) for entity, behind in enumerate(ahead)
        ]

    def recorded(self) -> Recorded:
        """What came of it."""
        entities, counters = self.entities, self.counters
        counters["ticks"] = self.now
        counters["refused"] = sum(len(each.pending) for each in entities)
        counters["waiting"] = sum(each.starving for each in entities)
        states = tuple(each.state if each.up else None for each in entities)
        return Recorded(tuple(tuple(each.history) for each in entities), states, counters)

    def go(self) -> None:
        """From the beginning until nothing is left to happen. PrecedesError for mistakes of the model."""
        with self.mistakes_told(self.setting):
            self._begin()
            self._go_on()

    def _begin(self) -> None:
        setting = self.setting
        requests = setting.requests(self.network)
        for request in requests:
            self.wake(request.time, request.sender, Wake.REQUEST, request.destinations)
        end = max((request.time for request in requests), default=0) + setting.conditions.delay
        for entity in self.entities:
            entity.begin(end)

    def _go_on(self) -> None:
        heap, counters, entities = self.heap, self.counters, self.entities
        most_steps = self.setting.most_steps
        while heap:
            self.now, _, _, kind, entity, given = heappop(heap)
            if kind == _ARRIVE:
                entities[entity].arrive(given[0], given[1])
            else:
                entities[entity].woken(kind, given)
            if counters["steps"] > most_steps:
                raise errors.endless(self.setting.protocol, self.number, self.seed, most_steps)

    # ---- what entities run in ----

    def wake(self, time: int, entity: int, what: Wake, given: Any) -> None:
        self.pushed += 1
        heappush(self.heap, (time, self.other.uniform(), self.pushed, what, entity, given))

    def transmit(self, sender: int, packets: Sequence[Transmission]) -> None:
        for packet, to in packets:
            self.medium.transmit(sender, packet, to, self.now)

    def stepped(self, entity: RunningEntity, choice: int) -> None:
        """Nothing has to be kept: no process ends here."""

    def taken(self, packets: int) -> None:
        self.under_way -= packets

    def is_quiet(self, timer: Timer) -> bool:
        """Whether the network is empty, and no time-out runs that has less patience."""
        return not self.under_way and not any(each.precedes(timer) for each in self.entities)

    def _carry(self, place: Place, sender: int, receiver: int, packet: Hashable) -> None:
        self.under_way += 1
        self.pushed += 1
        heappush(self.heap, (*place, self.pushed, _ARRIVE, receiver, (packet, sender)))
