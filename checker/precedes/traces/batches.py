"""From paths to batches, in this process, for rows in any order and of any format."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

import pyarrow as pa

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.traces.arrow import arrow
from precedes.traces.assembly.assembler import assemble
from precedes.traces.layout.columnar_file import with_members
from precedes.traces.notices import Notices
from precedes.traces.options import TraceOptions
from precedes.traces.partition.spill import ROWS_IN_MEMORY, whole_executions
from precedes.traces.reader import names_to_come, read_table
from precedes.traces.sources import TraceSource, expand

EVENTS_PER_BATCH: Final = 500_000
"""With twice as many, the memory of most columns goes back to the system and is asked for again, column by column. Of
2.5 million rows that took the processor half as long as all else.
"""


def read_batches(
    paths: Sequence[str | os.PathLike[str] | TraceSource],
    options: TraceOptions,
    notices: Notices,
    events_per_batch: int = EVENTS_PER_BATCH,
    budget: int = ROWS_IN_MEMORY,
    *,
    in_order: bool = True,
) -> Iterator[Batch]:
    """The executions of traces, `in_order` of their names or in any order, no execution in two batches.

    A batch has about `events_per_batch` events, more where one execution has more. Nothing is yielded for
    traces without rows. Where more than `budget` rows have to wait for others, they are sorted by way of temporary
    files. Raises PrecedesError for rows that cannot be read, before anything is yielded or later, and for what
    `assemble` refuses when it comes to it, unless rows cannot be read.
    """
    given = [path for path in paths if isinstance(path, TraceSource)]
    named = expand([path for path in paths if not isinstance(path, TraceSource)], notices)
    options = with_members((*given, *named), options)
    sources = [replace(source.asked(options.attributes), coded=True) for source in (*given, *named)]
    tables = (table for source in sources for table in read_table(source, notices))
    to_come = names_to_come(sources, events_per_batch, budget, in_order=in_order)
    with closing(whole_executions(tables, events_per_batch, budget, to_come)) as parts:
        for part in parts:
            try:
                batch = assemble(part, options, notices)
            except PrecedesError:
                # What cannot be read is told first, wherever it is.
                deque(tables, maxlen=0)
                raise
            yield batch


def batch_named(
    name: str, sources: Sequence[TraceSource], options: TraceOptions, notices: Notices
) -> Batch | None:
    """One execution of traces by its name; None where there is none. The rows of no other are kept or sorted."""
    options = with_members(sources, options)
    asked = (source.asked(options.attributes) for source in sources)
    tables = (table for source in asked for table in read_table(source, notices))
    rows = (table.filter(arrow.compute.equal(table["execution"], name)) for table in tables)
    return next(batches_of((some for some in rows if len(some)), options, notices), None)


def execution_names(sources: Sequence[TraceSource], notices: Notices) -> tuple[str, ...]:
    """The names of the executions of traces, in their order."""
    tables = (table for source in sources for table in read_table(source, notices))
    return tuple(sorted({str(name) for table in tables for name in table["execution"].unique().to_pylist()}))


def batches_of(
    tables: Iterable[pa.Table],
    options: TraceOptions,
    notices: Notices,
    events_per_batch: int = EVENTS_PER_BATCH,
    budget: int = ROWS_IN_MEMORY,
) -> Iterator[Batch]:
    """The executions of canonical tables, as `read_batches` gives those of files."""
    with closing(whole_executions(tables, events_per_batch, budget)) as parts:
        for part in parts:
            yield assemble(part, options, notices)
