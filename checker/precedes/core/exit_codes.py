"""Exit codes of the command, the same in every format."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """2 comes before 1, and 1 before 3."""

    HOLDS = 0
    VIOLATED = 1
    COULD_NOT_RUN = 2
    UNDECIDED = 3
