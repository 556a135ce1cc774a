"""`precedes simulate --engine spark`: a task for every piece of the executions; rows come back in their order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import SparkFiles, StorageLevel
from pyspark.sql import SparkSession

from precedes.protocol.simulation.trace import Named, Piece, Simulation, piece_of

if TYPE_CHECKING:
    from pyspark import RDD


def pieces(spark: SparkSession, simulation: Simulation) -> Iterator[Piece]:
    """The pieces of a simulation. A model that is a file goes along with the tasks."""
    model, context = simulation.model, spark.sparkContext
    file: str | None = None
    if isinstance(model, Named) and Path(model.model).is_file():
        context.addFile(str(Path(model.model).resolve()))
        file = Path(model.model).name
    numbers = simulation.pieces()
    rows: RDD[bytes] = context.parallelize(numbers, len(numbers)).map(_work(simulation, file))
    # All tasks side by side first: what is fetched below comes one partition after the other.
    rows.persist(StorageLevel.DISK_ONLY)
    try:
        rows.count()
        for row in rows.toLocalIterator(prefetchPartitions=True):
            piece: Piece = pickle.loads(row)  # noqa: S301 - our own workers wrote it
            yield piece
    finally:
        rows.unpersist()


def _work(simulation: Simulation, file: str | None) -> Callable[[range], bytes]:
    def work(numbers: range) -> bytes:
        here = simulation
        if file is not None and isinstance(simulation.model, Named):
            here = replace(simulation, model=replace(simulation.model, model=SparkFiles.get(file)))
        return pickle.dumps(piece_of(here, numbers))

    return work
