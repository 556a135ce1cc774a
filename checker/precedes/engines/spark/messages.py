"""What workers have to say beside their rows: the mistakes that stop a job, and notices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.engines.spark.tasks import Tell, Told
from precedes.traces import Notices

if TYPE_CHECKING:
    # The package `pyspark-client`, which has Spark Connect and nothing else, does not have it.
    from pyspark import SparkContext

Received: TypeAlias = dict[tuple[int, int], Told]
"""What was said, by stage and partition: a task that Spark runs twice says the same thing twice, and it counts once."""


class _United(AccumulatorParam[Received]):
    def zero(self, value: Received) -> Received:  # noqa: ARG002 - Spark's signature
        return {}

    def addInPlace(self, value1: Received, value2: Received) -> Received:  # noqa: N802 - Spark's name
        return value1 | value2


class WorkerMessages:
    """Workers call `tell`, the driver calls `unite` when the job has ended."""

    def __init__(self, spark: SparkSession) -> None:
        self._received = context_of(spark).accumulator({}, _United())

    def tell(self) -> Tell:
        """What a worker calls: a function that can be sent to it."""
        return _telling(self._received)

    def unite(self, notices: Notices) -> None:
        """Add the notices of all workers. PrecedesError with all mistakes, if there are any."""
        unite(self._received.value.values(), notices)


def unite(said: Iterable[Told], notices: Notices) -> None:
    """Add the notices that workers told. PrecedesError with all mistakes, if there are any."""
    mistakes: dict[Diagnostic, None] = {}
    for told in said:
        if isinstance(told, PrecedesError):
            mistakes.update(dict.fromkeys(told.diagnostics))
        else:
            notices.unite(told)
    if mistakes:
        raise PrecedesError(tuple(sorted(mistakes, key=lambda d: (d.path or "", d.row or 0))))


def context_of(spark: SparkSession) -> SparkContext:
    """The context of a session. PrecedesError (U001) for a session of Spark Connect, which has none."""
    try:
        return spark.sparkContext
    except PySparkAttributeError as error:
        raise usage(
            "this needs a session in the process of the driver, and Spark Connect has none",
            "precedes.verify and precedes.spark judge the DataFrames of such a session",
        ) from error


def _telling(received: Accumulator[Received]) -> Tell:
    def tell(told: Told) -> None:
        task = TaskContext.get()
        assert task is not None, "workers tell, the driver hears"
        received.add({(task.stageId(), task.partitionId()): told})

    return tell
