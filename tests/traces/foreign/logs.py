"""Logs of other systems in tests: a text in, rows or diagnostics out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from precedes.core.columns import Batch
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.execution import EventKind
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.language.library import Library, standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.foreign.importers import BY_WORD, FOREIGN
from precedes.traces.schema import TABLE_SCHEMA
from precedes.traces.sources import Compression, TraceSource

PUBLIC: Final = Path(__file__).parents[4] / "shared" / "traces" / "public"
"""Logs that others published, where they are."""
WRONG: Final[tuple[Any, ...]] = (
    None, True, -1, 1.5, 2**70, "", "x", [], ["x"], {}, {"a": 1}, "\ud800"
)  # fmt: skip
Rows = list[dict[str, Any]]


def source_of(path: Path, word: str, columns: Sequence[str] = (), /, **settings: str) -> TraceSource:
    """A file as the source of a format, of which some columns are read as texts."""
    attributes = tuple(Attribute(name, AttributeSort.TEXT) for name in columns)
    compression = Compression.GZIP if path.suffix == ".gz" else None
    return TraceSource(
        str(path), BY_WORD[word], compression, only=True, attributes=attributes,
        settings=tuple(settings.items()),
    )  # fmt: skip


def table_of(source: TraceSource) -> pa.Table:
    """The canonical table of a source."""
    tables = list(source.format.module.read(source, Notices()))
    return pa.concat_tables(tables).combine_chunks() if tables else TABLE_SCHEMA.empty_table()


def rows_of(
    path: Path, text: str | bytes, word: str, columns: Sequence[str] = (), /, **settings: str
) -> Rows:
    """The rows of a text: what is there of each, without where it was read."""
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    table = table_of(source_of(path, word, columns, **settings))
    table.validate(full=True)
    return [
        {
            name.removeprefix("attribute "): _plain(name, value)
            for name, value in row.items()
            if value is not None and name not in {"execution", "file", "file_order"}
        }
        for row in table.to_pylist()
    ]


def _plain(name: str, value: Any) -> Any:
    """A canonical value as tests write it."""
    match name:
        case "event":
            return list(EventKind)[value].value
        case "clock":
            return dict(value)
        case _:
            return value


def outcome(path: Path, text: str | bytes, word: str, **settings: str) -> Rows | Diagnostic:
    """The rows of a text, or the first thing that is told of it."""
    try:
        return rows_of(path, text, word, **settings)
    except PrecedesError as error:
        return error.diagnostics[0]


def refusal(path: Path, text: str | bytes, word: str, **settings: str) -> Diagnostic:
    """The first thing that is told of a text that cannot be read."""
    found = outcome(path, text, word, **settings)
    assert isinstance(found, Diagnostic), found
    return found


def batch_of(*sources: TraceSource) -> Batch:
    """The executions of some sources together."""
    tables = [table_of(source) for source in sources]
    return assemble(pa.concat_tables(tables), TraceOptions(), Notices())


def check_cuts(path: Path, text: str, word: str, **settings: str) -> None:
    """Cut a text at every byte: either an error, or the rows of the lines before."""
    data = text.encode()
    whole = rows_of(path, data, word, **settings)
    for end in range(len(data)):
        cut = data[:end]
        found = outcome(path, cut, word, **settings)
        if isinstance(found, Diagnostic):
            assert found.path == str(path)
            continue
        assert data[end : end + 1] == b"\n" or not cut or cut.endswith(b"\n"), cut
        last = cut.count(b"\n") + (bool(cut) and not cut.endswith(b"\n"))
        assert found == [row for row in whole if row["row"] <= last], cut


def check_garbage(path: Path, text: str, word: str, **settings: str) -> None:
    """Bytes that are not of the format, in place of it and in the middle of it: an error with a code, each time."""
    middle = len(text) // 2
    for garbage in (b"\x00\x01\x02\n", b"\xff\xfe\n", b"{}\n", b"[1]\n", b"nonsense\n", b"{" * 3000 + b"\n"):
        at = text.encode().find(b"\n", middle) + 1
        for data in (garbage, text.encode()[:at] + garbage + text.encode()[at:]):
            assert refusal(path, data, word, **settings).code.startswith("T"), data


def check_wrong_values(path: Path, records: Sequence[dict[str, Any]], word: str, **settings: str) -> None:
    """Every field of every record with values that it cannot have, and without it: rows or an error with a place."""
    for place, record in enumerate(records):
        for name in record:
            changed: list[dict[str, Any]] = [{**record, name: value} for value in WRONG]
            changed.append({key: value for key, value in record.items() if key != name})
            for each in changed:
                lines = [json.dumps(each if at == place else other) for at, other in enumerate(records)]
                found = outcome(path, "".join(f"{line}\n" for line in lines), word, **settings)
                assert isinstance(found, list) or (found.row is not None and found.code[0] == "T"), each


def recognized(start: str, name: str = "x.log") -> list[str]:
    """The words of the formats that take a text for theirs."""
    return [each.word for each in FOREIGN if each.module.recognizes(start, name)]


def refused_at(path: Path, text: str | bytes, word: str, **settings: str) -> tuple[str, int | None]:
    """The code and the row with which a text is refused."""
    told = refusal(path, text, word, **settings)
    return told.code, told.row


@cache
def library() -> Library:
    """The library, loaded once."""
    return standard_library()


def verdicts(batch: Batch, *names: str) -> dict[str, str]:
    """What the scan says of a batch of one execution."""
    result = scan(batch, plan([requirement(name, library()) for name in names]))
    words = {int(TRUE): "holds", int(FALSE): "violated"}
    assert batch.executions == 1
    return {name: words.get(int(result.values[0, result.names.index(name)]), "unknown") for name in names}
