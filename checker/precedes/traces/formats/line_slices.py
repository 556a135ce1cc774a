"""Text in slices of whole lines, and the slices of JSON Lines that Arrow may see.

Arrow reads two objects on a line as two rows and crashes on a `null` between them. So before it reads a slice, every
line must begin with `{`, end with `}` and have nothing between two objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from precedes.traces.formats.byte_places import Letters, Places, count_of, places_of
from precedes.traces.formats.canonical_columns import Irregular

SPACE: Final = b" \t\r\n"
_AFTER_OBJECT: Final = re.compile(rb"\}[ \t\r]*[^ \t\r\n,}\]]")
_NEWLINE, _OPEN, _CLOSE = b"\n{}"
_MAY_FOLLOW: Final = b"\n,}]"


@dataclass(frozen=True, slots=True)
class Slice:
    """Whole lines of a file, and the number of the first."""

    lines: bytes
    first_line: int


@dataclass(frozen=True, slots=True)
class Tidied:
    """Lines that all begin with `{`, end with `}` and a newline, and have one object each: where each ends, and their
    numbers in the file.
    """

    lines: bytes
    letters: Letters
    ends: Places
    numbers: Places


def slices(block: bytes, first_line: int, size: int) -> Iterator[Slice]:
    """Lines in slices of about `size` bytes."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start + size) + 1 or len(block)
        lines = block[start:end]
        yield Slice(lines, first_line)
        start = end
        if start < len(block):
            first_line += count_lines(lines)


def count_lines(block: bytes) -> int:
    """How many lines there are, the last one also without its end."""
    return count_of(np.frombuffer(block, np.uint8), _NEWLINE) + (not block.endswith(b"\n"))


def tidied(given: Slice) -> Tidied:
    """The slice without blank lines. Raises Irregular where its lines are not an object each."""
    lines = given.lines if given.lines.endswith(b"\n") else given.lines + b"\n"
    letters = np.frombuffer(lines, np.uint8)
    ends = line_ends(letters)
    numbers = np.arange(given.first_line, given.first_line + len(ends))
    if not _every_line_is_braced(letters, ends):
        stripped = [line.strip(SPACE) for line in lines.split(b"\n")[:-1]]
        kept = [k for k, line in enumerate(stripped) if line]
        lines, numbers = b"".join(stripped[k] + b"\n" for k in kept), numbers[kept]
        letters = np.frombuffer(lines, np.uint8)
        ends = line_ends(letters)
        if not _every_line_is_braced(letters, ends):
            raise Irregular
    after = places_of(letters, lambda some: some == _CLOSE) + 1
    if not _may_follow(letters[after]) and _AFTER_OBJECT.search(lines):
        raise Irregular
    return Tidied(lines, letters, ends, numbers)


def _may_follow(letters: Letters) -> bool:
    """Whether each of these may follow an object."""
    found = letters == _NEWLINE
    for other in _MAY_FOLLOW:
        found |= letters == other
    return bool(found.all())


def line_ends(letters: Letters) -> Places:
    """Where each line ends."""
    return places_of(letters, lambda some: some == _NEWLINE)


def _every_line_is_braced(letters: Letters, ends: Places) -> bool:
    starts = np.append(0, ends[:-1] + 1)
    return bool(((letters[starts] == _OPEN) & (letters[ends - 1] == _CLOSE)).all()) if len(ends) else True
