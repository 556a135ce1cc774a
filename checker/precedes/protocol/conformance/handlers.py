"""What the handlers of a model do, each called once for the same arguments, however many executions ask.

States, packets and what is in flight have numbers, so that a state of the search is made of numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from precedes.core.execution import EventKind
from precedes.protocol.conformance.state_values import Shown, shown
from precedes.protocol.exploration.histories import EVERYTHING, Entry, entries
from precedes.protocol.model import Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.network import Timed
from precedes.protocol.validation import declarations, errors, returned_values
from precedes.protocol.validation.equal_values import EqualValues
from precedes.protocol.validation.handler_calls import called


class Flight(NamedTuple):
    """A packet in flight: from whom, its number, and when it was transmitted, in a network with time."""

    sender: int
    packet: int
    sent: int


class Done(NamedTuple):
    """What a handler did: the number of the state after it, what it logged, what it transmitted as pairs of a receiver
    and the number of a flight, and the step.

    `rearranged`: messages stand in another order than before in what the entity received.
    """

    state: int
    entries: tuple[Entry, ...]
    emission: tuple[tuple[int, int], ...]
    step: Step[Any]
    rearranged: bool = False


class Handlers:
    """The handlers of one model in a cluster of some size. `remembers`: what a handler did is kept here; else whoever
    asks keeps it.
    """

    def __init__(self, protocol: Protocol[Any], entities: int, *, remembers: bool = True) -> None:
        self.protocol = protocol
        self.entities = entities
        self.remembers = remembers
        self.timed = isinstance(protocol.network, Timed)
        self.has_timers = type(protocol).timers is not Protocol.timers
        self.rearranges = type(protocol).receipt_log is not Protocol.receipt_log
        self._equal = EqualValues(protocol)
        self.states: list[Any] = []
        self.packets: list[Hashable] = []
        self.flights: list[Flight] = []
        self.logged: set[EventKind] = set()
        """The kinds of events that anything has logged so far, where what handlers did is kept."""
        self._state_numbers: dict[Any, int] = {}
        self._packet_numbers: dict[Hashable, int] = {}
        self._flight_numbers: dict[Flight, int] = {}
        self._places = tuple(Here(entity, entities) for entity in range(entities))
        self._done: dict[tuple[Any, ...], tuple[Done, ...]] = {}
        self._timers: dict[tuple[int, int, int], tuple[Timer, ...]] = {}
        self._crashed: dict[tuple[int, int, int], int | None] = {}
        self._shown: dict[tuple[int, str], Shown | None] = {}

    @property
    def size(self) -> int:
        """How much is remembered."""
        return len(self._done)

    def state(self, value: Any) -> int:
        """The number of a protocol's state."""
        return self._number("a state", self._state_numbers, self.states, value)

    def packet(self, value: Hashable) -> int:
        """The number of a packet."""
        return self._number("a packet", self._packet_numbers, self.packets, value)

    def flight(self, flight: Flight) -> int:
        """The number of what is in flight."""
        return self._number("a flight", self._flight_numbers, self.flights, flight)

    def here(self, entity: int, clock: int) -> Here:
        """Where a handler runs."""
        return Here(entity, self.entities, clock) if self.timed else self._places[entity]

    def start(self, entity: int, clock: int) -> int:
        """The state of an entity in the beginning."""
        return self.state(called(self.protocol, "start", self.here(entity, clock)))

    def requested(self, entity: int, clock: int, state: int, message: Message) -> tuple[Done, ...]:
        """What comes of a request; nothing where it is refused."""
        return self._outcome("send", entity, clock, state, message, message)

    def arrived(self, entity: int, clock: int, state: int, packet: int, sender: int) -> tuple[Done, ...]:
        """What comes of a packet; nothing where it is refused."""
        return self._outcome("arrive", entity, clock, state, (packet, sender), self.packets[packet], sender)

    def expired(self, entity: int, clock: int, state: int, timer: Timer) -> tuple[Done, ...]:
        """What comes of a timer that expires."""
        return self._outcome("expire", entity, clock, state, timer, timer)

    def recovered(self, entity: int, clock: int, state: int) -> tuple[Done, ...]:
        """What comes of a recovery."""
        return self._outcome("recover", entity, clock, state, None)

    def timers(self, entity: int, clock: int, state: int) -> tuple[Timer, ...]:
        """The timers that run, those of the least patience first."""
        if not self.has_timers:
            return ()
        key = (entity, clock, state)
        if key not in self._timers:
            found = called(self.protocol, "timers", self.here(entity, clock), self.states[state])
            for timer in found:
                if timer.due is not None and not self.timed:
                    raise errors.due_without_time(self.protocol, timer.name)
            self._timers[key] = tuple(sorted(found, key=lambda timer: timer.patience))
        return self._timers[key]

    def crashed(self, entity: int, clock: int, state: int) -> int | None:
        """The number of what an entity that stops has left, or None."""
        key = (entity, clock, state)
        if key not in self._crashed:
            left = called(self.protocol, "crash", self.here(entity, clock), self.states[state])
            self._crashed[key] = None if left is None else self.state(left)
        return self._crashed[key]

    def shown(self, state: int, field: str) -> Shown | None:
        """The value of a field of a state, None where it has no such field."""
        key = (state, field)
        if key not in self._shown:
            compared = self.protocol.compared(self.states[state], self.entities)
            self._shown[key] = shown(compared, field)
        return self._shown[key]

    def _outcome(
        self, handler: str, entity: int, clock: int, state: int, cause: Hashable, *arguments: Any
    ) -> tuple[Done, ...]:
        if not self.remembers:
            return self._asked(handler, entity, clock, state, arguments)
        key = (handler, entity, clock, state, cause)
        found = self._done.get(key)
        if found is None:
            found = self._done[key] = self._asked(handler, entity, clock, state, arguments)
        return found

    def _asked(
        self, handler: str, entity: int, clock: int, state: int, arguments: tuple[Any, ...]
    ) -> tuple[Done, ...]:
        """What the handler itself says."""
        at, before = self.here(entity, clock), self.states[state]
        outcome = called(self.protocol, handler, at, before, *arguments)
        steps = () if outcome is None else returned_values.steps(self.protocol, outcome)
        return tuple([self._did(handler, at, before, step, arguments) for step in steps])

    def _did(self, handler: str, at: Here, before: Any, step: Step[Any], arguments: tuple[Any, ...]) -> Done:
        request = arguments[0] if handler == "send" else None
        logged = entries(step, request, EVERYTHING, None, rearranges=self.rearranges)
        rearranged = False
        if self.rearranges:
            known = () if handler == "recover" else self.protocol.receipt_log(before) or ()
            now = self.protocol.receipt_log(step.state) or ()
            rearranged = now[: len(known)] != known
            logged += tuple(Entry(EventKind.DELIVER, message) for message in now[len(known) :])
        if self.remembers:
            self.logged.update(entry.kind for entry in logged)
        emission: list[tuple[int, int]] = []
        for action in step.actions:
            if isinstance(action, Transmit):
                sent = at.now if self.timed else 0
                flight = self.flight(Flight(at.entity, self.packet(action.packet), sent))
                to = returned_values.receivers(self.protocol, action, self.entities)
                if to and handler != "send" and not self.protocol.answers:
                    given = (before, *arguments)
                    raise declarations.answered(self.protocol, handler, at, given, action.packet, to[0])
                emission += ((receiver, flight) for receiver in to)
        return Done(self.state(step.state), logged, tuple(emission), step, rearranged)

    def _number(self, what: str, numbers: dict[Any, int], values: list[Any], value: Any) -> int:
        """The number of a value among those of its kind. PrecedesError M007 where it cannot be hashed, M020 where it
        equals one of another class.
        """
        try:
            number = numbers.setdefault(value, len(values))
        except TypeError as error:
            raise errors.unhashable(self.protocol, what, value, error) from None
        if number == len(values):
            values.append(value)
        else:
            self._equal.compare(values[number], value)
        return number
