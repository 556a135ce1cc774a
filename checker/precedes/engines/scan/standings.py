"""What executions have come to that are still going on: three values over prefixes, and a fourth for what is not known.

More rows may come. So an open execution is judged twice: as an incomplete one, of which only what is violated in every
completion is violated, and as if it had ended here.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, Final

import pyarrow as pa

from precedes.core.columns import Batch
from precedes.core.verdict import Verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.scan.verdict_rows import verdict_rows
from precedes.logic.plan import Plan


class Standing(Enum):
    """What an open execution has come to, of one predicate."""

    VIOLATED = "violated"
    """For good: whatever rows come that do not contradict those that came."""
    OWED = "owed"
    """It would be violated if nothing more came."""
    SATISFIED = "satisfied so far"
    """It would hold if nothing more came."""
    UNKNOWN = "unknown so far"
    """It would be unknown if nothing more came."""


_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("execution", pa.string()),
    pa.field("predicate", pa.string()),
    pa.field("standing", pa.string()),
    pa.field("witness", pa.string()),
    pa.field("reasons", pa.string()),
]
STANDING_SCHEMA: Final = pa.schema(_FIELDS)


def standings(batch: Batch, plan: Plan) -> pa.Table:
    """The rows of all executions of a batch, by execution, then in the plan's order."""
    open_rows, ended_rows = (
        verdict_rows(scan(replace(batch, complete=complete), plan), plan, all_verdicts=True).to_pylist()
        for complete in (False, True)
    )
    found = [_row(one, other) for one, other in zip(open_rows, ended_rows, strict=True)]
    return pa.Table.from_pylist(found, STANDING_SCHEMA)


def _row(still_open: dict[str, Any], ended: dict[str, Any]) -> dict[str, Any]:
    """The row of an execution and a predicate, from its verdicts while it is open and if it has ended."""
    for_good = still_open["verdict"] == Verdict.VIOLATED.value
    shown = still_open if for_good else ended
    standing = Standing.VIOLATED if for_good else _IF_ENDED[Verdict(ended["verdict"])]
    said = {name: shown[name] for name in ("execution", "predicate", "witness", "reasons")}
    return {**said, "standing": standing.value}


_IF_ENDED: Final = {
    Verdict.HOLDS: Standing.SATISFIED,
    Verdict.VIOLATED: Standing.OWED,
    Verdict.UNKNOWN: Standing.UNKNOWN,
}
