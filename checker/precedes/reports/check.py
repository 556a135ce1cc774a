"""How the result of `precedes check` is printed: one line per scenario that holds, a figure for what does
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from precedes.core.counts import counted
from precedes.core.outcome import Outcome
from precedes.core.printable import json_text
from precedes.core.verdict import Verdict
from precedes.core.witness import Witness
from precedes.jobs.check import Answer, FileResult, met_nothing

JSON_SCHEMA = 1

_SAID = {Verdict.HOLDS: "holds", Verdict.VIOLATED: "is violated", Verdict.UNKNOWN: "is unknown"}


def as_text(results: Sequence[FileResult], *, verbose: bool = False) -> str:
    """Files, their scenarios, what did not come out as stated (with the figure and a sentence), and one
    closing line.
    """
    lines: list[str] = []
    for result in results:
        lines.append(result.path)
        width = max((len(name) for name, _, _ in result.scenarios), default=0)
        for name, title, answers in result.scenarios:
            good = sum(answer.outcome is Outcome.AS_STATED for answer in answers)
            lines.append(
                f"  {name:<{width}}  {good} of {len(answers)} as stated{f'  {title}' if title else ''}"
            )
            for answer in answers:
                if answer.outcome is not Outcome.AS_STATED or verbose:
                    lines += _answer(result.path, answer)
                elif answer.explanation.vacuous:
                    lines.append(f"    line {answer.line}: {said(answer)}")
        lines += _claims(result)
    return "\n".join([*lines, "", closing(results)]) + "\n"


# What draws figures is loaded where there is one to draw: a file that holds is told without it.


def _claims(result: FileResult) -> list[str]:
    if not result.claims:
        return []
    from precedes.reports.answers import claim_lines

    return [line for claim in result.claims for line in claim_lines(result.path, claim)]


def said(answer: Answer) -> str:
    """What came of an expectation: `expect ST: ST is violated`."""
    if answer.outcome is Outcome.AS_STATED and answer.explanation.vacuous:
        return f"{answer.text}: holds vacuously: there was no message"
    return f"{answer.text}: {answer.requirement.name} {_SAID[answer.verdict]}"


def because(answer: Answer) -> list[str]:
    """Why it is unknown or violated, in sentences."""
    lines = list(answer.explanation.reasons)
    if answer.verdict is Verdict.VIOLATED:
        from precedes.reports.figure import sentence

        explained = sentence(answer.requirement, answer.explanation.execution, _witness(answer))
        lines += [explained] if explained else []
    return lines


def _witness(answer: Answer) -> Witness | None:
    return answer.explanation.witnesses[0] if answer.explanation.witnesses else None


def _answer(path: str, answer: Answer) -> list[str]:
    place = f"{path}:{answer.line}"
    told = f"{answer.text}: {answer.requirement.name} {_SAID[answer.verdict]}"
    lines = [f"    {place}: {told}", *(f"      {reason}" for reason in because(answer))]
    if answer.verdict is Verdict.VIOLATED:
        from precedes.reports.figure import figure

        drawn = figure(answer.explanation.execution, _witness(answer))
        lines += [f"        {line}" for line in drawn.splitlines()]
    return lines


def closing(results: Sequence[FileResult]) -> str:
    """How many statements there are, and how many came out how."""
    outcomes = [outcome for result in results for outcome in result.outcomes]
    if not outcomes:
        return "undecided: there is no expectation and no claim, so nothing was checked"
    if met_nothing(results):
        return (
            "undecided: no scenario has a message, so every expectation is vacuous, and nothing was checked"
        )
    numbers = {outcome: outcomes.count(outcome) for outcome in Outcome}
    parts = [f"{number} {outcome.value}" for outcome, number in numbers.items() if number]
    return f"{counted(len(outcomes), 'statement')}: {', '.join(parts)}"


def as_json(results: Sequence[FileResult]) -> str:
    """One JSON object: files, scenarios, statements with expected and found verdict, reasons, bindings and
    figure.
    """
    from precedes.reports.answers import claim_json

    files: list[dict[str, Any]] = []
    for result in results:
        scenarios = [
            {"name": name, "title": title, "statements": [_statement(answer) for answer in answers]}
            for name, title, answers in result.scenarios
        ]
        claims = [claim_json(claim) for claim in result.claims]
        files.append({"path": result.path, "scenarios": scenarios, "claims": claims})
    return json_text({"schema": JSON_SCHEMA, "files": files})


def _statement(answer: Answer) -> dict[str, Any]:
    witness = _witness(answer)
    statement: dict[str, Any] = {
        "line": answer.line,
        "text": answer.text,
        "expected": answer.expected.value,
        "verdict": answer.verdict.value,
        "outcome": answer.outcome.value,
        "vacuous": answer.explanation.vacuous,
        "reasons": list(answer.explanation.reasons),
    }
    if answer.verdict is Verdict.VIOLATED:
        from precedes.reports.figure import figure, sentence

        statement["bindings"] = dict(witness.bindings) if witness else {}
        statement["explanation"] = sentence(answer.requirement, answer.explanation.execution, witness)
        statement["figure"] = figure(answer.explanation.execution, witness)
    return statement
