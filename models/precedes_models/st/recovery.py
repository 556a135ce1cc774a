"""ST, section 4: the failure line is agreed on, what was lost is sent again, and the logs are sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, assert_never

from precedes.protocol import Action, Here, Step, Timer, Transmit, replace
from precedes_models.st.sorting import failure_line, first_behind, literal_front, sorted_run
from precedes_models.st.state import (
    Collecting,
    Letter,
    Matrix,
    Pdu,
    Recovering,
    Request,
    Rst,
    RstAck,
    RstPak,
    State,
    Vector,
    raised,
)
from precedes_models.st.transfer import Transfer


@dataclass(frozen=True)
class Recovery(Transfer):
    """The recovery procedure."""

    retransmission: Literal["selective", "go-back"] = "selective"
    """Whether what stands behind the line is kept and sorted, or dropped and sent again (section 4.3)."""

    # ----------------------------------------------------------------------- agreement: steps (1) and (2)

    def alarmed(self, state: State) -> Step[State]:
        """Step (1): E_k found a loss. It stops when its RST comes back, as all others do.

        As long as somebody may not have done with the last agreement, it waits: it will see the loss again.
        """
        if state.alarm or (state.behind and not self.literal(Letter.CONTROL)):
            return Step(state)
        return Step(replace(state, alarm=True), (Transmit(Rst(state.round + 1)),))

    def joined(self, here: Here, state: State) -> Step[State]:
        """Step (2): stop data transfer and say what is expected and what has been sent."""
        pak = RstPak(state.round + 1, state.preq, state.pseq, state.treq, state.tseq)
        nobody = (None,) * here.entities
        after = replace(
            state,
            round=state.round + 1,
            recovery=Collecting(nobody, nobody),
            pak=pak,
            rst_ack=None,
            alarm=False,
            behind=here.others,
            owes=0,
            asked=False,
            silent=0,
        )
        return Step(after, (Transmit(pak),))

    def called(self, here: Here, state: State, round_: int) -> Step[State] | None:
        """An RST, or what shows that there was one: None, if it says nothing new."""
        if round_ != state.round + 1 or state.recovery is not None:
            return None
        return self.joined(here, state)

    def on_rst(self, here: Here, state: State, rst: Rst) -> Step[State]:
        return self.called(here, state, rst.round) or Step(state)

    def on_pak(self, here: Here, state: State, pak: RstPak, sender: int) -> Step[State]:
        actions: tuple[Action, ...] = ()
        if not self.literal(Letter.CONTROL):
            called = self.called(here, state, pak.round)
            if called is not None:
                state, actions = called.state, called.actions
        if pak.round != state.round:
            return Step(state, actions)
        if here.entity in pak.lacks and state.pak is not None:
            actions = (*actions, Transmit(state.pak))
        collecting = state.recovery
        if isinstance(collecting, Collecting) and collecting.paks[sender] is None:
            known = replace(pak, lacks=frozenset())
            paks = (*collecting.paks[:sender], known, *collecting.paks[sender + 1 :])
            collecting = replace(collecting, paks=paks, order=(*collecting.order, sender))
            after = self.read(replace(state, recovery=collecting), pak, sender)
            if None not in paks:
                step = self.acknowledging(here, after)
                return Step(step.state, (*actions, *step.actions))
            state = after
        return Step(state, actions)

    def read(self, state: State, pak: RstPak, sender: int) -> State:
        """An RST_PAK is a PDU: it has an ACK."""
        return replace(state, al=raised(state.al, sender, pak.ack))

    # ----------------------------------------------------------------------- agreement: steps (3) and (4)

    def acknowledging(self, here: Here, state: State) -> Step[State]:
        """Step (3): all RST_PAK have come."""
        collecting = state.recovery
        assert isinstance(collecting, Collecting)
        paks = _all(collecting.paks)
        front = self.front(here, state, paks)
        rst_ack = RstAck(
            state.round,
            collecting.order,
            first_behind(state.prl + state.rrl, state.sl, paks),
            self.unacknowledged(here, state, paks),
        )
        after = replace(state, recovery=replace(collecting, front=front), rst_ack=rst_ack)
        step = self.agreed(here, after)
        return Step(step.state, (Transmit(rst_ack), *step.actions))

    def front(self, here: Here, state: State, paks: tuple[RstPak, ...]) -> int | None:
        """By step (3) as written, how many PDUs of PRL and RRL stand before the failure point."""
        if not self.literal(Letter.FAILURE_POINT):
            return None
        settled = len(state.arl)
        return max(literal_front(state.received, tuple(pak.a for pak in paks), here.entity) - settled, 0)

    def unacknowledged(self, here: Here, state: State, paks: tuple[RstPak, ...]) -> Vector:
        """For each source the least TSEQ that this entity has not acknowledged. What goes back must still be in SL."""
        least = [
            1 + max((p.tseq for p in state.arl if p.source == h), default=0) for h in range(here.entities)
        ]
        if self.retransmission == "go-back":
            here_least = min((pdu.tseq for pdu in state.sl), default=paks[here.entity].tseq)
            least[here.entity] = max(least[here.entity], here_least)
        return tuple(least)

    def on_ack(self, here: Here, state: State, rst_ack: RstAck, sender: int) -> Step[State]:
        actions: tuple[Action, ...] = ()
        if not self.literal(Letter.CONTROL):
            called = self.called(here, state, rst_ack.round)
            if called is not None:
                state, actions = called.state, called.actions
        if rst_ack.round != state.round:
            return Step(state, actions)
        if here.entity in rst_ack.lacks and state.rst_ack is not None:
            actions = (*actions, Transmit(state.rst_ack))
        collecting = state.recovery
        if isinstance(collecting, Collecting) and collecting.acks[sender] is None:
            known = replace(rst_ack, lacks=frozenset())
            acks = (*collecting.acks[:sender], known, *collecting.acks[sender + 1 :])
            step = self.agreed(here, replace(state, recovery=replace(collecting, acks=acks)))
            return Step(step.state, (*actions, *step.actions))
        return Step(state, actions)

    def agreed(self, here: Here, state: State) -> Step[State]:
        """Step (4), if all RST_ACK have come: what stands before the line is acknowledged; retransmission begins."""
        collecting = state.recovery
        assert isinstance(collecting, Collecting)
        if None in collecting.acks or state.rst_ack is None:
            return Step(state)
        paks, acks = _all(collecting.paks), _all(collecting.acks)
        line = failure_line(acks)
        log = state.prl + state.rrl
        front = collecting.front
        before = [p for k, p in enumerate(log) if (p.tseq < line[p.source] if front is None else k < front)]
        behind = [p for p in log if p not in before]
        after = replace(state, arl=state.arl + tuple(p.settled for p in before), prl=())
        if self.retransmission == "go-back":
            return self.gone_back(here, replace(after, rrl=()), behind, line)
        rank = collecting.order if self.literal(Letter.SORTING) else acks[0].order
        me = here.entity
        recovering = Recovering(tuple(pak.d[me] for pak in paks), tuple(pak.tseq for pak in paks), rank)
        after = replace(after, rrl=tuple(behind), recovery=recovering)
        if self.literal(Letter.RENUMBERING):
            after = replace(after, pseq=tuple(pak.a[me] for pak in paks), preq=recovering.due)
        actions = self.sent_again(here, after, tuple(pak.a for pak in paks))
        step = self.completed(here, after)
        return Step(step.state, (*actions, *step.actions))

    # --------------------------------------------------------------------------------------------- retransmission

    def sent_again(self, here: Here, state: State, a: Matrix) -> tuple[Action, ...]:
        """Retransmission (1): what somebody lacks of what this entity had sent when it stopped; what it sent since then
        stands behind what is sorted, in the order of the channel. `a[i]` is PREQ of E_i, or () if it did not ask."""
        return tuple(
            Transmit(replace(pdu, again=True))
            for pdu in state.sl
            if state.pak is not None
            and pdu.tseq < state.pak.tseq
            and any(a[i] and self.lacking(pdu, i, a[i][here.entity]) for i in pdu.destinations)
        )

    def lacking(self, pdu: Pdu, entity: int, expected: int) -> bool:
        """Whether a destination has not received a PDU of ours."""
        if self.literal(Letter.RESENDING):
            return pdu.pseq[entity] > expected
        return pdu.pseq[entity] >= expected

    def on_request(self, here: Here, state: State, request: Request, sender: int) -> Step[State]:
        if request.round > state.round or isinstance(state.recovery, Collecting):
            return Step(state)
        a = tuple(request.expected if i == sender else () for i in range(here.entities))
        return Step(state, self.sent_again(here, state, a))

    def late(self, here: Here, state: State, pdu: Pdu) -> Step[State]:
        """Retransmission (2): a PDU that comes while this entity recovers, sent again, or a first one of an entity that
        has done with it."""
        recovery = state.recovery
        stopped = isinstance(recovery, Collecting) and (
            None in recovery.paks or self.retransmission == "go-back"
        )
        if stopped:
            return Step(state)
        if self.literal(Letter.RECEIVING) and isinstance(recovery, Recovering) and pdu.again:
            mine = here.entity in pdu.destinations
            if mine and state.preq[pdu.source] < pdu.pseq[here.entity] and not _has(state.received, pdu):
                state = replace(state, rrl=(*state.rrl, replace(pdu, again=False)))
            return self.completed(here, state)
        if self.acceptable(here, state, pdu):
            state = self.accepted(here, state, pdu)
        return self.completed(here, state) if isinstance(recovery, Recovering) else Step(state)

    def completed(self, here: Here, state: State) -> Step[State]:
        """Sort, if nothing is lacking any more, and go on."""
        recovering = state.recovery
        assert isinstance(recovering, Recovering)
        if not self.complete(here, state, recovering):
            return Step(state)
        run = [pdu for pdu in state.rrl if pdu.tseq < recovering.numbers[pdu.source]]
        newer = [pdu for pdu in state.rrl if pdu.tseq >= recovering.numbers[pdu.source]]
        after = replace(
            state,
            rrl=(*self.sorted(here, run, recovering.rank), *newer),
            preq=tuple(map(max, state.preq, recovering.due)),
        )
        if not self.literal(Letter.GAPS):
            after = replace(after, treq=tuple(map(max, state.treq, recovering.numbers)))
        return self.resumed(here, after)

    def complete(self, here: Here, state: State, recovering: Recovering) -> bool:
        """Whether everything has come that was sent to this entity before all stopped."""
        if self.literal(Letter.RECEIVING):
            me = here.entity
            have = {(pdu.source, pdu.pseq[me]) for pdu in state.rrl}
            lacking = (range(state.preq[j], due) for j, due in enumerate(recovering.due))
            return all((j, number) in have for j, numbers in enumerate(lacking) for number in numbers)
        return all(map(int.__ge__, state.preq, recovering.due))

    def sorted(self, here: Here, run: list[Pdu], rank: Vector) -> tuple[Pdu, ...]:
        """The sorting rules."""
        return sorted_run(run, rank, here.entity)

    def gone_back(self, here: Here, state: State, dropped: list[Pdu], line: Vector) -> Step[State]:
        """Go-back: nobody has what stands behind the line, and it is sent as if for the first time."""
        preq = list(state.preq)
        for pdu in dropped:
            preq[pdu.source] -= 1
        least = tuple(tuple(min(number, line[k]) for number in row) for k, row in enumerate(state.al))
        pal = tuple(tuple(min(number, line[k]) for number in row) for k, row in enumerate(state.pal))
        sl = tuple(replace(p, ack=line) if p.tseq >= line[here.entity] else p for p in state.sl)
        after = replace(state, preq=tuple(preq), treq=line, al=least, pal=pal, heard=(), sl=sl)
        again = tuple(Transmit(replace(p, again=True)) for p in sl if p.tseq >= line[here.entity])
        step = self.resumed(here, after)
        return Step(step.state, (*again, *step.actions))

    def resumed(self, here: Here, state: State) -> Step[State]:
        """Data transfer goes on."""
        after = replace(state, recovery=None, owes=1 if self.confirms else 0, silent=0)
        return Step(after if after.behind else replace(after, pak=None, rst_ack=None))

    def stopped(self, state: State) -> bool:
        """Steps (1) to (3): as long as an RST_PAK is lacking, PDUs of before the agreement may be under way."""
        return isinstance(state.recovery, Collecting) and None in state.recovery.paks

    def followed(self, state: State, source: int) -> State:
        """What a first transmission shows: its source has done with the agreement. When all have, nobody will ask for
        our part in it."""
        behind = state.behind - {source}
        if behind or state.recovery is not None:
            return replace(state, behind=behind)
        return replace(state, behind=behind, pak=None, rst_ack=None)

    # --------------------------------------------------------------------------------------------------- time-outs

    def recovery_timers(self, here: Here, state: State) -> tuple[Timer, ...]:
        """Who waits for a part of the agreement, or for a PDU, asks for it."""
        name = {Collecting: "agreement", Recovering: "request"}.get(type(state.recovery), "alarm")
        if name != "request" and self.literal(Letter.CONTROL):
            return ()
        if state.silent >= self.repeats:
            return ()
        return (self.timer(here, name, 2 + state.silent),)

    def repeated(self, here: Here, state: State) -> Step[State]:
        """A time-out in the recovery."""
        after = replace(state, silent=state.silent + 1)
        match state.recovery:
            case None:
                return Step(after, (Transmit(Rst(state.round + 1)),))
            case Recovering():
                return Step(after, (Transmit(Request(state.round, state.preq)),))
            case Collecting(paks, acks):
                if state.rst_ack is None:
                    assert state.pak is not None
                    return Step(after, (Transmit(replace(state.pak, lacks=_lacking(paks))),))
                return Step(after, (Transmit(replace(state.rst_ack, lacks=_lacking(acks))),))
            case _:
                assert_never(state.recovery)


def _lacking(parts: tuple[object, ...]) -> frozenset[int]:
    return frozenset(k for k, part in enumerate(parts) if part is None)


def _has(log: tuple[Pdu, ...], pdu: Pdu) -> bool:
    return any((p.source, p.tseq) == (pdu.source, pdu.tseq) for p in log)


T = TypeVar("T")


def _all(parts: tuple[T | None, ...]) -> tuple[T, ...]:
    """The parts, of which none is lacking."""
    return tuple(part for part in parts if part is not None)
