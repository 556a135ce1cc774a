"""Any work on whole executions, on Spark: workers read files or rows, and answer for the executions that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.engines.scan.local import scannable
from precedes.engines.spark.files import Files, shuffled_blocks
from precedes.engines.spark.frames import by_execution, mistakes_of_reading
from precedes.engines.spark.messages import WorkerMessages
from precedes.engines.spark.tasks import ANSWER_SCHEMA, Records, Tell, batches_of_blocks, batches_of_rows
from precedes.engines.spark.workers import of_this_version
from precedes.traces import Notices, TraceOptions, TraceSource, assemble
from precedes.traces.arrow import arrow
from precedes.traces.layout.columnar_file import ColumnarFile, Layout, with_members


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with some executions. It is called with them and, where a `file` goes along, with the path of that
    file on the worker.
    """

    work: Callable[[Iterable[Batch], str | None], bytes]
    file: Path | None = None

    def sent(self, spark: SparkSession) -> Callable[[Iterable[Batch]], bytes]:
        """The work as a worker can do it."""
        if self.file is not None:
            spark.sparkContext.addFile(str(self.file.resolve()))
        return _carried(self.work, None if self.file is None else self.file.name)


def _carried(
    work: Callable[[Iterable[Batch], str | None], bytes], file: str | None
) -> Callable[[Iterable[Batch]], bytes]:
    def carried(batches: Iterable[Batch]) -> bytes:
        return work(batches, None if file is None else SparkFiles.get(file))

    return carried


def answers(
    spark: SparkSession, sources: Sequence[TraceSource], options: TraceOptions, notices: Notices, work: Work
) -> list[bytes]:
    """What `work` answers for the executions of trace files: row groups in their order, others in any.

    PrecedesError as in-process.
    """
    options = with_members(sources, options)
    sources = [source.asked(options.attributes) for source in sources]
    messages = WorkerMessages(spark)
    layouts = scannable(sources, options)
    for layout in layouts or ():
        layout.tell(notices)
    files = Files(spark, sources, layouts)
    tell, carried = messages.tell(), work.sent(spark)
    with files.named():
        if layouts is None:
            blocks = shuffled_blocks(spark, files.pieces, tell)
            task = _of_records(batches_of_blocks, options, carried, tell)
            rows = blocks.mapInArrow(task, from_arrow_schema(ANSWER_SCHEMA)).collect()
            found = [bytes(row.answer) for row in rows]
        else:
            parts = spark.sparkContext.parallelize(files.groups, max(1, len(files.groups)))
            found = parts.mapPartitions(_of_groups(layouts, options, carried, tell)).collect()
    messages.unite(notices)
    return found


def answers_of_frame(events: DataFrame, options: TraceOptions, notices: Notices, work: Work) -> list[bytes]:
    """The same for the rows of a DataFrame, in the session that it belongs to."""
    spark = events.sparkSession
    messages = WorkerMessages(spark)
    task = _of_records(batches_of_rows, options, work.sent(spark), messages.tell())
    found = by_execution(events, options.attributes).mapInArrow(task, from_arrow_schema(ANSWER_SCHEMA))
    with mistakes_of_reading():
        rows = found.collect()
    messages.unite(notices)
    return [bytes(row.answer) for row in rows]


def _of_records(
    batches: Callable[[Records, TraceOptions, Notices], Iterator[Batch]],
    options: TraceOptions,
    work: Callable[[Iterable[Batch]], bytes],
    tell: Tell,
) -> Callable[[Records], Records]:
    """Record batches in, one answer for all of their executions out."""

    def done(records: Records) -> Records:
        notices = Notices()
        try:
            answer = work(batches(records, options, notices))
        except PrecedesError as error:
            tell(error)
            return
        tell(notices)
        yield arrow.record_batch([[answer]], schema=ANSWER_SCHEMA)

    return of_this_version(done)


def _of_groups(
    layouts: Sequence[Layout],
    options: TraceOptions,
    work: Callable[[Iterable[Batch]], bytes],
    tell: Tell,
) -> Callable[[Iterable[list[tuple[int, int]]]], Iterator[bytes]]:
    """Row groups in, each by the number of its layout and its own; one answer for all of them out."""

    def batches(pairs: Iterable[tuple[int, int]], notices: Notices) -> Iterator[Batch]:
        for place, number in pairs:
            with closing(ColumnarFile(layouts[place])) as file:
                yield assemble(file.canonical(number, file.rows(number), notices), options, notices)

    def done(parts: Iterable[list[tuple[int, int]]]) -> Iterator[bytes]:
        notices = Notices()
        try:
            answer = work(batches((pair for pairs in parts for pair in pairs), notices))
        except PrecedesError as error:
            tell(error)
            return
        tell(notices)
        yield answer

    return of_this_version(done)
