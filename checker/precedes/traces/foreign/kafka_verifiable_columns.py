"""Events of Kafka's verifiable clients as columns, for lines that are exactly of the shape that is stated here; any
other is Irregular.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import Int64
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import placed_columns
from precedes.traces.foreign.slices import (
    Columns,
    Numbers,
    certain,
    is_text,
    is_whole,
    objects,
    where,
)
from precedes.traces.formats.canonical_columns import Irregular
from precedes.traces.formats.line_slices import Slice
from precedes.traces.formats.values import INT64_MAX
from precedes.traces.schema import TO_GROUP

SENT, NOT_SENT, DELIVERED = "producer_send_success", "producer_send_error", "record_data"
POLLED, COMMITTED = "records_consumed", "offsets_committed"
LOCAL: Final = ("startup_complete", "shutdown_complete", "partitions_assigned", "partitions_revoked")
SUMMARY: Final = "tool_data"
NAMES: Final = (*LOCAL, SUMMARY, SENT, NOT_SENT, DELIVERED, POLLED, COMMITTED)

_PER_MILLISECOND: Final = 10**6
_PLACE: Final = {"topic": arrow.string(), "partition": arrow.int64(), "offset": arrow.int64()}
_COUNTS: Final = {name: arrow.int64() for name in ("count", "minOffset", "maxOffset")}
_SHAPE: Final = arrow.schema(
    _PLACE
    | dict.fromkeys(("name", "key", "value", "exception", "message", "error"), arrow.string())
    | dict.fromkeys(("timestamp", "count", "sent", "acked", "target_throughput"), arrow.int64())
    | {"avg_throughput": arrow.float64(), "success": arrow.bool_()}
    | {"offsets": arrow.list_(arrow.struct(list(_PLACE.items())))}
    | {"partitions": arrow.list_(arrow.struct(list((_PLACE | _COUNTS).items())))}
)

_MOST_PARTITIONS: Final = 1 << 31

Where = tuple[str, int]
"""A topic and a partition."""


@dataclass(frozen=True, slots=True)
class Pending:
    """What a consumer got and has not acknowledged: the offsets by topic and partition, in parts, as they came; and how
    many records came since the last summary of a poll.
    """

    offsets: Mapping[Where, tuple[Int64, ...]] = field(default_factory=dict)
    listed: int = 0

    def more(self, came: Mapping[Where, Int64]) -> Pending:
        """The same with offsets that came after these."""
        held = {at: (*self.offsets.get(at, ()), offsets) for at, offsets in came.items()}
        return replace(self, offsets={**self.offsets, **held})

    def acknowledged(self, at: Where, end: int) -> tuple[Int64, Pending]:
        """The offsets of a partition before the end of a commit, each once, and what is pending without them."""
        if not (parts := self.offsets.get(at)):
            return np.zeros(0, np.int64), self
        held = _once(np.concatenate(parts))
        return held[held < end], replace(self, offsets={**self.offsets, at: (held[held >= end],)})


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a slice, and the numbers of their lines; `of_kind` are the places of those with a name."""

    table: Any
    numbers: Numbers
    of_kind: Mapping[str, Int64]


def events(given: Slice) -> Events:
    """The events of a slice. Raises Irregular."""
    table, numbers = objects(given, _SHAPE)
    names = table["name"].combine_chunks().dictionary_encode()
    known: list[Any] = names.dictionary.to_pylist()
    if names.null_count or not set(known) <= set(NAMES):
        raise Irregular
    time = table["timestamp"]
    certain(is_whole(time), pc.less_equal(time, INT64_MAX // _PER_MILLISECOND))
    codes = names.indices.to_numpy()
    found = Events(table, numbers, {name: np.flatnonzero(codes == code) for code, name in enumerate(known)})
    _check_polls(found)
    _check_commits(found)
    return found


def _of(found: Events, name: str) -> Int64:
    return found.of_kind.get(name, np.zeros(0, np.int64))


def _inner(found: Events, name: str, column: str) -> tuple[Any, Int64]:
    """What is in the lists of events with a name, and the place of the event of each. Raises Irregular."""
    places = _of(found, name)
    lists = found.table[column].take(arrow.array(places)).combine_chunks()
    certain(lists.is_valid())
    inner = pc.list_flatten(lists)
    certain(inner.is_valid())
    return inner, places[pc.list_parent_indices(lists).to_numpy()]


def _check_polls(found: Events) -> None:
    inner, _ = _inner(found, POLLED, "partitions")
    certain(is_whole(inner.field("count")), pc.less_equal(inner.field("count"), 1 << 31))


def _check_commits(found: Events) -> None:
    inner, _ = _inner(found, COMMITTED, "offsets")
    certain(is_text(inner.field("topic")), *(is_whole(inner.field(name)) for name in ("partition", "offset")))
    certain(found.table["success"].take(arrow.array(_of(found, COMMITTED))).is_valid())


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What a commit acknowledges: its place among the events, and the offsets of a partition."""

    place: int
    at: Where
    offsets: Int64


def after(found: Events, pending: Pending) -> tuple[Pending, list[Acknowledged]]:
    """What is pending after the events, and what they acknowledge. Raises Irregular where a poll returned other records
    than those in the log.
    """
    listed = _listed(found, pending.listed)
    delivered = _of(found, DELIVERED)
    offset = _whole(found.table["offset"].take(arrow.array(delivered)))
    code, known = _partitions(found.table.select(["topic", "partition"]).take(arrow.array(delivered)))

    def came(start: int, stop: int) -> dict[Where, Int64]:
        here, offsets = code[start:stop], offset[start:stop]
        return {known[number]: offsets[here == number] for number in np.unique(here).tolist()}

    acknowledged: list[Acknowledged] = []
    start = 0
    for place, at, end in _commits(found):
        stop = int(np.searchsorted(delivered, place))
        offsets, pending = pending.more(came(start, stop)).acknowledged(at, end)
        start = stop
        acknowledged.append(Acknowledged(place, at, offsets))
    return replace(pending.more(came(start, len(delivered))), listed=listed), acknowledged


def _once(offsets: Int64) -> Int64:
    """Offsets without those that came before."""
    if (offsets[1:] > offsets[:-1]).all():
        return offsets
    _, first = np.unique(offsets, return_index=True)
    return offsets[np.sort(first)]


def _listed(found: Events, before: int) -> int:
    """The records since the last poll. Raises Irregular where a poll returned other ones than those before it."""
    polled, delivered = _of(found, POLLED), _of(found, DELIVERED)
    inner, of_poll = _inner(found, POLLED, "partitions")
    returned = np.zeros(len(polled), np.int64)
    np.add.at(returned, np.searchsorted(polled, of_poll), _whole(inner.field("count")))
    until = np.searchsorted(delivered, polled) + before
    if (np.diff(until, prepend=0) != returned).any():
        raise Irregular
    return before + len(delivered) - (int(until[-1]) if len(until) else 0)


def _commits(found: Events) -> Iterator[tuple[int, Where, int]]:
    """The commits that succeeded: the place of the event, the partition, and the offset before which all is done."""
    inner, of_commit = _inner(found, COMMITTED, "offsets")
    success = found.table["success"].take(arrow.array(of_commit)).to_pylist()
    for place, each, succeeded in zip(of_commit.tolist(), inner.to_pylist(), success, strict=True):
        if succeeded:
            yield place, (each["topic"], each["partition"]), each["offset"]


def _partitions(table: Any) -> tuple[Int64, list[Where]]:
    """The partitions of records as codes, and what these stand for. Raises Irregular."""
    topics = table["topic"].combine_chunks().dictionary_encode()
    certain(topics.is_valid(), is_whole(table["partition"]), pc.less(table["partition"], _MOST_PARTITIONS))
    both = topics.indices.to_numpy().astype(np.int64) * _MOST_PARTITIONS + _whole(table["partition"])
    known, code = np.unique(both, return_inverse=True)
    names = topics.dictionary.to_pylist()
    pairs = ((names[each // _MOST_PARTITIONS], each % _MOST_PARTITIONS) for each in known.tolist())
    return code, list(pairs)


def _whole(column: Column) -> Int64:
    certain(is_whole(column))
    return np.asarray(column.to_numpy(), np.int64)


def rows_of(found: Events, acknowledged: Sequence[Acknowledged], group: str) -> tuple[Columns, Numbers]:
    """The rows of events and of what they acknowledge. Raises Irregular."""
    sent, delivered = _of(found, SENT), _of(found, DELIVERED)
    local = np.concatenate([_of(found, name) for name in (*LOCAL, NOT_SENT)])
    acks = np.repeat([each.place for each in acknowledged], [len(each.offsets) for each in acknowledged])
    kinds = {"send": sent, "deliver": delivered, "ack": acks.astype(np.int64), "local": local}
    place = np.concatenate(list(kinds.values()))
    event = arrow.array(list(kinds)).take(
        arrow.array(np.repeat(np.arange(len(kinds)), [len(places) for places in kinds.values()]))
    )
    records = arrow.concat_tables(
        [
            found.table.select(["topic", "partition", "offset", "key"]).take(arrow.array(places))
            for places in (sent, delivered)
        ]
        + [_acknowledged_records(each) for each in acknowledged]
    ).combine_chunks()
    columns = placed_columns(records["topic"], records["partition"], records["offset"])
    columns["key"] = records["key"]
    without = arrow.nulls(len(local))
    columns = {name: _followed(column, without) for name, column in columns.items()}
    sends, deliveries = pc.equal(event, "send"), pc.equal(event, "deliver")
    milliseconds = found.table["timestamp"].take(arrow.array(place))
    time = pc.cast(pc.multiply(milliseconds, _PER_MILLISECOND), arrow.timestamp("ns", "UTC"))
    dest = [f"{TO_GROUP}{group}"] if group else list(rows.TO_SOMEBODY)
    columns |= {
        "event": event,
        "time": where(pc.invert(sends), time),
        "dest": where(sends, arrow.scalar(dest)),
        "sender": where(deliveries, arrow.scalar(rows.SOMEBODY)),
    }
    if group:
        columns["group"] = where(deliveries, arrow.scalar(group))
    order = np.argsort(place, kind="stable")
    taken = {name: column.take(arrow.array(order)) for name, column in columns.items()}
    return taken, found.numbers[place[order]]


def _acknowledged_records(each: Acknowledged) -> pa.Table:
    topic, partition = each.at
    count = len(each.offsets)
    return pa.table(
        {
            "topic": arrow.repeat(topic, count),
            "partition": arrow.repeat(arrow.scalar(partition, arrow.int64()), count),
            "offset": arrow.array(each.offsets),
            "key": arrow.nulls(count, arrow.string()),
        }
    )


def _followed(column: Column, more: Column) -> Column:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return arrow.chunked_array([*chunks, more.cast(column.type)], column.type).combine_chunks()
