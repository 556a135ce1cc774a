"""The files of a trace: paths, globs, directories, partitioned data sets, standard input.

The name of a file says its format, or its content does, for a log of another system. Folders named
`column=value` anywhere in a path are columns, as Hive writes them. In a directory, files and folders whose names begin
with `_` or `.` are skipped, as Hive and Spark do.
"""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import unquote_to_bytes

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.formula import Attribute
from precedes.traces import notices as notice
from precedes.traces.foreign.importers import BY_WORD, MAPPING
from precedes.traces.foreign.recognition import RECOGNIZED, LogReading, recognized, recognizes
from precedes.traces.formats.registry import BY_SUFFIX, JSON_LINES, TraceFormat, known
from precedes.traces.notices import Notices
from precedes.traces.schema import INPUT_COLUMNS, LIBRARY

STANDARD_INPUT: Final = "-"
_HIVE_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


class Compression(Enum):
    """How a text file is compressed; the values are Arrow's names."""

    GZIP = "gzip"
    ZSTD = "zstd"


_Format = tuple[TraceFormat, Compression | None]
_Named = tuple[str, _Format | None]
"""A path, and what its file is, if that is known."""
_COMPRESSIONS: Final = {".gz": Compression.GZIP, ".zst": Compression.ZSTD}


@dataclass(frozen=True, slots=True)
class TraceSource:
    """One file to read. Picklable.

    `stated` are the columns that its folders state, as text; `order` is its place among the files of a
    trace; `size` is in bytes; `only`: it is the one file of its trace; `named` is how messages call it, if not by its
    path; `attributes` are those that are read; `every`: every other column is read, too, as text, for a file that is
    asked later; `settings` are what the user sets for reading a log of another system, and `texts` are those of the
    files that are read beside the log, by setting, where they were read before: another process may not see these
    files; `coded`: the canonical columns `CODED` may be dictionaries, as a file has them.
    """

    path: str
    format: TraceFormat
    compression: Compression | None = None
    stated: tuple[tuple[str, str], ...] = ()
    order: int = 0
    size: int = 0
    only: bool = False
    named: str | None = None
    attributes: tuple[Attribute, ...] = ()
    every: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    coded: bool = False

    def setting(self, name: str, default: str = "") -> str:
        """What the user set for reading a log of another system."""
        return dict(self.settings).get(name, default)

    def text(self, name: str) -> str | None:
        """The text of a file beside the log, by its setting, if it was read before."""
        return dict(self.texts).get(name)

    def beside(self) -> dict[str, str]:
        """The texts of the files that are read beside a log of another system, by setting. Raises PrecedesError."""
        found: dict[str, str] = self.format.module.named_texts(self) if self.format.names_files else {}
        return found

    @property
    def shown(self) -> str:
        """The path for a message."""
        return self.named or ("<stdin>" if self.path == STANDARD_INPUT else self.path)

    @property
    def partition(self) -> tuple[tuple[str, str], ...]:
        """The columns that its folders state and that are read."""
        return tuple(pair for pair in self.stated if self.reads(pair[0]))

    @property
    def columns(self) -> frozenset[str]:
        """The columns of which it is known what they mean."""
        return frozenset((*INPUT_COLUMNS, *(each.name for each in self.attributes)))

    def reads(self, name: str) -> bool:
        """Whether a column is read, if the file has it."""
        return self.every or name in self.columns

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Those of some columns that are not read, and that the library does not declare."""
        return [name for name in names if not self.reads(name) and name not in LIBRARY]

    def asked(self, attributes: Sequence[Attribute]) -> TraceSource:
        """The same file, of which these attributes are read."""
        return replace(self, attributes=tuple(attributes))

    def from_anywhere(self) -> TraceSource:
        """The same file for a process that has another folder, with the texts of the files that are read beside it.
        Raises PrecedesError: U001 for standard input, and what those files deserve.
        """
        if self.path == STANDARD_INPUT:
            raise usage(
                "workers of Spark cannot read standard input", "name a file, or leave out --engine spark"
            )
        texts = tuple(self.beside().items())
        return replace(self, path=str(Path(self.path).absolute()), named=self.shown, texts=texts)


def source_of(path: str, order: int = 0, log: LogReading = RECOGNIZED) -> TraceSource:
    """The source that a path names, a log of another system as the user says or by its content. Raises PrecedesError:
    T002 where neither the name nor the content tells the format, U001 for a `log` that there is not.
    """
    return _source(_named(path, log), order, log)


def _source(named: _Named, order: int, log: LogReading) -> TraceSource:
    """The source of a file that was looked at. Raises PrecedesError (T002)."""
    path, found = named
    settings, texts = tuple(log.settings.items()), tuple(log.texts.items())
    if path == STANDARD_INPUT:
        return TraceSource(path, log.format or JSON_LINES, order=order, settings=settings, texts=texts)
    if found is None:
        piped = f"JSON Lines under another name are read with `precedes verify - < {shlex.quote(path)}`"
        hint = f"{known()}; {piped}; logs of other systems: --from {'|'.join(BY_WORD)}"
        said = "neither the name nor the content says the format"
        raise PrecedesError((Diagnostic("T002", said, path, hint=hint),))
    size = Path(path).stat().st_size if Path(path).exists() else 0
    return TraceSource(path, *found, tuple(_stated(path)), order, size, settings=settings, texts=texts)


def expand(
    paths: Sequence[str | os.PathLike[str]],
    notices: Notices | None = None,
    log: LogReading = RECOGNIZED,
) -> tuple[TraceSource, ...]:
    """All files that the arguments name, in the order of the arguments, within one by path; logs of other systems as
    `log` says, or by their content.

    Raises PrecedesError for what does not exist and for a directory or glob without a trace (T001), told all
    at once.
    """
    notices = Notices() if notices is None else notices
    found: dict[str, _Named] = {}
    problems: list[Diagnostic] = []
    for given in paths:
        try:
            for named in _paths(os.fspath(given), notices, log):
                path, _ = named
                identity = path if path == STANDARD_INPUT else os.path.realpath(path)
                if identity not in found:
                    found[identity] = named
                else:
                    notices.once(notice.FILE_TWICE, f"{path} is named more than once and was read once")
        except PrecedesError as error:
            problems.extend(error.diagnostics)
    sources: list[TraceSource] = []
    for order, named in enumerate(found.values()):
        try:
            sources.append(_source(named, order, log))
        except PrecedesError as error:
            problems.extend(error.diagnostics)
    if problems:
        raise PrecedesError(tuple(problems))
    for source in sources:
        if source.format.word:
            text = (
                "read as the mapping says; what it does not name is not recorded"
                if source.format is MAPPING
                else f"read as {source.format.word}, which does not record {source.format.lacks}"
            )
            notices.count(notice.FOREIGN_LOG, text, 1)
    return tuple(replace(source, only=len(sources) == 1) for source in sources)


def _paths(path: str, notices: Notices, log: LogReading) -> Iterator[_Named]:
    if path == STANDARD_INPUT:
        yield path, None
    elif Path(path).is_dir():
        yield from _directory(path, notices, log)
    elif os.path.lexists(path):
        yield _named(path, log)
    elif glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207  (`Path.glob` needs a root)
        if not matches:
            raise PrecedesError((Diagnostic("T001", "nothing matches this pattern", path),))
        for match in matches:
            if not Path(match).is_dir():
                yield _named(match, log)
            elif not path.endswith("**"):
                # `**` matches folders and all that is in them: the files come by themselves.
                yield from _directory(match, notices, log)
    else:
        raise PrecedesError((Diagnostic("T001", "there is no such file", path),))


def _directory(directory: str, notices: Notices, log: LogReading) -> Iterator[_Named]:
    """The traces in a directory, each with its format. Of a stated format these are the files that are recognized as
    it, and those that are called alike; if there is none, they are all files.
    """
    _refuse_tables(directory)
    paths = list(_files(directory))
    named = {path: _format(path, log.format) for path in paths}
    if log.format is not None:
        alike = {_suffixes(path) for path in paths if _is(path, log.format)}
        named = {
            path: found if not alike or _suffixes(path) in alike else None for path, found in named.items()
        }
    for path, found in named.items():
        if found is None:
            notices.once(notice.FILE_IGNORED, f"{path} is no trace by its name or content, and was not read")
        else:
            yield path, found
    if not any(named.values()):
        raise PrecedesError(
            (Diagnostic("T001", "there is no trace in this directory", directory, hint=known()),)
        )


def _refuse_tables(directory: str) -> None:
    """Raise PrecedesError (T009) for a folder of a table whose files also have rows that were deleted or replaced."""
    folder = Path(directory)
    if (folder / "_delta_log").is_dir():
        kind, read = "Delta Lake", "deltalake.DeltaTable(...).to_pyarrow_table()"
    elif any((folder / "metadata").glob("*.metadata.json")):
        kind, read = "Iceberg", "scan().to_arrow() of a table of pyiceberg"
    else:
        return
    said = f"this is a table of {kind}: its files also have rows that are no longer in it"
    hint = f"read it with Spark, or pass precedes.verify what {read} gives"
    raise PrecedesError((Diagnostic("T009", said, directory, hint=hint),))


def _files(directory: str) -> Iterator[str]:
    """The files in a directory and in its folders, by path."""
    for folder, folders, files in os.walk(directory, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith(("_", ".")))
        yield from (str(Path(folder, name)) for name in sorted(files) if not name.startswith(("_", ".")))


def _refuse(error: OSError) -> None:
    raise PrecedesError((Diagnostic("T003", f"cannot be read: {error.strerror}", error.filename),)) from error


def _named(path: str, log: LogReading) -> _Named:
    """A file, and its format by its name and content, or as stated."""
    return path, None if path == STANDARD_INPUT else _format(path, log.format)


def is_named_as_trace(path: str) -> bool:
    """Whether the name of a file is that of a trace, or it is a folder or a pattern."""
    suffixes = _suffixes(path)
    return bool(suffixes and suffixes[-1] in BY_SUFFIX) or "*" in path or Path(path).is_dir()


def _suffixes(path: str) -> tuple[str, ...]:
    """What the name of a file ends with, without that of a compression."""
    suffixes = tuple(suffix.lower() for suffix in Path(path).suffixes)
    return suffixes[:-1] if suffixes and suffixes[-1] in _COMPRESSIONS else suffixes


def _compression(path: str) -> Compression | None:
    return _COMPRESSIONS.get(Path(path).suffix.lower())


def _is(path: str, log: TraceFormat) -> bool:
    """Whether a file is recognized as a log of this format."""
    compression = _compression(path)
    return recognizes(log, path, None if compression is None else compression.value)


def _format(path: str, stated: TraceFormat | None) -> _Format | None:
    """What a file is by its name and content, or as stated. Raises PrecedesError (T003) for a name that Arrow cannot
    have.
    """
    try:
        path.encode()
    except UnicodeEncodeError as error:
        hint = "rename the file or its folder"
        raise PrecedesError((Diagnostic("T003", "its name is not UTF-8", path, hint=hint),)) from error
    suffixes, compression = _suffixes(path), _compression(path)
    if stated is not None:
        return stated, compression
    named = BY_SUFFIX.get(suffixes[-1]) if suffixes else None
    if named is None or named.compressible:
        found = recognized(path, None if compression is None else compression.value)
        if found is not None:
            return found, compression
    if named is None or (compression is not None and not named.compressible):
        return None
    return named, compression


def _stated(path: str) -> Iterator[tuple[str, str]]:
    """The columns that the folders of a path state, with their values: bytes that are not UTF-8 as Python has them in
    names of files.
    """
    for part in PurePath(path).parts[:-1]:
        column, equals, value = part.partition("=")
        if equals and value != _HIVE_NULL:
            yield column, os.fsdecode(unquote_to_bytes(os.fsencode(value)))
