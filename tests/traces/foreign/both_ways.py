"""Logs that are read by columns and by rows: what each way comes to, and files that are nearly of a format."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.formula import Attribute, AttributeSort
from precedes.traces import Notice, Notices
from precedes.traces.foreign import slices
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.schema import TABLE_SCHEMA
from precedes.traces.sources import TraceSource
from tests.traces.foreign.logs import source_of

Outcome = tuple[list[dict[str, Any]], tuple[Notice, ...]] | tuple[Diagnostic, ...]

_SORTS: Final = (AttributeSort.TEXT, AttributeSort.NUMBER, AttributeSort.TIME)
_SNIPPETS: Final = (
    b"", b"\n", b"\r\n", b"\t", b" ", b"\x00", b"\xff", b"\x0b", b"}", b"{", b"[", b"]", b'"', b",", b":", b"null",
    b"NaN", b"Infinity", b"-1", b"1.5", b"1e3", b"007", b"9223372036854775808", b"true", b'""', b'"x"', b"[]", b"{}",
    b'["x"]', b'{"a":1}', b'"\\ud800"', b'"\\u0000"', "\u00e9".encode(), b"0", b'"0"', b'"-5"', b'"00"', b"99999999999",
    b'"9223372036854775807"', b'"x":1,', b"}\n{", b"} {", b"}null{", b"[" * 3000, b'{"a":' * 3000,
)  # fmt: skip


@contextmanager
def by_rows() -> Iterator[None]:
    """Nothing is read by columns."""

    def refuse(*_: object) -> None:
        return None

    with patch.object(slices, "_looked", refuse):
        yield


@contextmanager
def by_columns() -> Iterator[list[Exception]]:
    """Notes what could not be read by columns."""
    refused: list[Exception] = []
    looked = slices._looked

    def look(source: TraceSource, look_at: Callable[[Any], Any], given: Any) -> Any:
        found = looked(source, look_at, given)
        if found is None:
            refused.append(Irregular())
        return found

    with patch.object(slices, "_looked", look):
        yield refused


def outcome(source: TraceSource) -> Outcome:
    """What reading a file comes to: rows and notices, or diagnostics."""
    notices = Notices()
    try:
        tables = list(source.format.module.read(source, notices))
    except PrecedesError as error:
        return error.diagnostics
    for table in tables:
        table.validate(full=True)
    joined = pa.concat_tables([TABLE_SCHEMA.empty_table(), *tables], promote_options="default")
    names = [name for name in joined.column_names if name in TABLE_SCHEMA.names]
    others = sorted(set(joined.column_names) - set(names))
    return joined.select([*names, *others]).to_pylist(), notices.all()


def check_both_ways(
    path: Path, data: bytes, word: str, seed: int, columns: Sequence[str], /, **settings: str
) -> None:
    """Both ways come to the same, whatever the slices and whatever is asked."""
    made = random.Random(seed)
    path.write_bytes(data)
    source = source_of(path, word, **settings)
    asked = made.sample(columns, made.randrange(len(columns)))
    source = replace(
        source,
        attributes=tuple(Attribute(name, made.choice(_SORTS)) for name in asked),
        every=made.random() < 0.5,
    )
    with patch.object(slices, "SLICE_BYTES", made.choice((1, 500, 1 << 20))):
        found = outcome(source)
        with by_rows():
            assert outcome(source) == found, (data, asked)


def mutated(random: random.Random, text: str) -> bytes:
    """A text with a few places changed; often none."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(random.choice((0, 1, 1, 1, 2, 5))):
        place = random.randrange(len(data) + 1)
        end = place + random.choice((0, 0, 1, 1, 2, 9))
        data[place:end] = random.choice(_SNIPPETS)
    return bytes(data)
