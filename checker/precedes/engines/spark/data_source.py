"""`spark.read.format("precedes")`: traces and logs of other systems, read by Spark's workers.

The driver finds the files, their formats and the mapping; a worker reads a file, or some row groups of a Parquet file.
Options are texts. They are looked at in a process of the driver that Spark starts for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from precedes.core.diagnostics import PrecedesError, usage
from precedes.core.suggestions import did_you_mean
from precedes.engines.spark.read_rows import BESIDE, rows_of, schema_of_rows
from precedes.engines.spark.workers import of_this_version, raised_plainly
from precedes.traces import Notice, Notices, TraceOptions, TraceSource, expand
from precedes.traces.foreign.importers import MAPPING
from precedes.traces.foreign.mapping.definition import stated
from precedes.traces.foreign.mapping.plan import planned
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.formats.single_rows import name_unknown
from precedes.traces.layout.columnar_file import with_members
from precedes.traces.reader import ROWS_PER_PIECE, Piece, pieces, read_piece, tell_no_row
from precedes.traces.schema import ATTRIBUTE, INPUT_COLUMNS, LIBRARY, REDELIVERED, beside

_ROWS_AT_ONCE: Final = 1 << 16
_LOOKED_INTO: Final = 4096
"""Bytes of a file into which the driver looks for a row; a file with a header alone has fewer."""
_SETTING: Final = "set."
_OPTIONS: Final = ("path", "paths", "from", "mapping", "attributes")
_SAME_COLUMNS: Final = "leave out the schema, and select or rename columns of what was read"


class TraceDataSource(DataSource):
    """What Spark asks about traces: the columns and the reader of some files."""

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return "precedes"

    def schema(self) -> StructType:
        """The columns of the rows. Raises PrecedesError for options and files that cannot be."""
        with raised_plainly():
            return self._reading().schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the files. Raises PrecedesError for a schema of the user's own."""
        with raised_plainly():
            found = self._reading()
            if schema.names != found.schema.names:
                raise usage("the columns of a trace are not chosen by a schema", _SAME_COLUMNS)
            return found

    def _reading(self) -> TraceReader:
        """What the options say, found out once: Spark sends this object on to where the files are read."""
        if not hasattr(self, "_found"):
            self._found = reader_of(dict(self.options))
        return self._found


class _Part(InputPartition):
    """What one worker reads, with what was told before anything was read."""

    def __init__(self, piece: Piece, notices: tuple[Notice, ...]) -> None:
        self.piece = piece
        self.notices = notices


class TraceReader(DataSourceReader):
    """Some files of a trace, and the attributes that their rows have."""

    def __init__(
        self, sources: Sequence[TraceSource], attributes: Sequence[str], told: tuple[Notice, ...]
    ) -> None:
        self.schema = from_arrow_schema(schema_of_rows(attributes))
        self._sources = sources
        self._told = told
        self._read = of_this_version(partial(_rows, tuple(attributes), to_arrow_schema(self.schema)))

    def partitions(self) -> list[InputPartition]:
        """A part for each file, or for some row groups of it. Raises PrecedesError."""
        with raised_plainly():
            found = [piece for source in self._sources for piece in pieces(source, ROWS_PER_PIECE)]
            return [_Part(piece, () if k else self._told) for k, piece in enumerate(found)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a part. Raises PrecedesError for those that cannot be read."""
        assert isinstance(partition, _Part)
        with raised_plainly():
            yield from self._read(partition)


def _rows(attributes: tuple[str, ...], schema: pa.Schema, part: _Part) -> Iterator[pa.RecordBatch]:
    notices, held = Notices(part.notices), None
    for table in read_piece(part.piece, notices):
        if not part.piece.source.format.word:
            names = [field.name.removeprefix(ATTRIBUTE) for field in beside(table.schema)]
            name_unknown((name for name in names if name not in LIBRARY.union(attributes)), notices)
        if len(table):
            if held is not None:
                yield from _batches(rows_of(held, attributes), schema)
            held = table
    if held is not None:
        yield from _batches(rows_of(held, attributes, notices.all()), schema)


def _batches(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    # Spark compares the names of fields within lists and maps, too.
    yield from rows.cast(schema).combine_chunks().to_batches(max_chunksize=_ROWS_AT_ONCE)


def reader_of(options: dict[str, str]) -> TraceReader:
    """The reader that options name. Raises PrecedesError."""
    settings = {name.removeprefix(_SETTING): options.pop(name) for name in _settings_in(options)}
    for name in options:
        if name not in _OPTIONS:
            known = [*_OPTIONS, *(f"{_SETTING}{each}" for each in settings)]
            hint = did_you_mean(name, known) or f"options are {', '.join(_OPTIONS)}, and {_SETTING}NAME"
            raise usage(f"there is no option {name}", hint)
    log = _log(options.get("from"), settings, options.get("mapping"))
    notices = Notices()
    sources = [source.from_anywhere() for source in expand(_paths(options), notices, log)]
    for source in sources:
        if with_members([source], TraceOptions()).groups:
            said = f"groups were stated beside the trace of which {source.shown} was made, and rows do not have them"
            raise usage(
                said, 'precedes.verify("TRACE", ..., engine="spark") reads such a file with its groups'
            )
    attributes = _attributes(options.get("attributes"), sources)
    read = _with_rows(sources, notices)
    return TraceReader([replace(source, every=True) for source in read], attributes, notices.all())


def _with_rows(sources: Sequence[TraceSource], notices: Notices) -> list[TraceSource]:
    """The files that have rows; of the others it is told that they have none. No row of a worker would bring that
    along, nor, from the first file, what was told before. A large file that is not the first is left to its worker.
    """
    kept: list[TraceSource] = []
    for source in sources:
        if (kept and source.size > _LOOKED_INTO) or _has_rows(source):
            kept.append(source)
        else:
            tell_no_row(source, notices)
    # Spark wants a part to read, and so does a load without any row.
    return kept or list(sources[:1])


def _has_rows(source: TraceSource) -> bool:
    """Whether a file has a row, or a mistake before its first row: its worker tells that."""
    if not source.size:
        return False
    try:
        if source.format.divisible:
            return any(source.format.module.row_groups(source))
        return any(len(table) for table in source.format.module.read(source, Notices()))
    except PrecedesError:
        return True


def _settings_in(options: dict[str, str]) -> list[str]:
    return [name for name in options if name.startswith(_SETTING)]


def _paths(options: dict[str, str]) -> list[str]:
    """The paths that `load` was given: one, or a list, which Spark writes as JSON."""
    found = json.loads(options.get("paths", "[]"))
    paths = [options["path"]] if "path" in options else found
    if not paths:
        raise usage("no path is named", 'spark.read.format("precedes").load("logs")')
    return [path.removeprefix("file://") for path in paths]


def _log(word: str | None, settings: dict[str, str], mapping: str | None) -> LogReading:
    """How logs are read. A mapping is the path of a file, or the text of one, which has several lines."""
    if mapping is None or "\n" not in mapping:
        return LogReading.stated(word, settings, mapping)
    return replace(LogReading.stated(word, settings, "mapping"), texts={"file": mapping})


def _attributes(listed: str | None, sources: Sequence[TraceSource]) -> list[str]:
    """The attributes that rows have: those that are named, else those of the library and of the mapping."""
    if listed is not None:
        names = [name.strip() for name in listed.split(",")]
        wrong = next((name for name in names if name in (*INPUT_COLUMNS, *BESIDE) or not name), None)
        if wrong is not None:
            raise usage(
                f"`{wrong}` cannot be an attribute", "rows have a column of that name, or it is empty"
            )
        return list(dict.fromkeys(names))
    named = sorted(LIBRARY - {REDELIVERED})
    if sources[0].format is MAPPING:
        written = stated(sources[0])
        planned(written, sources[0])
        mapping = written.mapping
        events = mapping.event if isinstance(mapping.event, tuple) else ()
        named += [name for each in (mapping, *events) for name in each.attributes]
    return [name for name in dict.fromkeys(named) if name not in BESIDE]
