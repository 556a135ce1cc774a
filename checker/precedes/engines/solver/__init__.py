"""The solver: proofs for every size and smallest counterexamples, by Z3, for the formulas that the other
engines judge.

Only `logic` imports Z3. Everything else here imports `logic`, except for the values in `answers`. So import
this package only where a question is asked.
"""

from precedes.engines.solver.answers import (
    Answer,
    Bounds,
    Counterexample,
    Example,
    Finding,
    NoCounterexample,
    NoExample,
    Options,
    Proved,
    Undecided,
)
from precedes.engines.solver.implication_table import Implication, implications
from precedes.engines.solver.question import find, prove
from precedes.engines.solver.search import Mismatch
from precedes.language.scenario_printer import as_scenario

__all__ = [
    "Answer",
    "Bounds",
    "Counterexample",
    "Example",
    "Finding",
    "Implication",
    "Mismatch",
    "NoCounterexample",
    "NoExample",
    "Options",
    "Proved",
    "Undecided",
    "as_scenario",
    "find",
    "implications",
    "prove",
]
