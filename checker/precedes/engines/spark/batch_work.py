"""Any work on the whole executions of trace files, on Spark: workers read them, and answer for what they have read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.engines.scan.local import scannable
from precedes.engines.spark.carried_work import Work
from precedes.engines.spark.files import Files, shuffled_blocks
from precedes.engines.spark.messages import WorkerMessages
from precedes.engines.spark.tasks import ANSWER_SCHEMA, Records, Tell, batches_of_blocks
from precedes.engines.spark.workers import of_this_version
from precedes.traces import Notices, TraceOptions, TraceSource, assemble
from precedes.traces.arrow import arrow
from precedes.traces.layout.columnar_file import ColumnarFile, Layout, with_members


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
            task = _of_blocks(options, carried, tell)
            rows = blocks.mapInArrow(task, from_arrow_schema(ANSWER_SCHEMA)).collect()
            found = [bytes(row.answer) for row in rows]
        else:
            parts = spark.sparkContext.parallelize(files.groups, max(1, len(files.groups)))
            found = parts.mapPartitions(_of_groups(layouts, options, carried, tell)).collect()
    messages.unite(notices)
    return found


def _of_blocks(
    options: TraceOptions, work: Callable[[Iterable[Batch]], bytes], tell: Tell
) -> Callable[[Records], Records]:
    """`BLOCK_SCHEMA` in, one answer for all of the executions out."""

    def done(records: Records) -> Records:
        notices = Notices()
        try:
            answer = work(batches_of_blocks(records, options, notices))
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
