"""Files with anything in any column, made from a number and read in both ways.

A program of its own, because some of them ended the process that read them: it prints the number of a file before it
reads it, so that the last one printed is to blame. `python -m tests.traces.hostile json 0 1000`.
"""

from __future__ import annotations

import decimal
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from precedes.core.diagnostics import PrecedesError
from precedes.traces import Notices, canonical
from precedes.traces.formats import byte_places, canonical_columns, limits
from precedes.traces.formats import csv as csv_format
from precedes.traces.formats import json_lines as jsonlines
from precedes.traces.schema import INPUT_COLUMNS
from tests.traces.reading import outcome, read_file, row_by_row

GOOD: Final[dict[str, Any]] = {"execution": "x", "entity": "E1", "event": "send", "message": "m"}
EXPONENTS: Final = (
    0,
    1,
    5,
    -5,
    10,
    11,
    20,
    27,
    29,
    -29,
    -36,
    -38,
    -39,
    66,
    -66,
    -99,
    400,
    -400,
    10**5,
    -4 * 10**8,
    2**31,
    -(2**63),
)
WORDS: Final = (
    "", "E1", "E2", "m", "1", "é", "é", "\x00", "\ud800", "{", "}}", "[[", '"', "\\", "\n", "NaN", "null",
    "1e-60", ":1e-99", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00.5+09:00", "9999-01-01T00:00:00Z", "x" * 300,
)  # fmt: skip
NAMES: Final = (*INPUT_COLUMNS, "payload", "extra", "time ", "Time", "", "a.b", "é", "entity.x")


def number(random: random.Random) -> str:
    """Text that is a number, mostly, of any length and exponent."""
    digits = "".join(
        random.choice("0123456789") for _ in range(random.choice((1, 1, 2, 9, 11, 12, 20, 40, 90)))
    )
    point = random.choice(("", "", ".", ".0", ".5", "." + "0" * random.randrange(80) + "1", "." + digits))
    exponent = random.choice(
        ("", "", f"{random.choice('eE')}{random.choice(('', '+'))}{random.choice(EXPONENTS)}")
    )
    return random.choice(("", "", "-", "+")) + random.choice((digits, "0", "1", "")) + point + exponent


def json_value(random: random.Random, depth: int = 0) -> str:
    """A value, as text, that is mostly JSON."""
    match random.randrange(12 if depth < 3 else 7):
        case 0:
            return number(random).lstrip("+") or "0"
        case 1:
            return json.dumps(number(random))
        case 2 | 3:
            return json.dumps(random.choice(WORDS), ensure_ascii=random.random() < 0.5)
        case 4:
            return random.choice(
                ("null", "true", "false", "NaN", "-Infinity", "0", "1", "-1", "1.0", "9223372036854775808")
            )
        case 5:
            return random.choice(("[]", "{}", "[null]", '{"E1":1}', "[1,2]", '["E1","E2"]', '{"a":1,"a":2}'))
        case 6:
            text = json.dumps(random.choice(("1e-60", "time", "0.5")))
            return "".join(f"\\u{ord(c):04x}" if c != '"' and random.random() < 0.3 else c for c in text)
        case 7 | 8:
            return "[" + ",".join(json_value(random, depth + 1) for _ in range(random.randrange(4))) + "]"
        case 9 | 10:
            pairs = (
                f"{json_name(random)}:{json_value(random, depth + 1)}" for _ in range(random.randrange(4))
            )
            return "{" + ",".join(pairs) + "}"
        case _:
            deep = random.choice((3, 60, 300, 3000))
            return "[" * deep + "]" * deep if random.random() < 0.5 else '{"a":' * deep + "1" + "}" * deep


def json_name(random: random.Random) -> str:
    """A name in an object, as text."""
    name = json.dumps(random.choice(NAMES) if random.random() < 0.9 else f"k{random.randrange(10**6)}")
    return name.replace("t", "\\u0074") if random.random() < 0.02 else name


def json_lines(random: random.Random) -> bytes:
    """A file of JSON Lines: runs of rows alike, whose values change from run to run."""
    lines: list[str] = []
    wild = random.choice((0.0, 0.0, 0.02, 0.3))
    for _ in range(random.randrange(1, 5)):
        given = {name: json_value(random) for name in random.sample(NAMES, random.randrange(3))}
        fixed = {json.dumps(name): value for name, value in given.items()}
        for _ in range(random.choice((1, 3, 30))):
            row = {json.dumps(name): json.dumps(value) for name, value in GOOD.items()} | fixed
            while random.random() < wild:
                row[json_name(random)] = json_value(random)
            space = random.choice(("", "", " ", "\t"))
            lines.append(
                "{" + f",{space}".join(f"{name}:{space}{value}" for name, value in row.items()) + "}"
            )
    data = bytearray("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n" * random.randrange(2))
    if random.random() < 0.1:
        for _ in range(random.randrange(1, 4)):
            place = random.randrange(len(data))
            data[place : place + random.randrange(2)] = random.choice(
                (b"", b"\n", b"\x00", b"\xff", b"}", b'"', b"null")
            )
    return bytes(data)


def read_json(seed: int) -> None:
    """Both ways give the same, whatever the slices."""
    made = random.Random(seed)
    data = json_lines(made)
    jsonlines.SLICE_BYTES = made.choice((1, 200, 1 << 20))
    byte_places.WINDOW = made.choice((64, 300, 1 << 18))
    found = outcome(data)
    with row_by_row():
        assert outcome(data) == found, data


def csv(random: random.Random) -> bytes:
    """A file of CSV whose cells are anything."""
    columns = [*GOOD, *random.sample(NAMES, random.randrange(4))]
    if random.random() < 0.9:
        columns = list(dict.fromkeys(columns))
    random.shuffle(columns)
    wild = random.choice((0.0, 0.05, 0.5))

    def cell(column: str) -> str:
        text = GOOD.get(column, "")
        if random.random() < wild:
            text = random.choice((number, json_value, lambda made: made.choice(WORDS)))(random)
        return (
            '"' + text.replace('"', '""') + '"'
            if set(text) & set(',"\n\r') or random.random() < 0.1
            else text
        )

    records = [",".join(map(cell, columns)) for _ in range(random.choice((0, 1, 3, 40)))]
    ends = random.choice(("\n", "\r\n"))
    header = ",".join('"' + name + '"' if name in ("", "a,b") else name for name in columns)
    data = bytearray(ends.join([header, *records]).encode("utf-8", "surrogatepass") + ends.encode())
    if random.random() < 0.1:
        place = random.randrange(len(data))
        data[place : place + random.randrange(2)] = random.choice((b"", b"\n", b"\x00", b"\xff", b'"', b","))
    return bytes(data)


def read_csv(seed: int) -> None:
    """Both ways give the same, whatever the slices."""
    made = random.Random(seed)
    data = csv(made)
    csv_format.SLICE_BYTES = made.choice((1, 200, 1 << 20))
    byte_places.WINDOW = csv_format.WINDOW = made.choice((1, 64, 1 << 18))
    found = outcome(data, "t.csv")
    with row_by_row():
        assert outcome(data, "t.csv") == found, data


def read_numbers(seed: int) -> None:
    """Of text that counts as safe, Arrow makes the decimal that is written, or none."""
    made = random.Random(seed)
    texts = [text for _ in range(300) if re.match(limits.NUMBER, text := number(made), re.ASCII)]
    for text in texts:
        for places in (9, limits.PLACES):
            try:
                found = pa.compute.cast(pa.array([text]), pa.decimal128(38, places))[0].as_py()
            except pa.ArrowInvalid:
                continue
            assert found == decimal.Decimal(text), text
    plain = [
        "".join(made.choices("0123456789.", (*[1] * 10, made.random()), k=made.randrange(30)))
        for _ in range(300)
    ]
    for text in plain:
        with suppress(canonical_columns.Irregular):
            found = canonical_columns._of_plain(pa.chunked_array([[text]]))
            assert found is None or found[0].as_py() == decimal.Decimal(text) * 10**9, text


KINDS: Final[tuple[pa.DataType, ...]] = (
    pa.null(), pa.bool_(), pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(),
    pa.decimal128(5, 2), pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal128(10, -30), pa.decimal256(60, 50),
    pa.string(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(3), pa.large_binary(),
    pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("ns"), pa.month_day_nano_interval(),
    pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Tokyo"),
    pa.timestamp("ms", "+25:99"),
)  # fmt: skip


def kind(random: random.Random, depth: int = 0) -> pa.DataType:
    """A type of Arrow."""
    if depth > 2 or random.random() < 0.55:
        return random.choice(KINDS)
    inner = kind(random, depth + 1)
    match random.randrange(8):
        case 0:
            return pa.list_(inner)
        case 1:
            return random.choice((pa.large_list(inner), pa.list_(inner, 2), pa.list_view(inner)))
        case 2 | 3:
            names = random.choices(("E1", "E2", "a", "", "é"), k=random.randrange(4))
            return pa.struct([(name, kind(random, depth + 1)) for name in names])
        case 4:
            return pa.map_(random.choice((pa.string(), pa.int64(), kind(random, depth + 2))), inner)
        case 5:
            return pa.dictionary(pa.int32(), random.choice((pa.string(), pa.int64(), inner)))
        case 6:
            return pa.run_end_encoded(pa.int32(), inner)
        case _:
            return random.choice(
                (pa.list_(pa.string()), pa.map_(pa.string(), pa.int64()), pa.list_(pa.int64()))
            )


def values(random: random.Random, given: pa.DataType, length: int) -> pa.Array:
    """An array of a type with anything in it; raises what Arrow raises for what it cannot make."""
    missing = random.choice((0.0, 0.0, 0.3, 1.0))

    def mask() -> pa.Array:
        return pa.array([random.random() < missing for _ in range(length)], pa.bool_())

    if pa.types.is_list(given) or pa.types.is_large_list(given) or pa.types.is_list_view(given):
        lengths = [random.randrange(3) for _ in range(length)]
        inner = values(random, given.value_type, sum(lengths))
        offsets = pa.array(np.cumsum([0, *lengths]), pa.int64())
        made = pa.LargeListArray.from_arrays(offsets, inner, mask=mask())
        return made.cast(given)
    if pa.types.is_fixed_size_list(given):
        return pa.FixedSizeListArray.from_arrays(values(random, given.value_type, 2 * length), 2, mask=mask())
    if pa.types.is_struct(given):
        fields = [values(random, given.field(k).type, length) for k in range(given.num_fields)]
        if not fields:
            return pa.array([None if random.random() < missing else {} for _ in range(length)], given)
        return pa.StructArray.from_arrays(fields, fields=list(given), mask=mask())
    if pa.types.is_map(given):
        lengths = [random.randrange(3) for _ in range(length)]
        keys = values(random, given.key_type, sum(lengths)).drop_null()
        while len(keys) < sum(lengths):
            lengths[random.choice([k for k, size in enumerate(lengths) if size])] -= 1
        offsets = pa.array(np.cumsum([0, *lengths]), pa.int32())
        return pa.MapArray.from_arrays(offsets, keys, values(random, given.item_type, sum(lengths)))
    if pa.types.is_dictionary(given):
        held = values(random, given.value_type, 3)
        return pa.DictionaryArray.from_arrays(
            pa.array(
                [None if random.random() < missing else random.randrange(3) for _ in range(length)],
                pa.int32(),
            ),
            held,
        )
    if pa.types.is_run_end_encoded(given):
        return pa.RunEndEncodedArray.from_arrays(
            pa.array(range(1, length + 1), pa.int32()), values(random, given.value_type, length)
        )
    words = [None if random.random() < missing else leaf(random, given) for _ in range(length)]
    if (pa.types.is_string(given) or pa.types.is_large_string(given)) and random.random() < 0.1:
        # Text that is no UTF-8, which Arrow takes on trust.
        return (
            pa.array([None if w is None else w.encode() + b"\xff" for w in words], pa.binary())
            .view(pa.string())
            .cast(given)
        )
    return pa.array(words, given)


def leaf(random: random.Random, given: pa.DataType) -> Any:
    """A value of a type that has no parts."""
    if pa.types.is_string(given) or pa.types.is_large_string(given) or pa.types.is_string_view(given):
        return number(random) if random.random() < 0.5 else random.choice(WORDS).replace("\ud800", "")
    if pa.types.is_binary(given) or pa.types.is_large_binary(given) or pa.types.is_fixed_size_binary(given):
        return b"abc"
    if pa.types.is_boolean(given):
        return random.random() < 0.5
    if pa.types.is_integer(given):
        edge = 2 ** (given.bit_width - 1)
        return (
            random.choice((0, 1, 2, edge - 1, edge, -edge, -1))
            if random.random() < 0.3
            else random.randrange(3)
        )
    if pa.types.is_floating(given):
        value = random.choice((0.0, 1.5, -1.0, 1e-300, 5e-324, 1e300, 0.1, float("nan"), float("inf"), 1e9))
        return np.float16(value) if pa.types.is_float16(given) else value
    if pa.types.is_decimal(given):
        return decimal.Decimal(random.randrange(-9, 10)).scaleb(-max(0, given.scale))
    if pa.types.is_temporal(given) and not pa.types.is_interval(given):
        return pa.scalar(
            random.choice((0, 1, 86_399)), pa.int32() if given.bit_width == 32 else pa.int64()
        ).cast(given)
    if pa.types.is_interval(given):
        return pa.MonthDayNano([1, 2, 3])
    return None


def table(random: random.Random) -> pa.Table:
    """Rows with columns of any type, some of them twice."""
    length = random.choice((0, 1, 3))
    columns: list[tuple[str, pa.Array]] = [
        (name, pa.array([value] * length, pa.string())) for name, value in GOOD.items()
    ]
    for _ in range(random.randrange(1, 4)):
        name = random.choice(NAMES)
        try:
            made = values(random, kind(random), length)
            made.validate()
            assert len(made) == length
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AssertionError):
            continue
        if random.random() < 0.9:
            columns = [column for column in columns if column[0] != name]
        columns.append((name, made))
    names, arrays = zip(*columns, strict=True)
    return pa.Table.from_arrays(list(arrays), names=list(names))


def read_arrow(seed: int) -> None:
    """A table, and where Parquet has its types the file of it, is read or refused with a message."""
    given = table(random.Random(seed))
    told: list[Any] = []
    refused = 0
    for reading in (nullcontext, row_by_row):
        with reading():
            try:
                notices = Notices()
                found = canonical(given, "t", notices)
                found.validate(full=True)
                told.append((found.to_pylist(), notices.all()))
            except PrecedesError as error:
                told.append(error.diagnostics)
                refused += 1
    # The fast way looks at the rows that it is not sure of before all others.
    assert set(told[0]) <= set(told[1]) if refused == 2 else told[0] == told[1], given.schema
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.parquet")
        try:
            pq.write_table(given, path)
        except (pa.ArrowException, ValueError, OSError):
            return
        with suppress(PrecedesError):
            read_file(path).validate(full=True)


READ: Final[dict[str, Callable[[int], None]]] = {
    "json": read_json,
    "csv": read_csv,
    "arrow": read_arrow,
    "numbers": read_numbers,
}


def main() -> None:
    """Read the files of some numbers."""
    what, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        print(seed, flush=True)
        READ[what](seed)


if __name__ == "__main__":
    main()
