"""What clients of NATS JetStream log: the reply subject of each message, and the acknowledgement of each publish.

The tokens of a reply subject are those of nats.go, internal/parser/parse.go, and of NATS ADR 15.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import Fields, first_object, number, text, translated, whole
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the client that wrote the file; by default the name of the file",
}

_BEGINNING: Final = "$JS.ACK."
_TOKENS: Final = 9
"""Of a subject of the first version; the second has two more in front, and may have a third at the end."""
_MORE_TOKENS: Final = (11, 12)
_NO_DOMAIN: Final = "_"


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with a message that has a reply subject of JetStream."""
    found = first_object(start)
    return found is not None and str(found.get("reply")).startswith(_BEGINNING)


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    common: Row = {"execution": rows.execution_of(source), "entity": rows.entity_of(source)}

    def rows_of(line: Fields) -> Iterator[Row]:
        timed = common | {"time": line.get("time")}
        yield timed | (_delivered(line) if line.get("reply") is not None else _published(line))

    yield from rows.tables(source, translated(source, rows.objects(source), rows_of), notices)


def _delivered(line: Fields) -> Row:
    reply = text(line, "reply")
    tokens = reply.split(".")
    if not reply.startswith(_BEGINNING) or (len(tokens) != _TOKENS and len(tokens) not in _MORE_TOKENS):
        raise RowError(
            "T012", f"`reply` is {shown(reply)}", f"it is {_BEGINNING}STREAM.CONSUMER and five numbers"
        )
    domain = _NO_DOMAIN if len(tokens) == _TOKENS else tokens[2]
    place = 2 if len(tokens) == _TOKENS else 4
    stream, consumer, *counts = tokens[place : place + 7]
    names = ("delivered", "stream sequence", "consumer sequence", "time", "pending")
    delivered, position, of_consumer, stored, pending = (
        number(digits, f"reply: {name}") for digits, name in zip(counts, names, strict=True)
    )
    return _named(domain, stream, position) | {
        "event": "deliver",
        "sender": rows.SOMEBODY,
        "topic": line.get("subject"),
        "redelivered": delivered > 1,
        "consumer": consumer,
        "consumer_sequence": of_consumer,
        "attempt": delivered,
        "pending": pending,
        "store_time": rows.seconds(stored),
    }


def _published(line: Fields) -> Row:
    """The acknowledgement of a publish. A duplicate was not stored: its sequence number is that of the first."""
    if line.get("stream") is None:
        raise RowError(
            "T023",
            "nothing names this message: it has neither `reply`, with a subject of JetStream, nor `stream` and `seq`",
            "log the reply subject of each message, and the acknowledgement of each publish",
        )
    duplicate = line.get("duplicate", False)
    if not isinstance(duplicate, bool):
        raise RowError("T012", f"`duplicate` is {shown(duplicate)}", "it is true or false")
    domain = text(line, "domain") if line.get("domain") is not None else _NO_DOMAIN
    named = _named(domain, text(line, "stream"), whole(line, "seq"))
    if duplicate:
        return {"event": "local"}
    return named | {"event": "send", "dest": list(rows.TO_SOMEBODY), "topic": line.get("subject")}


def _named(domain: str, stream: str, position: int) -> Row:
    """The name of a message: where it stands in its stream. Streams and domains have no `/` in their names."""
    within = "" if domain == _NO_DOMAIN else f"{domain}/"
    if not stream:
        raise RowError("T014", "the name of the stream is an empty text")
    if "/" in domain + stream:
        raise RowError("T012", f"the name of the stream is {shown(within + stream)}", "names have no `/`")
    return {"message": f"{within}{stream}@{position}", "position": position}
