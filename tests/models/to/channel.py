"""One behaviour of TO, chosen step by step: what an exploration would take too many states to come to."""

from __future__ import annotations

from dataclasses import dataclass, field

from precedes.protocol import Deliver, Here, Message, Step, Transmit
from precedes_models.total_order import TotalOrder
from precedes_models.total_order_transfer import Transfer


@dataclass
class Channel:
    """The entities and, for each, what of the channel has not come in yet."""

    protocol: TotalOrder
    entities: int
    states: list[Transfer] = field(init=False)
    under_way: list[list[object]] = field(init=False)
    delivered: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [self.protocol.start(self._here(k)) for k in range(self.entities)]
        self.under_way = [[] for _ in range(self.entities)]
        self.delivered = [[] for _ in range(self.entities)]

    def send(self, entity: int) -> None:
        """An entity sends a message, its first."""
        message = Message(entity, 1, frozenset(range(self.entities)))
        step = self.protocol.send(self._here(entity), self.states[entity], message)
        assert step is not None
        self._did(entity, step)

    def arrive(self, *entities: int) -> None:
        """The next PDU comes in to each of these entities."""
        for entity in entities:
            packet = self.under_way[entity].pop(0)
            self._did(entity, self.protocol.arrive(self._here(entity), self.states[entity], packet, 0))

    def lose(self, entity: int) -> None:
        """An entity misses the next PDU."""
        self.under_way[entity].pop(0)

    def expire(self, entity: int) -> None:
        """The time-out of an entity that would expire first."""
        timer = min(
            self.protocol.timers(self._here(entity), self.states[entity]), key=lambda timer: timer.patience
        )
        self._did(entity, self.protocol.expire(self._here(entity), self.states[entity], timer))

    def rest(self) -> None:
        """Nothing is lost any more, and time-outs expire in their order, until nothing is left to happen."""
        while True:
            coming = [k for k in range(self.entities) if self.under_way[k]]
            if coming:
                self.arrive(coming[0])
                continue
            running = [
                (timer.patience, k)
                for k in range(self.entities)
                for timer in self.protocol.timers(self._here(k), self.states[k])
            ]
            if not running:
                return
            self.expire(min(running)[1])

    def _here(self, entity: int) -> Here:
        return Here(entity, self.entities)

    def _did(self, entity: int, step: Step[Transfer]) -> None:
        self.states[entity] = step.state
        for action in step.actions:
            match action:
                case Transmit(packet):
                    for inbox in self.under_way:
                        inbox.append(packet)
                case Deliver(message):
                    self.delivered[entity].append(message.name)
                case _:
                    pass
