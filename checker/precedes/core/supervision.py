"""A process that only waits for another one, which does the work, and says what ended it.

A library in machine code can end its process without an exception: a file that nobody would write makes it read out of
bounds, or fail a check of its own. So a command that reads files forks before it has loaded anything. What is being
read is on a board that both processes see, so that the one that waits can name the file and the row.

On systems other than Linux, and where threads run already, the work is done by the process itself.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

from precedes.core.diagnostics import Diagnostic

_PLACES: Final = 64
"""Threads that read at the same time, of which the board has what they read."""
_BYTES: Final = 1024
_DEATH_OF_PARENT: Final = 1
"""`PR_SET_PDEATHSIG` of `prctl`."""
_ONE_INTERRUPT: Final = 0.5
"""Seconds between two interrupts that are two."""
_SENT_BY_A_PROCESS: Final = 0
"""`SI_USER`: a terminal sends its interrupts to both processes by itself."""
_WHERE: Final = "report this with the file, if you may show it; until then leave it out of the trace"
_MEMORY: Final = (
    "if the system ended it for lack of memory, convert the trace with `precedes convert`, or use Spark"
)


class _Board:
    """What the threads of a process are reading, in memory that another process sees."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _PLACES * _BYTES)
        self._free = list(range(_PLACES))

    def put(self, path: str, row: int | None) -> int | None:
        """Write down what is read; the place where it stands, if there is room."""
        try:
            place = self._free.pop()
        except IndexError:
            return None
        text = f"{row or ''}\n".encode() + path.encode(errors="replace")[: _BYTES - 40]
        self._memory[place * _BYTES : place * _BYTES + len(text) + 1] = text + b"\0"
        return place

    def clear(self, place: int | None) -> None:
        """What stood there has been read."""
        if place is not None:
            self._memory[place * _BYTES] = 0
            self._free.append(place)

    def all(self) -> list[tuple[str, int | None]]:
        """The files, each with the first of the rows, where these have numbers yet."""
        texts = (self._memory[k * _BYTES : (k + 1) * _BYTES].partition(b"\0")[0] for k in range(_PLACES))
        read = (text.decode(errors="replace").partition("\n") for text in texts if text)
        return sorted({(path, int(row) if row else None) for row, _, path in read}, key=str)


_boards: list[_Board] = []
"""Empty where nobody waits."""


@contextmanager
def reading(path: str, row: int | None = None) -> Iterator[None]:
    """Within, a file is read, from a row on. Said to the process that waits, if there is one."""
    written = [(board, board.put(path, row)) for board in _boards]
    try:
        yield
    finally:
        for board, place in written:
            board.clear(place)


def supervised(work: Callable[[], int], tell: Callable[[Diagnostic], None]) -> int:
    """The exit code of work that is done in a process of its own, which returns from here; the one that waits does not.

    What ended that process, if anything did, is told, and the exit code is 2.
    """
    able = sys.platform == "linux" and hasattr(os, "fork") and hasattr(signal, "SIGCHLD")
    if not able or threading.active_count() > 1:
        return work()
    _boards.append(_Board())
    waiting = os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    passed_on = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *passed_on})
    worker = os.fork()
    if not worker:
        _end_with(waiting)
        _hear_once()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = work()
        # An interrupt that is passed on only now would end an interpreter that puts away what it has.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return code
    status = _wait(worker, passed_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return _leave(status, passed_on, tell)


def _end_with(process: int) -> None:
    """End this process with the one that waits for it, however that ends."""
    import ctypes

    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
    if os.getppid() != process:
        os._exit(1)


def _hear_once() -> None:
    """Take an interrupt of the group of both processes, which the one that waits passes on, for one and not for two."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    heard = -_ONE_INTERRUPT

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal heard
        before, heard = heard, time.monotonic()
        if heard - before >= _ONE_INTERRUPT:
            signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)


def _wait(worker: int, passed_on: set[signal.Signals]) -> int:
    """The exit code of the worker, or minus the signal that ended it."""
    while True:
        received = signal.sigwaitinfo({signal.SIGCHLD, *passed_on})
        if received.si_signo != signal.SIGCHLD:
            if received.si_code == _SENT_BY_A_PROCESS:
                os.kill(worker, received.si_signo)
            continue
        found, status = os.waitpid(worker, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)


def _leave(status: int, passed_on: set[signal.Signals], tell: Callable[[Diagnostic], None]) -> NoReturn:
    if status < 0 and -status in passed_on:
        # Whoever asked for the end sees that it was heard.
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    if status < 0:
        files = [each for board in _boards for each in board.all()]
        for diagnostic in ended(signal.Signals(-status).name, files):
            tell(diagnostic)
        status = 2
    sys.stderr.flush()
    os._exit(status)


def ended(name: str, files: list[tuple[str, int | None]]) -> list[Diagnostic]:
    """What is told of a process that a signal ended while it read files, each from a row on."""
    if name == "SIGKILL" or not files:
        hint = _MEMORY if name == "SIGKILL" else "this is a defect of precedes or of a library that it uses"
        return [Diagnostic("U004", f"the process that does the work was ended by {name}", hint=hint)]
    said = f"reading this file ended the process ({name})"
    return [Diagnostic("T019", said, path, hint=_WHERE, row=row) for path, row in files]
