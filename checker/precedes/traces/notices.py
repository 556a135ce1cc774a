"""What a reader of traces did that the user should know of: frozen notices and their collector.

A notice is no error: the run goes on. Codes are stable, T101 and up. The order is by code, then by text,
whatever the order in which files and blocks were read, so that two engines say the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

UNKNOWN_COLUMN: Final = "T101"
NO_SEQ: Final = "T102"
ROW_TWICE: Final = "T103"
SEND_REPEATED: Final = "T104"
VALUE_IGNORED: Final = "T105"
FILE_IGNORED: Final = "T106"
FILE_TWICE: Final = "T107"
CLOCK_OUTSIDE: Final = "T108"


def unknown_column(name: str) -> str:
    """What is told of a column that no trace has."""
    return f"column `{name}` is not known and was ignored"


@dataclass(frozen=True, slots=True, order=True)
class Notice:
    """One thing told. `count` says how often it was met; None where only that it was met is told."""

    code: str
    text: str
    count: int | None = None

    def render(self) -> str:
        """`CODE text (count)`."""
        return f"{self.code} {self.text}" + ("" if self.count is None else f" ({self.count:,})")


class Notices:
    """Collects notices; equal ones are told once, their counts added. Picklable."""

    def __init__(self, notices: Iterable[Notice] = ()) -> None:
        self._counts: dict[tuple[str, str], int | None] = {}
        for notice in notices:
            self._add(notice.code, notice.text, notice.count)

    def once(self, code: str, text: str) -> None:
        """Tell something that has no number."""
        self._add(code, text, None)

    def count(self, code: str, text: str, number: int) -> None:
        """Tell that something was met `number` times more; nothing for 0."""
        if number:
            self._add(code, text, number)

    def merge(self, other: Iterable[Notice]) -> None:
        """Take over what another collector, perhaps in another process, was told."""
        for notice in other:
            self._add(notice.code, notice.text, notice.count)

    def all(self) -> tuple[Notice, ...]:
        """All notices, by code and text."""
        return tuple(Notice(code, text, self._counts[code, text]) for code, text in sorted(self._counts))

    def _add(self, code: str, text: str, number: int | None) -> None:
        before = self._counts.get((code, text))
        self._counts[code, text] = number if before is None else before + (number or 0)
