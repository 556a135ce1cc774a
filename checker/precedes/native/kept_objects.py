"""Where object code is kept between processes, and under which key.

It is beside the source of its function, as Python keeps what it compiles, or in the user's cache directory where that
cannot be written. A file has one function, for one kind of machine and one compiler; what is damaged, or of another
source, is replaced.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Final

import numpy as np

from precedes.core.cache_directory import cache_directory

_DIGEST: Final = 32
"""Bytes of a digest."""


def kept_or_made(function: FunctionType, behind: str, make: Callable[[], bytes]) -> bytes:
    """The object code of a function: as it was kept, or made now and kept.

    `behind` tells the text of everything that is compiled into it.
    """
    path = _place(function)
    key = hashlib.sha256(f"{path} {behind}".encode()).digest()
    code = None if path is None else _read(path, key)
    if code is None:
        code = make()
        if path is not None:
            # What cannot be kept is made again.
            with suppress(OSError):
                _write(path, key, code)
    return code


def _place(function: FunctionType) -> Path | None:
    """The file for a function; None where there is no place for it."""
    source = Path(function.__code__.co_filename)
    name = f"{source.stem}.{function.__qualname__}.{_digest(_machine() + _maker())[:16]}.code"
    if not source.is_file():
        return None
    folder = source.parent / "__pycache__"
    if os.access(folder if folder.is_dir() else source.parent, os.W_OK):
        return folder / name
    cache_folder = cache_directory()
    return cache_folder and cache_folder / "machine_code" / _digest(str(source.parent))[:16] / name


def _read(path: Path, key: bytes) -> bytes | None:
    """What was kept with a key; None where there is nothing, or it is damaged. LLVM would end the process at that."""
    try:
        text = path.read_bytes()
    except OSError:
        return None
    found, said, code = text[:_DIGEST], text[_DIGEST : 2 * _DIGEST], text[2 * _DIGEST :]
    return code if found == key and hashlib.sha256(code).digest() == said else None


def _write(path: Path, key: bytes, code: bytes) -> None:
    """Keep object code. The file is there as a whole or not at all: other processes may read and write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        file.write(key + hashlib.sha256(code).digest() + code)
    Path(file.name).replace(path)


@cache
def _machine() -> str:
    """What the code runs on."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{sys.implementation.cache_tag} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


@cache
def _maker() -> str:
    """What makes the code: numba by its files, which need not be imported, and what it was told in the environment."""
    import llvmlite

    spec = find_spec("numba")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("there is no numba")
    numba = Path(spec.origin).stat()
    told = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    here = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return f"{numba.st_mtime_ns} {numba.st_size} {llvmlite.__version__} {np.__version__} {told} {here}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
