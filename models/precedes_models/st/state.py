"""What the ST protocol keeps and sends: PDUs, the state of an entity, and the steps of the paper that can be taken as
written, one by one.

Entities count from 0, sequence numbers from 1 (the paper's ISS). Vectors have one place for each entity; `al[k][j]` is
the paper's AL_kj.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from precedes.protocol import Message, replace

FIRST: Final = 1
"""ISS, the first sequence number."""

Vector: TypeAlias = tuple[int, ...]
Matrix: TypeAlias = tuple[Vector, ...]


class Letter(Enum):
    """Steps of the paper whose letter, or one reading of it, differs from what is repaired here. All of them together
    are `as_written`, but for PRINTED_INDEX: a symbol that makes no sense is not held against the paper."""

    ACCEPTANCE = "section 3.2, acceptance condition (2): only a PDU for E_i makes up for a gap in the TSEQ"
    DISCARDING = (
        "section 3.2, acceptance procedure (3): a PDU that is not for E_i is discarded, its ACK with it"
    )
    PRINTED_INDEX = "section 3.3, AL_j(p): {AL_kj}, what E_j expects of the destinations, where it is {AL_jk}"
    PRE_ACKNOWLEDGMENT = "section 3.3, pre-acknowledgment condition: the destinations of p, not the cluster"
    DETECTION = "section 4.1, failure condition (1): E_k in p.DST is a condition on p, where it is g.DST"
    FAILURE_POINT = "section 4.2, step (3): p.PSEQ_h against the least A_h, each entity for itself"
    RENUMBERING = "section 4.2, step (4): PSEQ_i := A, PREQ_i := D before anything is sent again"
    GAPS = "section 4.2, step (4): TREQ stays as it is"
    RESENDING = "section 4.3, retransmission (1): p.PSEQ_j > PSEQ_i"
    RECEIVING = "section 4.3, retransmission (2): PREQ_i < p.PSEQ_j, and PREQ_i stays as it is"
    SORTING = "section 4.3, rule (1): each entity takes its own ORDR"
    CONTROL = "section 4.2: RST, RST_PAK and RST_ACK arrive everywhere"


@dataclass(frozen=True, slots=True)
class Pdu:
    """A PDU of section 3.1. Without a message it is a confirmation, which the paper does not have: it is for nobody.

    `level`: 0 with a message; 1 confirms those; 2 confirms such of level 1, which ends it. `again`: sent before.
    """

    source: int
    tseq: int
    pseq: Vector
    ack: Vector
    destinations: frozenset[int]
    message: Message | None = None
    level: int = 0
    buffers: int | None = None
    again: bool = False

    def after(self, entity: int) -> int:
        """The PSEQ that the next PDU of the same source has for an entity."""
        return self.pseq[entity] + (entity in self.destinations)

    @property
    def settled(self) -> Pdu:
        """What of an acknowledged PDU can matter still."""
        return replace(self, ack=())


@dataclass(frozen=True, slots=True)
class Poll:
    """The control part of its source's last PDU once more, with the ACK of now: an addition, sent at a time-out.

    `asks`: the source waits for somebody to accept what it sent; otherwise it answers.
    """

    source: int
    tseq: int
    pseq: Vector
    ack: Vector
    asks: bool
    buffers: int | None = None


@dataclass(frozen=True, slots=True)
class Rst:
    """RST of section 4.2, step (1). Its A and D say nothing that the RST_PAK of the same entity does not say."""

    round: int


@dataclass(frozen=True, slots=True)
class RstPak:
    """RST_PAK of step (2): `a`, `d` are the paper's A and D; `ack` and `tseq` the TREQ and TSEQ of the sender.

    `lacks`: whose RST_PAK the sender has not got; in the first transmission it is empty.
    """

    round: int
    a: Vector
    d: Vector
    ack: Vector
    tseq: int
    lacks: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RstAck:
    """RST_ACK of step (3). A and D are those of the sender's RST_PAK, for data transfer has stopped in between.

    `order`: ORDR. Repaired, too: for each source, `behind` is the least TSEQ behind the failure point of the sender,
    `acknowledged` the least that it has not acknowledged.
    """

    round: int
    order: Vector
    behind: Vector
    acknowledged: Vector
    lacks: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Request:
    """Asks for retransmission (section 4.3, step (2)): `expected` is PREQ."""

    round: int
    expected: Vector


Packet: TypeAlias = Pdu | Poll | Rst | RstPak | RstAck | Request


@dataclass(frozen=True, slots=True)
class Collecting:
    """Steps (2) and (3): data transfer has stopped; `order` is ORDR so far.

    `front`: how many PDUs of PRL and RRL stand before the failure point, by step (3) as written.
    """

    paks: tuple[RstPak | None, ...]
    acks: tuple[RstAck | None, ...]
    order: Vector = ()
    front: int | None = None


@dataclass(frozen=True, slots=True)
class Recovering:
    """Section 4.3: waits for what was lost. `due[j]` is D of E_j for this entity, `numbers[j]` the TSEQ of E_j when it
    stopped, `rank` the order < of the entities."""

    due: Vector
    numbers: Vector
    rank: Vector


@dataclass(frozen=True, slots=True)
class State:
    """An entity. `sl` has what not every entity is known to have accepted; `heard` (source, TSEQ, ACK) of accepted PDUs
    for others, until they are pre-acknowledged.

    `owes`: the level of the confirmation that is due, 0 for none; `asked`: somebody waits for an answer; `silent`:
    time-outs in a row that changed nothing; `alarm`: an RST was sent and has not come back; `behind`: who may not have
    done with the last agreement, `round`; `pak`, `rst_ack`: the entity's own parts of it.
    """

    tseq: int
    pseq: Vector
    treq: Vector
    preq: Vector
    al: Matrix
    pal: Matrix
    buffers: Vector = ()
    sl: tuple[Pdu, ...] = ()
    rrl: tuple[Pdu, ...] = ()
    prl: tuple[Pdu, ...] = ()
    arl: tuple[Pdu, ...] = ()
    heard: tuple[tuple[int, int, Vector], ...] = ()
    owes: int = 0
    asked: bool = False
    silent: int = 0
    alarm: bool = False
    behind: frozenset[int] = frozenset()
    round: int = 0
    recovery: Collecting | Recovering | None = None
    pak: RstPak | None = None
    rst_ack: RstAck | None = None

    @property
    def received(self) -> tuple[Pdu, ...]:
        """RL: ARL, PRL and RRL."""
        return self.arl + self.prl + self.rrl


def with_place(vector: Vector, place: int, value: int) -> Vector:
    """The vector with one place changed."""
    return (*vector[:place], value, *vector[place + 1 :])


def raised(matrix: Matrix, column: int, values: Vector) -> Matrix:
    """`matrix[k][column] := values[k]` for every k where that is more."""
    return tuple(
        with_place(row, column, values[k]) if values[k] > row[column] else row for k, row in enumerate(matrix)
    )
