"""ST, section 3: data transfer. Sending, acceptance, pre-acknowledgment, acknowledgment.

What is not in the paper: confirmations (a PDU for nobody, at a time-out, so that acknowledgment goes on where nobody
has anything to send) and polls (the sender of what somebody has not accepted says again how far it is).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from precedes.protocol import Here, Message, Protocol, SingleChannel, Step, Timer, Transmit, replace
from precedes_models.st.state import FIRST, Letter, Matrix, Pdu, Poll, State, raised, with_place


@dataclass(frozen=True)
class Transfer(Protocol[State]):
    """The data transfer procedure, without recovery."""

    letters: frozenset[Letter] = field(default_factory=frozenset)
    """Single steps that are taken as written though the rest is repaired."""
    window: int = 8
    """W, PDUs."""
    factor: int = 1
    """H of the flow condition."""
    buffers: int | None = None
    """IBF, PDUs that an entity can store; None: the window alone limits."""
    confirms: bool = True
    """Whether there are confirmations."""
    repeats: int = 8
    """How often an entity says the same again without an effect that it could notice."""
    timeout: int = 5_000
    """In ticks."""

    @property
    def network(self) -> SingleChannel:
        """1C (section 2.4)."""
        return SingleChannel()

    def literal(self, step: Letter) -> bool:
        """Whether a step is taken as written."""
        return step in self.letters or (self.as_written and step is not Letter.PRINTED_INDEX)

    def start(self, here: Here) -> State:
        """Section 3.1: TSEQ = PSEQ_j = TREQ_j = PREQ_j = AL_jk = ISS, BUF_j = IBF."""
        first = (FIRST,) * here.entities
        matrix = (first,) * here.entities
        stored = () if self.buffers is None else (self.buffers,) * here.entities
        return State(FIRST, first, first, first, matrix, matrix, stored)

    # ---------------------------------------------------------------------------------------------------- sending

    def may_send(self, here: Here, state: State) -> bool:
        """The flow condition. `sl` has the data PDUs from minAL_i to TSEQ: confirmations do not count. minBUF/(H * n)
        is not rounded."""
        under_way = len(state.sl)
        if self.buffers is not None and under_way * self.factor * here.entities >= min(state.buffers):
            return False
        return under_way < self.window

    def send(self, here: Here, state: State, message: Message) -> Step[State] | None:
        if state.recovery is not None or not self.may_send(here, state):
            return None
        pdu = self.numbered(here, state, message.destinations, message)
        after = self.counted(state, pdu)
        return Step(replace(after, sl=(*state.sl, pdu), owes=0, asked=False, silent=0), (Transmit(pdu),))

    def numbered(
        self,
        here: Here,
        state: State,
        destinations: frozenset[int],
        message: Message | None = None,
        level: int = 0,
    ) -> Pdu:
        """Sending procedure, (1), (2) and (4)."""
        return Pdu(
            here.entity,
            state.tseq,
            state.pseq,
            state.treq,
            destinations,
            message,
            level,
            self.free(state),
        )

    def counted(self, state: State, pdu: Pdu) -> State:
        """Sending procedure, (1) and (3): the numbers after it."""
        pseq = tuple(number + (j in pdu.destinations) for j, number in enumerate(state.pseq))
        return replace(state, tseq=state.tseq + 1, pseq=pseq)

    def free(self, state: State) -> int | None:
        """BUF_i: what RRL and PRL leave of the buffers."""
        return None if self.buffers is None else max(self.buffers - len(state.rrl) - len(state.prl), 0)

    # ------------------------------------------------------------------------------------------------- acceptance

    def acceptable(self, here: Here, state: State, pdu: Pdu | Poll) -> bool:
        """The acceptance condition. A PDU carries PSEQ_i whether or not it is for E_i, so (2) can do without p.DST."""
        j = pdu.source
        if pdu.tseq < state.treq[j]:
            return False
        expected = pdu.pseq[here.entity] == state.preq[j]
        if self.literal(Letter.ACCEPTANCE) and isinstance(pdu, Pdu):
            return pdu.tseq == state.treq[j] or (here.entity in pdu.destinations and expected)
        return expected and not (self.literal(Letter.ACCEPTANCE) and pdu.tseq != state.treq[j])

    def accepted(self, here: Here, state: State, pdu: Pdu) -> State:
        """The acceptance procedure."""
        j = pdu.source
        after = self.informed(state, pdu)
        owes = _owed(state.owes, pdu.level) if self.confirms else 0
        after = replace(after, treq=with_place(after.treq, j, pdu.tseq + 1), owes=owes)
        if here.entity in pdu.destinations:
            preq = with_place(after.preq, j, pdu.pseq[here.entity] + 1)
            return replace(after, preq=preq, rrl=(*after.rrl, replace(pdu, again=False)))
        if self.literal(Letter.DISCARDING):
            return after
        return replace(after, heard=tuple(sorted({*after.heard, (j, pdu.tseq, pdu.ack)})))

    def informed(self, state: State, pdu: Pdu | Poll) -> State:
        """AL_kj := p.ACK_k, and BUF_j := p.BUF. What comes again has an older ACK, which lowers nothing."""
        after = replace(state, al=raised(state.al, pdu.source, pdu.ack))
        if pdu.buffers is not None:
            after = replace(after, buffers=with_place(state.buffers, pdu.source, pdu.buffers))
        return after

    def polled(self, here: Here, state: State, poll: Poll) -> State:
        """What a poll says of its source."""
        after = self.informed(state, poll)
        if self.acceptable(here, state, poll):
            after = replace(after, treq=with_place(after.treq, poll.source, poll.tseq + 1))
        return replace(after, asked=after.asked or (poll.asks and poll.source != here.entity))

    def failed(self, here: Here, state: State, pdu: Pdu | Poll) -> bool:
        """The failure condition (section 4.1), in a state in which the PDU has been accepted if it could be."""
        j = pdu.source
        mine = isinstance(pdu, Pdu) and here.entity in pdu.destinations
        if (mine or not self.literal(Letter.DETECTION)) and state.preq[j] < pdu.pseq[here.entity]:
            return True
        return any(state.treq[k] < pdu.ack[k] for k in range(here.entities) if k != j)

    # --------------------------------------------------------------------------------- (pre-)acknowledgment

    def pre_acknowledged(self, state: State, source: int, tseq: int, destinations: frozenset[int]) -> bool:
        """The pre-acknowledgment condition: p.TSEQ < minAL_j, over the cluster; as written, over p.DST."""
        if self.literal(Letter.PRINTED_INDEX):
            return all(tseq < state.al[k][source] for k in destinations)
        row = state.al[source]
        if self.literal(Letter.PRE_ACKNOWLEDGMENT):
            return all(tseq < row[k] for k in destinations)
        return tseq < min(row)

    def acknowledged(self, pal: Matrix, pdu: Pdu) -> bool:
        """The acknowledgment condition: p.TSEQ < minPAL_j(p)."""
        row = pal[pdu.source]
        return all(pdu.tseq < row[k] for k in pdu.destinations)

    def promoted(self, here: Here, state: State) -> State:
        """The procedures of sections 3.3 and 3.4, and what may leave SL."""
        pal, arl, prl, rrl = state.pal, list(state.arl), list(state.prl), list(state.rrl)
        while rrl and self.pre_acknowledged(state, rrl[0].source, rrl[0].tseq, rrl[0].destinations):
            pdu = rrl.pop(0)
            prl.append(pdu.settled)
            # What came back from PRL behind a failure line has told its ACK before.
            pal = raised(pal, pdu.source, pdu.ack) if pdu.ack else pal
        heard = []
        everybody = frozenset(range(here.entities))
        for source, tseq, ack in state.heard:
            if self.pre_acknowledged(state, source, tseq, everybody):
                pal = raised(pal, source, ack)
            else:
                heard.append((source, tseq, ack))
        while prl and self.acknowledged(pal, prl[0]):
            arl.append(prl.pop(0))
        least = min(state.al[here.entity])
        sl = tuple(pdu for pdu in state.sl if pdu.tseq >= least)
        if len(rrl) == len(state.rrl) and len(heard) == len(state.heard) and len(sl) == len(state.sl):
            return state
        return replace(
            state, pal=pal, heard=tuple(heard), sl=sl, arl=tuple(arl), prl=tuple(prl), rrl=tuple(rrl)
        )

    # ------------------------------------------------------------------------------------- confirmations and polls

    def transfer_timers(self, here: Here, state: State) -> tuple[Timer, ...]:
        """A confirmation of data is sooner than one of a confirmation, and that sooner than a poll; and of several
        entities the first is sooner, so that they do not all speak at once."""
        if state.owes:
            return (self.timer(here, "confirm", state.owes - 1),)
        if state.asked:
            return (self.timer(here, "answer", 1),)
        if state.sl and state.silent < self.repeats:
            return (self.timer(here, "poll", 2 + state.silent),)
        return ()

    def timer(self, here: Here, name: str, patience: int) -> Timer:
        """A time-out that outlasts those of less patience."""
        place = patience * here.entities + here.entity
        return Timer(name, after=self.timeout * (1 + place), patience=place)

    def told(self, here: Here, state: State) -> Step[State]:
        """A time-out in data transfer."""
        if state.owes:
            pdu = self.numbered(here, state, frozenset(), level=state.owes)
            after = replace(self.counted(state, pdu), owes=0, asked=False)
            return Step(after, (Transmit(pdu),))
        # An answer does not ask: two that wait for a third would answer each other for ever.
        asks = not state.asked
        poll = Poll(here.entity, state.tseq - 1, state.pseq, state.treq, asks, self.free(state))
        silent = state.silent + asks
        return Step(replace(state, asked=False, silent=silent), (Transmit(poll),))


def _owed(owes: int, level: int) -> int:
    """The level of the confirmation that is due after a PDU of some level."""
    due = level + 1
    if due > 2:
        return owes
    return min(owes, due) if owes else due
