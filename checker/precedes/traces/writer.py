"""Executions to files of canonical rows:

JSON Lines or CSV (also .gz, .zst) or Parquet, as the name of the file says.

What is written reads back as the same executions; entities without a row that stand in no destination set
must then be named (`TraceOptions.cluster`). A file comes into being whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from precedes.core.execution import Execution
from precedes.traces.arrow import arrow, arrow_parquet
from precedes.traces.formats.text_stream import reason
from precedes.traces.formats.values import NANOSECONDS
from precedes.traces.problems import unreadable
from precedes.traces.schema import TABLE_SCHEMA
from precedes.traces.sources import STANDARD_INPUT, Format, TraceSource, source_of

ROWS_PER_GROUP: Final = 1 << 20

_WRITTEN: Final = (
    "execution",
    "entity",
    "seq",
    "event",
    "message",
    "dest",
    "sender",
    "time",
    "clock",
    "members",
)
_PARQUET_TYPES: Final = {"event": arrow.string(), "time": arrow.timestamp("ns", "UTC")}
_PARQUET_SCHEMA: Final = arrow.schema(
    [(n, _PARQUET_TYPES.get(n, TABLE_SCHEMA.field(n).type)) for n in _WRITTEN]
)

Values = dict[str, Any]


def write_executions(executions: Iterable[Execution], path: str | os.PathLike[str]) -> int:
    """Write executions to a file and return the number of rows.

    Raises PrecedesError where the name tells no format (T002) or the file cannot be written (T003),
    ValueError for a history of which only SL and RL are known, which no trace can say.
    """
    target = source_of(os.fspath(path))
    if target.path == STANDARD_INPUT:
        raise unreadable("T002", "a trace is written to a file", target.path, "name a file, as trace.jsonl")
    try:
        with in_place(target) as temporary:
            match target.format:
                case Format.PARQUET:
                    return _write_parquet(executions, temporary)
                case Format.JSON_LINES:
                    return _write_text(executions, temporary, target, _json_line, "")
                case Format.CSV:
                    return _write_text(executions, temporary, target, _csv_record, ",".join(_WRITTEN) + "\n")
    except OSError as error:
        raise unreadable("T003", f"cannot be written: {reason(error)}", target.shown) from error


def rows_of(execution: Execution) -> Iterator[Values]:
    """The rows of an execution, entity by entity; what is absent is left out; `time` in nanoseconds."""
    for history in execution.histories:
        if not history.interleaved:
            raise ValueError(
                f"{execution.name}: of {history.entity} only SL and RL are known; a trace has whole histories"
            )
        for seq, event in enumerate(history.events):
            row: Values = {
                "execution": execution.name,
                "entity": history.entity,
                "seq": seq,
                "event": event.kind.value,
            }
            if event.message is not None:
                row["message"] = event.message
                message = execution.messages[event.message]
                if row["event"] == "send" and message.destinations is not None:
                    row["dest"] = sorted(message.destinations)
                elif message.sender is not None and not message.logged:
                    row["sender"] = message.sender
            if event.time is not None:
                row["time"] = event.time
            if event.clock is not None:
                row["clock"] = dict(sorted(event.clock.items()))
            if event.members:
                row["members"] = list(event.members)
            yield row


def seconds(nanoseconds: int) -> str:
    """Nanoseconds as a decimal number of seconds, exactly."""
    whole, part = divmod(abs(nanoseconds), NANOSECONDS)
    return f"{'-' * (nanoseconds < 0)}{whole}" + (f".{part:09d}".rstrip("0") if part else "")


@contextmanager
def in_place(target: TraceSource) -> Iterator[str]:
    """A new file beside the target, which takes the target's place if all goes well."""
    path = Path(target.path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(target.path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _write_text(
    executions: Iterable[Execution],
    path: str,
    target: TraceSource,
    line: Callable[[Values], str],
    header: str,
) -> int:
    compression = None if target.compression is None else target.compression.value
    count = 0
    with arrow.output_stream(path, compression=compression) as out:
        out.write(header.encode())
        for execution in executions:
            lines = [line(row) for row in rows_of(execution)]
            count += len(lines)
            out.write("".join(lines).encode())
    return count


def _json_line(row: Values) -> str:
    time = row.pop("time", None)
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n" if time is None else f'{text[:-1]},"time":{seconds(time)}}}\n'


def _csv_record(row: Values) -> str:
    record = io.StringIO()
    csv.writer(record, lineterminator="\n").writerow(
        [_cell(name, row[name]) if name in row else "" for name in _WRITTEN]
    )
    return record.getvalue()


def _cell(name: str, value: Any) -> str:
    match name:
        case "time":
            return seconds(value)
        case "clock":
            return json.dumps(value, ensure_ascii=False)
        case "dest" | "members":
            plain = value and not value[0].startswith("[") and not any(";" in name for name in value)
            return ";".join(value) if plain else json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def _write_parquet(executions: Iterable[Execution], path: str) -> int:
    count = 0
    rows: list[Values] = []
    with arrow_parquet.ParquetWriter(path, _PARQUET_SCHEMA, compression="zstd") as writer:
        for execution in executions:
            rows += rows_of(execution)
            if len(rows) >= ROWS_PER_GROUP:
                count += _write_group(writer, rows)
                rows = []
        count += _write_group(writer, rows)
    return count


def _write_group(writer: Any, rows: list[Values]) -> int:
    if rows:
        writer.write_table(arrow.Table.from_pylist(rows, _PARQUET_SCHEMA), row_group_size=len(rows))
    return len(rows)
