"""What the logs of Kafka's tools have in common: the name of a record, and what it carries."""

from __future__ import annotations

from collections.abc import Mapping

from precedes.traces.arrow import Column, pc
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.slices import Columns, certain, is_text, is_whole, joined, seconds, where
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


def placed_columns(topic: Column, partition: Column, offset: Column) -> Columns:
    """`placed` of columns of records. Raises Irregular."""
    certain(is_text(topic), is_whole(partition), is_whole(offset))
    return {
        "message": joined(topic, "-", partition, "@", offset),
        "topic": topic,
        "partition": joined(partition),
        "position": offset,
    }


def time_columns(names: Mapping[str, str], kind: Column, milliseconds: Column) -> Columns:
    """Times of records, each in the column for its kind; other kinds have none. Raises Irregular."""
    found: Columns = {}
    for each, name in names.items():
        here = pc.fill_null(pc.equal(kind, each), False)
        if pc.any(here).as_py():
            certain(pc.or_(pc.invert(here), is_whole(milliseconds)))
            found[name] = where(here, seconds(pc.if_else(here, milliseconds, 0)))
    return found
