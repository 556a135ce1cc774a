"""Exit codes of the command, the same in every format."""

from __future__ import annotations

from enum import IntEnum

from precedes.core.verdict import Verdict


class Exit(IntEnum):
    """2 comes before 1, and 1 before 3."""

    HOLDS = 0
    VIOLATED = 1
    COULD_NOT_RUN = 2
    UNDECIDED = 3

    @classmethod
    def of(cls, verdict: Verdict) -> Exit:
        """The exit code for a verdict on all that was asked."""
        return {Verdict.HOLDS: cls.HOLDS, Verdict.VIOLATED: cls.VIOLATED, Verdict.UNKNOWN: cls.UNDECIDED}[
            verdict
        ]
