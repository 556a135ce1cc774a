"""Many simulated executions as one columnar trace, with the same bytes on every engine.

The numbers of the executions are divided into pieces by rules that do not depend on the engine. Each piece
returns its rows. They are written here, in the order of the numbers, and at most a row group and a few pieces
are in memory.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Final

import pyarrow as pa

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.machine import available_cores
from precedes.protocol.bounds import Conditions
from precedes.protocol.catalog import Given, Named
from precedes.protocol.simulation.rows import Rows
from precedes.protocol.simulation.simulator import Simulator, name_of
from precedes.protocol.validation import carried_values
from precedes.traces import Notices
from precedes.traces.arrow import arrow
from precedes.traces.layout.columnar_file import ROW_GROUP
from precedes.traces.layout.conversion import Advance, Converted, lay_out

_MESSAGES_PER_PIECE: Final = 12_000
"""A second of work or so, some ten thousands of rows."""

_ALONE: Final = 3
"""Pieces up to which other processes are not worth their start."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What is simulated. Of several instances the executions take turns. `conditions` by instance, in their order."""

    model: Named | Given
    conditions: tuple[Conditions, ...]
    seed: int
    executions: int
    most_steps: int | None = None

    def pieces(self) -> list[range]:
        """The numbers of the executions, from 1, in pieces."""
        size = max(1, _MESSAGES_PER_PIECE // max(one.messages for one in self.conditions))
        return [
            range(start, min(start + size, self.executions + 1))
            for start in range(1, self.executions + 1, size)
        ]


@dataclass(frozen=True, slots=True)
class Simulated:
    """What was written, and the counters of all runs together (see `simulating.Run`)."""

    written: Converted
    counters: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some executions: their rows and counters, or the mistake that stopped them."""

    rows: pa.Table | None
    counters: Mapping[str, float]
    mistake: PrecedesError | None = None


def write(
    simulation: Simulation,
    pieces: Iterable[Piece],
    target: str | os.PathLike[str],
    *,
    advance: Advance | None = None,
    alive: Callable[[], None] = lambda: None,
) -> Simulated:
    """Write the pieces of a simulation, in their order, to a columnar file.

    `alive` is called every second or so of computing. PrecedesError for mistakes of the model (M005 to M013) and a
    target that is no Parquet file by its name (T002) or cannot be written (T003).
    """
    simulators(simulation)
    counters: dict[str, float] = {}
    written = lay_out(_parts(pieces, counters, alive), target, Notices(), advance)
    return Simulated(written, counters)


def piece_of(simulation: Simulation, numbers: range) -> Piece:
    """Some executions, computed here."""
    running = simulators(simulation)
    carried = [
        each for simulator in running for each in carried_values.declared(simulator.setting.protocol).values()
    ]
    rows = Rows(simulation.conditions[0].entities, carried)
    counters: dict[str, float] = {}
    try:
        for number in numbers:
            simulator = running[(number - 1) % len(running)]
            recorded = simulator.recorded(simulation.seed, number)
            rows.add(simulator.setting.protocol, name_of(number), recorded.histories)
            for name, count in recorded.counters.items():
                counters[name] = counters.get(name, 0) + count
    except PrecedesError as error:
        return Piece(None, {}, error)
    return Piece(rows.table(), counters)


@lru_cache(maxsize=1)
def simulators(simulation: Simulation) -> tuple[Simulator, ...]:
    """A simulator for each instance of the model. PrecedesError for conditions that its network does not know."""
    loaded = zip(simulation.model.load(), simulation.conditions, strict=True)
    return tuple(
        Simulator(protocol, conditions, most_steps=simulation.most_steps) for protocol, conditions in loaded
    )


def _parts(
    pieces: Iterable[Piece], counters: dict[str, float], alive: Callable[[], None]
) -> Iterator[pa.Table]:
    """The rows of pieces, as many together as make a row group."""
    held: list[pa.Table] = []
    for piece in pieces:
        alive()
        if piece.mistake is not None:
            raise piece.mistake
        assert piece.rows is not None
        for name, count in piece.counters.items():
            counters[name] = counters.get(name, 0) + count
        held.append(piece.rows)
        if sum(map(len, held)) >= ROW_GROUP:
            yield arrow.concat_tables(held)
            held = []
    if sum(map(len, held)):
        yield arrow.concat_tables(held)


def local_pieces(simulation: Simulation) -> Iterator[Piece]:
    """The pieces of a simulation, computed on the cores of this machine."""
    pieces = simulation.pieces()
    processes = available_cores()
    if processes < 2 or len(pieces) <= _ALONE:
        yield from (piece_of(simulation, numbers) for numbers in pieces)
        return
    try:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            work = (lambda numbers=numbers: pool.submit(piece_of, simulation, numbers) for numbers in pieces)
            yield from _in_order(work, processes)
    except BrokenProcessPool as error:
        said = "a process that simulated ended without an answer"
        hint = "the model ended it, or the system did for lack of memory"
        raise PrecedesError((Diagnostic("M015", said, hint=hint),)) from error


def _in_order(work: Iterator[Callable[[], Future[Piece]]], processes: int) -> Iterator[Piece]:
    """What the calls come to, in their order, few of them ahead of what is asked for."""
    running: deque[Future[Piece]] = deque()
    try:
        for submit in work:
            running.append(submit())
            if len(running) > 2 * processes:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
