"""The bytes of text files: opens files, decompresses them, and checks that they are UTF-8."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, Final, Protocol

import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.core.supervision import reading
from precedes.traces.arrow import arrow
from precedes.traces.formats import limits
from precedes.traces.formats.documents import disguise
from precedes.traces.formats.values import RowError
from precedes.traces.problems import unreadable
from precedes.traces.sources import STANDARD_INPUT, Compression, TraceSource

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_IN_MEMORY: Final = 8 << 20
"""So many bytes of standard input are kept in memory, more in a temporary file."""
_MAGIC = {Compression.GZIP: b"\x1f\x8b", Compression.ZSTD: b"\x28\xb5\x2f\xfd"}


class Stream(Protocol):
    """What the readers of text need of a file."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none only at the end.

        Raises PrecedesError for a file that is cut off or broken.
        """


class _Kept:
    """Standard input, of which what was read can be read again from its start."""

    def __init__(self, copy: IO[bytes]) -> None:
        self._copy = copy

    def read(self, size: int, /) -> bytes:
        """What was read before, then more. Only what was not asked for yet is waited for."""
        data = self._copy.read(size)
        if not data:
            data = sys.stdin.buffer.read(size)
            self._copy.write(data)
        return data

    def from_start(self) -> _Kept:
        """The same, to be read from its start."""
        self._copy.seek(0)
        return self


class _Checked:
    """A stream whose errors name the file, without the byte order mark that some programs put first."""

    def __init__(self, raw: IO[bytes] | pa.NativeFile | _Kept, source: TraceSource) -> None:
        self._raw = raw
        self._source = source
        self._at_start = True

    def read(self, size: int, /) -> bytes:
        parts: list[bytes] = []
        missing = size
        try:
            with reading(self._source.shown):
                while missing and (part := self._raw.read(missing)):
                    parts.append(part)
                    missing -= len(part)
        except (OSError, arrow.ArrowInvalid) as error:
            raise self._error(error) from error
        data = b"".join(parts)
        if self._at_start:
            self._at_start = False
            if (found := disguise(data, self._source.path)) is not None:
                raise unreadable(found.code, found.message, self._source.shown, found.hint)
            data = data.removeprefix(_BYTE_ORDER_MARK) or self._raw.read(size)
        return data

    def _error(self, error: Exception) -> PrecedesError:
        if self._source.compression is None:
            return unreadable("T003", f"cannot be read: {reason(error)}", self._source.shown)
        return unreadable(
            "T004",
            f"this {self._source.compression.value} file is cut off or damaged",
            self._source.shown,
            "create it again, or copy it again; none of it was used",
        )


_KEPT: Final = list[_Kept]()
"""At most one: that of `rereadable_input`."""


@contextmanager
def rereadable_input() -> Iterator[None]:
    """Within it, standard input is read from its start as often as it is opened."""
    with SpooledTemporaryFile(_IN_MEMORY) as copy:
        _KEPT.append(_Kept(copy))
        try:
            yield
        finally:
            _KEPT.pop()


@contextmanager
def opened(source: TraceSource) -> Iterator[Stream]:
    """The bytes of a text file, decompressed. Raises PrecedesError (T003) for one that cannot be opened."""
    if source.path == STANDARD_INPUT:
        yield _Checked(_KEPT[-1].from_start() if _KEPT else sys.stdin.buffer, source)
        return
    try:
        raw = arrow.OSFile(source.path, "rb")
    except OSError as error:
        raise unreadable("T003", f"cannot be read: {reason(error)}", source.shown) from error
    with raw:
        if source.compression is None:
            yield _Checked(raw, source)
        elif raw.size() == 0:
            raise unreadable(
                "T004", f"this {source.compression.value} file is cut off: it is empty", source.shown
            )
        elif not raw.read(4).startswith(_MAGIC[source.compression]):
            named = f"the name says {source.compression.value}, but the first bytes say otherwise"
            raise unreadable("T004", named, source.shown, "give it the name of its format")
        else:
            raw.seek(0)
            with arrow.CompressedInputStream(raw, source.compression.value) as plain:
                yield _Checked(plain, source)


def too_long(hint: str) -> RowError:
    """What is wrong with a row that has more bytes than any row of a trace needs."""
    return RowError("T007", f"this row has more than {limits.LONGEST_RECORD >> 20} MiB", hint)


def next_block(blocks: Iterator[bytes], source: TraceSource, first_row: int) -> bytes | None:
    """The next of the blocks that a text file is cut into, which begins with a row; None at the end.

    Raises PrecedesError for a row that is too long.
    """
    try:
        return next(blocks, None)
    except RowError as error:
        raise unreadable(error.code, error.message, source.shown, error.hint, first_row) from error


def as_text(block: bytes, path: str, first_line: int) -> None:
    """Raise PrecedesError (T006) unless a block is UTF-8; a block begins where a line does."""
    if block.isascii():
        return
    try:
        block.decode()
    except UnicodeDecodeError as error:
        line = first_line + block.count(b"\n", 0, error.start)
        raise unreadable(
            "T006", f"byte {block[error.start]:#04x} is not UTF-8", path, "write the file as UTF-8", line
        ) from error


def reason(error: Exception) -> str:
    """What the system says, in short."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
