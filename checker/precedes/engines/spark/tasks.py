"""What Spark's Python workers do: read files, assemble and judge partitions. No pyspark here, no lark, no z3.

The functions returned work on iterators of Arrow record batches, as `mapInArrow` wants them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa

from precedes.diagnostics import PrecedesError
from precedes.engines.columnar.plan import Plan
from precedes.engines.judging import judge
from precedes.engines.verdict_rows import VERDICT_SCHEMA, verdict_rows
from precedes.traces import (
    TABLE_SCHEMA,
    Notice,
    Notices,
    TraceOptions,
    TraceSource,
    assemble,
    canonical,
    read_table,
)

Records = Iterator[pa.RecordBatch]
Tell = Callable[["Told"], None]
Told = PrecedesError | tuple[Notice, ...]
"""What a worker has to say beside its rows: the mistakes that stop the run, or notices."""

JUDGED_SCHEMA: Final = pa.schema([pa.field("partial", pa.binary()), *VERDICT_SCHEMA])
"""A row is a pickled `Partial`, or a verdict."""


def read_files(sources: Sequence[TraceSource], tell: Tell) -> Callable[[Records], Records]:
    """Record batches with numbers of sources in, canonical rows out.

    Mistakes are told, not raised: Spark would bury them in a traceback.
    """

    def read(records: Records) -> Records:
        notices = Notices()
        for record in records:
            for number in record["source"].to_numpy():
                try:
                    for table in read_table(sources[number], notices):
                        yield from table.to_batches()
                except PrecedesError as error:
                    tell(error)
                    return
        tell(notices.all())

    return read


def judge_rows(
    plan: Plan, options: TraceOptions, limit: int, *, tell: Tell, rows: str | None, partials: bool
) -> Callable[[Records], Records]:
    """Canonical rows of whole executions in; out come a partial report, verdict rows, or both.

    `rows` is None for no verdict rows, "failing" or "all".
    """

    def judged(records: Records) -> Records:
        table = pa.Table.from_batches(records, TABLE_SCHEMA)
        if not len(table):
            return
        notices = Notices()
        try:
            batch = assemble(table, options, notices)
        except PrecedesError as error:
            tell(error)
            return
        tell(notices.all())
        partial, result = judge(batch, plan, limit)
        verdicts = None if rows is None else verdict_rows(batch, result, plan, all_verdicts=rows == "all")
        if not partials:
            yield from verdicts.to_batches() if verdicts is not None else ()
            return
        yield from _judged(partial=[pickle.dumps(partial)])
        if verdicts is not None:
            yield from _judged(verdicts)

    return judged


def _judged(verdicts: pa.Table | None = None, partial: list[bytes] | None = None) -> Records:
    if verdicts is None:
        verdicts = pa.table(
            [pa.nulls(len(partial or ()), field.type) for field in VERDICT_SCHEMA], schema=VERDICT_SCHEMA
        )
    first = pa.array(partial if partial is not None else [None] * verdicts.num_rows, pa.binary())
    yield from pa.table([first, *verdicts.columns], schema=JUDGED_SCHEMA).to_batches()


def canonical_rows(columns: pa.Schema) -> Callable[[Records], Records]:
    """Rows of a user's table in, canonical rows out; a mistake is raised, for the user's own session to show."""

    def convert(records: Records) -> Records:
        notices = Notices()
        for record in records:
            table = canonical(pa.Table.from_batches([record], columns), "DataFrame", notices)
            yield from table.to_batches()

    return convert
