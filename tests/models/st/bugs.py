"""ST with one step broken on purpose: exploring has to find every one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from precedes.protocol import Here, Step, Timer
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.state import Matrix, Pdu, Poll, Recovering, State, Vector, raised, with_place


@dataclass(frozen=True)
class AcknowledgesEarly(SelectiveTotalOrder):
    """One level too early: what is pre-acknowledged is taken to be acknowledged."""

    def acknowledged(self, pal: Matrix, pdu: Pdu) -> bool:
        return True


@dataclass(frozen=True)
class PreAcknowledgesEarly(SelectiveTotalOrder):
    """What one destination has accepted is taken to be pre-acknowledged."""

    def pre_acknowledged(self, state: State, source: int, tseq: int, destinations: frozenset[int]) -> bool:
        return tseq < max(state.al[source])


@dataclass(frozen=True)
class ForgetsAnIncrement(SelectiveTotalOrder):
    """Increments PSEQ_j for the first destination only."""

    def counted(self, state: State, pdu: Pdu) -> State:
        after = super().counted(state, pdu)
        if not pdu.destinations:
            return after
        first = min(pdu.destinations)
        return replace(after, pseq=with_place(state.pseq, first, state.pseq[first] + 1))


@dataclass(frozen=True)
class IgnoresOrdr(SelectiveTotalOrder):
    """Sorts by the order in which sources came in, not by that of the RST_PAK."""

    def sorted(self, here: Here, run: list[Pdu], rank: Vector) -> tuple[Pdu, ...]:
        met = tuple(dict.fromkeys(pdu.source for pdu in run))
        return super().sorted(here, run, met)


@dataclass(frozen=True)
class MixesUpTheAcks(SelectiveTotalOrder):
    """Takes the ACK of E_j for its own."""

    def informed(self, state: State, pdu: Pdu | Poll) -> State:
        return replace(state, al=raised(state.al, (pdu.source + 1) % len(state.al), pdu.ack))


@dataclass(frozen=True)
class ForgetsWhatItSent(SelectiveTotalOrder):
    """Removes a PDU from SL when one other entity has accepted it."""

    def promoted(self, here: Here, state: State) -> State:
        after = super().promoted(here, state)
        furthest = max(after.al[here.entity])
        return replace(after, sl=tuple(pdu for pdu in after.sl if pdu.tseq >= furthest))


@dataclass(frozen=True)
class GoesOnTooSoon(SelectiveTotalOrder):
    """Does not wait for what it lacks."""

    def complete(self, here: Here, state: State, recovering: Recovering) -> bool:
        return True


@dataclass(frozen=True)
class StaysStopped(SelectiveTotalOrder):
    """Does not go on where it had nothing to sort. Nothing is lost by it, and who has nothing to send sees nothing."""

    def resumed(self, here: Here, state: State) -> Step[State]:
        return super().resumed(here, state) if state.rrl else Step(state)


@dataclass(frozen=True)
class NeverAsks(SelectiveTotalOrder):
    """Without the time-out of section 4.3: what is sent again and lost again is not asked for."""

    def recovery_timers(self, here: Here, state: State) -> tuple[Timer, ...]:
        return () if isinstance(state.recovery, Recovering) else super().recovery_timers(here, state)


# Each with the form of the protocol, entities, requests and losses, and what it breaks.
BUGS: tuple[tuple[SelectiveTotalOrder, int, str, int, str], ...] = (
    (AcknowledgesEarly(), 3, "a{2,3}", 0, "acknowledged"),
    (PreAcknowledgesEarly(confirms=False, repeats=1), 3, "a{1,3} b{1,3}", 0, "pre-acknowledged"),
    (ForgetsAnIncrement(confirms=False, repeats=1), 2, "a{1,2} a{1,2}", 0, "acceptance: (1) implies (2)"),
    (IgnoresOrdr(confirms=False), 2, "a{1,2} b{1,2}", 1, "order_equivalent"),
    (MixesUpTheAcks(confirms=False, repeats=1), 3, "a{1,3} b{1,3}", 0, "AL is known"),
    (ForgetsWhatItSent(confirms=False, repeats=1), 3, "a{2,3}", 1, "selectively_information_preserving"),
    (GoesOnTooSoon(confirms=False, repeats=1), 2, "a{2}", 1, "selectively_information_preserving"),
    (StaysStopped(confirms=False, repeats=2), 2, "a{2}", 1, "every entity continues"),
    (NeverAsks(confirms=False, repeats=2), 2, "a{2} a{2}", 2, "every entity continues"),
)
