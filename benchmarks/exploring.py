"""How long `precedes explore` takes: whole commands, as a user types them, with what they ask.

    python -m benchmarks.exploring [MESSAGES ...]

Each row is one command on the auxiliary procedure of the CMD paper among three entities. The smaller sizes are medians
of three runs; the largest is run once. The results are written to build/exploring.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import PRECEDES, keep_rows, middle, once

RESULT: Final = Path("build/exploring.json")
SIZES: Final = (4, 5, 6)
ONCE: Final = 6
"""From so many messages on, a command is run once."""


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


def measured(asked: str, messages: int, *, plain: bool) -> Row:
    """Run one command as often as its size allows."""
    words = arguments(messages, plain=plain, question=QUESTIONS[asked])
    ended = [once([PRECEDES, *words]) for _ in range(1 if messages >= ONCE else 3)]
    report = subprocess.run(
        [PRECEDES, *words, "--format", "json"], check=False, capture_output=True, text=True
    )
    states: Any = json.loads(report.stdout)["explorations"][0]["states"]
    whole = middle(ended)
    return Row(
        asked,
        messages,
        plain,
        " ".join(["precedes", *words]),
        states,
        *(whole.seconds, whole.processor, whole.peak_mib),
        len(ended),
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
