"""One table of the configuration, and where its settings stand in the file.

A mistake in a setting is found wherever its value is used. `Entry.at` gives it the place of the value: file, line
and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span
from precedes.language.profiles import ASKED
from precedes.language.requirements import REQUIRED


@dataclass(frozen=True, slots=True)
class Entry:
    """The table `number` of a kind, from 0, in the file `path`. Without a kind, it is the whole configuration."""

    path: Path
    kind: str = ""
    number: int = 0

    @contextmanager
    def at(self, key: str, value: str | None = None) -> Iterator[None]:
        """Give each mistake that has no place in a file the place of a setting, or of one value of it."""
        try:
            yield
        except PrecedesError as error:
            raise PrecedesError(self.placed(error.diagnostics, key, value)) from error

    def mistake(
        self, code: str, message: str, key: str, value: str | None = None, hint: str | None = None
    ) -> PrecedesError:
        """A mistake in a setting, or in one value of it."""
        return PrecedesError(self.placed((Diagnostic(code, message, hint=hint),), key, value))

    def placed(
        self, mistakes: Sequence[Diagnostic], key: str, value: str | None = None
    ) -> tuple[Diagnostic, ...]:
        """The same mistakes. Those that have no place in a file have the place of a setting."""
        return tuple(
            self._placed(mistake, key, value) if mistake.path in (None, REQUIRED, ASKED) else mistake
            for mistake in mistakes
        )

    def _placed(self, mistake: Diagnostic, key: str, value: str | None) -> Diagnostic:
        lines = self._lines()
        place = _place(lines, key)
        inside = None if place is None or value is None else _value(lines, place, value)
        if inside is not None and mistake.span is not None and mistake.span.line == 1:
            # The mistake is at a place within the value.
            first = inside.column - 1
            inside = replace(
                mistake.span,
                line=inside.line,
                column=first + mistake.span.column,
                end_column=first + mistake.span.end_column,
            )
        span = inside or place
        if span is None:
            return replace(mistake, path=str(self.path), span=None, message=f"{key}: {mistake.message}")
        return replace(mistake, path=str(self.path), span=span, source_line=dict(lines)[span.line])

    def _lines(self) -> Sequence[tuple[int, str]]:
        """The lines of this table by their numbers."""
        text = self.path.read_text(encoding="utf-8").splitlines()
        return tuple(lines_of(text, self.kind, self.number))


def lines_of(text: Sequence[str], kind: str, number: int) -> Iterator[tuple[int, str]]:
    """The lines, by their numbers, of one of the tables of a kind, with the tables in it; every line without a kind."""
    seen, inside = -1, not kind
    for at, line in enumerate(text, 1):
        opening = re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line)
        if kind and opening is not None:
            name = opening[2].removeprefix("tool.precedes.")
            if opening[1] == "[[" and name == kind:
                seen += 1
            inside = name.partition(".")[0] == kind and seen == number
        if inside:
            yield at, line


def _place(lines: Sequence[tuple[int, str]], key: str) -> Span | None:
    """Where a key is set: `key =`, or a table of its own."""
    set_here = re.compile(rf"""(?:^|[{{,])\s*(?P<key>(['"]?){re.escape(key)}\2)\s*=""")
    opened_here = re.compile(rf"^\s*\[(?:[^\]]*\.)?(?P<key>{re.escape(key)})\s*\]")
    for number, line in lines:
        found = set_here.search(line) or opened_here.match(line)
        if found is not None:
            return Span(number, found.start("key") + 1, found.end("key") + 1)
    return None


def _value(lines: Sequence[tuple[int, str]], key: Span, value: str) -> Span | None:
    """Where a value of a key stands, from the key on: in quotes, else as a bare word."""
    word = re.escape(value)
    for pattern in (rf"""(['"])(?P<value>{word})\1""", rf"(?<![\w-])(?P<value>{word})(?![\w-])"):
        for number, line in lines:
            if number < key.line:
                continue
            found = re.compile(pattern).search(line, key.end_column - 1 if number == key.line else 0)
            if found is not None:
                return Span(number, found.start("value") + 1, found.end("value") + 1)
    return None
