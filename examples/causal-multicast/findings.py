"""What sees which mistake: `python findings.py` writes that part of README.md.

Each program runs with the same seeds. Three questions are asked of what was recorded: `verify` with what the paper
promises, `conform` with the model `cmd`, which logs no arrivals, and `conform` with the model of arrivals.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from arrivals import CmdWithArrivals
from group import Program, record
from mistakes import MISTAKES, program

import precedes

EXECUTIONS: Final = 200
PROMISED: Final = ("causal_order", "no_duplication", "selectively_information_preserving")
"""Condition (1) of §3; a message has one receipt, where it was sent to (§2)."""
README: Final = Path(__file__).parent / "README.md"
BEGIN: Final = "<!-- begin: python findings.py -->\n"
END: Final = "<!-- end -->\n"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one question found.

    Attributes:
        wrong: In how many executions something is wrong, for each name that was asked for.
        sentence: The first sentence about it, empty if nothing is wrong.
    """

    wrong: dict[str, int]
    sentence: str

    @property
    def seen(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.sentence)


@dataclass(frozen=True, slots=True)
class Findings:
    """What the three questions found."""

    verify: Finding
    cmd: Finding
    arrivals: Finding


def findings(running: Program, executions: int = EXECUTIONS) -> Findings:
    """Record a program and ask the three questions.

    Raises:
        ValueError: Something is undecided, so that nothing can be said.
    """
    with TemporaryDirectory() as folder:
        record(running, Path(folder) / "runs", executions)
        events = list(rows(Path(folder) / "runs"))
    silent = precedes.conform("cmd", events, quiescent=True, ignore="arrive")
    logged = precedes.conform(CmdWithArrivals, events, quiescent=True)
    return Findings(verified(events), conformed(silent), conformed(logged))


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of a trace without their times, which are of this machine and of this run."""
    for path in sorted(folder.iterdir()):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield {name: value for name, value in json.loads(line).items() if name != "time"}


def verified(events: list[dict[str, Any]]) -> Finding:
    """What `verify` finds."""
    report = precedes.verify(events, PROMISED, max_violations=1)
    if any(report[name].unknown for name in PROMISED):
        raise ValueError(f"undecided:\n{report.text()}")
    lines = iter(report.text().splitlines())
    sentence = next((next(lines).strip() for line in lines if line.startswith("execution ")), "")
    return Finding({name: report[name].violated for name in PROMISED}, sentence)


def conformed(report: precedes.Conformance) -> Finding:
    """What `conform` found."""
    if report.undecided:
        raise ValueError(f"undecided:\n{report.text()}")
    sentences = (line for line in report.text().splitlines() if " does not conform: " in line)
    return Finding({"": report.deviating}, next(sentences, ""))


def page(executions: int = EXECUTIONS) -> str:
    """The table, and below it what was printed for each mistake."""
    found = {mistake: findings(program(mistake), executions) for mistake in MISTAKES}
    table = [
        "| mistake | `verify` | `conform cmd` | `conform arrivals.py` |",
        "|---|---|---|---|",
        *(
            f"| {mistake.__name__} | {cell(seen.verify)} | {cell(seen.cmd)} | {cell(seen.arrivals)} |"
            for mistake, seen in found.items()
        ),
    ]
    return "\n".join([*table, *(line for one in found.items() for line in said(*one))]) + "\n"


def cell(finding: Finding) -> str:
    """In how many executions a mistake shows."""
    return ", ".join(f"{name} {wrong}".strip() for name, wrong in finding.wrong.items() if wrong) or "-"


def said(mistake: type, seen: Findings) -> Iterator[str]:
    """What the programmer thought, and what was printed."""
    yield from ("", f'**{mistake.__name__}**: "{mistake.__doc__}"', "", "```")
    for question, finding in (
        ("verify", seen.verify),
        ("conform cmd", seen.cmd),
        ("conform arrivals.py", seen.arrivals),
    ):
        yield f"{question}: {finding.sentence or 'nothing is wrong'}"
    yield "```"


def main() -> None:
    """Write the part of README.md that is made here."""
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    README.write_text(f"{before}{BEGIN}{page()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
