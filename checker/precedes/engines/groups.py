"""One row group of a laid-out file judged, wherever that is done: a thread of this process, a task of Spark."""

from __future__ import annotations

from precedes.columns import Batch
from precedes.engines.columnar.laid_out import batch_of_group
from precedes.engines.columnar.plan import Plan
from precedes.engines.columnar.scan import Scan, reads_time
from precedes.engines.judging import Partial, judge
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.layout import LaidOut


class GroupJudge:
    """Judges row groups by one plan."""

    def __init__(self, plan: Plan, options: TraceOptions) -> None:
        self._plan = plan
        self._options = options
        self._time = reads_time(plan, complete=options.complete)

    def judge(
        self, file: LaidOut, number: int, wanted: tuple[int, int], notices: Notices
    ) -> tuple[Partial, Batch, Scan]:
        """Judge a row group. `wanted` candidates and doubts at most are kept."""
        batch = self._batch(file, number, notices)
        partial, result = judge(batch, self._plan, *wanted)
        return partial, batch, result

    def _batch(self, file: LaidOut, number: int, notices: Notices) -> Batch:
        if file.layout.groups[number].regular:
            file.tell(number, notices)
            return batch_of_group(file, number, self._options, time=self._time)
        rows = file.canonical(number, file.rows(number), notices)
        return assemble(rows, self._options, notices)
