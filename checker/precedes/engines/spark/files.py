"""`precedes verify --engine spark`: the driver hands out files, one shuffle brings executions together,
partial reports come back.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from precedes.diagnostics import Diagnostic, PrecedesError
from precedes.engines.columnar.plan import Plan
from precedes.engines.judging import Partial, merge
from precedes.engines.spark.tasks import JUDGED_SCHEMA, Told, judge_rows, read_files
from precedes.engines.verdict_rows import VERDICT_SCHEMA, VerdictFile
from precedes.traces import TABLE_SCHEMA, Notices, TraceOptions, TraceSource

PARTITION_BYTES = 64 << 20
"""Size of trace files per partition after the shuffle: a partition is held in a worker's memory while it is
judged.
"""


Heard = dict[tuple[int, int], Told]
"""What was told, by stage and partition: a task that Spark runs twice tells the same thing twice, and it
counts once.
"""


class _Hearing(AccumulatorParam[Heard]):
    def zero(self, value: Heard) -> Heard:  # noqa: ARG002 - Spark's signature
        return {}

    def addInPlace(self, value1: Heard, value2: Heard) -> Heard:  # noqa: N802 - Spark's name
        return value1 | value2


def verify(
    spark: SparkSession,
    sources: Sequence[TraceSource],
    plan: Plan,
    options: TraceOptions,
    notices: Notices,
    *,
    limit: int,
    out: str | None,
    all_verdicts: bool,
) -> Partial:
    """Judge trace files on Spark; writes `verdicts.parquet` below `out` where one is given. PrecedesError as
    in-process.
    """
    heard = spark.sparkContext.accumulator({}, _Hearing())

    def tell(told: Told) -> None:
        task = TaskContext.get()
        assert task is not None, "workers tell, the driver hears"
        heard.add({(task.stageId(), task.partitionId()): told})

    parts = max(spark.sparkContext.defaultParallelism, sum(map(_rows_bytes, sources)) // PARTITION_BYTES + 1)
    rows = (
        spark.range(0, len(sources), numPartitions=max(1, len(sources)))
        .toDF("source")
        .mapInArrow(read_files(tuple(sources), tell), from_arrow_schema(TABLE_SCHEMA))
        .repartition(parts, "execution")
    )
    wanted = None if out is None else "all" if all_verdicts else "failing"
    judged = rows.mapInArrow(
        judge_rows(plan, options, limit, tell=tell, rows=wanted, partials=True),
        from_arrow_schema(JUDGED_SCHEMA),
    )
    if out is not None:
        judged = judged.persist(StorageLevel.DISK_ONLY)
    try:
        rows_of_partials = judged.where("partial is not null").select("partial").collect()
        # What is unpickled was pickled by our own workers in this very job.
        partials = [pickle.loads(row.partial) for row in rows_of_partials]  # noqa: S301
        _hear(heard.value, notices)
        if out is not None:
            _write(judged, out)
    finally:
        if out is not None:
            judged.unpersist()
    return merge(partials, plan, limit)


def _rows_bytes(source: TraceSource) -> int:
    """The size of the rows of a file as text, about: text compresses to a tenth."""
    return source.size if source.compression is None else source.size * 10


def _hear(heard: Heard, notices: Notices) -> None:
    """Raise what stops the run; unite the notices."""
    mistakes: dict[Diagnostic, None] = {}
    for told in heard.values():
        if isinstance(told, PrecedesError):
            mistakes.update(dict.fromkeys(told.diagnostics))
        else:
            notices.merge(told)
    if mistakes:
        raise PrecedesError(tuple(sorted(mistakes, key=lambda d: (d.path or "", d.row or 0))))


def _write(judged: DataFrame, out: str) -> None:
    verdicts = judged.where("partial is null").drop("partial").orderBy("execution")
    with VerdictFile(out) as file:
        rows: list[dict[str, object]] = []
        for row in verdicts.toLocalIterator(prefetchPartitions=True):
            rows.append(row.asDict())
            if len(rows) >= 50_000:
                file.write(pa.Table.from_pylist(rows, VERDICT_SCHEMA))
                rows.clear()
        file.write(pa.Table.from_pylist(rows, VERDICT_SCHEMA))
