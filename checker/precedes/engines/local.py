"""The in-process engine: batches are read and scanned one after another in this process, without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from precedes.columns import Batch
from precedes.engines.columnar.plan import Plan
from precedes.engines.columnar.scan import Scan
from precedes.engines.judging import Partial, judge, merge


def verify(
    batches: Iterator[Batch],
    plan: Plan,
    limit: int,
    each: Sequence[Callable[[Batch, Scan], None]] = (),
) -> Partial:
    """Judge every batch; `each` is called with a batch and its scan, in order (progress, verdict rows)."""

    def partials() -> Iterator[Partial]:
        for batch in batches:
            partial, result = judge(batch, plan, limit)
            for call in each:
                call(batch, result)
            yield partial

    return merge(partials(), plan, limit)
