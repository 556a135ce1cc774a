"""What Arrow must not be given: input on which it crashes, takes all memory, or reads what is not written.

Arrow's decimals look up powers of ten by the difference of two scales, in a table of 39, and do not look whether there
is one. Its JSON reader recurses with the depth of a value, gives every name in an object a column, and loses its
footing when a column is an object in one block of a file and something else in a later one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

_LARGEST_POWER: Final = 38
PLACES: Final = 27
"""Decimal places of the decimals that text becomes: the 11 digits that are left do for every second of int64
nanoseconds.
"""

# Together at most 65 places, which is 38 more than 27; any number of digits before the point is Arrow's to refuse.
_FRACTION: Final = 30
_EXPONENT: Final = _LARGEST_POWER + PLACES - _FRACTION

NUMBER: Final = (
    rf"^[+-]?([0-9]+(\.[0-9]{{0,{_FRACTION}}})?|\.[0-9]{{1,{_FRACTION}}})"
    r"([eE](\+?[0-9]{1,2}|-[0-9]|-[0-2][0-9]|-3[0-5]))?$"
)
"""Text that Arrow reads as the number that it is, or refuses."""

_DEEPEST: Final = 256
"""Brackets that one line may open."""

_LONGEST: Final = 2**31 - 2
"""Bytes that Arrow's JSON reader takes at once."""

_LINES_FOR_KEYS: Final = 1_000
_RARE: Final = 0.125

_SAFE: Final = re.compile(NUMBER.encode())
_TIME: Final = re.compile(rb'"time"[ \t\r]*:[ \t\r]*(?:"([^"\\]*)"|([^ \t\r\n,}"]*))')
# An escaped `time`, sign, point, digit or exponent.
_ESCAPED: Final = re.compile(rb"\\u00(?:2[bdeBDE]|3[0-9]|[46][59dD]|74)")
_DIGIT: Final = np.isin(np.arange(256), list(b"0123456789"))
# Arrow takes e+-5 for e-5.
_BEFORE_SIGN: Final = np.isin(np.arange(256), list(b"eE+"))
_OF_A_NUMBER: Final = np.isin(np.arange(256), list(b'0123456789.eE+-:" \t\r'))
"""What may stand before an exponent: the number, and what comes before that."""
_OPEN_BRACE, _OPEN_BRACKET = b"{["


def fits(lines: bytes, letters: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> bool:
    """Whether Arrow may read lines of JSON: their bytes as such and as `letters`, and where each ends."""
    return len(lines) <= _LONGEST and _shallow(letters, ends) and not _strange_times(lines, letters)


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


def _shallow(letters: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> bool:
    # One bit apart: a brace and a bracket.
    opens = np.flatnonzero((letters | (_OPEN_BRACKET ^ _OPEN_BRACE)) == _OPEN_BRACE)
    if len(opens) <= len(ends) + _DEEPEST - 1:
        # Each line has one at least.
        return True
    return int(np.diff(np.searchsorted(opens, ends), prepend=0).max(initial=0)) <= _DEEPEST


def _strange_times(lines: bytes, letters: npt.NDArray[np.uint8]) -> bool:
    if b"\\u00" in lines and _ESCAPED.search(lines):
        return True
    for place in _suspects(letters).tolist():
        start = lines.rfind(b"\n", 0, place) + 1
        end = lines.find(b"\n", place)
        for found in _TIME.finditer(lines, start, end):
            text, number = found.groups()
            if (text is None or b":" not in text) and not _SAFE.match(number if text is None else text):
                return True
    return False


def _suspects(letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Where there is a negative exponent of two digits or a long fraction; also in ids, which is no matter."""
    minus = _inside(np.flatnonzero(letters == ord("-")), 4, 2, letters)
    minus = minus[_BEFORE_SIGN[letters[minus - 1]] & _DIGIT[letters[minus + 1]] & _DIGIT[letters[minus + 2]]]
    for before in (2, 3, 4):
        minus = minus[_OF_A_NUMBER[letters[minus - before]]]
    points = _inside(np.flatnonzero(letters == ord(".")), 0, _FRACTION, letters)
    for ahead in (_FRACTION, _FRACTION // 2, 1):
        points = points[_DIGIT[letters[points + ahead]]]
    return np.sort(np.concatenate([minus, points]))


def _inside(
    places: npt.NDArray[np.int64], before: int, after: int, letters: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int64]:
    return places[(places >= before) & (places < len(letters) - after)]
