"""The spans of all parts of a file about messages, with what they name as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import Bool, Int32
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.foreign.message_identities import NONE
from precedes.traces.foreign.span_contexts import CONTEXT, identified, texts
from precedes.traces.foreign.span_parts import (
    CODES,
    FACTS,
    LINKS,
    REPEATED,
    SPANS,
    Operation,
    Part,
    records_of,
)

_CREATE, _SEND, _RECEIVE, _PROCESS, _SETTLE = (CODES[each] for each in Operation)
_ABOUT: Final = np.zeros((len(CODES), len(CODES)), np.bool_)
"""Whether a span may name another one as the one that had its message before, by their operations."""
_ABOUT[_SEND, [_CREATE]] = True
_ABOUT[_RECEIVE, [_CREATE, _SEND]] = True
_ABOUT[_PROCESS, [_CREATE, _SEND, _RECEIVE]] = True
_ABOUT[_SETTLE, [_CREATE, _SEND, _RECEIVE, _PROCESS]] = True

_RECORD: Final = ("topic", "partition", "position")
"""What names a record of a partitioned log."""


class Spans:
    """The spans of a file about messages, their links, and the contexts that they name, as numbers."""

    def __init__(self, parts: list[Part]) -> None:
        """Of parts of a file, which are taken out of the list."""
        self.by_service = sum(part.by_service for part in parts)
        self.other_operations = sum(part.other_operations for part in parts)
        known = [part.known for part in parts]
        sizes = [len(part.contexts) for part in parts]
        self._contexts = arrow.chunked_array([part.contexts for part in parts], CONTEXT).combine_chunks()
        spans = _Stack(SPANS, [part.spans for part in parts])
        links = _Stack(LINKS, [part.links for part in parts])
        facts = _Stack(FACTS, [part.facts for part in parts])
        # What is taken out of a stack is not held twice: of a large file it is much.
        parts.clear()
        codes, self._context_at = identified(self._contexts)
        self.contexts = len(self._context_at)
        self.known = np.zeros(self.contexts, np.bool_)
        for places, start in zip(known, np.cumsum([0, *sizes]).tolist(), strict=False):
            self.known[codes[places + start]] = True
        self.context = codes[spans.places("context", sizes)]
        self.target = codes[links.places("context", sizes)]
        parent = spans.places("parent", sizes)
        self.parent = np.where(parent == NONE, NONE, codes[parent])
        self.length = len(self.context)
        entities = spans.column("entity")
        self.entity, self.entities = entities.indices.to_numpy(), entities.dictionary
        self.row, self.start, self.operation, self.consumer, self.given_back = (
            spans.column(name).to_numpy(zero_copy_only=False)
            for name in ("row", "start", "operation", "consumer", "given_back")
        )
        self.count = spans.column("count").fill_null(NONE).to_numpy()
        self.facts = spans.places("facts", facts.lengths)
        self.of_link = links.places("span", spans.lengths)
        self.single_facts, self.batch_facts = (
            links.places(name, facts.lengths) for name in ("single", "batch")
        )
        self.said = Facts(facts)
        self.dropped = links.column("dropped").to_numpy()
        self.span_of = np.full(self.contexts, NONE, np.int32)
        self.span_of[self.context] = np.arange(self.length)
        linked = np.bincount(self.of_link, minlength=self.length)
        self.single = (linked <= 1) & ((self.count == NONE) | (self.count == 1))
        self.creates = (self.operation <= _SEND) & (linked == 0)
        # What parts took of memory, others may have.
        arrow.default_memory_pool().release_unused()

    def contexts_at(self, numbers: Column) -> Column:
        """Contexts by their numbers, as texts."""
        return texts(self._contexts.take(arrow.array(self._context_at).take(numbers)))

    def named_before(self, span: Int32, context: Int32) -> Bool:
        """Whether spans name the contexts of spans that had their messages before, as far as the file says."""
        target = self.span_of[context]
        about = self.single[target] & _ABOUT[self.operation[span], self.operation[target]]
        return np.where(target == NONE, ~self.known[context], about)


class Facts:
    """What the attributes of the spans of a file say of messages."""

    def __init__(self, facts: _Stack) -> None:
        self.id, self.ids = _coded(arrow.large_string(), facts.chunks("id"))
        self.table = pa.table({name: facts.column(name) for name in FACTS.names if name != "id"})
        self.record, self._of_record = self._records()

    def _records(self) -> tuple[Int32, Int32]:
        """The number of the record of each, and the place of one that names it for each record."""
        topic: Column
        partition: Column
        position: Column
        topic, partition, position = (self.table[name].combine_chunks() for name in _RECORD)
        complete = pc.and_(pc.and_(topic.is_valid(), partition.is_valid()), position.is_valid())
        places = np.flatnonzero(complete.to_numpy(zero_copy_only=False))
        some = arrow.array(places)
        offset = position.take(some).dictionary_encode()
        log = topic.indices.take(some).to_numpy().astype(np.int64) * len(partition.dictionary)
        log += partition.indices.take(some).to_numpy()
        # Below the square of how many there are.
        of_log, _ = _coded(arrow.int64(), [arrow.array(log)])
        both = of_log.astype(np.int64) * len(offset.dictionary) + offset.indices.to_numpy()
        record, records = _coded(arrow.int64(), [arrow.array(both)])
        numbers = np.full(len(topic), NONE, np.int32)
        numbers[places] = record
        at = np.zeros(len(records), np.int32)
        at[record] = places
        return numbers, at

    @property
    def records(self) -> int:
        """How many records are named."""
        return len(self._of_record)

    def records_at(self, numbers: Column) -> Column:
        """The names of records by their numbers."""
        return records_of(self.table.select(_RECORD).take(arrow.array(self._of_record).take(numbers)))

    def taken(self, places: Int32) -> pa.Table:
        """What is said at some places, with texts as texts."""
        found = self.table.take(arrow.array(places))
        for place, name in enumerate(found.column_names):
            if found.schema.field(name).type == REPEATED:
                found = found.set_column(place, name, found[name].cast(arrow.large_string()))
        return found


class _Stack:
    """Tables one after the other, of which each column is taken once."""

    def __init__(self, schema: pa.Schema, tables: Sequence[pa.Table]) -> None:
        self.lengths = list(map(len, tables))
        self._schema = schema
        self._pieces = {name: [table[name] for table in tables] for name in schema.names}

    def chunks(self, name: str) -> list[Column]:
        """A column in pieces."""
        return [chunk for piece in self._pieces.pop(name) for chunk in piece.chunks]

    def column(self, name: str) -> Column:
        """A column."""
        return arrow.chunked_array(self.chunks(name), self._schema.field(name).type).combine_chunks()

    def places(self, name: str, lengths: Sequence[int]) -> Int32:
        """A column of places in the parts of something with these lengths, as places in all of it; NONE for null."""
        starts = np.cumsum([0, *lengths]).tolist()
        pieces = zip(self._pieces.pop(name), starts, strict=False)
        moved = [piece.fill_null(NONE - start).to_numpy() + start for piece, start in pieces]
        return np.concatenate([np.zeros(0, np.int32), *moved])


def _coded(kind: pa.DataType, chunks: Sequence[Column]) -> tuple[Int32, Column]:
    """Values as numbers, equal ones alike, NONE for null; and the value of each number."""
    found = arrow.chunked_array(chunks, kind).dictionary_encode().chunks
    values = found[0].dictionary if found else arrow.array([], kind)
    return np.concatenate(
        [np.zeros(0, np.int32), *(chunk.indices.fill_null(NONE).to_numpy() for chunk in found)]
    ), values
