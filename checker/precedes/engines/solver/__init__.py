"""The solver: proofs for every size and smallest counterexamples, by Z3, of the formulas that the other
engines run.

Z3 is imported by `logic` alone, and with it by everything here but `answers`' values: import this package
where a question is asked.
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
