"""The dynamic cluster: what an entity keeps, the PDUs of the two agreements, and which steps can be taken as written.

H. Suzuki, A. Nakamura, M. Takizawa: Design of Fault-tolerant Dynamic Cluster Control Protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from precedes_models.total_order.transfer import Row, Transfer

Mask: TypeAlias = frozenset[int]
"""A bit map: the entities whose bit is on."""


class Letter(Enum):
    """The steps that can be taken as written, each by itself. `dynamic_cluster` says what comes of each."""

    ANSWERS = "stop (2), recovery (2): every STOP_PACK and RCV_PACK is answered by one"
    OWN_ROW = "stop (3): REQ_j = AL_ji, the row of E_i itself"
    ONCE = "stop, recovery: what is lost is not sent again"
    GOES_ON = "stop: an entity that is taken for stopped, and what it sends, is treated as any other"
    OTHERS_ONLY = "recovery (3): each E_j other than E_h broadcasts RCV_ACK"
    NUMBER = "recovery (3): REQ_h = rc.SEQ"
    LAST = "recovery, AL reset: REQ_j = last(RL_kj).SEQ + 1 for every j, E_h included"
    EQUAL = "recovery (4): go on if rca.ACK_j = REQ_j for every j, and without a cut"
    UNION = "recovery (2): emask = emask or rc.BMAP"
    AT_ONCE = "recovery (2): an RCV is answered whether or not E_h has been agreed to have stopped"
    EARLIER = "recovery: what was sent in an earlier recovery of E_h counts"


class Standing(Enum):
    """What an entity is in its own eyes. ACTIVE is A of section 2.2, the others are I."""

    ACTIVE = "active"
    RECOVERING = "recovering"
    OUT = "out"
    """It found itself taken for stopped."""


@dataclass(frozen=True, slots=True)
class Stop:
    """STOP (1). `bmap` and `ack` are emask and REQ of the source, as in all PDUs of the agreements."""

    source: int
    bmap: Mask
    ack: Row


@dataclass(frozen=True, slots=True)
class StopPack:
    """STOP_PACK (2). `again`: the source repeats it, and wants an answer."""

    source: int
    bmap: Mask
    ack: Row
    again: bool = False


@dataclass(frozen=True, slots=True)
class StopAck:
    """STOP_ACK (3)."""

    source: int
    bmap: Mask
    ack: Row
    again: bool = False


@dataclass(frozen=True, slots=True)
class Rcv:
    """RCV (1): SEQ = ACK_h = 0 and no bit on. `number`: which recovery of E_h it is, its first, its second, as in all
    PDUs of a recovery.
    """

    source: int
    number: int = 1


@dataclass(frozen=True, slots=True)
class RcvPack:
    """RCV_PACK (2) in the recovery of `who`. `seq`, `epoch`: SEQ of the last data PDU of the source, and its epoch."""

    source: int
    who: int
    bmap: Mask
    ack: Row
    seq: int
    epoch: int
    again: bool = False
    number: int = 1


@dataclass(frozen=True, slots=True)
class RcvAck:
    """RCV_ACK (3) in the recovery of `who`."""

    source: int
    who: int
    bmap: Mask
    ack: Row
    epoch: int
    again: bool = False
    number: int = 1


StopPdu: TypeAlias = Stop | StopPack | StopAck


@dataclass(frozen=True, slots=True)
class Stopping:
    """A stop agreement under way. `packs[k]`: BMAP and ACK of what E_k told last; `acks[k]`: BMAP of its STOP_ACK.

    `answered`, `settled`: emask in this entity's last STOP_PACK and STOP_ACK.
    """

    packs: tuple[tuple[Mask, Row] | None, ...]
    acks: tuple[Mask | None, ...]
    answered: Mask | None = None
    settled: Mask | None = None


@dataclass(frozen=True, slots=True)
class Returning:
    """A recovery under way, that of `who`. `packs[k]`: BMAP, ACK and SEQ of the RCV_PACK of E_k; `acks[k]`: ACK of its
    RCV_ACK."""

    who: int
    packs: tuple[tuple[Mask, Row, int] | None, ...]
    acks: tuple[Row | None, ...]
    answered: Mask | None = None
    settled: bool = False
    epoch: int = 0
    number: int = 1


@dataclass(frozen=True, slots=True)
class Member:
    """The state of one entity: TO's, and the cluster's.

    `marked`: whose confirmations are ignored, stop (5). `tries`: how often this entity has repeated, without an answer,
    what it sent last in an agreement. `returned`: whether it has stopped and come back. `back`: whom it has taken back,
    and in which recovery. `recoveries`: how often it has begun to come back, which it still knows after a stop.
    """

    data: Transfer
    emask: Mask = frozenset()
    marked: Mask = frozenset()
    stopping: Stopping | None = None
    returning: Returning | None = None
    standing: Standing = Standing.ACTIVE
    tries: int = 0
    returned: bool = False
    back: frozenset[tuple[int, int]] = frozenset()
    recoveries: int = 0
