"""Input that Arrow must not read: it crashes, takes all memory, or reads something else than what is written.

Arrow's decimals look up powers of ten by the difference of two scales, in a table of 39, without checking
that the table has an entry. Its JSON reader recurses with the depth of a value, makes a column of every name
in an object, and fails if a column is an object in one block of a file and something else in a later block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.traces.formats.byte_places import Letters, Places, count_of, places_by, places_of

LARGEST_POWER: Final = 38
"""By how many places the scale of a decimal may change."""

PLACES: Final = 27
"""Decimal places of the decimals that text becomes: the 11 digits that are left do for every second of int64
nanoseconds.
"""

# At most 11 digits before the point once the exponent is taken into account, for Arrow multiplies without looking
# whether the product fits; and at most 47 places, 38 more than the 9 of a time that needs no rounding.
_FRACTION: Final = r"(\.[0-9]{0,30})?|\.[0-9]{1,30}"
NUMBER: Final = (
    rf"^[+-]?(([0-9]{{1,11}}{_FRACTION})([eE](-0?[0-9]|-1[0-7]))?"
    rf"|([0-9]{{1,2}}{_FRACTION})[eE]\+?0?[0-9]|([0-9]{_FRACTION})[eE]\+?10)$"
)
"""Text that Arrow reads as the number that it is, or refuses."""

_DEEPEST: Final = 256
"""Brackets that one line may open."""

_LONGEST: Final = 2**31 - 2
"""Bytes that Arrow's JSON reader takes at once."""

LONGEST_RECORD: Final = 64 << 20
"""Bytes of a row of text. A value in Python takes twenty times the bytes of its JSON, at worst."""

_LINES_FOR_KEYS: Final = 1_000
_RARE: Final = 0.125

_SAFE: Final = re.compile(NUMBER.encode())
_TIME: Final = re.compile(rb'"time"[ \t\r]*:[ \t\r]*(?:"([^"\\]*)"|([^ \t\r\n,}"]*))')
# An escaped `time`, sign, point, digit or exponent.
_ESCAPED: Final = re.compile(rb"\\u00(?:2[bdeBDE]|3[0-9]|[46][59dD]|74)")
_QUOTE, _COLON, _SPACE_BAR, _OPEN_BRACE, _OPEN_BRACKET = b'": {['
_POINT, _E, _SMALL, _BACKSLASH = b".e \\"
_UP_TO_NINE: Final = ord("9") - ord(".") + 1
_ALL_FOUR: Final = 0x01010101
_OF_A_POWER: Final = np.isin(np.arange(256), list(b"0123456789+-.eE"))
_FAR: Final = 64
"""Letters of a number before a place in it, at most, that are looked at."""
_SPACE: Final = np.isin(np.arange(256), list(b" \t\r"))
_EXPONENT: Final = np.isin(np.arange(256), list(b"eE"))
_OF_A_WHOLE: Final = np.isin(np.arange(256), list(b"0123456789+-"))
_OF_A_NUMBER: Final = np.isin(np.arange(256), list(b"0123456789+-."))
_MOST_WHOLE: Final = 12
"""A sign and 11 digits."""
_USUAL: Final = 22
"""Letters of a number that is looked at no closer: a sign, seconds since 1970 and nanoseconds, and one more."""


def fits(lines: bytes, letters: Letters, ends: Places) -> bool:
    """Whether Arrow may read lines of JSON: their bytes as such and as `letters`, and where each ends. Times may have
    nine decimal places, or more where it refuses these.
    """
    return (
        len(lines) <= _LONGEST
        and _shallow(letters, ends)
        and not (_unsure_of_times(letters) and strange_times(lines, letters))
    )


def names_repeat(sample: Sequence[dict[str, object]], lines: int) -> bool:
    """Whether the names in a sample of lines are those of columns, and not, as ids would be, of a line each.

    What share of the lines has a name that no other has is estimated as Good and Turing do: by the names that the
    sample has once.
    """
    if lines <= _LINES_FOR_KEYS:
        return True
    counts = Counter(path for values in sample for path in set(_paths(values)))
    return sum(count == 1 for count in counts.values()) <= _RARE * len(sample)


def _paths(value: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*above, name)
            yield from _paths(inner, (*above, name))
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, above)


def _shallow(letters: Letters, ends: Places) -> bool:
    # One bit apart: a brace and a bracket.
    opens = places_of(letters, lambda some: (some | (_OPEN_BRACKET ^ _OPEN_BRACE)) == _OPEN_BRACE)
    # Two of these are on a line that opens too many.
    some = np.searchsorted(ends, opens[:: _DEEPEST // 2])
    if (some[1:] != some[:-1]).all():
        return True
    return int(np.diff(np.searchsorted(opens, ends), prepend=0).max(initial=0)) <= _DEEPEST


def _unsure_of_times(letters: Letters) -> bool:
    """Whether perhaps a time has an exponent, or so many digits that a decimal with nine places may not hold it."""
    # An escaped digit is a digit of a time that is text.
    return bool(count_of(letters, _BACKSLASH)) or _in_times(
        letters, places_by(letters, _long_or_powers, _FAR)
    )


def _long_or_powers(letters: Letters) -> Places:
    """Places in what may be a number with an exponent, or one of more than 26 letters."""
    numeric = letters - np.uint8(_POINT) < _UP_TO_NINE
    powers = np.flatnonzero(((letters[1:-1] | _SMALL) == _E) & numeric[:-2])
    powers = powers[_OF_A_WHOLE[letters[powers + 2]]]
    # Four letters at once: where 27 in turn are of a number, six such words have nothing else in them.
    words = numeric[: len(numeric) // 4 * 4].view(np.uint32) == _ALL_FOUR
    two = words[1:] & words[:-1]
    four = two[2:] & two[:-2]
    return np.append(powers, np.flatnonzero(four[2:] & two[:-4]) * 4)


def _in_times(letters: Letters, places: Places) -> bool:
    """Whether perhaps one of some places within numbers is in the value of a time."""
    for _ in range(_FAR):
        inside = _OF_A_POWER[letters[places - 1]]
        if not inside.any():
            break
        places = places - inside
    else:
        return True
    places = places - (letters[places - 1] == _QUOTE)
    if _SPACE[letters[places - 1]].any() or _SPACE_BAR in letters[places - 1]:
        return True
    keys = places[letters[places - 1] == _COLON] - 1
    if _SPACE[letters[keys - 1]].any():
        return True
    for before, letter in enumerate(reversed(b'"time"'), start=1):
        keys = keys[letters[keys - before] == letter]
    return len(keys) > 0


def strange_times(lines: bytes, letters: Letters) -> bool:
    """Whether Arrow may not read times of lines to more than nine decimal places."""
    if b"\\u00" in lines and _ESCAPED.search(lines):
        return True
    quotes = places_of(letters, lambda some: some == _QUOTE)
    keys = quotes[:-1][np.diff(quotes) == len(b"time") + 1]
    for place, letter in enumerate(b"time", start=1):
        keys = keys[letters[keys + place] == letter]
    for key in keys[_unusual(letters, keys + len(b'"time"'))].tolist():
        if found := _TIME.match(lines, key):
            text, number = found.groups()
            if (text is None or b":" not in text) and not _SAFE.match(number if text is None else text):
                return True
    return False


def _unusual(letters: Letters, after: Places) -> npt.NDArray[np.bool_]:
    """Which values, after their keys, are something else than a plain number or text without one."""
    padded = np.append(letters, np.zeros(_USUAL + 4, np.uint8))
    starts = after + (padded[after] == _COLON)
    starts += padded[starts] == _SPACE_BAR
    spaced = _SPACE[padded[after]] | _SPACE[padded[starts]]
    starts += padded[starts] == _QUOTE
    window = np.lib.stride_tricks.sliding_window_view(padded, _USUAL)[starts]
    whole = np.argmin(_OF_A_WHOLE[window], axis=1)
    inside = _OF_A_NUMBER[window]
    end = np.argmin(inside, axis=1)
    unusual: npt.NDArray[np.bool_] = (
        spaced | (whole > _MOST_WHOLE) | inside.all(axis=1) | _EXPONENT[padded[starts + end]]
    )
    return unusual
