"""How the tests of importers read: a file and settings in, rows or codes out, and what the scan says of them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from precedes.core.columns import Batch
from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.language.library import Library, standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import Notices, TraceOptions, TraceSource, assemble
from precedes.traces.foreign.importers import BY_WORD
from precedes.traces.schema import LIBRARY, REDELIVERED, TABLE_SCHEMA
from precedes.traces.sources import Compression

PUBLIC = Path(__file__).parents[4] / "shared" / "traces" / "public"
_KINDS = [kind.value for kind in EventKind]
_WHERE = ("file", "row", "file_order")


def source(word: str, path: Path, order: int = 0, **settings: str) -> TraceSource:
    """A file as `--from WORD` and `--set` name it."""
    attributes = tuple(library().attribute(name) for name in sorted(LIBRARY - {REDELIVERED}))
    compression = Compression.GZIP if path.suffix == ".gz" else None
    return TraceSource(
        str(path),
        BY_WORD[word],
        compression,
        order=order,
        attributes=attributes,
        settings=tuple(settings.items()),
    )


@cache
def library() -> Library:
    """The library, loaded once."""
    return standard_library()


def read(sources: Iterable[TraceSource], notices: Notices | None = None) -> pa.Table:
    """The canonical table of some files."""
    notices = Notices() if notices is None else notices
    return pa.concat_tables([t for each in sources for t in each.format.module.read(each, notices)])


def rows(word: str, path: Path, **settings: str) -> list[dict[str, Any]]:
    """The rows of a file, without what is absent, and without where they were read."""
    found = []
    for table in BY_WORD[word].module.read(source(word, path, **settings), Notices()):
        assert table.schema.names[: len(TABLE_SCHEMA)] == TABLE_SCHEMA.names
        found += table.to_pylist()
    return [_plain(row) for row in found]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    present = {
        name.removeprefix("attribute "): v for name, v in row.items() if v is not None and name not in _WHERE
    }
    if "clock" in present:
        present["clock"] = dict(present["clock"])
    return present | {"event": _KINDS[row["event"]]}


def text_rows(
    word: str, folder: Path, text: str | bytes, name: str = "a.log", **settings: str
) -> list[dict[str, Any]]:
    """The rows of a file with this text."""
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return rows(word, path, **settings)


def refusal(
    word: str, folder: Path, text: str | bytes, name: str = "a.log", **settings: str
) -> tuple[str, int | None]:
    """The code and the row with which a text is refused."""
    try:
        found = text_rows(word, folder, text, name, **settings)
    except PrecedesError as error:
        return error.diagnostics[0].code, error.diagnostics[0].row
    raise AssertionError(f"it was read: {found}")


def cut_everywhere(word: str, folder: Path, text: str, name: str = "a.log", **settings: str) -> None:
    """Each beginning of a file is refused, or it ends where a line does and has the first rows of the whole."""
    whole = text_rows(word, folder, text, name, **settings)
    data = text.encode()
    for size in range(len(data)):
        try:
            found = text_rows(word, folder, data[:size], name, **settings)
        except PrecedesError:
            continue
        assert found == whole[: len(found)], data[:size]
        ends = data[:size].endswith(b"\n") or data[size : size + 1] == b"\n" or not data[:size].strip()
        assert ends, data[:size]


def verdicts(sources: Sequence[TraceSource], *names: str, notices: Notices | None = None) -> dict[str, str]:
    """What the scan says of the one execution of some files."""
    notices = Notices() if notices is None else notices
    return judged(assemble(read(sources, notices), TraceOptions(), notices), *names)


def judged(batch: Batch, *names: str) -> dict[str, str]:
    """What the scan says of a batch of one execution."""
    result = scan(batch, plan([requirement(name, library()) for name in names]))
    words = {int(TRUE): "holds", int(FALSE): "violated"}
    assert batch.executions == 1
    return {name: words.get(int(result.values[0, result.names.index(name)]), "unknown") for name in names}
