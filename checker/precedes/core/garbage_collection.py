"""Pauses garbage collection while many objects are made that all stay alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No collection within.

    Of a file with thousands of scenarios, and of millions of states of a protocol, nothing is garbage; looking for it
    takes a third to half of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
