"""From paths to batches, in this process: all rows are read, then cut where executions end.

Only `cut` decides where batches end, and it needs the rows of an execution together, not all rows: a trace
that is laid out by execution can be cut as it is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.columns import Batch
from precedes.traces.arrow import arrow
from precedes.traces.assembling import assemble
from precedes.traces.encoding import encode
from precedes.traces.notices import Notices
from precedes.traces.options import TraceOptions
from precedes.traces.reading import read_table
from precedes.traces.sources import TraceSource, expand

EVENTS_PER_BATCH: Final = 2_000_000


def read_batches(
    paths: Sequence[str | os.PathLike[str] | TraceSource],
    options: TraceOptions,
    notices: Notices,
    events_per_batch: int = EVENTS_PER_BATCH,
) -> Iterator[Batch]:
    """The executions of traces, in the order of their names, no execution in two batches.

    A batch has about `events_per_batch` events, more where one execution has more. Nothing is yielded for
    traces without rows. Raises PrecedesError: for rows that cannot be read before anything is yielded, for
    what `assemble` refuses when it comes to it.
    """
    given = [path for path in paths if isinstance(path, TraceSource)]
    named = expand([path for path in paths if not isinstance(path, TraceSource)], notices)
    tables = [table for source in (*given, *named) for table in read_table(source, notices)]
    if tables:
        for part in cut(arrow.concat_tables(tables), events_per_batch):
            yield assemble(part, options, notices)


def cut(table: pa.Table, events: int) -> Iterator[pa.Table]:
    """The rows of a canonical table in parts of about `events` rows, each with whole executions only."""
    if len(table) <= events:
        if len(table):
            yield table
        return
    names, (codes,) = encode(table["execution"])
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    # An execution belongs to the part in which its last row comes to lie.
    part = ((ends - 1) // events)[codes]
    if (part[1:] >= part[:-1]).all():
        bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(table)]
        for start, stop in pairwise(bounds):
            yield table.slice(start, stop - start)
        return
    order = np.argsort(part, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(part[order])) + 1).tolist(), len(table)]
    for start, stop in pairwise(bounds):
        yield table.take(arrow.array(order[start:stop]))
