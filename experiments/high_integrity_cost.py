"""High integrity multicast: packets against TCP's, and the time of a round against 3/2 round trips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing import curve, figure, label, styles
from experiments.high_integrity_rounds import CELLS
from experiments.high_integrity_rounds import draw as draw_neighbours
from experiments.high_integrity_spark import spread
from experiments.intervals import mean
from experiments.table import Cell, Scale, Table
from precedes_models.high_integrity.neighbors import Neighbourhood, Ring, Uniform
from precedes_models.high_integrity.numbers import packets, tcp_packets

NAME = "high-integrity-cost"

MAPS: Final[dict[str, Neighbourhood]] = {"ring": Ring(), "uniform": Uniform()}
SIZES: Final = (2, 3, 4, 5, 6, 10, 20, 50, 100, 1000, 10_000)
COLUMNS: Final = (
    *("adj", "nodes", "packets", "tcp_packets"),
    *(
        "time_rtt",
        "time_rtt_low",
        "time_rtt_high",
        "time_rtt_most",
        "most_asked",
        "most_asked_low",
        "most_asked_high",
    ),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rounds without faults."""

    neighbourhood: Neighbourhood
    nodes: int
    runs: int
    seed: int


def simulate(piece: Piece) -> tuple[list[float], list[int]]:
    """For each round: when the last confirmation arrived, in round trips of the longest link that was used, and how
    many queries the node got that got most.

    The delay of a link, the same in both directions, is uniform between half the longest and the longest.
    """
    generator = np.random.default_rng(piece.seed)
    times: list[float] = []
    most: list[int] = []
    at_once = max(1, CELLS // piece.nodes)
    for start in range(0, piece.runs, at_once):
        runs = min(at_once, piece.runs - start)
        shape = (runs, piece.nodes)
        asked = draw_neighbours(piece.neighbourhood, piece.nodes, runs, generator)[:, :, 0]
        data = generator.uniform(0.5, 1.0, shape)
        data[:, 0] = 0.0
        link = generator.uniform(0.5, 1.0, shape)
        # The link between node 0 and who asks it, or is asked by it, carried the data too.
        of_origin = np.where(asked == 0, data, link)
        of_origin[:, 0] = np.take_along_axis(data, asked[:, :1], axis=1)[:, 0]
        arrived = np.take_along_axis(data, asked, axis=1)
        done = np.maximum(data + of_origin, arrived) + of_origin
        longest = 2 * np.maximum(data.max(axis=1), of_origin.max(axis=1))
        times.extend((done.max(axis=1) / longest).tolist())
        place = asked + piece.nodes * np.arange(runs)[:, None]
        counted = np.bincount(place.ravel(), minlength=runs * piece.nodes).reshape(runs, piece.nodes)
        most.extend(counted.max(axis=1).tolist())
    return times, most


def compute(scale: Scale) -> Table:
    """Packets by formula, times by simulation."""
    pieces = [
        Piece(adj, nodes, scale.of(50, max(1000, min(20_000, 10_000_000 // nodes))), seed=nodes)
        for adj in MAPS.values()
        for nodes in SIZES
    ]
    results, where = spread(simulate, pieces)
    names = {adj: name for name, adj in MAPS.items()}
    rows: list[tuple[Cell, ...]] = [
        (
            names[piece.neighbourhood],
            piece.nodes,
            packets(piece.nodes),
            tcp_packets(piece.nodes),
            *mean(times).cells,
            max(times),
            *mean(most).cells,
        )
        for piece, (times, most) in zip(pieces, results, strict=True)
    ]
    return Table(
        COLUMNS,
        tuple(rows),
        (
            where,
            "no faults; delays of links uniform between half the longest and the longest",
            "time in round trips of the longest link used",
            "tcp_packets: the opening of n - 1 connections, without data",
        ),
    )


def draw(table: Table) -> Figure:
    """Packets, time, and how many ask the same node."""
    drawn = figure(1, 3, title="High integrity multicast: what a round without faults costs")
    left, middle, right = drawn.axes
    small = [n for n in SIZES if n <= 20]
    pairs = styles()
    one, other = next(pairs), next(pairs)
    curve(left, small, [packets(n) for n in small], label="2n + 1", style=one)
    curve(left, small, [tcp_packets(n) for n in small], label="TCP: 3 (n - 1)", style=other)
    label(left, "Packets", "nodes n", "packets")
    for name, style in zip(MAPS, styles(), strict=False):
        x, y, low, high = table.series("nodes", "time_rtt", "time_rtt_low", "time_rtt_high", adj=name)
        curve(middle, x, y, low, high, label=name, style=style)
        x, y, low, high = table.series("nodes", "most_asked", "most_asked_low", "most_asked_high", adj=name)
        curve(right, x, y, low, high, label=name, style=style)
    middle.axhline(1.5, color="#22272b", linewidth=1, label="3/2")
    middle.set_xscale("log")
    right.set_xscale("log")
    label(middle, "Until the last confirmation", "nodes n", "round trips of the longest link")
    label(right, "Queries at the most asked node", "nodes n", "queries")
    return drawn
