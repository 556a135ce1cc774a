"""Ids of JSON Lines that are numbers in some lines and texts in others, for Arrow reads a column of one type only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import numpy as np

from precedes.traces.formats.byte_places import Letters, Places, places_by
from precedes.traces.formats.line_slices import Tidied, line_ends
from precedes.traces.schema import ID_COLUMNS, ID_LIST_COLUMNS

EVERY_ID: Final = frozenset({*ID_COLUMNS, *ID_LIST_COLUMNS})

_NUMBER: Final = rb"-?[1-9][0-9]{0,17}|0"
"""A number that is the text of itself as an id. Longer ones are left to who reads line by line."""

_TEXT: Final = rb'"(?:[^"\\\n]|\\[^\n])*"'
_MOST_DIGITS: Final = 18
_QUOTE, _COLON, _MINUS, _ZERO, _BACKSLASH = b'":-0\\'
_DIGIT: Final = np.isin(np.arange(256), list(b"0123456789"))
_BLANK: Final = np.isin(np.arange(256), list(b" \t"))
_MAY_FOLLOW: Final = np.isin(np.arange(256), list(b",}"))
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
        lines = _one_each(tidied.letters, names)
    if names := columns & set(ID_LIST_COLUMNS):
        lines = _several(names).sub(_quoted, lines)
    letters = np.frombuffer(lines, np.uint8)
    return Tidied(lines, letters, line_ends(letters), tidied.numbers)


def _one_each(letters: Letters, columns: frozenset[str]) -> bytes:
    """The lines with a quotation mark before and after each number that is the value of one of these columns."""
    names = _named(letters, places_by(letters, _before_numbers, 2), columns)
    starts = names + len(b'":')
    starts += _BLANK[letters[starts]]
    digits = starts + (letters[starts] == _MINUS)
    ends = digits.copy()
    for _ in range(_MOST_DIGITS + 1):
        more = _DIGIT[letters[ends]]
        if not more.any():
            break
        ends += more
    after = ends + _BLANK[letters[ends]]
    # An id is the text of the number that it is.
    short = (ends - digits <= _MOST_DIGITS) & (ends > digits) & _MAY_FOLLOW[letters[after]]
    usual = short & ((letters[digits] != _ZERO) | (ends - starts == 1))
    places = np.stack([starts[usual], ends[usual]], axis=1).ravel()
    return np.insert(letters, places, _QUOTE).tobytes()


def _before_numbers(letters: Letters) -> Places:
    """Where names end after which there may be a number, or a blank, and no text."""
    value = letters[2:]
    before = (letters[:-2] == _QUOTE) & (letters[1:-1] == _COLON)
    found: Places = np.flatnonzero(before & (value < _COLON) & (value != _QUOTE))
    return found


def _named(letters: Letters, names: Places, columns: frozenset[str]) -> Places:
    """Those of some names, of which the last letter is given, that are names of the columns."""
    found: Places = np.concatenate([_named_so(letters, names, f'"{column}"'.encode()) for column in columns])
    found.sort()
    return found


def _named_so(letters: Letters, names: Places, name: bytes) -> Places:
    names = names[names >= len(name)]
    for before, letter in enumerate(reversed(name)):
        names = names[letters[names - before] == letter]
    kept: Places = names[letters[names - len(name)] != _BACKSLASH]
    return kept


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
