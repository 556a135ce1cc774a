"""What kafka-console-consumer prints with `print.partition` and `print.offset`: a line for each record.

The columns and their order are in Kafka's DefaultMessageFormatter.java: time, partition, offset, delivery, epoch,
headers, key and value, with tabs between them. Only headers, key and value do not say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import pyarrow as pa

from precedes.core.diagnostics import usage
from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import place
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import number, translated
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "topic": "the topic that was consumed, which is not in the output; needed",
    "columns": "what follows the offset on each line, such as `key` or `headers,key,value`; by default it is not read",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the consumer; by default the name of the file",
}

_LINE: Final = re.compile(
    r"(?:(?:(CreateTime|LogAppendTime):(-?[0-9]{1,19})|NO_TIMESTAMP)\t)?"
    r"(?:Partition:([0-9]{1,10})\t)?"
    r"(?:Offset:([0-9]{1,19})(?:\t|$))?"
    r"(?:Delivery:([0-9]{1,5}|NONE)(?:\t|$))?"
    r"(?:Epoch:(?:[0-9]{1,10}|NONE)(?:\t|$))?"
    r"(.*)",
    re.DOTALL,
)
_RECOGNIZED: Final = re.compile(
    r"(?:(?:(?:CreateTime|LogAppendTime):-?[0-9]+|NO_TIMESTAMP)\t)?Partition:[0-9]+\tOffset:[0-9]+[\t\r\n]"
)
_COLUMNS: Final = ("headers", "key", "value")
_TIMES: Final = {"CreateTime": "create_time", "LogAppendTime": "append_time"}
_PER_MILLISECOND: Final = 10**6


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with the partition and the offset of a record."""
    return _RECOGNIZED.match(start.removeprefix("\ufeff")) is not None


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    topic = source.setting("topic") or dict(source.stated).get("topic", "")
    columns = _columns(source.setting("columns"))
    common = {"execution": rows.execution_of(source), "entity": rows.entity_of(source), "event": "deliver"}

    def rows_of(line: str) -> Iterator[Row]:
        yield common | {"sender": rows.SOMEBODY} | _record(line, topic, columns)

    yield from rows.tables(source, translated(source, rows.lines(source, ended=True), rows_of), notices)


def _columns(setting: str) -> tuple[str, ...]:
    """The columns that the user says follow. Raises PrecedesError (U001)."""
    named = tuple(setting.split(",")) if setting else ()
    places = [_COLUMNS.index(name) for name in named if name in _COLUMNS]
    if len(places) < len(named) or any(second <= first for first, second in pairwise(places)):
        raise usage(f"`columns` is set to {shown(setting)}", f"some of {','.join(_COLUMNS)}, in this order")
    return named


def _record(line: str, topic: str, columns: tuple[str, ...]) -> Row:
    """What is known of a record and of its delivery. Raises RowError."""
    match = _LINE.fullmatch(line)
    if match is None or not (match[3] or match[4]):
        raise RowError(
            "T007",
            f"this line does not begin with the partition and the offset of a record: {shown(line)}",
            "a value may have ended a line: consume with print.value=false",
        )
    kind, milliseconds, partition, offset, deliveries, rest = match.groups()
    if partition is None or offset is None:
        raise RowError(
            "T023",
            "this line does not have both the partition and the offset of its record",
            "consume with print.partition=true and print.offset=true",
        )
    if not topic:
        raise RowError("T023", "the output does not say the topic", "say it: --set topic=NAME")
    row = place(topic, number(partition, "partition"), number(offset, "offset"))
    if kind is not None:
        row[_TIMES[kind]] = rows.seconds(int(milliseconds) * _PER_MILLISECOND)
    if deliveries not in {None, "NONE"}:
        row["redelivered"] = int(deliveries) > 1
    return row | _carried(rest, columns)


def _carried(rest: str, columns: tuple[str, ...]) -> Row:
    """The key, where the user says what the columns are. `null` may be a key, or stand for none: it is not known."""
    if not columns:
        return {}
    # Only the last column may have tabs in it, and only the value may be anything.
    cells = rest.split("\t", len(columns) - 1 if columns[-1] == "value" else -1)
    if len(cells) != len(columns):
        raise RowError(
            "T017", f"{len(cells)} columns follow the offset, not {len(columns)}", "see the setting `columns`"
        )
    named = dict(zip(columns, cells, strict=True))
    return {"key": named["key"]} if named.get("key", "null") != "null" else {}
