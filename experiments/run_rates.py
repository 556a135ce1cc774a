"""Messages in a second: the simulator in one process, and models in processes over UDP."""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.drawing import COLOURS, figure, label
from experiments.in_processes import run, simulated, workload
from experiments.table import Cell, Scale, Table
from precedes.protocol.catalog import models
from precedes.protocol.simulation.simulator import usual

NAME = "run-rates"
MODELS = ("cmd", "raynal-schiper-toueg", "st", "to", "high-integrity")
AT_ONCE = (1, 4)
TICK = 1_000
"""Nanoseconds, as in a run that is not told otherwise."""
COLUMNS = ("model", "where", "messages_a_second", "packets_a_message", "executions")


def compute(scale: Scale) -> Table:
    """Each model with its usual conditions."""
    rows: list[tuple[Cell, ...]] = []
    for name in MODELS:
        protocol = models(name)[0]
        conditions = usual(protocol)
        executions = scale.of(20, 60)
        found = {"simulator": simulated(protocol, conditions, executions)}
        for at_once in AT_ONCE:
            work = workload(protocol, conditions, executions, TICK, at_once=at_once)
            found[f"processes, {at_once} at once"] = run(work)
        for where, measured in found.items():
            sent = sum(each["requests"] for each in measured.counters)
            packets = sum(each["packets"] for each in measured.counters)
            rows.append((name, where, measured.rate, packets / sent, executions))
    return Table(COLUMNS, tuple(rows), ("12 requests in each execution, 3 entities, the usual conditions",))


def draw(drawn: Table) -> Figure:
    """A group of bars for each model."""
    shown = figure(1, 1, title="Messages a second", width=8.0)
    (axes,) = shown.axes
    places = drawn.distinct("where")
    for k, (where, colour) in enumerate(zip(places, COLOURS, strict=False)):
        (rates,) = drawn.series("messages_a_second", where=where)
        axes.bar(
            [place + (k - 1) * 0.27 for place in range(len(rates))],
            rates,
            0.25,
            color=colour,
            label=str(where),
        )
    axes.set_yscale("log")
    axes.set_xticks(range(len(MODELS)), MODELS)
    label(axes, "3 entities", "", "messages a second")
    return shown
