"""ST, Figure 9 of 1994: how many of L PDUs are sent again, selectively and by go-back: computed and measured."""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.drawing import COLOURS, curve, figure, label
from experiments.st_curves import SHARES, table
from experiments.table import Scale, Table

NAME = "st-figure-9"


def compute(scale: Scale) -> Table:
    """R/L, and U/L for go-back, for every n, d/n and f."""
    return table(scale, go_back=True)


def draw(drawn: Table) -> Figure:
    """Above the equations, below what was measured, a panel for each n."""
    sizes = drawn.distinct("n")
    shown = figure(2, len(sizes), title="ST: PDUs sent again, of L (1994, Figure 9)")
    curves = [(share, recovery) for share in SHARES for recovery in ("selective", "go-back")]
    for place, n in enumerate(sizes):
        equations, protocol = shown.axes[place], shown.axes[len(sizes) + place]
        for (share, recovery), colour in zip(curves, COLOURS, strict=False):
            name = f"{'TO' if share == 1 else 'ST'}, {recovery}"
            where = {"n": n, "d_of_n": share}
            quantity = "R/L" if recovery == "selective" else "U/L"
            f, value = drawn.series("f", "value", quantity=quantity, **where)
            curve(equations, f, value, label=name, style=(colour, "o"), computed=True)
            f, value, low, high = drawn.series(
                "f", "value", "value_low", "value_high", quantity="sent again", recovery=recovery, **where
            )
            curve(protocol, f, value, low, high, label=name, style=(colour, "o"))
        for axes, title in ((equations, f"n = L = {n:g}, equations"), (protocol, f"n = L = {n:g}, measured")):
            axes.set_xscale("log")
            label(axes, title, "f", "sent again / L")
    return shown
