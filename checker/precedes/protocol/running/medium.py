"""What a network does to packets on their way: it loses, corrupts, duplicates and delays them, and keeps its order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from precedes.protocol.running.chance import Chance
from precedes.protocol.running.setting import Setting

Place: TypeAlias = tuple[int, float]
"""When a packet comes in, in ticks, and its place among those that come in at that tick."""

Carry: TypeAlias = Callable[[Place, int, int, Hashable], None]
"""Told of each packet that is under way: its place, who sent it, to whom it goes, and what arrives."""


class Medium:
    """A network with its faults, as conditions say them. `counters` has the packets and what became of them."""

    def __init__(
        self,
        setting: Setting,
        chance: Chance,
        counters: dict[str, float],
        carry: Carry,
        corrupted: Callable[[Any], Sequence[Hashable]] | None = None,
    ) -> None:
        """`corrupted`: what a packet may become, where packets are not those of the protocol itself."""
        self._setting = setting
        self._chance = chance
        self._counters = counters
        self._carry = carry
        self._corrupted = setting.protocol.corrupted if corrupted is None else corrupted
        self._last: dict[Any, Place] = {}

    def transmit(self, sender: int, packet: Hashable, to: tuple[int, ...], now: int) -> None:
        """Each receiver gets the packet, or misses it, by itself."""
        conditions, chance, counters = self._setting.conditions, self._chance, self._counters
        for receiver in to:
            counters["packets"] += 1
            if conditions.loss and chance.uniform() < conditions.loss:
                counters["lost"] += 1
                continue
            arriving = packet
            if conditions.corruption and chance.uniform() < conditions.corruption:
                others = self._corrupted(packet)
                if others:
                    counters["corrupted"] += 1
                    arriving = others[chance.below(len(others))]
            self._send(sender, receiver, arriving, now)
            copied = conditions.duplication and chance.uniform() < conditions.duplication
            # Of one packet a model's network changes what arrives, or delivers it twice.
            if copied and arriving is packet:
                counters["duplicated"] += 1
                self._send(sender, receiver, arriving, now)

    def _send(self, sender: int, receiver: int, packet: Hashable, now: int) -> None:
        ordered_by = self._setting.ordered_by
        place = (now + self._setting.delay(self._chance), self._chance.uniform())
        if ordered_by is not None:
            channel = receiver if ordered_by == "receiver" else (sender, receiver)
            place = self._last[channel] = max(place, self._last.get(channel, (0, 0.0)))
        self._carry(place, sender, receiver, packet)
