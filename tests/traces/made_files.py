"""Traces made from a number: files of every format that nobody would write, and good ones with damage.

A file is made twice from one number, byte by byte the same.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import random
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from precedes.core.execution import WITHOUT_MESSAGE
from precedes.core.formula import Attribute, AttributeSort
from precedes.traces import Notices
from precedes.traces.layout.columnar_file import KEY
from precedes.traces.layout.conversion import convert
from tests.traces import hostile
from tests.traces.damage import damaged
from tests.traces.made_logs import MadeLog, made_log

Row = dict[str, Any]
Rows = list[Row]


LOG: Final = "log"
"""The kind of all logs of other systems."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a trace: its name, its bytes, and the rows that it has, where somebody else can say so."""

    name: str
    data: bytes
    rows: Callable[[], Rows] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A trace: its files, and the attributes that are asked for. `every`: all columns are; `judged`: it is also judged,
    if it can be read. `events`: what a Python program has, instead of files; `log`: a log of another system, likewise.
    """

    kind: str
    files: tuple[File, ...]
    attributes: tuple[Attribute, ...] = ()
    every: bool = False
    judged: bool = False
    events: Any = None
    log: MadeLog | None = None


def made(number: int, kind: str | None = None) -> Made:
    """The trace of a number, of some kind or of any."""
    if kind == LOG or (kind is None and number % 3 == 2):
        log = made_log(random.Random(number))
        return Made(f"log: {log.word}", (), judged=True, log=log)
    choice = random.Random(number)
    chosen = choice.choice([*KINDS, *PROGRAMS])
    kind = kind or chosen
    if kind in PROGRAMS:
        return Made(kind, (), events=PROGRAMS[kind](choice))
    names = choice.sample(("payload", "extra", "Time", "key"), choice.choice((0, 0, 1, 3)))
    attributes = tuple(Attribute(name, choice.choice(list(AttributeSort))) for name in names)
    judged = choice.random() < {"damaged columnar": 0.5, "lying columnar": 0.5, "stdin": 0.0}.get(kind, 0.1)
    return Made(kind, KINDS[kind](choice), attributes, choice.random() < 0.3, judged)


# ---- what somebody else reads in a file; raises what it wants to for what is no such file


def rows_of_json(data: bytes) -> Rows:
    """By `json`, line by line."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [json.loads(line.decode(), parse_float=str) for line in lines if line.strip()]


def rows_of_csv(data: bytes) -> Rows:
    """By `csv`."""
    csv.field_size_limit(1 << 30)
    text = io.StringIO(data.removeprefix(b"\xef\xbb\xbf").decode(), newline="")
    # A file without a byte has no rows.
    header, *records = [*csv.reader(text, strict=True)] or [[]]
    return [
        {name: cell for name, cell in zip(header, record, strict=True) if cell}
        for record in records
        if record
    ]


def rows_of_gzip(data: bytes, rows: Callable[[bytes], Rows]) -> Rows:
    """By Python's own reader of gzip."""
    return rows(gzip.decompress(data))


def ids(row: Row) -> tuple[str, str, str, str | None]:
    """What a row says who did what."""
    message = None if row["event"] in [kind.value for kind in WITHOUT_MESSAGE] else str(row["message"])
    return str(row["execution"]), str(row["entity"]), str(row["event"]), message


# ---- damage


def damaged_footer(choice: random.Random, data: bytes) -> bytes:
    """A Parquet file with damage in its footer, whose length is still right, or anywhere else."""
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size : -8]
    match choice.randrange(4):
        case 0 | 1:
            footer = damaged(choice, footer)
        case 2:
            body = damaged(choice, body)
        case _:
            return damaged(choice, data)
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


# ---- good files


def good_rows(count: int) -> Rows:
    """Rows with every column, of some executions. In every third, rows of a message disagree."""
    rows: Rows = []
    for k in range(count):
        execution, step = divmod(k, 6)
        row: Row = {
            "execution": f"x{execution:03d}",
            "entity": f"E{1 + step % 3}",
            "event": "send" if step == 0 else "deliver",
            "message": f"m{step // 4}",
            "seq": k,
            "time": 1795818956 + k,
            "payload": "p" * (step // 4 if execution % 3 else k % 5),
            "extra": step // 4,
        }
        if step == 0:
            row["dest"] = ["E2", "E3"]
        if step == 5:
            row = {**row, "event": "local", "message": None}
        rows.append(row)
    return rows


@cache
def good_text(suffix: str) -> bytes:
    """A good file as text."""
    rows = good_rows(40)
    if suffix == ".jsonl":
        lines = ({name: value for name, value in row.items() if value is not None} for row in rows)
        return "".join(json.dumps(line) + "\n" for line in lines).encode()
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]], restval="")
    writer.writeheader()
    writer.writerows({**row, "dest": ";".join(row.get("dest", ()))} for row in rows)
    return text.getvalue().encode()


def good_table() -> pa.Table:
    """Good rows with clocks as maps and a column with a dictionary."""
    rows = [{**row, "clock": [("E1", k)]} for k, row in enumerate(good_rows(40))]
    kinds = {name: pa.string() for name in ("execution", "event", "message", "payload")}
    schema = pa.schema(
        [
            ("entity", pa.dictionary(pa.int32(), pa.string())),
            *kinds.items(),
            *(("seq", pa.int64()), ("extra", pa.int16()), ("time", pa.float64())),
            *(("dest", pa.list_(pa.string())), ("clock", pa.map_(pa.string(), pa.int64()))),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


_WRITINGS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"compression": "none", "use_dictionary": False},
    {"compression": "gzip", "row_group_size": 7},
    {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 20},
    {"compression": "lz4", "version": "1.0", "write_statistics": False},
    {"compression": "brotli", "data_page_size": 40, "write_page_index": True},
    {"compression": "none", "store_schema": False, "use_dictionary": False, "data_page_version": "2.0"},
    {"compression": "none", "use_dictionary": False, "column_encoding": {"extra": "DELTA_BINARY_PACKED"}},
    {"compression": "none", "use_dictionary": False, "column_encoding": {"payload": "DELTA_BYTE_ARRAY"}},
    {"compression": "none", "use_dictionary": False, "column_encoding": {"time": "BYTE_STREAM_SPLIT"}},
)  # fmt: skip


def parquet(table: pa.Table, **options: Any) -> bytes:
    """A table as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


@cache
def good_parquet(writing: int) -> bytes:
    """A good Parquet file, written in one of several ways."""
    return parquet(good_table(), **_WRITINGS[writing])


@cache
def good_columnar() -> bytes:
    """What `precedes convert` makes of good rows."""
    with tempfile.TemporaryDirectory() as folder:
        given, converted = Path(folder, "t.jsonl"), Path(folder, "t.parquet")
        given.write_bytes(good_text(".jsonl"))
        convert([str(given)], str(converted), Notices())
        return converted.read_bytes()


# ---- kinds


def _json(choice: random.Random, name: str = "t.jsonl") -> tuple[File, ...]:
    data = hostile.json_lines(choice) if choice.random() < 0.6 else damaged(choice, good_text(".jsonl"))
    return (File(name, data, lambda: rows_of_json(data)),)


def _csv(choice: random.Random) -> tuple[File, ...]:
    data = hostile.csv(choice) if choice.random() < 0.6 else damaged(choice, good_text(".csv"))
    return (File("t.csv", data, lambda: rows_of_csv(data)),)


def _packed(choice: random.Random) -> tuple[File, ...]:
    """Compressed text, sound or damaged."""
    (file,) = _json(choice) if choice.random() < 0.5 else _csv(choice)
    reader = rows_of_csv if file.name.endswith(".csv") else rows_of_json
    if choice.random() < 0.5:
        data = pa.compress(file.data, "zstd", asbytes=True)
        if choice.random() < 0.5:
            return (File(f"{file.name}.zst", damaged(choice, data)),)
        return (File(f"{file.name}.zst", data, lambda: reader(file.data)),)
    packed = gzip.compress(file.data, mtime=0)
    if choice.random() < 0.5:
        packed = damaged(choice, packed)
    return (File(f"{file.name}.gz", packed, lambda: rows_of_gzip(packed, reader)),)


def _standard_input(choice: random.Random) -> tuple[File, ...]:
    return _json(choice, "-")


def _parquet(choice: random.Random) -> tuple[File, ...]:
    """Columns of any type."""
    for _ in range(9):
        table = hostile.table(choice)
        options = choice.choice(_WRITINGS[:6])
        try:
            return (File("t.parquet", parquet(table, **options)),)
        except (pa.ArrowException, ValueError, OSError):
            # Parquet does not have every type that Arrow has.
            continue
    return (File("t.parquet", good_parquet(0)),)


def _damaged_parquet(choice: random.Random) -> tuple[File, ...]:
    data = good_parquet(choice.randrange(len(_WRITINGS)))
    return (File("t.parquet", damaged_footer(choice, data)),)


def _damaged_columnar(choice: random.Random) -> tuple[File, ...]:
    return (File("t.parquet", damaged_footer(choice, good_columnar())),)


def columnar(table: pa.Table, footer: str | bytes | None = None) -> bytes:
    """A columnar file with other columns, or another footer, than the good one."""
    good = pq.ParquetFile(pa.BufferReader(good_columnar())).metadata
    groups = [good.row_group(k).num_rows for k in range(good.num_row_groups)]
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema) as writer:
        for first, count in zip(np.cumsum([0, *groups]), groups, strict=False):
            writer.write_table(table.slice(int(first), count))
        writer.add_key_value_metadata({KEY: footer or good.metadata[KEY]})
    return sink.getvalue()


def _lying_footer(choice: random.Random) -> tuple[File, ...]:
    """A columnar file whose footer says something else than what `precedes convert` says."""
    table = pq.read_table(pa.BufferReader(good_columnar()))
    said = json.loads(pq.read_metadata(pa.BufferReader(good_columnar())).metadata[KEY])
    for _ in range(choice.choice((1, 1, 3))):
        inner: Any = said
        while isinstance(inner, dict | list) and inner:
            keys = list(inner) if isinstance(inner, dict) else range(len(inner))
            holder, key = inner, choice.choice(keys)
            inner = inner[key]
        wrong = (None, True, False, 0, -1, 1, 2**31, 2**70, 1.5, "", "x", "E1", [], {}, [[]], ["x"], "\ud800")
        holder[key] = choice.choice(wrong)
    text = "[" * 20_000 if choice.random() < 0.02 else json.dumps(said)
    return (File("t.parquet", columnar(table, text)),)


def _lying_columnar(choice: random.Random) -> tuple[File, ...]:
    """The footer of a columnar file with columns that do not fit it."""
    if choice.random() < 0.3:
        return _lying_footer(choice)
    table = pq.read_table(pa.BufferReader(good_columnar()))
    # Of what is no map, pyarrow makes one that ends the process (26.0.1).
    name = choice.choice([name for name in table.schema.names if name != "clock"])
    place = table.schema.get_field_index(name)
    values = table[name].to_pylist()
    for _ in range(choice.choice((1, 3, len(values)))):
        k = choice.randrange(len(values))
        values[k] = choice.choice(
            (values[k - 1], 0, -1, 2**31 - 1, -(2**31), 7, None, "E9", [], [5, -1], [None])
        )
    kind = table.schema.field(place)
    try:
        table = table.set_column(place, kind, pa.array(values, kind.type))
        return (File("t.parquet", columnar(table)),)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _damaged_columnar(choice)


def _data_set(choice: random.Random) -> tuple[File, ...]:
    """Two or three files, which need have nothing in common."""
    kinds = choice.choices((_json, _csv, _packed, _parquet, _damaged_columnar), k=choice.choice((2, 3)))
    files = [file for kind in kinds for file in kind(choice)]
    return tuple(File(f"{k}.{file.name}", file.data, file.rows) for k, file in enumerate(files))


KINDS: Final[dict[str, Callable[[random.Random], tuple[File, ...]]]] = {
    "json": _json,
    "csv": _csv,
    "packed": _packed,
    "stdin": _standard_input,
    "parquet": _parquet,
    "damaged parquet": _damaged_parquet,
    "damaged columnar": _damaged_columnar,
    "lying columnar": _lying_columnar,
    "data set": _data_set,
}

# ---- what a Python program may have


def _values(choice: random.Random) -> tuple[Any, ...]:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return (
        *(0, -1, 2**63, 10**5000, 1.5, 2.0**60, math.nan, math.inf, -0.0),
        *(Decimal("1e-400000000"), Decimal("NaN"), Decimal("1e400000")),
        *(None, True, "", "E1", "\ud800", b"E1", b"\xff"),
        *(moment, moment.date(), timedelta(1), {1}, (1, 2), object()),
        *(np.int64(3), np.float32(0.5), np.datetime64("NaT"), np.array([1, 2]), np.array(["E1"])),
        *([], {}, [[]], ["E1", 2], {"E1": 1}, {"E1": None}, {1: 2}, {"E1": 2**70}, [None], [object()]),
        *(choice.choice(hostile.WORDS), hostile.number(choice)),
    )  # fmt: skip


def _rows(choice: random.Random) -> Rows:
    """Rows as dictionaries, with values that no file has."""
    wild = choice.choice((0.02, 0.2))
    names = choice.sample(hostile.NAMES, 3)
    rows: Rows = []
    for _ in range(choice.choice((0, 1, 3, 30))):
        row: dict[Any, Any] = {**hostile.GOOD, **dict.fromkeys(names)}
        for name, value in list(row.items()):
            if value is None or choice.random() < wild:
                row[name] = choice.choice(_values(choice))
        rows.append(row)
    return rows


def _frame(choice: random.Random) -> Any:
    """A data frame of pandas."""
    import pandas as pd

    while True:
        try:
            return pd.DataFrame(_rows(choice))
        except (ValueError, TypeError, OverflowError):
            # Not every value can stand in a frame.
            continue


PROGRAMS: Final[dict[str, Callable[[random.Random], Any]]] = {
    "rows": _rows,
    "frame": _frame,
    "table": hostile.table,
}

UNREADABLE: Final = (
    ValueError,
    RecursionError,
    EOFError,
    OSError,
    zlib.error,
    csv.Error,
    KeyError,
    TypeError,
)
"""What the other readers raise for what is no trace."""


def expected(file: File) -> Sequence[tuple[str, str, str, str | None]] | None:
    """What the rows of a file say, read by somebody else; None where nobody else can read it."""
    return None if file.rows is None else [ids(row) for row in file.rows()]
