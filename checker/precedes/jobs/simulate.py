"""`precedes simulate`: runs many random executions of a model, on this machine or on Spark, and writes them
as one trace.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, assert_never

from precedes.core.faults import RATES
from precedes.engines.selection import AUTO, selected
from precedes.protocol.catalog import Named
from precedes.protocol.simulation.trace import (
    Piece,
    Simulated,
    Simulation,
    local_pieces,
    piece_of,
    simulators,
    write,
)
from precedes.traces.layout.conversion import Advance

CONDITIONS: Final = ("entities", "messages", *RATES, "interval", "delay", "deviation", "skew")
"""Options of `precedes simulate` that are in `Conditions`."""


def simulate(
    simulation: Simulation,
    target: str | os.PathLike[str],
    *,
    engine: str = AUTO,
    master: str | None = None,
    advance: Advance | None = None,
    alive: Callable[[], None] = lambda: None,
) -> Simulated:
    """Write the executions to a columnar file.

    `engine` is a name of `precedes.engines.engine`. `alive` is called every second or so of computing. PrecedesError
    for mistakes of the model (M005 to M013), a target that is no Parquet file by its name (T002) or cannot be written
    (T003), and an engine that is not there (U001).
    """
    pieces: Iterable[Piece]
    match selected(engine, master):
        case "local":
            pieces = local_pieces(simulation)
        case "spark":
            pieces = _spark_pieces(simulation, master)
        case other:
            assert_never(other)
    return write(simulation, pieces, target, advance=advance, alive=alive)


def _spark_pieces(simulation: Simulation, master: str | None) -> Iterator[Piece]:
    from precedes.engines.spark.entrance import entered

    simulators(simulation)
    with entered(master) as spark:
        from precedes.engines.spark.distribution import distributed

        model = simulation.model
        path = Path(model.model) if isinstance(model, Named) else None
        file = path if path is not None and path.is_file() else None
        for answer in distributed(spark, _Work(simulation), simulation.pieces(), file):
            piece: Piece = pickle.loads(answer)  # noqa: S301 - our own workers wrote it
            yield piece


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker does with the numbers of some executions. A model that is a file has come along."""

    simulation: Simulation

    def __call__(self, numbers: range, file: str | None) -> bytes:
        simulation = self.simulation
        if file is not None and isinstance(simulation.model, Named):
            simulation = replace(simulation, model=replace(simulation.model, model=file))
        return pickle.dumps(piece_of(simulation, numbers))
