"""Diagnostics of mistakes in text and in traces, as data. Other modules print them.

A diagnostic says what was wrong, where, and what would be right. Its code is stable: P for text that does not
parse, N for names and sorts, S for scenarios, T for traces, U for usage, K for Spark, I for internal errors.
"""

from __future__ import annotations

from dataclasses import dataclass

from precedes.core.printable import columns

_LONG = 160
"""The longest line that is shown whole."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a file: lines and columns count from 1; `end_column` is exclusive."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about a file. `row` is for traces: the number of the row, from 1, where there is no line."""

    code: str
    message: str
    path: str | None = None
    span: Span | None = None
    source_line: str | None = None
    hint: str | None = None
    row: int | None = None

    def render(self) -> str:
        """`path:line:column: CODE message`, then the line with a caret, then what would be right."""
        place = self.path or ("" if self.span is None else "<text>")
        if self.span is not None:
            place += f":{self.span.line}:{self.span.column}"
        elif self.row is not None:
            place += f": row {self.row}"
        lines = [f"{place}: {self.code} {self.message}" if place else f"{self.code} {self.message}"]
        if self.span is not None and self.source_line is not None:
            lines += [f"    {line}" for line in _excerpt(self.source_line, self.span)]
        if self.hint is not None:
            lines.append(f"    {self.hint}")
        return "\n".join(lines)


def _excerpt(line: str, span: Span) -> tuple[str, str]:
    """The line and carets under the span; of a long line, what is around it. What is not printable takes one place."""
    shown = "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)
    start, end = span.column - 1, min(span.end_column - 1, len(shown))
    if len(shown) > _LONG:
        first = max(0, start - _LONG // 2)
        last = min(len(shown), first + _LONG)
        shown = ("..." if first else "") + shown[first:last] + ("..." if last < len(shown) else "")
        shift = first - (3 if first else 0)
        start, end = start - shift, min(end, last) - shift
    return shown, " " * columns(shown[:start]) + "^" * max(1, columns(shown[start:end]))


class PrecedesError(Exception):
    """What a user asked for cannot be carried out. The command ends with exit code 2.

    `str(error)` has one message or more: each says what was wrong, where, and what would be right, with a stable code
    ([codes](codes.md)).

    Attributes:
        diagnostics: The messages as values, with `code`, `message`, `path`, `span` and `hint`.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        # Nothing but this, so that it can be pickled in a Spark worker.
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


def usage(message: str, hint: str | None = None) -> PrecedesError:
    """An error about what was asked for, without a place in a file."""
    return PrecedesError((Diagnostic("U001", message, hint=hint),))


def diagnosed(error: Exception) -> tuple[Diagnostic, ...]:
    """What a user is told of an error, whatever it is."""
    if isinstance(error, PrecedesError):
        return error.diagnostics
    if isinstance(error, OSError):
        of = f": {error.filename}" if error.filename else ""
        return (Diagnostic("U003", f"{error.strerror or error}{of}"),)
    hint = "this is a defect of precedes; PRECEDES_DEBUG=1 shows where"
    return (Diagnostic("I001", f"internal error: {type(error).__name__}: {error}", hint=hint),)
