"""What Spark's Python workers do: read files, assemble and judge. This module imports no pyspark, lark or z3.

The functions returned work on iterators of Arrow record batches, as `mapInArrow` requires. Mistakes are
returned, not raised, because Spark would bury them in a traceback.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

import pyarrow as pa

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.engines.columnar.batch_scan import Scan
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.scan.partials import Merging, Partial, judge
from precedes.engines.scan.row_groups import GroupJudge
from precedes.engines.scan.verdict_rows import VERDICT_SCHEMA, verdict_rows, violation_rows
from precedes.engines.spark.read_rows import canonical_table, refuse_two_loads
from precedes.engines.spark.workers import of_this_version, raised_plainly
from precedes.logic.plan import Plan
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.arrow import arrow
from precedes.traces.layout.columnar_file import ColumnarFile, Layout
from precedes.traces.partition.shuffle import rows_of, shares
from precedes.traces.partition.spill import EVENTS_PER_PART, cut, whole_executions
from precedes.traces.reader import Piece, read_piece

Records = Iterator[pa.RecordBatch]
Tell = Callable[["Told"], None]
Told = PrecedesError | Notices
"""What a worker has to say beside its rows: the mistakes that stop the run, or notices."""

JUDGED_SCHEMA: Final[pa.Schema] = arrow.schema(
    [("partial", arrow.binary()), ("violations", arrow.binary()), *VERDICT_SCHEMA]
)
"""A row is a pickled `Partial`, or the pickled offenders of an execution, or a verdict."""

ANSWER_SCHEMA: Final[pa.Schema] = arrow.schema([("answer", arrow.binary())])
"""A row is what a task has to say, pickled."""

BLOCK_SCHEMA: Final[pa.Schema] = arrow.schema([("share", arrow.int32()), ("block", arrow.binary())])
"""A row is thousands of rows of a trace: see `precedes.traces.partition.shuffle`."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How executions are judged: `limit` candidates and uncertainties are kept; `rows` is None for no verdict rows,
    "failing" or "all".
    """

    plan: Plan
    options: TraceOptions
    limit: int
    rows: str | None

    def together(self, batches: Iterable[Batch]) -> Partial:
        """What is said of all of these executions."""
        merging = Merging(self.plan, self.limit)
        for batch in batches:
            merging.add(judge(BatchSource(batch), self.plan, self.limit)[0])
        return merging.merged()

    def verdicts(self, result: Scan) -> Records:
        """The rows of a scan that are wanted, in `VERDICT_SCHEMA`."""
        if self.rows is not None:
            yield from verdict_rows(result, self.plan, all_verdicts=self.rows == "all").to_batches()

    def violations(self, result: Scan) -> Records:
        """The offenders of a scan, in `VIOLATION_SCHEMA`."""
        yield from violation_rows(result, self.plan).to_batches()

    def judged(self, result: Scan) -> Records:
        """The rows of a scan that are wanted, in `JUDGED_SCHEMA`."""
        for record in self.verdicts(result):
            nothing = arrow.nulls(record.num_rows, arrow.binary())
            yield arrow.record_batch([nothing, nothing, *record.columns], schema=JUDGED_SCHEMA)
        if self.plan.listing is not None and self.plan.listing.everywhere:
            rows = violation_rows(result, self.plan).to_pylist()
            for execution, found in groupby(rows, lambda row: row["execution"]):
                packed = {"execution": execution, "violations": pickle.dumps(list(found))}
                yield cast("pa.RecordBatch", arrow.RecordBatch.from_pylist([packed], JUDGED_SCHEMA))


def judge_groups(
    layouts: Sequence[Layout], work: Sequence[Sequence[tuple[int, int]]], judging: Judging, tell: Tell
) -> Callable[[Records], Records]:
    """Record batches with places in `work` in, `JUDGED_SCHEMA` out: laid-out files are read and judged here.

    Work is a list of row groups, each by the number of its layout and its own.
    """

    def judged(records: Records) -> Records:
        assigned = [pair for k in _values(records, "work") for pair in work[k]]
        merging = Merging(judging.plan, judging.limit)
        for result in _judged(layouts, assigned, judging, merging, tell):
            yield from judging.judged(result)
        yield _with_partial(merging.merged())

    return of_this_version(judged)


def partials_of_groups(
    layouts: Sequence[Layout], judging: Judging, tell: Tell
) -> Callable[[Iterable[list[tuple[int, int]]]], Iterator[Partial]]:
    """Work as for `judge_groups` in, one partial for all of it out."""

    def judged(work: Iterable[list[tuple[int, int]]]) -> Iterator[Partial]:
        merging = Merging(judging.plan, judging.limit)
        for _ in _judged(layouts, [pair for pairs in work for pair in pairs], judging, merging, tell):
            pass
        yield merging.merged()

    return of_this_version(judged)


def _judged(
    layouts: Sequence[Layout],
    assigned: Sequence[tuple[int, int]],
    judging: Judging,
    merging: Merging,
    tell: Tell,
) -> Iterator[Scan]:
    """Judge row groups into `merging`, a mistake ends it; notices are told at the end."""
    notices = Notices()
    judge_group = GroupJudge(judging.plan, judging.options, every=judging.rows == "all").judge
    try:
        for place, pairs in groupby(sorted(assigned), lambda pair: pair[0]):
            with closing(ColumnarFile(layouts[place])) as file:
                for _, number in pairs:
                    wanted = merging.wanted(layouts[place].groups[number].first)
                    partial, result = judge_group(file, number, wanted, notices)
                    merging.add(partial)
                    yield result
    except PrecedesError as error:
        tell(error)
        return
    tell(notices)


def read_pieces(pieces: Sequence[Piece], share_count: int, tell: Tell) -> Callable[[Records], Records]:
    """Record batches with places in `pieces` in, `BLOCK_SCHEMA` out."""

    def read(records: Records) -> Records:
        notices = Notices()
        try:
            for k in _values(records, "piece"):
                for table in read_piece(pieces[k], notices):
                    for share, block in shares(table, share_count):
                        yield arrow.record_batch([[share], [block]], schema=BLOCK_SCHEMA)
        except PrecedesError as error:
            tell(error)
            return
        tell(notices)

    return of_this_version(read)


def judge_blocks(judging: Judging, tell: Tell) -> Callable[[Records], Records]:
    """`BLOCK_SCHEMA` in, with all blocks of each share, `JUDGED_SCHEMA` out. One share at a time is unpacked."""

    def judged(records: Records) -> Records:
        notices, merging = Notices(), Merging(judging.plan, judging.limit)
        try:
            for batch in batches_of_blocks(records, judging.options, notices):
                partial, result = judge(BatchSource(batch), judging.plan, judging.limit)
                merging.add(partial)
                yield from judging.judged(result)
        except PrecedesError as error:
            tell(error)
            return
        tell(notices)
        yield _with_partial(merging.merged())

    return of_this_version(judged)


def batches_of_blocks(records: Records, options: TraceOptions, notices: Notices) -> Iterator[Batch]:
    """The executions of `BLOCK_SCHEMA`, a share unpacked at a time."""
    held: dict[int, list[bytes]] = {}
    for record in records:
        for share, block in zip(*(column.to_pylist() for column in record.columns), strict=True):
            held.setdefault(cast("int", share), []).append(cast("bytes", block))
    for share in sorted(held):
        for part in cut(rows_of(held.pop(share)), EVENTS_PER_PART):
            yield assemble(part, options, notices)


def judge_rows(judging: Judging, *, violations: bool = False) -> Callable[[Records], Records]:
    """Rows of a user's table, all rows of each execution, in; `VERDICT_SCHEMA` out, or `VIOLATION_SCHEMA`.

    A mistake is raised, for the user's own session to show.
    """

    def judged(records: Records) -> Records:
        with raised_plainly():
            for batch in batches_of_rows(records, judging.options, Notices()):
                _, result = judge(BatchSource(batch), judging.plan, 0)
                yield from judging.violations(result) if violations else judging.verdicts(result)

    return of_this_version(judged)


def answer_rows(
    work: Callable[[Iterable[Batch]], object], options: TraceOptions
) -> Callable[[Records], Records]:
    """Rows of a user's table, all rows of each execution, in; `ANSWER_SCHEMA` out: what `work` says of them, with
    notices, or the mistake that ended it. Of its workers, a session of Spark Connect hears nothing but rows.
    """

    def answered(records: Records) -> Records:
        notices = Notices()
        said: tuple[object, Notices] | PrecedesError
        try:
            said = work(batches_of_rows(records, options, notices)), notices
        except PrecedesError as error:
            said = error
        yield arrow.record_batch([[pickle.dumps(said)]], schema=ANSWER_SCHEMA)

    return of_this_version(answered)


def batches_of_rows(records: Records, options: TraceOptions, notices: Notices) -> Iterator[Batch]:
    """The executions whose rows these are, assembled a part at a time. More rows than fit into memory go to files."""

    def tables() -> Iterator[pa.Table]:
        first = 1
        for record in records:
            table = pa.Table.from_batches([record])
            yield canonical_table(table, first, options.attributes, notices)
            first += len(table)

    for part in whole_executions(tables()):
        refuse_two_loads(part)
        yield assemble(part, options, notices)


def _values(records: Records, name: str) -> Iterator[int]:
    for record in records:
        yield from cast("list[int]", record[name].to_pylist())


def _with_partial(partial: Partial) -> pa.RecordBatch:
    record: pa.RecordBatch = arrow.RecordBatch.from_pylist(
        [{"partial": pickle.dumps(partial)}], JUDGED_SCHEMA
    )
    return record
