"""Commands in documents: how they are marked, found and run.

In a Markdown file `<!-- run: N -->` stands before a console block whose command must end with exit code N and
print what the block shows; `<!-- file: NAME -->` before a block that is a file which the commands read. Times
in an output are not compared.
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
_TIME = re.compile(r"\d+\.\d+ s\b")


@dataclass(frozen=True)
class Run:
    """A command of a document, the exit code it must end with and what it must print."""

    document: str
    command: str
    code: int
    shown: str


def documents() -> list[Path]:
    """README.md and all below docs/, except the records of decisions."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    assert len(found) > 1, "no document below docs/"
    return found


def files(document: Path) -> Iterator[tuple[str, str]]:
    """The files that a document writes: name and text."""
    for block in _BLOCK.finditer(document.read_text(encoding="utf-8")):
        if block["mark"] == "file":
            yield block["value"], block["body"]


def runs(document: Path) -> Iterator[Run]:
    """The commands that a document runs, in order."""
    for block in _BLOCK.finditer(document.read_text(encoding="utf-8")):
        if block["mark"] == "run":
            first, _, shown = block["body"].partition("\n")
            assert first.startswith("$ "), f"{document.name}: a console block begins with $"
            yield Run(document.name, first.removeprefix("$ "), int(block["value"]), shown)


def run(one: Run, folder: Path) -> tuple[int, str]:
    """The exit code and what was printed, on either stream, in a folder with the document's files and the
    sample traces.
    """
    words = shlex.split(one.command)
    assert words[0] == "precedes", f"{one.document} runs {words[0]}"
    done = subprocess.run(
        [sys.executable, "-m", "precedes", *words[1:]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout


def without_times(text: str) -> str:
    """An output with its seconds blanked, to compare."""
    return _TIME.sub("… s", text)
