"""`precedes explore` beside SPIN, on the same question, whole processes in turns.

    python -m benchmarks.spin [MESSAGES ...]

The question is the auxiliary procedure of the CMD paper among three entities, each message to one other entity, every
interleaving, causal order. `specifications/cmd-auxiliary.pml` is the same protocol in Promela. SPIN generates a
program, gcc compiles it, and it runs; ours is the command as a user types it. Both run on one core. The results are
written to build/spin.json.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.exploring import QUESTIONS, arguments
from benchmarks.measuring import PRECEDES, Ended, keep_rows, middle, once

RESULT: Final = Path("build/spin.json")
SPECIFICATION: Final = Path(__file__).parent / "specifications/cmd-auxiliary.pml"
SIZES: Final = (5, 6)
MOST: Final = 7
"""The specification has room for so many messages of one sender. With more SPIN's search ends at an error. With 7 it
has 6,750,906 states, and ours, which keep whole histories, are 10,345,316. Each search needs up to 2.8 GiB."""
STATES: Final = 12_000_000
"""More than the states that are looked for, where a search without a limit would stop before."""
TURNS: Final = 3


@dataclass(frozen=True, slots=True)
class Row:
    """Medians: seconds by the clock and of the processor, of ours, of all that SPIN needs, and of its search alone."""

    messages: int
    ours: float
    ours_processor: float
    ours_mib: float
    spin: float
    spin_processor: float
    pan: float
    pan_processor: float
    pan_mib: float
    load: float


def spin(messages: int, folder: str) -> tuple[Ended, Ended]:
    """One run of SPIN: everything that it needs, and the search alone."""
    program = str(Path(folder) / "pan")
    source = (
        f"cd {folder} && spin -DK={messages} -a {SPECIFICATION} && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c"
    )
    made = once(["sh", "-c", source])
    searched = once([program, "-m10000", "-w24", "-E"])
    whole = Ended(
        made.seconds + searched.seconds,
        made.processor + searched.processor,
        max(made.peak_mib, searched.peak_mib),
    )
    return whole, searched


def measured(messages: int) -> Row:
    """Both in turns; the first turn is not counted."""
    words = arguments(messages, plain=True, question=QUESTIONS["`causal_order`"])
    if messages == MOST:
        words += ["--states", str(STATES)]
    with TemporaryDirectory() as folder:
        turns = [(once([PRECEDES, *words]), *spin(messages, folder)) for _ in range(TURNS + 1)][1:]
    ours, whole, pan = map(middle, zip(*turns, strict=True))
    return Row(
        messages,
        *(ours.seconds, ours.processor, ours.peak_mib),
        *(whole.seconds, whole.processor),
        *(pan.seconds, pan.processor, pan.peak_mib),
        os.getloadavg()[0],
    )


def main() -> None:
    """Measure every size, print it and keep it."""
    rows = []
    sizes = [int(argument) for argument in sys.argv[1:]] or SIZES
    if max(sizes) > MOST:
        raise SystemExit(f"the specification has room for {MOST} messages")
    for messages in sizes:
        row = measured(messages)
        rows.append(row)
        print(
            f"{messages} messages, s of the processor: ours {row.ours_processor:.1f}, SPIN {row.spin_processor:.1f},"
            f" of which its search {row.pan_processor:.1f}; MiB {row.ours_mib:.0f} and {row.pan_mib:.0f};"
            f" load {row.load:.1f}",
            flush=True,
        )
        keep_rows(rows, RESULT)


if __name__ == "__main__":
    main()
