"""Histories of Jepsen: of its Kafka workload (`:send`, `:poll`, `:txn`), and of queues (`:enqueue`, `:dequeue`,
`:drain`), as EDN (`history.edn`) or as JSON.

An operation that ended with `:ok` happened, one with `:fail` did not. Of one that ended with `:info`, or never, nobody
knows. So such a send is no row; what delivers its message names its sender.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign import edn
from precedes.traces.foreign.rows import (
    SOMEBODY,
    TO_SOMEBODY,
    Row,
    execution_of,
    lines,
    parsed,
    refused,
    seconds,
    tables,
)
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {"execution": "the execution, if it is not named after the file"}

_TRANSACTIONS: Final = ("send", "poll", "txn")
_IGNORED: Final = ("subscribe", "assign", "crash", "debug-topic-partitions")
_KNOWN: Final = (*_TRANSACTIONS, "enqueue", "dequeue", "drain", *_IGNORED)
_OUTCOMES: Final = ("ok", "fail", "info")
_OF_EDN: Final = re.compile(
    r"\s*(;[^\n]*\n\s*)*[\[(]?\s*(#jepsen\.history\.Op\s*)?\{[^\n]*:type :(invoke|ok|info|fail)"
)
_OF_JSON: Final = re.compile(r'\s*\[?\s*\{[^{}\[\]]*"type"\s*:\s*"(invoke|ok|info|fail)"')


def recognizes(start: str, name: str) -> bool:
    """Whether the first operation has a type, a function and a process, and is no row of a trace."""
    first = start.lstrip().partition("\n")[0] if name else ""
    if _OF_EDN.match(start):
        return ":f " in start and ":process " in start
    return (
        bool(_OF_JSON.match(start)) and '"process"' in start and '"f"' in start and '"execution"' not in first
    )


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a history. Raises PrecedesError."""
    yield from tables(source, _rows(source), notices)


@dataclass(frozen=True, slots=True)
class _Operation:
    """What a client called, or how that ended (`type`); `entity` is its process."""

    line: int
    type: str
    what: str
    entity: str
    value: Any
    time: str | None


@dataclass(frozen=True, slots=True)
class _Message:
    """A message that an operation sent or got: its name, and its partition and place there, if it has one."""

    name: str
    partition: str | None = None
    position: object = None
    sent: bool = False


def _rows(source: TraceSource) -> Iterator[tuple[int, Row]]:
    execution = execution_of(source)
    found = [each for line, value in _values(source) if (each := _operation(source, line, value))]
    senders = _senders(source, found)
    for operation in found:
        if operation.type != "ok":
            continue
        for message in _messages(source, operation):
            row: Row = {"execution": execution, "entity": operation.entity, "message": message.name}
            row |= {"partition": message.partition, "position": message.position, "time": operation.time}
            if message.sent:
                yield operation.line, row | {"event": "send", "dest": list(TO_SOMEBODY)}
            else:
                yield (
                    operation.line,
                    row | {"event": "deliver", "sender": senders.get(message.name, SOMEBODY)},
                )


def _senders(source: TraceSource, operations: Sequence[_Operation]) -> dict[str, str | None]:
    """Who sent each message of which no row says it: the process that may have, nobody if it failed. None also of what
    was sent for certain: a row says it.
    """
    open_calls: dict[str, _Operation] = {}
    certain: dict[str, str | None] = {}
    failed: dict[str, str | None] = {}
    maybe: dict[str, str | None] = {}
    for operation in operations:
        if operation.type == "invoke":
            open_calls[operation.entity] = operation
            continue
        call = open_calls.pop(operation.entity, operation)
        match operation.type:
            case "ok":
                certain |= {each.name: None for each in _messages(source, operation) if each.sent}
            case "fail":
                failed |= {each.name: None for each in _called(source, call)}
            case _:
                maybe |= {each.name: call.entity for each in _called(source, call)}
    for call in open_calls.values():
        maybe |= {each.name: call.entity for each in _called(source, call)}
    return failed | maybe | certain


def _called(source: TraceSource, operation: _Operation) -> list[_Message]:
    """The messages that an operation was to send."""
    return [each for each in _messages(source, operation) if each.sent]


def _messages(source: TraceSource, operation: _Operation) -> Iterator[_Message]:
    """The messages of an operation, in its order. Raises PrecedesError."""
    if operation.value is None and (operation.type != "ok" or operation.what == "dequeue"):
        return
    if operation.what in _TRANSACTIONS:
        if not isinstance(operation.value, tuple | list):
            raise _wrong(source, operation.line, "value", operation.value)
        for step in operation.value:
            yield from _step(source, operation, step)
        return
    match operation.what, operation.value:
        case "enqueue", value:
            yield _Message(_text(value), sent=True)
        case "dequeue", value if operation.type == "ok":
            yield _Message(_text(value))
        case "drain", tuple() | list() as some if operation.type == "ok":
            yield from (_Message(_text(value)) for value in some)
        case "drain", value if operation.type == "ok":
            raise _wrong(source, operation.line, "value", value)
        case _:
            return


def _step(source: TraceSource, operation: _Operation, step: object) -> Iterator[_Message]:
    """The messages of a step of a transaction: `[:send key value]` or `[:poll {key [[offset value] ...]}]`."""
    match step:
        case ["send", key, [offset, value]]:
            yield _record(source, operation, key, offset, value, sent=True)
        case ["send", key, value]:
            yield _record(source, operation, key, None, value, sent=True)
        case ["poll"]:
            return
        case ["poll", dict() as polled]:
            for key, records in polled.items():
                if not isinstance(records, tuple | list):
                    raise _wrong(source, operation.line, "value", records)
                for record in records:
                    match record:
                        case [offset, value]:
                            yield _record(source, operation, key, offset, value, sent=False)
                        case _:
                            raise _wrong(source, operation.line, "value", record)
        case _:
            raise _wrong(source, operation.line, "value", step)


def _record(
    source: TraceSource, operation: _Operation, key: object, offset: object, value: object, *, sent: bool
) -> _Message:
    """A record of a partition. Its value is in the partition once, and so names it."""
    if offset is not None and (isinstance(offset, bool) or not isinstance(offset, int)):
        raise _wrong(source, operation.line, "value", offset)
    partition = _text(key)
    name = f"{partition.replace('%', '%25').replace(':', '%3A')}:{_text(value)}"
    return _Message(name, partition, offset, sent)


def _operation(source: TraceSource, line: int, value: object) -> _Operation | None:
    """An operation of a client; None for what the nemesis did, and for one about no message. Raises PrecedesError."""
    if not isinstance(value, dict):
        raise refused(
            source,
            line,
            RowError("T012", f"this is {shown(value)}, not an operation", "an operation is a map"),
        )
    fields: Mapping[str, Any] = {name: each for name, each in value.items() if isinstance(name, str)}
    process = fields.get("process")
    if isinstance(process, str) and not process.isdigit():
        return None
    for name in ("type", "f", "process"):
        if fields.get(name) is None:
            raise refused(source, line, RowError("T011", f"`{name}` is missing", "every operation has one"))
    if isinstance(process, bool) or not isinstance(process, int):
        raise _wrong(source, line, "process", process)
    kind, what = fields["type"], fields["f"]
    if kind not in ("invoke", *_OUTCOMES):
        raise _wrong(source, line, "type", kind)
    if what not in _KNOWN:
        hint = f"known are {', '.join(_KNOWN)}: this history is of no queue and no log"
        raise refused(source, line, RowError("T013", f"`f` is {shown(what)}", hint))
    time = fields.get("time")
    if time is not None and (isinstance(time, bool) or not isinstance(time, int)):
        raise _wrong(source, line, "time", time)
    if what in _IGNORED:
        return None
    return _Operation(
        line, kind, what, f"process {process}", fields.get("value"), None if time is None else seconds(time)
    )


def _values(source: TraceSource) -> Iterator[tuple[int, Any]]:
    """The operations of a file with their lines, from EDN or JSON. Raises PrecedesError."""
    text = "".join(f"{line}\n" for _, line in lines(source))
    if re.match(r'\s*\[?\s*\{\s*"', text):
        yield from _of_json(source, text)
        return
    try:
        yield from edn.values(text)
    except edn.Unreadable as error:
        raise refused(source, error.line, error.error) from error


def _of_json(source: TraceSource, text: str) -> Iterator[tuple[int, Any]]:
    """The operations of a JSON list, or of lines of JSON. Keywords are written as texts, perhaps with a colon."""
    if text.lstrip().startswith("["):
        found = parsed(source, 1, text)
        yield from ((1, _plain(each)) for each in found)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _plain(parsed(source, number, line))


def _plain(operation: object) -> object:
    """An operation whose names and keywords have no colons."""
    if not isinstance(operation, dict):
        return operation
    plain = {name.removeprefix(":"): value for name, value in operation.items()}
    for name in ("type", "f"):
        if isinstance(plain.get(name), str):
            plain[name] = plain[name].removeprefix(":")
    if isinstance(plain.get("value"), list):
        plain["value"] = [_without_colon(step) for step in plain["value"]]
    return plain


def _without_colon(step: object) -> object:
    if isinstance(step, list) and step and isinstance(step[0], str):
        return [step[0].removeprefix(":"), *step[1:]]
    return step


def _text(value: object) -> str:
    """A key or a value as text, in which values that are not equal are not alike."""
    match value:
        case str() if value:
            return str(value)
        case int() if not isinstance(value, bool):
            return str(value)
        case _:
            return json.dumps(_listed(value), sort_keys=True)


def _listed(value: object) -> object:
    match value:
        case tuple() | list():
            return [_listed(each) for each in value]
        case dict():
            return [[_listed(name), _listed(each)] for name, each in value.items()]
        case Decimal():
            return str(value)
        case _:
            return value


def _wrong(source: TraceSource, line: int, name: str, value: object) -> Exception:
    hint = "see docs/formats/jepsen.md for what is read"
    return refused(source, line, RowError("T012", f"`{name}` has {shown(value)}", hint))
