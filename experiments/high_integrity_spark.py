"""Pieces of work on Spark, where there is a Java, and else in this process: the same results in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def spread(work: Callable[[A], B], pieces: Sequence[A]) -> tuple[list[B], str]:
    """`work` of every piece, and where it was done. What a piece returns may not depend on the process."""
    from precedes.engines.spark.java import JavaNotFoundError, use_java

    try:
        use_java()
    except JavaNotFoundError:
        return [work(piece) for piece in pieces], "one process, for want of a Java"
    from precedes.engines.spark.session import session

    spark = session(None)
    # Workers find this package where the driver does, which is the folder that it was started in.
    root = str(Path(__file__).resolve().parents[1])

    def task(piece: A) -> B:
        import sys

        if root not in sys.path:
            sys.path.insert(0, root)
        return work(piece)

    context = spark.sparkContext
    results = context.parallelize(list(pieces), len(pieces)).map(task).collect()
    return list(results), f"Spark {spark.version}, {len(pieces)} tasks"
