"""The one style of all figures: how a curve, its confidence band and a panel look.

Figures are SVG with text as outlines, so that they look the same wherever they are opened, and the same bytes
come out of the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS: Final = ("#0b5fa5", "#d1495b", "#2e8b57", "#e08e0b", "#6f4fa2", "#5b6770", "#00a3a3", "#a0522d")
"""Told apart by their lightness too, and by readers who do not see red and green apart."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
INK: Final = "#22272b"
SOFT: Final = "#8a949c"

STYLE: Final[Any] = {
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e7ea",
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "precedes",
}


def figure(rows: int = 1, columns: int = 1, *, title: str, width: float = 4.4, height: float = 3.4) -> Figure:
    """An empty figure of `rows` by `columns` panels (`.axes`, row by row); width and height of one in inches."""
    mpl.rcParams.update(STYLE)
    drawn = Figure(figsize=(width * columns, height * rows + 0.4))
    drawn.subplots(rows, columns)
    drawn.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return drawn


def styles() -> Any:
    """Colours and markers for curves, one pair after the other."""
    return cycle(zip(COLOURS, MARKERS, strict=True))


def curve(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    *,
    label: str,
    style: tuple[str, str],
    computed: bool = False,
) -> None:
    """A curve with its confidence band; `computed`: by a formula, which is a dashed line without markers."""
    colour, marker = style
    if computed:
        axes.plot(x, y, color=colour, linestyle=(0, (5, 2)), linewidth=1.3, label=label)
    else:
        axes.plot(
            x, y, color=colour, marker=marker, markeredgecolor="white", markeredgewidth=0.6, label=label
        )
    if low is not None and high is not None:
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def label(axes: Axes, title: str, x: str, y: str, *, legend: Any = "best") -> None:
    """What a panel shows, with the units of its axes."""
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if legend is not None:
        axes.legend(loc=legend)


def save(drawn: Figure, path: Path) -> None:
    """Write an SVG whose bytes depend on what is drawn alone."""
    with mpl.rc_context(STYLE):
        drawn.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
