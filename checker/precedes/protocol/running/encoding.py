"""Packets and states as JSON, and back: what goes from one process to another, or stays on a disk.

Only values can be said: numbers, texts, bytes, tuples, frozensets, and frozen dataclasses, named tuples and enums of
the model itself. A class is found by its name among those that the modules of the model have, so that nothing that
comes from a network can make a value of any other class, or run anything else.
"""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from precedes.protocol.model import Message, Protocol
from precedes.protocol.validation import errors

_PLAIN: Final = frozenset({int, float, str, bool, type(None)})
_TUPLE, _SET, _BYTES = "()", "{}", "b"
"""What stands in front of the items of a value that is no instance of a class of the model."""


class Unreadable(Exception):
    """Text that no value of the model has; it says why."""


@dataclass(frozen=True, slots=True)
class _Class:
    """How instances of one class are taken apart and made."""

    name: str
    parts: Callable[[Any], list[Any]]
    made: Callable[[list[Any]], Any]


class Encoding:
    """The values of one model. Two processes that have loaded the same model understand each other.

    Args:
        protocol: The model.
    """

    def __init__(self, protocol: Protocol[Any]) -> None:
        self._protocol = protocol
        found = sorted(set(_classes(type(protocol))), key=lambda kind: (kind.__module__, kind.__qualname__))
        names = [kind.__qualname__ for kind in found]
        # Two classes of one name are told apart by their modules.
        self._by_class = {
            kind: _described(kind, name if names.count(name) == 1 else f"{kind.__module__}.{name}")
            for kind, name in zip(found, names, strict=True)
        }
        self._by_name = {each.name: each for each in self._by_class.values()}

    def encode(self, value: object) -> bytes:
        """The value as JSON. PrecedesError M018 where a part of it is no value of the model."""
        return msgspec.json.encode(self._said(value))

    def decode(self, text: bytes) -> Any:
        """The value that `encode` was given. Raises Unreadable for any other text."""
        try:
            return self._meant(msgspec.json.decode(text))
        except Exception as error:
            raise Unreadable(str(error)) from error

    def _said(self, value: object) -> object:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is tuple:
            return [_TUPLE, *map(self._said, value)]  # type: ignore[call-overload]
        if kind is frozenset:
            return [_SET, *map(self._said, value)]  # type: ignore[call-overload]
        if kind is bytes:
            return [_BYTES, b64encode(value).decode()]  # type: ignore[arg-type]
        known = self._by_class.get(kind)
        if known is None and isinstance(value, int):
            # A number that a model shows by a word.
            return int(value)
        if known is None:
            raise errors.mistake(
                self._protocol,
                "M018",
                f"{errors.short(value)} cannot be sent from one process to another",
                f"packets and what a crash leaves are made of numbers, texts, bytes, tuples, frozensets, and frozen "
                f"dataclasses and enums that stand in a module of the model; this is of {kind.__qualname__}",
            )
        return [known.name, *map(self._said, known.parts(value))]

    def _meant(self, said: Any) -> Any:
        if type(said) in _PLAIN:
            return said
        if type(said) is not list or not said or type(said[0]) is not str:
            raise Unreadable("it is no value")
        head, *rest = said
        if head == _BYTES:
            (text,) = rest
            return b64decode(text, validate=True)
        items = [self._meant(each) for each in rest]
        if head == _TUPLE:
            return tuple(items)
        if head == _SET:
            return frozenset(items)
        return self._by_name[head].made(items)


def _described(kind: type[Any], name: str) -> _Class:
    if issubclass(kind, Enum):
        return _Class(name, lambda member: [member.name], lambda items: _only(kind, items))
    if is_dataclass(kind):
        names = [field.name for field in fields(kind) if field.init]
        return _Class(
            name,
            lambda value: [getattr(value, each) for each in names],
            lambda items: kind(**dict(zip(names, items, strict=True))),
        )
    return _Class(name, list, lambda items: kind(*items))


def _only(kind: type[Enum], items: list[Any]) -> Enum:
    (name,) = items
    return kind[name]


def _classes(model: type[Protocol[Any]]) -> Iterator[type[Any]]:
    """The classes of values in the modules that a model is written in."""
    yield Message
    modules = list(dict.fromkeys(base.__module__ for base in model.__mro__ if base.__module__ in sys.modules))
    roots = {name.partition(".")[0] for name in modules[:1]}
    folders = {_folder(sys.modules[name]) for name in modules[:1]}
    known = set(modules)
    for name in modules:
        module = sys.modules[name]
        if name.partition(".")[0] not in roots and _folder(module) not in folders:
            continue
        for value in vars(module).values():
            if isinstance(value, type) and _is_of_values(value):
                yield value
            home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(home, str) and home not in known and home in sys.modules:
                known.add(home)
                modules.append(home)


def _folder(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve().parent


def _is_of_values(kind: type[Any]) -> bool:
    if issubclass(kind, Protocol) or (
        kind.__module__.startswith("precedes.") and kind.__module__ != Message.__module__
    ):
        return False
    if issubclass(kind, Enum):
        return bool(kind.__members__)
    frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return frozen or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
