"""The formats of traces, one line each. A format is a module that is loaded when a file of it is read or written.

Such a module has

    read(source, notices)                     canonical tables (`TABLE_SCHEMA`), in the order of the rows
    write(rows, path, compression, attributes)    rows of executions to a new file; how many there were (if `writable`)
    row_groups(source)                        rows of each part that can be read by itself (if `divisible`)
    read_groups(source, notices, groups)      canonical tables of some of these parts (if `divisible`)

Each raises PrecedesError for what it cannot read.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How rows are written in a file: its name, its suffixes, the module beside this one."""

    name: str
    suffixes: tuple[str, ...]
    home: str
    compressible: bool = True
    writable: bool = True
    divisible: bool = False
    headed: bool = False
    """Columns are named before rows: `write` is told which attributes there are."""
    word: str = ""
    """What `--from` calls it, for a log of another system: its module is in `precedes.traces.foreign`."""
    carries: str = ""
    lacks: str = ""
    """What such a log records, and what it does not, for messages and documents."""

    @property
    def module(self) -> Any:
        """The module, loaded at its first use."""
        return import_module(f"precedes.traces.{'foreign' if self.word else 'formats'}.{self.home}")


JSON_LINES: Final = TraceFormat("JSON Lines", (".jsonl", ".ndjson", ".json"), "json_lines")
CSV: Final = TraceFormat("CSV", (".csv",), "csv", headed=True)
PARQUET: Final = TraceFormat(
    "Parquet", (".parquet",), "parquet", compressible=False, divisible=True, headed=True
)

FORMATS: Final = (
    JSON_LINES,
    CSV,
    PARQUET,
)
"""The formats of rows as this project defines them."""

KAFKA_VERIFIABLE: Final = TraceFormat(
    "Kafka's verifiable clients",
    (),
    "kafka_verifiable",
    writable=False,
    word="kafka-verifiable",
    carries="sends in the order of their acknowledgements, deliveries, and commits",
    lacks="whom a message is for, when it was sent, and whether a send that failed was stored",
)
KAFKA_CONSOLE: Final = TraceFormat(
    "Kafka's console consumer",
    (),
    "kafka_console",
    writable=False,
    word="kafka-console",
    carries="what one consumer got, in this order, and how often a record was delivered",
    lacks="the topic, who sent a record, and when it was delivered",
)
KCAT: Final = TraceFormat(
    "kcat",
    (),
    "kcat",
    writable=False,
    word="kcat",
    carries="what one consumer got, in this order",
    lacks="who sent a record, and when it was delivered",
)
KAFKA_DUMP: Final = TraceFormat(
    "kafka-dump-log",
    (),
    "kafka_dump",
    writable=False,
    word="kafka-dump-log",
    carries="the log of each partition, and the order in which idempotent producers sent to it",
    lacks="the consumers, the order of sends to two partitions, and the producers that do not number what they send",
)
RABBITMQ_TRACING: Final = TraceFormat(
    "traces of RabbitMQ",
    (),
    "rabbitmq_tracing",
    writable=False,
    word="rabbitmq-tracing",
    carries="what each channel publishes, into which queues it goes, and what each queue delivers",
    lacks="acknowledgements, the order of two channels at a queue, and times; the plugin also redeliveries",
)
NATS: Final = TraceFormat(
    "NATS JetStream",
    (),
    "nats",
    writable=False,
    word="nats",
    carries="what one client got from a stream or stored in it, in this order, with redeliveries",
    lacks="who published a message, and whom it is for",
)
CLOUDEVENTS: Final = TraceFormat(
    "CloudEvents",
    (),
    "cloudevents",
    writable=False,
    word="cloudevents",
    carries="what one receiver got, in this order, and from which source",
    lacks="whom an event is for, when it was delivered, and, without sequence numbers, in which order it was sent",
)
MOSQUITTO_SUB: Final = TraceFormat(
    "mosquitto_sub",
    (),
    "mosquitto_sub",
    writable=False,
    word="mosquitto-sub",
    carries="what one subscriber got, in this order, and when",
    lacks="who published a message, whom it is for, and what names it: a field of the message must",
)

FOREIGN: Final[tuple[TraceFormat, ...]] = (
    KAFKA_VERIFIABLE,
    KAFKA_CONSOLE,
    KAFKA_DUMP,
    RABBITMQ_TRACING,
    NATS,
    CLOUDEVENTS,
    MOSQUITTO_SUB,
    KCAT,
)
"""Logs of other systems, the more special ones first: the first that recognizes a file has it."""
BY_WORD: Final = {each.word: each for each in FOREIGN}
BY_SUFFIX: Final = {suffix: each for each in FORMATS for suffix in each.suffixes}


def known(*, written: bool = False) -> str:
    """The suffixes, for messages; those that can be `written`, or all that can be read."""
    formats = [each for each in FORMATS if each.writable or not written]
    packed = [suffix for each in formats if each.compressible for suffix in each.suffixes]
    plain = [suffix for each in formats if not each.compressible for suffix in each.suffixes]
    named = [f"{', '.join(packed)} (each also with .gz or .zst)"] if packed else []
    return f"known are {' and '.join([*named, *([', '.join(plain)] if plain else [])])}"


def listed() -> str:
    """Every format with its suffixes."""
    texts = ", ".join(f"{each.name} ({', '.join(each.suffixes)})" for each in FORMATS)
    packed = ", ".join(each.name for each in FORMATS if each.compressible)
    return f"{texts}; {packed} also as .gz and .zst"
