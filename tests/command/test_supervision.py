"""A command whose process is ended while it reads says so, and ends when it is asked to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from precedes.core.supervision import ended, reading, supervised

ROW = {"execution": "x", "entity": "E1", "event": "send", "message": "m"}
PROGRAM = """
import os, signal, sys, time
from precedes.cli import main as command
from precedes.traces.formats import {module} as reader
def dies(*_):
    {deed}
reader.{name} = dies
sys.argv = ["precedes", "verify", *sys.argv[1:], "--require", "ST"]
command.main()
"""
HANGS = 'open(os.environ["SEEN"], "w").write(str(os.getpid())); time.sleep(100)'

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the work is done by the process itself"
)


def started(
    path: Path, deed: str, module: str = "json_lines", name: str = "_by_arrow", **options: Any
) -> subprocess.Popen[str]:
    """The command on a file, with a reader that does something else than to read."""
    program = PROGRAM.format(module=module, deed=deed, name=name)
    environment = {**os.environ, "SEEN": str(path.with_name("seen"))}
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, **options
    )


def worker(path: Path) -> int:
    """The process that reads, once it does."""
    seen = path.with_name("seen")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if seen.exists() and (text := seen.read_text()):
            return int(text)
        time.sleep(0.05)
    raise AssertionError("nothing was read")


def gone(process: int) -> bool:
    """Whether a process has ended, in a while."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    path.write_text("\n" + json.dumps(ROW) + "\n")
    return path


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT"])
def test_a_reader_that_dies_is_a_message_with_file_and_row(trace: Path, name: str) -> None:
    process = started(trace, f"signal.raise_signal(signal.{name})")
    out, errors = process.communicate()
    assert process.returncode == 2
    assert errors.startswith(f"{trace}: row 1: T019 reading this file ended the process ({name})\n")
    assert out == ""


def test_a_parquet_file_that_cannot_even_be_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    process = started(path, "os.abort()", "parquet_file", "arrow_parquet.ParquetFile")
    _, errors = process.communicate()
    assert process.returncode == 2
    assert errors.startswith(f"{path}: T019 ")


def test_a_process_that_is_killed_is_no_verdict(trace: Path) -> None:
    process = started(trace, "os.kill(os.getpid(), signal.SIGKILL)")
    _, errors = process.communicate()
    assert process.returncode == 2
    assert errors.startswith("U004 ")
    assert "memory" in errors


def test_an_end_that_is_asked_for_is_passed_on(trace: Path) -> None:
    process = started(trace, HANGS)
    reader = worker(trace)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (-signal.SIGTERM, "")
    assert gone(reader)


def test_an_interrupt_is_passed_on(tmp_path: Path) -> None:
    trace = tmp_path / "t.parquet"
    trace.write_bytes(b"PAR1")
    process = started(trace, HANGS, "parquet_file", "arrow_parquet.ParquetFile")
    worker(trace)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors.strip()) == (130, "interrupted")


def test_whoever_kills_the_command_ends_its_work(trace: Path) -> None:
    process = started(trace, HANGS)
    reader = worker(trace)
    process.kill()
    process.communicate(timeout=20)
    assert gone(reader)


def test_where_threads_run_the_work_is_done_by_the_process_itself() -> None:
    program = (
        "import os, threading\n"
        "from precedes.core.supervision import supervised\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "here = os.getpid()\n"
        "supervised(lambda: print(os.getpid() == here) or 0, print)\n"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "True\n"


def test_what_is_read_without_anybody_waiting_is_not_written_down() -> None:
    with reading("t.jsonl", 1), reading("u.jsonl"):
        pass
    assert callable(supervised)
    assert [one.code for one in ended("SIGSEGV", [])] == ["U004"]
    assert [(one.path, one.row) for one in ended("SIGBUS", [("a", 1), ("b", None)])] == [
        ("a", 1),
        ("b", None),
    ]


def test_an_interrupt_of_both_processes_is_one(tmp_path: Path) -> None:
    """Also where the second one comes while the interpreter puts away what it has."""
    trace = tmp_path / "t.parquet"
    trace.write_bytes(b"PAR1")
    again = "lambda self, kill=os.kill, here=os.getpid(), number=signal.SIGINT: kill(here, number)"
    deed = f"globals()['late'] = type('Late', (), {{'__del__': {again}}})(); {HANGS}"
    process = started(trace, deed, "parquet_file", "arrow_parquet.ParquetFile", start_new_session=True)
    worker(trace)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors.strip()) == (130, "interrupted")
