"""What steps transmit, by numbers: packets, packets in flight, and what one step transmits to whom."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from precedes.protocol.exploration.interned_values import PLACE, PLACE_BITS, Cause, Interned, InternedPairs
from precedes.protocol.exploration.matrices import Matrices
from precedes.protocol.exploration.shared_parts import SharedParts
from precedes.protocol.model import Protocol, Step, Transmit
from precedes.protocol.network import Timed
from precedes.protocol.validation import errors, returned_values
from precedes.protocol.validation.equal_values import EqualValues

CAUSE_BITS: Final = PLACE_BITS
"""A flight is kept as one number: when it was sent, and in so many bits the packet and the sender."""


class Transmissions:
    """The packets of one exploration, their flights, and the emissions of its steps.

    A flight is a packet with its sender, and where the network has time, when it was sent. An emission is what one step
    transmits: flights by their receivers.
    """

    def __init__(
        self, protocol: Protocol[Any], entities: int, triggers: Interned, equal: EqualValues
    ) -> None:
        """What comes in with a flight is among the `triggers` of handlers."""
        self.protocol = protocol
        self.entities = entities
        self.packets = Interned()
        self.rename_flight: Callable[[int], None] | None = None
        """Told of every new flight, where entities can be exchanged."""
        self._timed = isinstance(protocol.network, Timed)
        self._triggers = triggers
        self._flights, self._emissions = InternedPairs(), InternedPairs()
        """Emissions of one flight to one receiver, as this one and the flight. Others have their numbers in between."""
        self._trigger_of = array("i")
        """What comes in with each flight."""
        self._emission_of: dict[tuple[int, ...], int] = {}
        """The numbers of the other emissions."""
        self._receivers: dict[frozenset[int] | None, tuple[int, ...]] = {}
        self._equal, self._shared = equal, SharedParts(equal)

    def begin(self, matrices: Matrices) -> None:
        """Write into these matrices. The first emission is that of nothing."""
        self._matrices = matrices
        self._flight_rows, self._emission_rows = matrices.fresh("flights"), matrices.fresh("emissions")
        self._emitted({})

    def packet(self, packet: Hashable) -> int:
        """The number of a packet."""
        new = len(self.packets)
        try:
            number = self.packets.number(packet)
        except TypeError as error:
            raise errors.unhashable(self.protocol, "a packet", packet, error) from None
        if number == new:
            self._shared.share(packet)
        else:
            self._equal.compare(self.packets.values[number], packet)
        return number

    def flight(self, sender: int, packet: int, sent: int) -> int:
        """The number of a flight."""
        cause = packet * self.entities + sender
        flights = self._flights
        new, earlier = len(flights), flights.last_at(cause)
        number = flights.number(sent << CAUSE_BITS | cause)
        if number == new:
            if earlier < 0:
                trigger = self._triggers.add(Cause(sender, self.packets.values[packet]))
            else:
                trigger = self._trigger_of[earlier]
            self._trigger_of.append(trigger)
            self._flight_rows += (sender, packet, sent, trigger, -1, -1)
            if self.rename_flight is not None:
                self.rename_flight(number)
        return number

    def flight_of(self, number: int) -> tuple[int, int, int]:
        """A flight: who transmitted it, the packet, and when."""
        key = self._flights.values[number]
        packet, sender = divmod(key & PLACE, self.entities)
        return sender, packet, key >> CAUSE_BITS

    def emission(self, entity: int, now: int, step: Step[Any]) -> int:
        """The number of what a step transmits."""
        flights: dict[int, list[int]] = {}
        for action in step.actions:
            if type(action) is Transmit:
                flight = self.flight(entity, self.packet(action.packet), now if self._timed else 0)
                receivers = self.receivers_of(action)
                if len(receivers) == 1 and len(step.actions) == 1:
                    return self._emitted_to_one(receivers[0], flight)
                for receiver in receivers:
                    if receiver in flights:
                        flights[receiver].append(flight)
                    else:
                        flights[receiver] = [flight]
        return self._emitted(flights) if flights else 0

    def receivers_of(self, action: Transmit) -> tuple[int, ...]:
        """Those to whom a packet is transmitted; the same sets come again and again."""
        to = action.to
        if type(to) is not frozenset:
            return returned_values.receivers(self.protocol, action, self.entities)
        found = self._receivers.get(to)
        if found is None:
            found = self._receivers[to] = returned_values.receivers(self.protocol, action, self.entities)
        return found

    def _emitted_to_one(self, receiver: int, flight: int) -> int:
        """The number of an emission of one flight."""
        new = len(self._emissions)
        number = self._emissions.number(receiver << PLACE_BITS | flight)
        if number == new:
            self._add_emission({receiver: [flight]})
        return number

    def _emitted(self, flights: dict[int, list[int]]) -> int:
        """The number of an emission: flights by their receivers."""
        if len(flights) == 1:
            ((receiver, sent),) = flights.items()
            if len(sent) == 1:
                return self._emitted_to_one(receiver, sent[0])
        key = tuple([number for receiver, sent in flights.items() for number in (-1 - receiver, *sent)])
        known = self._emission_of.get(key)
        if known is None:
            known = self._emission_of[key] = self._emissions.reserve(1)
            self._add_emission(flights)
        return known

    def _add_emission(self, flights: Mapping[int, Sequence[int]]) -> None:
        first, begin = self._matrices.count("groups"), self._matrices.count("sent")
        groups, sent_rows = self._matrices.fresh("groups"), self._matrices.fresh("sent")
        for receiver, sent in flights.items():
            sent_rows += sent
            groups += (receiver, begin, begin + len(sent))
            begin += len(sent)
        self._emission_rows += (first, first + len(flights))
