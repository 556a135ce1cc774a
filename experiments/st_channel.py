"""ST on a channel that is driven by hand: who reads when, and what is lost, is said from outside."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable

from precedes.protocol import Here, Message, Step, Transmit
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.state import State

Loses = Callable[[int, Hashable], bool]
"""Whether a receiver misses a packet; asked once for each."""


def nothing(_receiver: int, _packet: Hashable) -> bool:
    """No loss."""
    return False


class Channel:
    """Entities from 0 on one channel, which hands everything to everybody in one order."""

    def __init__(self, protocol: SelectiveTotalOrder, entities: int) -> None:
        self.protocol = protocol
        self.here = [Here(entity, entities) for entity in range(entities)]
        self.states: list[State] = [protocol.start(here) for here in self.here]
        self.inboxes: list[deque[tuple[int, Hashable]]] = [deque() for _ in range(entities)]
        self.requests = [0] * entities
        self.transmitted: list[tuple[int, Hashable]] = []

    def send(self, entity: int, *destinations: int) -> Message | None:
        """A request; None where it is refused."""
        message = Message(entity, self.requests[entity] + 1, frozenset(destinations))
        step = self.protocol.send(self.here[entity], self.states[entity], message)
        if step is None:
            return None
        self.requests[entity] += 1
        self._taken(entity, step)
        return message

    def read(self, entity: int, *, lost: bool = False) -> Hashable:
        """The next packet comes in to an entity, or is lost on its way to it."""
        sender, packet = self.inboxes[entity].popleft()
        if not lost:
            self._taken(entity, self.protocol.arrive(self.here[entity], self.states[entity], packet, sender))
        return packet

    def read_all(self, *entities: int, loses: Loses = nothing) -> None:
        """Some entities, or all, take turns until nothing is under way to them."""
        chosen = entities or range(len(self.here))
        while any(self.inboxes[entity] for entity in chosen):
            for entity in chosen:
                if self.inboxes[entity]:
                    self.read(entity, lost=loses(entity, self.inboxes[entity][0][1]))

    def expire(self) -> bool:
        """The time-out of the least patience expires; False where none runs."""
        running = [
            (timer.patience, entity, timer)
            for entity, here in enumerate(self.here)
            for timer in self.protocol.timers(here, self.states[entity])
        ]
        if not running:
            return False
        _, entity, timer = min(running)
        self._taken(entity, self.protocol.expire(self.here[entity], self.states[entity], timer))
        return True

    def settle(self, loses: Loses = nothing) -> None:
        """Until nothing can happen any more."""
        self.read_all(loses=loses)
        while self.expire():
            self.read_all(loses=loses)

    def log(self, entity: int) -> list[str]:
        """RL by the names of the messages."""
        return [message.name for message in self.protocol.receipt_log(self.states[entity])]

    def _taken(self, entity: int, step: Step[State]) -> None:
        self.states[entity] = step.state
        for action in step.actions:
            if isinstance(action, Transmit):
                self.transmitted.append((entity, action.packet))
                for inbox in self.inboxes:
                    inbox.append((entity, action.packet))
