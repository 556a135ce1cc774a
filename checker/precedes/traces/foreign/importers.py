"""The logs of other systems that can be read, one entry each; the module of each is beside this one."""

from __future__ import annotations

from typing import Final

from precedes.traces.formats.registry import TraceFormat

BROADCAST_LOG: Final = TraceFormat(
    "broadcast log",
    (),
    "broadcast_log",
    writable=False,
    names_files=True,
    word="broadcast-log",
    carries="what each process broadcast and delivered, in its order",
    lacks="times, and the order of events of two processes",
)
SHIVIZ: Final = TraceFormat(
    "ShiViz log",
    (),
    "shiviz",
    writable=False,
    word="shiviz",
    carries="the order of events, and what happened before what, by vector clocks",
    lacks="which events are sends and deliveries, and of which messages",
)
TSVIZ: Final = TraceFormat(
    "TSViz log",
    (),
    "tsviz",
    writable=False,
    word="tsviz",
    carries="the order of events, their times, and what happened before what, by vector clocks",
    lacks="which events are sends and deliveries, and of which messages",
)
TLA_TRACE: Final = TraceFormat(
    "trace for TLA+",
    (),
    "tla_trace",
    writable=False,
    word="tla-trace",
    carries="steps of PGo and of EWD998 with vector clocks",
    lacks="names of messages, which follow from clocks, and of PGo whom a message is for",
)
ETCD_RAFT: Final = TraceFormat(
    "trace of etcd's Raft",
    (),
    "etcd_raft",
    writable=False,
    word="etcd-raft",
    carries="what each node sent and received, with whom it is for, and its other steps",
    lacks="names of messages: which of several that look alike was received",
)
JEPSEN: Final = TraceFormat(
    "history of Jepsen",
    (),
    "jepsen",
    writable=False,
    word="jepsen",
    carries="sends, polls, enqueues and dequeues of processes, with times and offsets",
    lacks="whom a message is for, and what became of operations that ended with :info",
)
MAELSTROM: Final = TraceFormat(
    "log of Maelstrom",
    (),
    "maelstrom",
    writable=False,
    word="maelstrom",
    carries="every message of the network, with its sender, its receiver and its id",
    lacks="what a node delivers to its user, crashes, and times that are precise enough",
)

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
MOSQUITTO_LOG: Final = TraceFormat(
    "log of mosquitto",
    (),
    "mosquitto_log",
    writable=False,
    word="mosquitto-log",
    carries="what each client published, what the broker sent to each client, and what clients acknowledged",
    lacks="payloads, whom a message is for, whether what was sent arrived, and which message was queued or retained",
)
ROS_CSV: Final = TraceFormat(
    "messages of ROS as CSV",
    (),
    "ros_csv",
    writable=False,
    word="ros-csv",
    carries="what one node or bag got of a topic, in this order, with the numbers in headers",
    lacks="the topic, who published a message, whom it is for, and what names it: fields of the message must",
)

OTLP: Final = TraceFormat(
    "OTLP JSON",
    (),
    "otlp",
    writable=False,
    word="otlp",
    carries="spans of OpenTelemetry that send, receive, process and settle messages, with their times and links",
    lacks="whom a message is for, what was not sampled, and the order of spans that start at the same time",
)
ZIPKIN: Final = TraceFormat(
    "spans of Zipkin",
    (),
    "zipkin",
    writable=False,
    word="zipkin",
    carries="spans of producers and consumers, with their times in microseconds and their parents",
    lacks="links, whom a message is for, what was not sampled, and the order of spans that start at the same time",
)
JAEGER: Final = TraceFormat(
    "spans of Jaeger",
    (),
    "jaeger",
    writable=False,
    word="jaeger",
    carries="spans of producers and consumers, with their times in microseconds and their references",
    lacks="whom a message is for, what was not sampled, and the order of spans that start at the same time",
)
MAPPING: Final = TraceFormat(
    "a log with a mapping",
    (),
    "mapping",
    writable=False,
    names_files=True,
    word="mapping",
    carries="what the mapping reads from its fields",
    lacks="what the mapping does not name",
)

FOREIGN: Final[tuple[TraceFormat, ...]] = (
    KAFKA_VERIFIABLE,
    KAFKA_CONSOLE,
    KAFKA_DUMP,
    RABBITMQ_TRACING,
    NATS,
    CLOUDEVENTS,
    MOSQUITTO_SUB,
    MOSQUITTO_LOG,
    ROS_CSV,
    KCAT,
    OTLP,
    JAEGER,
    ZIPKIN,
    BROADCAST_LOG,
    TLA_TRACE,
    ETCD_RAFT,
    MAELSTROM,
    JEPSEN,
    TSVIZ,
    SHIVIZ,
    MAPPING,
)
"""All of them, the more special ones first: the first that recognizes a file has it."""
BY_WORD: Final = {each.word: each for each in FOREIGN}
