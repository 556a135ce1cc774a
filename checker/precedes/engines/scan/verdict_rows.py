"""The tables that a run writes: `verdicts.parquet` and `violations.parquet`.

A row of the first is an execution and a predicate. `count` is the number of offenders: choices of entities
and messages that violate the predicate. It is 0 if the predicate holds, and null if offenders were not
counted. They are counted only on request, and not to the end if there are too many. `witness` is a JSON
object with the entities and messages that show a violation; where something is asked per value, `part` has the
values. `reasons` says why a verdict is unknown.

A row of the second is an offender: its entities and messages, and the events that it concerns, each with its
time (in nanoseconds) and the file and row from which it was read. Where something is asked per value, `part` is a JSON
object with the values.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from precedes.core.diagnostics import usage
from precedes.core.verdict import FALSE, TRUE, Verdict, reasons
from precedes.engines.columnar.batch_scan import Scan
from precedes.logic.plan import Plan

_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("execution", pa.string()),
    pa.field("predicate", pa.string()),
    pa.field("verdict", pa.string()),
    pa.field("count", pa.int64()),
    pa.field("witness", pa.string()),
    pa.field("reasons", pa.string()),
]
VERDICT_SCHEMA: Final = pa.schema(_FIELDS)

_EVENT: Final[list[pa.Field[Any]]] = [
    pa.field("event", pa.string()),
    pa.field("entity", pa.string()),
    pa.field("message", pa.string()),
    pa.field("time", pa.int64()),
    pa.field("file", pa.string()),
    pa.field("row", pa.int64()),
]
_VIOLATION: Final[list[pa.Field[Any]]] = [
    pa.field("execution", pa.string()),
    pa.field("predicate", pa.string()),
    pa.field("part", pa.string()),
    pa.field("entities", pa.list_(pa.string())),
    pa.field("messages", pa.list_(pa.string())),
    pa.field("events", pa.list_(pa.struct(_EVENT))),
]
VIOLATION_SCHEMA: Final = pa.schema(_VIOLATION)


def verdict_rows(result: Scan, plan: Plan, *, all_verdicts: bool) -> pa.Table:
    """The rows of one scan: by execution, then in the plan's order; without `all_verdicts` only what does
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
            witnesses[row] = _witness(x, result, name)
    why = [
        result.source.contradictions.get(int(x)) or "; ".join(reasons(int(value))) if value > TRUE else None
        for x, value in zip(executions, values, strict=True)
    ]
    return pa.table(
        [
            pa.array(result.source.names(executions), pa.string()),
            pa.array(np.array(plan.names, dtype=object)[columns], pa.string()),
            pa.array(said.tolist(), pa.string()),
            _counts(result, plan, executions, columns),
            pa.array(witnesses, pa.string()),
            pa.array(why, pa.string()),
        ],
        schema=VERDICT_SCHEMA,
    )


def violation_rows(result: Scan, plan: Plan) -> pa.Table:
    """The offenders of one scan: by execution, then in the plan's order."""
    rank = {name: place for place, name in enumerate(plan.names)}
    found = sorted((result.offenders or {}).items(), key=lambda one: (one[0][0], rank[one[0][1]]))
    names = result.source.names(np.array([x for (x, _), _ in found], np.intp))
    return pa.Table.from_pylist(
        [
            {
                "execution": str(execution),
                "predicate": name,
                "part": json.dumps(dict(offender.part), ensure_ascii=False) if offender.part else None,
                "entities": list(offender.entities),
                "messages": list(offender.messages),
                "events": [asdict(event) for event in offender.events],
            }
            for execution, ((_, name), offenders) in zip(names, found, strict=True)
            for offender in offenders.first
        ],
        VIOLATION_SCHEMA,
    )


def _counts(
    result: Scan, plan: Plan, executions: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> pa.Array[Any]:
    """How many offenders violate each name: those of the leaves below it together; null where they were not counted."""
    values = result.values[executions, columns]
    counts, missing = np.zeros(len(values), np.int64), values != TRUE
    if (offenders := result.offenders) is not None:
        for row in np.flatnonzero(values == FALSE).tolist():
            leaves = plan.below[plan.names[columns[row]]]
            found = [offenders[key] for leaf in leaves if (key := (int(executions[row]), leaf)) in offenders]
            if found and all(each.exact for each in found):
                counts[row], missing[row] = sum(each.count for each in found), False
    return pa.array(counts, mask=missing)


def _witness(x: int, result: Scan, name: str) -> str:
    witness = result.witness(x, name)
    of_entities, of_messages = result.source.ids(x)
    entities = [str(of_entities[e]) for e in witness.entities]
    messages = [str(of_messages[m]) for m in witness.messages]
    part = {"part": dict(witness.part)} if witness.part else {}
    return json.dumps({"entities": entities, "messages": messages, **part}, ensure_ascii=False)


class TableFile:
    """A Parquet file in a directory: written beside its place, and moved there whole when all went well."""

    def __init__(self, directory: str, name: str, schema: pa.Schema) -> None:
        self._target = Path(directory) / f"{name}.parquet"
        self._partial = Path(directory) / f".{name}.{os.getpid()}.parquet"
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._partial, schema)
        except OSError as error:
            raise usage(f"cannot write to {directory}: {error.strerror}") from error

    def write(self, rows: pa.Table) -> None:
        """Add rows in the schema."""
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


def verdict_file(directory: str) -> TableFile:
    """`verdicts.parquet`."""
    return TableFile(directory, "verdicts", VERDICT_SCHEMA)


def violation_file(directory: str) -> TableFile:
    """`violations.parquet`."""
    return TableFile(directory, "violations", VIOLATION_SCHEMA)
