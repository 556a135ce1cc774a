"""Commands in documents: how they are marked, found and run.

In a Markdown file `<!-- run: N -->` stands before a console block whose command must end with exit code N and
print what the block shows; `<!-- file: NAME -->` before a block that is a file which the commands read. They are
carried out in their order, in one folder: a file may be written again, a command may leave something for the next.
Times in an output are not compared; a line `...` in it stands for any lines.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(
    r"^<!-- (?P<mark>run|file): (?P<value>\S+) -->\n```\w*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TIME = re.compile(r"\d+\.\d+ ?s\b")
_PROGRAMS = {
    "precedes": ("-m", "precedes"),
    "python": (),
    "pytest": ("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-c", "/dev/null"),
}


@dataclass(frozen=True)
class File:
    """A file that a document writes."""

    name: str
    text: str


@dataclass(frozen=True)
class Run:
    """A command of a document, the exit code it must end with and what it must print."""

    document: str
    command: str
    code: int
    shown: str


def documents() -> list[Path]:
    """README.md and all below docs/, except the records of decisions."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [path for path in found if "adr" not in path.parts]
    assert len(found) > 1, "no document below docs/"
    return found


def steps(document: Path) -> Iterator[File | Run]:
    """What a document writes and runs, in order."""
    for block in _BLOCK.finditer(document.read_text(encoding="utf-8")):
        if block["mark"] == "file":
            yield File(block["value"], block["body"])
        else:
            first, _, shown = block["body"].partition("\n")
            assert first.startswith("$ "), f"{document.name}: a console block begins with $"
            yield Run(document.name, first.removeprefix("$ "), int(block["value"]), shown)


def run(one: Run, folder: Path) -> tuple[int, str]:
    """The exit code and what was printed, on either stream, in a folder."""
    program, *words = shlex.split(one.command)
    assert program in _PROGRAMS, f"{one.document} runs {program}"
    done = subprocess.run(
        [sys.executable, *_PROGRAMS[program], *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout


def matches(printed: str, shown: str) -> bool:
    """Whether an output is what a document shows, but for its times and for what `...` leaves out."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r" *\n"
        for line in _TIME.sub("… s", shown).rstrip().splitlines()
    )
    return re.fullmatch(pattern, _printed(printed)) is not None


def _printed(text: str) -> str:
    blanked = _TIME.sub("… s", text).rstrip()
    return blanked + "\n" if blanked else ""
