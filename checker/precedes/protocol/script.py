"""Parses command-line arguments about an exploration: who sends what, and the parameters of a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from precedes.core.diagnostics import usage
from precedes.protocol.model import Message

_SEND: Final = re.compile(r"\s*([a-z])\d*(?:\{\s*([\d\s,]*)\})?[\s;]*")
_FORM: Final = (
    "a is sent by the first entity, b by the second; in braces the entities it goes to: a{2,3} b{1}"
)


def script(text: str | None, entities: int) -> tuple[tuple[Message, ...], ...] | None:
    """The requests of each entity in their order; without braces a message goes to all. PrecedesError U001."""
    if text is None:
        return None
    sent: list[list[Message]] = [[] for _ in range(entities)]
    place = 0
    while place < len(text):
        found = _SEND.match(text, place)
        if found is None:
            raise usage(f"the script cannot be read at {text[place : place + 10]!r}", _FORM)
        sender = ord(found[1]) - ord("a")
        to = range(entities) if found[2] is None else [int(k) - 1 for k in re.findall(r"\d+", found[2])]
        if sender >= entities or any(not 0 <= k < entities for k in to):
            raise usage(
                f"the script's {found[0].strip()} names an entity that does not exist",
                f"there are {entities}",
            )
        sent[sender].append(Message(sender, len(sent[sender]) + 1, frozenset(to)))
        place = found.end()
    return tuple(map(tuple, sent))


def settings(texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE, each. PrecedesError U001."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise usage(f"--set {text} has no value", "write --set NAME=VALUE")
        found[name.strip()] = value.strip()
    return found
