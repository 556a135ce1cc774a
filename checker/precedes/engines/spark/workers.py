"""What is promised of work that Spark's Python workers do: it is done by the version of the driver, and a mistake is a
message. This module imports no pyspark, and nothing heavy: Spark starts a process for each question to a data source.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from precedes.core import version
from precedes.core.diagnostics import Diagnostic, PrecedesError

Given = TypeVar("Given")
Made = TypeVar("Made")


def of_this_version(work: Callable[[Given], Made]) -> Callable[[Given], Made]:
    """The work, which a worker with another version of this program refuses: it may judge otherwise."""
    expected = version.VERSION

    def checked(given: Given) -> Made:
        if expected != version.VERSION:
            said = f"a worker has precedes {version.VERSION}, but the driver has {expected}"
            raise PrecedesError((Diagnostic("K003", said, hint="ship one archive to both"),))
        return work(given)

    return checked


@contextmanager
def raised_plainly() -> Iterator[None]:
    """A mistake that is raised within comes to the user's session as its message, without a traceback of Python."""
    try:
        yield
    except PrecedesError:
        # Spark ends a process that raised, so that nothing else of the session loses its traceback.
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise
