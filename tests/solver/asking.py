"""Questions in the language, for the tests beside this module."""

from __future__ import annotations

from pathlib import Path

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.engines.reference import evaluate
from precedes.engines.solver import (
    Answer,
    Bounds,
    Counterexample,
    Example,
    Finding,
    Options,
    as_scenario,
    find,
    prove,
)
from precedes.engines.solver.answers import DEFAULT
from precedes.language.library import standard_library
from precedes.language.loader import Claim, compile_text
from precedes.language.requirements import requirement
from precedes.language.syntax import QuestionKind

CONTRACT = Path(__file__).parents[1] / "contract"


def required(text: str) -> Requirement:
    """A name of the library, or a formula."""
    return requirement(text, standard_library())


def claims(path: Path) -> tuple[Claim, ...]:
    """The questions of a file."""
    return compile_text(path.read_text(encoding="utf-8"), str(path)).claims


def answered(claim: Claim, options: Options = DEFAULT) -> Answer | Finding:
    """The answer to a question of a file."""
    if claim.kind is QuestionKind.FIND:
        return find(claim.requirement, Bounds().narrowed(claim.bounds), options)
    return prove(claim.requirement, options)


def asked(text: str, options: Options = DEFAULT) -> Answer:
    """The answer to `claim TEXT`."""
    return prove(required(text), options)


def counterexample(text: str) -> Execution:
    """The counterexample to a formula that has one."""
    answer = asked(text)
    assert isinstance(answer, Counterexample), answer
    return answer.execution


def example(text: str, bounds: Bounds | None = None) -> Execution:
    """An execution on which a formula is true."""
    answer = find(required(text), bounds)
    assert isinstance(answer, Example), answer
    return answer.execution


def size(execution: Execution) -> tuple[int, int, int]:
    """Messages, entities, and the entries of all logs."""
    entries = sum(len(history.events) for history in execution.histories)
    return len(execution.messages), len(execution.entities), entries


def pasted(execution: Execution, text: str) -> int:
    """The value of a formula on the scenario that an execution is printed as."""
    scenario = compile_text(as_scenario(execution, "pasted", [f"expect ({text})"])).scenarios[0]
    return evaluate(scenario.expectations[0].requirement.formula, scenario.execution)
