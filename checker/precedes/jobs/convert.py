"""A trace as a log of another tool."""

from __future__ import annotations

from collections.abc import Sequence

from precedes.core.transposition import execution_of
from precedes.traces import Notices, TraceOptions, expand, read_batches, write_executions
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.layout.columnar_file import with_members
from precedes.traces.options import GroupMembers


def write_for_shiviz(
    paths: Sequence[str], target: str, notices: Notices, groups: GroupMembers, log: LogReading
) -> int:
    """Write all executions of a trace as one log of ShiViz. Returns the number of events. Raises PrecedesError."""
    sources = expand(paths, notices, log)
    batches = read_batches(sources, with_members(sources, TraceOptions(groups=groups)), notices)
    executions = (execution_of(batch, number) for batch in batches for number in range(batch.executions))
    return write_executions(executions, target)
