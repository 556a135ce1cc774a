"""How the solver's answers are printed: what was found in words, and the execution as a scenario that can be pasted
back.
"""

from __future__ import annotations

import re
from typing import Any, Final

from precedes.core.outcome import ClaimAnswer, Outcome, Shown
from precedes.core.printable import json_text
from precedes.reports.figure import figure, sentence

_LOG: Final = re.compile(r"(?:SL|RL|H)(?:\d+|\[.*\]): <")


def pasteable(shown: Shown) -> str:
    """The scenario, its logs side by side as the papers draw them, with the places that matter marked in comments."""
    statements = shown.scenario.splitlines()
    drawing = figure(shown.execution, shown.witness, whole=True).splitlines()
    drawn = [line for line in drawing if not line.startswith(("cluster", "group "))]
    first = next(
        number for number, line in enumerate(statements) if _LOG.match(line) or line.startswith("expect ")
    )
    rest = [line for line in statements[first:] if not _LOG.match(line)]
    return "\n".join((*statements[:first], *drawn, *rest))


def explained(shown: Shown) -> str:
    """One sentence about what the marks show; empty where nothing is marked."""
    return "" if shown.witness is None else sentence(shown.requirement, shown.execution, shown.witness)


def claim_lines(path: str, answer: ClaimAnswer) -> list[str]:
    """One line for a claim, and the scenario that answers it below."""
    outcome = "" if answer.outcome is Outcome.AS_STATED else f"{answer.outcome.value}, "
    lines = [f"  {path}:{answer.line}: {answer.text}: {outcome}{answer.said}"]
    if answer.shown is not None:
        why = explained(answer.shown)
        lines += [f"    {why}"] if why else []
        lines += [f"      {line}" for line in pasteable(answer.shown).splitlines()]
    return lines


def claim_json(answer: ClaimAnswer) -> dict[str, Any]:
    """The same for programs."""
    document: dict[str, Any] = {
        "line": answer.line,
        "text": answer.text,
        "outcome": answer.outcome.value,
        "answer": answer.said,
    }
    if answer.shown is not None:
        document |= {"explanation": explained(answer.shown), "scenario": pasteable(answer.shown) + "\n"}
    return document


def search_text(answer: ClaimAnswer) -> str:
    """What a search found: the scenario alone, with the definitions that it needs, so that it can be sent to a file;
    else one sentence.
    """
    if answer.shown is None:
        return f"{answer.said}\n"
    return f"# {answer.said}\n{answer.shown.definitions}{pasteable(answer.shown)}\n"


def search_json(answer: ClaimAnswer) -> str:
    """The same for programs."""
    document = claim_json(answer)
    del document["line"]
    if answer.shown is not None:
        document["scenario"] = answer.shown.definitions + document["scenario"]
    return json_text({"schema": 1, **document})
