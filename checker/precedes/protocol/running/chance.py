"""Random choices in a simulated execution: who requests what and when, and what the network does.

Everything follows from a seed and the number of the execution, wherever it is computed. Requests, delays and
faults come from one stream of random numbers, everything else from another. So two protocols that transmit
the same packets at the same times meet the same network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from statistics import NormalDist
from typing import Final, TypeAlias, assert_never

from precedes.core.diagnostics import usage
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.network import Network, Timed

_LEAST_SHARE: Final = 0.01
"""The share of a normal distribution that must be possible as a delay, so that drawing again comes to an end."""


@dataclass(frozen=True, slots=True)
class Request:
    """A user asks entity `sender` for a message to be sent, `time` ticks after the beginning."""

    time: int
    sender: int
    destinations: frozenset[int]


class Chance:
    """A stream of random numbers that is the same on every machine and in every process."""

    __slots__ = ("_bits", "uniform")

    def __init__(self, seed: int, number: int, stream: str) -> None:
        digest = blake2b(f"{seed}/{number}/{stream}".encode(), digest_size=16).digest()
        source = Random(int.from_bytes(digest, "big"))  # noqa: S311 - not for secrets
        self.uniform: Callable[[], float] = source.random
        self._bits = source.getrandbits

    def below(self, number: int) -> int:
        """A whole number from 0 to `number` - 1."""
        return int(self.uniform() * number)

    def waiting(self, mean: float) -> float:
        """An exponentially distributed time."""
        return -math.log(1.0 - self.uniform()) * mean

    def normal(self, mean: float, deviation: float) -> float:
        """A normally distributed number, by the method of Box and Muller."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return mean + deviation * radius * math.cos(2.0 * math.pi * self.uniform())

    def some_of(self, members: Sequence[int]) -> frozenset[int]:
        """Any set of members that is not empty, each as likely as the others."""
        while True:
            bits = self._bits(len(members))
            if bits:
                return frozenset(member for k, member in enumerate(members) if bits >> k & 1)


Requesting: TypeAlias = Callable[[Chance], Sequence[Request]]
"""The requests of an execution, by their time."""

Delaying: TypeAlias = Callable[[Chance], int]
"""The time that a packet takes, in ticks."""


def poisson(conditions: Conditions) -> Requesting:
    """The requests that `Conditions` describe.

    PrecedesError where there is nobody to send to.
    """
    entities, everybody = conditions.entities, frozenset(range(conditions.entities))
    others = [tuple(sorted(everybody - {entity})) for entity in range(entities)]
    choice = conditions.destinations
    if entities == 1 and choice in (Destinations.UNICAST, Destinations.MULTICAST):
        raise usage(
            f"one entity has no others to send to ({choice.value})", "2 entities or more, or another choice"
        )

    def drawn(chance: Chance, sender: int) -> frozenset[int]:
        match choice:
            case Destinations.UNICAST:
                return frozenset({others[sender][chance.below(entities - 1)]})
            case Destinations.MULTICAST:
                return chance.some_of(others[sender])
            case Destinations.BROADCAST:
                return everybody
            case Destinations.ANY:
                return chance.some_of(range(entities))
            case _:
                assert_never(choice)

    def requests(chance: Chance) -> list[Request]:
        # The processes of all entities together are one of as many times the rate, its senders uniform.
        time, between, found = 0.0, conditions.interval / entities, []
        for _ in range(conditions.messages):
            time += chance.waiting(between)
            sender = chance.below(entities)
            found.append(Request(int(time), sender, drawn(chance, sender)))
        return found

    return requests


def normal_delays(conditions: Conditions, network: Network) -> Delaying:
    """Normal delays; what falls outside the bounds of a network with time, or below zero, is drawn again.

    PrecedesError where next to nothing falls inside.
    """
    mean, deviation = conditions.delay, conditions.deviation
    least, most = (network.shortest, network.longest) if isinstance(network, Timed) else (0, math.inf)
    if deviation > 0:
        spread = NormalDist(mean, deviation)
        share = (1.0 if most == math.inf else spread.cdf(most)) - spread.cdf(least)
    else:
        share = float(least <= mean <= most)
    if share < _LEAST_SHARE:
        raise usage(
            f"delays of {mean:g} ± {deviation:g} ticks hardly ever fall between {least} and {most}",
            "the network of the model has these bounds; its parameters may change them",
        )

    def delay(chance: Chance) -> int:
        while True:
            drawn = chance.normal(mean, deviation)
            if least <= drawn <= most:
                return round(drawn)

    return delay
