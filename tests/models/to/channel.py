"""One behavior of a protocol on a single channel, chosen step by step: what an exploration would take too many states
to come to."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from precedes.protocol import Deliver, Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.moves import Arrived, Expired, Lost, Move, Requested
from precedes_models.total_order.protocol import TotalOrder


@dataclass
class Channel:
    """The entities and, for each, what of the channel has not come in yet, with its sender."""

    protocol: Protocol[Any]
    entities: int
    states: list[Any] = field(init=False)
    under_way: list[list[tuple[Hashable, int]]] = field(init=False)
    transmitted: list[str] = field(default_factory=list)
    """The messages in the PDUs with data, in the order of the channel."""
    behavior: list[Move] = field(default_factory=list)
    _delivered: list[list[str]] = field(init=False)
    _sent: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [self.protocol.start(self._here(k)) for k in range(self.entities)]
        self.under_way = [[] for _ in range(self.entities)]
        self._delivered = [[] for _ in range(self.entities)]
        self._sent = [0] * self.entities

    @property
    def delivered(self) -> list[list[str]]:
        """RL of each entity, as far as it has been handed to a user."""
        logs = [self.protocol.receipt_log(state) for state in self.states]
        return [
            handed if log is None else [message.name for message in log]
            for handed, log in zip(self._delivered, logs, strict=True)
        ]

    def send(self, entity: int) -> None:
        """An entity sends its next message, to all."""
        self._sent[entity] += 1
        message = Message(entity, self._sent[entity], frozenset(range(self.entities)))
        step = self.protocol.send(self._here(entity), self.states[entity], message)
        assert isinstance(step, Step)
        self._did(Requested(entity, message, step))

    def arrive(self, *entities: int) -> None:
        """The next PDU comes in to each of these entities."""
        for entity in entities:
            packet, sender = self.under_way[entity].pop(0)
            step = self.protocol.arrive(self._here(entity), self.states[entity], packet, sender)
            assert isinstance(step, Step)
            self._did(Arrived(entity, sender, packet, step))

    def lose(self, entity: int) -> None:
        """An entity misses the next PDU."""
        packet, sender = self.under_way[entity].pop(0)
        self.behavior.append(Lost(entity, sender, packet))

    def expire(self, entity: int) -> None:
        """The time-out of an entity that would expire first."""
        timer = min(self._timers(entity), key=_first)
        step = self.protocol.expire(self._here(entity), self.states[entity], timer)
        assert isinstance(step, Step)
        self._did(Expired(entity, timer, step))

    def rest(self, most: int = 1_000) -> bool:
        """Nothing is lost any more, and time-outs expire in their order, until nothing is left to happen. Whether that
        comes about within so many moves."""
        for _ in range(most):
            coming = [k for k in range(self.entities) if self.under_way[k]]
            if coming:
                self.arrive(coming[0])
                continue
            running = [(_first(timer), k) for k in range(self.entities) for timer in self._timers(k)]
            if not running:
                return True
            self.expire(min(running)[1])
        return False

    def _here(self, entity: int) -> Here:
        return Here(entity, self.entities)

    def _timers(self, entity: int) -> tuple[Timer, ...]:
        return self.protocol.timers(self._here(entity), self.states[entity])

    def _did(self, move: Requested | Arrived | Expired) -> None:
        entity, step = move.entity, move.step
        self.behavior.append(move)
        self.states[entity] = step.state
        for action in step.actions:
            match action:
                case Transmit(packet):
                    for inbox in self.under_way:
                        inbox.append((packet, entity))
                    message = getattr(packet, "message", None)
                    if message is not None:
                        self.transmitted.append(message.name)
                case Deliver(message):
                    self._delivered[entity].append(message.name)
                case _:
                    pass


def _first(timer: Timer) -> tuple[int, int]:
    return timer.patience, timer.after


def two_resets(protocol: TotalOrder, last: str) -> Channel:
    """E1 loses a1 and an RST_ACK of the reset that comes of it; E2 and E3 go on, E2 loses a PDU of its own, and that
    begins another reset, which E1 joins with the first not ended."""
    channel = Channel(protocol, 3)
    for entity in range(3):
        channel.send(entity)
    channel.lose(0)
    channel.arrive(1, 2)
    for _ in ("b1", "c1"):
        channel.arrive(0, 1, 2)
    if last == "c2":
        channel.send(2)
    else:
        channel.expire(0)
    for _ in ("shows the loss", "RST", *["RST_PAK"] * 3, *["RST_ACK"] * 2):
        channel.arrive(0, 1, 2)
    channel.lose(0)
    channel.arrive(2, 1)
    while channel.under_way[0]:
        channel.arrive(0, 1, 2)
    channel.expire(1)
    channel.lose(1)
    channel.arrive(0, 2)
    channel.expire(2)
    channel.arrive(0, 1, 2)
    return channel
