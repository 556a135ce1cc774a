"""A network that loses, delays and reorders, and links that make of it what the CMD paper asks for (§1, §3).

Time is simulated, and all chance comes from one seed: a run can be repeated.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from random import Random

SLOWEST = 10.0
"""The longest way of a datagram; the shortest is nearly 0, so that any two may overtake each other."""
PATIENCE = 25.0
"""After this time without an acknowledgement a link sends again: both ways may take `SLOWEST`."""


class Network:
    """Carries datagrams, which are calls that happen later, or never.

    Args:
        random: Draws delays and losses.
        loss: The probability that a datagram is lost.
    """

    def __init__(self, random: Random, loss: float) -> None:
        self._random = random
        self._loss = loss
        self._now = 0.0
        self._numbers = count()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []

    def carry(self, arrival: Callable[[], None]) -> None:
        """Let a datagram arrive after a random delay, if it is not lost."""
        if self._random.random() >= self._loss:
            self.after(self._random.uniform(0, SLOWEST), arrival)

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Do something later."""
        heapq.heappush(self._agenda, (self._now + delay, next(self._numbers), action))

    def run(self) -> None:
        """Let everything happen, until nothing is on its way."""
        while self._agenda:
            self._now, _, action = heapq.heappop(self._agenda)
            action()


class Link:
    """One direction between two entities: what is put in comes out once, in any order.

    Args:
        network: Carries the datagrams and their acknowledgements.
        arrived: Is given what comes out.
    """

    def __init__(self, network: Network, arrived: Callable[[object], None]) -> None:
        self._network = network
        self._arrived = arrived
        self._numbers = count()
        self._unacknowledged: set[int] = set()
        self._seen: set[int] = set()

    def put(self, packet: object) -> None:
        """Send a packet, and again until it is acknowledged."""
        number = next(self._numbers)
        self._unacknowledged.add(number)
        self._attempt(number, packet)

    def _attempt(self, number: int, packet: object) -> None:
        if number in self._unacknowledged:
            self._network.carry(lambda: self._datagram(number, packet))
            self._network.after(PATIENCE, lambda: self._attempt(number, packet))

    def _datagram(self, number: int, packet: object) -> None:
        """At the far end: a datagram comes twice if its acknowledgement was lost."""
        self._network.carry(lambda: self._unacknowledged.discard(number))
        if self.is_new(number):
            self._arrived(packet)

    def is_new(self, number: int) -> bool:
        """Whether the datagram of this number arrives for the first time."""
        new = number not in self._seen
        self._seen.add(number)
        return new
