"""Any log of rows, read as a mapping says: the format of the systems that have no importer of their own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import pyarrow as pa

from precedes.traces import notices as notice
from precedes.traces.foreign.mapping.definition import Stated, settings, stated, text_of
from precedes.traces.foreign.mapping.inputs import NotTakenError, ends_within_a_line, records
from precedes.traces.foreign.mapping.plan import planned
from precedes.traces.foreign.mapping.translation import Translation
from precedes.traces.foreign.rows import Row
from precedes.traces.formats.single_rows import canonical_rows
from precedes.traces.formats.values import RowError
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = settings()
_ROWS_AT_ONCE: Final = 1 << 15


def recognizes(start: str, name: str) -> bool:
    """Never: only its mapping says what a log means."""
    return False


def named_texts(source: TraceSource) -> dict[str, str]:
    """The text of the mapping, if a file has it. Raises PrecedesError (U005)."""
    path, carried = source.setting("file"), source.text("file")
    if carried is not None:
        return {"file": carried}
    return {"file": text_of(path)} if path else {}


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a log. Raises PrecedesError for a mapping that makes no sense, and for rows that it does not
    fit.
    """
    mapping = stated(source)
    rows = _Rows(source, mapping)
    rest = iter(rows)
    while some := list(islice(rest, _ROWS_AT_ONCE)):
        yield canonical_rows(some, _whole, source, notices)
    notices.count(notice.ROW_IGNORED, "rows are no event of the mapping and were ignored", rows.ignored)


class _Rows:
    """The rows of a trace in a log, each with its number, and how many rows were ignored."""

    def __init__(self, source: TraceSource, mapping: Stated) -> None:
        self.ignored = 0
        self._source = source
        self._mapping = mapping

    def __iter__(self) -> Iterator[tuple[int, Row | RowError]]:
        plan = planned(self._mapping, self._source)
        translation = Translation(plan)
        last: tuple[int, RowError] | None = None
        for number, fields in records(self._source, self._mapping):
            row = translation.outcome(fields)
            ignored = plan.ignores and isinstance(row, NotTakenError)
            last = (number, row) if ignored and isinstance(row, RowError) else None
            if ignored:
                self.ignored += 1
            else:
                yield number, row
        if last is not None and ends_within_a_line(self._source):
            at, wrong = last
            hint = "the file ends here, within a line: was it cut off?"
            yield at, RowError(wrong.code, wrong.message, hint)


def _whole(row: Row | RowError) -> Row:
    if isinstance(row, RowError):
        raise row
    return row
