"""`precedes verify --engine spark`: the driver hands out row groups or files, partial reports come back."""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.engines.scan.local import scannable
from precedes.engines.scan.partials import Partial, merge
from precedes.engines.scan.row_groups import settled
from precedes.engines.scan.verdict_rows import (
    VERDICT_SCHEMA,
    VIOLATION_SCHEMA,
    TableFile,
    verdict_file,
    violation_file,
)
from precedes.engines.spark.failures import died_reading
from precedes.engines.spark.messages import WorkerMessages
from precedes.engines.spark.session import FAILURES, text_of
from precedes.engines.spark.tasks import (
    BLOCK_SCHEMA,
    JUDGED_SCHEMA,
    Judging,
    Tell,
    judge_blocks,
    judge_groups,
    partials_of_groups,
    read_pieces,
)
from precedes.logic.plan import Plan
from precedes.traces import Notices, TraceOptions, TraceSource
from precedes.traces.layout.columnar_file import Layout, with_members
from precedes.traces.reader import ROWS_PER_PIECE, Piece, pieces

ROWS_PER_SHARE = 500_000
"""Rows that a worker unpacks at a time, about; an execution that has more is never divided."""

AT_ONCE = 50_000
"""Rows of the tables that are written at a time."""

TASKS_PER_CORE = 2
"""Tasks into which row groups are dealt: enough that no core waits long for another, too few to cost anything."""


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
    """Judge trace files on Spark. Writes `verdicts.parquet` below `out` where one is given, and `violations.parquet` if
    the plan lists offenders. PrecedesError as in-process.
    """
    options = with_members(sources, replace(options, attributes=plan.attributes, parted=plan.parted))
    sources = [source.asked(plan.attributes) for source in sources]
    messages = WorkerMessages(spark)
    tell = messages.tell()
    judging = Judging(plan, options, limit, None if out is None else "all" if all_verdicts else "failing")
    layouts = scannable(sources, options)
    for layout in layouts or ():
        layout.tell(notices)
    files = Files(spark, sources, layouts)
    if layouts is not None and out is None:
        with files.named():
            partials = _partials_of_groups(spark, layouts, files.groups, judging, tell)
        messages.unite(notices)
        return settled(merge(partials, plan, limit), layouts, options)
    judged = (
        _by_shuffle(spark, files.pieces, judging, tell)
        if layouts is None
        else _by_groups(spark, layouts, files.groups, judging, tell)
    )
    if out is not None:
        judged = judged.persist(StorageLevel.DISK_ONLY)
    try:
        with files.named():
            rows_of_partials = judged.where("partial is not null").select("partial").collect()
        # What is unpickled was pickled by our own workers in this very job.
        partials = [pickle.loads(row.partial) for row in rows_of_partials]  # noqa: S301
        messages.unite(notices)
        if out is not None:
            _write(judged, out)
            if plan.listing is not None:
                _write_violations(judged, out)
    finally:
        if out is not None:
            judged.unpersist()
    return settled(merge(partials, plan, limit), layouts or (), options)


class Files:
    """What each task reads: `pieces` of files, or, where all are laid out, row `groups`, by the numbers of layouts."""

    def __init__(
        self, spark: SparkSession, sources: Sequence[TraceSource], layouts: Sequence[Layout] | None
    ) -> None:
        tasks = TASKS_PER_CORE * spark.sparkContext.defaultParallelism
        self.groups: Groups = [] if layouts is None else dealt(layouts, tasks)
        self.pieces = (
            [piece for source in sources for piece in pieces(source, ROWS_PER_PIECE)]
            if layouts is None
            else []
        )
        self._read = [[piece.source.shown] for piece in self.pieces] + [
            sorted({layouts[place].source.shown for place, _ in pairs}) for pairs in self.groups if layouts
        ]

    @contextmanager
    def named(self) -> Iterator[None]:
        """A worker that dies while it reads files is a message with their names (T019)."""
        try:
            yield
        except FAILURES as error:
            died = died_reading(text_of(error))
            if died is None or died[0] >= len(self._read):
                raise
            said = f"reading this file ended a worker of Spark ({died[1]})"
            hint = "`precedes explain T019` says what to do"
            raise PrecedesError(
                tuple(Diagnostic("T019", said, path, hint=hint) for path in self._read[died[0]])
            ) from error


Groups = list[list[tuple[int, int]]]


def _partials_of_groups(
    spark: SparkSession, layouts: Sequence[Layout], work: Groups, judging: Judging, tell: Tell
) -> list[Partial]:
    """What row groups come to, where no verdict rows are wanted: then a job need not go by way of SQL."""
    if not work:
        return []
    assigned = spark.sparkContext.parallelize(work, len(work))
    return assigned.mapPartitions(partials_of_groups(layouts, judging, tell)).collect()


def _by_groups(
    spark: SparkSession, layouts: Sequence[Layout], work: Groups, judging: Judging, tell: Tell
) -> DataFrame:
    """Laid-out files: tasks read row groups themselves, and nothing is shuffled."""
    assigned = spark.range(0, len(work), numPartitions=max(1, len(work))).toDF("work")
    return assigned.mapInArrow(judge_groups(layouts, work, judging, tell), from_arrow_schema(JUDGED_SCHEMA))


def dealt(layouts: Sequence[Layout], tasks: int) -> list[list[tuple[int, int]]]:
    """Row groups for tasks, the largest first, so that what takes longest starts first and alone.

    A row group is the number of its layout and its own.
    """
    groups = [(place, number) for place, layout in enumerate(layouts) for number in range(len(layout.groups))]
    rows = {pair: layouts[pair[0]].groups[pair[1]].rows for pair in groups}
    loads: list[tuple[int, int]] = [(0, task) for task in range(min(tasks, len(groups)))]
    work: list[list[tuple[int, int]]] = [[] for _ in loads]
    for pair in sorted(groups, key=lambda pair: (-rows[pair], pair)):
        load, task = heapq.heappop(loads)
        work[task].append(pair)
        heapq.heappush(loads, (load + rows[pair], task))
    return sorted(work, key=lambda pairs: -sum(rows[pair] for pair in pairs))


def _by_shuffle(spark: SparkSession, work: Sequence[Piece], judging: Judging, tell: Tell) -> DataFrame:
    """Other files: their rows are shuffled first."""
    return shuffled_blocks(spark, work, tell).mapInArrow(
        judge_blocks(judging, tell), from_arrow_schema(JUDGED_SCHEMA)
    )


def shuffled_blocks(spark: SparkSession, work: Sequence[Piece], tell: Tell) -> DataFrame:
    """The rows of pieces of files as `BLOCK_SCHEMA`: one shuffle of blocks brings executions together."""
    count = max(
        2 * spark.sparkContext.defaultParallelism, sum(piece.rows for piece in work) // ROWS_PER_SHARE + 1
    )
    numbers = spark.range(0, len(work), numPartitions=max(1, len(work))).toDF("piece")
    blocks = numbers.mapInArrow(read_pieces(work, count, tell), from_arrow_schema(BLOCK_SCHEMA))
    return blocks.repartition(count, "share")


def _write(judged: DataFrame, out: str) -> None:
    verdicts = judged.where("predicate is not null").drop("partial", "violations").orderBy("execution")
    with verdict_file(out) as file:
        rows = (row.asDict() for row in verdicts.toLocalIterator(prefetchPartitions=True))
        _write_rows(rows, file, VERDICT_SCHEMA)


def _write_violations(judged: DataFrame, out: str) -> None:
    packed = judged.where("violations is not null").select("execution", "violations").orderBy("execution")
    with violation_file(out) as file:
        rows = (
            row
            for each in packed.toLocalIterator(prefetchPartitions=True)
            # What is unpickled was pickled by our own workers in this very job.
            for row in pickle.loads(each.violations)  # noqa: S301
        )
        _write_rows(rows, file, VIOLATION_SCHEMA)


def _write_rows(rows: Iterable[dict[str, object]], file: TableFile, schema: pa.Schema) -> None:
    """Rows into a file, some at a time."""
    rest = iter(rows)
    while some := list(islice(rest, AT_ONCE)):
        file.write(pa.Table.from_pylist(some, schema))
