"""The rows of docs/papers/ and docs/models/: the commands that stand in them, and what is said of each.

A cell says what comes out and then has the command, in backquotes: "`acknowledged` violated after 9 moves: `precedes
explore st ...`". What is understood, and compared with what the command prints:

- `` `P`, `Q` violated after N moves``: these properties, each after so many moves; with ``, in a loop of K moves``: a
  lasso, with so many moves in its loop;
- `` `P` holds``: this property, exercised;
- ``everything holds``: exit code 0;
- ``nothing is violated``: the search ended within no limit, and found nothing;
- `` `P` is never exercised``: the bounds never exercise it. With ``the rest holds``: of no other property is that so,
  and nothing is violated;
- ``N states``: as the last line of the report counts them. For a model with several instances "N / M states".

`(slow)` in a cell: its commands are run with the slow tests, and so are three of four explorations of every page.
`precedes check FILE` and `precedes search` must end with exit code 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAPERS = tuple(sorted((ROOT / "docs" / "papers").glob("*.md")))
MODELS = tuple(sorted((ROOT / "docs" / "models").glob("*.md")))
PAGES = (*PAPERS, *MODELS)

_NAMES = r"(?P<names>`[^`]+`(?:(?:, | and )`[^`]+`)*)"
_LOOP = r"(?:, in a loop of (?P<loop>[\d,]+) moves?)?"
_VIOLATED = re.compile(_NAMES + r" (?:is |are )?violated after (?P<moves>[\d,]+) moves?" + _LOOP)
_UNEXERCISED = re.compile(_NAMES + r" (?:is|are) never exercised")
_HOLDS = re.compile(_NAMES + r" holds?\b")
_STATES = re.compile(r"(?P<states>[\d,]+(?: / [\d,]+)*) states")
_COMMAND = re.compile(r"`(precedes (?:explore|check|search) [^`]+)`")


@dataclass(frozen=True)
class Row:
    """A row of a table: where it stands, and its cells."""

    page: str
    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """What a cell says of a command. `moves`: of each property that is violated, with the moves of its loop if it has
    one; `states`: of each instance.
    """

    place: str
    command: str
    moves: tuple[tuple[str, int, int | None], ...]
    holding: tuple[str, ...]
    everything: bool
    nothing_violated: bool
    unexercised: tuple[str, ...]
    rest_holds: bool
    states: tuple[int, ...]
    slow: bool


def rows(page: Path) -> Iterator[Row]:
    """The rows of all tables of a page, without their heads."""
    previous = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        head = not previous.startswith("|")
        previous = line
        if not line.startswith("|") or head or set(line) <= set("|-: "):
            continue
        cells = tuple(cell.strip() for cell in line.strip("|").split(" | "))
        yield Row(page.relative_to(ROOT).as_posix(), number, tuple(cell.strip("| ") for cell in cells))


def statements() -> Iterator[Statement]:
    """What all rows say of commands."""
    for page in PAGES:
        for row in rows(page):
            for cell in row.cells:
                yield from _of_cell(row, cell)


def _of_cell(row: Row, cell: str) -> Iterator[Statement]:
    place = 0
    for found in _COMMAND.finditer(cell):
        said, place = cell[place : found.start()], found.end()
        violated = list(_VIOLATED.finditer(said))
        unexercised = list(_UNEXERCISED.finditer(said))
        rest = _UNEXERCISED.sub("", _VIOLATED.sub("", said))
        states = _STATES.search(said)
        yield Statement(
            f"{row.page}:{row.line}",
            found[1],
            tuple(
                (name, _number(each["moves"]), None if each["loop"] is None else _number(each["loop"]))
                for each in violated
                for name in _named(each["names"])
            ),
            tuple(name for each in _HOLDS.finditer(rest) for name in _named(each["names"])),
            "everything holds" in said.lower(),
            "nothing is violated" in said.lower(),
            tuple(name for each in unexercised for name in _named(each["names"])),
            "the rest holds" in said.lower(),
            tuple(map(_number, states["states"].split(" / "))) if states else (),
            "(slow" in said,
        )


def _named(names: str) -> list[str]:
    return re.findall(r"`([^`]+)`", names)


def _number(text: str) -> int:
    return int(text.replace(",", ""))
