"""What can be said of the letters of columns of texts without looking at one text after the other. The columns are of
the type `string`, in which places of letters take 32 bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Int32
from precedes.traces.arrow import Column

Letters = npt.NDArray[np.uint8]

_ZERO, _NINE, _POINT = b"09."


def letters(texts: Column) -> Letters:
    """The letters of all texts, one after the other."""
    data, ends = texts.buffers()[2], _ends(texts)
    if data is None or not len(texts):
        return np.zeros(0, np.uint8)
    found: Letters = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
    return found


def lengths(texts: Column) -> Int32:
    """How many bytes each text has. Where none is, Arrow has kept none."""
    found: Int32 = np.diff(_ends(texts))
    return found


def longest(texts: Column) -> int:
    """Bytes of the longest text."""
    return int(lengths(texts).max(initial=0))


def none_is_empty(texts: Column) -> bool:
    """Whether each text that is there has letters."""
    present: int = len(texts) - texts.null_count
    return int(np.count_nonzero(lengths(texts))) == present


def are_digits(texts: Column) -> bool:
    """Whether each text that is there has digits, and nothing else."""
    found = letters(texts)
    return none_is_empty(texts) and bool(((found >= _ZERO) & (found <= _NINE)).all())


def are_digits_and_points(texts: Column) -> bool:
    """Whether there is nothing else in any text."""
    found = letters(texts)
    return bool((((found >= _ZERO) & (found <= _NINE)) | (found == _POINT)).all())


def are_short_wholes(texts: Column, digits: int) -> bool:
    """Whether each text that is there is a whole number from 0 of at most so many digits, without zeros in front."""
    sizes = lengths(texts)
    if not are_digits(texts) or longest(texts) > digits:
        return False
    starts = np.cumsum(sizes) - sizes
    return bool((letters(texts)[starts[sizes > 1]] != _ZERO).all())


def _ends(texts: Column) -> Int32:
    """Where the texts begin and end."""
    if not len(texts):
        return np.zeros(1, np.int32)
    return np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
