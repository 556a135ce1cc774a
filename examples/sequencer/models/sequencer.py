"""A fixed sequencer: entity 0 numbers what anybody wants to send, and all deliver in the order of the numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from precedes.protocol import Deliver, Here, Message, Network, Protocol, Reliable, Step, Transmit

SEQUENCER = 0


@dataclass(frozen=True, slots=True)
class Numbered:
    """A message with its place in the one order."""

    number: int
    message: Message


@dataclass(frozen=True, slots=True)
class State:
    """What an entity knows: which number the sequencer gives next, which it delivers next, and what came early."""

    given: int = 0
    due: int = 0
    early: frozenset[Numbered] = frozenset()


@dataclass(frozen=True)
class Sequencer(Protocol[State]):
    """Asks the sequencer, which numbers and sends to everybody."""

    name = "sequencer"
    claims = ("information_preserving", "order_equivalent")

    @property
    def network(self) -> Network:
        """Reliable; what was sent later may arrive earlier."""
        return Reliable()

    def start(self, here: Here) -> State:
        """Nothing given, nothing delivered."""
        return State()

    def send(self, here: Here, state: State, message: Message) -> Step[State]:
        """Ask for a number."""
        return Step(state, (Transmit(message, frozenset({SEQUENCER})),))

    def arrive(self, here: Here, state: State, packet: Hashable, sender: int) -> Step[State]:
        """Give a number, or deliver what is due."""
        match packet:
            case Message() as message:
                numbered = Numbered(state.given, message)
                return Step(replace(state, given=state.given + 1), (Transmit(numbered),))
            case Numbered() as numbered:
                return self.deliver(replace(state, early=state.early | {numbered}))
        raise TypeError(f"an unknown packet: {packet!r}")

    def deliver(self, state: State) -> Step[State]:
        """Everything that is due, in the order of the numbers."""
        delivered = []
        while ready := [one for one in state.early if one.number == state.due]:
            (one,) = ready
            delivered.append(Deliver(one.message))
            state = replace(state, due=state.due + 1, early=state.early - {one})
        return Step(state, tuple(delivered))
