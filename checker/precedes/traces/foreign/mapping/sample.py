"""A look at a log that nobody has described: what kind of file it is, and what each of its fields holds."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from precedes.traces.foreign.importers import MAPPING
from precedes.traces.foreign.mapping.definition import Input, Mapping, Stated
from precedes.traces.foreign.mapping.fields import Fields, paths, plain
from precedes.traces.foreign.mapping.inputs import LINE, records
from precedes.traces.formats.text_stream import opened
from precedes.traces.formats.values import RowError
from precedes.traces.problems import unreadable
from precedes.traces.sources import STANDARD_INPUT, Compression, TraceSource

ROWS: Final = 1000
"""So many rows are looked at."""
_START: Final = 1 << 16
_LINES: Final = 20
_PLAIN_NAME: Final = re.compile(r"[\w.@-]+")
_SPLIT: Final = re.compile(r"(\s+)")
_KEYED: Final = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)=\S*")
_UNITS: Final = ((10**18, "epoch_ns"), (10**15, "epoch_us"), (10**12, "epoch_ms"), (10**9, "epoch_s"))
_LATEST: Final = 4
"""Times since 1970 that are numbers are below so many times the least of their unit: the year 2096."""
_RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_BEGINS: Final = (r"\d{4}-\d\d-\d\d", r"\[\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d")
_WITHOUT_ZONE: Final = re.compile(r"\d{4}-\d\d-\d\d(?P<between>[T ])\d\d:\d\d:\d\d((?P<point>[.,])\d{1,6})?")


@dataclass(frozen=True, slots=True)
class Profile:
    """A field: in which rows it is, with its values as texts; lists are none, and `listed` says that it has some."""

    name: str
    values: tuple[tuple[int, str], ...]
    listed: bool

    @property
    def distinct(self) -> frozenset[str]:
        """Its values."""
        return frozenset(value for _, value in self.values)


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file, how messages call it, and the entries of a mapping that say how to read them."""

    shown: str
    entries: tuple[tuple[str, str], ...]
    rows: tuple[Fields, ...]
    profiles: tuple[Profile, ...]


def sampled(path: str) -> Sample:
    """The first rows of a file. Raises PrecedesError for one that cannot be read."""
    if path != STANDARD_INPUT and not os.path.lexists(path):
        raise unreadable("T001", "there is no such file", path)
    if Path(path).is_dir():
        raise unreadable("T003", "this is a directory", path, "name one of its files")
    packed = {".gz": Compression.GZIP, ".zst": Compression.ZSTD}.get(Path(path).suffix.lower())
    source = TraceSource(path, MAPPING, packed)
    with opened(source) as stream:
        start = stream.read(_START).decode(errors="replace")
        whole = not stream.read(1)
    lines = [line for line in start.split("\n")[: None if whole else -1] if line.strip()][:_LINES]
    entries = _entries(start, lines)
    mapping = Mapping(**{**entries, "input": entries["input"]})  # type: ignore[arg-type]
    found = (row for _, row in islice(records(source, Stated(mapping)), ROWS))
    rows = tuple(row for row in found if not isinstance(row, RowError))
    return Sample(source.shown, tuple(entries.items()), rows, tuple(_profiles(rows)))


def _entries(start: str, lines: Sequence[str]) -> dict[str, str]:
    first = lines[0].strip() if lines else ""
    if first.startswith("["):
        return {"input": "json"}
    if first.startswith("{"):
        try:
            json.loads(first)
        except ValueError:
            return {"input": "json", **_rows_in(start)}
        return {"input": "json-lines"}
    for delimiter, kind in (("\t", "tsv"), (",", "csv"), (";", "csv")):
        counts = {line.count(delimiter) for line in lines}
        if len(counts) == 1 and 0 not in counts and _names(first.split(delimiter)):
            chosen: Input = "tsv" if kind == "tsv" else "csv"
            return {"input": chosen, **({"delimiter": ";"} if delimiter == ";" else {})}
    begins = _begins(lines)
    if begins is None:
        return {"input": "text", **_dissected(lines)}
    return {"input": "text", "begins": begins, **_dissected([s for s in lines if re.match(begins, s)])}


def _begins(lines: Sequence[str]) -> str | None:
    """How records of several lines begin: with a time, which the first line has and some others have not."""
    for begins in _BEGINS:
        if lines and re.match(begins, lines[0]):
            return None if all(re.match(begins, line) for line in lines) else begins
    return None


def _names(cells: Sequence[str]) -> bool:
    return all(
        _PLAIN_NAME.fullmatch(cell.strip().strip('"')) and not cell.strip().isdigit() for cell in cells
    )


def _rows_in(start: str) -> dict[str, str]:
    """The list in a document, if its name can be seen at the start."""
    found = re.search(r'"(\w+)"\s*:\s*\[\s*\{', start)
    return {} if found is None else {"rows": found[1]}


def _dissected(lines: Sequence[str]) -> dict[str, str]:
    """Words that every line has, as fields: where each has the same `key=`, or brackets, these are text."""
    split = [_SPLIT.split(line.strip()) for line in lines]
    words = min((len(each) // 2 + 1 for each in split), default=0)
    if words < 2:
        return {}
    parts = []
    for k in range(words):
        column = [each[2 * k] for each in split]
        last = k == words - 1 and any(len(each) // 2 + 1 > words for each in split)
        parts.append("%{rest}" if last else _part(k, column))
    return {"dissect": " ".join(parts)}


def _part(place: int, column: Sequence[str]) -> str:
    keys = {found["key"] if (found := _KEYED.fullmatch(word)) else "" for word in column}
    if len(keys) == 1 and "" not in keys:
        key = next(iter(keys))
        return f"{key}=%{{{key}}}"
    name = f"word{place + 1}"
    if all(word.startswith("[") and word.endswith("]") for word in column):
        return f"[%{{{name}}}]"
    if all(word.endswith(":") for word in column):
        return f"%{{{name}}}:"
    return f"%{{{name}}}"


def _profiles(rows: Sequence[Fields]) -> Iterator[Profile]:
    values: dict[str, list[tuple[int, str]]] = {}
    lists: set[str] = set()
    for number, row in enumerate(rows):
        for name, value in paths(row):
            if name == LINE and len(row) > 1:
                continue
            if isinstance(value, list):
                lists.add(name)
                values.setdefault(name, [])
            elif (text := plain(value)) is not None and text:
                values.setdefault(name, []).append((number, text))
    for name, found in values.items():
        yield Profile(name, tuple(found), name in lists)


def time_written(profile: Profile) -> str | None:
    """How the times of a field are written, as `format` and `zone` of a mapping have it; None for what is no time."""
    texts = profile.distinct
    if not texts or profile.listed:
        return None
    if all(_RFC_3339.fullmatch(text) for text in texts):
        return 'format = "rfc3339"'
    found = [_WITHOUT_ZONE.fullmatch(text) for text in texts]
    if all(found):
        each = next(one for one in found if one is not None)
        fraction = f"{each['point']}%f" if each["point"] else ""
        return f'format = "%Y-%m-%d{each["between"]}%H:%M:%S{fraction}", zone = "TODO"'
    if not all(re.fullmatch(r"\d{10,19}(\.\d+)?", text) for text in texts):
        return None
    for least, unit in _UNITS:
        if all(least <= int(text.partition(".")[0]) < _LATEST * least for text in texts):
            return f'format = "{unit}"'
    return None
