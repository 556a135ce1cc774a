"""Colors of messages by a value that they carry, such as a key: what is ordered by itself is seen at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from precedes.core.coloring import COLORED_BY
from precedes.core.execution import Execution
from precedes.core.formula import Attribute, AttributeSort

ARROW: Final = "#2458a6"
_COLORS: Final = ("#2458a6", "#1b7f4d", "#8e4fa8", "#b06a00", "#0b7f8f", "#6b6b1f", "#9a4464")
"""They differ in lightness, too. Red is left to what violates something."""


@dataclass(frozen=True, slots=True)
class MessageColors:
    """The color of each message, and of each value of `attribute` for the legend; `attribute` is empty where no value
    tells messages apart.
    """

    attribute: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)

    def of(self, message: str) -> str:
        """The color of a message's arrows."""
        return self.messages.get(message, ARROW)


def message_colors(execution: Execution) -> MessageColors:
    """Colors by the first attribute that tells the messages apart by few values."""
    for attribute in sorted(_attributes(execution), key=_rank):
        found = {
            name: str(message.attributes[attribute])
            for name, message in execution.messages.items()
            if attribute in message.attributes
        }
        values = sorted(set(found.values()))
        if 1 < len(values) <= len(_COLORS):
            color = dict(zip(values, _COLORS, strict=False))
            return MessageColors(attribute.name, color, {name: color[value] for name, value in found.items()})
    return MessageColors()


def _attributes(execution: Execution) -> set[Attribute]:
    return {
        attribute
        for message in execution.messages.values()
        for attribute in message.attributes
        if attribute.sort is AttributeSort.TEXT
    }


def _rank(attribute: Attribute) -> tuple[int, str]:
    place = COLORED_BY.index(attribute.name) if attribute.name in COLORED_BY else len(COLORED_BY)
    return place, attribute.name
