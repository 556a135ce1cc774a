"""High integrity multicast: what node 0 has to bear when many nodes ask for repetition, which the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing import curve, figure, label, styles
from experiments.high_integrity_rounds import CELLS, requests
from experiments.high_integrity_rounds import draw as draw_neighbours
from experiments.high_integrity_spark import spread
from experiments.intervals import mean
from experiments.table import Cell, Scale, Table
from precedes_models.high_integrity.neighbors import Ring, Uniform
from precedes_models.high_integrity.numbers import acknowledgements, expected_requests, packets

NAME = "high-integrity-load"

MAPS: Final[dict[str, Ring | Uniform]] = {
    "ring": Ring(),
    "uniform": Uniform(),
    "ring, two": Ring(2),
    "two, uniform": Uniform(2),
}
SHARES: Final = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
SIZES: Final = (6, 10, 50, 100, 1000, 10_000)
COLUMNS: Final = (
    *("adj", "nodes", "failed", "requests_exact", "requests", "requests_low", "requests_high"),
    *("requests_999", "acknowledgements", "packets_one_repetition", "packets_each_repeats"),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rounds in which `failed` of the nodes 1 to n - 1, drawn anew in each, lack the data."""

    neighbourhood: Ring | Uniform
    nodes: int
    failed: int
    runs: int
    seed: int


def simulate(piece: Piece) -> list[int]:
    """How many requests came to node 0, in each round."""
    generator = np.random.default_rng(piece.seed)
    counts: list[int] = []
    at_once = max(1, CELLS // piece.nodes)
    for start in range(0, piece.runs, at_once):
        runs = min(at_once, piece.runs - start)
        rank = generator.random((runs, piece.nodes - 1)).argsort(axis=1)
        failed = np.zeros((runs, piece.nodes), dtype=bool)
        failed[:, 1:] = rank < piece.failed
        drawn = draw_neighbours(piece.neighbourhood, piece.nodes, runs, generator)
        counts.extend(requests(drawn, failed).tolist())
    return counts


def compute(scale: Scale) -> Table:
    """Requests in one round, exact in the mean, simulated also at the 99.9th percentile."""
    pieces = []
    for adj in MAPS.values():
        for nodes in SIZES:
            for failed in sorted({max(1, min(nodes - 1, round(share * (nodes - 1)))) for share in SHARES}):
                runs = scale.of(200, max(1000, min(5_000, 2_000_000 // nodes)))
                pieces.append(Piece(adj, nodes, failed, runs, seed=nodes * 7919 + failed))
    results, where = spread(simulate, pieces)
    names = {adj: name for name, adj in MAPS.items()}
    rows: list[tuple[Cell, ...]] = []
    for piece, counts in zip(pieces, results, strict=True):
        adj = piece.neighbourhood
        exact = float(expected_requests(adj, piece.nodes, piece.failed))
        rows.append(
            (
                names[adj],
                piece.nodes,
                piece.failed,
                exact,
                *mean(counts).cells,
                float(np.quantile(counts, 0.999)),
                acknowledgements(piece.nodes),
                packets(piece.nodes),
                exact * packets(piece.nodes),
            )
        )
    return Table(
        COLUMNS,
        tuple(rows),
        (
            where,
            "failed nodes: any of 1 to n - 1; what node 0 finds itself takes no packet",
            "packets_each_repeats: if every single request made node 0 repeat; for one neighbour each",
        ),
    )


def draw(table: Table) -> Figure:
    """Over the share of failed nodes, at the largest size; and the worst share over n."""
    drawn = figure(1, 2, title="High integrity multicast: requests that reach node 0 in one round", width=5.0)
    left, right = drawn.axes
    largest = max(SIZES)
    for name, style in zip(MAPS, styles(), strict=False):
        x, y, high = table.series("failed", "requests", "requests_999", adj=name, nodes=largest)
        curve(left, x, y, y, high, label=name, style=style)
        most = [max(table.series("requests_exact", adj=name, nodes=nodes)[0]) for nodes in SIZES]
        curve(right, SIZES, most, label=name, style=style)
    left.axhline(acknowledgements(largest), color="#22272b", linewidth=1)
    right.plot(
        SIZES,
        [acknowledgements(n) for n in SIZES],
        color="#22272b",
        linewidth=1,
        label="every receiver acknowledges",
    )
    right.set_xscale("log")
    right.set_yscale("log")
    label(
        left,
        f"{largest} nodes; bands: to the 99.9th percentile",
        "nodes without the data",
        "requests",
        legend=None,
    )
    label(right, "The worst number of failed nodes", "nodes n", "requests")
    return drawn
