"""Nothing that is used is there on Linux only: the commands run where what other systems lack is taken away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Loaded by every Python that is started, the processes of the commands included.
WITHOUT = """
import os, signal, sys, warnings

# What Windows or macOS has not.
for name in (
    "sched_getaffinity", "sched_setaffinity", "sched_yield", "fork", "forkpty", "wait3", "wait4", "waitid", "killpg",
    "setsid", "getpgrp", "getpgid", "getsid", "getuid", "geteuid", "getgid", "getegid", "getgroups", "chown", "fchown",
    "lchown", "fchmod", "pread", "pwrite", "preadv", "pwritev", "sendfile", "splice", "copy_file_range", "memfd_create",
    "eventfd", "posix_fadvise", "posix_fallocate", "getrandom", "nice", "mkfifo", "mknod", "statvfs", "fstatvfs",
    "sysconf", "openpty", "pipe2", "getloadavg", "getxattr", "setxattr", "listxattr", "process_cpu_count",
):
    if hasattr(os, name):
        delattr(os, name)
for name in ("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
# SIGKILL is missing elsewhere, too, but Python's own way to end a process here is by it.
kept = {"SIGKILL", "SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}
for name in dir(signal):
    if name.startswith("SIG") and not name.startswith("SIG_") and name not in kept:
        delattr(signal, name)
for name in ("alarm", "setitimer", "pthread_sigmask", "pthread_kill", "sigwait", "siginterrupt"):
    if hasattr(signal, name):
        delattr(signal, name)
# Their encoding is seldom UTF-8.
warnings.filterwarnings("error", category=EncodingWarning, module="precedes")
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python on another system."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    return {
        "PATH": str(Path(sys.executable).parent),
        "PYTHONPATH": str(tmp_path / "site"),
        "PYTHONWARNDEFAULTENCODING": "1",
        "HOME": str(tmp_path),
        "SYSTEMROOT": "",
    }


def ran(command: str, folder: Path, environ: dict[str, str], code: int = 0) -> str:
    """What a command prints, which ends with a code."""
    ended = subprocess.run(
        [sys.executable, "-c", "from precedes.cli.main import main; main()", *command.split()],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == code, ended.stdout[-2000:] + ended.stderr[-2000:]
    return ended.stdout


def test_what_was_taken_away_is_gone(tmp_path: Path, elsewhere: dict[str, str]) -> None:
    asked = (
        "import os, signal, json; found = [hasattr(os, 'fork'), hasattr(os, 'sched_getaffinity'), "
        "hasattr(signal, 'SIGHUP')]\n"
        "try:\n    import resource\nexcept ImportError:\n    found.append(False)\n"
        "print(json.dumps(found))"
    )
    told = subprocess.run(
        [sys.executable, "-c", asked], env=elsewhere, capture_output=True, text=True, check=True
    )
    assert json.loads(told.stdout) == [False] * 4


def test_traces_are_judged(tmp_path: Path, elsewhere: dict[str, str]) -> None:
    ran("simulate cmd --executions 4000 --messages 4 -o made.parquet", tmp_path, elsewhere)
    # Laid out and long enough for several threads.
    assert "causal_order" in ran("verify made.parquet --require causal_order", tmp_path, elsewhere)
    rows = ROOT / "traces/rabbitmq-fanout.jsonl.gz"
    assert "violated" in ran(f"verify {rows} --require ST --out verdicts", tmp_path, elsewhere, 1)
    ran(f"convert {rows} -o laid.parquet", tmp_path, elsewhere)
    assert "violated" in ran("infer laid.parquet", tmp_path, elsewhere)


@pytest.mark.slow
def test_scenarios_claims_and_models_are_judged(tmp_path: Path, elsewhere: dict[str, str]) -> None:
    (tmp_path / "a.prec").write_text(
        "scenario one\ncluster A B\nRL1: < p ] SL1: < p{2} ]\nRL2: < p ]\nexpect not SP\nclaim ST implies SP\n",
        encoding="utf-8",
    )
    ran("check a.prec", tmp_path, elsewhere)
    ran("draw a.prec -o a.svg", tmp_path, elsewhere)
    ran("search ST", tmp_path, elsewhere)
    ran("explore cmd --messages 2 --memory 4000", tmp_path, elsewhere)
    (tmp_path / "precedes.toml").write_text(
        '[[check]]\nfiles = ["a.prec"]\n'
        '[[explore]]\nmodel = "cmd"\nmessages = 2\n'
        '[[explore]]\nmodel = "cmd"\nmessages = 2\ndestinations = "broadcast"\n',
        encoding="utf-8",
    )
    ran("gate", tmp_path, elsewhere)
