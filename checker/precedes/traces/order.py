"""The order of an entity's events, if rows, times and clocks disagree.

`seq` gives the order; without it, the order of rows does. Times that run against `seq` are only reported. If
times run against the order of rows, or recorded clocks disagree with it, either may be wrong, unless the user
has said which one to follow (`--order`). A log that has times and no other order does not order equal times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.core.clock_order import NO_PAIRS, Pairs, compared, counted_events, has_cycle, in_clock_order
from precedes.core.columns import MISSING_TIME, Batch, Bool, Int32, Int64, histories_of
from precedes.core.verdict import Reason
from precedes.traces import notices as notice
from precedes.traces.assembly.contradictions import place
from precedes.traces.assembly.histories import Events, TableNames, by_time
from precedes.traces.notices import Example, Notices
from precedes.traces.options import Order, TraceOptions

TIMES_AGAINST_ROWS: Final = (
    "rows without `seq` have earlier times than rows before them of the same entity: what depends on the order of its "
    "events is unknown. Add `seq`, sort the rows, or use --order rows if the rows are right"
)
TIMES_AGAINST_SEQ: Final = (
    "rows have earlier times than events before them of the same entity, by `seq` or the order that you chose: events "
    "are judged in that order"
)
EQUAL_TIMES: Final = (
    "events of an entity have equal times, and their log has no other order: what depends on the order of its events "
    "is unknown. Use --order rows if the order in the file is right"
)
CLOCKS_AGAINST_ROWS: Final = (
    "recorded clocks disagree with the order of rows: what depends on it is unknown. Choose with --order rows or "
    "--order clocks"
)
CLOCKS_SET_ASIDE: Final = "recorded clocks disagree with the order of rows, which you chose"
CLOCKS_CANNOT_ORDER: Final = (
    "recorded clocks and the messages have no common order: what depends on it is unknown. --order rows ignores the "
    "clocks"
)


def by_clocks(events: Events, batch: Batch) -> Events:
    """The events with each history in the order of its own clocks; `batch` is made of them as they stand."""
    batch = _counted(batch)
    return events if batch.clocks is None else events.where(in_clock_order(histories_of(batch), batch.clocks))


def _counted(batch: Batch) -> Batch:
    """The batch with the events that are counted by their clocks marked as such."""
    if batch.clocks is None:
        return batch
    counted = counted_events(histories_of(batch), batch.clocks)
    return replace(batch, clocks=replace(batch.clocks, counted=counted))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is to compare: the table that was read, its names, and its events, with `seq` where `placed`."""

    table: pa.Table
    names: TableNames
    events: Events
    placed: Bool
    """Of each entity, whether its rows have `seq`."""

    def example(self, pairs: Pairs) -> Example:
        """The first of some pairs: by execution, then by the place of the second row."""
        executions = self.names.entities.executions[self.events.entity[pairs.second]]
        rows = self.events.row[pairs.second]
        k = int(np.lexsort((rows, executions))[0])
        one, other = int(self.events.row[pairs.first[k]]), int(rows[k])
        execution = str(self.names.executions[executions[k]])
        told = f"execution {execution}: {place(self.table, one)} and {place(self.table, other)}"
        found = self.table.slice(other, 1).to_pylist()[0]
        return Example(execution, found["file_order"] or 0, found["row"] or 0, told)


def ordered(batch: Batch, evidence: Evidence, options: TraceOptions, notices: Notices) -> Batch:
    """The batch with the evidence of its clocks, and with the doubts that there are about its order."""
    batch = replace(_counted(batch), by_clocks=options.order is not Order.ROWS)
    doubt = np.zeros(len(batch.event_offsets) - 1, np.int32)
    across = np.zeros(batch.executions, np.int32)
    chosen = _chosen(batch, evidence, options)
    _compare_times(evidence, options, evidence.placed | chosen, doubt, notices)
    _find_equal_times(evidence, chosen, doubt, notices)
    if batch.clocks is not None:
        batch = _compare_clocks(batch, evidence, options, doubt, across, notices)
    if evidence.names.senderless is not None:
        across[evidence.names.senderless] |= int(Reason.SEND_NOT_LOGGED)
    if not (doubt.any() or across.any()):
        return batch
    np.bitwise_or.at(across, evidence.names.entities.executions, doubt)
    return replace(batch, history_doubt=doubt if doubt.any() else None, order_doubt=across)


def _chosen(batch: Batch, evidence: Evidence, options: TraceOptions) -> Bool:
    """Of each entity, whether the user has chosen what gives the order of all its events."""
    if options.order is Order.CLOCKS and batch.clocks is not None:
        uncounted = evidence.events.entity[~batch.clocks.counted]
        counted: Bool = np.bincount(uncounted, minlength=len(evidence.placed)) == 0
        return counted
    return np.full(len(evidence.placed), options.order is Order.ROWS)


def _find_equal_times(evidence: Evidence, chosen: Bool, doubt: Int32, notices: Notices) -> None:
    """Find events that only their times order, and that have equal ones: a `seq` of theirs is made of these."""
    timed = by_time(evidence.table, evidence.events)
    if not timed.any():
        return
    entity, time = evidence.events.entity, evidence.events.time
    equal = (entity[1:] == entity[:-1]) & (time[1:] == time[:-1]) & (time[1:] != MISSING_TIME)
    first = np.flatnonzero(equal & timed[1:] & ~chosen[entity[1:]])
    if len(first):
        rows = len(np.union1d(first, first + 1))
        notices.count(notice.LESS_EXACT, EQUAL_TIMES, rows, evidence.example(Pairs(first, first + 1)))
        doubt[entity[first]] |= int(Reason.EQUAL_TIMES)


def _compare_times(
    evidence: Evidence, options: TraceOptions, known: Bool, doubt: Int32, notices: Notices
) -> None:
    events = evidence.events
    back = backwards(events.entity, events.time, options.epsilon)
    if not len(back.second):
        return
    settled = known[events.entity[back.second]]
    for pairs, code, text in (
        (back.where(~settled), notice.TIMES_AGAINST_ROWS, TIMES_AGAINST_ROWS),
        (back.where(settled), notice.TIMES_AGAINST_SEQ, TIMES_AGAINST_SEQ),
    ):
        if len(pairs.second):
            notices.count(code, text, len(pairs.second), evidence.example(pairs))
    doubt[events.entity[back.second[~settled]]] |= int(Reason.ROW_ORDER)


def out_of_order(batch: Batch) -> Bool:
    """The executions whose rows are not all there is to say of the order of their events, or that times run against."""
    entity = np.repeat(np.arange(len(batch.event_offsets) - 1), np.diff(batch.event_offsets))
    execution = np.repeat(np.arange(batch.executions), np.diff(batch.entity_offsets))
    found = np.zeros(batch.executions, np.bool_)
    found[execution[entity[backwards(entity, batch.event_time, 0).second]]] = True
    if batch.order_doubt is not None:
        found |= batch.order_doubt != 0
    if batch.clock_edges is not None:
        found[execution[entity[np.flatnonzero(np.diff(batch.clock_edges.offsets))]]] = True
    return found


def backwards(entity: Int64, time: Int64, epsilon: int) -> Pairs:
    """Events with a time earlier, by more than epsilon, than the latest before them at their entity, and that one."""
    timed = np.flatnonzero(time != MISSING_TIME)
    of, at = entity[timed], time[timed]
    if not ((of[1:] == of[:-1]) & (at[1:] < at[:-1])).any():
        return NO_PAIRS
    values, rank = np.unique(at, return_inverse=True)
    keys = of * len(values) + rank
    latest = np.maximum.accumulate(keys)
    holder = np.maximum.accumulate(np.where(keys == latest, np.arange(len(keys)), 0))
    before = holder[:-1]
    late = (of[before] == of[1:]) & (at[1:] < at[before] - epsilon)
    return Pairs(timed[before[late]], timed[1:][late])


def _compare_clocks(
    batch: Batch, evidence: Evidence, options: TraceOptions, doubt: Int32, across: Int32, notices: Notices
) -> Batch:
    assert batch.clocks is not None
    events = histories_of(batch)
    found = compared(events, batch.clocks)
    beside = found.within + found.across
    executions, entity = evidence.names.entities.executions, evidence.events.entity
    if options.order is Order.ROWS:
        if len(beside.second):
            notices.count(
                notice.CLOCKS_SET_ASIDE, CLOCKS_SET_ASIDE, len(beside.second), evidence.example(beside)
            )
        return batch
    doubt[entity[found.within.second]] |= int(Reason.CLOCK_ORDER)
    across[executions[entity[beside.second]]] |= int(Reason.CLOCK_ORDER)
    edges = found.edges
    told = np.flatnonzero(np.diff(edges.offsets))
    for x in np.unique(executions[entity[told]]).tolist():
        if across[x] == 0 and has_cycle(events, edges, x):
            event = int(told[executions[entity[told]] == x][0])
            beside += Pairs(edges.earlier[edges.offsets[event] :][:1], np.array([event]))
            across[x] |= int(Reason.CLOCK_ORDER)
    if len(beside.second):
        chosen = options.order is Order.CLOCKS
        code, text = (
            (notice.CLOCKS_CANNOT_ORDER, CLOCKS_CANNOT_ORDER)
            if chosen
            else (notice.CLOCKS_AGAINST_ROWS, CLOCKS_AGAINST_ROWS)
        )
        notices.count(code, text, len(beside.second), evidence.example(beside))
    return replace(batch, clock_edges=edges if len(edges.earlier) else None)
