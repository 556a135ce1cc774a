"""Questions to the solver: the claims of .prec files and `precedes search`, from a question to its outcome.

This module decides the outcome of an answer. `precedes.engines.solver` finds the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from precedes.core.formula import Requirement
from precedes.core.outcome import ClaimAnswer, Limits, Outcome, Shown
from precedes.engines.solver import (
    Bounds,
    Counterexample,
    Example,
    NoCounterexample,
    NoExample,
    Options,
    Proved,
    Undecided,
    as_scenario,
    find,
    prove,
)
from precedes.language.library import Library
from precedes.language.loader import Claim
from precedes.language.scenario_printer import definitions
from precedes.language.syntax import NOWHERE, Counted, QuestionKind, Size


def answered(claim: Claim, name: str, limits: Limits, library: Library) -> ClaimAnswer:
    """Ask the solver about a claim, whose definitions are the library's. `name` is for the scenario that shows a
    counterexample or an example.
    """
    if claim.kind is QuestionKind.FIND:
        outcome, said, shown = _found(claim, name, limits)
    else:
        outcome, said, shown = _proved(claim, name, limits)
    return _answer(claim, outcome, said, shown, library)


def _answer(claim: Claim, outcome: Outcome, said: str, shown: Shown | None, library: Library) -> ClaimAnswer:
    if shown is not None:
        shown = replace(shown, definitions=definitions((claim.requirement.name,), library))
    return ClaimAnswer(claim.text, claim.span.line, outcome, said, shown)


def _proved(claim: Claim, name: str, limits: Limits) -> tuple[Outcome, str, Shown | None]:
    answer = prove(claim.requirement, options(limits))
    as_claimed = claim.kind is QuestionKind.CLAIM
    match answer:
        case Proved():
            return Outcome.AS_STATED if as_claimed else Outcome.OTHERWISE, str(answer), None
        case Counterexample(execution, witness):
            statement = f"expect not {_statable(claim.requirement.name)}"
            shown = Shown(execution, claim.requirement, witness, as_scenario(execution, name, (statement,)))
            return Outcome.OTHERWISE if as_claimed else Outcome.AS_STATED, str(answer), shown
        case NoCounterexample():
            accepted = as_claimed and limits.accept_bounds
            return Outcome.AS_STATED if accepted else Outcome.UNDECIDED, str(answer), None
        case Undecided():
            return Outcome.UNDECIDED, str(answer), None
        case _:
            assert_never(answer)


def _found(claim: Claim, name: str, limits: Limits, asked: bool = False) -> tuple[Outcome, str, Shown | None]:
    answer = find(claim.requirement, Bounds().narrowed(claim.bounds), options(limits))
    match answer:
        case Example(execution):
            statement = f"expect {_statable(claim.requirement.name)}"
            shown = Shown(execution, claim.requirement, None, as_scenario(execution, name, (statement,)))
            return Outcome.AS_STATED, str(answer), shown
        case NoExample(_, every_size, _):
            # Within bounds that a file itself states, "none" is an answer; within ours it is not.
            settled = every_size or (bool(claim.bounds) and not asked)
            return Outcome.OTHERWISE if settled else Outcome.UNDECIDED, str(answer), None
        case Undecided():
            return Outcome.UNDECIDED, str(answer), None
        case _:
            assert_never(answer)


def _statable(name: str) -> str:
    """A formula after `expect`, where a leading `not` would be taken for that of the statement."""
    return name if " among " in name else f"({name})"


def search(
    required: Requirement, library: Library, entities: int | None, messages: int | None, limits: Limits
) -> ClaimAnswer:
    """Look for the smallest execution of at most so many entities and messages of which a requirement is true, as
    `find` does.
    """
    numbers = ((Counted.ENTITIES, entities), (Counted.MESSAGES, messages))
    sizes = tuple(Size(counted, False, number) for counted, number in numbers if number is not None)
    claim = Claim(QuestionKind.FIND, required, sizes, required.name, NOWHERE)
    outcome, said, shown = _found(claim, "found", limits, asked=True)
    return _answer(claim, outcome, said, shown, library)


def proved(required: Requirement, limits: Limits, library: Library) -> ClaimAnswer:
    """Ask whether a requirement is true of every execution: as stated if it is proved."""
    claim = Claim(QuestionKind.CLAIM, required, (), required.name, NOWHERE)
    return answered(claim, "counterexample", limits, library)


def options(limits: Limits) -> Options:
    """The limits of one question, for the solver."""
    return Options(timeout=limits.timeout, memory=limits.memory, progress=limits.progress)
