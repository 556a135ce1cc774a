"""The in-process engine, without a JVM. It scans columnar files row group by row group, and reads other
traces in batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial as applied
from queue import SimpleQueue
from typing import Final

from precedes.core.columns import Batch
from precedes.core.execution import EventKind
from precedes.core.machine import available_cores
from precedes.engines.columnar.batch_scan import Scan
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.columnar.kernels.kernel import PLAIN_EVENTS
from precedes.engines.scan.foretelling import foretold
from precedes.engines.scan.partials import Merging, Partial, judge
from precedes.engines.scan.row_groups import GroupJudge, settled
from precedes.logic.plan import Plan
from precedes.native.compiled_functions import load_llvm
from precedes.traces import Notices, TraceOptions, TraceSource, read_batches
from precedes.traces.formats.one_pass import LEAST_BYTES
from precedes.traces.layout.columnar_file import ColumnarFile, Layout, layouts_of, with_members

MOST_THREADS: Final = 8
"""Each has a row group in memory, some 60 MB."""

Each = Callable[[Partial, Scan], None]
Advance = Callable[[Partial], None]


def verify(
    sources: Sequence[TraceSource],
    plan: Plan,
    options: TraceOptions,
    notices: Notices,
    limit: int,
    each: Sequence[Each] = (),
    *,
    every: bool = False,
    advance: Advance | None = None,
) -> Partial:
    """Judge the executions of trace files.

    `each` is called with what a part of them came to, and its scan (verdict rows), in the order of names. The scan may
    lack executions of which all holds, unless `every` one is wanted. `advance` is called with what a part came to,
    alone (progress): where nobody asks for the scan, fewer executions are looked at, and they come in any order.
    `limit` candidates and uncertainties are kept. Raises PrecedesError for what cannot be read.
    """
    told = () if advance is None else (lambda partial, _: advance(partial),)
    options = with_members(sources, replace(options, attributes=plan.attributes, parted=plan.parted))
    sources = [source.asked(plan.attributes) for source in sources]
    layouts = scannable(sources, options)
    if (
        layouts is not None
        and sum(group.rows for layout in layouts for group in layout.groups) >= PLAIN_EVENTS
    ):
        judging = GroupJudge(plan, options, every=every, counted=not each)
        found = _by_groups(layouts, judging, Merging(plan, limit), notices, (*told, *each))
        return settled(found, layouts, options)
    if sum(source.size for source in sources) >= LEAST_BYTES:
        # So many rows are judged by machine code, and are read by it where it is there.
        load_llvm()
    batches = read_batches(sources, options, notices, in_order=bool(each))
    return judged(foretold(batches, plan, notices), plan, limit, (*told, *each))


def judged(batches: Iterable[Batch], plan: Plan, limit: int, each: Sequence[Each] = ()) -> Partial:
    """Judge batches one after the other; `limit` and `each` as for `verify`."""
    merging = Merging(plan, limit)
    for batch in batches:
        partial, result = judge(BatchSource(batch), plan, limit)
        merging.add(partial)
        for call in each:
            call(partial, result)
    return merging.merged()


def scannable(sources: Sequence[TraceSource], options: TraceOptions) -> tuple[Layout, ...] | None:
    """The layouts of the files, where they can be scanned row group by row group; else None.

    Entities that only the options name are in no file's numbering. What a file says of its clocks is said for `deliver`
    as the delivery, and whether an execution has arrivals is found where its rows are assembled.
    """
    if options.cluster or not sources or options.delivery is not EventKind.DELIVER:
        return None
    return layouts_of(sources)


Judged = tuple[Partial, Scan, Notices]


def _by_groups(
    layouts: Sequence[Layout],
    judging: GroupJudge,
    merging: Merging,
    notices: Notices,
    each: Sequence[Each],
) -> Partial:
    """Row groups in threads, which neither Arrow nor the kernels keep from each other; results in order."""
    for layout in layouts:
        layout.tell(notices)
    threads = min(MOST_THREADS, available_cores())
    with ExitStack() as stack:
        handles = [_handles(layout, threads, stack) for layout in layouts]
        pool = stack.enter_context(ThreadPoolExecutor(threads))

        def judged(place: int, number: int) -> Judged:
            heard = Notices(aloud=notices.aloud)
            file = handles[place].get()
            try:
                wanted = merging.wanted(layouts[place].groups[number].first)
                return *judging.judge(file, number, wanted, heard), heard
            finally:
                handles[place].put(file)

        # By name: what a report shows of violations is in the first row groups then, and read from no other.
        ordered = sorted(
            ((place, k) for place, layout in enumerate(layouts) for k in range(len(layout.groups))),
            key=lambda pair: layouts[pair[0]].groups[pair[1]].first,
        )
        work = (applied(judged, *pair) for pair in ordered)
        for partial, result, heard in _in_order(pool, work, threads):
            merging.add(partial)
            notices.unite(heard)
            for call in each:
                call(partial, result)
    return merging.merged()


def _handles(layout: Layout, threads: int, stack: ExitStack) -> SimpleQueue[ColumnarFile]:
    """An open file for each thread."""
    handles: SimpleQueue[ColumnarFile] = SimpleQueue()
    first = ColumnarFile(layout)
    for file in (first, *(first.again() for _ in range(threads - 1))):
        stack.callback(file.close)
        handles.put(file)
    return handles


def _in_order(
    pool: ThreadPoolExecutor, work: Iterator[Callable[[], Judged]], threads: int
) -> Iterator[Judged]:
    """What the calls return, in their order, few of them ahead of what is asked for."""
    running: deque[Future[Judged]] = deque()
    try:
        for call in work:
            running.append(pool.submit(call))
            if len(running) > threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
