"""Rounds of the high-integrity protocol in bulk: neighbors drawn for many runs at once, and what the origin learns.

A round here is what the protocol comes to where failed nodes do nothing and no packet is lost: a live node reports the
failed ones among its neighbors. That this is what the model does is tested on every draw of small groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from precedes_models.high_integrity.neighbors import NearFar, Neighbourhood, Ring, Uniform

Drawn: TypeAlias = NDArray[np.int64]
"""Neighbours, by run, node and number of the neighbor: int[R, n, d]."""

CELLS: Final = 2_000_000
"""Draws that are held at once."""


def draw(neighbourhood: Neighbourhood, nodes: int, runs: int, generator: np.random.Generator) -> Drawn:
    """adj of every node, for many runs. ValueError for a map that is given by itself."""
    number = np.arange(nodes)[None, :]
    match neighbourhood:
        case Ring(several):
            following = (np.arange(nodes)[:, None] + np.arange(1, several + 1)) % nodes
            return np.broadcast_to(
                following[:, : max(1, nodes - 1)], (runs, nodes, min(several, max(1, nodes - 1)))
            )
        case Uniform(several, itself):
            among = nodes if itself else nodes - 1
            taken = np.empty((runs, nodes, min(several, among)), dtype=np.int64)
            for k in range(taken.shape[2]):
                # The k-th of those that are left: count on past each that is not, in ascending order.
                place = generator.integers(0, among - k, size=(runs, nodes))
                passed = [taken[:, :, j] for j in range(k)]
                if not itself:
                    passed.append(np.broadcast_to(number, (runs, nodes)))
                for one in passed if len(passed) < 2 else np.sort(passed, axis=0):
                    place += place >= one
                taken[:, :, k] = place
            return taken
        case NearFar(near, reach):
            far = nodes - 1 - 2 * reach
            if far <= 0:
                return draw(Uniform(), nodes, runs, generator)
            step = generator.integers(1, reach + 1, size=(runs, nodes))
            step = np.where(generator.random((runs, nodes)) < 0.5, step, nodes - step)
            away = generator.integers(reach + 1, reach + 1 + far, size=(runs, nodes))
            offset = np.where(generator.random((runs, nodes)) < float(near), step, away)
            return ((number + offset) % nodes)[:, :, None]
        case _:
            raise ValueError(f"nothing is drawn for {neighbourhood}")


def named(drawn: Drawn, failed: Sequence[int]) -> NDArray[np.bool_]:
    """Which of the failed nodes are named to the origin: bool[R, f]."""
    live = np.setdiff1d(np.arange(drawn.shape[1]), failed)
    return np.stack([(drawn == node).any(axis=2)[:, live].any(axis=1) for node in failed], axis=1)


def requests(drawn: Drawn, failed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many requests come to the origin over the network; `failed` is bool[R, n], its own column False."""
    finds = np.take_along_axis(failed[:, :, None], drawn.reshape(*drawn.shape[:2], -1), axis=1).any(axis=2)
    found: NDArray[np.int64] = (finds & ~failed)[:, 1:].sum(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class Piece:
    """Some runs of one setting; the result depends on nothing else."""

    neighbourhood: Neighbourhood
    nodes: int
    failed: tuple[int, ...]
    runs: int
    seed: int


@dataclass(frozen=True, slots=True)
class Rounds:
    """How many runs took how many rounds until one of the failed nodes was named, and until all were."""

    first: Counter[int]
    every: Counter[int]

    def __add__(self, other: Rounds) -> Rounds:
        return Rounds(self.first + other.first, self.every + other.every)


def rounds(piece: Piece) -> Rounds:
    """Run the rounds of a piece until every failed node was named."""
    generator = np.random.default_rng(piece.seed)
    first: Counter[int] = Counter()
    every: Counter[int] = Counter()
    at_once = max(1, CELLS // piece.nodes)
    for start in range(0, piece.runs, at_once):
        missing = np.ones((min(at_once, piece.runs - start), len(piece.failed)), dtype=bool)
        none_yet = np.ones(len(missing), dtype=bool)
        number = 0
        while len(missing):
            number += 1
            drawn = draw(piece.neighbourhood, piece.nodes, len(missing), generator)
            missing = missing & ~named(drawn, piece.failed)
            noticed = none_yet & ~missing.all(axis=1)
            first[number] += int(noticed.sum())
            none_yet &= ~noticed
            done = ~missing.any(axis=1)
            every[number] += int(done.sum())
            missing, none_yet = missing[~done], none_yet[~done]
    return Rounds(+first, +every)
