"""A recorder for your own code: it writes the trace that `verify` reads, and needs nothing but Python.

    recorder = Recorder("trace.jsonl")
    ledger, audit = recorder.entity("ledger"), recorder.entity("audit")
    headers = ledger.send("m1", to=["audit"])     # carry these with the message
    audit.deliver(headers)
    recorder.assert_keeps("ST")

Processes that do not share memory have a recorder each, with a file of its own and the same `execution`. Every event is
one line, appended by one write: what was written before a crash is whole. Vector clocks are kept as the CMD paper
computes them (§2) and travel in the headers.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MESSAGE: Final = "precedes-message"
SENDER: Final = "precedes-sender"
CLOCK: Final = "precedes-clock"
"""The names of the headers; their values are text, as brokers want them."""
COLUMNS: Final = frozenset(
    [
        "execution",
        "entity",
        "seq",
        "event",
        "message",
        "dest",
        "sender",
        "time",
        "clock",
        "view",
        "members",
        "group",
    ]
)
"""What no attribute is called."""


class Recorder:
    """Writes one execution, or its part in this process, to a file in JSON Lines.

    An existing file is added to: its entities go on where they were. A recorder is a context manager that closes the
    file. See [`precedes.record`](../gate.md).

    Args:
        path: The file.
        execution: The name of the execution; processes that record one execution give the same name.
        sync: Let the operating system write every line to the disk before going on, so that it survives the machine
            and not only the process.
    """

    def __init__(self, path: str | os.PathLike[str], execution: str = "run", *, sync: bool = False) -> None:
        self.path = os.fspath(path)
        self.execution = execution
        self._sync = sync
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        self._entities: dict[str, Entity] = {}
        self._lock = threading.Lock()
        self._go_on()

    def entity(self, name: str | int) -> Entity:
        """The recorder's view of one entity: the same object for the same name."""
        with self._lock:
            return self._entities.setdefault(_id(name), Entity(self, _id(name)))

    def write(self, row: Mapping[str, object]) -> None:
        """Append one row. OSError where the system does not take all of it."""
        line = json.dumps({"execution": self.execution, **row}, ensure_ascii=False, separators=(",", ":"))
        rest = line.encode() + b"\n"
        while rest:
            rest = rest[os.write(self._file, rest) :]
        if self._sync:
            os.fsync(self._file)

    def _go_on(self) -> None:
        """Take up what the file has of this execution: a name that was made up is not made up again."""
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            return
        with open(self._file, "rb", closefd=False) as file:
            lines = file.read().split(b"\n")
        for line in lines:
            try:
                row = json.loads(line)
                if row["execution"] == self.execution:
                    self.entity(row["entity"]).go_on(row["event"], row["clock"])
            except (ValueError, KeyError, TypeError):
                # No row of ours, or one that was cut off; `verify` tells of it.
                continue
        if lines[-1]:
            # The last row was cut off: the next one gets a line of its own.
            os.write(self._file, b"\n")

    def assert_keeps(
        self, *required: str, traces: Iterable[str | os.PathLike[str]] = (), incomplete: bool = False
    ) -> None:
        """Verify what was recorded here and in other files. This method needs all of precedes.

        Args:
            required: What must hold: names of predicates or services, or formulas.
            traces: The files of other processes.
            incomplete: Rows may be missing.

        Raises:
            AssertionError: Something is violated, unknown, or had nothing to check. Its text is the report.
            TypeError: Nothing is required.
        """
        if not required:
            raise TypeError('nothing is required; say what must hold, as in assert_keeps("ST")')
        from precedes import verify

        paths = [self.path, *(os.fspath(path) for path in traces)]
        verify(paths, required, incomplete=incomplete).raise_for_violations()

    def close(self) -> None:
        """Close the file; what is recorded later is an error. Once closed, closing does nothing."""
        # The system gives the number to the next file that is opened, which must not be written to.
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Entity:
    """One entity of an execution. Safe to use from several threads: its events stand in the order of the calls."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self.name = name
        self._recorder = recorder
        self._clock: dict[str, int] = {}
        self._sent = 0
        self._last = 0
        self._lock = threading.Lock()

    def send(
        self,
        message: str | int | None = None,
        to: Iterable[str | int] | None = None,
        *,
        attributes: Mapping[str, str | int | float] | None = None,
    ) -> dict[str, str]:
        """Record a send, before the message leaves.

        Args:
            message: Its name, of which there is one in the execution. Without it, a name is made up.
            to: The entities that it is for; without it, all of them.
            attributes: What the message carries that requirements speak of, such as `{"key": "k1"}`.

        Returns:
            The headers to carry with the message.

        Raises:
            TypeError: A name is no id: ids are text or whole numbers.
            ValueError: A name is empty, or an attribute is called like a column that means something else.
        """
        carried = _carried(attributes)
        if isinstance(to, str):
            raise TypeError(f"to={to!r} is one name; write to=[{to!r}]")
        named = None if message is None else _id(message)
        row: dict[str, object] = {} if to is None else {"dest": [_id(entity) for entity in to]}
        with self._lock:
            self._sent += 1
            name = named if named is not None else f"{self.name}-{self._sent}"
            self._tick()
            self._write({"entity": self.name, "event": "send", "message": name, **row, **carried})
            return {MESSAGE: name, SENDER: self.name, CLOCK: json.dumps(self._clock, separators=(",", ":"))}

    def deliver(
        self, headers: Mapping[str, Any], *, attributes: Mapping[str, str | int | float] | None = None
    ) -> str:
        """Record a delivery.

        Args:
            headers: The headers that came with the message, as text or bytes.
            attributes: What the message carries that is known only here, such as `{"position": 7}`.

        Returns:
            The message's name.

        Raises:
            KeyError: The headers were lost on the way.
            ValueError: An attribute is called like a column that means something else.
        """
        return self._received("deliver", headers, _carried(attributes))

    def arrive(self, headers: Mapping[str, Any]) -> str:
        """Record that a message arrived; its delivery, or that it was discarded, is another event."""
        return self._received("arrive", headers)

    def discard(self, headers: Mapping[str, Any]) -> str:
        """Record that a message was thrown away."""
        return self._received("discard", headers)

    def local(self) -> None:
        """Record an event of the entity's own, which carries no message; its clock counts it."""
        with self._lock:
            self._tick()
            self._write({"entity": self.name, "event": "local"})

    def crash(self) -> None:
        """Record that the entity stops."""
        with self._lock:
            self._write({"entity": self.name, "event": "crash"})

    def recover(self) -> None:
        """Record that it starts again."""
        with self._lock:
            self._write({"entity": self.name, "event": "recover"})

    def sends(
        self, to: Iterable[str | int] | None = None, headers: str = "headers"
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Wrap a function that sends: the headers are merged into its keyword argument named `headers`."""

        def wrap(function: Callable[P, R]) -> Callable[P, R]:
            @wraps(function)
            def sending(*arguments: P.args, **named: P.kwargs) -> R:
                carried: Any = {**(named.get(headers) or {}), **self.send(to=to)}  # type: ignore[dict-item]
                named[headers] = carried
                return function(*arguments, **named)

            return sending

        return wrap

    def delivers(
        self, headers: Callable[..., Mapping[str, Any]]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Wrap a handler: `headers` finds them in the handler's arguments. Recorded before the handler runs."""

        def wrap(function: Callable[P, R]) -> Callable[P, R]:
            @wraps(function)
            def delivering(*arguments: P.args, **named: P.kwargs) -> R:
                self.deliver(headers(*arguments, **named))
                return function(*arguments, **named)

            return delivering

        return wrap

    def go_on(self, event: str, clock: Mapping[str, int]) -> None:
        """Take up one event that was recorded before, by a process that ended."""
        self._sent += event == "send"
        self._join(clock)

    def _received(
        self, event: str, headers: Mapping[str, Any], carried: Mapping[str, object] | None = None
    ) -> str:
        message, sender = _text(headers[MESSAGE]), _text(headers[SENDER])
        with self._lock:
            if event == "deliver":
                self._join(json.loads(_text(headers[CLOCK])))
                self._tick()
            row = {"entity": self.name, "event": event, "message": message, "sender": sender}
            self._write({**row, **(carried or {})})
        return message

    def _write(self, row: dict[str, object]) -> None:
        # Nanoseconds as `seq`: a process that starts again goes on behind what it wrote before.
        now = time.time_ns()
        self._last = max(self._last + 1, now)
        self._recorder.write({**row, "seq": self._last, "time": _rfc3339(now), "clock": dict(self._clock)})

    def _tick(self) -> None:
        self._clock[self.name] = self._clock.get(self.name, 0) + 1

    def _join(self, clock: Mapping[str, int]) -> None:
        for entity, count in clock.items():
            self._clock[entity] = max(count, self._clock.get(entity, 0))


def _carried(attributes: Mapping[str, str | int | float] | None) -> dict[str, object]:
    """Attributes as columns of a row."""
    if taken := sorted(COLUMNS & set(attributes or ())):
        raise ValueError(f"`{taken[0]}` is a column of every trace; give the attribute another name")
    return dict(attributes or {})


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _id(name: object) -> str:
    """An id as text: 1 and "1" are one, here as in a trace."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(f"{name!r} is not an id: ids are text or whole numbers")
    if name == "":
        raise ValueError("an id has at least one character")
    return str(name)


def _rfc3339(nanosecond: int) -> str:
    """In UTC, as text: seconds as a float lose the last digits."""
    seconds, nanoseconds = divmod(nanosecond, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"
