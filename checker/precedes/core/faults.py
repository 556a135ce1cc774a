"""The faults of a network and its entities, in one table.

The options of the command, the budget of an exploration and the rules of the gate are made from it. Bounds, conditions
and the configuration of the gate have a field for each, which type checkers read; a test compares them with the table.

An exploration counts faults: at most so many losses. A simulation draws them, with a probability. Some faults
exist only in one of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from precedes.core.suggestions import Synonyms


class Moment(Enum):
    """When an exploration decides whether a fault happens."""

    ANY_STATE = auto()
    """a move of its own, wherever there is something to lose, to stop, ..."""
    TIMEOUT = auto()
    """the expiry of a time-out"""
    BEGINNING = auto()
    """before the first move"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault.

    `count`: its name in `Bounds`, in the gate and of an option of `explore`; `nouns` are what one and several are
    called, `counted` is what the option says. `rate`: its name in `Conditions`, in the gate and of an option of
    `simulate`; `rated` is what the option says. `ability`: the attribute of a network that says whether it has such
    faults; None where that does not depend on the network. `verb`: what such a network does to packets.
    """

    count: str
    nouns: tuple[str, str]
    counted: str
    moment: Moment
    rate: str | None = None
    rated: str = ""
    ability: str | None = None
    verb: str = ""


FAULTS: Final = (
    Fault(
        "losses",
        ("loss", "losses"),
        "How many packets the network may lose.",
        Moment.ANY_STATE,
        "loss",
        "Probability that a packet is lost, for each receiver.",
        "loses",
        "lose",
    ),
    Fault(
        "duplicates",
        ("duplicate", "duplicates"),
        "How many packets the network may copy.",
        Moment.ANY_STATE,
        "duplication",
        "Probability that a packet arrives twice, for each receiver.",
        "duplicates",
        "duplicate",
    ),
    Fault(
        "corruptions",
        ("corruption", "corruptions"),
        "How many packets the network may change.",
        Moment.ANY_STATE,
        "corruption",
        "Probability that a packet arrives changed, for each receiver.",
        "corrupts",
        "corrupt",
    ),
    Fault(
        "crashes",
        ("crash", "crashes"),
        "How often an entity may stop.",
        Moment.ANY_STATE,
        "crash",
        "Probability that an entity stops during an execution.",
    ),
    Fault(
        "recoveries",
        ("recovery", "recoveries"),
        "How often a stopped entity may start again.",
        Moment.ANY_STATE,
        "recovery",
        "Probability that a stopped entity starts again.",
    ),
    Fault(
        "early",
        ("early time-out", "early time-outs"),
        "How many time-outs may expire while packets are in flight.",
        Moment.TIMEOUT,
    ),
    Fault(
        "broken_links",
        ("broken link", "broken links"),
        "How many pairs of entities are disconnected.",
        Moment.BEGINNING,
    ),
    Fault(
        "dead",
        ("dead entity", "dead entities"),
        "How many entities have stopped before the beginning.",
        Moment.BEGINNING,
    ),
)

COUNTS: Final = tuple(fault.count for fault in FAULTS)
"""The numbers in `Bounds` of what may go wrong."""
IN_ANY_STATE: Final = tuple(fault.count for fault in FAULTS if fault.moment is Moment.ANY_STATE)
"""Those of them that are moves of their own."""
AT_TIMEOUTS: Final = tuple(fault.count for fault in FAULTS if fault.moment is Moment.TIMEOUT)
"""Those of them that are time-outs."""
UNRECORDED: Final = {
    **{fault.count: fault.nouns for fault in FAULTS if fault.ability is not None},
    "timeouts": ("time-out", "time-outs"),
}
"""What a run may have that nobody recorded, up to limits: what a network does to packets, and time-outs that expire by
themselves; and what one and several are called.
"""
RATES: Final = tuple(fault.rate for fault in FAULTS if fault.rate is not None)
"""The probabilities in `Conditions` of what may go wrong."""
COUNTED_OR_RATED: Final[Synonyms] = {
    **{(fault.count,): (fault.rate,) for fault in FAULTS if fault.rate is not None},
    **{(fault.rate,): (fault.count,) for fault in FAULTS if fault.rate is not None},
}
"""For each number of faults what its probability is called, and the reverse: who writes one may mean the other."""
