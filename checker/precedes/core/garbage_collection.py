"""Pauses garbage collection while many objects are made that all stay alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY: Final = 100_000
"""New objects that are worth a look at what is frozen, which takes longer the more of it there is."""


@contextmanager
def paused() -> Iterator[None]:
    """No collection within.

    Of a file with thousands of scenarios, and of millions of states of a protocol, nothing is garbage; looking for it
    takes a third to half of the time. So does the first collection afterwards, which would look at everything that is
    new. If there is much of it, it is taken for old, and the next full collection looks at it.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What somebody else has frozen stays so.
            if gc.get_count()[0] > MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
