"""What the logs of Kafka's tools have in common: the name of a record, and what it carries."""

from __future__ import annotations

from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import Fields, text, whole


def name_of(topic: str, partition: int, offset: int) -> str:
    """The name of a record: where it stands in the log of its partition. No two records have one."""
    return f"{topic}-{partition}@{offset}"


def place(topic: str, partition: int, offset: int) -> Row:
    """The name of a record as the message, and its place as attributes."""
    return {
        "message": name_of(topic, partition, offset),
        "topic": topic,
        "partition": str(partition),
        "position": offset,
    }


def placed(record: Fields) -> Row:
    """The same of a JSON object with `topic`, `partition` and `offset`. Raises RowError."""
    return place(text(record, "topic"), whole(record, "partition"), whole(record, "offset"))
