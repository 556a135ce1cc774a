"""How long a search may still take, in words."""

from __future__ import annotations

from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.result import SoFar


def time_left(bounds: Bounds, so_far: SoFar, seconds: float, rate: float) -> str:
    """What a line of progress says of the time that is left.

    `seconds`: how long the search has taken; `rate`: states a second so far. A search that grows may take any time, up
    to its limits, which it meets about then if it goes on as fast.
    """
    limits = []
    if bounds.states is not None:
        limits.append(max(bounds.states - so_far.states, 0) / rate)
    if bounds.seconds is not None:
        limits.append(max(bounds.seconds - seconds, 0.0))
    limit = min(limits, default=None)
    if so_far.remaining is not None:
        left = (so_far.frontier + so_far.remaining) / rate
        if limit is None or left < limit:
            return f"perhaps {_duration(left)} left"
    return "growing" if limit is None else f"growing, a limit in {_duration(limit)}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
