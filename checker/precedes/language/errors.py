"""Mistakes in one text, collected, each with the line where it occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span
from precedes.core.error_codes import codes


class Mistakes:
    """The mistakes found so far in one text. Passes append and go on, so that all are told at once."""

    def __init__(self, path: str | None, lines: Sequence[str], found: list[Diagnostic] | None = None) -> None:
        self.path = path
        self.lines = lines
        self.found: list[Diagnostic] = [] if found is None else found

    def tell(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Append one mistake."""
        assert code in codes(), code
        line = self.lines[span.line - 1] if 0 < span.line <= len(self.lines) else None
        self.found.append(Diagnostic(code, message, self.path, span if span.line else None, line, hint))

    def elsewhere(self, path: str | None, lines: Sequence[str]) -> Mistakes:
        """For another text, into the same list."""
        return Mistakes(path, lines, self.found)

    def check(self) -> None:
        """PrecedesError with every mistake, in the order of the text, if there are any."""
        if self.found:
            raise PrecedesError(in_order(self.found))


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each diagnostic once, by line and column."""
    return tuple(
        sorted(dict.fromkeys(diagnostics), key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
    )


def place(span: Span) -> str:
    """`line 2, column 14`."""
    return f"line {span.line}, column {span.column}"
