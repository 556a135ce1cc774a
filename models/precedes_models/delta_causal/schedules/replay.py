"""A schedule, and what the model does when it is carried out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from precedes.core.execution import Execution
from precedes.engines.solver.search import Mismatch
from precedes.protocol import Choose, Deliver, Discard, Here, Message, Outcome, Protocol, Step, Transmit
from precedes.protocol.exploration.histories import replayed
from precedes.protocol.moves import Arrived, Expired, Move, Requested, Ticked


@dataclass(frozen=True, slots=True)
class Flight:
    """When a message comes in to a destination and when it is delivered there, in ticks; None: it is discarded."""

    message: int
    to: int
    arrives: int
    delivered: int | None


@dataclass(frozen=True, slots=True)
class Schedule:
    """Who sends what and when, and how long it takes, in ticks of global time.

    `sends` has sender and time of each message, in the order in which they are sent; `tags` its CB, for each entity
    the marks (sender, time stamp), None where any will do; `ahead` how far each clock is ahead; `orders`, for each
    entity, its sends and deliveries in their order, as (message, whether it is the send).
    """

    delta: int
    epsilon: int
    ahead: tuple[int, ...]
    sends: tuple[tuple[int, int], ...]
    tags: tuple[tuple[frozenset[tuple[int, int]], ...], ...] | None
    flights: tuple[Flight, ...]
    orders: tuple[tuple[tuple[int, bool], ...], ...]


def carried_out(protocol: Protocol[Any], schedule: Schedule) -> Execution:
    """The execution that the protocol makes of the schedule. Mismatch where it tags a message otherwise, or delivers
    anything else, or at another time, than the schedule says: an error of this program.
    """
    run = _Run(protocol, schedule)
    run.go()
    return replayed(protocol, len(schedule.ahead), run.behavior, timed=True, name="schedule")


class _Run:
    def __init__(self, protocol: Protocol[Any], schedule: Schedule) -> None:
        self.protocol = protocol
        self.schedule = schedule
        entities = range(len(schedule.ahead))
        self.now = 0
        self.states: list[Any] = [protocol.start(self.here(entity)) for entity in entities]
        self.packets: dict[tuple[int, int], Any] = {}
        self.messages = tuple(self._messages())
        self.arrived: set[Flight] = set()
        self.behavior: list[Move] = []

    def _messages(self) -> Iterator[Message]:
        sent = [0] * len(self.schedule.ahead)
        for message, (sender, _) in enumerate(self.schedule.sends):
            sent[sender] += 1
            to = frozenset(flight.to for flight in self.schedule.flights if flight.message == message)
            yield Message(sender, sent[sender], to)

    def here(self, entity: int) -> Here:
        return Here(entity, len(self.schedule.ahead), self.now + self.schedule.ahead[entity])

    def go(self) -> None:
        """Tick by tick: what happens then, in the order of each entity, and last what only comes in."""
        flights = {(flight.message, flight.to): flight for flight in self.schedule.flights}
        left = [list(order) for order in self.schedule.orders]
        ticks = {time for _, time in self.schedule.sends} | {flight.arrives for flight in flights.values()}
        ticks |= {flight.delivered for flight in flights.values() if flight.delivered is not None}
        for tick in sorted(ticks):
            self.now = tick
            self.behavior.append(Ticked(tick))
            while True:
                ready = [
                    entity
                    for entity, events in enumerate(left)
                    if events and self._happens_now(events[0], flights.get((events[0][0], entity)))
                ]
                if not ready:
                    break
                for entity in ready:
                    message, is_send = left[entity].pop(0)
                    if is_send:
                        self._send(message)
                    else:
                        self._deliver(flights[message, entity])
            for flight in self.schedule.flights:
                if flight.arrives == tick and flight not in self.arrived:
                    self._arrive(flight, expected=None)
        if any(left):
            raise Mismatch(f"a schedule that cannot run in its order: {self.schedule!r}")

    def _happens_now(self, event: tuple[int, bool], flight: Flight | None) -> bool:
        message, is_send = event
        if is_send:
            return self.schedule.sends[message][1] == self.now
        # What takes no time comes in when it has been sent.
        return flight is not None and flight.delivered == self.now and (message, flight.to) in self.packets

    def _send(self, number: int) -> None:
        message = self.messages[number]
        outcome: Outcome[Any] | None = self.protocol.send(
            self.here(message.sender), self.states[message.sender], message
        )
        if outcome is None:
            raise self._differs(f"it does not accept {message.name} at {self.now}")
        tags = self.schedule.tags
        for step in _options(outcome):
            sent = [action for action in step.actions if isinstance(action, Transmit)]
            if tags is None or all(getattr(action.packet, "cb", None) == tags[number] for action in sent):
                break
        else:
            raise self._differs(f"it tags {message.name} otherwise")
        self.behavior.append(Requested(message.sender, message, step))
        self.states[message.sender] = step.state
        for action in sent:
            for to in message.destinations if action.to is None else action.to:
                self.packets[number, to] = action.packet

    def _arrive(self, flight: Flight, expected: Message | None) -> None:
        self.arrived.add(flight)
        entity, packet = flight.to, self.packets[flight.message, flight.to]
        sender = self.schedule.sends[flight.message][0]
        outcome: Outcome[Any] | None = self.protocol.arrive(
            self.here(entity), self.states[entity], packet, sender
        )
        if outcome is None:
            raise self._differs(f"it refuses {self.messages[flight.message].name} at {self.now}")
        step = self._chosen(outcome, expected)
        self.behavior.append(Arrived(entity, sender, packet, step))
        self.states[entity] = step.state
        discards = any(isinstance(action, Discard) for action in step.actions)
        if discards is not (flight.delivered is None):
            name = self.messages[flight.message].name
            raise self._differs(f"{name} is {'discarded' if discards else 'not discarded'} at {self.now}")

    def _deliver(self, flight: Flight) -> None:
        entity, message = flight.to, self.messages[flight.message]
        if flight not in self.arrived:
            self._arrive(flight, expected=message)
            return
        for timer in self.protocol.timers(self.here(entity), self.states[entity]):
            if timer.due is not None and timer.due <= self.here(entity).now:
                step = self._chosen(
                    self.protocol.expire(self.here(entity), self.states[entity], timer), message
                )
                self.behavior.append(Expired(entity, timer, step))
                self.states[entity] = step.state
                return
        raise self._differs(f"{message.name} is not delivered at {self.now}")

    def _chosen(self, outcome: Outcome[Any], expected: Message | None) -> Step[Any]:
        """The step that delivers what is expected, and nothing where nothing is."""
        for step in _options(outcome):
            delivered = [action.message for action in step.actions if isinstance(action, Deliver)]
            if delivered == ([] if expected is None else [expected]):
                return step
        name = "nothing" if expected is None else expected.name
        raise self._differs(f"{name} was to be delivered at {self.now}")

    def _differs(self, how: str) -> Mismatch:
        return Mismatch(f"the model differs from the schedule, {how}: {self.schedule!r}")


def _options(outcome: Outcome[Any]) -> tuple[Step[Any], ...]:
    return tuple(step for _, step in outcome.options) if isinstance(outcome, Choose) else (outcome,)
