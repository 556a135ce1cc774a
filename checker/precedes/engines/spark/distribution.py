"""Work in parts on Spark: a task for every part; answers come back in the order of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyspark import SparkFiles, StorageLevel
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from pyspark import RDD

Part = TypeVar("Part")


def distributed(
    spark: SparkSession,
    work: Callable[[Part, str | None], bytes],
    parts: Sequence[Part],
    file: Path | None = None,
) -> Iterator[bytes]:
    """What `work` answers to each part. It is called with the part and, where a `file` goes along with the tasks, with
    the path of that file on the worker.
    """
    context = spark.sparkContext
    if file is not None:
        context.addFile(str(file.resolve()))
    task = _task(work, None if file is None else file.name)
    answers: RDD[bytes] = context.parallelize(parts, len(parts)).map(task)
    # All tasks side by side first: what is fetched below comes one partition after the other.
    answers.persist(StorageLevel.DISK_ONLY)
    try:
        answers.count()
        yield from answers.toLocalIterator(prefetchPartitions=True)
    finally:
        answers.unpersist()


def _task(work: Callable[[Part, str | None], bytes], file: str | None) -> Callable[[Part], bytes]:
    def task(part: Part) -> bytes:
        return work(part, None if file is None else SparkFiles.get(file))

    return task
