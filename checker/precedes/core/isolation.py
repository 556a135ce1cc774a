"""A job in a process of its own, because it runs code of others.

A model is a program. It may end its process, crash, hang, or print where results are expected. So the job
runs beside the caller, and only what it answers through its channel counts. Anything else that happens to the
process is an error (M015), never a verdict. The process starts with a new interpreter, not by forking, so
that every platform behaves the same.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import (
    IO,
    Any,
    Final,
    NoReturn,
    Protocol,
    TypeAlias,
    assert_never,
)

import msgspec
from msgspec import Raw, Struct

from precedes.core.diagnostics import Diagnostic, PrecedesError, diagnosed
from precedes.core.pandas_guard import leave_pandas_out
from precedes.core.version import SOURCE

SILENCE: Final = 300.0
"""Seconds without a sign of life after which a job counts as hung, unless the caller says otherwise."""
_SIGN: Final = 1.0
"""Seconds between two signs of life."""
_GRACE: Final = 5.0
"""Seconds that a process has for what is not the job: to report that it hangs, to go away."""
_LONGEST: Final = 1 << 28
"""Bytes of one line of a channel."""

# `-P`: a file named like a module of Python, in the folder where the gate runs, is not imported in its place. Compiled
# files that were committed beside a model do not stand in for its text.
_FLAGS: Final = ("-P", "--check-hash-based-pycs", "always", "-c")
_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop())\n"
    "from precedes.core.isolation import serve; serve()"
)


class _Alive(Struct, frozen=True, tag="alive"):
    pass


class _Note(Struct, frozen=True, tag="note"):
    payload: Raw


class _Answer(Struct, frozen=True, tag="answer"):
    payload: Raw


class _Refusal(Struct, frozen=True, tag="refusal"):
    diagnostics: tuple[Diagnostic, ...]


class _Silent(Struct, frozen=True, tag="silent"):
    where: str


_Line: TypeAlias = _Alive | _Note | _Answer | _Refusal | _Silent


class Job(Protocol):
    """What runs in a process of its own. It is pickled on its way there; what comes back is JSON."""

    @property
    def about(self) -> str:
        """What is carried out, for messages: `explore chat.py`."""

    def run(self, channel: Channel) -> bytes:
        """The answer, as JSON. PrecedesError is carried to the caller."""


class Channel:
    """What a job may say and ask while it runs."""

    def __init__(
        self, file: IO[bytes] | None = None, token: bytes = b"", silence: float | None = None
    ) -> None:
        """Without a file nothing is said to anybody: a job that runs in the caller's process."""
        self.interrupted = False
        """Whether the caller wants what is known so far."""
        self._file = file
        self._token = token
        self._silence = silence
        self._lock = threading.Lock()
        self._life = self._said = time.monotonic()

    def alive(self) -> None:
        """A sign of life. Cheap: called wherever the job gets on."""
        self._life = now = time.monotonic()
        if now - self._said >= _SIGN:
            self._say(_Alive())

    def tell(self, note: bytes) -> None:
        """Something that the caller is told at once, as JSON."""
        self._life = time.monotonic()
        self._say(_Note(Raw(note)))

    def _say(self, line: _Line) -> None:
        if self._file is None:
            return
        self._said = time.monotonic()
        with self._lock, suppress(BrokenPipeError):
            self._file.write(self._token + msgspec.json.encode(line) + b"\n")
            self._file.flush()

    def _listen(self, caller: IO[bytes], job: int) -> None:
        """Wait for the caller to interrupt, or to go away, which ends this process; and watch the job, thread `job`."""
        threading.Thread(target=self._watch, args=(job,), daemon=True).start()
        while caller.read(1):
            self.interrupted = True
        _end_everything()

    def _watch(self, job: int) -> None:
        while self._silence is not None:
            time.sleep(min(_SIGN, self._silence))
            if time.monotonic() - self._life > self._silence:
                self._say(_Silent(_place(job)))
                return


class Isolation:
    """A job that runs in a process of its own. To be used as a context, which ends the process in any case."""

    def __init__(
        self,
        job: Job,
        *,
        silence: float | None = SILENCE,
        heard: Callable[[bytes], None] = lambda _note: None,
    ) -> None:
        """`heard` is called with what the job tells. `silence` None: the job may take as long as it wants."""
        self._about = job.about
        self._silence = silence
        self._heard = heard
        self._token = secrets.token_hex(16).encode()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._deadline: float | None = None
        self._process = _new_interpreter()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        with suppress(BrokenPipeError):
            asked = pickle.dumps((self._token, silence, job))
            self._write(len(asked).to_bytes(8) + asked)

    def __enter__(self) -> Isolation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def answer(self) -> bytes | None:
        """Wait for the answer; None where the job was interrupted and has not answered in time. PrecedesError where the
        job raises one, or there is no answer (M015)."""
        heard = time.monotonic()
        while True:
            if self._deadline is not None and time.monotonic() > self._deadline:
                return None
            try:
                line = self._lines.get(timeout=0.2)
            except queue.Empty:
                self._give_up(heard)
                continue
            if not line:
                raise self._without_answer(self._ended())
            heard = time.monotonic()
            said = self._understood(line)
            match said:
                case _Alive():
                    pass
                case _Note(payload):
                    self._heard(bytes(payload))
                case _Answer(payload):
                    self._leave()
                    return bytes(payload)
                case _Refusal(diagnostics):
                    raise PrecedesError(diagnostics)
                case _Silent(where):
                    raise self._without_answer(f"made no progress for {self._silence:g} s{where}")
                case _:
                    assert_never(said)

    def interrupt(self, within: float) -> None:
        """Ask the job for what it knows so far, to be answered within so many seconds."""
        self._deadline = time.monotonic() + within
        with suppress(OSError):
            self._write(b"!")

    def leave(self, within: float) -> None:
        """Ask the job to stop and wait so long that it can put away what it uses. Its answer is lost."""
        self.interrupt(within)
        with suppress(PrecedesError):
            self.answer()

    def end(self) -> None:
        """End the process, and those that it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.kill()
        self._process.wait()
        with suppress(OSError):
            self._process.stdin.close()
        self._reader.join(_GRACE)
        if not self._reader.is_alive():
            self._process.stdout.close()

    def kill(self) -> None:
        """Kill the process, and those that it started, wherever they are. Its answer is that it was ended so."""
        _kill(self._process)

    def _leave(self) -> None:
        """Give the process time to put away what it used."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _read(self) -> None:
        """In a thread, because the process may write half a line and no more."""
        assert self._process.stdout is not None
        line = b"..."
        while line:
            line = self._process.stdout.readline(_LONGEST)
            self._lines.put(line)

    def _understood(self, line: bytes) -> _Line:
        if not line.startswith(self._token) or not line.endswith(b"\n"):
            raise self._without_answer("wrote where its answer is expected")
        try:
            understood: _Line = msgspec.json.decode(line.removeprefix(self._token), type=_Line)
        except msgspec.DecodeError:
            raise self._without_answer("wrote something that is not an answer") from None
        return understood

    def _give_up(self, heard: float) -> None:
        now = time.monotonic()
        if self._process.poll() is not None and now - heard > _GRACE and self._lines.empty():
            # Something that the process started keeps its end of the pipe open.
            raise self._without_answer(self._ended())
        if self._silence is not None and now - heard > self._silence + _GRACE:
            raise self._without_answer(f"gave no sign of life for {self._silence:g} s")

    def _ended(self) -> str:
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "closed its channel"
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"

    def _without_answer(self, what: str) -> PrecedesError:
        hint = "a model must only compute what it is asked; `precedes explain M015` lists common causes"
        return PrecedesError(
            (Diagnostic("M015", f"no verdict on {self._about}: its process {what}", hint=hint),)
        )


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """KeyboardInterrupt where this process is asked to terminate: whoever stops a long job, by key or by the time limit
    of a pipeline, gets what is known so far."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def serve() -> None:
    """The process of a job: take it from standard input, answer on what was standard output.

    Neither is the job's any more: what it prints goes to standard error, and it has nothing to read.
    """
    answers, caller = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    # The caller is interrupted, and says so.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # numpy starts threads for products of matrices, which wait for work in a loop. Nothing here multiplies any.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    asked = _exactly(caller, int.from_bytes(_exactly(caller, 8)))
    leave_pandas_out()
    token, silence, job = pickle.loads(asked)  # noqa: S301 - from the process that started this one
    channel = Channel(answers, token, silence)
    threading.Thread(target=channel._listen, args=(caller, threading.get_ident()), daemon=True).start()
    channel._say(_outcome(job, channel))
    # What was registered to be put away is; millions of states are not taken apart one by one.
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(0)


def _new_interpreter() -> subprocess.Popen[bytes]:
    """A process that waits for a job, in a session of its own: with it end those that it starts."""
    command = [sys.executable, *_FLAGS, _START, json.dumps(sys.path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)


def _exactly(file: IO[bytes], size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = file.read(size - len(found))
        if not more:
            _end_everything()
        found += more
    return found


def _outcome(job: Job, channel: Channel) -> _Answer | _Refusal:
    try:
        return _Answer(Raw(job.run(channel)))
    except Exception as error:  # noqa: BLE001 - told by the caller
        if os.environ.get("PRECEDES_DEBUG"):
            traceback.print_exc()
        return _Refusal(diagnosed(error))
    except BaseException as error:  # noqa: BLE001 - whatever a model raises is its mistake
        said = f"no verdict on {job.about}: the model raised {type(error).__name__}: {error}"
        return _Refusal((Diagnostic("M015", said),))


def _place(thread: int) -> str:
    """Where a thread is, outside of this program: `, in arrive (chat.py, line 41)`."""
    own = SOURCE
    frame = sys._current_frames().get(thread)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if own not in path.parents and path.is_file():
            return f", in {frame.f_code.co_name} ({path.name}, line {frame.f_lineno})"
        frame = frame.f_back
    return ""


def _kill(process: subprocess.Popen[Any]) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end_everything() -> NoReturn:
    """This process and, where there are groups of processes, those that it started."""
    with suppress(OSError):
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(1)
