"""How the tests read: bytes in, a canonical table or the diagnostics out, by the fast way or row by row."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from precedes.core.columns import Batch
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.traces import Notice, Notices, TraceOptions, assemble, read_batches, read_table
from precedes.traces.formats import csv, parquet
from precedes.traces.formats import json_lines as jsonlines
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.schema import TABLE_SCHEMA
from precedes.traces.sources import source_of

Told = tuple[Diagnostic, ...]


def json_lines(rows: Sequence[object]) -> bytes:
    """Rows as JSON Lines; text is taken as it is."""
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def read_bytes(data: bytes, path: str = "t.jsonl") -> tuple[pa.Table, tuple[Notice, ...]]:
    """The canonical table of a text file's bytes, and the notices."""
    notices = Notices()
    source = source_of(path)
    read = csv.read_csv if ".csv" in path else jsonlines.read_json_lines
    tables = list(read(source, io.BytesIO(data), notices))
    return pa.concat_tables([TABLE_SCHEMA.empty_table(), *tables]).combine_chunks(), notices.all()


def outcome(data: bytes, path: str = "t.jsonl") -> tuple[list[dict[str, Any]], tuple[Notice, ...]] | Told:
    """What reading bytes comes to: rows and notices, or diagnostics."""
    try:
        table, notices = read_bytes(data, path)
    except PrecedesError as error:
        return error.diagnostics
    table.validate(full=True)
    return table.to_pylist(), notices


@contextmanager
def row_by_row() -> Iterator[None]:
    """Only the slow readers."""

    def refuse(*_: object) -> pa.Table:
        raise Irregular

    with (
        patch.object(jsonlines, "_by_arrow", refuse),
        patch.object(csv, "_by_arrow", refuse),
        patch.object(parquet, "canonical", refuse),
    ):
        yield


@contextmanager
def only_fast() -> Iterator[None]:
    """The slow readers fail."""

    def refuse(*_: object) -> pa.Table:
        raise AssertionError("this is read row by row")

    with (
        patch.object(jsonlines, "_line_by_line", refuse),
        patch.object(csv, "_record_by_record", refuse),
    ):
        yield


def told(read: Callable[[], object]) -> Told:
    """The diagnostics that reading ends with; none is a failure."""
    try:
        read()
    except PrecedesError as error:
        return error.diagnostics
    raise AssertionError("nothing was refused")


def batch_of_rows(
    rows: Sequence[object], options: TraceOptions | None = None
) -> tuple[Batch, tuple[Notice, ...]]:
    """The batch of rows as JSON Lines, and the notices."""
    notices = Notices()
    table, _ = read_bytes(json_lines(rows))
    return assemble(table, options or TraceOptions(), notices), notices.all()


def read_file(path: Path | str) -> pa.Table:
    """The canonical table of a file."""
    return pa.concat_tables([TABLE_SCHEMA.empty_table(), *read_table(str(path), Notices())])


def batches(*paths: Path | str, options: TraceOptions | None = None) -> list[Batch]:
    """All batches of some paths."""
    return list(read_batches([str(path) for path in paths], options or TraceOptions(), Notices()))
