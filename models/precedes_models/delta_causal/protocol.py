"""Δ-causal order with tags of bounded size (Δ-causal paper, §3.2 to §3.5).

An agent stands between each process and the network. It tags what it sends with what it knows to be under way to
every process, `CB`, at most `MAX_CB` entries for each, and keeps back what arrives until what the tag names has been
delivered or has passed its deadline. Where a tag is full something may have been left out of it, which was sent no
later than what it names: then the agent waits, too, until one that it names has passed its deadline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations, product
from typing import ClassVar

from precedes.protocol import Here, Invariant, Message, Network, Timed
from precedes_models.delta_causal.agent import Agent, DeltaAgent, Mark, Packet, Tag, union_max
from precedes_models.delta_causal.invariants import AS_WRITTEN, FURTHER, NEVER, REPAIRED, THEOREM_4


class Letter(Enum):
    """The steps whose letter differs from what is repaired here. Both together are `as_written`."""

    S1 = "(S1): TS := time, also where the clock has not moved since what comes before was sent"
    R4 = "(R4): the mark is (i, TS), i being the receiver"


class Part(Enum):
    """Steps that can be left out, to see what each is for."""

    S2 = "(S2): marks whose deadline has passed are taken out of the tag"
    R0 = "(R0): what is stamped later than the clock shows waits for it (section 3.5)"


@dataclass(frozen=True)
class DeltaCausal(DeltaAgent):
    """Steps (S1) to (S5) and (R0) to (R6).

    As written and repaired differ in two places; `letters` takes them as written one by one, `without` leaves a step
    out.

    - **(R4)** adds `(i, TS_m)`, i being the receiver. That is a slip: by section 3.2 a mark is (sender, time stamp),
      and the proof of Lemma 1 uses (R4) so. As written a message that was sent after m may overtake m at another
      destination of m. Repaired: `(j, TS_m)`.
    - **(S1)** stamps with the clock. If the clock has not moved since the last send, or since the send of what was
      delivered here (delay zero; a clock that is late and catches up in (R0)), two messages of which one comes
      before the other have the same stamp: `deliv[l] >= x` takes one for the other, and the wait for `x + Δ < time`
      ends after the deadline of who waits. Theorem 4's proof has TS_m' < TS_m. Repaired, a request is accepted
      only when the clock is later than every stamp sent or delivered here.

    §2.2 throws away what comes "Δ or more" after its send, (R1) what comes more than Δ after it; Definition 4 and
    (R2) agree with (R1), and both forms do as (R1) says. `epsilon` is ε of §3.5: Δ + ε stands for Δ in every step,
    and (R0) runs; where it is 0 no stamp is ever ahead of a clock and (R0) never waits. Where (S3) has to choose
    between marks of one time, and where several messages may be delivered at one time, every choice is explored.
    """

    max_cb: int | None = 2
    """MAX_CB; None: without bound."""
    epsilon: int = 0
    """The greatest difference between two clocks, in ticks."""
    letters: frozenset[Letter] = field(default_factory=frozenset)
    """Steps that are taken as written though the rest is repaired."""
    without: frozenset[Part] = field(default_factory=frozenset)
    """Steps that are left out."""

    name: ClassVar[str] = "delta-causal"
    repaired: ClassVar[bool] = True
    source: ClassVar[str] = "Δ-causal paper, sections 3.2, 3.3 and 3.5"
    invariants: ClassVar[tuple[Invariant, ...]] = (*REPAIRED, THEOREM_4)
    further: ClassVar[tuple[Invariant, ...]] = (*AS_WRITTEN, *FURTHER)

    def __post_init__(self) -> None:
        if self.epsilon < 0:
            raise ValueError("epsilon must be a number of ticks, and not negative")
        if self.max_cb is not None and self.max_cb < 1:
            raise ValueError("max_cb must be 1 or more, or None for no bound")
        super().__post_init__()
        # What is claimed and checked depends on the parameters; the class has what it is for those that stand there.
        if self.lemmas and self.as_written:
            object.__setattr__(self, "invariants", (*AS_WRITTEN, THEOREM_4))
            object.__setattr__(self, "further", (*REPAIRED, *FURTHER))
        if self.epsilon:
            object.__setattr__(self, "claims", tuple(claim for claim in self.claims if claim != "deadline"))

    @property
    def network(self) -> Network:
        """Delays from none to one tick more than can be in time, by whichever clock: later is as good as lost."""
        return Timed(shortest=0, longest=self.limit + self.epsilon + 1, skew=self.epsilon)

    @property
    def limit(self) -> int:
        """What the steps call Δ: Δ + ε (§3.5)."""
        return self.delta + self.epsilon

    @property
    def clock_stamps(self) -> bool:
        """(S1) as written."""
        return self.as_written or Letter.S1 in self.letters

    @property
    def receiver_marks(self) -> bool:
        """(R4) as written."""
        return self.as_written or Letter.R4 in self.letters

    @classmethod
    def instances(cls, *, as_written: bool) -> Sequence[DeltaCausal]:
        """MAX_CB of 1, 2 and without bound."""
        return tuple(cls(as_written=as_written, max_cb=bound) for bound in (1, 2, None))

    # ---- sending ----------------------------------------------------------------------------------------------

    def may_send(self, here: Here, state: Agent) -> bool:
        """Before (S1), repaired: the clock has moved since all that was sent or delivered here was sent."""
        return self.clock_stamps or here.now > state.latest

    def later(self, latest: int, stamp: int) -> int:
        """The later of the two; as written nobody asks."""
        return NEVER if self.clock_stamps else max(latest, stamp)

    def tags(self, here: Here, state: Agent, message: Message) -> Iterator[Tag]:
        """(S2) and (S3); what is sent in (S4) is what is left of CB."""
        return self.trimmed(self.unexpired(state.cb, here.now))

    def unexpired(self, cb: Tag, now: int) -> Tag:
        """(S2)."""
        if Part.S2 in self.without:
            return cb
        return tuple(
            frozenset((sender, x) for sender, x in marks if not x + self.limit < now) for marks in cb
        )

    def trimmed(self, cb: Tag) -> Iterator[Tag]:
        """(S3): the latest MAX_CB marks for each process; of marks with one time any."""
        yield from product(*(_latest(marks, self.max_cb) for marks in cb))

    def after_sending(self, tag: Tag, message: Message, stamp: int) -> Tag:
        """(S5)."""
        mark = frozenset({(message.sender, stamp)})
        return tuple(mark if k in message.destinations else marks for k, marks in enumerate(tag))

    # ---- receiving --------------------------------------------------------------------------------------------

    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        """(R0) and (R2)."""
        due = self.expired(here, state, packet)
        if Part.R0 not in self.without:
            due = max(packet.stamp, due)
        marks = packet.cb[here.entity]
        if self.is_full(marks):
            due = max(due, min(x for _, x in marks) + self.limit + 1)
        return due

    def is_full(self, marks: frozenset[Mark]) -> bool:
        """|CB| = MAX_CB."""
        return len(marks) == self.max_cb

    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        """(R4) for the other destinations, (R5) for who is none."""
        message = packet.message
        mark = frozenset({(here.entity if self.receiver_marks else message.sender, packet.stamp)})
        return tuple(
            marks
            if k == here.entity
            else union_max(marks, mark if k in message.destinations else packet.cb[k])
            for k, marks in enumerate(cb)
        )


def _latest(marks: frozenset[Mark], bound: int | None) -> Iterator[frozenset[Mark]]:
    if bound is None or len(marks) <= bound:
        yield marks
        return
    last = sorted((x for _, x in marks), reverse=True)[bound - 1]
    later = frozenset(mark for mark in marks if mark[1] > last)
    of_one_time = sorted(mark for mark in marks if mark[1] == last)
    for some in combinations(of_one_time, bound - len(later)):
        yield later.union(some)
