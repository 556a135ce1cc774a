"""Results by the content of everything that they depend on, so that a check whose inputs did not change is
not repeated.

A result is JSON with a seal, a keyed digest. The secret is outside the project. A result that somebody
changed, copied from another place or committed has no valid seal, and is computed again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from precedes.core.cache_directory import cache_directory
from precedes.core.version import SOURCE
from precedes.gate.findings import Item
from precedes.gate.rules import rules

SECRET: Final = "PRECEDES_CACHE_SECRET"  # noqa: S105 - the name of a variable
"""The variable of the environment with the secret, for pipelines that keep no files but the project's."""
DAYS: Final = 30
"""How long a result is kept that nobody asks for."""
MEGABYTES: Final = 64
"""How much is kept altogether; what was not asked for the longest goes first."""
_FORMAT: Final = 2
_SECRET_BYTES: Final = 32
_OURS: Final = re.compile(r"[0-9a-f]{64}\.json|tmp\w{8}")
"""Names of files that this program made. Others in the folder are left alone."""


@cache
def _program() -> bytes:
    """The program itself, Python, and what is installed: a result of another version, also of what a model or the
    solver is made of, is not reused."""
    folder = SOURCE
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    installed = sorted({f"{found.name} {found.version}" for found in distributions()})
    return "\0".join((content(paths), sys.version, *installed)).encode()


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


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """A result as it is kept. The key stands in it, so that it counts under no other one."""

    format: Literal[2]
    key: str
    items: tuple[Item, ...]
    seal: str


class Cache:
    """A folder of results. What cannot be read or is not sealed counts as absent; nothing is ever trusted by age."""

    def __init__(self, folder: Path | None, project: Path = Path()) -> None:
        """None: nothing is kept. `project` is what is under version control."""
        self._secret = None if folder is None else _secret(project)
        self._folder = None if self._secret is None else folder

    def get(self, name: str, check: str) -> tuple[Item, ...] | None:
        """The items of a check that are kept under a key; None where there are none that this program has kept."""
        if self._folder is None:
            return None
        path = self._folder / f"{name}.json"
        try:
            entry = msgspec.json.decode(path.read_bytes(), type=_Entry)
        except (OSError, msgspec.DecodeError):
            return None
        if not hmac.compare_digest(entry.seal.encode(), self._seal(name, entry.items).encode()):
            return None
        fits = all(item.rule in rules() and item.check == check for item in entry.items)
        if entry.key != name or not entry.items or not fits or _is_open(entry.items):
            return None
        with suppress(OSError):
            os.utime(path)
        return entry.items

    def put(self, name: str, items: tuple[Item, ...]) -> None:
        """Keep items under a key. What cannot be written is not kept; the run goes on. Nor is what is undecided: more
        time, or another machine, may decide it."""
        if self._folder is None or _is_open(items):
            return
        entry = _Entry(_FORMAT, name, items, self._seal(name, items))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            ignored = self._folder / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n", encoding="utf-8")
            handle, written = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(entry))
            Path(written).replace(self._folder / f"{name}.json")
        except OSError:
            return

    def prune(self) -> None:
        """Remove what nobody asked for in a long time, and what is too much."""
        if self._folder is None:
            return
        kept: list[tuple[float, int, Path]] = []
        for path in self._files():
            with suppress(OSError):
                found = path.stat()
                kept.append((found.st_mtime, found.st_size, path))
        size = 0
        for asked, taken, path in sorted(kept, reverse=True):
            size += taken
            if size > MEGABYTES * 1_000_000 or time.time() - asked > DAYS * 86_400:
                with suppress(OSError):
                    path.unlink()

    def _files(self) -> Sequence[Path]:
        assert self._folder is not None
        try:
            return [path for path in self._folder.iterdir() if _OURS.fullmatch(path.name) and path.is_file()]
        except OSError:
            return ()

    def _seal(self, name: str, items: tuple[Item, ...]) -> str:
        assert self._secret is not None
        return hmac.new(self._secret, msgspec.json.encode((_FORMAT, name, items)), hashlib.sha256).hexdigest()


def _is_open(items: tuple[Item, ...]) -> bool:
    return any(item.result == "undecided" for item in items)


def _secret(project: Path) -> bytes | None:
    """What seals results: of the environment, else of this user; None where there is no place for one. What lies in the
    project may have come with it, and is no secret."""
    told = os.environ.get(SECRET)
    if told:
        return told.encode()
    folder = cache_directory()
    if folder is None or folder.resolve().is_relative_to(project.resolve()):
        return None
    path = folder / "gate-secret"
    try:
        with suppress(FileExistsError):
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_hex(_SECRET_BYTES).encode())
        found = path.read_bytes()
    except OSError:
        return None
    # Another gate may be writing it.
    return found if len(found) == 2 * _SECRET_BYTES else None
