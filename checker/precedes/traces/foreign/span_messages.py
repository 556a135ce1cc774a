"""From what spans say of messages to the rows of a trace: which message each is about, and which of several spans of
one event is the event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, assert_never

import numpy as np
import pyarrow as pa

from precedes.core.columns import Bool, Int32, Int64
from precedes.core.diagnostics import PrecedesError
from precedes.traces import notices as notice
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.foreign import rows
from precedes.traces.foreign.message_identities import NONE, PREFIXES, Naming, named, preference
from precedes.traces.foreign.span_parts import CODES, Operation, Part
from precedes.traces.foreign.stacked_spans import Spans
from precedes.traces.formats.canonical_columns import Irregular, canonical
from precedes.traces.formats.single_rows import canonical_rows, name_unknown
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.problems import unreadable
from precedes.traces.schema import BY_TIME, TABLE_SCHEMA
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "delivery": "which span is the delivery if a consumer has both for a message: `process` (the default) or `receive`",
    "entity": "the attribute that names the entity, such as `k8s.pod.name`; by default `messaging.client.id`, else "
    "`service.instance.id`, else `service.name`",
    "message": "what names a message if several things do: `record` (destination, partition and offset, the default), "
    "`id` (`messaging.message.id`) or `context` (of the span that creates it)",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
}
_CREATE, _SEND, _RECEIVE, _PROCESS, _SETTLE = (CODES[each] for each in Operation)
_ROWS_AT_ONCE: Final = 1 << 18


def tables(source: TraceSource, parts: Iterable[Part], notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of all spans of a file, those of an entity in the order of their times. Raises PrecedesError."""
    delivery = _choice(source, "delivery", (Operation.PROCESS.value, Operation.RECEIVE.value))
    first = Naming(_choice(source, "message", [each.value for each in Naming if each is not Naming.SPAN]))
    spans = Spans(list(parts))
    if not spans.length:
        _tell(spans, notices)
        return
    mentions = _Mentions(source, spans)
    events = _events(source, spans, mentions, first)
    _tell(spans, notices)
    unnamed = (
        "spans of acknowledgements do not say of which message: no acknowledgement of this file was read"
    )
    notices.count(notice.LESS_EXACT, unnamed, events.unnamed_settlements)
    yield from _Rows(source, spans, mentions, events, CODES[Operation(delivery)]).tables(notices)


def _events(source: TraceSource, spans: Spans, mentions: _Mentions, first: Naming) -> _Events:
    keys = mentions.keys(spans)
    return _Events(source, spans, mentions, keys, named(keys, preference(first)))


def _tell(spans: Spans, notices: Notices) -> None:
    """Tell what is less exact than it should be."""
    said = "spans name only a service: its replicas are one entity"
    notices.count(notice.LESS_EXACT, said, spans.by_service)
    said = "spans of unknown messaging operations were left out"
    notices.count(notice.LESS_EXACT, said, spans.other_operations)


class _Mentions:
    """The messages of spans, in the order of the spans: the span, and the place of what is said of the message. Raises
    PrecedesError for what is wrong with a mention.
    """

    def __init__(self, source: TraceSource, spans: Spans) -> None:
        before = spans.named_before(spans.of_link, spans.target)
        kept = np.bincount(spans.of_link[before], minlength=spans.length)
        dropped = np.flatnonzero(before & (spans.dropped > 0))
        of_link = np.flatnonzero(before)
        alone = np.flatnonzero((kept == 0) & (spans.count != 0))
        span = np.concatenate([spans.of_link[of_link], alone])
        link = np.concatenate([of_link, np.full(len(alone), NONE)]).astype(np.int32)
        # Those of links are in the order of their spans, and of the spans that are alone none has one.
        order = np.argsort(span, kind="stable")
        self.span, self._link = span[order].astype(np.int32), link[order]
        linked = self._link != NONE
        several = kept[self.span] > 1
        self.counted = ~linked & (spans.count[self.span] > 1)
        """Those that stand for several messages which nothing names."""
        self.facts = spans.facts[self.span]
        self.facts[linked] = np.where(
            several[linked], spans.batch_facts[self._link[linked]], spans.single_facts[self._link[linked]]
        )
        self._of_batch = linked & several
        self._refuse(source, spans, int(dropped[0]) if len(dropped) else NONE)

    def _refuse(self, source: TraceSource, spans: Spans, dropped: int) -> None:
        """Raise PrecedesError for the first span with something wrong. `dropped`: the first link of a span that does
        not name all of its messages.
        """
        problem = spans.said.table["problem"].combine_chunks()
        bad = np.flatnonzero(problem.is_valid().to_numpy(zero_copy_only=False)[self.facts])
        first = int(self.span[bad[0]]) if len(bad) else spans.length
        incomplete = int(spans.of_link[dropped]) if dropped != NONE else spans.length
        if first < incomplete:
            text = problem[int(self.facts[bad[0]])].as_py()
            raise rows.refused(source, int(spans.row[first]), RowError(*json.loads(text)))
        if incomplete < spans.length:
            count = spans.dropped[dropped]
            said = f"{count} links of this span were dropped, so that it does not name all its messages"
            hint = "let programs keep more links: OTEL_SPAN_LINK_COUNT_LIMIT"
            raise rows.refused(source, int(spans.row[incomplete]), RowError("T025", said, hint))

    def keys(self, spans: Spans) -> dict[Naming, Sequence[Int32]]:
        """By naming the numbers of the keys that may name the message of each."""
        record, own_id = (
            np.where(self.counted, NONE, column[self.facts]) for column in (spans.said.record, spans.said.id)
        )
        other = self._other(spans, (record != NONE) | (own_id != NONE))
        target = spans.span_of[other]
        outside = (other != NONE) & (target == NONE)
        created = (other != NONE) & (target != NONE) & spans.creates[target]
        own = spans.context[self.span]
        named_by_own = spans.single[self.span] & ~self._of_batch & ~self.counted
        creates = spans.creates[self.span]
        context = np.where(outside | created, other, np.where(named_by_own & creates, own, NONE))
        return {
            Naming.RECORD: [record],
            Naming.ID: [own_id],
            Naming.CONTEXT: [context],
            Naming.SPAN: [
                np.where((other != NONE) & ~outside & ~created, other, NONE),
                np.where(named_by_own & ~creates, own, NONE),
            ],
        }

    def _other(self, spans: Spans, known: Bool) -> Int32:
        """The context of the span that has the message of each mention before it, by a link or as its parent. `known`:
        something else names the message.
        """
        linked = self._link != NONE
        other = np.full(len(self.span), NONE, np.int32)
        other[linked] = spans.target[self._link[linked]]
        parent = spans.parent[self.span]
        operation = spans.operation[self.span]
        maybe = ~linked & ~self.counted & (parent != NONE) & (operation > _SEND)
        inside = maybe & spans.known[parent]
        inside[inside] = spans.named_before(self.span[inside], parent[inside])
        pulled = (operation == _RECEIVE) & ~spans.consumer[self.span]
        outside = maybe & ~spans.known[parent] & ~(known | pulled | (operation == _SETTLE))
        return np.where(inside | outside, parent, other)


class _Events:
    """The mentions of which it is known what message they are about, and the numbers of these messages. Raises
    PrecedesError (T025) for one that does harm without.
    """

    def __init__(
        self,
        source: TraceSource,
        spans: Spans,
        mentions: _Mentions,
        keys: Mapping[Naming, Sequence[Int32]],
        found: dict[Naming, Int32],
    ) -> None:
        self._found = found
        self._spans = spans
        sizes = {
            Naming.RECORD: spans.said.records,
            Naming.ID: len(spans.said.ids),
            Naming.CONTEXT: spans.contexts,
        }
        message = np.full(len(mentions.span), NONE)
        start = 0
        for naming, numbers in found.items():
            message[numbers != NONE] = numbers[numbers != NONE] + start
            start += sizes[naming]
        operation = spans.operation[mentions.span]
        unnamed = message == NONE
        working = np.zeros(len(spans.entities), np.bool_)
        working[spans.entity[spans.operation == _PROCESS]] = True
        harmless = (operation == _SETTLE) | ((operation == _RECEIVE) & working[spans.entity[mentions.span]])
        for bad in np.flatnonzero(unnamed & ~harmless)[:1].tolist():
            shared = any(keys[naming][0][bad] != NONE for naming in found)
            raise _unnamed(source, int(spans.row[mentions.span[bad]]), shared=shared)
        self.unnamed_settlements = int((unnamed & (operation == _SETTLE)).sum())
        self.mention = np.flatnonzero(~unnamed).astype(np.int32)
        self.message = message[self.mention]

    def names(self, events: Int64) -> Column:
        """The names of the messages of some events."""
        parts = []
        for naming, numbers in self._found.items():
            some = numbers[self.mention[events]]
            if (some != NONE).any():
                parts.append(self._named(naming, _places(some)))
        return pc.coalesce(*parts)

    def _named(self, naming: Naming, places: Column) -> Column:
        match naming:
            case Naming.RECORD:
                return _prefixed("record:", self._spans.said.records_at(places))
            case Naming.CONTEXT:
                return _prefixed("context:", self._spans.contexts_at(places))
            case Naming.ID:
                ids = self._spans.said.ids.take(places)
                strange = pc.match_substring_regex(ids, f"^(?:{'|'.join(PREFIXES)})")
                return pc.if_else(strange, _prefixed("id:", ids), ids)
            case Naming.SPAN:
                raise ValueError(naming)
            case other:
                assert_never(other)


def _unnamed(source: TraceSource, row: int, *, shared: bool) -> PrecedesError:
    """What is wrong with a span of which nothing names the message, or something that is `shared` by several."""
    text = "nothing in this span names one message: no offset, no message id, no link to the span that created it"
    if shared:
        text = "what names the message of this span is shared by several messages"
    hint = (
        "let programs link spans of messages, or set a message id; --set message=context joins by links alone"
    )
    return unreadable("T025", text, source.shown, hint, row)


def _prefixed(prefix: str, texts: Column) -> Column:
    beginning, nothing = (arrow.scalar(text, arrow.large_string()) for text in (prefix, ""))
    return pc.binary_join_element_wise(beginning, texts, nothing)


def _places(numbers: Int32) -> Column:
    """Numbers as places to take from, null for NONE."""
    return arrow.array(numbers, mask=numbers == NONE)


@dataclass(frozen=True)
class _Rows:
    """The events that are kept, as rows."""

    source: TraceSource
    spans: Spans
    mentions: _Mentions
    events: _Events
    delivery: int

    @cached_property
    def _span(self) -> Int32:
        return self.mentions.span[self.events.mention]

    def tables(self, notices: Notices) -> Iterator[pa.Table]:
        """Canonical tables, by the times of the spans."""
        kept = np.flatnonzero(self._kept())
        kept = kept[np.argsort(self.spans.start[self._span[kept]], kind="stable")]
        seq, by_time = self._places_in_histories(kept)
        place = TABLE_SCHEMA.get_field_index(BY_TIME)
        operation = self.spans.operation[self._span[kept]]
        sent = np.zeros(int(self.events.message.max(initial=0)) + 1, np.bool_)
        sent[self.events.message[kept[operation <= _SEND]]] = True
        for start in range(0, len(kept), _ROWS_AT_ONCE):
            stop = start + _ROWS_AT_ONCE
            table = self._table(kept[start:stop], seq[start:stop], sent, notices)
            yield table.set_column(place, TABLE_SCHEMA.field(place), arrow.array(by_time[start:stop]))

    def _kept(self) -> Bool:
        """One kind of send for each message, one kind of delivery for each message at an entity."""
        message, operation = self.events.message, self.spans.operation[self._span]
        created = np.zeros(int(message.max(initial=0)) + 1, np.bool_)
        created[message[operation == _CREATE]] = True
        at = message * len(self.spans.entities) + self.spans.entity[self._span]
        chosen = operation == self.delivery
        other = ((operation == _RECEIVE) | (operation == _PROCESS)) & ~chosen
        keep = np.ones(len(message), np.bool_)
        keep[operation == _SEND] = ~created[message[operation == _SEND]]
        if other.any():
            keep[other] = ~np.isin(at[other], at[chosen])
        keep[operation == _SETTLE] = self.events.unnamed_settlements == 0
        return keep

    def _places_in_histories(self, kept: Int64) -> tuple[Int64, Bool]:
        """The `seq` of events that are in the order of their times: that time, and one more for each at the same. And
        whether only its time puts each after the one before it of its entity.

        The messages of one span are in the order of its links: "Span SHOULD preserve the order in which `Link`s are
        set" (OpenTelemetry Specification, Tracing API, "Link").
        """
        span = self._span[kept]
        start, entity = self.spans.start[span], self.spans.entity[span]
        order = np.argsort(entity, kind="stable")
        following = entity[order][1:] == entity[order][:-1]
        by_time = np.ones(len(kept), np.bool_)
        by_time[order[1:]] = ~(following & (span[order][1:] == span[order][:-1]))
        tied = order[1:][following & (start[order][1:] == start[order][:-1])]
        seq = start.copy()
        ends = np.searchsorted(entity[order], np.arange(len(self.spans.entities) + 1))
        for number in np.unique(entity[tied]).tolist():
            of_one = order[ends[number] : ends[number + 1]]
            steps = np.arange(len(of_one))
            seq[of_one] = np.maximum.accumulate(start[of_one] - steps) + steps
        return seq, by_time

    def _table(self, some: Int64, seq: Int64, sent: Bool, notices: Notices) -> pa.Table:
        span = self._span[some]
        operation = self.spans.operation[span]
        said = self.spans.said.taken(self.mentions.facts[self.events.mention[some]])
        sends, settled = operation <= _SEND, operation == _SETTLE
        back = self.spans.given_back[span]
        event = np.where(sends, 0, np.where(~settled, 1, np.where(back, 2, 3)))
        unsent = ~sends & ~settled & ~sent[self.events.message[some]]
        # Brokers that route call a destination otherwise at a queue; a message has one topic.
        placed = said["position"].is_valid().to_numpy()
        destinations = arrow.array([None, list(rows.TO_SOMEBODY)], arrow.list_(arrow.string()))
        columns: dict[str, Any] = {
            "execution": arrow.repeat(rows.execution_of(self.source), len(some)),
            "entity": self.spans.entities.take(arrow.array(self.spans.entity[span])),
            "seq": arrow.array(seq),
            "event": arrow.array(["send", "deliver", "nack", "ack"]).take(arrow.array(event)),
            "message": self.events.names(some),
            "dest": destinations.take(arrow.array(sends.view(np.int8))),
            "sender": pc.if_else(arrow.array(unsent), rows.SOMEBODY, arrow.scalar(None, arrow.string())),
            "time": arrow.array(self.spans.start[span], arrow.timestamp("ns", "UTC")),
            "key": said["key"],
            "topic": _where(sends | (~settled & placed), said["topic"]),
            "partition": said["partition"],
            "position": said["position"],
            "consumer_group": said["consumer_group"],
            "redelivered": _where(~sends & ~settled, said["redelivered"]),
        }
        kept = {name: column for name, column in columns.items() if column.null_count < len(some)}
        name_unknown(self.source.unknown(kept), notices)
        table = pa.table({name: column for name, column in kept.items() if self.source.reads(name)})
        try:
            return canonical(table, self.source, self.spans.row[span], notices)
        except Irregular:
            return self._row_by_row(table, span, notices)

    def _row_by_row(self, table: pa.Table, span: Int32, notices: Notices) -> pa.Table:
        """The canonical table of rows of which one has a value that it cannot have. Raises PrecedesError for that."""
        times = map(rows.seconds, self.spans.start[span].tolist())
        written = [
            (number, {name: value for name, value in row.items() if value is not None} | {"time": time})
            for number, row, time in zip(
                self.spans.row[span].tolist(), table.drop_columns(["time"]).to_pylist(), times, strict=True
            )
        ]
        return canonical_rows(written, dict, self.source, notices)


def _where(mask: Bool, column: Column) -> Column:
    return pc.if_else(arrow.array(mask), column, arrow.scalar(None, column.type))


def _choice(source: TraceSource, name: str, known: Sequence[str]) -> str:
    found = source.setting(name, known[0])
    if found not in known:
        hint = f"it is one of {', '.join(known)}"
        raise unreadable("T025", f"`{name}` is set to {shown(found)}", source.shown, hint)
    return found
