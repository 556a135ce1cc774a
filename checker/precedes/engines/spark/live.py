"""Judge the executions of a stream while they go on, and once more when they have ended.

The rows of an execution are its state: as Arrow writes them, with what was told of the execution. State is given up
when an execution has ended, or has too many rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa
from pyspark.sql import DataFrame, types
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from precedes.core.diagnostics import usage
from precedes.core.verdict import Verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.scan.standings import STANDING_SCHEMA, Standing, standings
from precedes.engines.scan.verdict_rows import verdict_rows
from precedes.engines.spark import frames
from precedes.engines.spark.read_rows import canonical_table
from precedes.engines.spark.tasks import Records
from precedes.engines.spark.workers import of_this_version, raised_plainly
from precedes.logic.plan import Plan
from precedes.traces import Notices, TraceOptions, assemble

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_PACKED: Final = types.StructType(
    [
        types.StructField("execution", types.StringType()),
        types.StructField("time", types.TimestampType()),
        types.StructField("rows", types.BinaryType()),
    ]
)
"""Some rows of an execution, as Arrow writes them, with their latest time."""

_PACKED_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("execution", pa.string()),
    pa.field("time", pa.timestamp("us", "UTC")),
    pa.field("rows", pa.binary()),
]
"""The same, as Arrow says it."""

_STATE: Final = types.StructType(
    [
        types.StructField("rows", types.BinaryType()),
        types.StructField("told", types.StringType()),
        types.StructField("latest", types.LongType()),
    ]
)
LIVE_SCHEMA: Final = STANDING_SCHEMA.append(pa.field("ended", pa.bool_()))

_TAKEN_BACK: Final = "taken back"
"""What was told of a name that was violated for good, and is not by the rows that came later."""

_LATE: Final = "it was violated for good, and a row came later that stands before one by which it was"

_NANOSECONDS: Final = 1_000_000
"""In a millisecond."""


@dataclass(frozen=True, slots=True)
class Live:
    """How open executions are judged. One that has more than `most` rows is given up."""

    plan: Plan
    options: TraceOptions
    most: int


@dataclass(slots=True)
class _Open:
    """An open execution: its rows, or None once there were too many; what was told of each name; its latest time."""

    rows: pa.Table | None
    told: dict[str, str]
    latest: int

    @property
    def packed(self) -> tuple[bytes | None, str, int]:
        """The state as Spark keeps it."""
        rows = None if self.rows is None else _written(self.rows)
        return rows, json.dumps(self.told), self.latest


def watched(events: DataFrame, plan: Plan, options: TraceOptions, idle: str, most: int) -> DataFrame:
    """A streaming DataFrame in `LIVE_SCHEMA`: what changes, and the verdicts on what has ended.

    PrecedesError for columns that are missing, or cannot be read; rows that cannot be read fail the query.
    """
    if not events.isStreaming:
        raise usage("this DataFrame is no stream", "precedes.spark.verify judges a table")
    if dict(events.dtypes).get("time") not in ("timestamp", "timestamp_ntz"):
        raise usage(
            "a stream needs `time` as a timestamp",
            'it says when an execution has ended: columns={"time": ...}',
        )
    live = Live(plan, replace(options, attributes=plan.attributes, parted=plan.parted), most)
    rows = frames.known_columns(events, plan.attributes).mapInArrow(_packing(live), _PACKED)
    return (
        rows.withWatermark("time", idle)
        .groupBy("execution")
        .applyInPandasWithState(
            _standing(live),
            from_arrow_schema(LIVE_SCHEMA),
            _STATE,
            "append",
            GroupStateTimeout.EventTimeTimeout,
        )
    )


def _packing(live: Live) -> Callable[[Records], Records]:
    """Rows of a user's stream in, `_PACKED` out."""

    def packed(records: Records) -> Records:
        with raised_plainly():
            for record in records:
                rows = canonical_table(pa.Table.from_batches([record]), 1, live.options.attributes, Notices())
                yield from _by_execution(rows)

    return of_this_version(packed)


def _by_execution(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(cast("list[str]", rows["execution"].to_pylist())):
        places.setdefault(name, []).append(place)
    found = []
    for name, those in places.items():
        of_one = rows.take(pa.array(those))
        times = [time for time in of_one["time"].to_pylist() if time is not None]
        latest = max(times) // 1000 if times else None
        found.append({"execution": name, "time": latest, "rows": _written(of_one)})
    yield pa.RecordBatch.from_pylist(found, pa.schema(_PACKED_FIELDS))


def _standing(
    live: Live,
) -> Callable[[tuple[str], Iterable[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """What Spark calls with an execution that has new rows, or has ended."""

    def judged(key: tuple[str], came: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        with raised_plainly():
            known = _of_state(state)
            if state.hasTimedOut:
                state.remove()
                yield _frame(_ended(key[0], known, live))
                return
            for frame in came:
                _take_in(known, [bytes(rows) for rows in frame["rows"]], live.most)
            changes = _changes(key[0], known, live)
            state.update(known.packed)
            state.setTimeoutTimestamp(max(known.latest, state.getCurrentWatermarkMs()) + 1)
            if changes:
                yield _frame(changes)

    return judged


def _of_state(state: GroupState) -> _Open:
    if not state.exists:
        return _Open(None, {}, -1)
    rows, told, latest = state.get
    return _Open(None if rows is None else _read(bytes(rows)), json.loads(told), latest)


def _take_in(known: _Open, packed: list[bytes], most: int) -> None:
    """Add rows, or give all up if they become too many."""
    new = [_read(rows) for rows in packed]
    first = known.latest < 0
    times = [time for table in new for time in table["time"].to_pylist() if time is not None]
    known.latest = max([known.latest, *(time // _NANOSECONDS for time in times), 0])
    if known.rows is None and not first:
        return
    rows = pa.concat_tables([*([] if known.rows is None else [known.rows]), *new])
    known.rows = rows if len(rows) <= most else None


def _changes(execution: str, known: _Open, live: Live) -> list[dict[str, Any]]:
    """The rows of what changed, which is noted as told."""
    if known.rows is None:
        rows = _given_up(execution, live, Standing.UNKNOWN.value)
    elif all(known.told.get(name) == Standing.VIOLATED.value for name in live.plan.names):
        return []
    else:
        options = replace(live.options, complete=False)
        rows = standings(assemble(known.rows, options, Notices()), live.plan).to_pylist()
    changes = []
    for row in rows:
        name = row["predicate"]
        late = _takes_back(known.told.get(name), row["standing"])
        standing = _TAKEN_BACK if late else row["standing"]
        if known.told.get(name) != standing:
            known.told[name] = standing
            change = _late(row, Standing.UNKNOWN.value) if late else row
            changes.append({**change, "ended": False})
    return changes


def _takes_back(told: str | None, standing: str) -> bool:
    """Whether a name was violated for good, and would be neither violated nor unknown now. The rows of an entity came
    out of their order then.
    """
    kept = (Standing.VIOLATED.value, Standing.UNKNOWN.value, Verdict.UNKNOWN.value)
    return told in (Standing.VIOLATED.value, _TAKEN_BACK) and standing not in kept


def _late(row: dict[str, Any], standing: str) -> dict[str, Any]:
    """A row of a name that was violated for good, and may not be so."""
    return {**row, "standing": standing, "witness": None, "reasons": _LATE}


def _ended(execution: str, known: _Open, live: Live) -> list[dict[str, Any]]:
    """The verdicts, as on a table with these rows."""
    if known.rows is None:
        return [{**row, "ended": True} for row in _given_up(execution, live, Verdict.UNKNOWN.value)]
    result = scan(assemble(known.rows, live.options, Notices()), live.plan)
    names = ("execution", "predicate", "witness", "reasons")
    rows = [
        {**{name: row[name] for name in names}, "standing": row["verdict"], "ended": True}
        for row in verdict_rows(result, live.plan, all_verdicts=True).to_pylist()
    ]
    return [
        _late(row, Verdict.UNKNOWN.value)
        if _takes_back(known.told.get(row["predicate"]), row["standing"])
        else row
        for row in rows
    ]


def _given_up(execution: str, live: Live, standing: str) -> list[dict[str, Any]]:
    why = f"the execution has more than {live.most:,} rows"
    return [
        {"execution": execution, "predicate": name, "standing": standing, "witness": None, "reasons": why}
        for name in live.plan.names
    ]


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pa.Table.from_pylist(rows, LIVE_SCHEMA).to_pandas()


def _written(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(rows.combine_chunks())
    return sink.getvalue().to_pybytes()


def _read(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()
