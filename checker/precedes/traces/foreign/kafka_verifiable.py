"""Logs of kafka-verifiable-producer and kafka-verifiable-consumer: JSON objects, one on each line.

What their events are is in Kafka's VerifiableProducer.java and VerifiableConsumer.java. The producer prints a send when
the broker acknowledged it, so the time of that line is not the time of the send and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import place as place_of
from precedes.traces.foreign.kafka_records import placed
from precedes.traces.foreign.kafka_verifiable_columns import (
    COMMITTED,
    DELIVERED,
    LOCAL,
    NAMES,
    NOT_SENT,
    POLLED,
    SENT,
    SUMMARY,
    Events,
    Pending,
    Where,
    after,
    events,
)
from precedes.traces.foreign.kafka_verifiable_columns import rows_of as rows_of_events
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.slices import UNCERTAIN, canonical_table, looked_at
from precedes.traces.foreign.typed_fields import (
    Fields,
    chosen,
    first_object,
    milliseconds,
    objects_in,
    present,
    text,
    translated,
    whole,
)
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.schema import TO_GROUP
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the producer or consumer that wrote the file; by default the name of the file",
    "group": "the only consumer group that reads the topic; by default it is not known who does",
    "sends": "the order of sends: `acknowledged` as the lines are, or `value` as the counter in the values is",
}

_COUNTER: Final = re.compile(r"(?:-?[0-9]{1,10}\.)?([0-9]{1,19})")
_ACKNOWLEDGED, _VALUE = "acknowledged", "value"


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an event of one of the two tools."""
    found = first_object(start) or {}
    event = found.get("name")
    return isinstance(event, str) and event in NAMES and isinstance(found.get("timestamp"), int)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    log = _Log(rows.execution_of(source), rows.entity_of(source), source.setting("group"))
    if chosen(source, "sends", (_ACKNOWLEDGED, _VALUE)) == _VALUE:
        found = translated(source, rows.objects(source), log.rows_of)
        yield from rows.tables(source, _by_counter(source, found, log), notices)
        return
    for given, of_slice in looked_at(source, events):
        table = None if of_slice is None else log.by_columns(source, of_slice, notices)
        if table is None:
            found = translated(source, rows.objects_of(source, given), log.rows_of)
            yield from rows.tables(source, found, notices)
        elif len(table):
            yield table


@dataclass
class _Log:
    """What was read so far of the log of one client."""

    execution: str
    entity: str
    group: str
    pending: Pending = field(default_factory=Pending)
    came: dict[Where, list[int]] = field(default_factory=dict)
    """Offsets of records that are not yet in `pending`."""
    counters: dict[str, int] = field(default_factory=dict)
    """What stands in the value of each message that was sent."""

    def by_columns(self, source: TraceSource, found: Events, notices: Notices) -> pa.Table | None:
        """The canonical table of the events of a slice; None where they are read one by one."""
        self._take()
        try:
            pending, acknowledged = after(found, self.pending)
            columns, numbers = rows_of_events(found, acknowledged, self.group)
            columns |= {"execution": self.execution, "entity": self.entity}
            table = canonical_table(source, columns, numbers, notices)
        except UNCERTAIN:
            return None
        self.pending = pending
        return table

    def rows_of(self, event: Fields) -> Iterable[Row]:
        """The rows of one event. Raises RowError."""
        name = text(event, "name")
        time = milliseconds(event, "timestamp")
        if name == SENT:
            return [self._sent(event)]
        if name == DELIVERED:
            return [self._delivered(event, time)]
        if name == POLLED:
            self._check(event)
            return []
        if name == COMMITTED:
            return self._acknowledged(event, time)
        if name == NOT_SENT or name in LOCAL:
            return [self._row("local") | {"time": time}]
        if name == SUMMARY:
            return []
        raise RowError("T013", f"`name` is {shown(name)}", f"it is one of {', '.join(sorted(NAMES))}")

    def _row(self, event: str) -> Row:
        return {"execution": self.execution, "entity": self.entity, "event": event}

    def _sent(self, event: Fields) -> Row:
        record = placed(event)
        match = _COUNTER.fullmatch(str(event.get("value")))
        if match:
            self.counters[str(record["message"])] = int(match[1])
        dest = [f"{TO_GROUP}{self.group}"] if self.group else list(rows.TO_SOMEBODY)
        return self._row("send") | record | {"key": event.get("key"), "dest": dest}

    def _delivered(self, event: Fields, time: str) -> Row:
        record = placed(event)
        self.came.setdefault((event["topic"], event["partition"]), []).append(event["offset"])
        self.pending = replace(self.pending, listed=self.pending.listed + 1)
        carried = {"key": event.get("key"), "sender": rows.SOMEBODY, "time": time}
        return self._row("deliver") | record | carried | {"group": self.group or None}

    def _check(self, event: Fields) -> None:
        """Compare what a poll returned with the records that were printed before its summary."""
        returned = sum(whole(each, "count") for each in objects_in(event, "partitions"))
        listed = self.pending.listed
        if returned and not listed:
            raise RowError(
                "T023",
                f"{returned} records were consumed, and none is in the log",
                "start kafka-verifiable-consumer with --verbose",
            )
        if returned != listed:
            raise RowError("T024", f"{returned} records were consumed, and the log has {listed}")
        self.pending = replace(self.pending, listed=0)

    def _acknowledged(self, event: Fields, time: str) -> Iterator[Row]:
        """A commit says that the consumer is done with every record before an offset."""
        success = present(event, "success")
        if not isinstance(success, bool):
            raise RowError("T012", f"`success` is {shown(success)}", "it is true or false")
        for each in objects_in(event, "offsets"):
            end, at = whole(each, "offset"), (text(each, "topic"), whole(each, "partition"))
            if success:
                self._take()
                offsets, self.pending = self.pending.acknowledged(at, end)
                for offset in offsets.tolist():
                    yield self._row("ack") | place_of(*at, offset) | {"time": time}

    def _take(self) -> None:
        """What came since the last time is pending."""
        self.pending = self.pending.more({at: np.array(offsets) for at, offsets in self.came.items()})
        self.came = {}


def _by_counter(source: TraceSource, found: Iterable[tuple[int, Row]], log: _Log) -> list[tuple[int, Row]]:
    """The rows with the sends in the order of the counters in their values. Raises PrecedesError."""
    every = list(found)
    places = [place for place, (_, row) in enumerate(every) if row["event"] == "send"]
    for number, row in (every[place] for place in places):
        if row["message"] not in log.counters:
            raise rows.refused(
                source, number, RowError("T012", "`value` has no counter", "leave out the setting `sends`")
            )
    counters = [log.counters[str(every[place][1]["message"])] for place in places]
    if len(set(counters)) < len(counters):
        first = next(place for place, each in zip(places, counters, strict=True) if counters.count(each) > 1)
        raise rows.refused(
            source,
            every[first][0],
            RowError(
                "T023",
                "the counter of this value occurs again",
                "write a file for each start of the producer",
            ),
        )
    moved = [every[place] for _, place in sorted(zip(counters, places, strict=True))]
    for place, pair in zip(places, moved, strict=True):
        every[place] = pair
    return [(number, row | {"seq": seq}) for seq, (number, row) in enumerate(every)]
