"""What the messages of a model carry: the attributes that it declares, and the values that `carries` gives, checked.

A number is a whole number. Times and durations are in ticks, as everywhere in a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from precedes.core.formula import Attribute, AttributeSort
from precedes.language import syntax
from precedes.language.library import Library
from precedes.protocol.model import TICK, Message, Protocol
from precedes.protocol.validation import errors

_WORDS: Final = {
    AttributeSort.TEXT: "a text",
    AttributeSort.NUMBER: "a whole number",
    AttributeSort.TIME: "a whole number of ticks",
    AttributeSort.DURATION: "a whole number of ticks",
}
_INT64: Final = 2**63
_TICKED: Final = (AttributeSort.TIME, AttributeSort.DURATION)


def declared(protocol: Protocol[Any]) -> dict[str, Attribute]:
    """The attributes that the model declares, by name."""
    return {name: Attribute(name, AttributeSort(sort)) for name, sort in protocol.attributes.items()}


def with_attributes(protocol: Protocol[Any], library: Library) -> Library:
    """The library, and in it what the model declares: formulas may ask for that. PrecedesError N008 where the two
    declare a name with two sorts.
    """
    statements = tuple(
        syntax.AttributeDeclaration(syntax.Name(each.name), each.sort)
        for each in declared(protocol).values()
        if library.attribute(each.name) != each
    )
    if not statements:
        return library
    return Library([syntax.SourceFile(statements, f"attributes of {protocol.name}")], library)


class CarriedValues:
    """What each message carries, asked of the model once."""

    def __init__(self, protocol: Protocol[Any]) -> None:
        self._protocol = protocol
        self._declared = declared(protocol)
        self._known: dict[Message, Mapping[Attribute, str | int]] = {}

    def of(self, message: Message) -> Mapping[Attribute, str | int]:
        """The values, times and durations in nanoseconds. PrecedesError M005 and M017 for mistakes of the model."""
        if message not in self._known:
            self._known[message] = self._asked(message)
        return self._known[message]

    def _asked(self, message: Message) -> Mapping[Attribute, str | int]:
        try:
            given: object = self._protocol.carries(message)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is told as its mistake
            raise errors.mistake(
                self._protocol,
                "M005",
                f"carries raised {type(error).__name__}: {error}",
                f"it was called with {errors.short(message)}",
            ) from None
        if not isinstance(given, Mapping):
            raise errors.mistake(
                self._protocol,
                "M017",
                f"carries returned {errors.short(given)} for {message.name}",
                'it returns a dictionary from names of attributes to values: {"key": "k1"}',
            )
        return dict(self._value(message, name, value) for name, value in given.items())

    def _value(self, message: Message, name: object, value: object) -> tuple[Attribute, str | int]:
        attribute = self._declared.get(name) if isinstance(name, str) else None
        if attribute is None:
            sort = "number" if isinstance(value, int) else "text"
            raise errors.mistake(
                self._protocol,
                "M017",
                f"{message.name} carries {errors.short(name)}, which the model does not declare",
                f"write in the class: attributes = {{{errors.short(name)}: {errors.short(sort)}}}",
            )
        if attribute.sort is AttributeSort.TEXT:
            if isinstance(value, str):
                return attribute, value
        elif isinstance(value, int) and not isinstance(value, bool):
            number = value * TICK if attribute.sort in _TICKED else value
            if -_INT64 < number < _INT64:
                return attribute, number
        raise errors.mistake(
            self._protocol,
            "M017",
            f"{name} of {message.name} is {errors.short(value)}",
            f"the model declares it as {attribute.sort.value}: {_WORDS[attribute.sort]}",
        )


def written(attribute: Attribute, value: str | int) -> str:
    """A value as text in a row: times and durations are numbers of seconds."""
    if attribute.sort in (AttributeSort.TEXT, AttributeSort.NUMBER):
        return str(value)
    nanoseconds = int(value)
    seconds, rest = divmod(abs(nanoseconds), 10**9)
    return f"{'-' if nanoseconds < 0 else ''}{seconds}.{rest:09d}"
