"""The directory for files that this program can make again, for one user."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

PLACE: Final = "PRECEDES_CACHE"
"""The variable of the environment that names another place."""


def cache_directory() -> Path | None:
    """The folder, which need not be there; None where there is no place for it."""
    told = os.environ.get(PLACE)
    if told:
        return Path(told)
    try:
        return _of_user() / "precedes"
    except RuntimeError:
        # There is no home.
        return None


def _of_user() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
