"""ST and TO in processes over UDP: how many of L PDUs are sent again, beside the equations and the simulation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from matplotlib.figure import Figure

from experiments.drawing import COLOURS, curve, figure, label
from experiments.in_processes import run, simulated, workload
from experiments.intervals import mean
from experiments.st_formulas import retransmitted_by_all, sorted_pdus
from experiments.table import Cell, Scale, Table
from precedes.protocol import Conditions, Destinations, Here, Step, Transmit
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.st.state import Pdu

NAME = "st-run"
N = 5
"""Entities, and PDUs of a burst; every entity is a destination."""
TICK = 1_000
"""Nanoseconds: delays of a millisecond."""
COLUMNS = ("recovery", "f", "source", "value", "value_low", "value_high", "executions")


def sent_again(
    _at: Here, _before: Any, _cause: Hashable, step: Step[Any], _now: int
) -> Mapping[str, float] | None:
    """How many data PDUs a step sends again."""
    again = sum(
        isinstance(action, Transmit) and isinstance(action.packet, Pdu) and action.packet.again
        for action in step.actions
    )
    return {"again": again} if again else None


def compute(scale: Scale) -> Table:
    """R/L, or U/L for go-back, by the equations, in the simulation and in processes."""
    executions = scale.of(10, 100)
    rows: list[tuple[Cell, ...]] = []
    for recovery, formula in (("selective", retransmitted_by_all), ("go-back", sorted_pdus)):
        protocol = SelectiveTotalOrder(retransmission=recovery)
        for f in scale.of((0.05,), (0.01, 0.05, 0.1)):
            rows.append((recovery, f, "equation", formula(N, N, f, N) / N, None, None, None))
            conditions = Conditions(N, N, Destinations.BROADCAST, interval=1.0, loss=f)
            for source, found in (
                ("simulation", simulated(protocol, conditions, executions, sent_again)),
                ("processes", run(workload(protocol, conditions, executions, TICK, sent_again, at_once=4))),
            ):
                shares = [each.get("again", 0.0) / N for each in found.counters]
                rows.append((recovery, f, source, *mean(shares).cells, executions))
    return Table(
        COLUMNS,
        tuple(rows),
        (
            f"n = L = {N}, d = n; all requests at once; every packet is lost with probability f, confirmations, too",
            "equation: R/L of (4), (5) for selective, U/L of (2), (3) for go-back, with d = n",
        ),
    )


def draw(drawn: Table) -> Figure:
    """A panel for each way to recover."""
    kinds = drawn.distinct("recovery")
    shown = figure(1, len(kinds), title="ST in processes: PDUs sent again, of L")
    for axes, recovery in zip(shown.axes, kinds, strict=True):
        for source, colour in zip(drawn.distinct("source"), COLOURS, strict=False):
            where = {"recovery": recovery, "source": source}
            if source == "equation":
                f, value = drawn.series("f", "value", **where)
                curve(axes, f, value, label=str(source), style=(colour, "o"), computed=True)
            else:
                f, value, low, high = drawn.series("f", "value", "value_low", "value_high", **where)
                curve(axes, f, value, low, high, label=str(source), style=(colour, "o"))
        label(axes, f"n = L = {N}, {recovery}", "f", "sent again / L")
    return shown
