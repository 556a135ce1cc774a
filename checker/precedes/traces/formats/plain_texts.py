"""What the letters and lengths of the texts of a column say at once: whether they are plain numbers, or empty.

Nearly always they are what a trace should have, and to look at letters takes fewer steps than a pattern. What is not
sure here is left to others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.traces.arrow import Column

_DIGITS: Final = (ord("0"), 10)
_DIGITS_AND_POINTS: Final = (ord("."), 12)
"""With `/`, which stands between them in ASCII and in no number."""
_SHORT: Final = 18
"""Digits of a number that is less than 2**63 for certain."""
_FITS: Final = 26
"""Digits, and perhaps a point, that fit a decimal of 38 digits of which nine are decimal places."""


def whole(texts: Column) -> bool:
    """Whether all are surely whole numbers without a sign that are an int64."""
    return all(_only(chunk, _DIGITS, _SHORT) for chunk in texts.chunks)


def unsigned(texts: Column) -> bool:
    """Whether all surely are digits and points, so few that Arrow reads them as a decimal with nine places, or refuses
    to.
    """
    return all(_only(chunk, _DIGITS_AND_POINTS, _FITS) for chunk in texts.chunks)


def longest(texts: Column) -> int:
    """Bytes of the longest."""
    return max((int(np.diff(_places(chunk)).max(initial=0)) for chunk in texts.chunks), default=0)


def some_empty(texts: Column) -> bool:
    """Whether perhaps one of them has no letters: what is absent has none."""
    return any(bool((np.diff(_places(chunk)) == 0).any()) for chunk in texts.chunks)


def _only(texts: Column, letters: tuple[int, int], most: int) -> bool:
    """Whether all letters are among so many from the first on, and no text has more than `most`."""
    places, data = _places(texts), texts.buffers()[2]
    if data is None or not len(places):
        return True
    first, count = letters
    given = np.frombuffer(data, np.uint8)[places[0] : places[-1]]
    return bool((given - np.uint8(first) < count).all()) and int(np.diff(places).max(initial=0)) <= most


def _places(texts: Column) -> npt.NDArray[np.int32]:
    """Where in the letters each text begins and ends."""
    offsets = np.frombuffer(texts.buffers()[1] or b"", np.int32)
    return offsets[texts.offset : texts.offset + len(texts) + 1]
