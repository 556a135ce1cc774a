"""ST, Figure 8 of 1994: how many of L PDUs an entity sorts, by the equations and measured."""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.drawing import COLOURS, curve, figure, label
from experiments.st_curves import SHARES, table
from experiments.table import Scale, Table

NAME = "st-figure-8"


def compute(scale: Scale) -> Table:
    """U/L for every n, d/n and f."""
    return table(scale, go_back=False)


def draw(drawn: Table) -> Figure:
    """A panel for each n."""
    sizes = drawn.distinct("n")
    shown = figure(1, len(sizes), title="ST: PDUs sorted, of L (1994, Figure 8)")
    for axes, n in zip(shown.axes, sizes, strict=True):
        for share, colour, other in zip(SHARES, COLOURS, COLOURS[2:], strict=False):
            where = {"n": n, "d_of_n": share}
            for quantity, shade in (("U/L", colour), ("U/L once", other)):
                f, value = drawn.series("f", "value", quantity=quantity, **where)
                curve(axes, f, value, label=f"{quantity}, d/n = {share:g}", style=(shade, "o"), computed=True)
            f, value, low, high = drawn.series(
                "f", "value", "value_low", "value_high", quantity="sorted", **where
            )
            curve(axes, f, value, low, high, label=f"measured, d/n = {share:g}", style=(colour, "o"))
        axes.set_xscale("log")
        label(axes, f"n = L = {n:g}", "f", "sorted / L")
    return shown
