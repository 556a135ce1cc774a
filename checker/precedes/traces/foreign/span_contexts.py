"""The contexts of spans as columns: 16 bytes of the trace, 8 of the span, and one for how they are written."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Int32
from precedes.traces.arrow import Column, arrow
from precedes.traces.foreign.message_identities import NONE
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.formats.letters import lengths, letters

_TRACE, _SPAN, _FORM = 16, 8, 1
_SIZE: Final = _TRACE + _SPAN + _FORM
CONTEXT: Final = arrow.binary(_SIZE)
_SHORT, _SHARED = 1, 2
"""Forms: the trace has half of the digits, and the context is that of the receiving half of a shared span."""
_SHARED_MARK: Final = "-shared"

_AT_ONCE: Final = 1 << 18
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)

Bytes = npt.NDArray[np.uint8]


def _bytes_of_digits() -> npt.NDArray[np.uint16]:
    """The byte that two digits are, by their letters as one number; `_NO_BYTE` for any other letters."""
    value = np.full(256, _NO_BYTE, np.uint16)
    for digits in (b"0123456789abcdef", b"0123456789ABCDEF"):
        value[list(digits)] = np.arange(16)
    first, second = value[np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2)].T
    return np.where(np.maximum(first, second) == _NO_BYTE, _NO_BYTE, first * 16 + second).astype(np.uint16)


_NO_BYTE: Final = 256
_BYTE_OF: Final = _bytes_of_digits()
_DIGITS_OF: Final = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)


def packed(trace: str, span: str, *, shared: bool) -> bytes:
    """One context; its ids have hexadecimal digits, 32 or 16 and 16."""
    form = (_SHORT if len(trace) < 2 * _TRACE else 0) | (_SHARED if shared else 0)
    return bytes.fromhex(trace.zfill(2 * _TRACE) + span) + bytes([form])


def contexts(trace: Column, span: Column) -> Column:
    """The contexts that ids name, from texts of hexadecimal digits. Raises Irregular."""
    if trace.null_count or span.null_count:
        raise Irregular
    return _column(np.hstack([_decoded(trace, _TRACE), _decoded(span, _SPAN)]))


def parents(own: Column, parent: Column) -> Column:
    """The contexts of the parents of spans, which have the traces of the spans; null where the id is none or empty.
    Raises Irregular.
    """
    some = lengths(parent) > 0
    if not some.any():
        return arrow.nulls(len(parent), CONTEXT)
    rows = _rows(own)[:, : _TRACE + _SPAN].copy()
    rows[some, _TRACE:] = _decoded(parent.filter(arrow.array(some)), _SPAN)
    return _column(rows, some)


def numbered(*columns: Column) -> tuple[Column, list[Column]]:
    """The contexts of all columns, each once, and the numbers of those in each column, null for null."""
    coded = arrow.concat_arrays(columns).dictionary_encode()
    ends = np.cumsum([len(column) for column in columns]).tolist()
    return coded.dictionary, [
        coded.indices.slice(end - len(column), len(column)) for column, end in zip(columns, ends, strict=True)
    ]


def identified(given: Column) -> tuple[Int32, Int32]:
    """The number of each context, equal ones alike, and a place of the context of each number.

    They are put in the order of a hash: a table of hashes takes three times the memory. If two contexts have one hash,
    in the order of the contexts.
    """
    rows = _rows(given)
    hashes = _hashes(rows)
    order = np.argsort(hashes)
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    if not (rows[order[alike]] == rows[order[alike + 1]]).all():
        order = np.lexsort(rows.T)
        alike = np.flatnonzero((rows[order[1:]] == rows[order[:-1]]).all(axis=1))
    other = np.ones(len(rows), np.int32)
    other[:1] = 0
    other[alike + 1] = 0
    numbers = np.empty(len(rows), np.int32)
    numbers[order] = np.cumsum(other, dtype=np.int32)
    places = np.empty(int(numbers.max(initial=NONE)) + 1, np.int32)
    places[numbers] = np.arange(len(rows))
    return numbers, places


def _hashes(rows: Bytes) -> npt.NDArray[np.uint64]:
    found = np.zeros(len(rows), np.uint64)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        hashes = some[:, -1].astype(np.uint64)
        for place in range(0, _TRACE + _SPAN, 8):
            hashes ^= np.ascontiguousarray(some[:, place : place + 8]).view(np.uint64)[:, 0]
            hashes *= _ODD
            hashes ^= hashes >> np.uint64(32)
        found[start : start + _AT_ONCE] = hashes
    return found


def texts(given: Column) -> Column:
    """Contexts as texts."""
    rows = _rows(given)
    if rows[:, -1].any():
        return arrow.array(map(_text, given.to_pylist()), arrow.large_string())
    size = 2 * (_TRACE + _SPAN) + 1
    made = np.full((len(given), size), ord("-"), np.uint8)
    digits = _DIGITS_OF[rows[:, : _TRACE + _SPAN]].view(np.uint8)
    made[:, : 2 * _TRACE], made[:, 2 * _TRACE + 1 :] = digits[:, : 2 * _TRACE], digits[:, 2 * _TRACE :]
    ends = arrow.py_buffer(np.arange(len(given) + 1) * size)
    found = arrow.LargeStringArray.from_buffers(len(given), ends, arrow.py_buffer(made))
    return arrow.compute.if_else(given.is_valid(), found, None) if given.null_count else found


def _text(context: bytes | None) -> str | None:
    if context is None:
        return None
    form, trace = context[-1], context[:_TRACE].hex()
    start = _TRACE if form & _SHORT else 0
    span = context[_TRACE:-1].hex()
    return f"{trace[start:]}-{span}{_SHARED_MARK if form & _SHARED else ''}"


def _decoded(digits: Column, size: int) -> Bytes:
    """The bytes that texts of hexadecimal digits are, so many of each. Raises Irregular."""
    if not (lengths(digits) == 2 * size).all():
        raise Irregular
    found = _BYTE_OF[letters(digits).view(np.uint16)]
    if found.max(initial=0) == _NO_BYTE:
        raise Irregular
    return found.astype(np.uint8).reshape(-1, size)


def _column(rows: Bytes, valid: npt.NDArray[np.bool_] | None = None) -> Column:
    whole = np.zeros((len(rows), _SIZE), np.uint8)
    whole[:, :-1] = rows
    mask = None if valid is None else arrow.py_buffer(np.packbits(valid, bitorder="little"))
    return arrow.FixedSizeBinaryArray.from_buffers(CONTEXT, len(rows), [mask, arrow.py_buffer(whole)])


def _rows(given: Column) -> Bytes:
    data = np.frombuffer(given.buffers()[1] or b"", np.uint8)
    found: Bytes = data[given.offset * _SIZE : (given.offset + len(given)) * _SIZE].reshape(-1, _SIZE)
    return found
