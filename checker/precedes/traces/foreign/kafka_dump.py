"""What kafka-dump-log prints of the log of a partition: a line for each batch, and below it one for each record.

The lines are those of Kafka's DumpLogSegments.scala. A sequence number counts the records of a producer in one
partition, so a producer is an entity for each partition: the order of what it sends to two is not in their logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

import pyarrow as pa

from precedes.core.diagnostics import usage
from precedes.traces.foreign import rows
from precedes.traces.foreign.kafka_records import place
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import chosen, number, translated
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "topic": "the topic, if the file does not say it in a line `Dumping ...`",
    "partition": "the number of the partition, likewise",
    "message": "what names a record: `offset`, or `sequence` of its producer, so that what was stored twice is one "
    "message",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
}

_DUMPING: Final = re.compile(r"Dumping (?:.*[/\\])?[^/\\]+")
_PARTITION: Final = re.compile(r"Dumping (?:.*[/\\])?([^/\\]+)-([0-9]{1,10})[/\\][^/\\]+")
_INVALID: Final = re.compile(r"Found [0-9]+ invalid bytes at the end of .+")
_STARTING: Final = re.compile(r"Log starting offset: [0-9]+")
_BATCH: Final = re.compile(
    r"baseOffset: [0-9]+ lastOffset: [0-9]+ count: ([0-9]+|null) baseSequence: -?[0-9]+ lastSequence: -?[0-9]+ "
    r"producerId: (-1|[0-9]{1,19}) producerEpoch: (-1|[0-9]{1,5}) .*isControl: (true|false) .*isvalid: (true|false)"
)
_OLD_BATCH: Final = re.compile(r"offset: [0-9]+ position: [0-9]+ .*isvalid: (?:true|false)")
_RECORD: Final = re.compile(
    r"\| offset: ([0-9]{1,19}) (CreateTime|LogAppendTime|NoTimestampType): (-?[0-9]{1,19}) "
    r"keySize: (-?[0-9]{1,10}) valueSize: -?[0-9]{1,10}(?: sequence: (-1|[0-9]{1,10}) headerKeys: \[.*?\])?"
    r"(?: isValid: (?:true|false) crc: [0-9]+\}?)?( .*)?",
    re.DOTALL,
)
_OFFSET, _SEQUENCE = "offset", "sequence"
_HALF_OF_SEQUENCES: Final = 1 << 30
_SEQUENCES: Final = 1 << 31
"""After the last sequence number comes 0 again."""
_PER_MILLISECOND: Final = 10**6


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins as a dump does."""
    text = start.removeprefix("\ufeff")
    first, _, rest = text.partition("\n")
    if _DUMPING.fullmatch(first.rstrip("\r")):
        first, _, rest = rest.partition("\n")
    return bool(_STARTING.fullmatch(first.rstrip("\r")) or _BATCH.fullmatch(first.rstrip("\r")))


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    by_sequence = chosen(source, "message", (_OFFSET, _SEQUENCE)) == _SEQUENCE
    log = _Log(rows.execution_of(source), _stated(source), by_sequence)
    number_of_line = 0
    try:
        for number_of_line, line in rows.lines(source, ended=True):
            log.read(number_of_line, line)
        log.end_of_batch()
    except RowError as error:
        raise rows.refused(source, number_of_line, error) from error
    found = translated(source, (*log.sends(), *log.deliveries), lambda row: [row])
    yield from rows.tables(source, found, notices)


def _stated(source: TraceSource) -> tuple[str, int] | None:
    """The topic and the partition that the user says. Raises PrecedesError (U001)."""
    topic = source.setting("topic") or dict(source.stated).get("topic", "")
    partition = source.setting("partition") or dict(source.stated).get("partition", "")
    if not topic and not partition:
        return None
    if not topic or not re.fullmatch("[0-9]{1,10}", partition):
        raise usage("the setting of a topic and a partition is not whole", "topic=NAME and partition=NUMBER")
    return topic, int(partition)


@dataclass(frozen=True, slots=True)
class _Batch:
    """What the line of a batch says of its records."""

    producer: int
    epoch: int
    count: int | None
    control: bool


@dataclass
class _Log:
    """What was read so far of the logs of some partitions."""

    execution: str
    stated: tuple[str, int] | None
    """The topic and the partition that the user says."""
    by_sequence: bool
    place: tuple[str, int] | None = field(init=False)
    """Those of the log that is being read."""
    batch: _Batch | None = None
    records: int = 0
    """Of the batch that is being read."""
    sent: dict[str, list[tuple[tuple[int, int], int, Row]]] = field(default_factory=dict)
    """The sends of each producer, with epoch and sequence number, and with the number of the line."""
    last: dict[tuple[str, int], int] = field(default_factory=dict)
    """The last sequence number of a producer in an epoch, counted on where they begin again."""
    deliveries: list[tuple[int, Row]] = field(default_factory=list)
    first_offset: int = 0

    def __post_init__(self) -> None:
        self.place = self.stated

    def read(self, at: int, line: str) -> None:
        """Read one line. Raises RowError."""
        if match := _RECORD.fullmatch(line):
            if self.batch is None:
                raise RowError("T024", "this record is in no batch")
            self.records += 1
            if not self.batch.control:
                self._record(at, match, self.batch)
            return
        self.end_of_batch()
        if match := _BATCH.fullmatch(line):
            count, producer, epoch, control, valid = match.groups()
            if valid == "false":
                raise RowError("T004", "this batch is damaged", "kafka-dump-log says isvalid: false")
            known = None if count == "null" else number(count, "count")
            self.batch = _Batch(int(producer), int(epoch), known, control == "true")
        elif _OLD_BATCH.fullmatch(line):
            self.batch = _Batch(-1, -1, None, control=False)
        elif _DUMPING.fullmatch(line):
            self.place = self.stated
            if self.place is None and (match := _PARTITION.fullmatch(line)):
                self.place = (match[1], int(match[2]))
        elif _INVALID.fullmatch(line):
            raise RowError("T004", f"the log is damaged: {line}")
        elif not _STARTING.fullmatch(line):
            raise RowError(
                "T007",
                f"this line is not one of kafka-dump-log: {shown(line)}",
                "a value may have ended a line: dump with --deep-iteration in place of --print-data-log",
            )

    def end_of_batch(self) -> None:
        """Compare the records of a batch with their number. Raises RowError."""
        batch, records = self.batch, self.records
        self.batch, self.records = None, 0
        if batch is None or batch.control or batch.count in {None, records}:
            return
        if not records:
            raise RowError(
                "T023",
                "the records of the batch before are not in the file",
                "dump with --print-data-log or --deep-iteration",
            )
        raise RowError("T024", f"the batch before has {batch.count} records, and {records} are in the file")

    def _record(self, at: int, match: re.Match[str], batch: _Batch) -> None:
        offset, kind, time, key_size, sequence, rest = match.groups()
        if self.place is None:
            raise RowError(
                "T023",
                "the file does not say its topic and partition",
                "say them: --set topic=NAME --set partition=0",
            )
        named = "{}-{}".format(*self.place)
        if not self.deliveries:
            self.first_offset = int(offset)
        row = place(*self.place, number(offset, "offset")) | {"execution": self.execution}
        row["key"] = _key(rest or "", int(key_size))
        row["create_time"] = _seconds(time) if kind == "CreateTime" else None
        delivery: Row = {"entity": f"log {named}", "event": "deliver"}
        delivery["time"] = _seconds(time) if kind == "LogAppendTime" else None
        if batch.producer < 0 or sequence in {None, "-1"}:
            self.deliveries.append((at, row | delivery | {"sender": rows.SOMEBODY}))
            return
        sender = f"producer {batch.producer} of {named}"
        if self.by_sequence:
            row |= {
                "message": f"{sender}, epoch {batch.epoch}, sequence {sequence}",
                "position": None,
            }
        send = row | {"entity": sender, "event": "send", "dest": [f"log {named}", *rows.TO_SOMEBODY]}
        count = self._counted((sender, batch.epoch), int(sequence))
        self.sent.setdefault(sender, []).append(((batch.epoch, count), at, send))
        self.deliveries.append((at, row | delivery))

    def _counted(self, producer: tuple[str, int], sequence: int) -> int:
        """A sequence number as if they went on for ever."""
        rounds, before = divmod(self.last.get(producer, sequence), _SEQUENCES)
        if sequence < before - _HALF_OF_SEQUENCES:
            rounds += 1
        elif sequence > before + _HALF_OF_SEQUENCES:
            rounds -= 1
        self.last[producer] = found = rounds * _SEQUENCES + sequence
        return found

    def sends(self) -> Iterator[tuple[int, Row]]:
        """The sends, those of each producer in the order in which it numbered them. Their places begin at the first
        offset of the file, so that those in the next file of a log come after them.
        """
        for of_one in self.sent.values():
            for seq, (_, at, row) in enumerate(sorted(of_one, key=itemgetter(0)), self.first_offset):
                yield at, row | {"seq": seq}


def _seconds(milliseconds: str) -> str | None:
    return None if milliseconds == "-1" else rows.seconds(int(milliseconds) * _PER_MILLISECOND)


def _key(rest: str, size: int) -> str | None:
    """The key of a record whose number of bytes is known; None where there is none, or where it is not printed as it
    is.
    """
    if not rest.startswith(" key: ") or size < 0:
        return None
    key = rest.removeprefix(" key: ").encode(errors="surrogatepass")
    after = key[size:]
    if after and not after.startswith(b" payload: "):
        return None
    try:
        return key[:size].decode()
    except UnicodeDecodeError:
        return None
