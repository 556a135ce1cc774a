"""The dynamic cluster, section 3.3: an entity that had stopped is taken back, steps (1) to (5) and the AL reset.

Readings: SEQ of a PDU of the agreement is that of the last PDU its source has sent, so that REQ_h = rc.SEQ + 1 in (2)
is what E_h sends next; RCV_ACK has ACK_i = REQ_i, which (4) compares and (3) does not set; in (3) `s.BMAP` is
rcp.BMAP. From the RCV on nobody sends data or accepts it, until (5) resumes.

Repaired, the recovery is what a reset of TO is: all cut to the least that anybody has told, those who have sent what
was cut send it again, and E_h begins where the others stand. The recoveries of E_h have numbers: what was sent in one
of them, before E_h stopped again, is not taken for a part of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from precedes.protocol import Action, Here, Step, Transmit, View, replace
from precedes_models.dynamic_cluster.state import (
    Letter,
    Mask,
    Member,
    Rcv,
    RcvAck,
    RcvPack,
    Returning,
    Standing,
)
from precedes_models.dynamic_cluster.stop import StopAgreement, last_said, put
from precedes_models.total_order import reset as recovery
from precedes_models.total_order import transfer
from precedes_models.total_order.transfer import FIRST, Row, Transfer, changed

BEYOND = 1_000_000
"""A SEQ that nothing reaches: no cut."""


@dataclass(frozen=True)
class RecoveryAgreement(StopAgreement):
    """Section 3.3."""

    # ---- steps (1) and (2) ----

    def recover(self, here: Here, state: Member) -> Step[Member]:
        """Step (1). Nothing is left of what the entity knew before, but which recovery it is."""
        number = 1 if self.literal(Letter.EARLIER) else state.recoveries + 1
        returning = Returning(here.entity, (None,) * here.entities, (None,) * here.entities, number=number)
        fresh = Member(
            transfer.established(here.entities),
            returning=returning,
            standing=Standing.RECOVERING,
            returned=True,
            recoveries=number,
        )
        return Step(fresh, (Transmit(Rcv(here.entity, number)),))

    def on_rcv(self, here: Here, state: Member, pdu: Rcv) -> Step[Member]:
        """Step (2), first half."""
        state = self.of_this_recovery(state, pdu.source, pdu.number)
        if not self.takes_part(here, state, pdu.source, pdu.number):
            return Step(state)
        if state.standing is Standing.ACTIVE and not self.literal(Letter.AT_ONCE):
            if pdu.source not in state.emask and state.returning is None:
                return self.suspected(here, state, pdu.source)
            if state.stopping is not None:
                return Step(state)
        return self.answer(here, self.opened(here, state, pdu.source, pdu.number))

    def of_this_recovery(self, state: Member, who: int, number: int) -> Member:
        """An entity that begins a recovery while an earlier one of it goes on here has stopped again: the earlier one
        is given up."""
        returning = state.returning
        if state.standing is not Standing.ACTIVE or returning is None:
            return state
        return self.given_up(state) if returning.who == who and returning.number < number else state

    def takes_part(self, here: Here, state: Member, who: int, number: int) -> bool:
        """Whether a PDU of a recovery is for an entity in this state: not while a reset goes on, which ends first, nor
        where it is of an earlier recovery of the same entity."""
        if state.standing is not Standing.ACTIVE:
            mine = who == here.entity and number == state.recoveries
            return state.standing is Standing.RECOVERING and mine
        if state.data.round is not None and state.data.round.answered:
            return False
        return state.returning is None or (state.returning.who, state.returning.number) == (who, number)

    def opened(self, here: Here, state: Member, who: int, number: int) -> Member:
        """The bit of E_h is off, and data transfer stops."""
        if state.returning is not None:
            return state
        nothing = (None,) * here.entities
        returning = Returning(who, nothing, nothing, epoch=state.data.epoch, number=number)
        return replace(
            state,
            returning=returning,
            emask=state.emask - {who},
            data=replace(state.data, round=None),
            tries=0,
        )

    def answer(self, here: Here, state: Member) -> Step[Member]:
        """Broadcast RCV_PACK, if there is something new to say."""
        assert state.returning is not None
        if state.returning.answered == state.emask and not self.literal(Letter.ANSWERS):
            return Step(state)
        returning = replace(state.returning, answered=state.emask)
        state = replace(state, returning=returning)
        return Step(state, (Transmit(self.rcv_pack(here, state)),))

    def rcv_pack(self, here: Here, state: Member, *, again: bool = False) -> RcvPack:
        """What this entity has to say of its state."""
        assert state.returning is not None
        data, returning = state.data, state.returning
        return RcvPack(
            here.entity,
            returning.who,
            state.emask,
            data.req,
            data.seq - 1,
            data.epoch,
            again,
            returning.number,
        )

    def on_rcv_pack(self, here: Here, state: Member, pdu: RcvPack) -> Step[Member]:
        """Step (2), second half, and (3)."""
        state = self.of_this_recovery(state, pdu.who, pdu.number)
        if not self.takes_part(here, state, pdu.who, pdu.number):
            return Step(state)
        active = state.standing is Standing.ACTIVE
        if active and state.returning is None:
            known = last_return(state, pdu.who)
            if known >= pdu.number:
                return self.reminded_of_return(here, state, pdu)
            if pdu.who not in state.emask:
                return self.suspected(here, state, pdu.who)
            if state.stopping is not None:
                # It asks before the stop is agreed on: it goes on asking as long as it hears of that.
                said = (Transmit(last_said(here, state)),) if pdu.again else ()
                return Step(state, said)
            emask = state.emask
            state = self.opened(here, state, pdu.who, pdu.number)
            if self.literal(Letter.UNION):
                # A bit goes off by RCV only, and the RCV was lost.
                state = replace(state, emask=emask)
        assert state.returning is not None
        emask = self.merged_return(state, pdu)
        packs = state.returning.packs
        if pdu.source != pdu.who and pdu.epoch != state.returning.epoch:
            if pdu.epoch < state.returning.epoch:
                return Step(state)
            # A reset came between: what was told before it is no longer so.
            packs = tuple(pack if k == pdu.who else None for k, pack in enumerate(packs))
        packs = put(packs, pdu.source, (pdu.bmap, pdu.ack, pdu.seq))
        returning = replace(state.returning, packs=packs, epoch=max(state.returning.epoch, pdu.epoch))
        tries = state.tries if returning == state.returning else 0
        again = pdu.again and pdu.source != here.entity and returning.answered == emask
        state = replace(state, emask=emask, returning=returning, tries=tries)
        answer = self.answer(here, state)
        actions = answer.actions
        if again and not actions:
            actions = (Transmit(self.last_said_of_return(here, state, again=False)),)
        step = self.return_goes_on(here, answer.state)
        return Step(step.state, actions + step.actions)

    def merged_return(self, state: Member, pdu: RcvPack) -> Mask:
        """emask = emask or rc.BMAP; repaired: but for the bit of E_h, which whoever has not had the RCV has on, and
        not by what E_h says. It knows only of the stops that it has heard of, and not who has come back since: it
        takes over what the others say."""
        if self.literal(Letter.UNION):
            return state.emask | pdu.bmap
        if pdu.source == pdu.who:
            return state.emask
        told = pdu.bmap - {pdu.who}
        return told if state.standing is Standing.RECOVERING else state.emask | told

    def reminded_of_return(self, here: Here, state: Member, pdu: RcvPack | RcvAck) -> Step[Member]:
        """Somebody asks for the end of a recovery that is over here. In a reset it could not answer until now, and is
        asked again as often as at first."""
        if not pdu.again or pdu.source == here.entity:
            return Step(state)
        told = RcvAck(
            here.entity,
            pdu.who,
            state.marked,
            state.data.agreed,
            state.data.epoch - 1,
            number=last_return(state, pdu.who),
        )
        if state.data.round is not None:
            state = replace(state, data=replace(state.data, asked=0))
        return Step(state, (Transmit(told),))

    # ---- steps (3), (4) and (5) ----

    def on_rcv_ack(self, here: Here, state: Member, pdu: RcvAck) -> Step[Member]:
        """Step (4). An RCV_ACK also shows that its source has answered. Who asks for the end of a recovery that is over
        here is told also while a reset or another recovery goes on: that waits for the same entity."""
        if state.standing is Standing.ACTIVE and (state.returning is None or state.returning.who != pdu.who):
            return self.reminded_of_return(here, state, pdu) if last_return(state, pdu.who) else Step(state)
        if not self.takes_part(here, state, pdu.who, pdu.number):
            return Step(state)
        returning = state.returning
        assert returning is not None
        known = returning.packs[pdu.source]
        if known is None or known[0] != pdu.bmap:
            known = pdu.bmap, pdu.ack, pdu.ack[pdu.source] - 1
        returning = replace(
            returning,
            packs=put(returning.packs, pdu.source, known),
            acks=put(returning.acks, pdu.source, pdu.ack),
            epoch=max(returning.epoch, pdu.epoch),
        )
        actions: tuple[Action, ...] = ()
        if pdu.again and pdu.source != here.entity and returning.answered is not None:
            actions = (Transmit(self.last_said_of_return(here, state, again=False)),)
        tries = state.tries if returning == state.returning else 0
        step = self.return_goes_on(here, replace(state, returning=returning, tries=tries))
        return Step(step.state, actions + step.actions)

    def return_goes_on(self, here: Here, state: Member) -> Step[Member]:
        """Steps (3) and (4), as far as what has come in allows."""
        returning = state.returning
        assert returning is not None
        off = frozenset(range(here.entities)) - state.emask
        packs = {k: returning.packs[k] for k in off}
        actions: tuple[Action, ...] = ()
        alike = all(pack is not None and pack[0] == state.emask for pack in packs.values())
        rows = [pack[1] for k, pack in packs.items() if pack is not None and k != returning.who]
        # By itself E_h is not taken back: there has to be somebody who has been active.
        if alike and rows and not returning.settled and returning.answered == state.emask:
            returning = replace(returning, settled=True)
            state = replace(state, returning=returning, data=self.aligned(here, state, rows), tries=0)
            if here.entity != returning.who or not self.literal(Letter.OTHERS_ONLY):
                actions = (Transmit(self.last_said_of_return(here, state, again=False)),)
        if not returning.settled:
            return Step(state, actions)
        acks = [returning.acks[k] for k in off]
        rows = [ack for ack in acks if ack is not None]
        if len(rows) == len(off) and self.may_end(here, state, rows):
            step = self.taken_back(here, state, rows)
            return Step(step.state, actions + step.actions)
        return Step(state, actions)

    def aligned(self, here: Here, state: Member, rows: list[Row]) -> Transfer:
        """Step (3) and the AL reset. `rows`: ACK of the RCV_PACKs of all but E_h, or of the RCV_ACKs.

        As written only REQ_h is set: for every other j, last(RL_kj).SEQ + 1 is REQ_j already; E_h has from each
        RCV_PACK what its source sends next, (2), and of those that have stopped nothing. Repaired, the log is cut to
        the least that anybody has told of the others, REQ_h = rc.SEQ + 1, and E_h stands where that leaves the others.
        """
        assert state.returning is not None
        who, data = state.returning.who, state.data
        if here.entity == who and self.literal(Letter.EQUAL):
            packs = state.returning.packs
            req = tuple(
                old if pack is None else pack[2] + 1 for old, pack in zip(data.req, packs, strict=True)
            )
            return replace(data, req=changed(req, who, FIRST))
        if here.entity == who:
            line = tuple(min(column) for column in zip(*rows, strict=True))
            return replace(data, req=changed(line, who, FIRST))
        heard_before = data.req[who] > FIRST
        if not self.literal(Letter.EQUAL):
            line = tuple(min(column) for column in zip(*rows, strict=True))
            data = recovery.cut(data, changed(line, who, BEYOND))
        number = FIRST
        if self.literal(Letter.NUMBER):
            number = FIRST - 1
        if self.literal(Letter.LAST) and heard_before:
            number = state.data.req[who]
        return replace(data, req=changed(data.req, who, number))

    def may_end(self, here: Here, state: Member, rows: list[Row]) -> bool:
        """As written, (4) asks that all REQ be equal; the repaired form makes them equal."""
        return not self.literal(Letter.EQUAL) or all(row == state.data.req for row in rows)

    def taken_back(self, here: Here, state: Member, rows: list[Row]) -> Step[Member]:
        """Steps (4) and (5): what is left is acknowledged, the stop mark is taken away, and data transfer resumes."""
        assert state.returning is not None
        who, data = state.returning.who, state.data
        if not self.literal(Letter.EQUAL):
            line = tuple(min(column) for column in zip(*rows, strict=True))
            if here.entity == who:
                data = replace(data, req=changed(line, who, FIRST))
            else:
                data = recovery.cut(data, changed(line, who, BEYOND))
        step = recovery.finished(here, data, state.returning.epoch + 1)
        view = View(frozenset(range(here.entities)) - state.emask)
        after = replace(
            state,
            data=step.state,
            marked=state.emask,
            returning=None,
            standing=Standing.ACTIVE,
            tries=0,
            back=frozenset(each for each in state.back if each[0] != who) | {(who, state.returning.number)},
        )
        return Step(after, (*step.actions, view))

    def last_said_of_return(self, here: Here, state: Member, *, again: bool = True) -> RcvPack | RcvAck | Rcv:
        """What this entity sent last in the recovery that is under way. As written E_h never sends RCV_ACK."""
        returning = state.returning
        assert returning is not None
        silent = here.entity == returning.who and self.literal(Letter.OTHERS_ONLY)
        if returning.settled and not silent:
            return RcvAck(
                here.entity,
                returning.who,
                state.emask,
                state.data.req,
                returning.epoch,
                again,
                returning.number,
            )
        if returning.answered == state.emask:
            return self.rcv_pack(here, state, again=again)
        return Rcv(here.entity, returning.number)


def last_return(state: Member, who: int) -> int:
    """Which recovery of an entity has ended here, the last of them; 0: none, or it has stopped since."""
    return next((number for entity, number in state.back if entity == who), 0)
