"""The formats of traces, one line each. A format is a module that is loaded when a file of it is read or written.

Such a module has

    read(source, notices)                     canonical tables (`TABLE_SCHEMA`), in the order of the rows
    write(rows, path, compression, attributes)    rows of executions to a new file; how many there were (if `writable`)
    row_groups(source)                        rows of each part that can be read by itself (if `divisible`)
    read_groups(source, notices, groups)      canonical tables of some of these parts (if `divisible`)
    named_rows(source)                        the names of executions, part after part (if `divisible`)
    named_texts(source)                       texts of the files read beside a log, by their setting (if `names_files`)

Each raises PrecedesError for what it cannot read.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How rows are written in a file: its name, its suffixes, the module beside this one."""

    name: str
    suffixes: tuple[str, ...]
    home: str
    compressible: bool = True
    writable: bool = True
    divisible: bool = False
    headed: bool = False
    """Columns are named before rows: `write` is told which attributes there are."""
    names_files: bool = False
    """What a log means is also in other files, which settings name or which are beside it."""
    word: str = ""
    """What `--from` calls it, for a log of another system: its module is in `precedes.traces.foreign`."""
    carries: str = ""
    lacks: str = ""
    """What such a log records, and what it does not, for messages and documents."""

    @property
    def module(self) -> Any:
        """The module, loaded at its first use."""
        return import_module(f"precedes.traces.{'foreign' if self.word else 'formats'}.{self.home}")


JSON_LINES: Final = TraceFormat("JSON Lines", (".jsonl", ".ndjson", ".json"), "json_lines")
CSV: Final = TraceFormat("CSV", (".csv",), "csv", headed=True)
PARQUET: Final = TraceFormat(
    "Parquet", (".parquet",), "parquet", compressible=False, divisible=True, headed=True
)

FORMATS: Final = (
    JSON_LINES,
    CSV,
    PARQUET,
)
"""The formats of rows as this project defines them."""

BY_SUFFIX: Final = {suffix: each for each in FORMATS for suffix in each.suffixes}


def known(*, written: bool = False) -> str:
    """The suffixes, for messages; those that can be `written`, or all that can be read."""
    formats = [each for each in FORMATS if each.writable or not written]
    packed = [suffix for each in formats if each.compressible for suffix in each.suffixes]
    plain = [suffix for each in formats if not each.compressible for suffix in each.suffixes]
    named = [f"{', '.join(packed)} (each also with .gz or .zst)"] if packed else []
    return f"known are {' and '.join([*named, *([', '.join(plain)] if plain else [])])}"


def listed() -> str:
    """Every format with its suffixes."""
    texts = ", ".join(f"{each.name} ({', '.join(each.suffixes)})" for each in FORMATS)
    packed = ", ".join(each.name for each in FORMATS if each.compressible)
    return f"{texts}; {packed} also as .gz and .zst"
