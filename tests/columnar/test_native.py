"""Machine code that is kept: never that of functions as they were."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from precedes.native.compiled_functions import (
    Int32Out,
    MatrixOut,
    by_address,
    helpers,
    is_loaded,
    machine_code,
)

CALLER = """
import sys
import numpy as np
import numpy.typing as npt
from helper import added
from precedes.native.compiled_functions import Int32Out, machine_code

def summed(first: int, last: int, values: Int32Out) -> None:
    for k in range(first, last):
        values[k] = added(k)

def run():
    values = np.zeros(3, np.int32)
    compiled = machine_code(summed)
    compiled(0, 3, values)
    print(values.tolist(), "numba" in sys.modules)
"""
HELPER = "def added(k: int) -> int:\n    return k + {}\n"


def run(folder: Path) -> str:
    """What a process of its own computes, and whether it compiled: what is kept is run without numba."""
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": ""}
    program = [sys.executable, "-c", "import caller; caller.run()"]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout.strip()


def test_a_function_that_changed_is_compiled_anew_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "helper.py").write_text(HELPER.format(1), encoding="utf-8")
    assert run(tmp_path) == "[1, 2, 3] True"
    assert run(tmp_path) == "[1, 2, 3] False"
    (tmp_path / "helper.py").write_text(HELPER.format(5), encoding="utf-8")
    assert run(tmp_path) == "[5, 6, 7] True"


def test_a_number_that_changed_is_compiled_anew_wherever_it_stands(tmp_path: Path) -> None:
    """Of a module that has no function: it is compiled into the helper and into who calls it."""
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "helper.py").write_text(
        "import steps\nfrom steps import STEP\n\ndef added(k: int) -> int:\n    return k + STEP + steps.MORE\n",
        encoding="utf-8",
    )
    for step, more, expected in ((1, 0, "[1, 2, 3]"), (50, 0, "[50, 51, 52]"), (50, 2, "[52, 53, 54]")):
        (tmp_path / "steps.py").write_text(f"STEP = {step}\nMORE = {more}\n", encoding="utf-8")
        assert run(tmp_path) == f"{expected} True"
        assert run(tmp_path) == f"{expected} False"


def test_what_is_kept_and_cannot_be_read_is_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "helper.py").write_text(HELPER.format(1), encoding="utf-8")
    assert run(tmp_path) == "[1, 2, 3] True"
    kept = [path for path in (tmp_path / "__pycache__").iterdir() if path.suffix in (".nbi", ".nbc", ".code")]
    # The object code of one function; an index and the code of numba, of each of the two.
    assert len(kept) == 5
    for path in kept:
        path.write_bytes(path.read_bytes()[:100])
    assert run(tmp_path) == "[1, 2, 3] True"
    assert run(tmp_path) == "[1, 2, 3] False", "it is kept in its place"


@by_address
class Table(NamedTuple):
    """`doubled` and `written` are the names of functions, too."""

    doubled: Int32Out
    written: MatrixOut


def doubled(table: Table, place: int) -> int:
    """Read where `written` has just written."""
    return 2 * int(table.doubled[place]) + len(table.written)


def written(table: Table, count: int) -> int:
    """Write and read fields, and hand the tuple on."""
    for place in range(count):
        table.doubled[place] += 1
        table.written[place, 1] = doubled(table, place)
    return len(table.written[0])


def table(rows: int) -> Table:
    """A table whose numbers are 0, 1, 2, ..."""
    return Table(np.arange(rows, dtype=np.int32), np.zeros((rows, 2), np.int32))


def test_a_tuple_is_taken_by_its_address() -> None:
    by_machine, by_python = table(5), table(5)
    assert machine_code(written)(by_machine, 3) == written(by_python, 3) == 2
    assert is_loaded(written)
    assert not is_loaded(table)
    assert by_machine.doubled.tolist() == by_python.doubled.tolist() == [1, 2, 3, 3, 4]
    assert (
        by_machine.written.tolist() == by_python.written.tolist() == [[0, 7], [0, 9], [0, 11], [0, 0], [0, 0]]
    )


def test_a_tuple_of_other_arrays_is_refused() -> None:
    code = machine_code(written)
    others: tuple[Any, ...] = (np.zeros(5, np.int64), np.zeros(10, np.int32)[::2])
    for other in others:
        with pytest.raises(TypeError, match="no contiguous array of int32 of 1 dimension"):
            code(Table(other, np.zeros((5, 2), np.int32)), 3)


def test_a_field_with_the_name_of_a_function_calls_none() -> None:
    assert helpers(written) == (doubled,)
    assert helpers(doubled) == ()


def halved(values: Int32Out, parts: int, odd: bool) -> int:
    """Make an array, and raise an error where there are no parts."""
    own = np.empty(len(values), np.int32)
    for place in range(len(values)):
        own[place] = values[place] // parts + odd
    values[0] = own[-1]
    return len(own) if odd else -len(own)


def test_what_a_function_raises_is_raised() -> None:
    code, values = machine_code(halved), np.arange(9, dtype=np.int32)
    with pytest.raises(ZeroDivisionError):
        code(values, 0, False)
    assert code(values, 2, True) == 9
    assert code(values, 2, False) == -9
    assert values.tolist() == [4, *range(1, 9)]


def test_arguments_that_machine_code_could_not_take_are_refused() -> None:
    code, values = machine_code(halved), np.arange(9, dtype=np.int32)
    with pytest.raises(TypeError, match="takes 3 arguments, not 2"):
        code(values, 2)
    with pytest.raises(TypeError, match="integer"):
        code(values, 2.5, False)
    values.flags.writeable = False
    with pytest.raises(TypeError, match="not writable"):
        code(values, 2, False)
