"""Which tables generated code builds for an execution, from what, and how large they are.

A table is one function of `runtime`, called once per execution, before the formula is judged. Its arguments
are found by their names: columns of the batch, scratch columns, and the variables that `emission` sets for
every execution.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final

from precedes.engines.columnar.kernel_columns import columns_read
from precedes.engines.columnar.runtime import events, incomplete, logs, memberships, relations


@dataclass(frozen=True, slots=True)
class Table:
    """`function` is None where scratch columns are not filled in advance. `scratch` maps what the function
    fills to its size (a name in `SIZES`), `result` is the variable for what it returns; `renamed` has the
    variables that do not have the names of the parameters.
    """

    function: Callable[..., Any] | None
    scratch: Mapping[str, str]
    result: str | None = None
    after: tuple[str, ...] = ()
    condition: str | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the function is called with."""
        if self.function is None:
            return ()
        return tuple(self.renamed.get(name, name) for name in inspect.signature(self.function).parameters)

    @property
    def reads(self) -> frozenset[str]:
        """The columns that the function reads."""
        return columns_read(self.function) if isinstance(self.function, FunctionType) else frozenset()

    @property
    def statements(self) -> list[str]:
        """What builds the table."""
        if self.function is None:
            return []
        text = f"{self.function.__name__}({', '.join(self.arguments)})"
        if self.result is not None:
            text = f"{self.result} = {text}"
        return [text] if self.condition is None else [f"if {self.condition}:", f"    {text}"]


RUNTIME: Final = (logs, events, incomplete, relations, memberships)
"""The modules whose functions generated code may call."""

SIZES: Final[tuple[str, ...]] = (
    "seeking",
    "entities",
    "messages",
    "entity_messages",
    "events",
    "event_entities",
    "event_entity_pairs",
    "message_pairs",
)
"""What a scratch column may be as long as: the largest number of these in any execution of the batch, with
some room.
"""

TABLES: Final[dict[str, Table]] = {
    "receipt_position": Table(logs.receipt_positions, {"receipt_position": "entity_messages"}),
    "addressed": Table(logs.addresses, {"addressed": "entity_messages"}),
    "group_addressed": Table(memberships.group_addresses, {}, after=("addressed",)),
    "send_log": Table(logs.send_logs, {"send_log_offsets": "entities", "send_log": "messages"}),
    "numbering": Table(
        events.Numbering,
        {
            "send_event": "messages",
            "delivery_event": "entity_messages",
            "arrival_event": "entity_messages",
            "event_owner": "events",
        },
        result="numbering",
    ),
    "events": Table(events.event_places, {}, result="count", after=("numbering",)),
    "vector": Table(
        events.vector_times,
        {"done": "entities", "vector": "event_entities"},
        result="cycle",
        after=("events",),
    ),
    "row_vector": Table(
        events.row_times,
        {"done": "entities", "row_vector": "event_entities"},
        result="row_cycle",
        after=("events",),
    ),
    "doubt": Table(events.order_doubts, {}, result="doubt"),
    "past": Table(
        events.Past, {}, result="past", after=("vector", "doubt"), renamed={"logged_events": "count"}
    ),
    "row_past": Table(
        events.Past,
        {},
        result="row_past",
        after=("row_vector",),
        renamed={"logged_events": "count", "vector": "row_vector", "cycle": "row_cycle", "doubt": "0"},
    ),
    "row_possible": Table(
        events.row_possible_times,
        {"row_possible": "event_entity_pairs"},
        after=("row_past",),
        condition="row_cycle == 0",
    ),
    "possible": Table(
        events.possible_times,
        {"possible": "event_entity_pairs"},
        after=("past",),
        condition="cycle == 0",
    ),
    "counted": Table(events.counted_events, {"counted": "events"}),
    "counted_rows": Table(events.counted_rows, {"counted": "events"}),
    "misfit": Table(logs.clock_misfit, {}, result="misfit"),
    "arrivals": Table(events.arrivals_recorded, {}, result="arrivals"),
    "seeking": Table(logs.begin_seeking, {"left_steps": "seeking"}),
    "cycles": Table(None, dict.fromkeys(("left", "degree", "waiting", "cycle_messages"), "messages")),
}


def in_order(names: Mapping[str, None]) -> list[str]:
    """The tables with those that they need, each after what it needs."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        for other in TABLES[name].after:
            add(other)
        found[name] = None

    for name in names:
        add(name)
    return list(found)
