"""Processes that have their imports behind them.

A job with a model runs in a new interpreter, which imports for half a second what the next one imports again; the
tests start hundreds. So a folder of tests may take its processes from a server: it has imported what a job imports
and read the library, and forks for each one. What a process is for stays: it has a session, streams, a folder and an
environment of its own, it can be killed, crash or hang, and it shares nothing with those after it. Models are not
among what is imported.

That an interpreter starts as the program has it is for tests/protocol/test_isolation.py, which uses this only where it
asks what is told of a process.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from precedes.core import isolation
from precedes.core.formula import TRUTH
from precedes.core.pandas_guard import leave_pandas_out
from precedes.language.library import standard_library
from precedes.logic.recognition import recognise

PREPARED = (
    "precedes.cli.main",
    "precedes.cli.exploration_process",
    "precedes.cli.simulation_job",
    "precedes.gate.run.session",
    "precedes.gate.run.workers",
    "precedes.protocol.validation.integrity",
    *("precedes.protocol.exploration.explorer", "precedes.protocol.simulation.simulator"),
    "precedes.protocol.processes.member",
    *("precedes.engines.scan.partials", "precedes.traces.layout.conversion"),
)
"""What the server imports."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop())\n"
    "from tests.warm_processes import serve; serve(sys.argv[1])"
)
_ONE_AT_A_TIME = threading.Lock()
"""The gate starts jobs from several threads, and there is one server."""
AVAILABLE = sys.platform == "linux"


class Forked:
    """A process of the server, as `subprocess.Popen` would have it."""

    def __init__(self, connection: socket.socket, stdin: Any, stdout: Any) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.returncode: int | None = None
        self._connection = connection
        # Said by the process itself, once it has a session of its own: from then on it can be killed.
        self.pid = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), signed=True)
        assert self.pid > 0, "the server of processes is gone"

    def poll(self) -> int | None:
        """The exit code, if it has ended; that of a signal is negative."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self.returncode is None:
            ready, _, _ = select.select([self._connection], [], [], timeout)
            if not ready:
                assert timeout is not None
                raise subprocess.TimeoutExpired("a process of the server", timeout)
            self.returncode = int.from_bytes(self._connection.recv(4, socket.MSG_WAITALL), signed=True)
            self._connection.close()
        return self.returncode

    def kill(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)


def job() -> Any:
    """What stands in for a new interpreter that serves a job."""
    inner_in, stdin = os.pipe()
    stdout, inner_out = os.pipe()
    try:
        connection = _asked(["serve"], (inner_in, inner_out, 2), str(Path.cwd()), os.environ)
    finally:
        os.close(inner_in)
        os.close(inner_out)
    return Forked(connection, os.fdopen(stdin, "wb", buffering=0), os.fdopen(stdout, "rb"))


def command(arguments: Sequence[str], folder: Path) -> tuple[int, str]:
    """The exit code of `precedes` and what it prints, on either stream, in a folder."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    stdout, inner_out = os.pipe()
    try:
        connection = _asked(
            ["precedes", *arguments], (nothing, inner_out, inner_out), str(folder), os.environ
        )
    finally:
        os.close(inner_out)
        os.close(nothing)
    process = Forked(connection, None, None)
    with os.fdopen(stdout, encoding="utf-8") as printed:
        told = printed.read()
    return process.wait(), told


def _asked(
    words: Sequence[str], streams: tuple[int, int, int], folder: str, environ: Mapping[str, str]
) -> socket.socket:
    """The connection to a process that the server is asked for."""
    connection = socket.socket(socket.AF_UNIX)
    with _ONE_AT_A_TIME:
        connection.connect(_server())
    asked = json.dumps({"words": list(words), "path": sys.path, "folder": folder, "environ": dict(environ)})
    data = asked.encode()
    socket.send_fds(connection, [len(data).to_bytes(4)], streams)
    connection.sendall(data)
    return connection


@cache
def _server() -> str:
    """The address of the server, which ends with this process."""
    address = str(Path(tempfile.mkdtemp(prefix="precedes-tests-")) / "server")
    command = [sys.executable, *isolation._FLAGS, _START, address, json.dumps(sys.path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    assert stdout.readline() == b"ready\n"

    def end() -> None:
        stdin.close()
        process.wait()
        stdout.close()
        Path(address).unlink()
        Path(address).parent.rmdir()

    atexit.register(end)
    return address


@pytest.fixture(autouse=True, scope="module")
def warm_processes() -> Iterator[None]:
    """Jobs of the tests in a folder whose conftest.py imports this run in processes of the server."""
    with pytest.MonkeyPatch.context() as patched:
        if AVAILABLE:
            patched.setattr(isolation, "_new_interpreter", job)
        yield


# ---- in the server


def serve(address: str) -> None:
    """Import what jobs import, and fork whenever somebody connects, until standard input ends."""
    leave_pandas_out()
    for name in PREPARED:
        import_module(name)
    # Read, and made, once a process.
    standard_library()
    recognise(TRUTH)
    isolation._new_interpreter = job
    # A process that a job starts in turn asks the same server.
    globals()["_server"] = lambda: address
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _nothing)
    running: dict[int, socket.socket] = {}
    gc.freeze()
    os.write(1, b"ready\n")
    while True:
        ready, _, _ = select.select([0, listening, woken], [], [])
        if woken in ready:
            with suppress(BlockingIOError):
                woken.recv(4096)
            _reap(running)
        if listening in ready:
            connection, _ = listening.accept()
            pid = os.fork()
            if pid == 0:
                for file in (listening, woken, wake, *running.values()):
                    file.close()
                _child(connection)
            running[pid] = connection
        if 0 in ready:
            os._exit(0)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    pass


def _reap(running: dict[int, socket.socket]) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with running.pop(pid) as connection, suppress(BrokenPipeError):
                connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


def _child(connection: socket.socket) -> None:
    """Become the process that was asked for."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    data = connection.recv(int.from_bytes(size), socket.MSG_WAITALL)
    connection.sendall(os.getpid().to_bytes(4, signed=True))
    connection.close()
    asked = json.loads(data)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.chdir(asked["folder"])
    sys.path[:] = asked["path"]
    os.environ.clear()
    os.environ.update(asked["environ"])
    program, *arguments = asked["words"]
    _ended(isolation.serve if program == "serve" else lambda: _precedes(arguments))


def _precedes(arguments: Sequence[str]) -> None:
    from precedes.cli.main import main

    sys.argv[:] = ["precedes", *arguments]
    main()


def _ended(program: Callable[[], None]) -> None:
    """Run a program and end, as an interpreter does."""
    code = 0
    try:
        program()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter ends, whatever is raised
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)
