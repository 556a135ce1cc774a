"""Logs of other systems, as the pages of the formats show them, with damage and with values that nobody would write.

A log is made twice from one number, byte by byte the same.
"""

from __future__ import annotations

import gzip
import json
import random
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from precedes.traces.foreign.importers import FOREIGN, MAPPING
from precedes.traces.foreign.recognition import RECOGNIZED, LogReading
from tests.command.documents import ROOT, File, Run, steps
from tests.traces import hostile
from tests.traces.damage import damaged

PAGES: Final = (*sorted((ROOT / "docs/formats").glob("*.md")), ROOT / "docs/how-to/own-log-format.md")
_PLACE: Final = "a value stands here"


@dataclass(frozen=True, slots=True)
class Log:
    """A log: the word of its format, what is set for it, its files, and its mapping, if that is how it is read."""

    word: str
    settings: dict[str, str]
    files: dict[str, bytes]
    mapping: str | None = None


@dataclass(frozen=True, slots=True)
class MadeLog:
    """The files of a log that somebody damaged, and how they are read: paths of settings begin at their folder."""

    word: str
    files: dict[str, bytes] = field(hash=False)
    mapping: str | None
    settings: dict[str, str] = field(hash=False)
    recognized: bool

    def reading(self, folder: Path) -> LogReading:
        """How the files in a folder are read."""
        if self.mapping is not None:
            return LogReading(MAPPING.word, {"file": str(folder / self.mapping)})
        return RECOGNIZED if self.recognized else LogReading(self.word, self.settings)


@cache
def logs() -> tuple[Log, ...]:
    """The logs of all pages. AssertionError for a format without one."""
    found = [log for page in PAGES for log in _shown(page)]
    assert {one.word for one in FOREIGN} <= {log.word for log in found}, (
        "a format has no page that shows a log"
    )
    return tuple(found)


def _shown(page: Path) -> Iterator[Log]:
    files: dict[str, bytes] = {}
    for step in steps(page):
        match step:
            case File(name, text):
                files[name] = text.encode()
            case Run(_, command, _, _) if command.startswith("precedes verify"):
                words = shlex.split(command)
                options = list(pairwise(words))
                settings = dict(value.split("=", 1) for option, value in options if option == "--set")
                (mapping,) = [value for option, value in options if option == "--mapping"] or [None]
                word = next((value for option, value in options if option == "--from"), MAPPING.word)
                asked = [name for name in files if any(name.startswith(each) for each in words)]
                yield Log(
                    word,
                    settings,
                    {name: files[name] for name in (*asked, *([mapping] if mapping else []))},
                    mapping,
                )
            case _:
                continue


def made_log(choice: random.Random) -> MadeLog:
    """One of the logs, with damage in one of its files or in several."""
    log = choice.choice(logs())
    files = {}
    for name, data in log.files.items():
        worse = damaged(choice, data) if name == log.mapping else _worse(choice, data)
        files[name] = worse if choice.random() < (0.05 if name == log.mapping else 0.8) else data
    if choice.random() < 0.1:
        files = dict(
            _packed(choice, name, data) if name != log.mapping else (name, data)
            for name, data in files.items()
        )
    return MadeLog(log.word, files, log.mapping, log.settings, choice.random() < 0.4)


def _worse(choice: random.Random, data: bytes) -> bytes:
    match choice.randrange(8):
        case 0 | 1:
            return damaged(choice, data)
        case 2 | 3 | 4:
            return _with_other_values(choice, data)
        case 5 | 6:
            return _with_other_lines(choice, data)
        case _:
            return hostile.json_lines(choice)


def _with_other_values(choice: random.Random, data: bytes) -> bytes:
    """The same but for some values of JSON; damaged, if it is none."""
    try:
        return _replaced(choice, json.loads(data))
    except ValueError:
        lines = data.split(b"\n")
    changed = 0
    for number, line in enumerate(lines):
        at = line.find(b"{")
        if at >= 0 and choice.random() < 0.5:
            try:
                lines[number] = line[:at] + _replaced(choice, json.loads(line[at:]))
                changed += 1
            except ValueError:
                continue
    return b"\n".join(lines) if changed else damaged(choice, data)


def _replaced(choice: random.Random, document: Any) -> bytes:
    """A document in which another value stands in some place, or two in two."""
    texts = []
    for _ in range(choice.choice((1, 1, 1, 2))):
        holders = list(_holders(document))
        if not holders:
            break
        holder = choice.choice(holders)
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        holder[choice.choice(keys)] = _PLACE
        texts.append(_value(choice))
    written = json.dumps(document)
    for text in texts:
        written = written.replace(json.dumps(_PLACE), text, 1)
    return written.encode(errors="surrogatepass")


def _value(choice: random.Random) -> str:
    """A value; often one of another type, or a number that is hard to hold, as text."""
    if choice.random() < 0.3:
        return json.dumps(hostile.number(choice))
    return hostile.json_value(choice)


def _holders(document: Any) -> Iterator[Any]:
    """All objects and lists that have something in them."""
    if isinstance(document, dict | list) and document:
        yield document
        for value in document.values() if isinstance(document, dict) else document:
            yield from _holders(value)


def _with_other_lines(choice: random.Random, data: bytes) -> bytes:
    """Lines that stand twice, elsewhere or not at all, or that belong to another log."""
    lines = data.split(b"\n")
    for _ in range(choice.choice((1, 2, 5))):
        place = choice.randrange(len(lines))
        match choice.randrange(5):
            case 0:
                lines.insert(choice.randrange(len(lines) + 1), lines[place])
            case 1:
                lines.insert(choice.randrange(len(lines)), lines.pop(place))
            case 2:
                del lines[place]
            case 3:
                other = choice.choice(list(choice.choice(logs()).files.values())).split(b"\n")
                lines.insert(place, choice.choice(other))
            case _:
                lines[place] += lines[choice.randrange(len(lines))]
        lines = lines or [b""]
    return b"\n".join(lines)


def _packed(choice: random.Random, name: str, data: bytes) -> tuple[str, bytes]:
    if choice.random() < 0.5:
        name, data = f"{name}.gz", gzip.compress(data, mtime=0)
    else:
        name, data = f"{name}.zst", pa.compress(data, "zstd", asbytes=True)
    return name, damaged(choice, data) if choice.random() < 0.3 else data
