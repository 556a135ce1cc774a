"""What mosquitto_sub prints: with `-F %j` or `-F %J` a JSON object for each message, as sub_client_output.c writes it,
and with another format a line.

The packet identifier `mid` counts what one connection receives, and is not the name of a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.mosquitto_sub_lines import pattern_of, records
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import Fields, at, first_object, text, translated, whole
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "format": "what `-F` said, such as `%U %q %r %x %t`; by default %j or %J. What -v prints is `%t %p`",
    "message": "the field that names a message, such as `payload.id` or `properties.user-properties.id`; needed",
    "sender": "the field that names the sender, such as `properties.user-properties.client`; by default it is unknown",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the subscriber that wrote the file; by default the name of the file",
}

_AS_JSON: Final = ("%j", "%J")
_FIELDS: Final = frozenset({"tst", "topic", "qos", "retain", "payloadlen"})
_TIME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]{6})?)Z?([+-][0-9]{2})([0-9]{2})")
"""Local time, in JSON a Z that does not mean UTC, and what the local time is ahead of UTC."""


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with a message that mosquitto_sub printed."""
    found = first_object(start)
    return found is not None and found.keys() >= _FIELDS


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    common: Row = {
        "execution": rows.execution_of(source),
        "entity": rows.entity_of(source),
        "event": "deliver",
    }
    message, sender = source.setting("message"), source.setting("sender")

    def rows_of(record: Fields) -> Iterator[Row]:
        if not message:
            raise RowError(
                "T023", "nothing names this message", "say which field does: --set message=payload.id"
            )
        yield common | {
            "message": _id_at(record, message),
            "sender": _id_at(record, sender) if sender else rows.SOMEBODY,
            **_about(record, needed),
        }

    written = source.setting("format", _AS_JSON[0])
    found: Iterator[tuple[int, Fields]]
    if written in _AS_JSON:
        needed, found = _FIELDS, rows.objects(source)
    else:
        pattern = pattern_of(written)
        needed, found = frozenset(pattern.groupindex), records(source, pattern)
    yield from rows.tables(source, translated(source, found, rows_of), notices)


def _about(record: Fields, needed: frozenset[str]) -> Row:
    """What a record says beside the name of its message; `needed` are the fields that it has. Raises RowError."""
    row: Row = {}
    if "tst" in needed:
        row["time"] = _time(text(record, "tst"))
    if "seconds" in needed:
        row["time"] = text(record, "seconds")
    if "topic" in needed:
        row["topic"] = text(record, "topic")
    if "qos" in needed:
        row["qos"] = whole(record, "qos")
    if "retain" in needed:
        row["retained"] = whole(record, "retain") > 0
    return row


def _id_at(record: Fields, path: str) -> str:
    """The id that stands in a field of a record. Raises RowError."""
    found = at(record, path)
    if found is None or found == "":
        raise RowError("T023", f"`{path}` is missing", "let publishers set it on every message")
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise RowError("T012", f"`{path}` is {shown(found)}", "it is a text or a whole number")
    return str(found)


def _time(written: str) -> str:
    match = _TIME.fullmatch(written)
    if match is None:
        raise RowError("T016", f"`tst` is {shown(written)}", "such as 2026-11-27T10:15:30.123456Z+0000")
    return "{}{}:{}".format(*match.groups())
