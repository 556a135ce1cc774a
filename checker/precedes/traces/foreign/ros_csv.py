"""Messages of a topic of ROS as `rostopic echo -p` prints them, live or from a bag (`-b`): a header of the names of
fields, the first of which is `%time`, and a line for each message.

Cells have no quotation marks, and an array has as many cells as it has elements, so only a line with as many cells as
the header can be read. Which time `%time` is depends on the message: `_str_plot` of rostopic prints the stamp of one
that has a header, unless it reads a bag.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from precedes.core.diagnostics import usage
from precedes.core.suggestions import did_you_mean
from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import chosen, number, translated
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "message": "the fields that name a message, such as `field.header.frame_id,field.header.seq`; needed",
    "sender": "the field that names the sender; by default it is unknown",
    "topic": "the topic of the file, which its messages are then named after, too",
    "time": "what `%time` is: `received`, if the file comes from a bag; by default only where messages have no header",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the node that got the messages; by default the name of the file",
}

_TIME: Final = "%time"
_FIELD: Final = "field"
_STAMP: Final = "field.header.stamp"
_COUNT: Final = "field.header.seq"
_TIMES: Final = ("", "received")


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with the header that rostopic prints."""
    first, newline, _ = start.partition("\n")
    time, *others = first.removesuffix("\r").split(",")
    return bool(newline) and time == _TIME and all(each.startswith(_FIELD) for each in others)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    lines = rows.lines(source, ended=True)
    first = next(lines, None)
    if first is None:
        return
    names = first[1].split(",")
    if names[0] != _TIME:
        hint = "print it with `rostopic echo -p`"
        raise unreadable(
            "T010", f"the first column is {shown(names[0])}, not `{_TIME}`", source.shown, hint, 1
        )
    named = _columns(source, "message", names)
    sender = _columns(source, "sender", names)
    timed = chosen(source, "time", _TIMES) == "received" or _STAMP not in names
    common: Row = {
        "execution": rows.execution_of(source),
        "entity": rows.entity_of(source),
        "event": "deliver",
    }
    topic = [source.setting("topic")] if source.setting("topic") else []
    if topic:
        common["topic"] = topic[0]

    def rows_of(line: str) -> Iterator[Row]:
        if not named:
            hint = "say which fields do: --set message=field.header.frame_id,field.header.seq"
            raise RowError("T023", "nothing names this message", hint)
        cells = _cells(line, names)
        row: Row = {
            "message": _joined([*topic, *(_id(cells[name], name) for name in named)]),
            "sender": _id(cells[sender[0]], sender[0]) if sender else rows.SOMEBODY,
        }
        if timed:
            row["time"] = rows.seconds(number(cells[_TIME], _TIME))
        if _COUNT in cells:
            row["position"] = number(cells[_COUNT], _COUNT)
        yield common | row

    yield from rows.tables(source, translated(source, lines, rows_of), notices)


def _columns(source: TraceSource, setting: str, names: list[str]) -> list[str]:
    """The columns that a setting names. Raises PrecedesError (U001) for those that the file does not have."""
    stated = [each.strip() for each in source.setting(setting).split(",") if each.strip()]
    for each in stated:
        if each not in names:
            raise usage(
                f"`{setting}` names {each}, which is no column of {source.shown}", did_you_mean(each, names)
            )
    if setting == "sender" and len(stated) > 1:
        raise usage("`sender` names several columns", "name one")
    return stated


def _cells(line: str, names: list[str]) -> dict[str, str]:
    """The cells of a line by the names of their columns. Raises RowError (T017)."""
    cells = line.split(",")
    if len(cells) != len(names):
        hint = (
            "a text with commas or an array of another length moves the cells: print with --nostr or --noarr"
        )
        raise RowError("T017", f"there are {len(cells)} cells, and {len(names)} columns", hint)
    return dict(zip(names, cells, strict=True))


def _id(cell: str, name: str) -> str:
    """A part of an id. Raises RowError (T023)."""
    if not cell:
        raise RowError("T023", f"`{name}` is empty", "let publishers set it on every message")
    return cell


def _joined(parts: list[str]) -> str:
    """One name of several parts, in which no two lists of parts are one; a part by itself stands as it is."""
    if len(parts) == 1:
        return parts[0]
    return " ".join(part.replace("%", "%25").replace(" ", "%20") for part in parts)
