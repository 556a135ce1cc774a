"""Ids of JSON Lines that are numbers in some lines and texts in others, for Arrow reads a column of one type only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import numpy as np

from precedes.traces.formats.line_slices import Tidied, line_ends
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS

EVERY_ID: Final = frozenset({*ID_COLUMNS, *ID_LIST_COLUMNS})

_NUMBER: Final = rb"-?[1-9][0-9]{0,17}|0"
"""A number that is the text of itself as an id. Longer ones are left to who reads line by line."""

_TEXT: Final = rb'"(?:[^"\\\n]|\\[^\n])*"'
_TEXT_OR_NUMBER: Final = re.compile(b"(" + _TEXT + b")|(" + _NUMBER + b")")


def mixed_ids(rows: Iterable[Mapping[str, object]]) -> frozenset[str]:
    """The columns of which some ids are numbers and others texts."""
    found: dict[str, set[type]] = {}
    for row in rows:
        for name in EVERY_ID & row.keys():
            value = row[name]
            kinds = map(type, value) if isinstance(value, list) else [type(value)]
            found.setdefault(name, set()).update(kinds)
    return frozenset(name for name, kinds in found.items() if kinds >= {int, str})


def ids_as_texts(tidied: Tidied, columns: frozenset[str]) -> Tidied:
    """The lines with numbers in some columns of ids as texts; an id is the same either way.

    A quotation mark within a text has a backslash before it. So what looks like a column is the name of one, if perhaps
    of an object within the row, which no id is read from.
    """
    lines = tidied.lines
    if names := columns & set(ID_COLUMNS):
        lines = _one(names).sub(rb'\1"\2"', lines)
    if names := columns & set(ID_LIST_COLUMNS):
        lines = _several(names).sub(_quoted, lines)
    letters = np.frombuffer(lines, np.uint8)
    return Tidied(lines, letters, line_ends(letters), tidied.numbers)


@cache
def _one(columns: frozenset[str]) -> re.Pattern[bytes]:
    """A column and its number."""
    return re.compile(rb'(?<!\\)("(?:%s)"[ \t]*:[ \t]*)(%s)(?=[ \t]*[,}])' % (_either(columns), _NUMBER))


@cache
def _several(columns: frozenset[str]) -> re.Pattern[bytes]:
    """A column and its list."""
    each = b"(?:" + _TEXT + b"|" + _NUMBER + b")"
    return re.compile(
        rb'(?<!\\)"(?:%s)"[ \t]*:[ \t]*\[[ \t]*%s(?:[ \t]*,[ \t]*%s)*[ \t]*\]'
        % (_either(columns), each, each)
    )


def _either(columns: frozenset[str]) -> bytes:
    return "|".join(sorted(columns)).encode()


def _quoted(ids: re.Match[bytes]) -> bytes:
    return _TEXT_OR_NUMBER.sub(lambda one: one[1] or b'"' + one[2] + b'"', ids[0])
