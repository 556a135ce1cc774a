"""The dynamic cluster, section 3.2: the stop agreement, steps (1) to (5).

Readings: in (2) E_i is the source of s, so that AL_ji = s.ACK_j is the acceptance of an ACK as everywhere else; in (3)
the printed `sp.ACK_j = REQ_j` is of sa. The text does not say whether a STOP_PACK or STOP_ACK counts that was sent in
another agreement; here those count that have the BMAP of this entity's emask, and whoever learns of another stopped
entity answers again, with the new emask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from precedes.protocol import Action, Discard, Here, Protocol, Step, Transmit, View, replace
from precedes_models.dynamic_cluster.state import (
    Letter,
    Member,
    Standing,
    Stop,
    StopAck,
    StopPack,
    StopPdu,
    Stopping,
)
from precedes_models.total_order import reset as recovery
from precedes_models.total_order import transfer
from precedes_models.total_order.transfer import Row, Transfer

T = TypeVar("T")


@dataclass(frozen=True)
class StopAgreement(Protocol[Member]):
    """Section 3.2."""

    letter: frozenset[Letter] = frozenset()
    """The steps that are taken as written although the rest is repaired."""

    def literal(self, step: Letter) -> bool:
        """Whether a step is taken as written."""
        return self.as_written or step in self.letter

    # ---- steps (1) and (2) ----

    def suspected(self, here: Here, state: Member, stopped: int) -> Step[Member]:
        """Step (1): nothing has come from an entity for some time."""
        emask = state.emask | {stopped}
        state = replace(state, emask=emask, stopping=state.stopping or nothing_yet(here), tries=0)
        return Step(state, (Transmit(Stop(here.entity, emask, state.data.req)),))

    def on_stop(self, here: Here, state: Member, pdu: Stop | StopPack) -> Step[Member]:
        """Step (2)."""
        goes_on = self.literal(Letter.GOES_ON)
        if here.entity in pdu.bmap and not goes_on and state.standing is Standing.ACTIVE:
            known = transfer.established(here.entities)
            return Step(Member(known, standing=Standing.OUT, recoveries=state.recoveries))
        if state.standing is not Standing.ACTIVE:
            return Step(self.told_of_stop(here, state, pdu))
        if pdu.source in state.emask and not goes_on:
            return Step(state)
        given_up = state.returning is not None and not pdu.bmap <= state.marked - {state.returning.who}
        if given_up:
            state = self.given_up(state)
        answers = self.literal(Letter.ANSWERS)
        if pdu.bmap <= state.marked and state.stopping is None and not (answers or given_up):
            return Step(state, self.reminded(here, state, pdu))
        emask = self.merged(state, pdu)
        stopping = state.stopping or nothing_yet(here)
        if isinstance(pdu, StopPack):
            stopping = replace(stopping, packs=put(stopping.packs, pdu.source, (pdu.bmap, pdu.ack)))
        actions: tuple[Action, ...] = ()
        if answers or stopping.answered != emask:
            stopping = replace(stopping, answered=emask)
            actions = (Transmit(StopPack(here.entity, emask, state.data.req)),)
        elif isinstance(pdu, StopPack) and pdu.again and pdu.source != here.entity:
            actions = (Transmit(last_said(here, replace(state, stopping=stopping), again=False)),)
        tries = state.tries if stopping == state.stopping else 0
        al = transfer.told(state.data.al, pdu.source, pdu.ack)
        state = replace(state, data=replace(state.data, al=al), emask=emask, stopping=stopping, tries=tries)
        confirmed = self.confirmed(here, state)
        step = self.stop_goes_on(here, confirmed.state)
        return Step(step.state, actions + confirmed.actions + step.actions)

    def merged(self, state: Member, pdu: StopPdu) -> frozenset[int]:
        """emask = emask or s.BMAP."""
        return state.emask | pdu.bmap

    def told_of_stop(self, here: Here, state: Member, pdu: StopPdu) -> Member:
        """An entity that is recovering learns who has stopped meanwhile, and begins again. So it does where it is taken
        for stopped again itself; a STOP_ACK does not show that, for it may be of the stop before. Whatever comes, the
        others may be about to take it back, and it goes on asking."""
        if state.standing is not Standing.RECOVERING or state.returning is None:
            return state
        emask = state.emask | pdu.bmap - {here.entity}
        anew = state.returning.settled and here.entity in pdu.bmap and not isinstance(pdu, StopAck)
        if emask != state.emask or anew:
            state = self.given_up(state)
        return replace(state, emask=emask, tries=0)

    def reminded(self, here: Here, state: Member, pdu: StopPdu) -> tuple[Action, ...]:
        """Somebody asks again for what has been agreed on here: its STOP_ACK was lost."""
        if isinstance(pdu, Stop) or not pdu.again or pdu.source == here.entity:
            return ()
        return (Transmit(StopAck(here.entity, state.marked, state.data.req)),)

    def given_up(self, state: Member) -> Member:
        """A stop comes while somebody is being taken back, which the paper leaves open (section 4): the stop goes
        first, and whoever comes back, once it has been told, sends RCV again."""
        if state.returning is None:
            return state
        who = state.returning.who
        if state.standing is Standing.RECOVERING:
            fresh = replace(
                state.returning,
                packs=tuple(None for _ in state.returning.packs),
                acks=tuple(None for _ in state.returning.acks),
                answered=None,
                settled=False,
            )
            return replace(state, returning=fresh, tries=0)
        return replace(state, returning=None, emask=state.emask | {who}, tries=0)

    # ---- steps (3), (4) and (5) ----

    def on_stop_ack(self, here: Here, state: Member, pdu: StopAck) -> Step[Member]:
        """A STOP_ACK also shows that its source has answered."""
        if state.standing is not Standing.ACTIVE:
            return Step(self.told_of_stop(here, state, pdu))
        if pdu.source in state.emask and not self.literal(Letter.GOES_ON):
            return Step(state)
        if state.stopping is None:
            return Step(state, self.reminded(here, state, pdu))
        stopping = state.stopping
        known = stopping.packs[pdu.source]
        if known is None or known[0] != pdu.bmap:
            known = pdu.bmap, pdu.ack
        stopping = replace(
            stopping,
            packs=put(stopping.packs, pdu.source, known),
            acks=put(stopping.acks, pdu.source, pdu.bmap),
        )
        actions: tuple[Action, ...] = ()
        if pdu.again and pdu.source != here.entity:
            actions = (Transmit(last_said(here, state, again=False)),)
        tries = state.tries if stopping == state.stopping else 0
        step = self.stop_goes_on(here, replace(state, stopping=stopping, tries=tries))
        return Step(step.state, actions + step.actions)

    def stop_goes_on(self, here: Here, state: Member) -> Step[Member]:
        """Steps (3) and (4), as far as what has come in allows."""
        stopping = state.stopping
        if stopping is None:
            return Step(state)
        off = frozenset(range(here.entities)) - state.emask
        actions: tuple[Action, ...] = ()
        told = [stopping.packs[k] for k in off]
        packs = [pack[1] for pack in told if pack is not None and pack[0] == state.emask]
        if len(packs) == len(off) and stopping.settled != state.emask:
            stopping = replace(stopping, settled=state.emask)
            req = self.agreed_req(here, state, packs)
            state = replace(state, stopping=stopping, data=replace(state.data, req=req), tries=0)
            actions = (Transmit(StopAck(here.entity, state.emask, req)),)
        if stopping.settled == state.emask and all(stopping.acks[k] == state.emask for k in off):
            step = self.stopped(here, state)
            return Step(step.state, actions + step.actions)
        return Step(state, actions)

    def agreed_req(self, here: Here, state: Member, packs: list[Row]) -> Row:
        """REQ in step (3). As written the row AL_ji of this entity itself; repaired: for those that have stopped, the
        least that anybody whose bit is off has told."""
        if self.literal(Letter.OWN_ROW):
            return tuple(row[here.entity] for row in state.data.al)
        return tuple(
            min((pack[j] for pack in packs), default=value) if j in state.emask else value
            for j, value in enumerate(state.data.req)
        )

    def stopped(self, here: Here, state: Member) -> Step[Member]:
        """Steps (4) and (5): delete what nobody else has of those that stopped, and ignore them from now on."""
        data = state.data

        def stays(pdu: transfer.Data) -> bool:
            return pdu.source not in state.emask or pdu.seq < data.req[pdu.source]

        deleted = [pdu for pdu in (*data.prl, *data.rrl) if not stays(pdu)]
        data = replace(data, prl=tuple(filter(stays, data.prl)), rrl=tuple(filter(stays, data.rrl)), asked=0)
        actions: list[Action] = [Discard(pdu.message) for pdu in deleted if pdu.message is not None]
        actions.append(View(frozenset(range(here.entities)) - state.emask))
        state = replace(
            state,
            data=data,
            marked=state.emask,
            stopping=None,
            tries=0,
            back=frozenset(each for each in state.back if each[0] not in state.emask),
        )
        confirmed = self.confirmed(here, state)
        return Step(confirmed.state, (*actions, *confirmed.actions))

    # ---------------------------------------------------------------------------------------------------- data

    def group(self, here: Here, state: Member) -> frozenset[int]:
        """Those whose confirmations count, step (5)."""
        return frozenset(range(here.entities)) - state.marked

    def confirmed(self, here: Here, state: Member) -> Step[Member]:
        """Data goes on, after the stop marks or AL have changed."""
        group = self.group(here, state)
        reset = recovery.settled(here, state.data, group, once=False)
        step: Step[Transfer] = transfer.confirmed(here, reset.state, group)
        return Step(replace(state, data=step.state), reset.actions + step.actions)


def nothing_yet(here: Here) -> Stopping:
    """An agreement in which nobody has said anything."""
    return Stopping((None,) * here.entities, (None,) * here.entities)


def last_said(here: Here, state: Member, *, again: bool = True) -> StopPdu:
    """What this entity sent last in the agreement that is under way."""
    assert state.stopping is not None
    if state.stopping.settled == state.emask:
        return StopAck(here.entity, state.emask, state.data.req, again)
    if state.stopping.answered == state.emask:
        return StopPack(here.entity, state.emask, state.data.req, again)
    return Stop(here.entity, state.emask, state.data.req)


def put(values: Sequence[T], index: int, value: T) -> tuple[T, ...]:
    """The values with one of them replaced."""
    return (*values[:index], value, *values[index + 1 :])
