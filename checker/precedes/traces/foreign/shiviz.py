r"""Logs of ShiViz, TSViz and GoVector: text with vector clocks, taken apart by a regular expression with the groups
`host`, `clock` and `event`, written as JavaScript writes it: `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`.

A file may begin with this expression and with the one between executions, each on a line, as both tools take it.
A clock counts every event of its host, so the host's own number in it is the place of the event. What is a send or a
delivery stands in no such log. The user says it with regular expressions over the text of events.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from precedes.core.diagnostics import usage
from precedes.core.execution import WITHOUT_MESSAGE, Event, EventKind, Execution
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
from precedes.traces.formats.registry import BY_SUFFIX
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.schema import INPUT_COLUMNS, LIBRARY
from precedes.traces.sources import TraceSource

KINDS: Final = {
    "send": EventKind.SEND,
    "deliver": EventKind.DELIVER,
    "ack": EventKind.ACK,
    "crash": EventKind.CRASH,
    "recover": EventKind.RECOVER,
}
"""What a regular expression over the text of events can say that an event is, by its setting."""

SETTINGS: Final = {
    "regex": "a regular expression with the groups `host`, `clock` and `event`, as ShiViz has it",
    "delimiter": "a regular expression for what stands between executions; its group `trace` names the next one",
    "skip": "a regular expression for lines that are no events",
    "send": "a regular expression for events that are sends, with the group `message`, perhaps `dest`",
    "deliver": "one for deliveries, with the group `message`, perhaps `sender`",
    "ack": "one for acknowledgements, with the group `message`",
    "crash": "one for crashes",
    "recover": "one for recoveries",
    "dest": "whom every message is for, if the log does not say it: `*` is everybody, `a;b` are two",
    "time": "what the groups `date` or `timestamp` are: s, ms, us, ns, or a pattern such as %Y-%m-%d %H:%M:%S.%f",
    "execution": "the execution, if it is not named after the file",
}

REGEX: Final = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)"
"""The expression for events with which a written log begins."""
BETWEEN: Final = r"^=== (?<trace>.*) ===$"
"""The one between its executions."""
SENDS: Final = r"^send (?<message>\S+) to(?<dest>.*)$"
DELIVERIES: Final = r"^deliver (?<message>\S+)"
"""What this module has to be told to read the messages in it again."""

_HEAD: Final = r"(?P<host>\S++) (?P<clock>\{.*\})"
_HEAD_FIRST: Final = rf"^{_HEAD}\n(?P<event>.*)$"
_EVENT_FIRST: Final = rf"^(?P<event>.*)\n{_HEAD}$"
"""The defaults of GoVector and of ShiViz."""
_STATED: Final = re.compile(r"\(\?<(?:host|clock|event)>")
"""What stands only in a regular expression for events."""
_HEAD_LINE: Final = re.compile(_HEAD)
_GROUPS: Final = ("host", "clock", "event")
_TIMES: Final = ("timestamp", "date")
_EVERYBODY: Final = "*"
_UNITS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_APART: Final = re.compile(r"[,;\s]+")


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an event as GoVector or ShiViz write it, or with an expression for events, and is not
    named as a trace is.
    """
    lines = [line.removesuffix("\r") for line in start.split("\n")[:2]]
    if len(lines) < 2 or Path(name).suffix.lower() in BY_SUFFIX:
        return False
    if _STATED.search(lines[0]):
        return True
    heads = [match for line in lines if (match := _HEAD_LINE.fullmatch(line))]
    return len(heads) == 1 and f'"{heads[0]["host"]}"' in heads[0]["clock"]


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a log. Raises PrecedesError."""
    yield from read_as(source, notices, default)


def read_as(
    source: TraceSource, notices: Notices, usual: Callable[[str], re.Pattern[str]]
) -> Iterator[pa.Table]:
    """Canonical tables of a log. `usual` has the expression for a text, if nobody states one. Raises PrecedesError."""
    yield from tables(source, _rows(source, usual), notices)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the regular expression found: the event at a line of the file, with its clock and the other groups."""

    line: int
    host: str
    clock: dict[str, Any]
    text: str
    groups: Mapping[str, str | None]


def _rows(source: TraceSource, usual: Callable[[str], re.Pattern[str]]) -> Iterator[tuple[int, Row]]:
    source, read = _with_header(source, [line for _, line in lines(source, ended=True)])
    text = "".join(f"{line}\n" for line in read)
    regex = _pattern(source, "regex", _GROUPS) or usual(text)
    kinds = {
        kind: pattern
        for name, kind in KINDS.items()
        if (pattern := _pattern(source, name, () if kind in WITHOUT_MESSAGE else ("message",)))
    }
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for execution, first, last in _executions(source, text, starts):
        found = list(_found(source, regex, text, (first, last), starts))
        told = [(each, *_kind(source, each, kinds)) for each in found]
        sent = {match["message"] for _, kind, match in told if kind is EventKind.SEND and match}
        for each, kind, match in told:
            yield each.line, _row(source, each, kind, match, sent) | {"execution": execution}


def _with_header(source: TraceSource, read: list[str]) -> tuple[TraceSource, list[str]]:
    """The expressions with which a log begins as settings, unless the user sets them, and its lines without them."""
    if not read or not _STATED.search(read[0]):
        return source, read
    stated = (("regex", read[0].strip()), ("delimiter", "".join(read[1:2]).strip()))
    return replace(source, settings=(*stated, *source.settings)), ["", "", *read[2:]]


def _row(
    source: TraceSource, found: _Found, kind: EventKind, match: re.Match[str] | None, sent: set[str | Any]
) -> Row:
    """The row of an event; `sent` are the messages whose sends are in this log. Raises PrecedesError."""
    row: Row = {
        "entity": found.host,
        "seq": found.clock[found.host],
        "clock": found.clock,
        "event": kind.value,
    }
    row |= _kept(source, found.groups)
    row["time"] = _time(source, found)
    if match is None or kind in WITHOUT_MESSAGE:
        return row
    said = match.groupdict()
    row["message"] = said["message"]
    if kind is EventKind.SEND:
        row["dest"] = _destinations(source, said.get("dest"))
    elif sender := said.get("sender") or (None if said["message"] in sent else SOMEBODY):
        row["sender"] = sender
    return row


def _destinations(source: TraceSource, found: str | None) -> list[str] | None:
    """Whom a message is for: as its send says, or as set; None is everybody."""
    stated = source.setting("dest") if found is None else found
    if found is None and not stated:
        return list(TO_SOMEBODY)
    return None if stated.strip() == _EVERYBODY else [each for each in _APART.split(stated) if each]


def _kept(source: TraceSource, groups: Mapping[str, str | None]) -> Row:
    """The other groups that a trace has as columns: attributes that the library declares or somebody asks for."""
    names = {name for name in groups if name in LIBRARY or source.reads(name)}
    return {name: groups[name] for name in names - {*_GROUPS, *_TIMES, *INPUT_COLUMNS}}


def _kind(
    source: TraceSource, found: _Found, kinds: Mapping[EventKind, re.Pattern[str]]
) -> tuple[EventKind, re.Match[str] | None]:
    """What an event is, with what the user's regular expression found in it. Raises PrecedesError for two answers."""
    matches = {kind: match for kind, pattern in kinds.items() if (match := pattern.search(found.text))}
    if len(matches) > 1:
        names = " and ".join(f"`{name}`" for name, kind in KINDS.items() if kind in matches)
        hint = "change the regular expressions so that one of them finds it"
        raise refused(
            source, found.line, RowError("T013", f"{names} both find the event {shown(found.text)}", hint)
        )
    return next(iter(matches.items()), (EventKind.LOCAL, None))


def _time(source: TraceSource, found: _Found) -> str | None:
    """When an event happened, if the user says how the log writes times. Raises PrecedesError (T016)."""
    how = source.setting("time")
    written = next((value for name in _TIMES if (value := found.groups.get(name))), None)
    if not how or written is None:
        return None
    try:
        if how in _UNITS:
            return seconds(int(written) * _UNITS[how])
        moment = datetime.strptime(written, how)  # noqa: DTZ007  (what has no offset is taken for UTC)
    except ValueError as error:
        wrong = RowError("T016", f"the time is {shown(written)}", f"the setting `time` says {how}")
        raise refused(source, found.line, wrong) from error
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return seconds(since // timedelta(microseconds=1) * 1000)


def _found(
    source: TraceSource, regex: re.Pattern[str], text: str, part: tuple[int, int], starts: list[int]
) -> Iterator[_Found]:
    """The events of one execution. Raises PrecedesError for lines that are neither events nor skipped."""
    first, last = (bisect_right(starts, place) for place in part)
    skip = _pattern(source, "skip", ())
    expected = first
    for match in regex.finditer(text, *part):
        line = bisect_right(starts, match.start())
        _refuse_others(source, text, part, starts, (expected, line), skip)
        expected = bisect_right(starts, max(match.start(), match.end() - 1)) + 1
        if match.start("event") == len(text):
            hint = "the file may be cut off: copy it again"
            raise refused(source, line, RowError("T007", "the log ends before the text of this event", hint))
        groups = match.groupdict()
        host = groups["host"] or ""
        clock = _clock(source, line, groups["clock"] or "", host)
        yield _Found(line, host, clock, groups["event"] or "", groups)
    _refuse_others(source, text, part, starts, (expected, last + 1), skip)


def _refuse_others(
    source: TraceSource,
    text: str,
    part: tuple[int, int],
    starts: list[int],
    lines: tuple[int, int],
    skip: re.Pattern[str] | None,
) -> None:
    """Raise PrecedesError (T007) for the first of some lines of a part that must be blank or skipped, and is not."""
    for line in range(*lines):
        end = starts[line] if line < len(starts) else len(text)
        content = text[max(starts[line - 1], part[0]) : min(end, part[1])].strip()
        if content and not (skip and skip.search(content)):
            hint = (
                "set `regex` to one that finds every event, or `skip` to one that finds lines that are none"
            )
            raise refused(source, line, RowError("T007", f"this line is in no event: {shown(content)}", hint))


def _clock(source: TraceSource, line: int, written: str, host: str) -> dict[str, Any]:
    """A clock that counts the event of its host. Raises PrecedesError (T012, T026)."""
    clock = parsed(source, line, written)
    if not isinstance(clock, dict):
        raise refused(source, line, RowError("T012", f"the clock is {shown(clock)}", "it is a JSON object"))
    own = clock.get(host)
    if isinstance(own, bool) or not isinstance(own, int) or own < 1:
        message = f"the clock of {shown(host)} has {shown(own)} for {shown(host)} itself"
        hint = "the clock of an event counts the event; is `host` the right group?"
        raise refused(source, line, RowError("T026", message, hint))
    return clock


def _executions(source: TraceSource, text: str, starts: list[int]) -> Iterator[tuple[str, int, int]]:
    """Each execution with its beginning and end in the text. Raises PrecedesError (T008) for a name twice."""
    delimiter = _pattern(source, "delimiter", ())
    if delimiter is None:
        yield execution_of(source), 0, len(text)
        return
    matches = list(delimiter.finditer(text))
    labels = [None, *(match.groupdict().get("trace") for match in matches)]
    cuts = [0, *(place for match in matches for place in match.span()), len(text)]
    seen: set[str] = set()
    for number, (label, (first, last)) in enumerate(zip(labels, list(pairwise(cuts))[::2], strict=True)):
        if not text[first:last].strip():
            continue
        name = label or (execution_of(source) if number == 0 else f"{execution_of(source)} {number}")
        if name in seen:
            wrong = RowError("T008", f"two executions are named {shown(name)}", "each has a name of its own")
            raise refused(source, bisect_right(starts, first), wrong)
        seen.add(name)
        yield name, first, last


def _pattern(source: TraceSource, setting: str, groups: tuple[str, ...]) -> re.Pattern[str] | None:
    """The regular expression of a setting; None where it is not set. Raises PrecedesError (U001)."""
    written = source.setting(setting)
    if not written:
        return None
    named = re.sub(r"\(\?<(?=[^=!])", "(?P<", written)
    try:
        pattern = re.compile(re.sub(r"\\k<(\w+)>", r"(?P=\1)", named), re.ASCII | re.MULTILINE)
    except re.error as error:
        raise usage(f"the setting `{setting}` is not a regular expression: {error}", written) from error
    if lacking := [name for name in groups if name not in pattern.groupindex]:
        listed = ", ".join(f"(?<{name}>...)" for name in lacking)
        raise usage(f"the setting `{setting}` has no group {listed}", written)
    return pattern


def default(text: str) -> re.Pattern[str]:
    """The regular expression that fits the first line, of those that GoVector and ShiViz have by default."""
    first = text.lstrip("\n").partition("\n")[0]
    return re.compile(_HEAD_FIRST if _HEAD_LINE.fullmatch(first) else _EVENT_FIRST, re.ASCII | re.MULTILINE)


# ---- writing -------------------------------------------------------------------------------------------------------


def write(executions: Iterable[Execution], path: Path) -> int:
    """Write executions as one log of ShiViz, which begins with the expressions that ShiViz needs. Returns the number of
    events. Raises PrecedesError (U001) if the events of an execution have no common order.
    """
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as log:
        log.write(f"{REGEX}\n{BETWEEN}\n")
        for execution in executions:
            name = execution.name.replace("\n", " ")
            log.write(f"=== {name} ===\n{written(execution)}")
            count += sum(len(history.events) for history in execution.histories)
    return count


def written(execution: Execution) -> str:
    """An execution as a log of ShiViz, without expressions. Every event counts. Blanks in names are escaped.

    Raises PrecedesError (U001) if the events have no common order.
    """
    lines: list[str] = []
    for entity, event, clock in _clocked(execution):
        counts = ", ".join(f'"{_escaped(name)}":{count}' for name, count in clock.items())
        lines += [f"{_escaped(entity)} {{{counts}}}", _said(execution, event)]
    return "".join(f"{line}\n" for line in lines)


def _clocked(execution: Execution) -> Iterator[tuple[str, Event, dict[str, int]]]:
    """The events in an order in which each comes after what it knows of, with the clocks that they imply."""
    clocks: dict[str, dict[str, int]] = {entity: {} for entity in execution.entities}
    sent: dict[str, dict[str, int]] = {}
    waiting = {history.entity: list(history.events) for history in execution.histories}
    while any(waiting.values()):
        before = sum(map(len, waiting.values()))
        for entity, events in waiting.items():
            while events and _ready(execution, events[0], sent):
                event = events.pop(0)
                known = sent.get(event.message or "", {}) if event.kind is execution.delivery else {}
                own = clocks[entity]
                merged = {name: max(own.get(name, 0), known.get(name, 0)) for name in (*own, *known)}
                clocks[entity] = merged | {entity: own.get(entity, 0) + 1}
                if event.kind is EventKind.SEND and event.message:
                    sent.setdefault(event.message, clocks[entity])
                yield entity, event, clocks[entity]
        if sum(map(len, waiting.values())) == before:
            raise usage(
                f"the events of {execution.name} have no common order",
                "a message is delivered before it is sent",
            )


def _ready(execution: Execution, event: Event, sent: Mapping[str, dict[str, int]]) -> bool:
    """Whether what an event knows of has happened: the send of the message that it delivers, if somebody logged it."""
    if event.kind is not execution.delivery or event.message is None:
        return True
    return event.message in sent or not execution.messages[event.message].logged


def _said(execution: Execution, event: Event) -> str:
    """An event in words, with its message."""
    if event.message is None:
        return event.kind.value
    said = f"{event.kind.value} {_escaped(event.message)}"
    if event.kind is not EventKind.SEND:
        return said
    message = execution.messages[event.message]
    to = [*sorted(message.destinations or ()), *(f"group:{name}" for name in sorted(message.groups))]
    return " ".join([said, "to", *map(_escaped, to)])


def _escaped(name: str) -> str:
    """A name without what would end it, in which no two names are one."""
    return re.sub(r'[\s%,;"\\]', lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)
