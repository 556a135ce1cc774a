"""Which files a process opens to read: what a model reads belongs to what its result depends on."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

from precedes.core.cache_directory import cache_directory

_SYSTEM = ("/proc", "/sys", "/dev", "/etc")


class Reads:
    """The files that this process opens from now on, but for those of Python, of installed packages and of this
    program, whose versions are in every key."""

    def __init__(self) -> None:
        self._opened: set[str] = set()
        sys.addaudithook(self._hear)

    @property
    def paths(self) -> frozenset[Path]:
        """What has been opened so far."""
        found = (_source(Path(opened).resolve()) for opened in tuple(self._opened))
        return frozenset(path for path in found if is_own(path) and path.is_file())

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        opened, mode, flags = arguments
        if isinstance(opened, (str, bytes)) and _reads(mode, flags):
            self._opened.add(os.path.abspath(os.fsdecode(opened)))  # noqa: PTH100 - where it is opened, not later


def _reads(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return "r" in mode or "+" in mode
    return not isinstance(flags, int) or flags & (os.O_WRONLY | os.O_RDWR) != os.O_WRONLY


def _source(path: Path) -> Path:
    """What a compiled file was made from."""
    if path.parent.name != "__pycache__":
        return path
    try:
        return Path(importlib.util.source_from_cache(path))
    except ValueError:
        return path


def is_own(path: Path) -> bool:
    """Whether a file is of the project rather than of Python, an installed package or this program."""
    return not (
        "__pycache__" in path.parts
        or path.as_posix().startswith(_SYSTEM)
        or _installed().intersection(path.parents)
    )


@cache
def _installed() -> frozenset[Path]:
    paths = sysconfig.get_paths()
    found = [Path(paths[kind]) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    for package in ("precedes", "precedes_models", "precedes_specs"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            found.append(Path(spec.origin).parent)
    kept = cache_directory()
    if kept is not None:
        found.append(kept)
    return frozenset(path.resolve() for path in found)
