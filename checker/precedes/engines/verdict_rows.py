"""The rows of `verdicts.parquet`: one per execution and predicate, in Arrow.

`count` is the number of violations found: a scan stops at an execution's first one, so it is 1 where a
predicate is violated and 0 elsewhere. `witness` is a JSON object with the entities and messages that show a
violation; `reasons` says why a verdict is unknown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from precedes.columns import Batch, Names
from precedes.diagnostics import usage
from precedes.engines.columnar.plan import Plan
from precedes.engines.columnar.scan import Scan
from precedes.verdict import FALSE, TRUE, Verdict, reasons

_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("execution", pa.string()),
    pa.field("predicate", pa.string()),
    pa.field("verdict", pa.string()),
    pa.field("count", pa.int64()),
    pa.field("witness", pa.string()),
    pa.field("reasons", pa.string()),
]
VERDICT_SCHEMA: Final = pa.schema(_FIELDS)


def verdict_rows(batch: Batch, result: Scan, plan: Plan, *, all_verdicts: bool) -> pa.Table:
    """The rows of one batch: by execution, then in the plan's order; without `all_verdicts` only what does
    not hold.
    """
    executions, columns = np.nonzero(
        np.ones_like(result.values, dtype=bool) if all_verdicts else result.values != TRUE
    )
    values = result.values[executions, columns]
    said = np.where(
        values == TRUE,
        Verdict.HOLDS.value,
        np.where(values == FALSE, Verdict.VIOLATED.value, Verdict.UNKNOWN.value),
    )
    witnesses: list[str | None] = [None] * len(values)
    shown = {name: result.shown(name) for name in plan.names}
    for row in np.flatnonzero(values == FALSE):
        name, x = plan.names[columns[row]], int(executions[row])
        if shown[name][x]:
            witnesses[row] = _witness(batch, x, result, name)
    why = [
        batch.contradictions.get(int(x)) or "; ".join(reasons(int(value))) if value > TRUE else None
        for x, value in zip(executions, values, strict=True)
    ]
    return pa.table(
        [
            pa.array(batch.names[executions], pa.string()),
            pa.array(np.array(plan.names, dtype=object)[columns], pa.string()),
            pa.array(said.tolist(), pa.string()),
            pa.array((values == FALSE).astype(np.int64)),
            pa.array(witnesses, pa.string()),
            pa.array(why, pa.string()),
        ],
        schema=VERDICT_SCHEMA,
    )


def _witness(batch: Batch, x: int, result: Scan, name: str) -> str:
    witness = result.witness(x, name)
    of_entities: Sequence[str] | Names
    of_messages: Sequence[str] | Names
    if batch.rows is None:
        of_entities = batch.entity_names[batch.entity_offsets[x] : batch.entity_offsets[x + 1]]
        of_messages = batch.message_names[batch.message_offsets[x] : batch.message_offsets[x + 1]]
    else:
        of_entities, of_messages = batch.rows.ids(x)
    entities = [str(of_entities[e]) for e in witness.entities]
    messages = [str(of_messages[m]) for m in witness.messages]
    return json.dumps({"entities": entities, "messages": messages}, ensure_ascii=False)


class VerdictFile:
    """`verdicts.parquet` in a directory: written beside its place, and moved there whole when all went well."""

    def __init__(self, directory: str) -> None:
        self._target = Path(directory) / "verdicts.parquet"
        self._partial = Path(directory) / f".verdicts.{os.getpid()}.parquet"
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._partial, VERDICT_SCHEMA)
        except OSError as error:
            raise usage(f"cannot write to {directory}: {error.strerror}") from error

    def write(self, rows: pa.Table) -> None:
        """Add rows in `VERDICT_SCHEMA`."""
        self._writer.write_table(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        try:
            if kind is None:
                self._partial.replace(self._target)
        except OSError as failure:
            raise usage(f"cannot write {self._target}: {failure.strerror}") from failure
        finally:
            self._partial.unlink(missing_ok=True)
