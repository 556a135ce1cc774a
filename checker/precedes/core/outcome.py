"""Outcomes of statements, and the answers to claims as values.

This module does not need the solver, so that scenarios are judged without loading it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.core.witness import Witness


class Outcome(Enum):
    """How a statement compares with what was found.

    What is unknown, or known up to a bound only, leaves it undecided.
    """

    AS_STATED = "as stated"
    OTHERWISE = "otherwise"
    UNDECIDED = "undecided"


VERDICTS: Final = {
    Outcome.AS_STATED: Verdict.HOLDS,
    Outcome.OTHERWISE: Verdict.VIOLATED,
    Outcome.UNDECIDED: Verdict.UNKNOWN,
}
"""The verdict on the statement itself."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An execution that answers a question, where in it, and the scenario that can be pasted back. `definitions` are
    those, beyond the standard library, that its statement needs in a file of its own.
    """

    execution: Execution
    requirement: Requirement
    witness: Witness | None
    scenario: str
    definitions: str = ""


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """One `claim`, `refute` or `find` and what came of it; `said` is the solver's answer in words."""

    text: str
    line: int
    outcome: Outcome
    said: str
    shown: Shown | None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a question may cost: `timeout` seconds and `memory` megabytes each. `accept_bounds`: no counterexample up
    to the bound is answer enough for a claim.
    """

    timeout: float = 60.0
    memory: int = 2048
    accept_bounds: bool = False
    progress: Callable[[str], None] | None = None
