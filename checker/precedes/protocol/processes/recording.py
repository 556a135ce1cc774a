"""What a process records of an execution: a file of rows for each entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from precedes.core.execution import EventKind
from precedes.protocol.exploration.histories import Entry, view_id
from precedes.protocol.model import TICK, Protocol
from precedes.protocol.validation.carried_values import CarriedValues, written

_SECOND: Final = 10**9


def path_of(folder: str, ticket: int, entity: int) -> Path:
    """Where the rows of an entity stand."""
    return Path(folder) / f"{ticket}-{entity}.jsonl"


def rows_of(
    protocol: Protocol[Any], entities: int, entity: int, history: Sequence[Entry]
) -> Iterator[dict[str, object]]:
    """The rows of an entity's history, without the name of the execution. A tick is a microsecond, as in a
    simulation.
    """
    names = [protocol.name_of(each) for each in range(entities)]
    carried = CarriedValues(protocol)
    for seq, entry in enumerate(history):
        row: dict[str, object] = {"entity": names[entity], "seq": seq, "event": entry.kind.value}
        if entry.message is not None:
            row["message"] = entry.message.name
        if entry.kind is EventKind.SEND and entry.message is not None:
            row["dest"] = [names[each] for each in sorted(entry.message.destinations)]
            row |= {
                attribute.name: written(attribute, value)
                for attribute, value in carried.of(entry.message).items()
            }
        if entry.time is not None:
            row["time"] = entry.time * TICK / _SECOND
        if entry.clock is not None:
            row["clock"] = dict(zip(names, entry.clock, strict=True))
        if entry.members is not None:
            row["view"] = view_id(entry.members, names)
            row["members"] = [names[each] for each in sorted(entry.members)]
        yield row
