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
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import place, placed_columns, time_columns
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.slices import (
    Columns,
    Numbers,
    certain,
    is_text,
    matched,
    numbers_of,
    tables,
    where,
)
from precedes.traces.foreign.typed_fields import number, translated
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.formats.line_slices import Slice
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "topic": "the topic that was consumed, which is not in the output; needed",
    "columns": "what follows the offset on each line, such as `key` or `headers,key,value`; by default it is not read",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the consumer; by default the name of the file",
}

_PATTERN: Final = (
    r"(?:(?:(?P<kind>CreateTime|LogAppendTime):(?P<milliseconds>-?[0-9]{1,19})|NO_TIMESTAMP)\t)?"
    r"(?:Partition:(?P<partition>[0-9]{1,10})\t)?"
    r"(?:Offset:(?P<offset>[0-9]{1,19})(?:\t|$))?"
    r"(?:Delivery:(?P<deliveries>[0-9]{1,5}|NONE)(?:\t|$))?"
    r"(?:Epoch:(?:[0-9]{1,10}|NONE)(?:\t|$))?"
    r"(?P<rest>.*)"
)
_LINE: Final = re.compile(_PATTERN, re.DOTALL)
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

    common["sender"] = rows.SOMEBODY

    def of_line(line: str) -> Iterator[Row]:
        yield common | _record(line, topic, columns)

    def of_rows(given: Slice) -> Iterator[tuple[int, Row]]:
        return translated(source, rows.lines_of(given), of_line)

    def of_columns(given: Slice) -> tuple[Columns, Numbers]:
        groups, numbers = matched(given, _PATTERN)
        return common | _records(groups, topic, columns), numbers

    yield from tables(source, notices, of_columns, of_rows, ended=True)


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
    if match is None or not (match["partition"] or match["offset"]):
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


def _records(groups: Columns, topic: str, columns: tuple[str, ...]) -> Columns:
    """The same of lines in columns, each a group of the pattern. Raises Irregular."""
    if not topic:
        raise Irregular
    kind, deliveries = groups["kind"], groups["deliveries"]
    certain(is_text(groups["partition"]), is_text(groups["offset"]))
    topics = arrow.repeat(topic, len(kind))
    found = placed_columns(topics, numbers_of(groups["partition"]), numbers_of(groups["offset"]))
    if pc.any(is_text(kind)).as_py():
        found |= time_columns(_TIMES, kind, numbers_of(groups["milliseconds"]))
    if pc.any(is_text(deliveries)).as_py():
        found["redelivered"] = pc.greater(numbers_of(where(pc.not_equal(deliveries, "NONE"), deliveries)), 1)
    return found | _carried_columns(groups["rest"], columns)


def _carried_columns(rest: Column, columns: tuple[str, ...]) -> Columns:
    if not columns:
        return {}
    cells = pc.split_pattern(rest, "\t", max_splits=len(columns) - 1 if columns[-1] == "value" else None)
    certain(pc.equal(pc.list_value_length(cells), len(columns)))
    if "key" not in columns:
        return {}
    key = pc.list_element(cells, columns.index("key"))
    return {"key": where(pc.not_equal(key, "null"), key)}
