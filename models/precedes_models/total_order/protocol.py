"""TO: totally ordering broadcast over a single channel. M. Takizawa: Cluster Control Protocol for Highly Reliable
Broadcast Communication, 1987, as far as the dynamic cluster paper ([1] there) and the ST paper of 1994 tell it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import (
    Here,
    Invariant,
    Message,
    Protocol,
    SingleChannel,
    Step,
    Timer,
    Transmit,
    replace,
)
from precedes_models.total_order import reset as recovery
from precedes_models.total_order import transfer
from precedes_models.total_order.invariants import INVARIANTS
from precedes_models.total_order.reset import Rst, RstAck, RstPak
from precedes_models.total_order.transfer import Data, Letter, Transfer

CONFIRM, AGAIN, ASK = 1, 2, 3
"""Kinds of time-outs; each outlasts the one before."""


@dataclass(frozen=True)
class TotalOrder(Protocol[Transfer]):
    """Every entity is a destination of every PDU; lost PDUs are recovered by go-back.

    As written and repaired differ in two steps, each of which `letter` takes as written by itself (scenarios one_cut
    and forgets in specs/papers/dynamic-cluster-as-written.prec). ONE_CUT (1994, section 4.2, step 3): each entity cuts
    its log once, by the minima of REQ, and one that has lost the first PDU of all keeps what it received after it;
    repaired, it cuts again by what the others tell after their cut, see `reset`. FORGETS (section 3.3):
    see `transfer.confirmed`.

    `window`: W of the flow condition. `attempts`: how often an entity asks in vain, for a confirmation or in a reset,
    before it gives up; it has to be more than what can be lost of that. Where only so many are lost, more of it does
    not lead to more states.
    """

    window: int = 4
    attempts: int = 12
    letter: frozenset[Letter] = frozenset()
    """The steps that are taken as written although the rest is repaired."""

    name: ClassVar[str] = "to"
    repaired: ClassVar[bool] = True
    source: ClassVar[str] = "dynamic cluster paper, reference [1]; 1994, sections 3 and 4 with d = n"
    destinations: ClassVar[str] = "broadcast"
    claims: ClassVar[tuple[str, ...]] = ("TO",)
    invariants: ClassVar[tuple[Invariant, ...]] = INVARIANTS
    fair: ClassVar[Mapping[str, str]] = {
        "arrivals": "one channel; what an entity does not miss, it receives (1994, section 2.1)",
        "time-outs": "who does not receive all that it lost within a certain time asks again (1994, section 4.3)",
    }

    @property
    def network(self) -> SingleChannel:
        return SingleChannel()

    def literal(self, step: Letter) -> bool:
        """Whether a step is taken as written."""
        return self.as_written or step in self.letter

    def start(self, here: Here) -> Transfer:
        return transfer.established(here.entities)

    def send(self, here: Here, state: Transfer, message: Message) -> Step[Transfer] | None:
        """Data transfer stops while a reset is under way; the flow condition."""
        if state.round is not None or not transfer.within_window(here, state, everybody(here), self.window):
            return None
        return transfer.emitted(here, state, message)

    def arrive(self, here: Here, state: Transfer, packet: Hashable, sender: int) -> Step[Transfer]:
        match packet:
            case Data():
                return self.data(here, state, packet)
            case Rst() | RstPak() | RstAck():
                return recovery.joined(
                    here, state, packet, everybody(here), once=self.literal(Letter.ONE_CUT)
                )
            case _:
                raise TypeError(f"not a packet of this protocol: {packet!r}")

    def data(self, here: Here, state: Transfer, pdu: Data) -> Step[Transfer]:
        """Acceptance, or the detection of a loss."""
        if recovery.stale(state, pdu) or pdu.seq < state.req[pdu.source]:
            return Step(state)
        if transfer.lost(state, pdu, everybody(here)):
            return recovery.reset(here, state)
        forgets = self.literal(Letter.FORGETS)
        return answered(here, transfer.accepted(here, state, pdu, everybody(here), forgets=forgets), pdu)

    def timers(self, here: Here, state: Transfer) -> tuple[Timer, ...]:
        return timers(here, state, everybody(here), self.attempts)

    def expire(self, here: Here, state: Transfer, timer: Timer) -> Step[Transfer]:
        return expired(here, state, timer)

    def waiting(self, state: Transfer) -> frozenset[Message]:
        return frozenset(pdu.message for pdu in (*state.prl, *state.rrl) if pdu.message is not None)


def everybody(here: Here) -> frozenset[int]:
    """All entities of the cluster."""
    return frozenset(range(here.entities))


def answered(here: Here, step: Step[Transfer], pdu: Data) -> Step[Transfer]:
    """After a PDU was accepted: whoever it asks sends its confirmations at once."""
    if not pdu.asks or pdu.source == here.entity:
        return step
    answer = transfer.emitted(here, step.state, None)
    return Step(answer.state, step.actions + answer.actions)


def timers(here: Here, state: Transfer, group: frozenset[int], attempts: int) -> tuple[Timer, ...]:
    """Time-outs: to confirm, to repeat in a reset what was sent last, to ask for a confirmation that is missing."""
    if state.round is not None:
        return (staggered(here, "again", AGAIN),) if state.asked < attempts else ()
    if transfer.owes(here, state, group):
        return (staggered(here, "confirm", CONFIRM),)
    if state.asked < attempts and transfer.awaited(here, state, group):
        return (staggered(here, "ask", ASK),)
    return ()


def staggered(here: Here, name: str, kind: int, about: int | None = None, times: int = 1) -> Timer:
    """A time-out of a kind. Those of one kind are the longer the higher the number of the entity, so that not all send
    at once; so an exploration need not look at every order of time-outs that expire while nothing is under way.
    `times`: how many of those before it, one after the other, it outlasts."""
    after = 5_000 * 4**kind * times + 2_000 * here.entity
    return Timer(name, after=after, about=about, patience=kind * 100 + here.entity)


def expired(here: Here, state: Transfer, timer: Timer) -> Step[Transfer]:
    """What those time-outs do."""
    match timer.name:
        case "again":
            repeated = recovery.last_told(here, state)
            return Step(replace(state, asked=state.asked + 1), (Transmit(repeated),))
        case "confirm":
            return transfer.emitted(here, state, None)
        case "ask":
            return transfer.emitted(here, replace(state, asked=state.asked + 1), None, asks=True)
        case _:
            raise ValueError(f"not a timer of this protocol: {timer.name}")
