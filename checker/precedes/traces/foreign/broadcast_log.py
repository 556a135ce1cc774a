"""Logs of broadcasts, a file for each process: `b N` is its broadcast of its message N, `d S N` its delivery of message
N of process S. The course CS-451 of EPFL asks its students for such files.

The process is the number in the name of its file. A broadcast is for every process of the system: for those that a file
`hosts` beside the log lists (`NUMBER HOST PORT` in each line), else for those of which the trace knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.traces.arrow import arrow, pc
from precedes.traces.foreign.rows import entity_of, execution_of, lines, refused, table
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.sources import STANDARD_INPUT, TraceSource

SETTINGS: Final = {
    "entity": "the process that wrote the file, if its name has no number",
    "execution": "the execution, if it is not the folder of the files",
    "hosts": "the file that lists the processes, if it is not the file `hosts` beside the log",
}

_LINE: Final = r"(?:b|d 0*(?P<sender>[0-9]+)) 0*(?P<number>[0-9]+)"
_BROADCAST: Final = "b "
_WHOLE: Final = re.compile(_LINE.replace("(?P<sender>", "(").replace("(?P<number>", "("))
_NUMBER: Final = re.compile(r"[0-9]+")
_ROWS_AT_ONCE: Final = 1 << 18
_HOST: Final = re.compile(r"\s*0*([0-9]+)\s+\S+\s+[0-9]+\s*")


def recognizes(start: str, name: str) -> bool:
    """Whether all lines of the beginning of a file are broadcasts and deliveries, and its name has a number."""
    lines = start.split("\n")[:-1] if _NUMBER.search(name) else []
    return bool(lines) and all(_WHOLE.fullmatch(line.removesuffix("\r")) for line in lines)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of the log of a process. Raises PrecedesError."""
    process, execution, everybody = _process(source), execution_of(source), _everybody(source)
    if everybody and process not in everybody:
        raise unreadable(
            "T018",
            f"the file of hosts does not list process {process}",
            source.shown,
            "set `entity` to the process that wrote this log, or `hosts` to the right file",
        )
    rest = (line for _, line in lines(source, ended=True))
    first = 1
    while some := list(islice(rest, _ROWS_AT_ONCE)):
        columns = _columns(source, some, first, process)
        columns |= {
            "execution": arrow.repeat(execution, len(some)),
            "entity": arrow.repeat(process, len(some)),
        }
        if everybody:
            columns["dest"] = _addressed(columns["event"], everybody)
        yield table(source, arrow.table(columns), np.arange(first, first + len(some)).tolist(), notices)
        first += len(some)


def named_texts(source: TraceSource) -> dict[str, str]:
    """The text of the file of hosts, if there is one. Raises PrecedesError (T003)."""
    path = _place_of_hosts(source)
    return {} if path is None else {"hosts": _hosts(source, path)}


def _columns(source: TraceSource, lines: list[str], first: int, process: str) -> dict[str, Any]:
    """What happened, by line. Raises PrecedesError (T007)."""
    text = arrow.array(lines, arrow.string())
    # Arrow's regular expressions match to the end of a line only where they are told to.
    parts = pc.extract_regex(text, pattern=rf"\A{_LINE}\z")
    if parts.null_count:
        at = pc.index(parts.is_null(), True).as_py()
        wrong = RowError(
            "T007",
            f"this line is {shown(lines[at])}",
            "a broadcast is `b NUMBER`, a delivery `d PROCESS NUMBER`",
        )
        raise refused(source, first + at, wrong)
    broadcast = pc.starts_with(text, _BROADCAST)
    sender = pc.if_else(broadcast, process, pc.struct_field(parts, "sender"))
    return {
        "event": pc.if_else(broadcast, "send", "deliver"),
        "message": pc.binary_join_element_wise(sender, pc.struct_field(parts, "number"), ":"),
        "sender": pc.if_else(broadcast, arrow.scalar(None, arrow.string()), sender),
    }


def _addressed(events: Any, everybody: tuple[str, ...]) -> Any:
    """The destinations of each row: those of a send, none of another."""
    lists = arrow.array([list(everybody), None], arrow.list_(arrow.string()))
    return lists.take(pc.cast(pc.not_equal(events, "send"), arrow.int64()))


def _process(source: TraceSource) -> str:
    """The number of the process that wrote a file. Raises PrecedesError (T011)."""
    named = entity_of(source)
    if source.setting("entity") or dict(source.stated).get("entity"):
        return named
    numbers = _NUMBER.findall(named)
    if not numbers:
        raise unreadable(
            "T011",
            "the name of the file has no number of a process",
            source.shown,
            "name the file after the process, such as 1.output, or set `entity`",
        )
    return numbers[-1].lstrip("0") or "0"


def _everybody(source: TraceSource) -> tuple[str, ...]:
    """The processes that a file of hosts lists; none if there is no such file. Raises PrecedesError."""
    path = _place_of_hosts(source)
    if path is None:
        return ()
    found = [_HOST.fullmatch(line) for line in _hosts(source, path).splitlines() if line.strip()]
    if not all(found):
        hint = "each line is `NUMBER HOST PORT`; set `hosts` to the file that lists the processes"
        at = found.index(None) + 1
        raise unreadable("T007", "this line does not name a process, a host and a port", str(path), hint, at)
    return tuple(dict.fromkeys(match[1] for match in found if match))


def _place_of_hosts(source: TraceSource) -> Path | None:
    """The file of hosts: the one that is set, else the one beside the log, if there is one."""
    if stated := source.setting("hosts"):
        return Path(stated)
    beside = Path(source.path).parent / "hosts"
    there = source.text("hosts") is not None or (source.path != STANDARD_INPUT and beside.is_file())
    return beside if there else None


def _hosts(source: TraceSource, path: Path) -> str:
    """The text of a file of hosts. Raises PrecedesError (T003)."""
    if (carried := source.text("hosts")) is not None:
        return carried
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable("T003", f"cannot be read: {error}", str(path)) from error
