"""Values of a model's states as a trace can have them: what is compared where a trace records states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from precedes.core.suggestions import did_you_mean
from precedes.protocol.model import Message

Shown: TypeAlias = str
"""A value as JSON, its keys in order. A word that is no JSON is a text."""

_ABSENT: Final = object()
_MOST_NAMES: Final = 20
"""Names that a hint lists."""


def recorded(value: str | int) -> Shown:
    """A recorded value: JSON if it is that, else a text."""
    if isinstance(value, int):
        return _written(value)
    try:
        return _written(json.loads(value))
    except ValueError:
        return _written(value)


def shown(state: object, field: str) -> Shown | None:
    """The value of a field of a state, such as `clock` or `view.number`; None where the state has no such field."""
    value = state
    for name in field.split("."):
        if isinstance(value, Mapping):
            value = value.get(name, _ABSENT)
        elif isinstance(value, tuple | list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            value = getattr(value, name, _ABSENT)
        if value is _ABSENT:
            return None
    return _written(_plain(value))


def said(value: object) -> str:
    """A state, or a value in it, for people: a set in order, a message by its name."""
    if isinstance(value, Message | Enum):
        return value.name
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(said, value)))}}}"
    if type(value) is tuple:
        return f"({', '.join(map(said, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(said, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{said(key)}: {said(each)}' for key, each in value.items())}}}"
    if is_dataclass(value):
        inner = (f"{each.name}={said(getattr(value, each.name))}" for each in fields(value) if each.repr)
        return f"{type(value).__name__}({', '.join(inner)})"
    return repr(value)


def hint_for(state: object, field: str) -> str:
    """What may be meant by a field that a state does not have."""
    names: list[str] = []
    if is_dataclass(state):
        names = [each.name for each in fields(state)]
    elif isinstance(state, Mapping):
        names = list(map(str, state))
    shown = ", ".join([*names[:_MOST_NAMES], *(["..."] if len(names) > _MOST_NAMES else [])])
    return did_you_mean(field, names) or f"it has {shown or 'no fields'}"


def _written(value: object) -> Shown:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value made of what JSON has: a set is a list in order, a message its name, an enumerated value what it is."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, Message):
        return value.name
    if isinstance(value, int) and type(value) not in (int, bool):
        # A number with a word of its own, such as one for minus infinity.
        return repr(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset | set):
        return sorted(map(_plain, value), key=_written)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return str(value)
