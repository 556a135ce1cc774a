"""What is told before a scan: which requirements take long on which executions, and how long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from precedes.core.columns import Batch
from precedes.engines.columnar.batch_scan import long_steps
from precedes.engines.columnar.execution_source import BatchSource, ExecutionSource
from precedes.logic.plan import Plan
from precedes.traces.notices import LONG, Notices

SECONDS: Final = 10
"""What is estimated to take less is not told."""

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE


def foretold(batches: Iterable[Batch], plan: Plan, notices: Notices) -> Iterator[Batch]:
    """The batches, and what takes long told before each."""
    for batch in batches:
        foretell(BatchSource(batch), plan, notices)
        yield batch


def foretell(source: ExecutionSource, plan: Plan, notices: Notices) -> None:
    """Tell what takes long on a source."""
    for name, seconds in long_steps(source, plan, SECONDS):
        longest = np.array([int(seconds.argmax())])
        (execution,) = source.names(longest).tolist()
        longest_time = duration(float(seconds.max()))
        told = f"{name} goes through pairs of messages: it may take {longest_time} on execution {execution}"
        notices.beforehand(LONG, told)


def duration(seconds: float) -> str:
    """About how long that is."""
    for unit, length in (("hours", _HOUR), ("minutes", _MINUTE)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"
