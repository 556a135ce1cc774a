"""How many states a search breadth first may still find, guessed from the layers that it has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LAYERS: Final = 8
"""Layers are compared an eighth of them at a time: where a protocol takes several moves in turn, single layers grow and
shrink."""


def remaining_states(layers: Sequence[int]) -> int | None:
    """About how many states are found after these layers, if they go on shrinking as they do; None: they grow.

    Layers of a search with bounds shrink faster and faster, so the ratio of two that follow each other shrinks here,
    too. In the papers' protocols the guess was between a third and three times what came, but for the first and last
    few layers that shrink.
    """
    window = max(1, len(layers) // LAYERS)
    if len(layers) < 3 * window:
        return None
    ends = [len(layers) - k * window for k in range(4)]
    first, before, last = (sum(layers[ends[k] : ends[k - 1]]) for k in (3, 2, 1))
    if last >= before:
        return None
    ratio = last / before
    factor = min(1.0, ratio * first / before)
    found, size = 0.0, float(last)
    while size >= 1:
        ratio *= factor
        size *= ratio
        found += size
    return int(found)
