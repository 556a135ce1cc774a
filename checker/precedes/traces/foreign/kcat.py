"""What `kcat -C -J` prints: a JSON object for each record, as kcat's json.c writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from precedes.traces.arrow import arrow, pc
from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import placed, placed_columns, time_columns
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.slices import Columns, Numbers, certain, objects, tables, where
from precedes.traces.foreign.typed_fields import Fields, first_object, text, translated, whole
from precedes.traces.formats.line_slices import Slice
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the consumer; by default the name of the file",
}

_PLACE: Final = frozenset({"topic", "partition", "offset"})
_OTHERS: Final = frozenset(
    {"tstype", "ts", "broker", "headers", "key", "payload"}
    | {"key_error", "key_schema_id", "payload_error", "value_schema_id"}
)
_TIMES: Final = {"create": "create_time", "logappend": "append_time"}
_UNKNOWN: Final = "unknown"
_NO_TIME: Final = -1
"""What librdkafka has for a record without a time."""
_SHAPE: Final = arrow.schema(
    [(name, arrow.string()) for name in ("topic", "tstype", "key", "payload", "key_error", "payload_error")]
    + [
        (name, arrow.int64())
        for name in ("partition", "offset", "ts", "broker", "key_schema_id", "value_schema_id")
    ]
    + [("headers", arrow.list_(arrow.string()))]
)
_PER_MILLISECOND: Final = 10**6


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an object that has the fields of kcat and no others."""
    found = first_object(start)
    return found is not None and found.keys() >= _PLACE | {"broker"} and found.keys() <= _PLACE | _OTHERS


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    common = {
        "execution": rows.execution_of(source),
        "entity": rows.entity_of(source),
        "event": "deliver",
        "sender": rows.SOMEBODY,
    }

    def of_record(record: Fields) -> Iterator[Row]:
        yield common | placed(record) | {"key": record.get("key")} | _time(record)

    def of_rows(given: Slice) -> Iterator[tuple[int, Row]]:
        return translated(source, rows.objects_of(source, given), of_record)

    def of_columns(given: Slice) -> tuple[Columns, Numbers]:
        found, numbers = objects(given, _SHAPE)
        return common | _columns(found), numbers

    yield from tables(source, notices, of_columns, of_rows)


def _columns(found: pa.Table) -> Columns:
    """The same of records in columns. Raises Irregular."""
    kind, milliseconds = found["tstype"], found["ts"]
    certain(pc.is_in(kind, value_set=arrow.array([*_TIMES, _UNKNOWN, None])))
    made = where(pc.fill_null(pc.not_equal(milliseconds, _NO_TIME), True), kind)
    return (
        placed_columns(found["topic"], found["partition"], found["offset"])
        | {"key": found["key"]}
        | time_columns(_TIMES, made, milliseconds)
    )


def _time(record: Fields) -> Row:
    """When the record was made or stored; when it was delivered is not printed. Raises RowError."""
    if record.get("tstype") is None:
        return {}
    kind = text(record, "tstype")
    if kind == _UNKNOWN:
        return {}
    if kind not in _TIMES:
        raise RowError("T012", f"`tstype` is {shown(kind)}", f"it is one of {', '.join([*_TIMES, _UNKNOWN])}")
    if record.get("ts") == _NO_TIME:
        return {}
    return {_TIMES[kind]: rows.seconds(whole(record, "ts") * _PER_MILLISECOND)}
