"""CMD paper, section 4: how many s-records a message carries, which the paper leaves as future work.

Messages have one destination; delays are normal, with a deviation of 0.3 of their mean; `load` is how many messages an
entity sends in a mean delay, in the mean of all entities. Each entity sends 200 messages in the mean; the first half
does not count, except in the growth. `auxiliary` is what the procedure of section 3.1 carries: the s-records of all
sends that it knows of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing import curve, figure, label, styles
from experiments.intervals import mean
from experiments.running import each
from experiments.s_records_kernel import TOPOLOGIES, carried, requests
from experiments.table import Cell, Scale, Table
from precedes.protocol.bounds import Conditions
from precedes.protocol.network import Reliable
from precedes.protocol.running.chance import normal_delays

NAME = "cmd-s-records"

DELAY: Final = 1_000_000
"""The mean delay in ticks: so fine that two events at one tick are next to none."""
_SEED: Final = 7
_EACH: Final = 200
_SIZES: Final = (4, 8, 16, 32, 64)
_LOADS: Final = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_GROWTH: Final = (8, "uniform", 1.0)
_QUANTITIES: Final = ("records", "auxiliary", "queued")


@dataclass(frozen=True, slots=True)
class Work:
    """One execution."""

    entities: int
    topology: str
    load: float
    number: int


def cases(scale: Scale) -> list[tuple[int, str, float]]:
    """Size by topology with load 1, load by topology with 16 entities."""
    sizes = scale.of(_SIZES[:3], _SIZES)
    by_size = [(n, topology, 1.0) for topology in TOPOLOGIES for n in sizes]
    by_load = [(16, topology, load) for topology in TOPOLOGIES for load in _LOADS if load != 1.0]
    return by_size + by_load


def compute(scale: Scale) -> Table:
    """The steady state of every case, and how one of them grows."""
    runs = scale.of(6, 20)
    measured = cases(scale)
    work = [Work(*case, number) for case in measured for number in range(1, runs + 1)]
    done = each(executed, work)
    rows: list[tuple[Cell, ...]] = []
    for place, (entities, topology, load) in enumerate(measured):
        of_case = done[place * runs : (place + 1) * runs]
        cells: list[Cell] = ["steady", topology, entities, load, None]
        for quantity in range(len(_QUANTITIES)):
            cells += mean([run[0][quantity] for run in of_case]).cells
        cells.append(max(run[1] for run in of_case))
        rows.append(tuple(cells))
        if (entities, topology, load) == _GROWTH:
            rows += _growth(of_case, entities, topology, load)
    measures = (name + suffix for name in _QUANTITIES for suffix in ("", "_low", "_high"))
    columns = ("kind", "topology", "entities", "load", "sent_before", *measures, "records_max")
    notes = (
        f"{runs} runs for each case, {_EACH} messages for each entity in the mean, of which the second half counts",
        "delays normal, deviation 0.3 of the mean; load: messages that an entity sends in a mean delay",
        "client-server: the server sends half of all messages; hot spot: every other message of an entity goes there",
        "auxiliary: mean over the same messages, of which it would carry more with every message",
    )
    return Table(columns, tuple(rows), notes)


Found = tuple[tuple[float, ...], int, tuple[tuple[float, ...], ...]]
"""Means of the quantities, the most s-records, and the quantities in the course of the run."""


def executed(work: Work) -> Found:
    """One execution."""
    count = _EACH * work.entities
    made = requests(work.topology, work.entities, count, DELAY / work.load)
    delay = normal_delays(Conditions(delay=DELAY, deviation=0.3 * DELAY), Reliable())
    found = carried(_SEED, work.number, made, delay, work.entities)
    columns = (found.records, found.auxiliary, found.queued)
    half = count // 2
    course = tuple(tuple(float(column[a:b].mean()) for column in columns) for a, b in _stretches(count))
    return tuple(float(column[half:].mean()) for column in columns), int(found.records.max()), course


def _stretches(count: int) -> list[tuple[int, int]]:
    """The run in parts that grow."""
    ends = sorted({int(end) for end in np.geomspace(2, count, 24)})
    return list(zip([0, *ends], ends, strict=False))


def _growth(of_case: list[Found], entities: int, topology: str, load: float) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for k, (start, stop) in enumerate(_stretches(_EACH * entities)):
        cells: list[Cell] = ["growth", topology, entities, load, (start + stop - 1) / 2]
        for quantity in range(len(_QUANTITIES)):
            cells += mean([run[2][k][quantity] for run in of_case]).cells
        rows.append((*cells, None))
    return rows


def draw(table: Table) -> Figure:
    """Growth, size, share of N², load."""
    drawn = figure(2, 2, title="CMD: s-records that a message carries", width=5.0, height=3.5)
    growth, size, share, load = drawn.axes
    entities, topology, at = _GROWTH
    kinds = iter(styles())
    where = {"kind": "growth"}
    for name, text in (("auxiliary", "auxiliary procedure"), ("records", "CMD")):
        series = table.series("sent_before", name, f"{name}_low", f"{name}_high", **where)
        curve(growth, *series, label=text, style=next(kinds))
    before = table.series("sent_before", **where)[0]
    curve(growth, before, [float(entities**2)] * len(before), label="N²", style=next(kinds), computed=True)
    growth.set_xscale("log")
    growth.set_yscale("log")
    growth.set_xlim(left=4)
    growth.set_ylim(bottom=0.5)
    label(
        growth,
        f"As a run goes on (N = {entities}, {topology}, load {at:g})",
        "messages sent before",
        "s-records",
    )
    for name, style in zip(TOPOLOGIES, styles(), strict=False):
        series = _steady(table, "entities", topology=name, load=1.0)
        curve(size, *series, label=name, style=style)
        squares = [n**2 for n in series[0]]
        parts = [
            [100 * value / square for value, square in zip(one, squares, strict=True)] for one in series[1:]
        ]
        curve(share, series[0], *parts, label=name, style=style)
        curve(load, *_steady(table, "load", topology=name, entities=16), label=name, style=style)
    numbers = [float(n) for n in sorted(int(str(n)) for n in table.distinct("entities"))]
    dashed = ("#22272b", "")
    curve(size, numbers, [n**2 for n in numbers], label="N²", style=dashed, computed=True)
    curve(
        share,
        numbers,
        [100 * (n**2 - n) / 3 / n**2 for n in numbers],
        label="as long as a matrix",
        style=dashed,
        computed=True,
    )
    curve(load, [_LOADS[0], _LOADS[-1]], [256.0, 256.0], label="N²", style=dashed, computed=True)
    for panel in (size, share):
        panel.set_xscale("log", base=2)
        panel.set_xticks(numbers, [f"{n:g}" for n in numbers])
    size.set_yscale("log")
    load.set_xscale("log")
    load.set_yscale("log")
    label(size, "By the number of entities (load 1)", "N (entities)", "s-records per message")
    label(share, "The same as a share of N²", "N (entities)", "s-records / N² (%)")
    share.set_ylim(0, 45)
    load.set_ylim(0.7, 9000)
    label(
        load,
        "By load (N = 16)",
        "load (messages per entity and mean delay)",
        "s-records per message",
        legend="upper left",
    )
    return drawn


def _steady(table: Table, x: str, **where: Cell) -> tuple[list[float], ...]:
    columns = table.series(x, "records", "records_low", "records_high", kind="steady", **where)
    ordered = sorted(zip(*columns, strict=True))
    return tuple(list(column) for column in zip(*ordered, strict=True))
