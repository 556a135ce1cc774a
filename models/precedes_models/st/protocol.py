"""ST: T. Tachikawa, A. Nakamura, M. Takizawa: Data Transmission with Selectively Totally Ordered Broadcast Protocol on
Single Channel Network. Transactions of the Information Processing Society of Japan, 1994 (in Japanese).

Data transfer is in `transfer`, recovery in `recovery`, the failure line and the sorting in `sorting`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import Here, Invariant, Message, Step, Timer, replace
from precedes_models.st.invariants import FURTHER, INVARIANTS
from precedes_models.st.recovery import Recovery
from precedes_models.st.state import Collecting, Pdu, Poll, Request, Rst, RstAck, RstPak, State


@dataclass(frozen=True)
class SelectiveTotalOrder(Recovery):
    """Sections 3 and 4.

    Readings, the same in both forms. Where the text that we have prints i for j (section 3.1 on PSEQ, the acceptance
    condition's PREQ_i, minAL_j of the sender), the index that makes sense is taken. A PDU has PSEQ_j of every E_j,
    also of those that it is not for: what the sending procedure puts in, which is one more than section 3.1 says of a
    PDU between two for E_j. "Stops data transfer" (section 4.2, step 2) is of sending and of accepting; so A and D of
    an RST_ACK are those of the RST_PAK. Nothing sets BUF_j: taken is p.BUF, at acceptance, and BUF_i is what RRL and
    PRL leave. A PDU that shows a loss is accepted first if it can be, as in Figure 6.
    Agreements are numbered, of which the paper does not speak: one RST starts what another one has started already.

    Additions, for a run has an end and the paper's does not: confirmations (PDUs for nobody, in two levels, for that
    is what acknowledgment takes), polls (who has sent something that not all have accepted says how far it is),
    repetitions of the parts of an agreement. `confirms=False` leaves out the first. The window does not count
    confirmations.

    As written, each step with its scenario in specs/papers/st-1994-as-written.prec; `letters` takes steps one by one:

    - ACCEPTANCE: who misses a PDU for others accepts no other PDU for others from that source, and shuts its window.
    - DISCARDING: acknowledgment needs the ACK of PDUs that are pre-acknowledged; those for others are thrown away.
      Two entities that both send to a third only never acknowledge what they got. This is by "p is discarded". Section
      3.2 also has E_i keep the control information of what is not for it, which is the repaired form.
    - PRE_ACKNOWLEDGMENT: a PDU is acknowledged while an earlier one of the same source is lost
      (`st_pre_acknowledgment`).
    - DETECTION: "E_k in p.DST" is read as a condition on the PDU that shows the loss, since only then does p.DST say
      something; but PDUs for others show a loss, too, by their PSEQ (`st_detection`). If it is said of the lost g,
      where g.DST is meant, PREQ_j < p.PSEQ_k is the whole condition, which is the repaired form.
    - FAILURE_POINT: the numbers that step (3) compares count different things, and what one entity has in front of
      its failure point another has behind (`st_failure_point`). Figure 6 does not come out. Repaired: a PDU is behind
      if a destination lacks it or one before it of the same source, or if it follows such a PDU in the log of any
      entity; an RST_ACK tells. What somebody has acknowledged is in front.
    - RENUMBERING, RESENDING, RECEIVING: nothing that was lost is ever received (`st_renumbering`, `st_resending`,
      `st_receiving`). The numbers stay, "not less" for "greater", and in sequence. With "not less" for both signs
      RENUMBERING alone loses everything.
    - GAPS: who misses a PDU for others starts agreement after agreement. Repaired: TREQ becomes the TSEQ of the
      RST_PAK.
    - SORTING: no fault of the paper. Who lacks an RST_PAK does not come to sorting there, and all others have them in
      the order of the channel. If RST_PAK are repeated, as CONTROL is repaired, ORDR differ (`st_sorting`). Then it has
      to be that of one entity: of the first entity's RST_ACK.
    - CONTROL: RST, RST_PAK and RST_ACK are lost like any PDU (`st_control`). Repaired: who lacks a part asks for it,
      an RST_PAK is as good as an RST, and a new agreement waits until all are seen to have done with the last one.

    PRINTED_INDEX is no part of `--as-written`: section 3.3 prints AL_j(p) with the indices of AL_kj, which are those of
    what E_j expects, where what is expected of E_j is meant. Taken so, a PDU is pre-acknowledged before anybody has
    confirmed it.

    The sorting rules, the failure condition (2) and the rest of section 3 are as printed.
    """

    name: ClassVar[str] = "st"
    repaired: ClassVar[bool] = True
    source: ClassVar[str] = "Tachikawa, Nakamura, Takizawa 1994, sections 3 and 4"
    claims: ClassVar[tuple[str, ...]] = ("ST", "no_creation", "no_duplication")
    invariants: ClassVar[tuple[Invariant, ...]] = INVARIANTS
    further: ClassVar[tuple[Invariant, ...]] = FURTHER
    fair: ClassVar[Mapping[str, str]] = {
        "arrivals": "one channel; what an entity does not miss, it receives (section 2.1)",
        "time-outs": "who does not receive all that it lost within a certain time asks again (section 4.3, step 2)",
    }

    def arrive(self, here: Here, state: State, packet: Hashable, sender: int) -> Step[State]:
        match packet:
            case Pdu() | Poll():
                step = self._pdu(here, state, packet)
            case Rst():
                step = self.on_rst(here, state, packet)
            case RstPak():
                step = self.on_pak(here, state, packet, sender)
            case RstAck():
                step = self.on_ack(here, state, packet, sender)
            case Request():
                step = self.on_request(here, state, packet, sender)
            case _:
                raise TypeError(f"not a packet of this protocol: {packet!r}")
        after = step.state
        if after.recovery is None:
            after = self.promoted(here, after)
        if after.silent and _progress(after) != _progress(state):
            after = replace(after, silent=0)
        return Step(after, step.actions)

    def _pdu(self, here: Here, state: State, pdu: Pdu | Poll) -> Step[State]:
        if self.stopped(state):
            return Step(state)
        if pdu.source in state.behind and not (isinstance(pdu, Pdu) and pdu.again):
            state = self.followed(state, pdu.source)
        if state.recovery is not None:
            return self.late(here, state, pdu) if isinstance(pdu, Pdu) else Step(state)
        if isinstance(pdu, Poll):
            after = self.polled(here, state, pdu)
        elif self.acceptable(here, state, pdu):
            after = self.accepted(here, state, pdu)
        else:
            after = state
        return self.alarmed(after) if self.failed(here, after, pdu) else Step(after)

    def timers(self, here: Here, state: State) -> tuple[Timer, ...]:
        if state.recovery is not None or state.alarm:
            return self.recovery_timers(here, state)
        return self.transfer_timers(here, state)

    def expire(self, here: Here, state: State, timer: Timer) -> Step[State]:
        if state.recovery is not None or state.alarm:
            return self.repeated(here, state)
        return self.told(here, state)

    def receipt_log(self, state: State) -> tuple[Message, ...]:
        """RL = ARL, PRL, RRL. From the RST_ACK of an entity until it has sorted, ARL alone: the rest has no order."""
        undecided = state.recovery is not None and state.rst_ack is not None and not self.stopped(state)
        log = state.arl if undecided else state.received
        return tuple(pdu.message for pdu in log if pdu.message is not None)


def _progress(state: State) -> tuple[object, ...]:
    collected = 0
    if isinstance(state.recovery, Collecting):
        collected = sum(part is not None for part in state.recovery.paks + state.recovery.acks)
    return state.sl, state.rrl, state.prl, state.arl, state.round, type(state.recovery), collected
