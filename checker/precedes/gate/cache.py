"""Results by the content of everything that they depend on, so that what did not change is not done again."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

import precedes
from precedes.gate.items import Item

_FORMAT = "1"


@cache
def _program() -> bytes:
    """The program itself: a result of another version is not reused."""
    folder = Path(precedes.__file__).parent
    return content(path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".lark")).encode()


def content(paths: Iterable[Path]) -> str:
    """A digest of the bytes of files, and of their names in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        data = path.read_bytes()
        digest.update(f"{path.name}\0{len(data)}\0".encode())
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
        """The items kept under a key."""
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode((self._folder / f"{name}.json").read_bytes(), type=tuple[Item, ...])
        except (OSError, msgspec.DecodeError):
            return None

    def put(self, name: str, items: tuple[Item, ...]) -> None:
        """Keep items under a key. What cannot be written is not kept; the run goes on."""
        if self._folder is None:
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
