"""ST, sections 4.1 to 4.3: what stands behind the failure line, and the order in which it is put.

The paper's `||` is local knowledge and a common decision. That p was missed by somebody can be seen from p and from
all RST_PAK: somebody whose next expected PSEQ p has gone past. What follows such a PDU in the log of one entity must
stand behind the line in the log of every entity, which the others cannot see: it takes part of an RST_ACK to say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from precedes_models.st.state import Matrix, Pdu, RstAck, RstPak, Vector


def missed(pdu: Pdu, a: Matrix) -> bool:
    """Whether some entity lacks this PDU, or one of the same source before it. `a[k][h]`: what E_k expects of E_h."""
    return any(pdu.after(k) > expects[pdu.source] for k, expects in enumerate(a))


def first_behind(log: Iterable[Pdu], sent: Iterable[Pdu], paks: Sequence[RstPak]) -> Vector:
    """For each source the least TSEQ behind the failure point in `log` (what is not acknowledged of RL, in order), and
    of what this entity sent; where there is none, the TSEQ at which the source has stopped."""
    a = tuple(pak.a for pak in paks)
    least = [pak.tseq for pak in paks]
    behind = False
    for pdu in log:
        behind = behind or missed(pdu, a)
        if behind:
            least[pdu.source] = min(least[pdu.source], pdu.tseq)
    for pdu in sent:
        if missed(pdu, a):
            least[pdu.source] = min(least[pdu.source], pdu.tseq)
    return tuple(least)


def failure_line(rst_acks: Sequence[RstAck]) -> Vector:
    """For each source the TSEQ from which on its PDUs stand behind the line, the same at every entity: what stands
    behind one failure point stands behind all, but what somebody has acknowledged stays."""
    return tuple(
        max(min(ack.behind[h] for ack in rst_acks), *(ack.acknowledged[h] for ack in rst_acks))
        for h in range(len(rst_acks))
    )


def literal_front(log: Sequence[Pdu], a: Matrix, entity: int) -> int:
    """Section 4.2, step (3), as written: how many PDUs of RL_h stand before the first q with q.PSEQ_h not less than
    the least A_h."""
    least = min(expects[entity] for expects in a)
    return next((place for place, pdu in enumerate(log) if pdu.pseq[entity] >= least), len(log))


def sorted_run(run: Iterable[Pdu], rank: Vector, entity: int) -> tuple[Pdu, ...]:
    """S_j by the sorting rules: (1) by the order < of the sources, (2) by PSEQ_j."""
    return tuple(sorted(run, key=lambda pdu: (rank.index(pdu.source), pdu.pseq[entity])))
