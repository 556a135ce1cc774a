"""Console logs of Maelstrom with `--log-net-send` and `--log-net-recv`: a line for each message that is sent or got.

A receipt is what the network delivered to the program of the node. What the program then delivers to its user stands in
no such log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign import edn
from precedes.traces.foreign.rows import Row, execution_of, lines, refused, tables
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.schema import INPUT_COLUMNS
from precedes.traces.sources import TraceSource

SETTINGS: Final = {"execution": "the execution, if it is not named after the file"}

_LINE: Final = re.compile(r"\bmaelstrom\.net:? :(?P<event>send|recv) (?P<message>.*)")


def recognizes(start: str, name: str) -> bool:
    """Whether a file has lines of the network of Maelstrom."""
    return bool(name) and any(_LINE.search(line) for line in start.split("\n")[:-1])


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a log. Raises PrecedesError."""
    yield from tables(source, _rows(source), notices)


def _rows(source: TraceSource) -> Iterator[tuple[int, Row]]:
    execution = execution_of(source)
    found = [(number, match) for number, line in lines(source, ended=True) if (match := _LINE.search(line))]
    events = [(number, match["event"], _message(source, number, match["message"])) for number, match in found]
    sent = {message["id"] for _, event, message in events if event == "send"}
    for number, event, message in events:
        row: Row = {"execution": execution, "message": str(message["id"])} | _body(
            source, message.get("body")
        )
        if event == "send":
            yield number, row | {"event": "send", "entity": message["src"], "dest": [message["dest"]]}
        else:
            sender = None if message["id"] in sent else message["src"]
            yield number, row | {"event": "deliver", "entity": message["dest"], "sender": sender}


def _message(source: TraceSource, line: int, text: str) -> dict[str, Any]:
    """A message of the network. Raises PrecedesError (T007, T012, T027)."""
    try:
        found = [value for _, value in edn.values(text, line)]
    except edn.Unreadable as error:
        raise refused(source, line, error.error) from error
    if len(found) != 1 or not isinstance(found[0], dict):
        wrong = RowError(
            "T007", f"this is no message: {shown(text)}", "it is `#maelstrom.net.message.Message{...}`"
        )
        raise refused(source, line, wrong)
    message = found[0]
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        hint = "Maelstrom gives every message of the network an id: is this its own log?"
        raise refused(source, line, RowError("T027", f"the id of the message is {shown(number)}", hint))
    for name in ("src", "dest"):
        if not isinstance(message.get(name), str):
            wrong = RowError("T012", f"`{name}` is {shown(message.get(name))}", "nodes are named by texts")
            raise refused(source, line, wrong)
    return message


def _body(source: TraceSource, body: object) -> Row:
    """What a body says that somebody declared as an attribute, such as its `type`."""
    if not isinstance(body, dict):
        return {}
    names = [
        name for name in body if isinstance(name, str) and name not in INPUT_COLUMNS and source.reads(name)
    ]
    return {str(name): body[name] for name in names if isinstance(body[name], str | int)}
