"""The Arrow types that the columns of a trace may have, and messages about other types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from precedes.core.formula import Attribute, AttributeSort
from precedes.traces.arrow import arrow
from precedes.traces.formats.values import RowError
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS

Type = Any
"""A `pa.DataType`, whose stubs know nothing of what only some types have."""
Accepts = Callable[[Type], bool]
Rule = tuple[Accepts, str, str]
"""What a column takes, the code for anything else, and what would be right."""
_types = arrow.types

_LISTS: Final[tuple[Accepts, ...]] = (
    _types.is_list,
    _types.is_large_list,
    _types.is_fixed_size_list,
    _types.is_list_view,
    _types.is_large_list_view,
)
_TEXTS: Final[tuple[Accepts, ...]] = (_types.is_string, _types.is_large_string, _types.is_string_view)
_PLAIN: Final[tuple[Accepts, ...]] = (
    *_TEXTS,
    _types.is_null,
    _types.is_boolean,
    _types.is_integer,
    _types.is_floating,
    _types.is_decimal,
    _types.is_binary,
    _types.is_large_binary,
    _types.is_fixed_size_binary,
    _types.is_date32,
)


def accepted(column: str, kind: Type, attributes: Sequence[Attribute] = ()) -> bool:
    """Whether the values of a type can be values of a column, which may be that of one of the attributes."""
    return _types.is_null(kind) or _rule(column, attributes)[0](_held(kind))


def lookable(kind: Type) -> bool:
    """Whether each value of a type is a value of Python that can be looked at, and shown."""
    kind = _held(kind)
    if _types.is_struct(kind):
        return twice(kind) is None and all(lookable(kind.field(k).type) for k in range(kind.num_fields))
    if _types.is_map(kind):
        return lookable(kind.key_type) and lookable(kind.item_type)
    return lookable(kind.value_type) if _is(kind, _LISTS) else _is(kind, _PLAIN)


def twice(kind: Type) -> str | None:
    """A name that two fields of a struct have."""
    if not _types.is_struct(kind):
        return None
    times = Counter(kind.field(k).name for k in range(kind.num_fields))
    return next((name for name, count in times.items() if count > 1), None)


def refusal(
    column: str, kind: Type, attributes: Sequence[Attribute] = (), shown: str | None = None
) -> RowError:
    """What is wrong with a column of a type, which may have another name in its own system."""
    if (name := twice(kind)) is not None:
        return RowError("T008", f"the field `{name}` occurs twice in the column `{column}`", None)
    _, code, wanted = _rule(column, attributes)
    return RowError(code, f"the column `{column}` is of type {shown or kind}", wanted)


def is_text(kind: Type) -> bool:
    """Whether values are text."""
    return _is(kind, _TEXTS)


def _is(kind: Type, tests: tuple[Accepts, ...]) -> bool:
    return any(test(kind) for test in tests)


def _held(kind: Type) -> Type:
    """The type of the values, where these are in a dictionary."""
    return _held(kind.value_type) if _types.is_dictionary(kind) else kind


def _id(kind: Type) -> bool:
    return is_text(kind) or _whole(kind)


def _whole(kind: Type) -> bool:
    return bool(_types.is_integer(kind) or _types.is_null(kind))


def _ids(kind: Type) -> bool:
    return _is(kind, _LISTS) and (_types.is_null(kind.value_type) or _id(_held(kind.value_type)))


def _groups(kind: Type) -> bool:
    return _id(kind) or _ids(kind)


def _time(kind: Type) -> bool:
    numbers = (_types.is_integer, _types.is_floating, _types.is_decimal, _types.is_timestamp)
    return is_text(kind) or _is(kind, numbers)


def _clock(kind: Type) -> bool:
    if _types.is_struct(kind):
        return twice(kind) is None and all(_whole(kind.field(k).type) for k in range(kind.num_fields))
    if _types.is_map(kind):
        return _id(_held(kind.key_type)) and _whole(kind.item_type)
    return _is(kind, _LISTS) and _whole(kind.value_type)


def _text(kind: Type) -> bool:
    return _id(kind) or bool(_types.is_boolean(kind))


def _number(kind: Type) -> bool:
    return is_text(kind) or _is(
        kind, (_types.is_integer, _types.is_floating, _types.is_decimal, _types.is_boolean)
    )


def _duration(kind: Type) -> bool:
    return is_text(kind) or _is(kind, (_types.is_integer, _types.is_floating, _types.is_decimal))


def _rule(column: str, attributes: Sequence[Attribute]) -> Rule:
    found = next((each for each in attributes if each.name == column), None)
    return _COLUMNS[column] if found is None else _ATTRIBUTES[found.sort]


_COLUMNS: Final[dict[str, Rule]] = {
    **dict.fromkeys(ID_COLUMNS, (_id, "T012", "ids are text or whole numbers")),
    **dict.fromkeys(ID_LIST_COLUMNS, (_ids, "T012", "it is a list of ids, which are text or whole numbers")),
    "group": (_groups, "T012", "it is a group or a list of groups, which are text or whole numbers"),
    "event": (is_text, "T012", "events are text, such as send and deliver"),
    "seq": (_whole, "T012", "places in a history are whole numbers"),
    "redelivered": (_types.is_boolean, "T012", "it is true or false"),
    "time": (_time, "T016", "times are timestamps, numbers of seconds, or RFC 3339 text with an offset"),
    "clock": (_clock, "T012", "a clock is a list, a map or a struct of whole numbers"),
}
_ATTRIBUTES: Final[dict[AttributeSort, Rule]] = {
    AttributeSort.TEXT: (_text, "T012", "it is text, or whole numbers, or true and false"),
    AttributeSort.NUMBER: (_number, "T012", "it is whole numbers"),
    AttributeSort.TIME: _COLUMNS["time"],
    AttributeSort.DURATION: (_duration, "T016", "durations are numbers of seconds"),
}
