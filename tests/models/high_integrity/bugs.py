"""The protocol with one handler broken, each in a way that a property is there to find."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from precedes.protocol import Here, Outcome, Step, Transmit
from precedes_models.high_integrity.neighbors import Ring
from precedes_models.high_integrity.protocol import HighIntegrity
from precedes_models.high_integrity.state import Answer, Part, Report, Request, State, part_of, with_part

MISSED, ORIGIN = "integrity, missed failure", "integrity, origin lost"
REMOVED, STEP_6, STEP_7 = "integrity, false removal", "step 6, repetition", "step 7, removal"


@dataclass(frozen=True)
class ConfirmsAnything(HighIntegrity):
    """Step 4 without the hash: any answer is a confirmation."""

    def arrive(self, here: Here, state: State, packet: Hashable, sender: int) -> Outcome[State]:
        if isinstance(packet, Answer):
            part = part_of(state, packet.message.sender)
            if part.round == packet.round and sender in part.waiting:
                return Step(with_part(state, replace(part, waiting=part.waiting - {sender})))
        return super().arrive(here, state, packet, sender)


@dataclass(frozen=True)
class NamesInAnyOrder(HighIntegrity):
    """Step 5 with the highest number first."""

    def _unconfirmed(self, here: Here, state: State, part: Part) -> Step[State]:
        step = super()._unconfirmed(here, state, part)
        actions = tuple(
            replace(action, packet=replace(action.packet, failed=action.packet.failed[::-1]))
            if isinstance(action, Transmit) and isinstance(action.packet, Request)
            else action
            for action in step.actions
        )
        return Step(step.state, actions)


@dataclass(frozen=True)
class ForgetsReports(HighIntegrity):
    """Step 6 without what others report."""

    def _request(self, here: Here, state: State, request: Request, sender: int) -> Step[State]:
        step = super()._request(here, state, request, sender)
        part = part_of(step.state, here.entity)
        return Step(with_part(step.state, replace(part, reports=frozenset[Report]())), step.actions)


@dataclass(frozen=True)
class NeverGivesUp(HighIntegrity):
    """No alarm at a node whose requests stay without acknowledgement."""

    def _unacknowledged(self, state: State, part: Part) -> Step[State]:
        step = super()._unacknowledged(state, part)
        return Step(
            with_part(step.state, replace(part_of(step.state, part.origin), alarm=False)), step.actions
        )


@dataclass(frozen=True)
class RemovesOnHearsay(HighIntegrity):
    """Step 7 by the number of rounds alone: at least maxfail, without the origin's own check. This is the repair that
    comes to mind first, and a broken link is enough to break it."""

    def _goes(self, part: Part, node: int) -> bool:
        return part.rounds_reported(node) >= self.maxfail

    def _suspects(self, part: Part, reports: frozenset[Report]) -> frozenset[int]:
        return frozenset()

    def _round_over(self, here: Here, state: State, part: Part) -> Outcome[State]:
        now = [report for report in part.reports if report.round == part.round]
        if not now:
            return Step(with_part(state, replace(part, ended=True)))
        if self.may_repeat(part):
            return self._round(here, state, replace(part, round=part.round + 1))
        gone = frozenset(node for node in part.members if self._goes(part, node))
        return Step(with_part(state, replace(part, ended=True, removed=part.removed | gone)))


@dataclass(frozen=True)
class NeverRepeats(HighIntegrity):
    """Step 6 left out."""

    def _round_over(self, here: Here, state: State, part: Part) -> Outcome[State]:
        return Step(with_part(state, replace(part, ended=True)))


@dataclass(frozen=True)
class NeverRemoves(HighIntegrity):
    """Step 7 ends the repetitions and removes nobody."""

    def _goes(self, part: Part, node: int) -> bool:
        return False


BROKEN: tuple[tuple[HighIntegrity, dict[str, int], str], ...] = (
    (ConfirmsAnything(), {"corruptions": 1}, "agreement of those that confirmed"),
    (NamesInAnyOrder(adj=Ring(2)), {"dead": 2}, "step 5, request"),
    (ForgetsReports(), {"dead": 1}, MISSED),
    (NeverGivesUp(), {"crashes": 1}, ORIGIN),
    (RemovesOnHearsay(), {"broken_links": 1}, REMOVED),
    (NeverRepeats(), {"losses": 1}, STEP_6),
    (NeverRemoves(), {"dead": 1}, STEP_7),
)
"""What exploring four nodes finds, with the faults, and what is broken."""
