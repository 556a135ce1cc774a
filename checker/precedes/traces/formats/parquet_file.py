"""Parquet files as Arrow opens them, and what is said of one that Arrow cannot read.

Nothing here or elsewhere asks Arrow for the metadata of a column (`RowGroupMetaData.column`): it ends the process where
these do not fit the schema, as in a file with damage in its footer.
"""

from __future__ import annotations

from typing import Any, Final

from precedes.core.supervision import reading
from precedes.traces.arrow import arrow, arrow_parquet
from precedes.traces.formats.text_stream import reason
from precedes.traces.problems import unreadable
from precedes.traces.sources import TraceSource

UNREADABLE: Final = (arrow.ArrowException, OSError, UnicodeDecodeError)
"""What Arrow raises for a file that it cannot read. The names of columns are text only if they are UTF-8."""
_LONGEST: Final = 120


def opened(source: TraceSource, **options: Any) -> Any:
    """A Parquet file, whose schema can be asked for. Raises PrecedesError."""
    try:
        with reading(source.shown):
            file = arrow_parquet.ParquetFile(source.path, **options)
            # Made when it is first asked for, and not every file has one.
            assert file.schema_arrow is not None
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable("T003", f"cannot be read: {reason(error)}", source.shown) from error
        raise damaged(source, error) from error
    return file


def damaged(source: TraceSource, error: Exception | None = None) -> Exception:
    """The error of a file that is no Parquet file any more, or of a kind that Arrow does not know."""
    said = "" if error is None else " ".join(str(error).split())[:_LONGEST]
    return unreadable(
        "T005",
        "this is not a Parquet file, or it is damaged" + (f": {said}" if said else ""),
        source.shown,
        "a file that was cut off looks like this",
    )
