"""`precedes.load_library`: your own definitions on top of the standard library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from precedes.jobs.check import library_with

if TYPE_CHECKING:
    from precedes.language.library import Library


def load_library(*paths: str | os.PathLike[str]) -> Library:
    """Load the standard library, and the predicates and services of your own .prec files.

    Args:
        paths: .prec files, or directories that have some. Without any, the result is the standard library.

    Returns:
        A library to give to the other functions as `library=`. It is immutable.

    Raises:
        PrecedesError: A file cannot be read, has a mistake, or defines a name that another one defines, too.
    """
    return library_with([os.fspath(path) for path in paths])
