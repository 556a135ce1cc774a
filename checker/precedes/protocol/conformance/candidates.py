"""Which packets may come in next at an entity, by the rules of the network, and what that costs of the limits.

Where packets keep an order, one that never came in is lost when a later one does. Elsewhere a packet that is lost and
one that is in flight for ever look the same, and nothing is spent.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, assert_never

from precedes.protocol.conformance.handlers import Handlers
from precedes.protocol.network import Reliable, SingleChannel, Timed

if TYPE_CHECKING:
    from precedes.protocol.conformance.blocks import Local

Spent: TypeAlias = tuple[int, int, int, int]
"""Losses, duplicates, corruptions and time-outs."""
NOTHING: Final[Spent] = (0, 0, 0, 0)


class Candidate(NamedTuple):
    """A packet that may come in, and what is in flight after it. `lost`: sender and packet of those that cannot come in
    any more.
    """

    key: tuple[int, ...]
    sender: int
    packet: int
    value: Hashable
    inbox: tuple[int, ...]
    vanishing: int
    cost: Spent = NOTHING
    lost: tuple[tuple[int, Hashable], ...] = ()
    copied: bool = False
    original: Hashable = None


class Inboxes:
    """What is in flight to entities. `faults`: whether the network may lose, duplicate and corrupt here."""

    def __init__(self, handlers: Handlers, ahead: tuple[int, ...], *, faults: bool, losses: int) -> None:
        """`losses`: how many there may be."""
        self.losses = losses
        self.refused = False
        """Whether a packet did not come in because too many before it would be lost."""
        self.handlers = handlers
        self.ahead = ahead
        network = handlers.protocol.network
        self.network = network
        self.faults = faults
        self.single = isinstance(network, SingleChannel)
        self.ordered = self.single or (isinstance(network, Reliable) and network.fifo)
        """Whether packets, of one sender or of all, keep their order."""

    def with_flight(self, inbox: tuple[int, ...], flight: int, vanishing: int) -> tuple[int, ...]:
        """What is in flight after another transmission. `vanishing`: the first of these may have come while their
        entity had stopped, and stay the first.
        """
        if self.ordered:
            return (*inbox, flight)
        return (*inbox[:vanishing], *sorted((*inbox[vanishing:], flight)))

    def candidates(self, local: Local, now: int) -> Iterator[Candidate]:
        """The packets that may come in at an entity that runs."""
        match self.network:
            case SingleChannel(loses=loses):
                yield from self._faulty(self._in_order(local, loses=loses))
            case Reliable(fifo=True, loses=loses):
                yield from self._faulty(self._in_order(local, loses=loses))
            case Reliable():
                yield from self._faulty(self._any(local))
            case Timed() as timed:
                in_time = (each for each in self._any(local) if self.in_time(timed, each.key[0], now))
                yield from self._faulty(in_time)
            case _:
                assert_never(self.network)

    def in_time(self, network: Timed, flight: int, now: int) -> bool:
        """Whether a packet may come in now."""
        sent = self.sent(flight)
        return sent + network.shortest <= now <= sent + network.longest

    def sent(self, flight: int) -> int:
        """When a packet was transmitted, by the time that all clocks follow."""
        found = self.handlers.flights[flight]
        return found.sent - self.ahead[found.sender]

    def _any(self, local: Local) -> Iterator[Candidate]:
        inbox, first = local.inbox, local.vanishing
        for place, flight in enumerate(inbox):
            if place in (0, first) or inbox[place - 1] != flight:
                rest = inbox[:place] + inbox[place + 1 :]
                candidate = self._candidate(flight, rest, first - (place < first))
                yield candidate._replace(key=(flight, place < first)) if first else candidate

    def _in_order(self, local: Local, *, loses: bool) -> Iterator[Candidate]:
        """The next of a channel, or a later one where those before it are lost or came to nobody."""
        passed: dict[int, list[int]] = {}
        most = self.losses if loses and self.faults else 0
        for place, flight in enumerate(local.inbox):
            channel = -1 if self.single else self.handlers.flights[flight].sender
            before = passed.setdefault(channel, [])
            losses = sum(earlier >= local.vanishing for earlier in before)
            if losses > most:
                self.refused = self.refused or loses
                if self.single:
                    return
                continue
            gone = {place, *before}
            inbox = tuple(each for k, each in enumerate(local.inbox) if k not in gone)
            vanishing = local.vanishing - sum(k < local.vanishing for k in gone)
            lost = tuple(self._packet(local.inbox[k]) for k in before)
            plain = self._candidate(flight, inbox, vanishing)
            yield plain._replace(key=(flight, -1 - losses), cost=(losses, 0, 0, 0), lost=lost)
            before.append(place)

    def _packet(self, flight: int) -> tuple[int, Hashable]:
        found = self.handlers.flights[flight]
        return found.sender, self.handlers.packets[found.packet]

    def _candidate(self, flight: int, inbox: tuple[int, ...], vanishing: int) -> Candidate:
        found = self.handlers.flights[flight]
        value = self.handlers.packets[found.packet]
        return Candidate((flight,), found.sender, found.packet, value, inbox, vanishing)

    def _faulty(self, plain: Iterator[Candidate]) -> Iterator[Candidate]:
        """The packets as they are, and with them their copies and what they may become."""
        network = self.network
        if not self.faults or not isinstance(network, Reliable):
            yield from plain
            return
        for each in plain:
            yield each
            losses = each.cost[0]
            if network.duplicates and not losses:
                # Where an order is kept, the copy is the next of its channel.
                inbox = (each.key[0], *each.inbox)
                inbox = inbox if self.ordered else self.with_flight(each.inbox, each.key[0], each.vanishing)
                yield each._replace(key=(*each.key, -1), inbox=inbox, cost=(0, 1, 0, 0), copied=True)
            for other in self.handlers.protocol.corrupted(each.value) if network.corrupts else ():
                packet = self.handlers.packet(other)
                yield each._replace(
                    key=(*each.key, -2, packet),
                    packet=packet,
                    value=other,
                    cost=(losses, 0, 1, 0),
                    original=each.value,
                )
