"""Keeps pandas out of a process that does not need it.

If pandas is installed, Arrow imports it as soon as it gets a list, which takes a third of a second. Only
Spark needs pandas, and calls `allow_pandas`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _WithoutPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out of this process", name=fullname)
        return None


def leave_pandas_out() -> None:
    """Pretend that pandas is not installed. For programs that own their process."""
    sys.meta_path.insert(0, _WithoutPandas())


def allow_pandas() -> None:
    """Stop pretending."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _WithoutPandas)]
