"""`precedes fmt`: .prec files in the one layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.jobs.check import decoded, file_bytes
from precedes.language.formatting.formatter import formatted


@dataclass(frozen=True, slots=True)
class Layout:
    """A file as it is and as it is to be."""

    path: str
    before: str
    after: str

    @property
    def changes(self) -> bool:
        """Whether the file is not in the one layout."""
        return self.before != self.after

    def diff(self) -> str:
        """The lines that change, as `diff -u` writes them."""
        before, after = (text.replace("\r\n", "\n").splitlines() for text in (self.before, self.after))
        lines = unified_diff(before, after, self.path, self.path, lineterm="")
        return "".join(f"{line}\n" for line in lines)


def layout(data: bytes, path: str) -> Layout:
    """The layout of one file. PrecedesError with every mistake of what does not parse."""
    text = decoded(data, path, newline="")
    return Layout(path, text, formatted(text, path))


def layouts(files: Sequence[Path]) -> tuple[Layout, ...]:
    """The layout of every file. PrecedesError with the mistakes of all files, where one does not parse."""
    found: list[Layout] = []
    mistakes: list[Diagnostic] = []
    for path in files:
        try:
            found.append(layout(file_bytes(path), str(path)))
        except PrecedesError as error:
            mistakes += error.diagnostics
    if mistakes:
        raise PrecedesError(tuple(mistakes))
    return tuple(found)


def write(one: Layout) -> None:
    """Write a file in its layout. PrecedesError if it cannot be written."""
    try:
        Path(one.path).write_bytes(one.after.encode())
    except OSError as error:
        raise usage(f"cannot write {one.path}: {error.strerror}") from error
