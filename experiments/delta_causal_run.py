"""Δ-causal order in processes over UDP: how long messages wait for others, beside the simulation."""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments.delta_causal_delays import REDRAWN
from experiments.drawing import COLOURS, curve, figure, label
from experiments.in_processes import Measured, run, simulated, workload
from experiments.intervals import mean
from experiments.table import Cell, Scale, Table
from precedes import Execution
from precedes.protocol import Conditions, Destinations
from precedes.protocol.model import TICK as NANOSECONDS
from precedes_models.delta_causal.protocol import DeltaCausal

NAME = "delta-causal-run"
DELTA = 20
"""Ticks."""
TICK = 30_000_000
"""Nanoseconds: Δ is 600 ms, so that a busy machine is seldom late."""
ENTITIES = 5
COLUMNS = ("max_cb", "source", "quantity", "value", "value_low", "value_high", "executions", "late")


def compute(scale: Scale) -> Table:
    """The mean wait as a share of Δ, and the share of messages that wait, for several MAX_CB."""
    executions, messages = scale.of((6, 15), (20, 40))
    unit = DELTA / 5
    conditions = Conditions(
        ENTITIES,
        messages,
        Destinations.UNICAST,
        interval=unit,
        delay=unit * REDRAWN.mean,
        deviation=unit * REDRAWN.deviation,
    )
    rows: list[tuple[Cell, ...]] = []
    for bound in (1, 2, 3, None):
        protocol = DeltaCausal(delta=DELTA, max_cb=bound, lemmas=False)
        for source, found in (
            ("simulation", simulated(protocol, conditions, executions)),
            ("processes", run(workload(protocol, conditions, executions, TICK))),
        ):
            rows += [
                (bound or "none", source, name, *estimate.cells, executions, found.late)
                for name, estimate in _waits(found).items()
            ]
    return Table(
        COLUMNS,
        tuple(rows),
        (
            f"{ENTITIES} entities, {messages} messages each execution, one every Δ/5 at each; Δ = {DELTA} ticks",
            "wait: from the arrival of a message to its delivery; late: executions put aside and run again",
        ),
    )


def _waits(found: Measured) -> dict[str, object]:
    each = [_of(execution) for execution in found.executions]
    return {
        "wait/Δ": mean([sum(waits) / len(waits) / DELTA for waits in each]),
        "that wait": mean([sum(wait > 0 for wait in waits) / len(waits) for waits in each]),
    }


def _of(execution: Execution) -> list[float]:
    """The wait of each delivered message, in ticks."""
    waits: list[float] = []
    for history in execution.histories:
        arrived: dict[str | None, int] = {}
        for event in history.events:
            if event.time is None:
                continue
            if event.kind.value == "arrive":
                arrived[event.message] = event.time
            elif event.kind.value == "deliver":
                waits.append((event.time - arrived[event.message]) / NANOSECONDS)
    return waits


def draw(drawn: Table) -> Figure:
    """A panel for each quantity."""
    names = drawn.distinct("quantity")
    bounds = drawn.distinct("max_cb")
    shown = figure(1, len(names), title="Δ-causal order in processes: waits")
    for axes, name in zip(shown.axes, names, strict=True):
        for source, colour in zip(drawn.distinct("source"), COLOURS, strict=False):
            value, low, high = drawn.series("value", "value_low", "value_high", quantity=name, source=source)
            places = [float(place) for place in range(len(bounds))]
            curve(axes, places, value, low, high, label=str(source), style=(colour, "o"))
        axes.set_xticks(range(len(bounds)), [str(bound) for bound in bounds])
        label(axes, f"N = {ENTITIES}, load 1", "MAX_CB", str(name))
    return shown
