"""Judges one row group of a columnar file, in a thread of this process or in a task of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from precedes.core.execution import EVENT_CODES
from precedes.engines.columnar.batch_scan import Scan, columns_read
from precedes.engines.columnar.execution_source import BatchSource, ExecutionSource
from precedes.engines.columnar.fast_path.group_reader import GroupReader
from precedes.engines.columnar.fast_path.row_group import row_group
from precedes.engines.columnar.fast_path.screen import ALL, Screen, can_screen
from precedes.engines.scan.foretelling import foretell
from precedes.engines.scan.partials import Candidate, Partial, Pending, judge, with_decided
from precedes.engines.scan.timeline import READ
from precedes.logic.plan import Plan
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.assembly.attributes import tell_lacking
from precedes.traces.layout.columnar_file import ColumnarFile, Layout


class GroupJudge:
    """Judges row groups by one plan. `every`: what holds is wanted execution by execution, too. `counted`: nothing is,
    beyond the candidates and uncertainties.
    """

    def __init__(self, plan: Plan, options: TraceOptions, *, every: bool, counted: bool = False) -> None:
        self._plan = plan
        self._options = options
        # What is screened out holds, which nothing that is recognized does on an incomplete execution.
        # A screened scan lacks executions, and a timeline has all.
        all_wanted = every or bool(plan.watched)
        screens = not all_wanted and options.complete and can_screen(plan)
        self._counted = counted and (plan.listing is None or not plan.listing.everywhere)
        # An incomplete execution is also judged as if it were complete.
        reads = (columns_read(plan, complete=complete) for complete in {options.complete, True})
        self._reads = frozenset[str]().union(*reads, READ if plan.watched else ())
        self._screen = Screen(plan, options, self._reads) if screens else None

    def judge(
        self, file: ColumnarFile, number: int, wanted: tuple[int, int], notices: Notices
    ) -> tuple[Partial, Scan]:
        """Judge a row group. `wanted` candidates and uncertainties at most are kept.

        The scan may lack executions of which everything holds, and if they are only `counted`, any that is decided
        without it; the partial has them.
        """
        group = file.layout.groups[number]
        if self._screen and group.regular and not (group.named or group.listed or group.to_groups):
            file.tell(number, notices)
            shown = wanted if self._counted else ALL
            decided, others = self._screen.decided(file, number, notices, shown)
            foretell(others, self._plan, notices)
            partial, result = judge(others, self._plan, *wanted)
            return with_decided(partial, decided), result
        source = self._source(file, number, notices)
        foretell(source, self._plan, notices)
        return judge(source, self._plan, *wanted)

    def _source(self, file: ColumnarFile, number: int, notices: Notices) -> ExecutionSource:
        if file.layout.groups[number].regular:
            file.tell(number, notices)
            source = row_group(file, number, self._options, self._reads)
            kinds = source.columns(("event_kind",)).event_kind
            delivered = kinds == EVENT_CODES[self._options.delivery]
            tell_lacking(source.attributes, delivered, self._options, notices)
            return source
        rows = file.canonical(number, file.rows(number), notices)
        return BatchSource(assemble(rows, self._options, notices))


def settled(partial: Partial, layouts: Sequence[Layout], options: TraceOptions) -> Partial:
    """The partial with its pending candidates, uncertainties and onsets read, row group by row group."""
    candidates = _settled(partial.candidates, layouts, options)
    shown = [
        uncertainty.violation for uncertainty in partial.uncertainties if uncertainty.violation is not None
    ]
    # An uncertainty shows what would be violated if no row is missing.
    violations = iter(_settled(shown, layouts, replace(options, complete=True)))
    first = _settled([onset.candidate for onset in partial.onsets.values()], layouts, options)
    uncertainties = (
        uncertainty if uncertainty.violation is None else replace(uncertainty, violation=next(violations))
        for uncertainty in partial.uncertainties
    )
    onsets = {
        name: replace(onset, candidate=candidate)
        for (name, onset), candidate in zip(partial.onsets.items(), first, strict=True)
    }
    return replace(partial, candidates=tuple(candidates), uncertainties=tuple(uncertainties), onsets=onsets)


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
        with closing(ColumnarFile(by_path[path])) as file:
            read |= _read(file, number, pending, options)
    return [read[one] if isinstance(one, Pending) else one for one in found]


def _read(
    file: ColumnarFile, number: int, pending: Sequence[Pending], options: TraceOptions
) -> dict[Pending, Candidate]:
    by_span: dict[tuple[int, int], list[Pending]] = {}
    for one in pending:
        by_span.setdefault((one.place.start, one.place.stop), []).append(one)
    spans = sorted(by_span)
    starts, stops = (np.array(ends, np.int64) for ends in zip(*spans, strict=True))
    reader = GroupReader(file, number, options, (starts, stops))
    wanted = {x: [one.messages for one in by_span[span]] for x, span in enumerate(spans)}
    return {
        one: Candidate(one.found, excerpt, one.offenders)
        for x, excerpts in reader.excerpts(wanted)
        for one, excerpt in zip(by_span[spans[x]], excerpts, strict=True)
    }
