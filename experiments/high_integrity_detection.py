"""High integrity multicast: how soon a failed node is noticed, exact and simulated, beside the paper's P(n)."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from matplotlib.figure import Figure

from experiments.drawing import curve, figure, label, styles
from experiments.high_integrity_rounds import Piece, Rounds, rounds
from experiments.high_integrity_spark import spread
from experiments.intervals import CONFIDENCE, Estimate, proportion
from experiments.table import Cell, Scale, Table
from precedes_models.high_integrity.neighbors import NearFar, Neighbourhood, Uniform
from precedes_models.high_integrity.numbers import (
    all_named,
    expected_rounds,
    expected_rounds_all,
    paper_p,
    unnoticed,
    unnoticed_near_far,
)

NAME = "high-integrity-detection"

MAPS: Final[dict[str, Neighbourhood]] = {
    "uniform": Uniform(),
    "uniform, itself too": Uniform(itself=True),
    "near 7/8": NearFar(),
    "two, uniform": Uniform(2),
}
SIZES: Final = (2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
SIMULATED: Final = (2, 3, 6, 50, 1000)
SEVERAL: Final = 3
COLUMNS: Final = (
    *("adj", "nodes", "failed", "what", "exact"),
    *("simulated", "simulated_low", "simulated_high", "runs"),
)


def compute(scale: Scale) -> Table:
    """Detection in one round, expected rounds until one and until all failed nodes are named."""
    pieces = [
        piece
        for adj in MAPS.values()
        for nodes in SIMULATED
        for failed in (1, SEVERAL)
        if failed < nodes
        for piece in _pieces(adj, nodes, failed, scale)
    ]
    results, where = spread(rounds, pieces)
    merged: dict[tuple[Neighbourhood, int, int], Rounds] = {}
    for piece, result in zip(pieces, results, strict=True):
        key = piece.neighbourhood, piece.nodes, len(piece.failed)
        merged[key] = merged.get(key, Rounds(Counter(), Counter())) + result
    rows: list[tuple[Cell, ...]] = []
    for nodes in SIZES:
        rows.append(("paper's P(n)", nodes, 1, "P(n)", float(paper_p(nodes)), None, None, None, None))
        for name, adj in MAPS.items():
            for failed in (1, SEVERAL):
                if failed < nodes:
                    rows.extend(_rows(name, adj, nodes, failed, merged.get((adj, nodes, failed))))
    total = sum(piece.runs for piece in pieces)
    return Table(
        COLUMNS,
        tuple(rows),
        (
            f"{total} runs; {where}",
            "rounds are independent trials; a failed node has no data and does not ask; no packet is lost",
            f"{CONFIDENCE:.0%} intervals",
        ),
    )


def _pieces(adj: Neighbourhood, nodes: int, failed: int, scale: Scale) -> list[Piece]:
    """A million runs of each setting, in tasks; two neighbors of each of 1000 nodes a tenth of it."""
    heavy = nodes >= 1000 and (failed > 1 or adj == Uniform(2))
    runs, tasks = scale.of((20_000 if nodes < 1000 else 1000, 2), (100_000 if heavy else 1_000_000, 10))
    # In the near and far case it matters where they are: side by side is the run of section 3.4.1.
    which = tuple(range(1, failed + 1))
    setting = 10_000 * list(MAPS.values()).index(adj) + 10 * nodes + failed
    return [Piece(adj, nodes, which, runs // tasks, seed=100 * setting + task) for task in range(tasks)]


def _rows(
    name: str, adj: Neighbourhood, nodes: int, failed: int, simulated: Rounds | None
) -> list[tuple[Cell, ...]]:
    which = range(1, failed + 1)
    miss = (
        unnoticed_near_far(adj, nodes)
        if isinstance(adj, NearFar) and failed == 1
        else unnoticed(adj, nodes, which)
        if isinstance(adj, Uniform) or nodes <= 100
        else None
    )
    exact: dict[str, float | None] = {
        "noticed in a round": None if miss is None else float(1 - miss),
        "rounds until noticed": None if miss is None else float(1 / (1 - miss)),
    }
    if failed > 1:
        exact["all named in a round"] = (
            float(all_named(adj, nodes, failed)) if isinstance(adj, Uniform) else None
        )
        exact["rounds until all named"] = (
            float(expected_rounds_all(adj, nodes, failed)) if isinstance(adj, Uniform) else None
        )
    assert (
        miss is None or not isinstance(adj, Uniform) or expected_rounds(adj, nodes, which) == 1 / (1 - miss)
    )
    rows: list[tuple[Cell, ...]] = []
    for what, value in exact.items():
        if simulated is None:
            cells: tuple[Cell, ...] = (None, None, None, None)
            if value is None:
                continue
        else:
            counts = simulated.every if "all" in what else simulated.first
            runs = counts.total()
            one = proportion(counts[1], runs) if what.endswith("in a round") else mean_of(counts)
            cells = (*one.cells, runs)
        rows.append((name, nodes, failed, what, value, *cells))
    return rows


def mean_of(counts: Counter[int]) -> Estimate:
    """The mean of many independent runs, given how often each value came; the normal interval."""
    runs = counts.total()
    middle = sum(value * count for value, count in counts.items()) / runs
    variance = sum((value - middle) ** 2 * count for value, count in counts.items()) / max(1, runs - 1)
    half = 1.959964 * math.sqrt(variance / runs)
    return Estimate(middle, middle - half, middle + half)


def draw(table: Table) -> Figure:
    """Detection in one round, and expected rounds, over the number of nodes."""
    drawn = figure(1, 3, title="High integrity multicast: detection of failed nodes", width=4.8)
    panels = (
        ("noticed in a round", 1, "One failed node: noticed in one round", "probability"),
        ("rounds until noticed", 1, "One failed node: expected rounds", "rounds"),
        ("rounds until all named", SEVERAL, f"{SEVERAL} failed nodes: until all are named", "rounds"),
    )
    for axes, (what, failed, title, unit) in zip(drawn.axes, panels, strict=True):
        for name, style in zip(MAPS, styles(), strict=False):
            x, y = table.series("nodes", "exact", adj=name, failed=failed, what=what)
            if x:
                curve(axes, x, y, label=name, style=style, computed=True)
            x, y, low, high = table.series(
                "nodes", "simulated", "simulated_low", "simulated_high", adj=name, failed=failed, what=what
            )
            below = [max(0.0, b - a) for a, b in zip(low, y, strict=True)]
            above = [max(0.0, b - a) for a, b in zip(y, high, strict=True)]
            known = any(line.get_label() == name for line in axes.get_lines())
            axes.errorbar(
                x,
                y,
                yerr=[below, above],
                fmt=style[1],
                color=style[0],
                markersize=4,
                capsize=2,
                label=None if known else f"{name}, simulated",
            )
        x, y = table.series("nodes", "exact", what="P(n)")
        if what == "noticed in a round":
            axes.plot(x, y, color="#22272b", linewidth=1, label="the paper's P(n)")
        if what == "rounds until noticed":
            axes.plot(x, [1 / p for p in y], color="#22272b", linewidth=1, label="the paper: 1 / P(n)")
        axes.set_xscale("log")
        label(axes, title, "nodes n", unit)
    return drawn
