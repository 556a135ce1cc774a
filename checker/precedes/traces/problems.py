"""Errors of reading: the diagnostics of one file, ten at most, raised together."""

from __future__ import annotations

from typing import Final

from precedes.diagnostics import Diagnostic, PrecedesError
from precedes.traces.values import RowError

TOLD_AT_ONCE: Final = 10


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

    def check(self) -> None:
        """Raise PrecedesError if anything was noted."""
        if self._diagnostics:
            raise PrecedesError(tuple(self._diagnostics))


def unreadable(
    code: str, message: str, path: str, hint: str | None = None, row: int | None = None
) -> PrecedesError:
    """An error about a file as a whole, or about the place where reading it ended."""
    return PrecedesError((Diagnostic(code, message, path, hint=hint, row=row),))
