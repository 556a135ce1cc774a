"""What an entry of a mapping reads from a row of a log: a field by its path, a template of fields, a constant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from precedes.traces.formats.values import RowError, id_text

UNFIT: Final = "T028"
"""A row that the mapping does not fit."""

Fields: TypeAlias = Mapping[str, object]
"""A row of a log: values by name, as JSON has them."""

_DEEPEST: Final = 20
"""How many objects within one another are looked at to name their fields."""
_STEPS: Final = re.compile(r"\.?(?P<key>[^.\[\]]+)|\[(?P<place>\d{1,9})\]")
_PART: Final = re.compile(r"\{\{|\}\}|\{(?P<field>[^{}]*)\}|(?P<brace>[{}])|[^{}]+")


class BadEntryError(Exception):
    """What is wrong with the text of an entry, and what would be right."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Field:
    """A field by its name, or by the steps to it."""

    name: str
    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """Texts and fields in turn."""

    parts: tuple[str | Field, ...]

    @property
    def shape(self) -> tuple[str | None, ...]:
        """Its texts; None where a field stands."""
        return tuple(part if isinstance(part, str) else None for part in self.parts)


@dataclass(frozen=True, slots=True)
class Constant:
    """The same in every row."""

    value: object


Expression: TypeAlias = Field | Template | Constant


def expression(text: str) -> Expression:
    """What a text in a mapping stands for: a template if it has braces, else a field. Raises BadEntryError."""
    return _template(text) if "{" in text or "}" in text else field(text)


def field(name: str) -> Field:
    """A field by its path, such as `headers[0].value`. Raises BadEntryError."""
    steps: list[str | int] = []
    at = 0
    while at < len(name):
        found = _STEPS.match(name, at)
        if found is None or (at == 0 and name.startswith(".")):
            raise BadEntryError(f"{name} is not the path of a field", "a path is a.b or a[0].b")
        steps.append(found["key"] if found["place"] is None else int(found["place"]))
        at = found.end()
    if not steps:
        raise BadEntryError("the name of a field is empty", "name a field of the log")
    return Field(name, tuple(steps))


def _template(text: str) -> Template:
    parts: list[str | Field] = []
    for found in _PART.finditer(text):
        if found["brace"] is not None:
            raise BadEntryError(
                f"{text} has a brace that stands alone", "write {{ and }} for braces themselves"
            )
        if found["field"] is not None:
            if parts and isinstance(parts[-1], Field):
                hint = "put a text between them: {a}-{b}. Else 1 and 23 make what 12 and 3 make"
                raise BadEntryError(f"{text} has two fields with nothing between them", hint)
            parts.append(field(found["field"]))
            continue
        plain = found[0][0] if found[0] in ("{{", "}}") else found[0]
        if parts and isinstance(parts[-1], str):
            parts[-1] += plain
        else:
            parts.append(plain)
    return Template(tuple(parts))


def fields_in(given: Expression) -> Iterator[Field]:
    """The fields that an expression reads."""
    match given:
        case Field():
            yield given
        case Template(parts):
            yield from (part for part in parts if isinstance(part, Field))
        case Constant():
            pass
        case _:
            assert_never(given)


def value(given: Expression, row: Fields) -> object:
    """The value of an expression; None where a field of it is absent. Raises RowError."""
    match given:
        case Field():
            return found(given, row)
        case Template(parts):
            texts = [part if isinstance(part, str) else _written(part, row) for part in parts]
            return None if any(text is None for text in texts) else "".join(text or "" for text in texts)
        case Constant(constant):
            return constant
        case _:
            assert_never(given)


def values_in(given: Template, row: Fields) -> tuple[str | None, ...]:
    """The texts of the fields of a template. Raises RowError."""
    return tuple(_written(part, row) for part in given.parts if isinstance(part, Field))


def found(given: Field, row: Fields) -> object:
    """The value of a field; None where it is absent. A name with points in it comes before a path."""
    if given.name in row:
        return row[given.name]
    here: object = row
    for step in given.steps:
        if isinstance(here, dict) and isinstance(step, str):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
        else:
            return None
    return here


def paths(row: object, above: str = "") -> Iterator[tuple[str, object]]:
    """The fields of a row by their paths, with their values; not the elements of its lists."""
    if isinstance(row, dict) and above.count(".") < _DEEPEST:
        for name, inner in row.items():
            path = f"{above}.{name}" if above else name
            yield path, inner
            yield from paths(inner, path)


def _written(given: Field, row: Fields) -> str | None:
    here = found(given, row)
    return None if here is None else id_text(here, f"the field {given.name}")


def plain(here: object) -> str | None:
    """A value as the text that a condition compares; None for what is absent, and for lists and objects."""
    match here:
        case bool():
            return "true" if here else "false"
        case None | list() | dict():
            return None
        case _:
            return str(here)


def decodes_once(given: Template, name: str) -> bool:
    """Whether a text comes from one choice of values only: its separators stand in it only where the template has them.

    The first place where each separator may stand, from the left, is also the last one, from the right.
    """
    parts = given.parts
    head = parts[0] if isinstance(parts[0], str) else ""
    tail = parts[-1] if len(parts) > 1 and isinstance(parts[-1], str) else ""
    inner = name[len(head) : len(name) - len(tail)]
    within = parts[bool(head) : len(parts) - bool(tail)]
    between = [part for part in within if isinstance(part, str)]
    return _places(inner, between) == _last_places(inner, between)


def _places(text: str, between: list[str]) -> list[int]:
    at, places = 0, []
    for separator in between:
        at = text.find(separator, at + 1)
        places.append(at)
        at += len(separator)
    return places


def _last_places(text: str, between: list[str]) -> list[int]:
    end, places = len(text), []
    for separator in reversed(between):
        end = text.rfind(separator, 0, end - 1)
        places.append(end)
    return places[::-1]


def unfit(message: str, hint: str | None = None) -> RowError:
    """What is wrong with a row that a mapping does not fit."""
    return RowError(UNFIT, message, hint)
