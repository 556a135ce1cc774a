"""TO, data transfer: what an entity keeps, acceptance, pre-acknowledgment and acknowledgment, and who owes a
confirmation.

After the ST paper (1994, sections 3.1 to 3.4) with every entity a destination: one SEQ instead of TSEQ and PSEQ, one
REQ instead of TREQ and PREQ. Whose confirmations count is an argument, `group`, because the dynamic cluster ignores
those of entities that have stopped. How lost PDUs are recovered is decided in `reset`.

The papers leave open who sends when there is no data to send; a PDU is acknowledged only by later PDUs. Here an
entity that owes a confirmation sends an empty PDU: one with a SEQ and ACKs, and no data.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from precedes.protocol import Action, Arrive, Deliver, Here, Message, Step, Transmit, replace

Row = tuple[int, ...]
"""A number for each entity."""

FIRST = 1
"""ISS, the SEQ of everybody's first PDU."""


class Letter(Enum):
    """The steps of TO that can be taken as written, each by itself."""

    ONE_CUT = "1994, section 4.2, step (3): one cut, by the RST_PAKs"
    FORGETS = "1994, section 3.3: a PDU that all have accepted is taken out of SL"


@dataclass(frozen=True, slots=True)
class Data:
    """A DT PDU. `ack[k]`: what the source expects next from E_k. `asks`: whoever accepts it answers.

    `epoch` counts the resets before it, so that what was under way at a reset is known to be old.
    """

    source: int
    seq: int
    ack: Row
    message: Message | None = None
    epoch: int = 0
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """A reset under way. `told[k]`, `cut[k]`: A of the RST_PAK and of the RST_ACK of E_k, None where it is missing."""

    epoch: int
    told: tuple[Row | None, ...]
    cut: tuple[Row | None, ...]
    answered: bool = False
    """Whether this entity has sent its RST_PAK."""
    settled: bool = False
    """Whether it has cut its log and sent its RST_ACK."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The state of one entity.

    `al[k][j]`: what E_j expects next from E_k, as far as this entity knows; `pal[k][j]`: what E_j will pre-acknowledge
    next of E_k. `rrl`, `prl`: accepted and pre-acknowledged PDUs; the acknowledged ones, ARL, have been delivered.
    `kept`: the part of SL that may have to be sent again, with SEQs. `agreed`: REQ where the last reset left it.
    `asked`: how often it has asked, without an answer, for confirmations that it misses.
    """

    seq: int
    req: Row
    al: tuple[Row, ...]
    pal: tuple[Row, ...]
    agreed: Row
    rrl: tuple[Data, ...] = ()
    prl: tuple[Data, ...] = ()
    kept: tuple[tuple[int, Message], ...] = ()
    epoch: int = 0
    round: Round | None = None
    asked: int = 0


def established(entities: int) -> Transfer:
    """The state in which the cluster is established (1994, section 3.1)."""
    row = (FIRST,) * entities
    return Transfer(FIRST, row, (row,) * entities, (row,) * entities, row)


def changed(row: Row, index: int, value: int) -> Row:
    """The row with one value changed."""
    return (*row[:index], value, *row[index + 1 :])


def told(matrix: tuple[Row, ...], source: int, ack: Row) -> tuple[Row, ...]:
    """AL_kj := ack_k for all k, where j is the source (1994, section 3.2, acceptance, step 2)."""
    return tuple(changed(row, source, ack[k]) for k, row in enumerate(matrix))


def emitted(here: Here, state: Transfer, message: Message | None, *, asks: bool = False) -> Step[Transfer]:
    """Broadcast one PDU, with data or empty (1994, section 3.2, sending)."""
    pdu = Data(here.entity, state.seq, state.req, message, state.epoch, asks)
    kept = state.kept if message is None else (*state.kept, (state.seq, message))
    return Step(replace(state, seq=state.seq + 1, kept=kept), (Transmit(pdu),))


def within_window(here: Here, state: Transfer, group: frozenset[int], window: int) -> bool:
    """The flow condition, without BUF: minAL_i <= SEQ < minAL_i + W (1994, section 3.2)."""
    return all(state.seq < state.al[here.entity][j] + window for j in group)


def lost(state: Transfer, pdu: Data, sources: frozenset[int]) -> bool:
    """The failure condition (1994, section 4.1): a gap before the PDU, or an ACK of what has not been received."""
    return pdu.seq > state.req[pdu.source] or any(pdu.ack[k] > state.req[k] for k in sources)


def accepted(
    here: Here, state: Transfer, pdu: Data, group: frozenset[int], *, forgets: bool = False
) -> Step[Transfer]:
    """Accept a PDU with SEQ = REQ, and whatever becomes pre-acknowledged and acknowledged by that."""
    missing = awaited(here, state, group)
    state = replace(
        state,
        req=changed(state.req, pdu.source, pdu.seq + 1),
        al=told(state.al, pdu.source, pdu.ack),
        rrl=(*state.rrl, pdu),
    )
    arrival: tuple[Action, ...] = () if pdu.message is None else (Arrive(pdu.message),)
    step = confirmed(here, state, group, forgets=forgets)
    after = step.state
    if after.asked and pdu.source in missing - awaited(here, after, group):
        after = replace(after, asked=0)
    return Step(after, arrival + step.actions)


def confirmed(here: Here, state: Transfer, group: frozenset[int], *, forgets: bool = False) -> Step[Transfer]:
    """Pre-acknowledgment and acknowledgment (1994, sections 3.3, 3.4), each from the top of its log while it can.

    `forgets`: the source takes a PDU out of SL when all have accepted it (section 3.3, as written). With go-back
    that is too early: what stands behind a failure line is discarded by all, and must be sent again. Repaired, it is
    kept until it is acknowledged; from then on no failure line can stand before it.
    """
    rrl, prl, pal, kept = state.rrl, state.prl, state.pal, state.kept
    while rrl and all(rrl[0].seq < state.al[rrl[0].source][j] for j in group):
        pal = told(pal, rrl[0].source, rrl[0].ack)
        prl, rrl = (*prl, rrl[0]), rrl[1:]
    actions: list[Action] = []
    while prl and all(prl[0].seq < pal[prl[0].source][j] for j in group):
        if prl[0].message is not None:
            actions.append(Deliver(prl[0].message))
        if prl[0].source == here.entity:
            kept = tuple(entry for entry in kept if entry[0] > prl[0].seq)
        prl = prl[1:]
    if forgets:
        row = state.al[here.entity]
        kept = tuple(entry for entry in kept if any(entry[0] >= row[j] for j in group))
    return Step(replace(state, rrl=rrl, prl=prl, pal=pal, kept=kept), tuple(actions))


def unconfirmed(state: Transfer, group: frozenset[int]) -> tuple[tuple[Data, ...], frozenset[int]]:
    """What keeps accepted data from being acknowledged: the PDUs of RRL that have to be pre-acknowledged first, up to
    the last data PDU and the last PDU that confirms data; and the entities of which there is no PDU that confirms all
    data.

    An ACK outside of data transfer (stop (2) of the dynamic cluster) may pre-acknowledge data. It is in no RRL, and so
    nothing is ever acknowledged by it: a PDU with a SEQ has to follow. What stop (3) has put behind REQ stop (4) will
    delete: nobody confirms it any more, and nobody waits for that.
    """
    length, silent = 0, set[int]()
    for pdu in (*state.prl, *state.rrl):
        if pdu.message is None or pdu.seq >= state.req[pdu.source]:
            continue
        if pdu in state.rrl:
            length = max(length, state.rrl.index(pdu) + 1)
        for k in group:
            if state.pal[pdu.source][k] <= pdu.seq:
                confirming = (
                    place
                    for place, other in enumerate(state.rrl)
                    if other.source == k and other.ack[pdu.source] > pdu.seq
                )
                place = next(confirming, None)
                if place is None:
                    silent.add(k)
                else:
                    length = max(length, place + 1)
    return state.rrl[:length], frozenset(silent)


def owes(here: Here, state: Transfer, group: frozenset[int]) -> bool:
    """Whether this entity has a confirmation to send, or has not received what it sent itself."""
    return here.entity in _silent(state, group) or any(seq >= state.req[here.entity] for seq, _ in state.kept)


def awaited(here: Here, state: Transfer, group: frozenset[int]) -> frozenset[int]:
    """The entities whose confirmations it misses."""
    return _silent(state, group) - {here.entity}


def _silent(state: Transfer, group: frozenset[int]) -> frozenset[int]:
    pdus, silent = unconfirmed(state, group)
    return silent | frozenset(j for j in group if any(state.al[pdu.source][j] <= pdu.seq for pdu in pdus))
