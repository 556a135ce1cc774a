"""ST, section 5: equations (1) to (5), in PDUs of a burst.

`n` entities, `d` destinations of a PDU (0 < d <= n, a mean), `f` the probability that one entity misses a PDU (0 <= f
<= 1), `length` the paper's L: how many PDUs are not pre-acknowledged (L >= 1; the paper sets L = n). All results are
numbers of PDUs: of one entity where they are sorted, of the cluster where they are sent again. ValueError outside
these ranges.
"""

from __future__ import annotations


def received(n: int, d: float, f: float) -> float:
    """F: the probability that every destination receives a PDU."""
    if n < 1 or not 0 < d <= n or not 0 <= f <= 1:
        raise ValueError(f"n = {n}, d = {d}, f = {f}: it must be that 0 < d <= n and 0 <= f <= 1")
    return float((1 - f) ** d)


def first(n: int, d: float, f: float, before: int) -> float:
    """P_l: the probability that the first l PDUs are received everywhere and the next one is lost and for oneself."""
    everywhere = received(n, d, f)
    return float(everywhere**before * (1 - everywhere) * d / n)


def concerned(n: int, d: float, length: int, before: int) -> float:
    """(1), T_l: how many PDUs behind the failure line an entity has to look at, if l PDUs are before it.

    The terms that are printed out have the exponents 0, 1, 2, ..., L-l-1; the general term is printed with i-1 beside
    (L-l-i), which does not fit them. Taken is i.
    """
    if not 0 <= before < length:
        raise ValueError(f"l = {before}: it must be that 0 <= l < L = {length}")
    share = (n - d) / n
    return float(sum(share**i * (length - before - i) for i in range(length - before)) * d / n)


def sorted_pdus(n: int, d: float, f: float, length: int) -> float:
    """(2) and (3), U: how many PDUs an entity sorts; by go-back, how many are sent again."""
    return sum(concerned(n, d, length, l) * first(n, d, f, l) * d / n for l in range(length))


def retransmitted(n: int, d: float, f: float, length: int) -> float:
    """(4) and (5), R: how many PDUs are sent again, selectively."""
    lost = 1 - received(n, d, f)
    return sum(first(n, d, f, l) * (1 + (length - l - 1) * lost) for l in range(length))


def sorted_once(n: int, d: float, f: float, length: int) -> float:
    """U without the (d/n) of P_l: that the first loss concerns d of n entities is in T_l already."""
    return sorted_pdus(n, d, f, length) * n / d


def retransmitted_by_all(n: int, d: float, f: float, length: int) -> float:
    """R without the (d/n) of P_l: whatever is lost is sent again, whomever it was for."""
    return retransmitted(n, d, f, length) * n / d


# ---- (1), (3) and (5), summed ----------------------------------------------------------------------------------------


def concerned_closed(n: int, d: float, length: int, before: int) -> float:
    """T_l = k - (n - d)/d (1 - r^k), with k = L - l and r = (n - d)/n: nearly all that is behind the line.

    The sum of r^i (k - i) over i < k is (k - r (1 - r^k) / (1 - r)) / (1 - r), and 1 - r is the factor d/n of (1).
    """
    behind = length - before
    return float(behind - (n - d) / d * (1 - ((n - d) / n) ** behind))


def sorted_closed(n: int, d: float, f: float, length: int) -> float:
    """U = (d/n)^2 (L - F (1 - F^L) / (1 - F) - (n - d)/d (1 - F^L - (1 - F) S)), S being the sum of F^l r^(L-l) over
    l < L; 0 where nothing is lost. For d = n the last part is 0.
    """
    everywhere, share = received(n, d, f), (n - d) / n
    if everywhere == 1:
        return 0.0
    none = everywhere**length
    drawn_in = sum(everywhere**l * share ** (length - l) for l in range(length))
    every = length - everywhere * (1 - none) / (1 - everywhere)
    return float((d / n) ** 2 * (every - (n - d) / d * (1 - none - (1 - everywhere) * drawn_in)))


def retransmitted_closed(n: int, d: float, f: float, length: int) -> float:
    """R = (d/n) L (1 - F): (5) adds up, over which PDU is the first that is lost, all that are lost, and of L PDUs each
    is lost with probability 1 - F whatever becomes of the others."""
    return d / n * length * (1 - received(n, d, f))
