"""What the Python side of Spark logs, and when it does not. No JVM is needed for it, nor what starts one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silenced() -> Iterator[None]:
    """Nothing is logged by the Python side of Spark, which logs exceptions that it raises, too."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
