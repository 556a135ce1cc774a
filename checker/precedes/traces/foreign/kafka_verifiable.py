"""Logs of kafka-verifiable-producer and kafka-verifiable-consumer: JSON objects, one on each line.

What their events are is in Kafka's VerifiableProducer.java and VerifiableConsumer.java. The producer prints a send when
the broker acknowledged it, so the time of that line is not the time of the send and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import placed
from precedes.traces.foreign.rows import Row
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

_LOCAL: Final = ("startup_complete", "shutdown_complete", "partitions_assigned", "partitions_revoked")
_SUMMARY: Final = "tool_data"
_SENT, _NOT_SENT, _DELIVERED = "producer_send_success", "producer_send_error", "record_data"
_POLLED, _COMMITTED = "records_consumed", "offsets_committed"
_NAMES: Final = frozenset({*_LOCAL, _SUMMARY, _SENT, _NOT_SENT, _DELIVERED, _POLLED, _COMMITTED})
_COUNTER: Final = re.compile(r"(?:-?[0-9]{1,10}\.)?([0-9]{1,19})")
_ACKNOWLEDGED, _VALUE = "acknowledged", "value"


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an event of one of the two tools."""
    found = first_object(start) or {}
    event = found.get("name")
    return isinstance(event, str) and event in _NAMES and isinstance(found.get("timestamp"), int)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    log = _Log(rows.execution_of(source), rows.entity_of(source), source.setting("group"))
    found = translated(source, rows.objects(source), log.rows_of)
    if chosen(source, "sends", (_ACKNOWLEDGED, _VALUE)) == _VALUE:
        found = iter(_by_counter(source, found, log))
    yield from rows.tables(source, found, notices)


@dataclass
class _Log:
    """What was read so far of the log of one client."""

    execution: str
    entity: str
    group: str
    unacknowledged: dict[tuple[str, int], dict[int, Row]] = field(default_factory=dict)
    """Delivered records by topic and partition, and by offset."""
    listed: int = 0
    """Records since the last summary of a poll."""
    counters: dict[str, int] = field(default_factory=dict)
    """What stands in the value of each message that was sent."""

    def rows_of(self, event: Fields) -> Iterable[Row]:
        """The rows of one event. Raises RowError."""
        name = text(event, "name")
        time = milliseconds(event, "timestamp")
        if name == _SENT:
            return [self._sent(event)]
        if name == _DELIVERED:
            return [self._delivered(event, time)]
        if name == _POLLED:
            self._check(event)
            return []
        if name == _COMMITTED:
            return self._acknowledged(event, time)
        if name == _NOT_SENT or name in _LOCAL:
            return [self._row("local") | {"time": time}]
        if name == _SUMMARY:
            return []
        raise RowError("T013", f"`name` is {shown(name)}", f"it is one of {', '.join(sorted(_NAMES))}")

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
        self.listed += 1
        of_partition = self.unacknowledged.setdefault((event["topic"], event["partition"]), {})
        of_partition[event["offset"]] = record
        carried = {"key": event.get("key"), "sender": rows.SOMEBODY, "time": time}
        return self._row("deliver") | record | carried | {"group": self.group or None}

    def _check(self, event: Fields) -> None:
        """Compare what a poll returned with the records that were printed before its summary."""
        returned = sum(whole(each, "count") for each in objects_in(event, "partitions"))
        if returned and not self.listed:
            raise RowError(
                "T023",
                f"{returned} records were consumed, and none is in the log",
                "start kafka-verifiable-consumer with --verbose",
            )
        if returned != self.listed:
            raise RowError("T024", f"{returned} records were consumed, and the log has {self.listed}")
        self.listed = 0

    def _acknowledged(self, event: Fields, time: str) -> Iterator[Row]:
        """A commit says that the consumer is done with every record before an offset."""
        success = present(event, "success")
        if not isinstance(success, bool):
            raise RowError("T012", f"`success` is {shown(success)}", "it is true or false")
        for each in objects_in(event, "offsets"):
            end, where = whole(each, "offset"), (text(each, "topic"), whole(each, "partition"))
            waiting = self.unacknowledged.get(where, {})
            for offset in [offset for offset in waiting if success and offset < end]:
                yield self._row("ack") | waiting.pop(offset) | {"time": time}


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
