"""Nothing that a trace may hold ends the process that reads it, or is an internal error."""

from __future__ import annotations

import csv as python_csv
import io
import json
import random
import re
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.traces import Notices, canonical
from precedes.traces.formats import csv, limits
from precedes.traces.formats import json_lines as jsonlines
from precedes.traces.formats.column_types import accepted, twice
from precedes.traces.schema import INPUT_COLUMNS
from precedes.traces.sources import source_of
from tests.conftest import UNDER_CI
from tests.traces.reading import json_lines, only_fast, outcome, read_bytes, read_file, row_by_row, told

ROOT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {"execution": "x", "entity": "E1", "event": "send", "message": "m"}


def survives(what: str, first: int, count: int) -> None:
    """Read made files in a process of their own, which says where it is."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.traces.hostile", what, str(first), str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    last = ran.stdout.split()[-1] if ran.stdout else "none"
    assert ran.returncode == 0, f"exit {ran.returncode} at {what} {last}: {ran.stderr[-2000:]}"
    assert last == str(first + count - 1)


@pytest.mark.parametrize("what", ["json", "csv", "arrow", "numbers"])
def test_made_files_are_read_alike_in_both_ways(what: str) -> None:
    # A change is judged by the same files each time; whoever works on it meets new ones.
    survives(what, 0 if UNDER_CI else random.randrange(10**9), 60)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["json", "csv", "arrow"])
def test_many_made_files_are_read_alike_in_both_ways(what: str) -> None:
    survives(what, random.randrange(10**9), 20_000)


@pytest.mark.parametrize("seed", [2374])
def test_a_file_that_ended_the_process(seed: int) -> None:
    survives("json", seed, 1)


@pytest.mark.parametrize(("what", "seed"), [("csv", 791810713), ("arrow", 227275735)])
def test_a_file_that_was_told_of_in_two_ways(what: str, seed: int) -> None:
    survives(what, seed, 1)


@pytest.mark.parametrize(
    "time",
    ["1e-400000000", "1e-66", "1e-70", "0.0e+-400000000", f"0.{'0' * 70}1", "1e-00000000000080", ".1e-65"],
)
def test_a_time_that_arrow_cannot_scale_is_read_row_by_row(time: str) -> None:
    assert not re_number(time)
    for value in (time, json.dumps(time)):
        line = json.dumps(GOOD)[:-1] + f',"time":{value}}}\n'
        found = outcome(line.encode())
        with row_by_row():
            assert outcome(line.encode()) == found
    column = pa.table({name: [value] for name, value in {**GOOD, "time": time}.items()})
    exact = outcome((json.dumps({**GOOD, "time": time}) + "\n").encode())
    if isinstance(exact[0], list):
        assert canonical(column, "t", Notices())["time"].to_pylist() == [exact[0][0]["time"]]
    else:
        assert [one.code for one in told(lambda: canonical(column, "t", Notices()))] == [exact[0].code]


def re_number(text: str) -> bool:
    """Whether Arrow may make a decimal of text."""
    return bool(pa.compute.match_substring_regex(pa.array([text]), limits.NUMBER)[0].as_py())


@pytest.mark.parametrize("time", ["1e-400000000", "-3e-401", "2e-99999999999999999999"])
def test_a_time_nearer_to_zero_than_any_float_is_a_mistake(time: str) -> None:
    rows = json_lines([GOOD, {**GOOD, "time": time}])
    assert [(one.row, one.code) for one in told(lambda: read_bytes(rows))] == [(2, "T015")]


def test_a_float_near_zero_is_a_time() -> None:
    assert read_bytes(json_lines([{**GOOD, "time": "5e-324"}]))[0]["time"].to_pylist() == [0]


@pytest.mark.parametrize("text", ["1e-17", "12345678901", "1e10", ".5e+3", "007.50"])
def test_what_arrow_may_scale_it_scales_right(text: str) -> None:
    assert re_number(text)
    found = pa.compute.cast(pa.array([text]), pa.decimal128(38, limits.PLACES))[0].as_py()
    assert found == Decimal(text)


def test_what_arrow_scales_wrong_it_is_not_given() -> None:
    """The product of the number and a power of ten has more than 128 bits, and Arrow does not notice."""
    text = "12345678901e27"
    assert not re_number(text)
    assert [one.code for one in told(lambda: read_bytes(json_lines([{**GOOD, "time": text}])))] == ["T015"]
    for written in (text, json.dumps(text)):
        line = json.dumps(GOOD)[:-1] + f',"time":{written}}}\n'
        assert [one.code for one in told(lambda line=line: read_bytes(line.encode()))] == ["T015"]  # type: ignore[misc]


@pytest.mark.parametrize("column", ["clock", "payload"])
def test_a_column_may_be_an_object_here_and_a_list_there(
    column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: list[object] = [{"E1": 1}, {"E1": 2}, {"E1": 1, "q": 2}, [1, 2], {"z": 1}]
    data = json_lines([{**GOOD, column: value, "pad": "x" * 200} for value in values for _ in range(40)])
    whole = outcome(data)
    with row_by_row():
        assert outcome(data) == whole
    for size in (1, 1000, 9000):
        monkeypatch.setattr(jsonlines, "SLICE_BYTES", size)
        assert outcome(data) == whole
    monkeypatch.setattr(jsonlines, "SLICE_BYTES", 1)
    with only_fast():
        assert outcome(data) == whole


@pytest.mark.parametrize("deep", ["[" * 200_000 + "]" * 200_000, '{"a":' * 200_000 + "1" + "}" * 200_000])
def test_a_deep_value_is_a_mistake_in_its_row(deep: str) -> None:
    rows = [json.dumps(GOOD)] * 150 + [json.dumps(GOOD)[:-1] + f',"extra":{deep}}}']
    assert [(one.row, one.code) for one in told(lambda: read_bytes(json_lines(rows)))] == [(151, "T007")]


@pytest.mark.parametrize("column", ["entity", "event", "dest", "time", "clock", "redelivered"])
def test_a_value_that_is_nearly_too_deep_is_shown_or_not(column: str) -> None:
    """It is written for the message with a deeper stack than it was read with."""
    for depth in range(sys.getrecursionlimit() - 120, sys.getrecursionlimit(), 3):
        for opens, closes in (("[", "]"), ('{"a":', "}")):
            value = opens * depth + "1" + closes * depth
            line = json.dumps(GOOD)[:-1] + f',"{column}":{value}}}\n'
            found = [(one.row, one.code) for one in told(lambda line=line: read_bytes(line.encode()))]  # type: ignore[misc]
            assert found[0][1] in ("T007", "T008", "T012", "T013", "T015", "T016")


def test_a_quote_that_is_never_closed_ends_soon() -> None:
    """The blocks of a file end outside of quotes: each line was tried as the last one, and counted from the start."""
    good = b"x,E1,send,m\n"
    data = b"execution,entity,event,message\n" + good + b'x,"E1,send,m\n' + good * 300_000
    began = time.monotonic()
    assert [(one.row, one.code) for one in told(lambda: read_bytes(data, "t.csv"))] == [(3, "T007")]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
def test_a_row_that_is_too_long_is_told_before_it_is_held(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 100)
    monkeypatch.setattr(csv, "BLOCK_BYTES", 100)
    monkeypatch.setattr(limits, "LONGEST_RECORD", 1 << 20)
    head = b"execution,entity,event,message\n" if name == "t.csv" else b""
    good = b"x,E1,send,m\n" if name == "t.csv" else json_lines([GOOD])

    class Endless(io.BytesIO):
        """Rows, and then one without an end."""

        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) or b"x" * 100

    read = csv.read_csv if name == "t.csv" else jsonlines.read_json_lines
    stream = Endless(head + good * 30)
    found = told(lambda: list(read(source_of(name), stream, Notices())))
    assert [(one.code, one.row) for one in found] == [("T007", 31 + bool(head))]
    assert "MiB" in found[0].message


def test_a_long_cell_is_read_alike_in_both_ways() -> None:
    """Python's `csv` has a limit for cells, and Arrow has none."""
    data = b"execution,entity,event,message\nx,E1,send," + b"m" * 200_000 + b"\n"
    whole = outcome(data, "t.csv")
    assert isinstance(whole[0], list)
    before = python_csv.field_size_limit()
    with row_by_row():
        assert outcome(data, "t.csv") == whole
    assert python_csv.field_size_limit() == before


def test_names_of_many_columns_are_looked_at_once() -> None:
    names = [f"c{k}" for k in range(40_000)]
    header = ",".join([*GOOD, *names, *names]).encode()
    assert [one.code for one in told(lambda: read_bytes(header + b"\n", "t.csv"))] == ["T008"]
    told_of = told(lambda: read_bytes(",".join(names).encode() + b"\n", "t.csv"))
    assert [one.code for one in told_of] == ["T010"]
    assert len(told_of[0].hint or "") < 1_000
    fields = pa.struct([(name, pa.int64()) for name in (*names, *names)])
    assert twice(fields) == "c0"
    assert twice(pa.struct([(name, pa.int64()) for name in names])) is None


def test_many_brackets_are_not_deep() -> None:
    flat = {**GOOD, "dest": [f"E{k}" for k in range(9)], "extra": [{"a": k} for k in range(200)]}
    with only_fast():
        assert len(read_bytes(json_lines([flat] * 3))[0]) == 3


def test_names_that_are_ids_do_not_become_columns() -> None:
    """Each of them was one, as long as the slice."""
    rows = [{**GOOD, "counts": {f"id{k}": 1}} for k in range(5_000)]
    lines = [json.loads(line) for line in json_lines(rows).splitlines()]
    assert not limits.names_repeat(lines[::50], len(lines))
    assert limits.names_repeat([{**GOOD, "counts": {"id": 1}}] * 100, 5_000)
    assert len(read_bytes(json_lines(rows))[0]) == 5_000


@pytest.mark.parametrize("name", ["execution", "entity", "message", "time"])
def test_a_column_that_stands_twice_is_told(name: str, tmp_path: Path) -> None:
    columns = [(column, pa.array([value])) for column, value in {**GOOD, "time": "1"}.items()]
    names, arrays = zip(*columns, (name, pa.array(["y"])), strict=True)
    table = pa.Table.from_arrays(list(arrays), names=list(names))
    path = tmp_path / "twice.parquet"
    pq.write_table(table, path)
    for found in (told(lambda: read_file(path)), told(lambda: canonical(table, "t", Notices()))):
        assert [(one.code, one.message) for one in found] == [("T008", f"the column `{name}` occurs twice")]
    text = f"{','.join(names)}\n" + ",".join(array[0].as_py() for array in arrays) + "\n"
    assert [one.code for one in told(lambda: read_bytes(text.encode(), "t.csv"))] == ["T008"]
    line = "{" + ",".join(f'"{n}":"{a[0].as_py()}"' for n, a in zip(names, arrays, strict=True)) + "}\n"
    assert [(one.code, one.row) for one in told(lambda: read_bytes(line.encode()))] == [("T008", 1)]


def test_an_unknown_column_may_stand_twice(tmp_path: Path) -> None:
    arrays = [pa.array([value]) for value in (*GOOD.values(), 1, 2)]
    pq.write_table(pa.Table.from_arrays(arrays, names=[*GOOD, "extra", "extra"]), tmp_path / "t.parquet")
    assert read_file(tmp_path / "t.parquet")["entity"].to_pylist() == ["E1"]


def table(**columns: Any) -> pa.Table:
    """Three rows."""
    return pa.table({**{name: [value] * 3 for name, value in GOOD.items()}, **columns})


@pytest.mark.parametrize(
    ("columns", "code", "row", "says"),
    [
        (
            {"entity": pa.array([None, 1, 2], pa.timestamp("ns"))},
            "T012",
            2,
            "`entity` is of type timestamp[ns]",
        ),
        ({"seq": pa.array([1, 2, 3], pa.duration("s"))}, "T012", 1, "`seq` is of type duration[s]"),
        ({"time": pa.array([1, 2, 3], pa.time64("ns"))}, "T016", 1, "`time` is of type time64[ns]"),
        ({"event": pa.array([["send"]] * 3)}, "T013", 1, '`event` is ["send"]'),
        (
            {"clock": pa.array([[("E1", 1), ("E1", 2)]] * 3, pa.map_(pa.string(), pa.int64()))},
            "T008",
            1,
            "twice",
        ),
        (
            {"clock": pa.StructArray.from_arrays([pa.array([1, 2, 3])] * 2, names=["E1", "E1"])},
            "T008",
            1,
            "the field `E1` occurs twice",
        ),
        (
            {"message": pa.array([b"m", b"\xff", b"m"]).view(pa.string())},
            "T006",
            2,
            "`message` is not UTF-8",
        ),
    ],
)
def test_a_type_that_a_column_cannot_have(columns: Any, code: str, row: int, says: str) -> None:
    first = told(lambda: canonical(table(**columns), "t", Notices()))[0]
    assert (first.code, first.row) == (code, row)
    assert says in first.message


def test_a_column_of_nulls_may_have_any_type() -> None:
    nulls = table(seq=pa.nulls(3, pa.duration("s")), time=pa.nulls(3, pa.time32("s")))
    assert canonical(nulls, "t", Notices())["seq"].to_pylist() == [None] * 3


def test_runs_are_read_as_what_they_stand_for() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([1, 3], pa.array(["E1", "E2"]))
    assert canonical(table(entity=runs), "t", Notices())["entity"].to_pylist() == ["E1", "E2", "E2"]


@pytest.mark.parametrize(
    ("column", "kind", "fits"),
    [
        ("entity", pa.string(), True),
        ("entity", pa.dictionary(pa.int8(), pa.large_string()), True),
        ("entity", pa.float64(), False),
        ("event", pa.int64(), False),
        ("seq", pa.int8(), True),
        ("seq", pa.string(), False),
        ("dest", pa.list_(pa.int64()), True),
        ("dest", pa.list_(pa.list_(pa.string())), False),
        ("time", pa.timestamp("us", "Asia/Tokyo"), True),
        ("time", pa.date32(), False),
        ("clock", pa.map_(pa.string(), pa.int32()), True),
        ("clock", pa.map_(pa.string(), pa.float64()), False),
        ("clock", pa.struct([("E1", pa.int64())]), True),
        ("redelivered", pa.bool_(), True),
        ("redelivered", pa.int8(), False),
        ("view", pa.null(), True),
    ],
)
def test_types_of_columns(column: str, kind: pa.DataType, fits: bool) -> None:
    assert accepted(column, kind) is fits


@pytest.mark.parametrize(
    ("cells", "stray"), [('"a""b"', False), ('""x', True), ('"""a"""x', True), ('"a,""b"', False)]
)
def test_a_quote_out_of_place_is_told_in_both_ways(cells: str, stray: bool) -> None:
    data = f"execution,entity,event,message\nx,E1,send,{cells}\n".encode()
    found = outcome(data, "t.csv")
    with row_by_row():
        assert outcome(data, "t.csv") == found
    assert isinstance(found[0], list) is not stray


def test_a_decimal_of_another_scale_than_a_time_has() -> None:
    for kind in (pa.decimal128(10, -30), pa.decimal256(60, 50), pa.decimal128(38, 38)):
        zero = pa.array([Decimal(0)] * 3, kind)
        assert canonical(table(time=zero), "t", Notices())["time"].to_pylist() == [0] * 3


def test_floats_of_any_size_are_seconds() -> None:
    times = pa.array(np.array([1e-300, 0.1 + 0.2, -5e-324]))
    assert canonical(table(time=times), "t", Notices())["time"].to_pylist() == [0, 300000000, 0]


def test_every_column_has_its_types() -> None:
    assert all(accepted(column, pa.null()) for column in INPUT_COLUMNS)
    assert not any(accepted(column, pa.duration("s")) for column in INPUT_COLUMNS)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
def test_made_traces_are_refused_or_read_by_processes_that_may_die() -> None:
    ran(300, "--first", str(random.randrange(10**9)), "--count", "300")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
def test_many_made_traces_are_refused_or_read_by_processes_that_may_die() -> None:
    ran(20_000, "--first", str(random.randrange(10**9)), "--count", "20000")


FAILURES: Final = (
    *(
        ("damaged parquet", 5242),
        ("damaged parquet", 5974),
        ("damaged columnar", 5084),
        ("damaged columnar", 5135),
    ),
    *(("lying columnar", 5893), ("lying columnar", 6122), ("stdin", 21552), ("packed", 50862)),
    *(("frame", 386), ("frame", 832), ("frame", 5000304), ("rows", 12), ("log", 1360), ("log", 1836)),
    ("data set", 6050271),
)
"""Made traces that were a failure once."""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
def test_made_traces_that_were_failures() -> None:
    ran(len(FAILURES), *(word for kind, number in FAILURES for word in ("--again", kind, str(number))))


def ran(count: int, *arguments: str) -> None:
    """So many traces were read, none of them a failure."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.traces.fuzzing", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(arguments)}: {ended.stdout[-2000:]} {ended.stderr[-2000:]}"
    assert ended.stdout.startswith(f"{count:,} traces")


# ---- faults of Arrow, each in a process that it may end, and what stands before them


def survived(program: str) -> bool:
    """Whether a program that does nothing but to ask Arrow something comes to its end."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode >= 0


FAULTS = {
    "a power of ten that its table of decimals has not": (
        "import pyarrow as pa, pyarrow.compute as pc\n"
        "pc.cast(pa.array(['1e-400000000']), pa.decimal128(38, 9))"
    ),
    "an object in one block of JSON and a list in a later one": (
        "import io, json, pyarrow.json as pj\n"
        "clocks = ({'E1': 1}, {'E1': 2}, {'e1': 1, 'q': 2}, {'%41': 1, 'e1': 3}, {'z': 1}, {'y': 2}, [1, 2])\n"
        "lines = [json.dumps({'pad': 'x' * 300, 'clock': clock}) for clock in clocks for _ in range(9_000)]\n"
        "for _ in range(5): pj.read_json(io.BytesIO('\\n'.join(lines).encode()), pj.ReadOptions(block_size=2 << 20))"
    ),
    "a deep value in JSON": (
        "import io, pyarrow.json as pj\n"
        "data = b'{\"c\":' + b'[' * 500_000 + b']' * 500_000 + b'}\\n'\n"
        "pj.read_json(io.BytesIO(data), read_options=pj.ReadOptions(block_size=1 << 24))"
    ),
    "a null before an object of JSON": (
        "import io, pyarrow.json as pj\npj.read_json(io.BytesIO(b'null\\n{\"a\":1}\\n'))"
    ),
    "the metadata of a column whose type is another one in the schema": (
        "import pyarrow as pa, pyarrow.parquet as pq\n"
        "sink = pa.BufferOutputStream()\n"
        "pq.write_table(pa.table({'c': pa.array([1, 2], pa.int32())}), sink, store_schema=False)\n"
        "data = bytearray(sink.getvalue().to_pybytes())\n"
        "size = int.from_bytes(data[-8:-4], 'little')\n"
        "footer = len(data) - 8 - size\n"
        "for place in range(footer, len(data) - 8):\n"
        "    changed = data.copy()\n"
        "    changed[place] = 4 if changed[place] == 2 else changed[place]\n"
        "    try:\n"
        "        read = pq.ParquetFile(pa.BufferReader(bytes(changed))).metadata\n"
        "    except Exception:\n"
        "        continue\n"
        "    for k in range(read.num_row_groups): read.row_group(k).column(0).statistics\n"
    ),
    "a moment of numpy without a unit beside a number of numpy": (
        "import numpy as np, pyarrow as pa\n"
        "values = np.empty(2, object)\n"
        "values[:] = [np.datetime64('NaT'), np.int64(3)]\n"
        "pa.array(values, from_pandas=True)"
    ),
    "a map of what is no map": ("import pyarrow as pa\npa.array([[None]], pa.map_(pa.string(), pa.int64()))"),
}
"""The smallest inputs that end the process that has them read by pyarrow 26.0.1."""
SEEN_IN: Final = (26, 0, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="seen on Linux, where a signal ends the process")
@pytest.mark.skipif(
    tuple(map(int, re.findall(r"\d+", pa.__version__)[:3])) < SEEN_IN, reason="not seen in an older pyarrow"
)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_arrow_is_there_still(fault: str) -> None:
    """None of these reaches Arrow from a trace. Threads decide when one of them strikes, so it has three tries."""
    mended = all(survived(FAULTS[fault]) for _ in range(3))
    assert not mended, (
        f"pyarrow {pa.__version__} survives {fault}: what stands before it goes when no older one is read with"
    )
