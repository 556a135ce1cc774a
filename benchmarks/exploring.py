"""How long `precedes explore` takes: whole commands, as a user types them, with what they ask.

    python -m benchmarks.exploring [MESSAGES ...]

Each row is one command on the auxiliary procedure of the CMD paper among three entities: the median of three runs, or
one run where it is long. The results are written to build/exploring.json.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.measuring import PRECEDES, Ended, keep_rows, middle, once

RESULT: Final = Path("build/exploring.json")
SIZES: Final = (4, 5, 6)
TURNS: Final = 3
LONG: Final = 8.0
"""A command that takes more seconds than this is run once."""


@dataclass(frozen=True, slots=True)
class Row:
    """One command: what it asks, how many states it reaches, seconds by the clock and of the processor, peak MiB."""

    asked: str
    messages: int
    plain: bool
    command: str
    states: int
    seconds: float
    processor: float
    peak_mib: float
    runs: int
    load: float


QUESTIONS: Final[dict[str, tuple[str, ...]]] = {
    "`causal_order`": ("--require", "causal_order"),
    "everything that the model claims": (),
}


def arguments(messages: int, *, plain: bool, question: Sequence[str]) -> list[str]:
    """The arguments of one command."""
    sizes = ["--entities", "3", "--messages", str(messages), "--set", "queue=false"]
    return ["explore", "cmd-auxiliary", *sizes, *question, *(["--plain"] if plain else [])]


def explored(
    words: Sequence[str], codes: tuple[int, ...] = (0, 1)
) -> tuple[list[Ended], list[dict[str, Any]]]:
    """Run a command with a report in JSON, three times where it is short: the runs, and what was explored."""
    run = [PRECEDES, *words, "--format", "json"]
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        turns = [once(run, codes, said=report)]
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["explorations"]
    if turns[0].seconds < LONG:
        turns += [once(run, codes) for _ in range(TURNS - 1)]
    return turns, found


def measured(asked: str, messages: int, *, plain: bool) -> Row:
    """Run one command."""
    words = arguments(messages, plain=plain, question=QUESTIONS[asked])
    turns, (found,) = explored(words)
    whole = middle(turns)
    return Row(
        asked,
        messages,
        plain,
        " ".join(["precedes", *words]),
        found["states"],
        *(whole.seconds, whole.processor, whole.peak_mib),
        len(turns),
        os.getloadavg()[0],
    )


def main() -> None:
    """Measure every row, print it and keep it."""
    sizes = [int(argument) for argument in sys.argv[1:]] or SIZES
    rows = []
    for messages in sizes:
        for plain in (False, True):
            for asked in QUESTIONS:
                row = measured(asked, messages, plain=plain)
                rows.append(row)
                print(
                    f"{row.seconds:8.1f} s {row.processor:8.1f} s CPU {row.states:>9,} states  {row.command}",
                    flush=True,
                )
                keep_rows(rows, RESULT)


if __name__ == "__main__":
    main()
