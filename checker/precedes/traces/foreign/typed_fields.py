"""The fields of one record of a log, each of one type or refused, and records as rows of a trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from precedes.core.diagnostics import usage
from precedes.traces.foreign.rows import Row, refused, seconds
from precedes.traces.formats.values import INT64_MAX, RowError, characters, parse_json, shown
from precedes.traces.schema import LIBRARY
from precedes.traces.sources import TraceSource

Record = TypeVar("Record")
Fields = Mapping[str, Any]

_PER_MILLISECOND: Final = 10**6


def translated(
    source: TraceSource, records: Iterable[tuple[int, Record]], rows_of: Callable[[Record], Iterable[Row]]
) -> Iterator[tuple[int, Row]]:
    """The rows of each record, with its number in the file. Raises PrecedesError for the first record that has no rows
    because something is wrong with it.
    """
    for number, record in records:
        try:
            found = [_asked(row, source) for row in rows_of(record)]
        except RowError as error:
            raise refused(source, number, error) from error
        yield from ((number, row) for row in found)


def _asked(row: Row, source: TraceSource) -> Row:
    """A row without what is absent, and without the columns that nobody declared: a foreign log is not wrong to have
    them.
    """
    return {
        name: value
        for name, value in row.items()
        if value is not None and (source.reads(name) or name in LIBRARY)
    }


def first_object(start: str) -> Fields | None:
    """The JSON object on the first line of a text that has something on it; None where there is none."""
    line = start.lstrip("\ufeff \t\r\n").partition("\n")[0]
    try:
        value = parse_json(line)
    except (json.JSONDecodeError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not {"execution", "event"} <= value.keys() else None


def present(record: Fields, name: str) -> Any:
    """A field that every such record has. Raises RowError (T011)."""
    if record.get(name) is None:
        raise RowError("T011", f"`{name}` is missing")
    return record[name]


def text(record: Fields, name: str) -> str:
    """A text that is not empty. Raises RowError."""
    value = present(record, name)
    if not isinstance(value, str):
        raise RowError("T012", f"`{name}` is {shown(value)}, not a text")
    if not value:
        raise RowError("T014", f"`{name}` is an empty text")
    return characters(value, f"`{name}`")


def whole(record: Fields, name: str) -> int:
    """A whole number from 0. Raises RowError."""
    return counted(present(record, name), name)


def counted(value: object, name: str) -> int:
    """A value that must be a whole number from 0. Raises RowError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise RowError("T012", f"`{name}` is {shown(value)}, not a whole number")
    if not 0 <= value <= INT64_MAX:
        raise RowError(
            "T015", f"`{name}` is {shown(value)}", "it is a whole number from 0, of at most 64 bits"
        )
    return value


def number(digits: str, name: str) -> int:
    """A whole number that a text has in decimal. Raises RowError."""
    if not (digits.isascii() and digits.isdigit()):
        raise RowError("T012", f"`{name}` is {shown(digits)}, not a whole number")
    if len(digits) > len(str(INT64_MAX)):
        raise RowError("T015", f"`{name}` has too many digits", "whole numbers have at most 64 bits")
    return counted(int(digits), name)


def objects_in(record: Fields, name: str) -> list[Fields]:
    """A list of JSON objects. Raises RowError."""
    value = present(record, name)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise RowError("T012", f"`{name}` is {shown(value)}, not a list of objects")
    return value


def milliseconds(record: Fields, name: str) -> str:
    """A time that is written as milliseconds since 1970. Raises RowError."""
    return seconds(whole(record, name) * _PER_MILLISECOND)


def at(record: object, path: str) -> object:
    """The value at a path such as `properties.message_id`: names of objects with dots between them. A text on the way
    is read as JSON, if it is an object. None where there is nothing.
    """
    found: object = record
    while path:
        if isinstance(found, str):
            found = first_object(found)
        if not isinstance(found, dict):
            return None
        # A name may have dots in it.
        name = next((name for name in _beginnings(path) if name in found), None)
        if name is None:
            return None
        found, path = found[name], path[len(name) + 1 :]
    return found


def _beginnings(path: str) -> Iterator[str]:
    """A path, and what is left of it before each of its dots, the longest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def chosen(source: TraceSource, setting: str, values: Iterable[str]) -> str:
    """One of the values that a setting can have, the first if it is not set. Raises PrecedesError (U001)."""
    known = list(values)
    value = source.setting(setting, known[0])
    if value not in known:
        raise usage(f"`{setting}` is set to {shown(value)}", f"it is one of {', '.join(known)}")
    return value
