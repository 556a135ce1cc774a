"""Judges one row group of a columnar file, in a thread of this process or in a task of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from precedes.core.columns import Batch, execution_of
from precedes.engines.columnar.batch_scan import Scan, reads_time
from precedes.engines.columnar.fast_path.row_group import Rest, batch_of_group
from precedes.engines.columnar.fast_path.screen import can_screen, screened
from precedes.engines.scan.partials import (
    WHOLE_EXECUTION_LIMIT,
    Candidate,
    Partial,
    Pending,
    judge,
    with_fine,
)
from precedes.logic.plan import Plan
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.assembly.attributes import tell_lacking
from precedes.traces.layout.columnar_file import LaidOut, Layout


class GroupJudge:
    """Judges row groups by one plan. `every`: what holds is wanted execution by execution, too."""

    def __init__(self, plan: Plan, options: TraceOptions, *, every: bool) -> None:
        self._plan = plan
        self._options = options
        # What is screened out holds, which nothing that is recognized does on an incomplete execution.
        self._screens = not every and options.complete and not options.attributes and can_screen(plan)
        # An incomplete execution is also judged as if it were complete.
        self._time = any(reads_time(plan, complete=complete) for complete in {options.complete, True})

    def judge(
        self, file: LaidOut, number: int, wanted: tuple[int, int], notices: Notices
    ) -> tuple[Partial, Batch, Scan]:
        """Judge a row group. `wanted` candidates and doubts at most are kept.

        The batch and the scan may lack executions of which everything holds; the partial has them.
        """
        group = file.layout.groups[number]
        if self._screens and group.regular and not group.named and not group.listed:
            file.tell(number, notices)
            fine, others = screened(file, number, self._options, self._plan)
            partial, result = judge(others, self._plan, *wanted)
            return with_fine(partial, fine), others, result
        batch = self._batch(file, number, notices)
        partial, result = judge(batch, self._plan, *wanted)
        return partial, batch, result

    def _batch(self, file: LaidOut, number: int, notices: Notices) -> Batch:
        if file.layout.groups[number].regular:
            file.tell(number, notices)
            batch = batch_of_group(file, number, self._options, time=self._time)
            tell_lacking(batch.attributes, notices)
            return batch
        rows = file.canonical(number, file.rows(number), notices)
        return assemble(rows, self._options, notices)


def settled(partial: Partial, layouts: Sequence[Layout], options: TraceOptions) -> Partial:
    """The partial with its pending candidates and doubts read, row group by row group."""
    candidates = _settled(partial.candidates, layouts, options)
    shown = [doubt.violation for doubt in partial.doubts if doubt.violation is not None]
    # A doubt shows what would be violated if no row is missing.
    violations = iter(_settled(shown, layouts, replace(options, complete=True)))
    doubts = (
        doubt if doubt.violation is None else replace(doubt, violation=next(violations))
        for doubt in partial.doubts
    )
    return replace(partial, candidates=tuple(candidates), doubts=tuple(doubts))


def _settled(
    found: Sequence[Candidate | Pending], layouts: Sequence[Layout], options: TraceOptions
) -> list[Candidate]:
    groups: dict[tuple[str, int], list[Pending]] = {}
    for candidate in found:
        if isinstance(candidate, Pending):
            groups.setdefault((candidate.place.path, candidate.place.group), []).append(candidate)
    by_path = {layout.source.path: layout for layout in layouts}
    read: dict[Pending, Candidate] = {}
    for (path, number), pending in groups.items():
        with closing(LaidOut(by_path[path])) as file:
            read |= _read(file, number, pending, options)
    return [read[one] if isinstance(one, Pending) else one for one in found]


def _read(
    file: LaidOut, number: int, pending: Sequence[Pending], options: TraceOptions
) -> dict[Pending, Candidate]:
    by_span: dict[tuple[int, int], list[Pending]] = {}
    for one in pending:
        by_span.setdefault((one.place.start, one.place.stop), []).append(one)
    spans = sorted(by_span)
    starts, stops = (np.array(ends, np.int64) for ends in zip(*spans, strict=True))
    rest = Rest(file, number, options, starts, stops)
    rest.ahead(range(len(spans)))
    read: dict[Pending, Candidate] = {}
    for x, (start, stop) in enumerate(spans):
        here = by_span[start, stop]
        whole = execution_of(*rest.one(x)) if stop - start <= WHOLE_EXECUTION_LIMIT else None
        cuts = rest.executions(x, [one.messages for one in here])
        read |= {
            one: Candidate(one.found, cut, whole, one.offenders) for one, cut in zip(here, cuts, strict=True)
        }
    return read
