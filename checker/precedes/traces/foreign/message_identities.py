"""Which message each of several mentions is about, where they name it by different things.

A producer knows the context of its span and perhaps an id; a consumer knows a link to that context, an id, an offset.
Mentions that share something that names one message are about the same message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final
from urllib.parse import quote


class Naming(Enum):
    """What may name a message; the values but for the last are those of the setting `message`."""

    RECORD = "record"
    ID = "id"
    CONTEXT = "context"
    SPAN = "span"
    """Another span about the message. It joins spans of a file, and gives no name: other files do not know it."""


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that names a message."""

    naming: Naming
    text: str

    @property
    def name(self) -> str:
        """The name of a message with this key. Ids stand as they are, unless they look like another key."""
        if self.naming is Naming.ID:
            return f"id:{self.text}" if self.text.startswith(_PREFIXES) else self.text
        return f"{self.naming.value}:{self.text}"


_PREFIXES: Final = tuple(f"{each.value}:" for each in Naming)


def record_key(destination: str, partition: str, offset: int) -> Key:
    """The key of a record of a partitioned log."""
    return Key(Naming.RECORD, f"{quote(destination, safe='')}/{quote(partition, safe='')}/{offset}")


def context_key(trace: str, span: str) -> Key:
    """The key of the message that a span creates."""
    return Key(Naming.CONTEXT, f"{trace}-{span}")


def preference(first: Naming) -> tuple[Naming, ...]:
    """The order in which keys name messages, beginning with one that gives names."""
    return (first, *(each for each in Naming if each is not first))


def named(mentions: Sequence[tuple[Key, ...]], order: Sequence[Naming]) -> list[str | None]:
    """The name of the message that each mention is about; None if its keys do not name one message.

    A key that goes with several keys of a kind that stands before its own names none of them: many messages of a batch
    may have the context of one span, and an id may occur twice.
    """
    classes = _Classes()
    usable: set[Key] = set()
    for place, naming in enumerate(order):
        before = frozenset(order[:place])
        for keys in mentions:
            own = [key for key in keys if key.naming is naming]
            for other in own[1:]:
                classes.unite(own[0], other)
        stronger: dict[Key, set[Key]] = {}
        for keys in mentions:
            roots = {classes.root(key) for key in keys if key.naming in before and key in usable}
            for key in keys:
                if key.naming is naming:
                    stronger.setdefault(classes.root(key), set()).update(roots)
        unique = {root for root, found in stronger.items() if len(found) <= 1}
        fit = {
            key for keys in mentions for key in keys if key.naming is naming and classes.root(key) in unique
        }
        usable |= fit
        for root in unique:
            for found in stronger[root]:
                classes.unite(root, found)
    names = _names(classes, usable, order)
    return [
        next((names[root] for key in keys if key in usable and (root := classes.root(key)) in names), None)
        for keys in mentions
    ]


def _names(classes: _Classes, usable: Iterable[Key], order: Sequence[Naming]) -> dict[Key, str]:
    """The name of each class, by its root: that of its first key in the order."""
    rank = {naming: place for place, naming in enumerate(order)}
    best: dict[Key, tuple[int, str]] = {}
    for key in usable:
        if key.naming is Naming.SPAN:
            continue
        root = classes.root(key)
        found = (rank[key.naming], key.name)
        best[root] = min(found, best.get(root, found))
    return {root: name for root, (_, name) in best.items()}


class _Classes:
    """Keys that name the same message, as a forest."""

    def __init__(self) -> None:
        self._above: dict[Key, Key] = {}

    def root(self, key: Key) -> Key:
        """The key that stands for all that name the same message."""
        while (above := self._above.get(key, key)) != key:
            self._above[key] = self._above.get(above, above)
            key = above
        return key

    def unite(self, one: Key, other: Key) -> None:
        """Two keys name the same message."""
        first, second = self.root(one), self.root(other)
        if first != second:
            self._above[second] = first
