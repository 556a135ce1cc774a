"""The resources of this process, on each operating system: cores, and the memory in use."""

from __future__ import annotations

import os
import sys


def available_cores() -> int:
    """The cores that the system leaves to this process, at least 1; where it does not say which, all there are."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        # Only Linux, and not everywhere there, gives a process fewer cores than the machine has.
        return os.cpu_count() or 1


def most_memory() -> int | None:
    """The megabytes that this process has held at most; None where the system does not say."""
    try:
        import resource
    except ImportError:
        # Windows has no such module.
        return None
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes, the others kilobytes.
    return held // (2**20 if sys.platform == "darwin" else 2**10)
