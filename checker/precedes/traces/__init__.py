"""Traces: files of rows, read into canonical tables and assembled into batches of executions.

See docs/traces.md.
"""

from precedes.traces.assembly.assembler import assemble
from precedes.traces.batches import batch_named, batches_of, execution_names, read_batches
from precedes.traces.notices import Notice, Notices
from precedes.traces.options import Order, TraceOptions
from precedes.traces.reader import canonical, read_table
from precedes.traces.schema import TABLE_SCHEMA
from precedes.traces.sources import TraceSource, expand
from precedes.traces.writer import write_executions

__all__ = [
    "TABLE_SCHEMA",
    "Notice",
    "Notices",
    "Order",
    "TraceOptions",
    "TraceSource",
    "assemble",
    "batch_named",
    "batches_of",
    "canonical",
    "execution_names",
    "expand",
    "read_batches",
    "read_table",
    "write_executions",
]
