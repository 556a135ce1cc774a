"""Errors of reading: the diagnostics of one file, at most ten, raised together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.traces.formats.values import RowError
from precedes.traces.schema import NEEDED_COLUMNS

TOLD_AT_ONCE: Final = 10
_NAMED: Final = 30
"""Columns that a message names."""


class Problems:
    """Collects what is wrong with the rows of one file. Nothing of a file with a problem is used."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._diagnostics: list[Diagnostic] = []

    @property
    def full(self) -> bool:
        """Whether as many were found as are told at once."""
        return len(self._diagnostics) >= TOLD_AT_ONCE

    def add(self, row: int, error: RowError) -> None:
        """Note what is wrong with a row."""
        self._diagnostics.append(Diagnostic(error.code, error.message, self._path, hint=error.hint, row=row))

    def check(self, columns: Collection[str] = ()) -> None:
        """Raise PrecedesError if anything was noted.

        Where no row can be used and they lack one and the same column, that is told once, with the `columns` that
        they have: of none, if some row can be used.
        """
        if not self._diagnostics:
            return
        missing = [name for name in NEEDED_COLUMNS if name not in columns]
        codes = {diagnostic.code for diagnostic in self._diagnostics}
        if columns and missing and codes == {"T011"} and len(self._diagnostics) > 1:
            raise unreadable(
                "T010",
                f"the rows have no {', '.join(f'`{name}`' for name in missing)}",
                self._path,
                f"they have {some_columns(sorted(columns))}: rename the columns that hold it",
                self._diagnostics[0].row,
            )
        raise PrecedesError(tuple(self._diagnostics))


def some_columns(names: Iterable[str]) -> str:
    """The names of columns for a message, the first ones where there are many."""
    quoted = [f"`{name}`" for name in names]
    more = [f"and {len(quoted) - _NAMED:,} more"] if len(quoted) > _NAMED else []
    return ", ".join([*quoted[:_NAMED], *more])


def unreadable(
    code: str, message: str, path: str, hint: str | None = None, row: int | None = None
) -> PrecedesError:
    """An error about a file as a whole, or about the place where reading it ended."""
    return PrecedesError((Diagnostic(code, message, path, hint=hint, row=row),))
