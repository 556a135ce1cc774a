"""Machine code that is kept: never that of functions as they were."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CALLER = """
import numpy as np
import numpy.typing as npt
from helper import added
from precedes.engines.columnar.native import Int32Out, machine_code

def summed(first: int, last: int, values: Int32Out) -> None:
    for k in range(first, last):
        values[k] = added(k)

def run():
    values = np.zeros(3, np.int32)
    compiled = machine_code(summed)
    compiled(0, 3, values)
    print(values.tolist(), sum(compiled.stats.cache_hits.values()))
"""
HELPER = "def added(k: int) -> int:\n    return k + {}\n"


def run(folder: Path) -> str:
    """What a process of its own computes, and how often it took machine code from the cache."""
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": ""}
    program = [sys.executable, "-c", "import caller; caller.run()"]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout.strip()


def test_a_function_that_changed_is_compiled_anew_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "helper.py").write_text(HELPER.format(1), encoding="utf-8")
    assert run(tmp_path) == "[1, 2, 3] 0"
    assert run(tmp_path) == "[1, 2, 3] 1"
    (tmp_path / "helper.py").write_text(HELPER.format(5), encoding="utf-8")
    assert run(tmp_path) == "[5, 6, 7] 0"


def test_what_is_kept_and_cannot_be_read_is_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "helper.py").write_text(HELPER.format(1), encoding="utf-8")
    assert run(tmp_path) == "[1, 2, 3] 0"
    kept = [path for path in (tmp_path / "__pycache__").iterdir() if path.suffix in (".nbi", ".nbc")]
    # An index and the code, of each of the two functions.
    assert len(kept) == 4
    for path in kept:
        path.write_bytes(path.read_bytes()[:100])
    assert run(tmp_path) == "[1, 2, 3] 0"
