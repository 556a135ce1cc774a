"""One row, exactly: from the values as written to canonical values, or to what is wrong with them.

This defines what a row means. `precedes.traces.formats.canonical_columns` does the same for whole columns,
and leaves every row about which it is not certain to this module. Values are those of `json.loads` with
`parse_float=Decimal`. Cells of CSV go through `from_cells` first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Final, assert_never

from precedes.core.execution import EVENT_CODES, WITHOUT_MESSAGE, EventKind
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.suggestions import Synonyms, did_you_mean
from precedes.traces import notices as notice
from precedes.traces.notices import Notices
from precedes.traces.schema import EVENT_NAMES

ONE_EACH: Final = "write one JSON object per line"
INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)
# The least int64 is what the columns use for "no time".
TIME_MIN: Final = INT64_MIN + 1
NANOSECONDS: Final = 10**9
_LEAST_EXPONENT: Final = -400
"""Of a time: beyond that of any binary float."""
_MOST_DIGITS: Final = 20
_TRUTHS: Final = {"true": 1, "false": 0}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"-?\d+", re.ASCII)
_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_EXACT = Context(prec=60)

_OTHER_WORDS: Final[Synonyms] = {
    ("sent", "produce", "produced", "publish", "published", "emit", "emitted"): (EventKind.SEND.value,),
    ("delivered", "delivery", "consume", "consumed", "process", "processed", "apply", "applied"): (
        EventKind.DELIVER.value,
    ),
    ("arrived", "arrival"): (EventKind.ARRIVE.value,),
    ("discarded", "drop", "dropped"): (EventKind.DISCARD.value,),
    ("crashed", "stop", "stopped", "fail", "failed"): (EventKind.CRASH.value,),
    ("recovered", "restart", "restarted"): (EventKind.RECOVER.value,),
    ("rebalance", "rebalanced", "membership"): (EventKind.VIEW.value,),
    ("internal", "step", "compute"): (EventKind.LOCAL.value,),
    ("acked", "acknowledge", "acknowledged", "commit", "committed", "complete"): (EventKind.ACK.value,),
    ("nacked", "reject", "rejected", "requeue", "requeued", "abandon"): (EventKind.NACK.value,),
}
"""What other vocabularies call events."""

DEST_IGNORED: Final = "`dest` on rows that are not sends is ignored"
MESSAGE_IGNORED: Final = "`message` on crash, recover, view and local rows is ignored"
COMMA: Final = "cells of `dest` have a comma in them: B,C is one entity, B;C are two"
VIEW_IGNORED: Final = (
    "`view` on rows that are not views is ignored: the view of an event is the last one installed before it"
)


class RowError(Exception):
    """What is wrong with a row, and what would be right; the readers add file and row."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Row:
    """The canonical values of one row, but for where it was read; `attributes` by name."""

    execution: str
    entity: str
    seq: int | None
    event: int
    message: str | None
    dest: list[str] | None
    sender: str | None
    time: int | None
    clock: list[tuple[str, int]] | None
    vector: list[int] | None
    redelivered: bool | None
    view: str | None
    members: list[str] | None
    group: list[str] | None
    attributes: Mapping[str, str | int | None]


def canonical_row(raw: Mapping[str, object], notices: Notices, attributes: Sequence[Attribute] = ()) -> Row:
    """The canonical values of a row, with some attributes; raises RowError for the first thing that is wrong."""

    def optional_id(column: str) -> str | None:
        value = raw.get(column)
        return None if value is None else id_text(value, f"`{column}`")

    def required_id(column: str, needed_by: str) -> str:
        value = raw.get(column)
        if value is None:
            raise RowError("T011", f"`{column}` is missing", f"every {needed_by} has one")
        return id_text(value, f"`{column}`")

    execution = required_id("execution", "row")
    entity = required_id("entity", "row")
    kind = _event(raw.get("event"))
    message, dest = None, None
    if kind not in WITHOUT_MESSAGE:
        message = required_id("message", f"{kind.value} row")
    elif optional_id("message") is not None:
        notices.count(notice.VALUE_IGNORED, MESSAGE_IGNORED, 1)
    stated = None if raw.get("dest") is None else _ids(raw["dest"], "dest")
    if kind is EventKind.SEND:
        dest = stated
    elif stated is not None:
        notices.count(notice.VALUE_IGNORED, DEST_IGNORED, 1)
    seq = _whole(raw.get("seq"), "seq")
    if seq is not None and seq < 0:
        raise RowError("T015", f"`seq` is {seq}", "places in a history count from 0 or 1 upward")
    clock, vector = _clock(raw.get("clock"))
    redelivered = raw.get("redelivered")
    if redelivered is not None and not isinstance(redelivered, bool):
        raise RowError("T012", f"`redelivered` is {shown(redelivered)}", "write true or false")
    members, group = raw.get("members"), raw.get("group")
    view = optional_id("view")
    if view is not None and kind is not EventKind.VIEW:
        view = None
        notices.count(notice.VALUE_IGNORED, VIEW_IGNORED, 1)
    return Row(
        execution=execution,
        entity=entity,
        seq=seq,
        event=EVENT_CODES[kind],
        message=message,
        dest=dest,
        sender=optional_id("sender"),
        time=_time(raw.get("time"), "time"),
        clock=clock,
        vector=vector,
        redelivered=redelivered,
        view=view,
        members=None if members is None else _ids(members, "members"),
        group=None if group is None else _groups(group),
        attributes={each.name: attribute_value(raw.get(each.name), each) for each in attributes},
    )


def attribute_value(value: object, attribute: Attribute) -> str | int | None:
    """The value of an attribute: a text, a whole number, nanoseconds; None for one that is absent. Raises RowError."""
    if value is None:
        return None
    match attribute.sort:
        case AttributeSort.TEXT:
            return _text(value, attribute.name)
        case AttributeSort.NUMBER:
            return _number(value, attribute.name)
        case AttributeSort.TIME:
            return _time(value, attribute.name)
        case AttributeSort.DURATION:
            return _duration(value, attribute.name)
        case sort:
            assert_never(sort)


def as_text(value: object) -> str | None:
    """A value of a column that nobody has declared yet, as the text from which each sort reads what it reads from the
    value; None for what is no value of any sort. Raises RowError.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return _decimal(value, "a number")
        case str():
            return str(value)
        case float():
            return as_text(Decimal(repr(value)))
        case Decimal():
            return str(value) if value.is_finite() else None
        case _:
            return None


def _text(value: object, name: str) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case "":
            return value
        case int() | str():
            return id_text(value, f"`{name}`")
        case _:
            raise RowError(
                "T012", f"`{name}` is {shown(value)}, not a text", "write text, a whole number, true or false"
            )


def _number(value: object, name: str) -> int:
    """A whole number, also one that is written as 5.0, as text, or as true or false."""
    match value:
        case int():
            given: int | None = int(value)
        case str():
            given = _TRUTHS.get(value, _integer(_exact(value)) if _NUMBER.fullmatch(value) else None)
        case float():
            given = _integer(Decimal(repr(value)))
        case Decimal():
            given = _integer(value)
        case _:
            given = None
    if given is None:
        raise RowError("T012", f"`{name}` is {shown(value)}, not a whole number", "write a whole number")
    if not TIME_MIN <= given <= INT64_MAX:
        raise RowError("T015", f"`{name}` is {shown(value)}", "whole numbers have at most 64 bits")
    return given


def _integer(number: Decimal) -> int | None:
    """A number without a fraction; of one that is far out of range only that."""
    if not number.is_finite() or (number and number.adjusted() < 0):
        return None
    if number and number.adjusted() > _MOST_DIGITS:
        return INT64_MAX + 1
    return int(number) if number and number == number.to_integral_value() else None if number else 0


def _duration(value: object, name: str) -> int:
    nanoseconds = None if isinstance(value, str) and not _NUMBER.fullmatch(value) else _time(value, name)
    if nanoseconds is None:
        raise RowError(
            "T016", f"`{name}` is {shown(value)}", "a duration is a number of seconds, such as 0.25"
        )
    return nanoseconds


def id_text(value: object, what: str) -> str:
    """An id as text: text as it is, a whole number in decimal. Raises RowError for anything else."""
    match value:
        case bool():
            raise RowError("T012", f"{what} is {shown(value)}, not an id", "ids are text or whole numbers")
        case int():
            return _decimal(value, what)
        case "":
            raise RowError("T014", f"{what} is an empty text", "an id has at least one character")
        case str():
            return characters(value, what)
        case Decimal() if _is_long(value):
            raise RowError("T015", f"{what} is a whole number of too many digits", "ids are short")
        case float() | Decimal():
            raise RowError(
                "T012",
                f"{what} is the number {shown(value)}, not an id",
                "ids are text or whole numbers; quote it",
            )
        case _:
            raise RowError("T012", f"{what} is {shown(value)}, not an id", "ids are text or whole numbers")


def _is_long(value: object) -> bool:
    """Whether a number is written as a whole one, of more digits than Python makes one of."""
    return isinstance(value, Decimal) and value.as_tuple().exponent == 0 and value.adjusted() > _MOST_DIGITS


def _decimal(value: int, what: str) -> str:
    """A whole number as text. Python writes none that is very long, which only a program can have."""
    try:
        return str(value)
    except ValueError as error:
        raise RowError("T015", f"{what} is a whole number of too many digits", "ids are short") from error


def characters(text: str, what: str) -> str:
    """The text. Raises RowError if it has something in it that is no character."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise RowError("T006", f"{what} has half of a surrogate pair, which is not a character", None)
    return text


def from_cells(cells: Mapping[str, str]) -> dict[str, object]:
    """The values that cells of CSV stand for. An empty cell is an absent value."""
    return {column: _cell(column, cell) for column, cell in cells.items() if cell != ""}


def cell_parser(column: str) -> Callable[[str], object]:
    """The reader of the cells of one column, for cells that are not empty."""
    return lambda cell: _cell(column, cell)


def ids_of_cell(cell: str, column: str) -> list[str]:
    """`a;b`, or a JSON list, as a list of ids."""
    return _ids(_cell(column, cell), column)


def shown(value: object) -> str:
    """A value as an error message shows it: short, on one line."""
    try:
        text = (
            str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)
        )
    except (ValueError, RecursionError):
        # What was read from a file is written with a deeper stack; a whole number may have too many digits for text.
        return "a value that is too large to be shown"
    return text if len(text) <= 60 else text[:57] + "..."


def seconds(nanoseconds: int) -> str:
    """Nanoseconds as a decimal number of seconds, exactly."""
    whole, part = divmod(abs(nanoseconds), NANOSECONDS)
    return f"{'-' * (nanoseconds < 0)}{whole}" + (f".{part:09d}".rstrip("0") if part else "")


def _cell(column: str, cell: str) -> object:
    match column:
        case "seq":
            if not _WHOLE.fullmatch(cell):
                raise RowError("T012", f"`{column}` is {shown(cell)}", "write a whole number")
            return int(cell) if len(cell) < 30 else INT64_MAX + 1
        case "redelivered":
            answers = {"true": True, "false": False, "1": True, "0": False}
            if cell.lower() not in answers:
                raise RowError("T012", f"`redelivered` is {shown(cell)}", "write true or false")
            return answers[cell.lower()]
        case "dest" | "members" | "group":
            return _json_cell(column, cell) if cell.startswith("[") else cell.split(";")
        case "clock":
            return _json_cell(column, cell)
        case _:
            return cell


def _json_cell(column: str, cell: str) -> object:
    try:
        return parse_json(cell)
    except (ValueError, RecursionError) as error:
        what = "a JSON list or object" if column == "clock" else 'ids with ";" between them, or a JSON list'
        raise RowError("T012", f"`{column}` is {shown(cell)}", f"write {what}") from error


def parse_json(text: str) -> object:
    """JSON as RFC 8259 defines it: numbers exactly, no NaN, no name twice. Raises ValueError (or RecursionError)."""
    return _DECODER.decode(text)


def json_row(line: str) -> dict[str, object]:
    """The JSON object that a line is. Raises RowError (T007, T008)."""
    try:
        value = parse_json(line)
    except DuplicateName as error:
        raise RowError(
            "T008", f"the name {shown(str(error))} occurs twice in this row", "a row has a column once"
        ) from error
    except json.JSONDecodeError as error:
        comma = error.msg == "Extra data" and line[error.pos :].strip() == ","
        hint = (
            "there is no comma between rows"
            if comma
            else f"{ONE_EACH}; a file that was cut off looks like this"
        )
        raise RowError("T007", not_read(error), hint) from error
    except RecursionError as error:
        raise RowError("T007", not_read(error)) from error
    except ValueError as error:
        raise RowError("T007", not_read(error), ONE_EACH) from error
    if not isinstance(value, dict):
        what = "a JSON array" if isinstance(value, list) else "not a JSON object"
        raise RowError("T007", f"this line is {what}", f"{ONE_EACH}, without an array around them")
    return value


def not_read(error: ValueError | RecursionError) -> str:
    """What is wrong with a text that `parse_json` does not read, said of the line that it begins at."""
    match error:
        case RecursionError():
            return "the brackets are nested too deeply"
        case json.JSONDecodeError(lineno=1):
            return f"this is not JSON at column {error.colno}: {error.msg.lower()}"
        case json.JSONDecodeError():
            return f"this is not JSON from here to the end of the file: {error.msg.lower()}"
        case _:
            return f"this is not JSON: {error}"


class DuplicateName(ValueError):
    """A JSON object has one name twice."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise DuplicateName(name)
            seen.add(name)
    return result


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _exact(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        # An exponent beyond what the decimal module has: not finite, or nothing, for anybody's purpose.
        return Decimal("Infinity") if "-" not in text[1:] else Decimal((0, (1,), 2 * _LEAST_EXPONENT))


def _whole_number(text: str) -> int | Decimal:
    """A whole number; a decimal of as many digits where Python makes none of so many."""
    try:
        return int(text)
    except ValueError:
        return Decimal(text)


_DECODER: Final = json.JSONDecoder(
    parse_float=_exact, parse_int=_whole_number, parse_constant=_no_constant, object_pairs_hook=_object
)


def _event(value: object) -> EventKind:
    if value is None:
        raise RowError("T011", "`event` is missing", f"it is one of {', '.join(EVENT_NAMES)}")
    try:
        return EventKind(value)
    except ValueError as error:
        known = f"it is one of {', '.join(EVENT_NAMES)}"
        meant = did_you_mean(value, EVENT_NAMES, _OTHER_WORDS) if isinstance(value, str) else None
        hint = known if meant is None else f"{meant} {known}"
        raise RowError("T013", f"`event` is {shown(value)}", hint) from error


def _ids(value: object, column: str) -> list[str]:
    if not isinstance(value, list):
        raise RowError(
            "T012", f"`{column}` is {shown(value)}, not a list", 'write a list of ids, such as ["E2", "E3"]'
        )
    return [id_text(item, f"`{column}[{place}]`") for place, item in enumerate(value)]


def _groups(value: object) -> list[str]:
    """The groups of an entity: a list of them, or one."""
    return _ids(value, "group") if isinstance(value, list) else [id_text(value, "`group`")]


def _whole(value: object, what: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not (isinstance(value, int) or _is_long(value)):
        raise RowError("T012", f"`{what}` is {shown(value)}", "write a whole number")
    if not isinstance(value, int) or not INT64_MIN <= value <= INT64_MAX:
        raise RowError("T015", f"`{what}` is {shown(value)}", "whole numbers have at most 64 bits")
    return value


def _clock(value: object) -> tuple[list[tuple[str, int]] | None, list[int] | None]:
    match value:
        case None:
            return None, None
        case dict():
            # A component that is null is absent: in Arrow a struct has a field in every row or in none.
            entries = [(id_text(k, "`clock`"), _count(v)) for k, v in value.items() if v is not None]
            return sorted(entries), None
        case list():
            return None, [_count(item) for item in value]
        case _:
            raise RowError(
                "T012",
                f"`clock` is {shown(value)}",
                'write a list or a map of whole numbers, such as {"E1": 2, "E2": 0}',
            )


def _count(value: object) -> int:
    number = _whole(value, "clock")
    if number is None or number < 0:
        raise RowError("T015", f"`clock` has {shown(value)} in it", "a clock counts from 0 upward")
    return number


def _time(value: object, name: str) -> int | None:
    match value:
        case None:
            return None
        case bool():
            pass
        case int():
            # The range is looked at first: a number of a million digits is a mistake, and slow.
            return _in_range(value * NANOSECONDS if abs(value) <= INT64_MAX else INT64_MAX + 1, value, name)
        case float():
            return _nanoseconds(Decimal(repr(value)), value, name)
        case Decimal():
            return _nanoseconds(value, value, name)
        case str():
            if _NUMBER.fullmatch(value):
                return _nanoseconds(_exact(value), value, name)
            if match := _RFC_3339.fullmatch(value):
                return _timestamp(match, value, name)
            if _RFC_3339.fullmatch(f"{value}Z"):
                hint = f"say where that is: {value}Z is UTC, {value}+09:00 is Japan"
                raise RowError("T016", f"`{name}` is {shown(value)}, which has no offset", hint)
    raise RowError(
        "T016",
        f"`{name}` is {shown(value)}",
        "write a number of seconds, or RFC 3339 text, such as 2026-11-27T10:15:30.25Z",
    )


def _nanoseconds(seconds: Decimal, written: object, name: str) -> int:
    if not seconds.is_finite():
        raise RowError("T016", f"`{name}` is {shown(written)}", "write a finite number of seconds")
    if seconds and seconds.adjusted() > 10:
        return _in_range(INT64_MAX + 1, written, name)
    if seconds.adjusted() < _LEAST_EXPONENT:
        raise RowError(
            "T015",
            f"`{name}` is {shown(written)}, which no clock tells",
            "write a number of seconds, such as 0.000001",
        )
    return _in_range(
        int(seconds.quantize(Decimal("1e-9"), ROUND_HALF_EVEN, _EXACT).scaleb(9, _EXACT)), written, name
    )


def _timestamp(match: re.Match[str], written: str, name: str) -> int:
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, offset_hours, offset_minutes = match.groups()[6:]
    leap = second == 60
    try:
        moment = datetime(year, month, day, hour, minute, second - leap, tzinfo=UTC)
        if sign is not None and (int(offset_hours) > 23 or int(offset_minutes) > 59):
            raise ValueError("offset")
    except ValueError as error:
        raise RowError("T016", f"`{name}` is {shown(written)}, and there is no such time", None) from error
    whole = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) + leap
    if sign is not None:
        offset = int(offset_hours) * 3600 + int(offset_minutes) * 60
        whole += offset if sign == "-" else -offset
    part = Decimal(f"0.{fraction or 0}").quantize(Decimal("1e-9"), ROUND_HALF_EVEN, _EXACT).scaleb(9, _EXACT)
    return _in_range(whole * NANOSECONDS + int(part), written, name)


def _in_range(nanoseconds: int, written: object, name: str) -> int:
    if not TIME_MIN <= nanoseconds <= INT64_MAX:
        raise RowError(
            "T015",
            f"`{name}` is {shown(written)}, which is outside the years 1677 to 2262",
            "a number is a number of seconds; write milliseconds as seconds, too, such as 1795818956.794",
        )
    return nanoseconds
