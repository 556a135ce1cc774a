"""What ST does with a burst of PDUs of which some are lost, measured on the protocol itself.

As in section 5: L PDUs are on the channel before any of them has been confirmed; each is sent by one of the n
entities, to d random ones. Every entity misses every data PDU, sent again or not, with probability f. Agreements and
polls are not lost: the equations do not know them. A burst of which no destination misses anything costs nothing; so
bursts are drawn that have a loss, and what they cost is weighed with the probability of one.
"""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from math import floor, log, log1p

from experiments.intervals import Estimate, mean
from experiments.st_channel import Channel
from precedes.protocol import Here
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.state import Pdu, Vector

BATCH = 50
"""Bursts between two looks at the interval."""


@dataclass(frozen=True)
class Measured(SelectiveTotalOrder):
    """ST that tells how many PDUs it sorts."""

    sizes: list[int] = field(default_factory=list, compare=False, hash=False)

    def sorted(self, here: Here, run: list[Pdu], rank: Vector) -> tuple[Pdu, ...]:
        self.sizes.append(len(run))
        return super().sorted(here, run, rank)


@dataclass(frozen=True, slots=True)
class Setting:
    """A point of a curve: n entities, d destinations in the mean, loss f, L PDUs, and how what is lost is recovered."""

    n: int
    d: float
    f: float
    length: int
    go_back: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a burst: PDUs sorted per entity, PDUs sent again by all, both weighed; agreements that it took."""

    sorted: float
    again: float
    agreements: int


class _Losses:
    """Which receptions fail. The first transmissions are drawn beforehand, so that one that matters is among them."""

    def __init__(
        self, chance: random.Random, setting: Setting, sent: list[tuple[int, frozenset[int]]]
    ) -> None:
        self.chance, self.f = chance, setting.f
        asked = [(number, entity) for number, (_, to) in enumerate(sent) for entity in sorted(to)]
        self.weight = 1 - (1 - setting.f) ** len(asked)
        first = floor(log1p(-chance.random() * self.weight) / log(1 - setting.f))
        self.fails = {asked[min(first, len(asked) - 1)]}
        self.fails |= {where for where in asked[first + 1 :] if chance.random() < setting.f}
        self.fails |= {
            (number, entity)
            for number, (_, to) in enumerate(sent)
            for entity in range(setting.n)
            if entity not in to and chance.random() < setting.f
        }
        self.numbers: dict[tuple[int, int], int] = {}

    def __call__(self, receiver: int, packet: Hashable) -> bool:
        if not isinstance(packet, Pdu) or packet.message is None:
            return False
        if packet.again:
            return self.chance.random() < self.f
        return (self.numbers[packet.message.sender, packet.message.number], receiver) in self.fails


def burst(setting: Setting, seed: str) -> Cost:
    """One burst with a loss, up to where everybody has everything; it depends on the arguments alone."""
    chance = random.Random(seed)
    protocol = Measured(
        confirms=False,
        window=setting.length,
        repeats=1_000,
        retransmission="go-back" if setting.go_back else "selective",
    )
    entities = range(setting.n)
    sent = [
        (chance.choice(entities), frozenset(chance.sample(entities, _near(chance, setting.d))))
        for _ in range(setting.length)
    ]
    losses = _Losses(chance, setting, sent)
    channel = Channel(protocol, setting.n)
    for number, (sender, to) in enumerate(sent):
        message = channel.send(sender, *to)
        assert message is not None
        losses.numbers[message.sender, message.number] = number
    channel.read_all(loses=losses)
    while not _complete(channel):
        assert channel.expire()
        channel.read_all(loses=losses)
    again = sum(isinstance(packet, Pdu) and packet.again for _, packet in channel.transmitted)
    return Cost(
        losses.weight * sum(protocol.sizes) / setting.n,
        losses.weight * again,
        max(state.round for state in channel.states),
    )


def _near(chance: random.Random, mean_: float) -> int:
    """One of the two integers around a mean."""
    return floor(mean_) + (chance.random() < mean_ - floor(mean_))


def _complete(channel: Channel) -> bool:
    """Whether everybody has what it was sent, sorted."""
    return all(state.recovery is None and not state.alarm for state in channel.states) and all(
        state.preq[j] == sender.pseq[entity]
        for entity, state in enumerate(channel.states)
        for j, sender in enumerate(channel.states)
    )


def measured(setting: Setting, precision: float, most: int) -> tuple[Estimate, Estimate, int]:
    """Sorted and sent again, of L PDUs, and how many bursts it took until both intervals are within `precision` of
    their value (`most` at the most). Where nothing is sorted, as with go-back, the other alone counts."""
    costs: list[Cost] = []
    while True:
        costs += [burst(setting, f"{setting} {number}") for number in range(len(costs), len(costs) + BATCH)]
        estimates = [
            mean([cost.sorted / setting.length for cost in costs]),
            mean([cost.again / setting.length for cost in costs]),
        ]
        sure = all(estimate.half <= precision * estimate.value for estimate in estimates if estimate.value)
        if sure or len(costs) >= most:
            return estimates[0], estimates[1], len(costs)
