"""A check: a value that knows what its result depends on and how to compute the result.

Checks are picklable, because they run in processes of their own.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from precedes.core.diagnostics import usage
from precedes.core.isolation import Channel
from precedes.gate.entry import Entry
from precedes.gate.findings import Item
from precedes.gate.scope import Scope


class Doing(Struct, frozen=True, tag="doing"):
    """What a check in a process of its own is at, in words."""

    text: str


@dataclass(frozen=True, slots=True)
class Check(ABC):
    """One check of the gate. `root` is the folder of the configuration; paths are relative to it. `number` tells apart
    those that have one title."""

    root: Path
    number: int = field(default=1, kw_only=True)

    @property
    def name(self) -> str:
        """As it is told, and accepted by: of all checks of a gate, this one's alone."""
        return self.title if self.number == 1 else f"{self.title} ({self.number})"

    @property
    @abstractmethod
    def title(self) -> str:
        """What is done to what."""

    @property
    @abstractmethod
    def cost(self) -> int:
        """Cheap ones first: 0 for figures, 1 for claims, 2 for traces, 3 for models."""

    @property
    def code(self) -> tuple[Path, ...] | None:
        """The files that the key covers where code of the project runs in this check, which is then carried out in a
        process of its own; None where none runs."""
        return None

    @property
    @abstractmethod
    def scope(self) -> Scope:
        """How far it goes: what the baseline compares whatever comes out."""

    @abstractmethod
    def key(self) -> str:
        """Of all that the result depends on."""

    @abstractmethod
    def run(self, channel: Channel) -> tuple[Item, ...]:
        """Carry it out. PrecedesError where it cannot be."""


def files(root: Path, patterns: Iterable[str], suffix: str | None = None) -> tuple[Path, ...]:
    """The files that patterns name below a folder, in order, each once. PrecedesError for a pattern without any."""
    return tuple(dict.fromkeys(path for pattern in patterns for path in _files(root, pattern, suffix)))


def files_at(
    entry: Entry, key: str, root: Path, patterns: Iterable[str], suffix: str | None = None
) -> tuple[Path, ...]:
    """The same for the patterns of one key of the configuration, where a mistake is placed."""
    found: list[Path] = []
    for pattern in patterns:
        with entry.at(key, pattern):
            found += files(root, (pattern,), suffix)
    return tuple(dict.fromkeys(found))


def _files(root: Path, pattern: str, suffix: str | None) -> Sequence[Path]:
    plain = root / pattern
    if plain.is_dir():
        found = sorted(path for path in plain.rglob(f"*{suffix or ''}") if path.is_file())
    elif plain.is_file():
        found = [plain]
    else:
        found = sorted(path for path in _matching(root, pattern) if path.is_file())
    if not found:
        raise usage(f"no file for {pattern!r} in {root}", "patterns are relative to the configuration")
    return found


def _matching(root: Path, pattern: str) -> Sequence[Path]:
    try:
        return tuple(root.glob(pattern))
    except (ValueError, NotImplementedError) as error:
        raise usage(
            f"{pattern!r} is not a pattern: {error}", "patterns are relative to the configuration"
        ) from None


def relative(path: Path, root: Path) -> str:
    """A path as reports show it: relative to the configuration, wherever the gate is run, with forward slashes. Bytes
    that are no UTF-8 are replaced, so that every report can be written."""
    written = Path(os.path.relpath(path, root)).as_posix()
    return written.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def line_of(path: Path, text: str) -> int:
    """The first line of a file that contains a text, 1 where none does."""
    lines: Sequence[str] = ()
    if path.is_file():
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if text in line), 1)
