"""What is known of a text that is being written, whether or not it has mistakes."""

from __future__ import annotations

from dataclasses import dataclass

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span
from precedes.editor.occurrences import Occurrence, occurrences
from precedes.language.errors import Mistakes
from precedes.language.library import Library, standard_library
from precedes.language.loader import CompiledFile, compile_text
from precedes.language.parsing.lexer import RawStatement, Token, scan_with_comments
from precedes.language.parsing.parser import read
from precedes.language.syntax import SourceFile


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text: its words, what parses of it, where its names are, its mistakes, and what it asks if it has none.

    Statements are parsed one by one, so a mistake in one hides nothing of the others. `library` has the definitions
    of the text that parse, on top of the standard library.
    """

    text: str
    lines: tuple[str, ...]
    statements: tuple[RawStatement, ...]
    comments: tuple[Token, ...]
    source: SourceFile
    library: Library
    occurrences: tuple[Occurrence, ...]
    mistakes: tuple[Diagnostic, ...]
    compiled: CompiledFile | None

    def token_at(self, line: int, column: int) -> Token | None:
        """The token at a place, or the one that ends there."""
        found = None
        for statement in self.statements:
            for token in statement.tokens:
                if token.line == line and token.column <= column <= token.end:
                    found = token
        return found

    def occurrence_at(self, line: int, column: int) -> Occurrence | None:
        """The name at a place, or the one that ends there."""
        found = [one for one in self.occurrences if _covers(one.span, line, column)]
        # At the border of two names, the one that begins there.
        return max(found, key=lambda one: (one.span.column, -one.span.end_column), default=None)


def analyze(text: str, path: str | None = None) -> Analysis:
    """Read a text as `precedes check` does, on top of the standard library."""
    below = standard_library()
    text = text.removeprefix("\ufeff")
    reading = read(text, path)
    statements, comments = scan_with_comments(text, Mistakes(None, ()))
    library = Library([reading.source], below, Mistakes(None, ()))
    # Infers every definition; a mistaken one stays as it is written, and may be used.
    library.check(Mistakes(None, ()))
    mistakes: tuple[Diagnostic, ...] = ()
    compiled = None
    try:
        compiled = compile_text(text, path, below)
    except PrecedesError as error:
        mistakes = error.diagnostics
    return Analysis(
        text,
        reading.source.lines,
        tuple(statements),
        tuple(comments),
        reading.source,
        library,
        occurrences(reading.source, library),
        mistakes,
        compiled,
    )


def _covers(span: Span, line: int, column: int) -> bool:
    return span.line == line and span.column <= column <= span.end_column
