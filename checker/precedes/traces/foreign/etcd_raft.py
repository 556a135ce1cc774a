"""Traces that etcd's Raft writes for its TLA+ specification: a JSON object on each line, whose `event` is a step of a
node. state_trace.go and tla/README.md of etcd-io/raft say what is in it.

Messages have no names and no clocks. What a message says names it, as long as it was sent once: two heartbeats of a
term look alike, and then nothing says which of them a node got. Only the trace of all nodes shows what looks alike.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import Fields, chosen, text, translated, whole
from precedes.traces.formats.values import RowError, parse_json, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "alike": "what messages that look alike become: `refused`, or `local` events, which carry no message",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
}

_TAG: Final = "trace"
_STEP: Final = frozenset({"name", "nid", "state", "role"})
_REFUSED, _LOCAL = "refused", "local"
_NUMBERS: Final = ("term", "logTerm", "index", "entries", "commit", "rejectHint")

_Step = tuple[str, str, str | None, Any]
"""A node, what it did, the name of the message that this is about, and when."""


def recognizes(start: str, name: str) -> bool:
    """Whether one of the first lines is a step of a node."""
    return any('"event"' in line and _is_step(line) for line in start.split("\n")[:20])


def _is_step(line: str) -> bool:
    try:
        value = parse_json(line)
    except (RowError, json.JSONDecodeError, ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or "execution" in value or not isinstance(value.get("event"), dict):
        return False
    return _STEP.issubset(value["event"])


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a trace. Raises PrecedesError."""
    common: Row = {"execution": rows.execution_of(source)}
    local = chosen(source, "alike", (_REFUSED, _LOCAL)) == _LOCAL
    steps = list(_steps(source))
    nodes = {node for _, (node, _, _, _) in steps}
    sent = Counter(name for _, (_, kind, name, _) in steps if name is not None and kind == "send")

    def rows_of(step: _Step) -> Iterator[Row]:
        node, kind, name, time = step
        row = common | {"entity": node, "event": "local", "time": time}
        if name is not None and sent[name] > 1 and not local:
            hint = (
                "set `alike` to local: then these are events without messages, and nothing is asked of them"
            )
            raise RowError("T027", f"{sent[name]} messages look alike: {name}", hint)
        if name is not None and sent[name] <= 1:
            sender, receiver = _ends(name)
            if sender not in nodes:
                hint = "write the traces of all nodes into one file, one after the other"
                raise RowError(
                    "T027", f"node {sender} sent this message, and has no steps in this file", hint
                )
            row |= {"event": kind, "message": name}
            row |= {"dest": [receiver]} if kind == "send" else {"sender": sender}
        yield row

    yield from rows.tables(source, translated(source, steps, rows_of), notices)


def _steps(source: TraceSource) -> Iterator[tuple[int, _Step]]:
    """The steps, each with its line. Lines of a log that are none are left out. Raises PrecedesError."""
    for number, line in rows.objects(source):
        event = line.get("event")
        if line.get("tag", _TAG) != _TAG or not isinstance(event, dict):
            if line.get("tag") == _TAG:
                raise rows.refused(
                    source, number, RowError("T012", f"`event` is {shown(event)}", "it is an object")
                )
            continue
        try:
            yield number, _step(event, line.get("ts"))
        except RowError as error:
            raise rows.refused(source, number, error) from error


def _step(event: Fields, time: object) -> _Step:
    """What a node did. Raises RowError."""
    node, what = text(event, "nid"), text(event, "name")
    message = event.get("msg")
    if message is None:
        return node, "local", None, time
    if not isinstance(message, dict):
        raise RowError("T012", f"`msg` is {shown(message)}", "it is an object")
    kind = "send" if what.startswith("Send") else "deliver" if what.startswith("Receive") else None
    if kind is None:
        raise RowError("T013", f"`name` is {shown(what)}, and there is a `msg`", "Send... or Receive...")
    end = "from" if kind == "send" else "to"
    if text(message, end) != node:
        raise RowError("T012", f"`nid` is {shown(node)}, and `{end}` of `msg` is {shown(message[end])}", None)
    return node, kind, _name(message), time


def _name(message: Mapping[str, Any]) -> str:
    """Everything that a message says; what is 0 is left out. Raises RowError."""
    vote, reject = text(message, "vote"), message.get("reject")
    if not isinstance(reject, bool):
        raise RowError("T012", f"`reject` is {shown(reject)}", "it is true or false")
    said = {name: whole(message, name) for name in _NUMBERS}
    parts = [f"{name}={number}" for name, number in said.items() if number]
    parts += [f"vote={vote}"] if vote != "0" else []
    parts += ["reject"] if reject else []
    return " ".join([_plain(message, "type"), f"{_plain(message, 'from')}>{_plain(message, 'to')}", *parts])


def _plain(message: Mapping[str, Any], name: str) -> str:
    """A word without what divides a name. Raises RowError."""
    found = text(message, name)
    if not (found.isascii() and found.isalnum()):
        raise RowError("T012", f"`{name}` is {shown(found)}", "it has letters and digits only")
    return found


def _ends(name: str) -> tuple[str, str]:
    """The sender and the receiver of a message."""
    sender, _, receiver = name.split(" ")[1].partition(">")
    return sender, receiver
