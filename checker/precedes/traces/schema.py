"""The canonical table of rows: which columns there are, of which types, and which of them an input must have.

Every reader ends in this schema, every other part of the package starts from it. Ids are text; an absent
value is null; `dest` null is "every entity", an empty list is "nobody", and an entry of it may name a group
(`TO_GROUP`). `event` is the index of the kind in
`EventKind`. `time` is in nanoseconds. A recorded clock that names its entities is in `clock`; one that is a
bare list is in `vector`, its k-th number belonging to the k-th entity of the cluster (see
`precedes.traces.assembly.clocks`). What messages carry follows in a column for each attribute that is asked for
(`schema_of`), whose name begins with `ATTRIBUTE`: an attribute may be called `row`. `file` and `row` say where a row
was read: `row` counts lines (JSON Lines), records with the header as row 1 (CSV), or rows (Parquet), from 1.
`file_order` numbers the files in the order in which they were named, so that the order of rows can be found again after
a shuffle. `by_time` is true where only its time puts a row after the one before it of its entity: its log has no other
order. All fields may be null as far as Arrow knows, for Spark cannot say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa

from precedes.core.execution import EventKind
from precedes.core.formula import Attribute, AttributeSort

EVENT_NAMES: Final = tuple(kind.value for kind in EventKind)

ID_COLUMNS: Final = ("execution", "entity", "message", "sender", "view")
ID_LIST_COLUMNS: Final = ("dest", "members", "group")
REQUIRED_COLUMNS: Final = ("execution", "entity", "event")
NEEDED_COLUMNS: Final = (*REQUIRED_COLUMNS, "message")
"""What rows of nearly every trace have."""

CODED_IDS: Final = ("execution", "entity", "message")
CODED: Final = (*CODED_IDS, "file")
"""What a canonical table may have as dictionaries of texts, where its reader asks for them: see `TraceSource.coded`."""

INPUT_COLUMNS: Final = (
    "execution",
    "entity",
    "seq",
    "event",
    "message",
    "dest",
    "sender",
    "time",
    "clock",
    "redelivered",
    "view",
    "members",
    "group",
)
"""The columns that a trace may have, in the order in which they are written."""

WHERE_READ: Final = ("file", "row", "file_order")
BY_TIME: Final = "by_time"

TO_GROUP: Final = "group:"
"""What an entry of `dest` begins with that names a group; the name of the group follows."""

_FIELDS: Final[list[pa.Field[Any]]] = [
    pa.field("execution", pa.string()),
    pa.field("entity", pa.string()),
    pa.field("seq", pa.int64()),
    pa.field("event", pa.int8()),
    pa.field("message", pa.string()),
    pa.field("dest", pa.list_(pa.string())),
    pa.field("sender", pa.string()),
    pa.field("time", pa.int64()),
    pa.field("clock", pa.map_(pa.string(), pa.int64())),
    pa.field("vector", pa.list_(pa.int64())),
    pa.field("redelivered", pa.bool_()),
    pa.field("view", pa.string()),
    pa.field("members", pa.list_(pa.string())),
    pa.field("group", pa.list_(pa.string())),
    pa.field("by_time", pa.bool_()),
    pa.field("file", pa.string()),
    pa.field("row", pa.int64()),
    pa.field("file_order", pa.int32()),
]
TABLE_SCHEMA: Final = pa.schema(_FIELDS)

ATTRIBUTE: Final = "attribute "
"""What the names of columns of attributes begin with in a canonical table."""

REDELIVERED: Final = "redelivered"
STATE: Final = "state."
"""What the columns begin with that a mapping makes of fields of states, if they are asked for."""
"""The attribute of events that is a column of its own: true or false, which formulas read as these texts."""

LIBRARY: Final = frozenset(
    {"channel", "key", "partition", "position", "priority", REDELIVERED, "session", "topic"}
)
"""The attributes that the standard library declares. A column of that name is not told if nobody asks for it."""


def column_of(attribute: Attribute) -> str:
    """The column of an attribute in a canonical table."""
    return f"{ATTRIBUTE}{attribute.name}"


def schema_of(attributes: Sequence[Attribute]) -> pa.Schema:
    """The schema of canonical tables where these attributes are asked for: texts, or int64."""
    return with_columns(
        pa.field(column_of(each), pa.string() if each.sort is AttributeSort.TEXT else pa.int64())
        for each in attributes
    )


def with_columns(fields: Iterable[pa.Field[Any]]) -> pa.Schema:
    """The canonical schema and some columns of attributes."""
    return pa.schema([*_FIELDS, *fields])


def plain(table: pa.Table) -> pa.Table:
    """A canonical table that has texts for dictionaries."""
    for place, field in enumerate(table.schema):
        if field.name in CODED and field.type != pa.string():
            texts = field.with_type(pa.string())
            table = table.set_column(place, texts, table[field.name].cast(pa.string()))
    return table


def kept_schema(columns: Iterable[str]) -> pa.Schema:
    """The schema of canonical tables with these columns, where those of attributes are text."""
    return with_columns(pa.field(name, pa.string()) for name in columns if name.startswith(ATTRIBUTE))


def common_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """The canonical schema and every column of attributes that one of some schemas has, in the order of their names;
    with the dictionaries that all of them have.
    """
    given = list(schemas)
    fields = {field.name: field for schema in given for field in beside(schema)}
    common = with_columns(field for _, field in sorted(fields.items()))
    for name in CODED:
        (kind, *others) = {schema.field(name).type for schema in given}
        if not others:
            place = common.get_field_index(name)
            common = common.set(place, common.field(place).with_type(kind))
    return common


def beside(schema: pa.Schema) -> list[pa.Field[Any]]:
    """The columns of attributes in the schema of a canonical table."""
    return [field for field in schema if field.name.startswith(ATTRIBUTE)]
