"""Recorders and entities: each event is a line of a trace."""

from __future__ import annotations

import json
import os
import secrets
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
UNKNOWN_SENDER: Final = "?"


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

    def entity(self, name: str | int, groups: Iterable[str | int] = ()) -> Entity:
        """The recorder's view of one entity: the same object for the same name.

        Args:
            name: What it is called.
            groups: The groups that it is in from the beginning, such as a consumer group.
        """
        if isinstance(groups, str):
            raise TypeError(f"groups={groups!r} is one name; write groups=[{groups!r}]")
        named = tuple(_id(group) for group in groups)
        with self._lock:
            entity = self._entities.setdefault(_id(name), Entity(self, _id(name)))
            if named and entity.groups not in ((), named):
                raise ValueError(
                    f"{entity.name} is in {', '.join(entity.groups)}, and not in {', '.join(named)}"
                )
            entity.groups = named or entity.groups
            return entity

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
                    self.entity(row["entity"]).go_on(row)
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

    def assert_conforms(
        self, model: str, *, traces: Iterable[str | os.PathLike[str]] = (), **options: Any
    ) -> None:
        """Ask whether what was recorded here and in other files is a behavior of a model. This method needs all of
        precedes.

        Args:
            model: The name of a model, or the file of one.
            traces: The files of other processes.
            options: Those of `precedes.conform`, such as `quiescent=True`.

        Raises:
            AssertionError: An execution does not conform, or is undecided, or there is none. Its text is the report.
        """
        from precedes import conform

        paths = [self.path, *(os.fspath(path) for path in traces)]
        conform(model, paths, **options).raise_for_violations()

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


class Pending:
    """An event whose place in its entity's history is taken. It is recorded once it is known to have happened."""

    def __init__(self, recorder: Recorder, row: dict[str, object]) -> None:
        self._recorder = recorder
        self._row = row

    def record(self, attributes: Mapping[str, str | int | float] | None = None) -> None:
        """Record the event, with what is known of it by now."""
        self._recorder.write({**self._row, **_carried(attributes)})


class Offer:
    """A send that the broker has yet to accept.

    Attributes:
        headers: What to carry with the message.
    """

    def __init__(self, headers: dict[str, str], send: Pending, local: Pending) -> None:
        self.headers = headers
        self._send = send
        self._local = local

    def accepted(self, attributes: Mapping[str, str | int | float] | None = None) -> None:
        """Record the send, at the place in the history where it was offered.

        Args:
            attributes: What the broker said, such as `{"position": 7}`.
        """
        self._send.record(attributes)

    def refused(self) -> None:
        """Record that nothing was sent. Clocks counted the offer, so that it stays as a local event."""
        self._local.record()


class Entity:
    """One entity of an execution. Safe to use from several threads: its events stand in the order of the calls."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self.name = name
        self.groups: tuple[str, ...] = ()
        self._recorder = recorder
        # None: it delivered a message whose clock is unknown, and so its own is unknown from there on.
        self._clock: dict[str, int] | None = {}
        self._sent = 0
        self._last = 0
        self._run = ""
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
        row = _send_row(message, to, attributes)
        with self._lock:
            offer = self._offered(row, run="")
            offer.accepted()
        return offer.headers

    def offer(
        self,
        message: str | int | None = None,
        to: Iterable[str | int] | None = None,
        *,
        attributes: Mapping[str, str | int | float] | None = None,
    ) -> Offer:
        """As `send`, but the send is recorded when `accepted` of the offer is called: when the broker has the message.

        An offer that nobody answers leaves no row: whether the message was sent is not known.
        """
        row = _send_row(message, to, attributes)
        with self._lock:
            # A message that was offered when a process ended is in no row. Its name is not given again.
            return self._offered(row, self._run)

    def deliver(
        self, headers: Mapping[str, Any], *, attributes: Mapping[str, str | int | float] | None = None
    ) -> str:
        """Record a delivery.

        Args:
            headers: The headers that came with the message, as text or bytes. Without the sender's clock, nothing
                more is known of what happened before, and the entity's rows have no clocks from here on. Without the
                sender, it is unknown, unless the send is recorded.
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

    def ack(self, message: str | int) -> None:
        """Record that the entity accepts what it delivered."""
        self.pending("ack", message).record()

    def nack(self, message: str | int) -> None:
        """Record that the entity gives back what it delivered."""
        self.pending("nack", message).record()

    def pending(self, event: str, message: str | int) -> Pending:
        """Take the place of an `ack` or `nack` in the history; it is recorded once the client has sent it."""
        with self._lock:
            return Pending(
                self._recorder,
                {"entity": self.name, "event": event, "message": _id(message), **self._stamped()},
            )

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

    def go_on(self, row: Mapping[str, Any]) -> None:
        """Take up one event that was recorded before, by a process that ended."""
        self._join(row.get("clock"))
        if row["event"] == "send":
            self._sent += 1
        self._run = self._run or f"{secrets.token_hex(3)}-"

    def _offered(self, row: Mapping[str, object], run: str) -> Offer:
        self._sent += 1
        name = str(row.get("message", f"{self.name}-{run}{self._sent}"))
        self._tick()
        stamped = self._stamped()
        headers = {MESSAGE: name, SENDER: self.name}
        if self._clock is not None:
            headers[CLOCK] = json.dumps(self._clock, separators=(",", ":"))
        send = {"entity": self.name, "event": "send", **row, "message": name, **stamped}
        local = {"entity": self.name, "event": "local", **stamped}
        return Offer(headers, Pending(self._recorder, send), Pending(self._recorder, local))

    def _received(
        self, event: str, headers: Mapping[str, Any], carried: Mapping[str, object] | None = None
    ) -> str:
        message, sender = _text(headers[MESSAGE]), _text(headers.get(SENDER, UNKNOWN_SENDER))
        clock = json.loads(_text(headers[CLOCK])) if CLOCK in headers else None
        with self._lock:
            if event == "deliver":
                self._join(clock)
                self._tick()
            row = {"entity": self.name, "event": event, "message": message, "sender": sender}
            self._write({**row, **(carried or {})})
        return message

    def _write(self, row: dict[str, object]) -> None:
        self._recorder.write({**row, **self._stamped()})

    def _stamped(self) -> dict[str, object]:
        """The place of an event that happens now."""
        # Nanoseconds as `seq`: a process that starts again goes on behind what it wrote before.
        now = time.time_ns()
        self._last = max(self._last + 1, now)
        stamped: dict[str, object] = {"seq": self._last, "time": _rfc3339(now)}
        if self.groups:
            stamped["group"] = list(self.groups)
        return stamped if self._clock is None else {**stamped, "clock": dict(self._clock)}

    def _tick(self) -> None:
        if self._clock is not None:
            self._clock[self.name] = self._clock.get(self.name, 0) + 1

    def _join(self, clock: Mapping[str, int] | None) -> None:
        if clock is None or self._clock is None:
            self._clock = None
            return
        for entity, count in clock.items():
            self._clock[entity] = max(count, self._clock.get(entity, 0))


def _send_row(
    message: str | int | None,
    to: Iterable[str | int] | None,
    attributes: Mapping[str, str | int | float] | None,
) -> dict[str, object]:
    """What a caller says of a send."""
    carried = _carried(attributes)
    if isinstance(to, str):
        raise TypeError(f"to={to!r} is one name; write to=[{to!r}]")
    named = {} if message is None else {"message": _id(message)}
    return {**named, **({} if to is None else {"dest": [_id(entity) for entity in to]}), **carried}


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
