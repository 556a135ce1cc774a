"""The numbers of the high-integrity paper, exact: packets, probabilities, expected rounds, load. All are fractions.

What is certain and what only probable: in the ring every round notices a failure (`unnoticed` is 0) as long as the
origin lives and no request is lost. A drawn neighbor notices it in a round with a probability below 1, and after
any number of rounds t the failure is still unnoticed with probability q^t > 0; only the expectation 1 / (1 - q) is
bounded.

P(n) = (1 - 1/n)^n of section 3.4.2. Proved here, for every n >= 1: P(n) < P(n + 1), by the inequality of the means
of n factors 1 - 1/n and one factor 1, whose geometric mean is P(n)^(1/(n+1)) and whose arithmetic mean is
n / (n + 1) = 1 - 1/(n + 1); the factors are not all equal, so it is strict. P(n) < 1/e, for log(1 - x) < -x. The
limit is 1/e: n log(1 - 1/n) = -1 - 1/(2n) - 1/(3n^2) - ... lies between -1 - 1/(2(n - 1)) and -1. Hence P(n) >= P(2)
= 1/4 for n >= 2, P(n) >= P(6) = 15625/46656 > 1/3 for n >= 6, and not for n = 5: 1024/3125 < 1/3.

That P(n) is a lower bound of the error is so with one failed node, where nodes may draw themselves. With f failed
nodes the error, that none of them is named, is (1 - f/n)^(n - f): 1/4 for two of four nodes, below P(4) = 81/256.

But P(n) is the probability that n nodes, each of which asks one of n, all leave a given node out: that the failure is
not noticed. The paper introduces it as a bound of that error, from below, and then uses it as the probability of
detection, whose inverse would be 4 rounds, or 3. In the procedure the failed node does not ask, so that n - 1 do: the
error is (1 - 1/n)^(n - 1) > P(n), or (1 - 1/(n - 1))^(n - 1) = P(n - 1) where nobody asks itself; detection has the
rest. (1 - 1/n)^(n - 1) is 1 / (1 + 1/(n - 1))^(n - 1), which by the same inequality falls from 1/2 at n = 2 to
1/e. So a failure is found with probability 1/2 or more for every n, and within 2 rounds in the mean.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from math import comb, prod
from typing import assert_never

from precedes_models.high_integrity.neighbors import Fixed, NearFar, Neighbourhood, Ring, Uniform, choices


def packets(nodes: int) -> int:
    """Packets of a round without faults and with one neighbor each (section 3.4.1): 1 multicast, n queries, n
    answers."""
    return 1 + 2 * nodes


def expected_packets(neighbourhood: Neighbourhood, nodes: int) -> Fraction:
    """The expected number of packets of a round without faults: 1 multicast, and a query and an answer for everyone
    whom a node asks. Who draws itself asks nobody.

    One neighbor each takes 2n + 1 (sections 3.4.1, 3.4.3); drawn among all n, itself included, as P(n) of section
    3.4.2 has it, 2n - 1 in the mean, and any odd number from 1 to 2n + 1.
    """
    asked = (
        probability * len(chosen - {node})
        for node in range(nodes)
        for probability, chosen in choices(neighbourhood, node, range(nodes))
    )
    return 1 + 2 * sum(asked, start=Fraction(0))


def tcp_packets(nodes: int) -> int:
    """What the paper holds against it: the packets that open n - 1 TCP connections, without any data."""
    return 3 * (nodes - 1)


def paper_p(nodes: int) -> Fraction:
    """P(n) of section 3.4.2."""
    return (1 - Fraction(1, nodes)) ** nodes


def avoids(neighbourhood: Neighbourhood, nodes: int, node: int, failed: Collection[int]) -> Fraction:
    """The probability that one node asks none of the failed ones."""
    match neighbourhood:
        case Uniform(several, itself):
            among = nodes if itself else nodes - 1
            # A node alone asks itself; a node that may not ask itself does not count among those it asks.
            count = max(among, 1)
            wrong = len(set(failed) - (set() if itself else {node}))
            drawn = min(several, count)
            return Fraction(comb(count - wrong, drawn), comb(count, drawn))
        case Ring() | NearFar() | Fixed():
            options = choices(neighbourhood, node, range(nodes))
            return sum((p for p, chosen in options if not chosen & set(failed)), Fraction(0))
        case _ as never:
            assert_never(never)


def unnoticed(neighbourhood: Neighbourhood, nodes: int, failed: Collection[int]) -> Fraction:
    """The probability that a round names none of the failed nodes: no live node asks one of them.

    Failed are nodes without the data. The origin, node 0, must not be one of them.
    """
    if 0 in failed:
        raise ValueError("node 0 is the origin: without it nothing is sent")
    if isinstance(neighbourhood, Uniform):
        # Every live node is in the same position.
        return avoids(neighbourhood, nodes, 0, failed) ** (nodes - len(set(failed)))
    live = [node for node in range(nodes) if node not in failed]
    return prod((avoids(neighbourhood, nodes, node, failed) for node in live), start=Fraction(1))


def unnoticed_near_far(near: NearFar, nodes: int) -> Fraction:
    """`unnoticed` for one failed node, wherever it is, without a sum over the nodes: 2w near ones ask it with p / 2w,
    the n - 1 - 2w far ones with (1 - p) / (n - 1 - 2w)."""
    close, far = 2 * near.reach, nodes - 1 - 2 * near.reach
    if far <= 0:
        return unnoticed(Uniform(), nodes, {1})
    return (1 - near.near / close) ** close * (1 - (1 - near.near) / far) ** far


def expected_rounds(neighbourhood: Neighbourhood, nodes: int, failed: Collection[int]) -> Fraction:
    """The expected number of rounds until one of the failed nodes is named; rounds are independent trials."""
    return 1 / (1 - unnoticed(neighbourhood, nodes, failed))


def all_named(neighbourhood: Uniform, nodes: int, failed: int) -> Fraction:
    """The probability that one round names every one of several failed nodes, by inclusion and exclusion."""
    return sum(
        ((-1) ** j * comb(failed, j) * _left_out(neighbourhood, nodes, failed, j) for j in range(failed + 1)),
        Fraction(0),
    )


def expected_rounds_all(neighbourhood: Uniform, nodes: int, failed: int) -> Fraction:
    """The expected number of rounds until each of several failed nodes has been named.

    Some j of them are all left out for t rounds with probability q_j^t; so the sum over t of P(T > t) is the sum over
    j >= 1 of (-1)^(j + 1) C(f, j) / (1 - q_j).
    """
    return sum(
        (
            (-1) ** (j + 1) * comb(failed, j) / (1 - _left_out(neighbourhood, nodes, failed, j))
            for j in range(1, failed + 1)
        ),
        Fraction(0),
    )


def _left_out(neighbourhood: Uniform, nodes: int, failed: int, some: int) -> Fraction:
    """The probability that a round names none of `some` given nodes of the failed ones."""
    return avoids(neighbourhood, nodes, 0, range(1, some + 1)) ** (nodes - failed)


def named_by_ring(ring: Ring, nodes: int, failed: Collection[int]) -> frozenset[int]:
    """The failed nodes that a round names: those with a live node among the d before them.

    The paper has node k + l report the last of the run k, ..., k + l - 1. By adj(i) = i + 1 it is node k - 1 that
    reports the first.
    """
    return frozenset(
        node
        for node in failed
        if any((node - back) % nodes not in failed for back in range(1, min(ring.several, nodes - 1) + 1))
    )


def expected_requests(neighbourhood: Ring | Uniform, nodes: int, failed: int) -> Fraction:
    """The expected number of requests that reach the origin in one round, where `failed` nodes, any of 1 to n - 1 with
    equal probability, lack the data. What the origin finds itself takes no packet.

    For one neighbor, in the ring and in the uniform case without itself, it is f (n - 1 - f) / (n - 1), at
    most (n - 1) / 4.
    """
    live = nodes - 1 - failed
    match neighbourhood:
        case Uniform():
            return live * (1 - avoids(neighbourhood, nodes, 0, range(1, failed + 1)))
        case Ring(several):
            reach = min(several, nodes - 1)
            asking = Fraction(live, nodes - 1)
            others = comb(nodes - 2, failed) if nodes >= 2 else 1
            total = Fraction(0)
            for window, count in ((reach - 1, reach), (reach, nodes - 1 - reach)):
                # The windows of the last d nodes hold the origin, which has not failed.
                if count and others:
                    total += count * asking * (1 - Fraction(comb(nodes - 2 - window, failed), others))
            return total
        case _ as never:
            assert_never(never)


def acknowledgements(nodes: int) -> int:
    """What reaches the sender in every round where all receivers acknowledge: the paper's Ack explosion."""
    return nodes - 1


def false_report(neighbourhood: Neighbourhood, nodes: int, one: int, other: int) -> Fraction:
    """The probability that a broken link between two live nodes with the data makes one of them report the other in a
    round (section 3.4.2), neither being the origin.

    In the ring it is 1 for the n - 2 links along it and 0 for all others; where neighbors are drawn it is
    1 - (1 - 1/(n - 1))^2 for each. If any link may break, the expected number of false reports in a round is
    2 / (n - 1) either way: a draw spreads them over the links, and does not make them fewer.
    """
    return 1 - avoids(neighbourhood, nodes, one, {other}) * avoids(neighbourhood, nodes, other, {one})
