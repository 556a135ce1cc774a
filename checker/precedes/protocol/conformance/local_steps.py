"""The steps of a model's entities in direct runs, by numbers: each is computed once, however many runs have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from precedes.core.execution import EventKind
from precedes.protocol.conformance.handlers import Done, Handlers
from precedes.protocol.model import Message, Protocol
from precedes.protocol.moves import Arrived, Move, Requested

SHIFT: Final = 32
"""What leads to a step is two numbers in one: that of an entity in a state, and that of a message or of a packet."""
_CAUSE: Final = (1 << SHIFT) - 1

Clock: TypeAlias = tuple[int, ...]
Logged: TypeAlias = tuple[bool, int, Clock | None]
"""Whether an event is a send, the number of its message, and its clock."""


class Taken(NamedTuple):
    """A step of an entity: what it is then, what it logs, the packets that it transmits, by their receivers, and which
    of the model's steps it is.
    """

    after: int
    logged: tuple[Logged, ...]
    packets: dict[int, int]
    choice: int


class LocalSteps:
    """What was computed for clusters of one size. An entity in a state is one number, a key."""

    def __init__(self, protocol: Protocol[Any], size: int, ignored: frozenset[str]) -> None:
        self.handlers = Handlers(protocol, size, remembers=False)
        self.entities = size
        self.logs_views = EventKind.VIEW.value not in ignored
        self.start = [self._key(self.handlers.start(entity, 0), entity) for entity in range(size)]
        self.messages: list[Message] = []
        self._numbers: dict[Message, int] = {}
        self._named: dict[tuple[int, ...], int] = {}
        self._sent: dict[int, tuple[Taken, ...]] = {}
        self._arrived: dict[int, tuple[Taken, ...]] = {}

    @property
    def size(self) -> int:
        """How much is remembered."""
        return len(self._sent) + len(self._arrived)

    def message(self, sender: int, number: int, to: Sequence[int]) -> int:
        """The number of a message."""
        name = (sender, number, *to)
        found = self._named.get(name)
        if found is None:
            found = self._named[name] = self._number(Message(sender, number, frozenset(to)))
        return found

    def sent(self, asked: int) -> tuple[Taken, ...]:
        """What comes of a request: `key << SHIFT | message`."""
        found = self._sent.get(asked)
        if found is None:
            found = self._sent[asked] = self._taken(asked, self._requested(asked))
        return found

    def arrived(self, asked: int) -> tuple[Taken, ...]:
        """What comes of a packet: `key << SHIFT | flight`."""
        found = self._arrived.get(asked)
        if found is None:
            found = self._arrived[asked] = self._taken(asked, self._came(asked))
        return found

    def request(self, asked: int, taken: Taken) -> Move:
        """A request in a run. The model is asked again: its steps are not kept."""
        entity, message = (asked >> SHIFT) % self.entities, self.messages[asked & _CAUSE]
        return Requested(entity, message, self._requested(asked)[taken.choice].step)

    def arrival(self, asked: int, taken: Taken) -> Move:
        """An arrival in a run."""
        entity, (sender, packet, _) = (asked >> SHIFT) % self.entities, self.handlers.flights[asked & _CAUSE]
        step = self._came(asked)[taken.choice].step
        return Arrived(entity, sender, self.handlers.packets[packet], step)

    def _requested(self, asked: int) -> tuple[Done, ...]:
        state, entity = divmod(asked >> SHIFT, self.entities)
        return self.handlers.requested(entity, 0, state, self.messages[asked & _CAUSE])

    def _came(self, asked: int) -> tuple[Done, ...]:
        state, entity = divmod(asked >> SHIFT, self.entities)
        sender, packet, _ = self.handlers.flights[asked & _CAUSE]
        return self.handlers.arrived(entity, 0, state, packet, sender)

    def _taken(self, asked: int, done: Sequence[Done]) -> tuple[Taken, ...]:
        """The steps that log sends and deliveries only, and transmit nothing twice to one entity."""
        found: list[Taken] = []
        entity = (asked >> SHIFT) % self.entities
        for choice, one in enumerate(done):
            logged, packets = self._logged(one), dict(one.emission)
            if logged is not None and len(packets) == len(one.emission):
                found.append(Taken(self._key(one.state, entity), logged, packets, choice))
        return tuple(found)

    def _logged(self, done: Done) -> tuple[Logged, ...] | None:
        """What of a step is recorded in an execution of sends and deliveries; None where it is something else, too."""
        found: list[Logged] = []
        for entry in done.entries:
            if entry.kind in (EventKind.SEND, EventKind.DELIVER) and entry.message is not None:
                is_send = entry.kind is EventKind.SEND
                found.append((is_send, self._number(entry.message), entry.clock))
            elif entry.kind is EventKind.VIEW and self.logs_views:
                return None
        return tuple(found)

    def _number(self, message: Message) -> int:
        number = self._numbers.setdefault(message, len(self.messages))
        if number == len(self.messages):
            self.messages.append(message)
        return number

    def _key(self, state: int, entity: int) -> int:
        return state * self.entities + entity
