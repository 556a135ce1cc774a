"""Lines of logs in which a line that was cut off may look like a whole one: `b 12` of `b 123`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from precedes.traces.foreign.rows import refused
from precedes.traces.formats import limits
from precedes.traces.formats.text_stream import as_text, opened, too_long
from precedes.traces.formats.values import RowError
from precedes.traces.sources import TraceSource

_BLOCK_BYTES: Final = 8 << 20


def whole_lines(source: TraceSource) -> Iterator[str]:
    """The lines of a text file, without their ends. Raises PrecedesError, also (T007) if the last one does not end."""
    number, rest = 1, b""
    with opened(source) as stream:
        while block := stream.read(_BLOCK_BYTES):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if len(rest) > limits.LONGEST_RECORD:
                raise refused(source, number, too_long("this is no text of lines"))
            if newline:
                as_text(whole, source.shown, number)
                found = whole.decode().split("\n")
                yield from (line.removesuffix("\r") for line in found)
                number += len(found)
    if rest:
        as_text(rest, source.shown, number)
        hint = "copy the file again; if nothing is missing, end the last line with a line end"
        raise refused(
            source, number, RowError("T007", "the last line does not end: the file may be cut off", hint)
        )


def whole_text(source: TraceSource) -> str:
    """A text file, each line with a line feed at its end. Raises PrecedesError as `whole_lines` does."""
    return "".join(f"{line}\n" for line in whole_lines(source))
