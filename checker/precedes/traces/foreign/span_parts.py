"""What spans say of messages, as columns: names of attributes, and the tables that readers of spans make.

The names of attributes are those of OpenTelemetry's semantic conventions for messaging, the present and the older ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final
from urllib.parse import quote

import pyarrow as pa

from precedes.core.columns import Int64
from precedes.traces.arrow import Column, arrow, pc


class Operation(Enum):
    """What a span does with messages."""

    CREATE = "create"
    SEND = "send"
    RECEIVE = "receive"
    PROCESS = "process"
    SETTLE = "settle"


CODES: Final = {operation: code for code, operation in enumerate(Operation)}
"""The operations as columns have them."""
OPERATIONS: Final = {
    "create": Operation.CREATE,
    "send": Operation.SEND,
    "publish": Operation.SEND,
    "receive": Operation.RECEIVE,
    "poll": Operation.RECEIVE,
    "deliver": Operation.PROCESS,
    "process": Operation.PROCESS,
    "settle": Operation.SETTLE,
    "ack": Operation.SETTLE,
    "nack": Operation.SETTLE,
}
GIVEN_BACK: Final = frozenset({"nack", "reject", "abandon", "release", "requeue"})

OPERATION_NAMES: Final = ("messaging.operation.type", "messaging.operation", "messaging.operation.name")
RETURN_NAMES: Final = ("messaging.operation.name", *OPERATION_NAMES)
DESTINATION_NAMES: Final = ("messaging.destination.name", "messaging.destination", "kafka.topic")
PARTITION_NAMES: Final = (
    "messaging.destination.partition.id",
    "messaging.kafka.destination.partition",
    "messaging.kafka.partition",
)
OFFSET_NAMES: Final = ("messaging.kafka.offset", "messaging.kafka.message.offset")
ID_NAMES: Final = ("messaging.message.id", "messaging.message_id")
ORDERING_NAMES: Final = (
    "messaging.kafka.message.key",
    "messaging.kafka.message_key",
    "kafka.key",
    "messaging.gcp_pubsub.message.ordering_key",
    "messaging.rocketmq.message.group",
)
GROUP_NAMES: Final = (
    "messaging.consumer.group.name",
    "messaging.kafka.consumer.group",
    "messaging.kafka.consumer_group",
)
ATTEMPT_NAMES: Final = ("messaging.gcp_pubsub.message.delivery_attempt",)
BATCH_NAMES: Final = ("messaging.batch.message_count",)
CLIENT_NAMES: Final = ("messaging.client.id", "messaging.client_id", "messaging.kafka.client_id")
INSTANCE_NAMES: Final = ("service.instance.id",)
SERVICE_NAMES: Final = ("service.name",)
SINGLE_NAMES: Final = (*OFFSET_NAMES, *ID_NAMES, *ORDERING_NAMES, *ATTEMPT_NAMES)
"""What a span with several messages does not say of each of them."""

SEVERAL: Final = 2
"""Of how many messages a span is, if of more than one."""
REPEATED: Final = arrow.dictionary(arrow.int32(), arrow.large_string())
"""Texts of which there are few."""
SPANS: Final = arrow.schema(
    [
        ("row", arrow.int64()),
        ("context", arrow.int32()),
        ("parent", arrow.int32()),
        ("consumer", arrow.bool_()),
        ("start", arrow.int64()),
        ("entity", REPEATED),
        ("operation", arrow.int8()),
        ("given_back", arrow.bool_()),
        ("count", arrow.int8()),
        ("facts", arrow.int32()),
    ]
)
"""A span about messages: its line, the places of its context and of that of its parent, whether its kind is that of a
consumer, when it starts in nanoseconds, who has it, what it does, of how many messages (at most `SEVERAL`), and the
place of what it says of its message.
"""
LINKS: Final = arrow.schema(
    [
        ("span", arrow.int32()),
        ("context", arrow.int32()),
        ("dropped", arrow.int64()),
        ("single", arrow.int32()),
        ("batch", arrow.int32()),
    ]
)
"""A link of one of these spans: the place of the span and of the context, how many other links of the span were
dropped, and the places of what both say of the message: if it is the one message of the span, and if it is one of
several.
"""
FACTS: Final = arrow.schema(
    [
        ("id", arrow.large_string()),
        ("topic", REPEATED),
        ("partition", REPEATED),
        ("position", arrow.int64()),
        ("key", arrow.large_string()),
        ("consumer_group", REPEATED),
        ("redelivered", arrow.bool_()),
        ("problem", arrow.string()),
    ]
)
"""What attributes say of a message. `problem`: what is wrong with them, as JSON."""


@dataclass(frozen=True, slots=True)
class Part:
    """The spans of a part of a file."""

    contexts: Column
    """The contexts of all of them, and those that they name, each once."""
    known: Int64
    """The places of their own contexts."""
    spans: pa.Table
    """Those about messages."""
    links: pa.Table
    facts: pa.Table
    by_service: int = 0
    """How many spans name no more than a service."""
    other_operations: int = 0
    """How many spans were left out that have an operation which is not known."""


def records_of(facts: pa.Table) -> Column:
    """What names the records of a partitioned log that attributes speak of; null where they speak of none."""
    topic, partition = (_quoted(facts[name].combine_chunks()) for name in ("topic", "partition"))
    offset = pc.cast(facts["position"].combine_chunks(), arrow.large_string())
    return pc.binary_join_element_wise(topic, partition, offset, arrow.scalar("/", arrow.large_string()))


def _quoted(texts: Column) -> Column:
    names = [quote(text, safe="") for text in texts.dictionary.to_pylist()]
    return arrow.array(names, arrow.large_string()).take(texts.indices)
