"""Names as numbers: codes in the order of names, and numbers local to an execution.

Everything after this works on integers. Codes follow code point order (that of UTF-8 bytes), so that no
result depends on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Int64, Names
from precedes.traces.arrow import Column, arrow, flattened, pc

ABSENT: Final = -1
_DENSE_CELLS: Final = 1 << 25
"""Up to here a table with a cell for every combination is quicker than sorting, and small."""

Codes = npt.NDArray[np.int32]
IntArray = npt.NDArray[Any]
Whole = TypeVar("Whole", np.int32, np.int64)


def encode(*columns: Column) -> tuple[Names, list[Codes]]:
    """The distinct names in all of the columns, in order, and per column their codes (ABSENT for null)."""
    chunks = [_shorter(chunk) for column in columns for chunk in column.chunks if len(chunk)]
    texts = [chunk.dictionary if _is_coded(chunk) else chunk for chunk in chunks]
    if not any(map(len, texts)):
        # No rows, or none with a name in a dictionary that has none.
        return np.empty(0, np.object_), [np.full(len(column), ABSENT, np.int32) for column in columns]
    coded = arrow.chunked_array(texts, arrow.string()).dictionary_encode()
    of_texts = np.concatenate([chunk.indices.fill_null(ABSENT).to_numpy() for chunk in coded.chunks])
    ends = np.cumsum(list(map(len, texts)))[:-1]
    parts = list(map(_part, chunks, np.split(of_texts, ends)))
    # Arrow encodes all chunks with one dictionary, and every chunk has all of it.
    dictionary = coded.chunk(0).dictionary
    order = pc.sort_indices(dictionary).to_numpy()
    if any(part.names is not None for part in parts):
        # Of a dictionary, a part of the rows may have some names only.
        there = np.zeros(len(dictionary) + 1, np.bool_)
        for part in parts:
            there[part.occurring()] = True
        order = order[there[order]]
    rank = np.empty(len(dictionary) + 1, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[ABSENT] = ABSENT
    codes = np.concatenate([part.ranks(rank) for part in parts])
    names = dictionary.take(arrow.array(order)).to_numpy(zero_copy_only=False)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return names, np.split(codes, ends)


def _shorter(chunk: Column) -> Column:
    """A part of a column, as texts where it has fewer than its dictionary: it may be a small part of what was read."""
    return chunk.dictionary_decode() if _is_coded(chunk) and len(chunk) < len(chunk.dictionary) else chunk


def _is_coded(chunk: Column) -> bool:
    return bool(arrow.types.is_dictionary(chunk.type))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a column. The name of row k is `places[k]`, or `names[places[k]]` where it has a dictionary; the last
    of these is ABSENT.
    """

    places: Codes
    names: Codes | None

    def occurring(self) -> Codes:
        """The names of its rows; one may occur more than once."""
        if self.names is None:
            return self.places
        there = np.zeros(len(self.names), np.bool_)
        there[self.places] = True
        return self.names[there]

    def ranks(self, rank: Codes) -> Codes:
        """The rank of the name of every row."""
        return (rank if self.names is None else rank[self.names])[self.places]


def _part(chunk: Column, of_texts: Codes) -> _Part:
    if not _is_coded(chunk):
        return _Part(of_texts, None)
    return _Part(chunk.indices.fill_null(ABSENT).to_numpy(), np.append(of_texts, np.int32(ABSENT)))


@dataclass(frozen=True, slots=True)
class Lists:
    """A column of lists: row k has `values[offsets[k]:offsets[k + 1]]`; null where not present."""

    offsets: Int64
    present: npt.NDArray[np.bool_]
    values: Column

    def entries(self, rows: IntArray) -> tuple[Int64, Int64]:
        """The places of the values of some rows, row after row, and per value the place of its row."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        owner = np.repeat(np.arange(len(rows)), lengths)
        if len(owner) == self.offsets[-1] and (rows[1:] > rows[:-1]).all():
            # These have all values, in their order.
            return np.arange(len(owner)), owner
        before = np.cumsum(lengths) - lengths
        return np.arange(len(owner)) - before[owner] + self.offsets[rows][owner], owner


def lists_of(column: Column) -> Lists:
    """A column of lists or maps in parts; the values of a map are its entries."""
    kind = column.type
    if arrow.types.is_map(kind):
        kind = arrow.list_(arrow.struct([("key", kind.key_type), ("value", kind.item_type)]))
        column = arrow.chunked_array([chunk.cast(kind) for chunk in column.chunks], kind)
    offsets = np.zeros(len(column) + 1, np.int64)
    if column.null_count == len(column):
        return Lists(offsets, np.zeros(len(column), np.bool_), arrow.chunked_array([], kind.value_type))
    parts = [flattened(chunk) for chunk in column.chunks]
    np.cumsum(np.concatenate([lengths for _, lengths in parts]), out=offsets[1:])
    values = arrow.chunked_array([values for values, _ in parts], kind.value_type)
    return Lists(offsets, column.is_valid().to_numpy(), values)


def unlike(lists: Lists, codes: Codes, one: IntArray, other: IntArray) -> Int64:
    """Of pairs of rows the places of those with different values, whatever their order; `codes` has every value's."""
    size = int(codes.max(initial=0)) + 1

    def values(rows: IntArray) -> Int64:
        places, owner = lists.entries(rows)
        return ascending(owner * size + codes[places])

    return ascending(np.setxor1d(values(one), values(other), assume_unique=True) // size)


class Numbering:
    """The distinct pairs (execution, code), numbered by execution, then by code.

    `offsets[x]:offsets[x + 1]` are the numbers of execution x, `codes` the code of each number.
    """

    def __init__(self, executions: IntArray, codes: IntArray, execution_count: int, code_count: int) -> None:
        self._code_count = max(code_count, 1)
        self._numbers: Codes | None = None
        self._owner: Codes | None = None
        cells = execution_count * self._code_count
        if cells <= max(_DENSE_CELLS, len(codes)):
            present = np.zeros(cells, np.bool_)
            present[self._keys(executions, codes)] = True
            self._unique = np.flatnonzero(present)
            self._numbers = np.full(cells, ABSENT, np.int32)
            self._numbers[self._unique] = np.arange(len(self._unique), dtype=np.int32)
        else:
            # Most often a name that is in many different ones occurs in one execution only.
            owner = np.full(code_count, ABSENT, np.int32)
            owner[codes] = executions
            if (owner[codes] == executions).all():
                order = np.argsort(owner, kind="stable")
                order = order[np.searchsorted(owner[order], 0) :]
                self._owner = owner
                self._numbers = np.full(code_count, ABSENT, np.int32)
                self._numbers[order] = np.arange(len(order), dtype=np.int32)
                self._unique = self._keys(owner[order], order)
            else:
                self._unique = ascending(self._keys(executions, codes))
        self.codes: Int64 = self._unique % self._code_count
        self.executions: Int64 = self._unique // self._code_count
        self.offsets: Int64 = np.zeros(execution_count + 1, np.int64)
        np.cumsum(np.bincount(self.executions, minlength=execution_count), out=self.offsets[1:])

    def find(self, executions: IntArray, codes: IntArray) -> Int64:
        """The numbers of pairs; ABSENT for a pair that was not given, or whose code is ABSENT."""
        known = codes >= 0
        everywhere = bool(known.all())
        if self._owner is not None and self._numbers is not None:
            found = np.where(self._owner[codes] == executions, self._numbers[codes], ABSENT)
        elif self._numbers is not None:
            found = self._numbers[self._keys(executions, codes)]
        elif len(self._unique):
            keys = self._keys(executions, codes)
            found = np.searchsorted(self._unique, keys)
            found = np.where(self._unique[np.minimum(found, len(self._unique) - 1)] == keys, found, ABSENT)
        else:
            found = np.full(len(codes), ABSENT)
        return (found if everywhere else np.where(known, found, ABSENT)).astype(np.int64, copy=False)

    def _keys(self, executions: IntArray, codes: IntArray) -> Int64:
        return executions.astype(np.int64) * self._code_count + codes


def first_places(keys: IntArray, key_count: int) -> tuple[Int64, Int64]:
    """Where keys, all below `key_count`, occur first: those places, ascending, and per place its key's."""
    places = np.arange(len(keys))
    if key_count <= max(_DENSE_CELLS, 8 * len(keys)):
        first = np.empty(key_count, np.int64)
        # Of several values for one index numpy keeps the last: backwards, the first.
        first[keys[::-1]] = places[::-1]
        first_of = first[keys]
    else:
        _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first_of = index[inverse]
    return np.flatnonzero(first_of == places), first_of


def distinct(keys: Int64, key_count: int) -> Int64:
    """The distinct keys, ascending."""
    if key_count <= max(_DENSE_CELLS, 8 * len(keys)):
        present = np.zeros(key_count, np.bool_)
        present[keys] = True
        return np.flatnonzero(present)
    return ascending(keys)


def ascending(keys: npt.NDArray[Whole]) -> npt.NDArray[Whole]:
    """The distinct keys, ascending. `numpy.unique` makes a hash table of them, which takes ten times as long where most
    of them differ.
    """
    found = np.sort(keys)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found
