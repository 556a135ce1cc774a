"""Results by the content of everything that they depend on, so that what did not change is not done again."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import msgspec

import precedes
from precedes.gate.items import Item
from precedes.gate.rules import rules

_FORMAT = "1"


@cache
def _program() -> bytes:
    """The program itself, Python, and what is installed: a result of another version, also of what a model or the
    solver is made of, is not reused."""
    folder = Path(precedes.__file__).parent
    own = content(path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".lark"))
    installed = sorted({f"{found.name} {found.version}" for found in distributions()})
    return "\0".join((own, sys.version, *installed)).encode()


def content(paths: Iterable[Path]) -> str:
    """A digest of the bytes of files, and of their names in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        data = path.read_bytes()
        digest.update(os.fsencode(path.name) + f"\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def key(kind: str, settings: object, paths: Iterable[Path]) -> str:
    """The key of one check: its kind, its settings, the files it reads, and this program."""
    digest = hashlib.sha256(f"{_FORMAT}\0{kind}\0".encode())
    digest.update(msgspec.json.encode(settings, order="deterministic"))
    digest.update(content(paths).encode())
    digest.update(_program())
    return digest.hexdigest()


class Cache:
    """A folder of results. A file that cannot be read counts as absent; nothing is ever trusted by age."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, name: str) -> tuple[Item, ...] | None:
        """The items kept under a key; None where there are none, or none that this program can have kept."""
        if self._folder is None:
            return None
        try:
            items = msgspec.json.decode((self._folder / f"{name}.json").read_bytes(), type=tuple[Item, ...])
        except (OSError, msgspec.DecodeError):
            return None
        return items if items and all(item.rule in rules() for item in items) else None

    def put(self, name: str, items: tuple[Item, ...]) -> None:
        """Keep items under a key. What cannot be written is not kept; the run goes on. Nor is what is undecided: more
        time, or another machine, may decide it."""
        if self._folder is None or any(item.result == "undecided" for item in items):
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            ignored = self._folder / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n", encoding="utf-8")
            handle, written = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(items))
            Path(written).replace(self._folder / f"{name}.json")
        except OSError:
            return
