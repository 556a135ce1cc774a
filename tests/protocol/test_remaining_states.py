"""What a line of progress says of the time that is left."""

from __future__ import annotations

import pytest

from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.remaining_states import remaining_states
from precedes.protocol.exploration.result import SoFar
from precedes.reports.time_left import time_left

LAYERS = [
    1,
    3,
    12,
    39,
    117,
    294,
    627,
    1158,
    1851,
    2589,
    3168,
    3381,
    3153,
    2523,
    1725,
    972,
    441,
    162,
    45,
    39,
    21,
]
"""Of `explore high-integrity --entities 3 --messages 2`."""


def test_nothing_is_guessed_while_layers_grow() -> None:
    peak = LAYERS.index(max(LAYERS))
    assert [remaining_states(LAYERS[:k]) for k in range(peak + 1)] == [None] * (peak + 1)


def test_a_guess_is_near_where_layers_shrink() -> None:
    for k in range(LAYERS.index(max(LAYERS)) + 3, len(LAYERS) - 3):
        guess, left = remaining_states(LAYERS[:k]), sum(LAYERS[k:])
        assert guess is not None
        assert left / 3 <= guess <= 3 * left


def test_layers_of_one_size_are_no_end() -> None:
    assert remaining_states([100] * 20) is None
    assert remaining_states([]) is None


@pytest.mark.parametrize(
    ("bounds", "so_far", "said"),
    [
        (Bounds(), SoFar(1000, 4, 300), "growing"),
        (Bounds(states=3000), SoFar(1000, 4, 300), "growing, a limit in 20 s"),
        (Bounds(states=3000, seconds=15.0), SoFar(1000, 4, 300), "growing, a limit in 5 s"),
        (Bounds(states=1_000_000), SoFar(1000, 4, 300, 700), "perhaps 10 s left"),
        (Bounds(states=1_500), SoFar(1000, 4, 300, 700), "growing, a limit in 5 s"),
        (Bounds(), SoFar(1000, 4, 300, 59_700), "perhaps 10 min left"),
        (Bounds(), SoFar(1000, 4, 300, 899_700), "perhaps 2.5 h left"),
    ],
)
def test_what_is_said(bounds: Bounds, so_far: SoFar, said: str) -> None:
    assert time_left(bounds, so_far, seconds=10.0, rate=100.0) == said
