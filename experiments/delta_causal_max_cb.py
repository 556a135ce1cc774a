"""Δ-causal paper, section 4.2, Figure 4: what MAX_CB costs, for one destination a message.

The text leaves open how many processes there are and how often they send, and what becomes of the delays below zero
that its numbers imply (see `delta_causal_delays`). All three are varied here. `load` is how many messages a process
sends in the time Δ / 5.

rate_max      share of the messages sent whose tag is full for their destination, |CB_m[i]| = MAX_CB as in (R2)
rate_max_sender  the same for their sender, CB_m[sender_m], which is what the text of section 4.2 prints
rate_wait     share of the messages delivered that waited longer than for what precedes them (section 3.1)
rate_w_time   that wait in the mean of all messages delivered, over Δ; of those that waited: wait_of_waiting
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from experiments.delta_causal_delays import (
    BELOW_ZERO,
    CLIPPED,
    PLAIN_DEVIATION,
    READINGS,
    REDRAWN,
    Reading,
)
from experiments.delta_causal_kernel import NEVER, drawn, measured, uniform_requests
from experiments.drawing import curve, figure, label, styles
from experiments.intervals import ratio
from experiments.running import each
from experiments.table import Cell, Scale, Table

NAME = "delta-causal-max-cb"

DELTA: Final = 1_000_000
"""Ticks: so fine that two events at one tick are next to none."""
BOUNDS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 10)
_QUANTITIES: Final = (
    "rate_max",
    "rate_max_sender",
    "rate_wait",
    "rate_w_time",
    "wait_of_waiting",
    "discarded",
)
_SEED: Final = 42


@dataclass(frozen=True, slots=True)
class Case:
    """What is varied."""

    entities: int
    load: float
    reading: Reading

    @property
    def cells(self) -> tuple[Cell, ...]:
        """As it stands in the table."""
        return self.entities, self.load, self.reading.name


@dataclass(frozen=True, slots=True)
class Work:
    """One execution of a case, for every bound on the same messages and delays."""

    case: Case
    messages: int
    number: int


MAIN: Final = Case(10, 1.0, REDRAWN)
CASES: Final = (
    MAIN,
    *(Case(entities, 1.0, REDRAWN) for entities in (5, 20, 40)),
    *(Case(10, load, REDRAWN) for load in (0.25, 0.5, 2.0, 4.0)),
    *(Case(10, 1.0, reading) for reading in READINGS if reading is not REDRAWN),
)


def compute(scale: Scale) -> Table:
    """Every case with every bound."""
    runs, messages = scale.of(6, 20), scale.of(2_000, 20_000)
    work = [Work(case, messages, number) for case in CASES for number in range(1, runs + 1)]
    done = each(executed, work)
    rows: list[tuple[Cell, ...]] = []
    for place, case in enumerate(CASES):
        of_case = done[place * runs : (place + 1) * runs]
        for k, bound in enumerate(_bounds(case)):
            cells: list[Cell] = [*case.cells, bound]
            for quantity, name in enumerate(_QUANTITIES):
                parts = [run[k][quantity][0] for run in of_case]
                wholes = [run[k][quantity][1] for run in of_case]
                cells += _interval(name, parts, wholes)
            rows.append(tuple(cells))
    measures = (name + suffix for name in _QUANTITIES for suffix in ("", "_low", "_high"))
    columns = ("entities", "load", "delays", "max_cb", *measures)
    return Table(columns, tuple(rows), _notes(runs, messages))


def _interval(name: str, parts: list[float], wholes: list[float]) -> tuple[Cell, ...]:
    """Of nothing at all, a share is at most what three would be, and a mean is unknown."""
    if sum(parts):
        found = ratio(parts, wholes)
        return found.value, max(0.0, found.low), found.high
    if name == "wait_of_waiting":
        return None, None, None
    return 0.0, 0.0, None if name == "rate_w_time" else 3 / sum(wholes)


def executed(work: Work) -> list[list[tuple[float, float]]]:
    """Of each bound each quantity, as a sum over messages and their number. The first two Δ do not count."""
    case = work.case
    interval = DELTA / 5 / case.load
    requests = uniform_requests(case.entities, work.messages, interval)
    messages = drawn(_SEED, work.number, requests, case.reading.delays(DELTA))
    counted = messages.sent > 2 * DELTA
    found = []
    for bound in _bounds(case):
        out = measured(messages, case.entities, DELTA, bound)
        delivered = counted & (out.delivered != NEVER)
        wait = (out.delivered - out.deliverable)[delivered]
        sent, arrived, waiting = float(counted.sum()), float(delivered.sum()), float((wait > 0).sum())
        found.append(
            [
                (float((out.marks == bound)[counted].sum()), sent),
                (float((out.marks_of_sender == bound)[counted].sum()), sent),
                (waiting, arrived),
                (float(wait.sum()) / DELTA, arrived),
                (float(wait.sum()) / DELTA, waiting or 1.0),
                (sent - arrived, sent),
            ]
        )
    return found


def _bounds(case: Case) -> tuple[int, ...]:
    """A tag has at most a mark of each process for a destination: N is no bound, and the last that is looked at."""
    return tuple(bound for bound in BOUNDS if bound <= case.entities)


def _notes(runs: int, messages: int) -> tuple[str, ...]:
    readings = (
        f"delays {reading.name!r}: normal({reading.mean:.4f}, {reading.deviation:.4f}) in units of D/5, "
        f"mean delay {reading.mean_delay:.4f}, late {reading.late:.4%}"
        for reading in READINGS
    )
    return (
        f"{runs} runs of {messages} messages for each case, the same for every MAX_CB; 95 % intervals",
        "requests are Poisson; the destination is any process with the same probability, the sender included",
        f"normal with mean D/5 and 0.01 % beyond D: deviation {PLAIN_DEVIATION:.4f} D/5, {BELOW_ZERO:.2%} below zero",
        *readings,
    )


def draw(table: Table) -> Figure:
    """The paper's figure, then what its three quantities depend on."""
    drawn_figure = figure(2, 3, title="Δ-causal order: what a bound on the tag costs (section 4.2, Figure 4)")
    panels = drawn_figure.axes
    kinds = iter(styles())
    names = {
        "rate_max": "rate_MAX: tag full",
        "rate_wait": "rate_wait: waits needlessly",
        "rate_w_time": "rate_w_time: mean wait / Δ",
    }
    for name, text in names.items():
        bands = _series(table, name, MAIN)
        curve(panels[0], *(_percent(bands)), label=text, style=next(kinds))
    label(panels[0], "N = 10, load 1", "MAX_CB (marks)", "share (%)")
    _family(panels[1], table, "rate_max", [(f"N = {n}", Case(n, 1.0, REDRAWN)) for n in (5, 10, 20, 40)])
    label(panels[1], "Full tags, by N (load 1)", "MAX_CB (marks)", "rate_MAX (%)")
    loads = [(f"load {load:g}", Case(10, load, REDRAWN)) for load in (0.25, 0.5, 1.0, 2.0, 4.0)]
    _family(panels[2], table, "rate_max", loads)
    label(panels[2], "Full tags, by load (N = 10)", "MAX_CB (marks)", "rate_MAX (%)")
    # A mean of nothing has no place on a scale of powers: the curve ends there.
    _family(panels[3], table, "rate_w_time", [(f"N = {n}", Case(n, 1.0, REDRAWN)) for n in (5, 10, 20, 40)])
    label(panels[3], "Needless wait, by N (load 1)", "MAX_CB (marks)", "rate_w_time (% of Δ)")
    _family(panels[4], table, "rate_w_time", loads)
    label(panels[4], "Needless wait, by load (N = 10)", "MAX_CB (marks)", "rate_w_time (% of Δ)")
    readings = [
        (f"below zero: {r.name}" if r in (REDRAWN, CLIPPED) else r.name, Case(10, 1.0, r)) for r in READINGS
    ]
    _family(panels[5], table, "rate_w_time", readings)
    label(panels[5], "Needless wait, by reading of the delays", "MAX_CB (marks)", "rate_w_time (% of Δ)")
    for place, panel in enumerate(panels):
        panel.set_xticks(range(1, max(BOUNDS) + 1))
        panel.set_xlim(0.7, max(BOUNDS) + 0.3)
        if place < 3:
            panel.set_ylim(bottom=0)
        else:
            panel.set_yscale("log")
            panel.set_ylim(bottom=1e-3)
    return drawn_figure


def _series(table: Table, name: str, case: Case) -> tuple[list[float], ...]:
    where = dict(zip(("entities", "load", "delays"), case.cells, strict=True))
    return table.series("max_cb", name, f"{name}_low", f"{name}_high", **where)


def _percent(bands: tuple[list[float], ...]) -> tuple[list[float], ...]:
    x, *others = bands
    return x, *(list(np.array(other) * 100) for other in others)


def _family(panel: object, table: Table, name: str, cases: list[tuple[str, Case]]) -> None:
    for (text, case), style in zip(cases, styles(), strict=False):
        curve(panel, *_percent(_series(table, name, case)), label=text, style=style)  # type: ignore[arg-type]
