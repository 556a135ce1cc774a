"""What stands in the fences of documents: how it is marked, found and carried out.

Every fenced block of README.md and docs/ has a mark in the line before it, which a reader does not see:

- `<!-- run: N -->`: a console block. Its commands stand after `$ `; the last must end with exit code N, those before it
  with 0, and each must print what stands under it. Times are not compared; a line `...` stands for any lines.
- `<!-- file: NAME -->`: a file that the commands read.
- `<!-- change: NAME -->`: lines of such a file, as a diff: those with `-` are there once, those with `+` replace them.
- `<!-- formulas -->`: a formula in every line, which must be one that the standard library lets one ask.
- `<!-- workflow -->`: steps of a GitHub workflow.
- `<!-- not run: REASON -->`: what no test can run. The names in it must exist.

Files and commands are carried out in their order, in one folder: a file may be written again, a command may leave
something for the next. What `tools/pages.py`, `tools/gallery.py` and `precedes lattice`
generate is left to their own tests.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests import warm_processes

ROOT = Path(__file__).parents[2]

GENERATED = ("docs/reference", "docs/lattice.md", "docs/gallery.md")
MARKS = ("run", "file", "change", "formulas", "workflow", "gitlab", "not run")

_FENCE = re.compile(r" *(?P<fence>```+|~~~+)(?P<language>\w*)$")
_MARK = re.compile(r"<!-- (?P<mark>[a-z ]+?)(?:: (?P<value>.*?))? -->$")
_TIME = re.compile(r"\d+\.\d+ ?s\b")
_SEEN = re.compile(r"^.* states into the search: .*\n", re.MULTILINE)
"""What a search has found so far, which it tells where it takes long: on a busy machine, or the first time."""
_PROGRAMS = {
    "precedes": ("-m", "precedes"),
    "python": (),
    "pytest": ("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-c", "/dev/null"),
}


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, its mark (None where it has none) and what stands in it."""

    document: str
    line: int
    mark: str | None
    value: str
    language: str
    body: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True)
class File:
    """A file that a document writes."""

    name: str
    text: str


@dataclass(frozen=True)
class Change:
    """Lines of a file that a document replaces."""

    name: str
    before: str
    after: str

    def of(self, text: str) -> str:
        """The text with the lines replaced."""
        assert text.count(self.before) == 1, f"{self.name} does not have once: {self.before}"
        return text.replace(self.before, self.after)


@dataclass(frozen=True)
class Run:
    """A command of a document, the exit code it must end with and what it must print."""

    document: str
    command: str
    code: int
    shown: str


def documents() -> list[Path]:
    """README.md and all below docs/, except what is generated and the records of decisions."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    left_out = (*GENERATED, "docs/adr")
    found = [path for path in found if not path.relative_to(ROOT).as_posix().startswith(left_out)]
    assert len(found) > 1, "no document below docs/"
    return found


def blocks(document: Path) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    name = document.relative_to(ROOT).as_posix()
    lines = document.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        opened = _FENCE.match(lines[number])
        number += 1
        if opened is None:
            continue
        first = number
        while lines[number].strip() != opened["fence"]:
            number += 1
        marked = _MARK.match(lines[first - 2]) if first > 1 else None
        mark, value = (marked["mark"], marked["value"] or "") if marked else (None, "")
        body = "".join(line + "\n" for line in lines[first:number])
        yield Block(name, first, mark, value, opened["language"], body)
        number += 1


def prose(document: Path) -> str:
    """A document without what stands in its fences."""
    fenced = re.compile(r"^ *(```+|~~~+).*?^ *\1$", re.MULTILINE | re.DOTALL)
    return fenced.sub("", document.read_text(encoding="utf-8"))


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with what is shown under it."""
    assert block.body.startswith("$ "), f"{block}: a console block begins with $"
    parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def change(block: Block) -> Change:
    """What a diff says."""
    lines = block.body.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
    return Change(block.value, before, after)


def steps(document: Path) -> Iterator[File | Change | Run]:
    """What a document writes, changes and runs, in order."""
    for block in blocks(document):
        if block.mark == "file":
            yield File(block.value, block.body)
        elif block.mark == "change":
            yield change(block)
        elif block.mark == "run":
            told = commands(block)
            for number, (command, shown) in enumerate(told, 1):
                yield Run(block.document, command, int(block.value) if number == len(told) else 0, shown)


def carry_out(document: Path, folder: Path, running: Callable[[Run, Path], tuple[int, str]]) -> None:
    """Write, change and run what a document has, in order."""
    for below in ("examples", "traces", "specs"):
        (folder / below).symlink_to(ROOT / below)
    for step in steps(document):
        match step:
            case File(name, text):
                path = folder / name
                # What the project has is read, never written: a document that writes there has a folder of its own.
                if path.parent.is_symlink():
                    path.parent.unlink()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            case Change(name, _, _):
                path = folder / name
                path.write_text(step.of(path.read_text(encoding="utf-8")), encoding="utf-8")
            case Run(_, command, code, shown):
                ended, printed = running(step, folder)
                assert ended == code, f"$ {command}\n{printed}"
                assert matches(printed, shown), f"$ {command}\n{printed}"


def run(one: Run, folder: Path) -> tuple[int, str]:
    """The exit code and what was printed, on either stream, in a folder."""
    program, *words = shlex.split(one.command)
    assert program in _PROGRAMS, f"{one.document} runs {program}"
    if program == "precedes" and warm_processes.AVAILABLE:
        return warm_processes.command(words, folder)
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
    blanked = _TIME.sub("… s", _SEEN.sub("", text)).rstrip()
    return blanked + "\n" if blanked else ""
