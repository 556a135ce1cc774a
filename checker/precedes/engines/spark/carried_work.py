"""Work that goes to Spark's workers, a file with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from precedes.core.columns import Batch


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with some executions. It is called with them and, where a `file` goes along, with the path of that
    file on the worker.
    """

    work: Callable[[Iterable[Batch], str | None], bytes]
    file: Path | None = None

    def sent(self, spark: SparkSession) -> Callable[[Iterable[Batch]], bytes]:
        """The work as a worker can do it."""
        if self.file is None:
            return _carried(self.work, None)
        path = str(self.file.resolve())
        try:
            spark.sparkContext.addFile(path)
        except PySparkAttributeError:
            # A session of Spark Connect has no context.
            spark.addArtifact(path, file=True)
        return _carried(self.work, self.file.name)


def _carried(
    work: Callable[[Iterable[Batch], str | None], bytes], file: str | None
) -> Callable[[Iterable[Batch]], bytes]:
    def carried(batches: Iterable[Batch]) -> bytes:
        if file is None:
            return work(batches, None)
        # Workers have all of pyspark. A client may have Spark Connect and nothing else.
        from pyspark import SparkFiles

        return work(batches, SparkFiles.get(file))

    return carried
