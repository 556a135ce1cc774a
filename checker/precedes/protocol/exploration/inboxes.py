"""The packets on their way to one entity, in the order that its network keeps, if any.

An inbox is a tuple of flights: (sender, number of the packet) and, in a network with time, the tick at which
the packet was transmitted. Two inboxes are equal if no handler can ever see a difference.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from precedes.protocol.network import Network, Reliable, SingleChannel, Timed

Flight: TypeAlias = tuple[int, ...]
Inbox: TypeAlias = tuple[Flight, ...]


def put(network: Network, inbox: Inbox, flights: tuple[Flight, ...]) -> Inbox:
    """The inbox when more has been transmitted."""
    match network:
        case Reliable(fifo=True):
            return tuple(sorted(inbox + flights, key=_sender))
        case SingleChannel():
            return inbox + flights
        case Reliable() | Timed():
            return tuple(sorted(inbox + flights))
        case _:
            assert_never(network)


def _sender(flight: Flight) -> int:
    return flight[0]


def next_to_arrive(network: Network, inbox: Inbox, now: int) -> tuple[int, ...]:
    """The places of the flights of which each could be the next to come in; of equal ones, one."""
    match network:
        case SingleChannel():
            return (0,) if inbox else ()
        case Reliable(fifo=True):
            return tuple(k for k, flight in enumerate(inbox) if k == 0 or inbox[k - 1][0] != flight[0])
        case Reliable():
            return tuple(k for k, flight in enumerate(inbox) if k == 0 or inbox[k - 1] != flight)
        case Timed(shortest=shortest):
            return tuple(
                k
                for k, flight in enumerate(inbox)
                if (k == 0 or inbox[k - 1] != flight) and flight[2] + shortest <= now
            )
        case _:
            assert_never(network)


def without(inbox: Inbox, place: int) -> Inbox:
    """The inbox without one flight."""
    return inbox[:place] + inbox[place + 1 :]
