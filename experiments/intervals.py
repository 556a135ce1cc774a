"""What a measured number is sure of: 95 % confidence intervals, without the packages that have them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95
_Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the 95 % confidence interval around it."""

    value: float
    low: float
    high: float

    @property
    def cells(self) -> tuple[float, float, float]:
        """As it stands in a table: the value, then the interval."""
        return self.value, self.low, self.high

    @property
    def half(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def t_quantile(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t, by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5).

    Within 0.4 % from 4 degrees of freedom on; ValueError below that.
    """
    if freedom < 4:
        raise ValueError("too few runs for an interval: take 5 or more")
    z = _Z
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def mean(runs: Sequence[float]) -> Estimate:
    """The mean of one number from each of 5 or more independent runs."""
    count = len(runs)
    middle = math.fsum(runs) / count
    variance = math.fsum((run - middle) ** 2 for run in runs) / (count - 1)
    half = t_quantile(count - 1) * math.sqrt(variance / count)
    return Estimate(middle, middle - half, middle + half)


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Estimate:
    """The sum of parts over the sum of wholes, a pair from each of 5 or more independent runs.

    The interval is by the jackknife, for what happens within one run is not independent.
    """
    count = len(parts)
    part, whole = math.fsum(parts), math.fsum(wholes)
    value = part / whole
    without = [(part - p) / (whole - w) for p, w in zip(parts, wholes, strict=True)]
    middle = math.fsum(without) / count
    variance = (count - 1) / count * math.fsum((one - middle) ** 2 for one in without)
    half = t_quantile(count - 1) * math.sqrt(variance)
    return Estimate(value, value - half, value + half)


def proportion(hits: int, trials: int) -> Estimate:
    """How often something happens, from independent trials: Wilson's interval, which holds near 0 and 1 too."""
    value = hits / trials
    z = _Z * _Z / trials
    middle = (value + z / 2) / (1 + z)
    half = math.sqrt(z * (value * (1 - value) + z / 4)) / (1 + z)
    return Estimate(value, max(0.0, middle - half), min(1.0, middle + half))
