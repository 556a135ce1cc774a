"""How many states a search breadth first may still find, guessed from the layers that it has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LAYERS: Final = 8
"""A guess compares the last eighth of the layers with those before, because layers grow and shrink in turns."""


def remaining_states(layers: Sequence[int]) -> int | None:
    """About how many states are found after these layers, if they shrink on as they do now; None: they grow.

    Layers of a search with bounds shrink faster and faster, so that it is more often too much than too little.
    """
    window = max(2, len(layers) // LAYERS)
    if len(layers) < 2 * window:
        return None
    before, last = sum(layers[-2 * window : -window]), sum(layers[-window:])
    if last >= before:
        return None
    return last * last // (before - last)
