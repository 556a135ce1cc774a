"""CloudEvents as their receiver logged them: JSON objects in structured mode, one on each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from precedes.traces.foreign import rows
from precedes.traces.foreign.rows import Row
from precedes.traces.foreign.typed_fields import Fields, chosen, first_object, number, text, translated
from precedes.traces.formats.values import RowError, shown
from precedes.traces.notices import Notices
from precedes.traces.sources import TraceSource

SETTINGS: Final = {
    "sequence": "`text`: the extension `sequence` is not read; `numbers`: it is a whole number, and the events of a "
    "source were sent in this order",
    "execution": "the execution of these rows; by default the name of the file or of its folder",
    "entity": "the receiver that wrote the file; by default the name of the file",
}

_REQUIRED: Final = frozenset({"specversion", "id", "source", "type"})
_TEXT, _NUMBERS = "text", "numbers"


def recognizes(start: str, name: str) -> bool:
    """Whether a file begins with an object that has what every CloudEvent has."""
    found = first_object(start)
    return found is not None and found.keys() >= _REQUIRED


def read(source: TraceSource, notices: Notices) -> Iterator[pa.Table]:
    """Canonical tables of a file. Raises PrecedesError."""
    execution, entity = rows.execution_of(source), rows.entity_of(source)
    by_number = chosen(source, "sequence", (_TEXT, _NUMBERS)) == _NUMBERS
    sent: set[tuple[object, int]] = set()

    def rows_of(event: Fields) -> Iterable[Row]:
        sender, carried = _carried(event)
        carried |= {"execution": execution}
        delivery = carried | {"entity": entity, "event": "deliver", "sender": sender}
        if not by_number:
            return [delivery]
        position = number(text(event, "sequence"), "sequence")
        delivery |= {"position": position}
        if (carried["message"], position) in sent:
            return [delivery]
        sent.add((carried["message"], position))
        send: Row = {"entity": sender, "event": "send", "seq": position, "dest": list(rows.TO_SOMEBODY)}
        return [carried | {"position": position} | send, delivery]

    yield from rows.tables(source, translated(source, rows.objects(source), rows_of), notices)


def _carried(event: Fields) -> tuple[str, Row]:
    """The source of an event, and what names it and what it carries. Raises RowError."""
    text(event, "specversion")
    sender, name, kind = text(event, "source"), text(event, "id"), text(event, "type")
    if any(character.isspace() for character in sender):
        # So that the first space ends the source in the name of a message.
        raise RowError("T012", f"`source` is {shown(sender)}", "it is a URI reference, which has no spaces")
    return sender, {
        "message": f"{sender} {name}",
        "key": event.get("partitionkey"),
        "type": kind,
        "subject": event.get("subject"),
    }
