"""How long the larger explorations take, and how soon the forms as written show a violation: whole commands.

    python -m benchmarks.larger [ROW ...]

A row is named by a word; without any all are run. Short ones are medians of three runs, the others run once. States
are those of all instances of a model together. The results are written to build/larger.json.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.exploring import QUESTIONS, arguments, explored
from benchmarks.measuring import keep_rows, middle

RESULT: Final = Path("build/larger.json")
CODES: Final = (0, 1, 3)
"""Searches that meet a limit, or a first violation, are among them."""
CAUSAL: Final = QUESTIONS["`causal_order`"]
ST: Final = ("explore", "st", "--set", "confirms=false", "--quiescent")

SMALL: Final = "small"
"""A search with machine code and few states: its memory is what every search takes."""

COMPLETE: Final[dict[str, tuple[str, ...]]] = {
    SMALL: tuple(arguments(3, plain=True, question=CAUSAL)),
    "default": ("explore", "cmd-auxiliary", "--entities", "3", "--messages", "6"),
    "seven": (*arguments(7, plain=True, question=CAUSAL), "--states", "20000000"),
    "eight": (*arguments(8, plain=True, question=CAUSAL), "--states", "50000000"),
    "delta-causal": ("explore", "delta-causal", "--entities", "3", "--messages", "3"),
    "integrity": ("explore", "high-integrity", "--entities", "4", "--messages", "2", "--set", "adj=ring"),
    "st-one-loss": (*ST, "--script", "a{2,3} b{2,3} c{1,2}", "--losses", "1"),
    "st-two-losses": (*ST, "--script", "a{2,3} a{1,2} a{2,3}", "--losses", "2"),
}
"""Searches that go to the end, or to a limit that is named."""
FIRST: Final[dict[str, tuple[str, ...]]] = {
    "first-delta-causal": ("explore", "delta-causal", "--entities", "3", "--messages", "3"),
    "first-st": ("explore", "st", "--entities", "3", "--messages", "2", "--losses", "1"),
    "first-dynamic-cluster": (
        *("explore", "dynamic-cluster", "--entities", "3", "--messages", "2"),
        *("--crashes", "1"),
    ),
}
"""Of the form as written, until the first violation."""


@dataclass(frozen=True, slots=True)
class Row:
    """One command: its states, seconds by the clock and of the processor, peak MiB. `first`: it ended with the first
    violation; `complete`: it went to the end.
    """

    word: str
    command: str
    first: bool
    states: int
    complete: bool
    seconds: float
    processor: float
    peak_mib: float
    runs: int
    load: float


def measured(word: str) -> Row:
    """Run one command, three times where it is short."""
    words = COMPLETE[word] if word in COMPLETE else (*FIRST[word], "--as-written", "--first")
    turns, found = explored(words, CODES)
    whole = middle(turns)
    return Row(
        word,
        " ".join(f"'{each}'" if " " in each else each for each in words),
        word in FIRST,
        sum(each["states"] for each in found),
        all(each["complete"] for each in found),
        *(whole.seconds, whole.processor, whole.peak_mib),
        len(turns),
        os.getloadavg()[0],
    )


def main() -> None:
    """Measure every row, print it and keep it."""
    rows = []
    for word in sys.argv[1:] or (*COMPLETE, *FIRST):
        row = measured(word)
        rows.append(row)
        print(
            f"{row.seconds:7.1f} s {row.processor:7.1f} s of the processor {row.peak_mib:6.0f} MiB "
            f"{row.states:>11,} states  {row.command}",
            flush=True,
        )
        keep_rows(rows, RESULT)


if __name__ == "__main__":
    main()
