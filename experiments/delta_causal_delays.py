"""The delays of the Δ-causal paper's simulation (section 4.2), of which the text says two things.

Delays are normal; Δ is five times their mean; the variance is such that 0.01 % of the messages are discarded. A normal
distribution with the mean Δ/5 of which 0.01 % lies beyond Δ has 18 % of its mass below zero (`BELOW_ZERO`), where there
are no delays. What became of that mass the text does not say: a `Reading` is one way to fill the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from precedes.protocol.running.chance import Chance, Delaying

DISCARDED: Final = 1e-4
"""The share of messages that arrive after Δ."""
RATIO: Final = 5.0
"""Δ over the mean delay."""

_STANDARD: Final = NormalDist()

PLAIN_DEVIATION: Final = (RATIO - 1) / _STANDARD.inv_cdf(1 - DISCARDED)
"""The standard deviation, in mean delays, of the normal distribution that the text's two numbers fix."""
BELOW_ZERO: Final = _STANDARD.cdf(-1 / PLAIN_DEVIATION)


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read the text: the parameters of the normal distribution, in units of Δ / 5, and what is done with
    what falls below zero: drawn again, or taken as zero.
    """

    name: str
    mean: float
    deviation: float
    again: bool

    def delays(self, delta: int) -> Delaying:
        """Delays in ticks. What comes after Δ comes just after: later or much later is the same to the protocol."""
        unit = delta / RATIO
        mean, deviation, again, last = self.mean * unit, self.deviation * unit, self.again, delta + 1

        def delay(chance: Chance) -> int:
            drawn = chance.normal(mean, deviation)
            while again and drawn < 0:
                drawn = chance.normal(mean, deviation)
            return 0 if drawn <= 0 else last if drawn > delta else round(drawn)

        return delay

    @property
    def late(self) -> float:
        """The share of delays beyond Δ."""
        spread = NormalDist(self.mean, self.deviation)
        beyond = 1 - spread.cdf(RATIO)
        return beyond / (1 - spread.cdf(0)) if self.again else beyond

    @property
    def mean_delay(self) -> float:
        """The mean of the delays, in units of Δ / 5."""
        ratio = self.mean / self.deviation
        density, above = _STANDARD.pdf(ratio), _STANDARD.cdf(ratio)
        if self.again:
            return self.mean + self.deviation * density / above
        return self.mean * above + self.deviation * density


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign, by bisection."""
    sign = function(low) > 0
    for _ in range(100):
        middle = (low + high) / 2
        if (function(middle) > 0) == sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _deviation(mean: float) -> float:
    """The deviation with which, drawn again below zero, the right share is late."""
    return _root(lambda deviation: Reading("", mean, deviation, True).late - DISCARDED, 0.3, 3.0)


def _mean() -> float:
    """The mean of the normal distribution with which the delays themselves have the mean 1."""
    return _root(lambda mean: Reading("", mean, _deviation(mean), True).mean_delay - 1, -1.0, 1.0)


REDRAWN: Final = Reading("drawn again", 1.0, _deviation(1.0), True)
"""The mean is that of the normal distribution; below zero is drawn again; 0.01 % of what is left is late."""
CLIPPED: Final = Reading("taken as zero", 1.0, PLAIN_DEVIATION, False)
"""Below zero is zero: 0.01 % of all is late by the numbers of the text as they stand."""
TRUE_MEAN: Final = Reading("mean of the delays", _mean(), _deviation(_mean()), True)
"""Drawn again, and Δ is five times the mean of what is drawn."""
READINGS: Final = (REDRAWN, CLIPPED, TRUE_MEAN)
