"""Which message each of several mentions is about, where they name it by different things.

A producer knows the context of its span and perhaps an id; a consumer knows a link to that context, an id, an offset.
Mentions that share something that names one message are about the same message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

import numpy as np

from precedes.core.columns import Int32

NONE: Final = -1


class Naming(Enum):
    """What may name a message; the values but for the last are those of the setting `message`."""

    RECORD = "record"
    ID = "id"
    CONTEXT = "context"
    SPAN = "span"
    """Another span about the message. It joins spans of a file, and gives no name: other files do not know it."""


PREFIXES: Final = tuple(f"{each.value}:" for each in Naming)
"""How names of messages begin that are no ids."""


def preference(first: Naming) -> tuple[Naming, ...]:
    """The order in which keys name messages, beginning with one that gives names."""
    return (first, *(each for each in Naming if each is not first))


def named(keys: Mapping[Naming, Sequence[Int32]], order: Sequence[Naming]) -> dict[Naming, Int32]:
    """The key that names the message of each mention: by naming its number, NONE where it is of another naming; NONE in
    all if its keys do not name one message.

    `keys` has the numbers of the keys of mentions, NONE where there is none; of two keys of one naming in a mention,
    only SPAN has two. A key that goes with several keys of a kind that stands before its own names none of them: many
    messages of a batch may have the context of one span, and an id may occur twice. So the keys of a mention that
    name a message all belong to one class, and the strongest key of a class is its only one of this naming.
    """
    length = len(keys[order[0]][0])
    kind, number = np.full(length, NONE, np.int8), np.full(length, NONE, np.int32)
    for place, naming in enumerate(order):
        group, groups = _grouped(keys[naming])
        stronger = np.where(kind == NONE, NONE, number.astype(np.int64) * len(order) + kind)
        both = (group != NONE) & (stronger != NONE)
        least, most = np.full(groups, np.iinfo(np.int64).max), np.full(groups, NONE)
        np.minimum.at(least, group[both], stronger[both])
        np.maximum.at(most, group[both], stronger[both])
        usable = (most == NONE) | (least == most)
        chosen = (group != NONE) & (kind == NONE)
        chosen[chosen] = usable[group[chosen]]
        above = most[group[chosen]]
        own = above == NONE
        kind[chosen] = np.where(own, place, above % len(order))
        number[chosen] = np.where(own, group[chosen], above // len(order))
    return {
        naming: np.where(kind == place, number, NONE)
        for place, naming in enumerate(order)
        if naming is not Naming.SPAN
    }


def _grouped(columns: Sequence[Int32]) -> tuple[Int32, int]:
    """Keys by the class that those of one mention make, and how many classes there may be."""
    first = columns[0]
    size = max((int(column.max(initial=NONE)) + 1 for column in columns), default=0)
    if len(columns) == 1:
        return first, size
    second = columns[1]
    both = (first != NONE) & (second != NONE)
    root = _components(size, first[both], second[both])
    group = np.where(first != NONE, first, second)
    return np.where(group == NONE, NONE, root[group]), size


def _components(size: int, one: Int32, other: Int32) -> Int32:
    """The least number that is connected with each, by pairs."""
    root: Int32 = np.arange(max(size, 1), dtype=np.int32)
    while True:
        low, high = np.minimum(root[one], root[other]), np.maximum(root[one], root[other])
        apart = low != high
        if not apart.any():
            return root
        np.minimum.at(root, high[apart], low[apart])
        while (shorter := root[root]).tobytes() != root.tobytes():
            root = shorter
