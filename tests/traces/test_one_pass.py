"""What machine code reads in one pass is what is read row by row, and what it cannot read is read as ever.

The quick tests run the kernels as the Python that they are written in; `slow` ones run them as machine code.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute, AttributeSort
from precedes.native.compiled_functions import load_llvm
from precedes.traces import Notices, read_table
from precedes.traces.formats import csv, json_lines, one_pass
from precedes.traces.formats.values import canonical_row, json_row
from precedes.traces.sources import source_of
from tests.traces.made_text import MOMENTS, NUMBERS, OTHERS, TIMES, csv_text, json_text
from tests.traces.reading import row_by_row

KEY = Attribute("key", AttributeSort.TEXT)
NEVER = 1 << 60


@contextmanager
def kernels(*, compiled: bool = False, slice_bytes: int = json_lines.SLICE_BYTES) -> Iterator[list[bool]]:
    """Every file is given to a kernel first. What is given tells of each slice whether it was read by it."""
    taken: list[bool] = []
    table = one_pass.OnePass.table

    def noted(self: Any, *given: Any) -> pa.Table | None:
        found = table(self, *given)
        taken.append(found is not None)
        return found

    with ExitStack() as patches:
        for module in (csv, json_lines):
            patches.enter_context(patch.object(module, "pays", lambda *_: True))
            patches.enter_context(patch.object(module, "SLICE_BYTES", slice_bytes))
        patches.enter_context(patch.object(one_pass.OnePass, "table", noted))
        if not compiled:
            patches.enter_context(patch.object(one_pass, "machine_code", lambda function: function))
        yield taken


def outcome(data: bytes, path: str, **asked: Any) -> object:
    """Rows without what is absent, and notices; or diagnostics."""
    notices = Notices()
    read = csv.read_csv if path.endswith("csv") else json_lines.read_json_lines
    try:
        tables = list(read(replace(source_of(path), **asked), io.BytesIO(data), notices))
    except PrecedesError as error:
        return error.diagnostics
    for table in tables:
        table.validate(full=True)
    rows = [row for table in tables for row in table.to_pylist()]
    return [{name: value for name, value in row.items() if value is not None} for row in rows], notices.all()


def compared(seed: int) -> tuple[bytes, str, object, dict[str, Any]]:
    """A made file, what it comes to row by row, and what was asked."""
    made = random.Random(seed)
    path, make = made.choice((("t.csv", csv_text), ("t.jsonl", json_text)))
    data = make(made)
    asked = made.choice(({}, {}, {"attributes": (KEY,)}, {"every": True}))
    with row_by_row():
        return data, path, outcome(data, path, **asked), asked


def test_what_a_kernel_reads_is_what_is_read_row_by_row() -> None:
    shares: list[bool] = []
    for seed in range(150):
        data, path, wanted, asked = compared(seed)
        with kernels(slice_bytes=random.Random(seed).choice((100, 1 << 20))) as taken:
            assert outcome(data, path, coded=seed % 2 == 1, **asked) == wanted, seed
        shares += taken
    assert 0.4 < sum(shares) / len(shares) < 0.9


@pytest.mark.slow
def test_machine_code_reads_what_is_read_row_by_row() -> None:
    shares: list[bool] = []
    for seed in range(1_000, 2_500):
        data, path, wanted, asked = compared(seed)
        with kernels(compiled=True, slice_bytes=random.Random(seed).choice((100, 1 << 20))) as taken:
            assert outcome(data, path, coded=seed % 2 == 1, **asked) == wanted, seed
        shares += taken
    assert 0.4 < sum(shares) / len(shares) < 0.9


def line(**columns: str) -> bytes:
    """A line of JSON with these columns as they are written, beside those that every row has."""
    plain = {"execution": '"x"', "entity": '"E1"', "event": '"send"', "message": '"m"'} | columns
    return ("{" + ",".join(f'"{name}":{value}' for name, value in plain.items()) + "}\n").encode()


@pytest.mark.parametrize(
    ("column", "written"),
    [
        *(("time", each) for each in (*TIMES, *map(json.dumps, (*TIMES, *MOMENTS)))),
        *(("message", each) for each in NUMBERS),
        *(("other", each) for each in OTHERS),
    ],
)
def test_a_value_is_what_it_is_by_itself_or_left_to_others(column: str, written: str) -> None:
    with kernels() as taken:
        found = outcome(line(**{column: written}) * 2, "t.jsonl")
    assert len(taken) == 1
    if not taken[0]:
        return
    row = json_row(line(**{column: written}).decode())
    assert column == "other" or found[0][0][column] == getattr(canonical_row(row, Notices()), column)  # type: ignore[index]


@pytest.mark.parametrize(
    "written", ["1700000000.000056", "0.1234567895", "-3.25", '"2024-02-29 23:59:59.5+05:30"']
)
def test_usual_times_are_read_by_a_kernel(written: str) -> None:
    with kernels() as taken:
        outcome(line(time=written), "t.jsonl")
    assert taken == [True]


def test_unusual_columns_and_any_mixture_of_ids_are_read_by_a_kernel() -> None:
    rows = (
        line(message="7", other='{"a":[1.5e300,null,{"b":"\\ud800"}]}')
        + line(message='"m7"', other='"text"') * 2
    )
    with kernels() as taken:
        found = outcome(rows, "t.jsonl")
    assert taken == [True]
    assert [row["message"] for row in found[0]] == ["7", "m7", "m7"]  # type: ignore[index]


@pytest.mark.parametrize(
    "other",
    ['{"a":1,"a":2}', '[{"a":1},{"a":{"a":1},"a":2}]', '{"b":1,"a":{"b":2},"b":3}', '{"a":1}} ', "[1,]"],
)
def test_a_name_that_occurs_twice_is_refused_wherever_it_is(other: str) -> None:
    rows = line(other='{"a":1,"b":{"a":2}}') * 3 + line(other=other)
    with kernels() as taken:
        (told, *_) = outcome(rows, "t.jsonl")  # type: ignore[misc]
    assert taken == [False]
    assert told.code in ("T007", "T008")
    assert told.row == 4


def test_other_attributes_and_columns_that_folders_state_are_left_to_other_readers() -> None:
    number = replace(source_of("t.jsonl"), attributes=(Attribute("key", AttributeSort.NUMBER),))
    stated = replace(source_of("t.jsonl"), stated=(("execution", "x"),))
    assert one_pass.lines_of(number, ()) is None
    assert one_pass.lines_of(stated, ()) is None
    assert one_pass.records_of(source_of("t.csv"), ("execution", "entity", "event", "clock")) is None


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_long_file_is_read_alike_with_and_without_machine_code(tmp_path: Path, suffix: str) -> None:
    """In several blocks, the last one short, one row of which is unusual."""
    path = tmp_path / f"long.{suffix}"
    write: Callable[[int], str] = {
        "csv": lambda k: f'x{k // 24},E{k % 3},send,"m,{k}",E1;E2,{k / 8}\n',
        "jsonl": lambda k: line(message=f'"m{k}"', time=str(k / 8), dest='["E1", 2]').decode(),
    }[suffix]
    with path.open("w") as file:
        file.write("execution,entity,event,message,dest,time\n" if suffix == "csv" else "")
        file.writelines(write(k) for k in range(600_000))
        file.write(
            'x,E1,send,"a"b,,1\n'.replace('"a"b', "é") if suffix == "csv" else line(clock="[1]").decode()
        )
    assert path.stat().st_size > one_pass.LEAST_BYTES
    load_llvm()
    found, other = Notices(), Notices()
    by_kernel = pa.concat_tables(read_table(str(path), found))
    with patch.object(one_pass, "LEAST_BYTES", NEVER):
        assert pa.concat_tables(read_table(str(path), other)).equals(by_kernel)
    assert found.all() == other.all()
