"""Which log of another system a file is: as the user says, or by its content."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from precedes.core.diagnostics import usage
from precedes.traces.arrow import arrow
from precedes.traces.foreign.importers import BY_WORD, FOREIGN, MAPPING
from precedes.traces.formats.registry import TraceFormat
from precedes.traces.schema import REQUIRED_COLUMNS

LOOKED_AT: Final = 1 << 16
"""Bytes at the beginning of a file by which it is recognized."""


@dataclass(frozen=True, slots=True)
class LogReading:
    """How the user says that logs are read: the word of a format, and what is set for it. Without a word, files are
    recognized. `texts` are those of files that settings name, by setting, where they are no files of this process.
    """

    word: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def stated(
        cls, word: str | None, settings: Mapping[str, str], mapping: str | os.PathLike[str] | None
    ) -> LogReading:
        """The reading that a word, settings and the file of a mapping name together. Raises PrecedesError (U001)."""
        if mapping is None:
            return cls(word, settings)
        if word not in (None, MAPPING.word):
            raise usage(f"a mapping and the format {word} are two formats", "leave one of them out")
        return cls(MAPPING.word, {"file": os.fspath(mapping), **settings})

    @property
    def format(self) -> TraceFormat | None:
        """The format that the user names. Raises PrecedesError (U001) for one that there is not, and for settings
        without a format or that it does not have.
        """
        if self.word is None:
            if self.settings:
                raise usage("--set says how a log is read, and there is no --from", f"formats: {words()}")
            return None
        found = BY_WORD.get(self.word)
        if found is None:
            near = difflib.get_close_matches(self.word, BY_WORD, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise usage(f"there is no format {self.word}", f"{meant}formats: {words()}")
        allowed = {"execution", "entity", *found.module.SETTINGS}
        for name in self.settings:
            if name not in allowed and found is not MAPPING:
                raise usage(f"{self.word} has no setting {name}", f"it has {', '.join(sorted(allowed))}")
        return found


RECOGNIZED: Final = LogReading()
"""The user says nothing."""


def words() -> str:
    """What `--from` may name."""
    return ", ".join(BY_WORD)


def recognized(path: str, compression: str | None) -> TraceFormat | None:
    """The format of a file by its content and its name; None where it is none of these, or cannot be read."""
    start = _start(path, compression)
    if start is None:
        return None
    return next((each for each in FOREIGN if each.module.recognizes(start, Path(path).name)), None)


def recognizes(log: TraceFormat, path: str, compression: str | None) -> bool:
    """Whether a file is of this format, whatever else it may be, by its content and its name."""
    start = _start(path, compression)
    return start is not None and bool(log.module.recognizes(start, Path(path).name))


def _start(path: str, compression: str | None) -> str | None:
    """The beginning of the text of a file; None if it has none, or rows of a trace."""
    try:
        with arrow.input_stream(path, compression=compression) as stream:
            start = stream.read(LOOKED_AT)
    except (OSError, arrow.ArrowInvalid):
        return None
    if not start or b"\0" in start or _of_a_trace(start.partition(b"\n")[0]):
        return None
    text: str = start.removeprefix(b"\xef\xbb\xbf").decode(errors="ignore")
    return text


def _of_a_trace(line: bytes) -> bool:
    """Whether a line is a row of a trace, or the header of one as CSV."""
    names = {
        name.strip(b'" \r').decode(errors="ignore") for name in line.removeprefix(b"\xef\xbb\xbf").split(b",")
    }
    return b'"execution"' in line or names.issuperset(REQUIRED_COLUMNS)
