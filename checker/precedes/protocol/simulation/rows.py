"""Simulated executions as rows of the canonical table, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.execution import EVENT_CODES, EventKind
from precedes.core.formula import Attribute
from precedes.protocol.exploration.histories import Entry, view_id
from precedes.protocol.model import TICK, Message, Protocol
from precedes.protocol.validation.carried_values import CarriedValues, written
from precedes.traces.arrow import arrow
from precedes.traces.schema import column_of, kept_schema

_READ_IN: Final = "simulation"
"""What stands for the file in which a row was read."""


class Rows:
    """Rows as they grow. Message by message and entity by entity their names are made once."""

    def __init__(self, entities: int, attributes: Sequence[Attribute] = ()) -> None:
        """`attributes` are those that the models declare."""
        self._entities = entities
        self._attributes = tuple(dict.fromkeys(attributes))
        self._values: list[list[str | None]] = [[] for _ in self._attributes]
        self._execution: list[str] = []
        self._counts: list[int] = []
        self._entity: list[str] = []
        self._seq: list[int] = []
        self._event: list[int] = []
        self._message: list[str | None] = []
        self._dest: list[list[str] | None] = []
        self._time: list[int | None] = []
        self._clock: list[list[tuple[str, int]] | None] = []
        self._members: list[list[str] | None] = []
        self._view: list[str | None] = []
        self._messages: dict[tuple[int, int], str] = {}
        self._sets: dict[tuple[type[Protocol[Any]], frozenset[int]], list[str]] = {}

    def add(self, protocol: Protocol[Any], name: str, histories: Sequence[Sequence[Entry]]) -> None:
        """The rows of one execution."""
        names = [protocol.name_of(entity) for entity in range(self._entities)]
        carried = CarriedValues(protocol)
        self._execution.append(name)
        self._counts.append(sum(map(len, histories)))
        for entity, history in zip(names, histories, strict=True):
            self._entity += [entity] * len(history)
            self._seq += range(len(history))
            for entry in history:
                self._event.append(EVENT_CODES[entry.kind])
                self._message.append(None if entry.message is None else self._name(entry.message))
                sends = entry.kind is EventKind.SEND and entry.message is not None
                self._dest.append(self._set(protocol, entry.message.destinations) if sends else None)  # type: ignore[union-attr]
                self._time.append(None if entry.time is None else entry.time * TICK)
                self._clock.append(
                    None if entry.clock is None else sorted(zip(names, entry.clock, strict=True))
                )
                self._members.append(None if entry.members is None else self._set(protocol, entry.members))
                self._view.append(None if entry.members is None else view_id(entry.members, names))
                if self._attributes:
                    self._carry(carried.of(entry.message) if sends and entry.message is not None else {})

    def table(self) -> pa.Table:
        """The rows of the canonical table, what messages carry as text."""
        rows = len(self._event)
        columns: dict[str, Any] = {
            "execution": arrow.array(self._execution).take(
                arrow.array(np.repeat(np.arange(len(self._counts)), self._counts))
            ),
            "entity": self._entity,
            "seq": self._seq,
            "event": self._event,
            "message": self._message,
            "dest": self._dest,
            "time": self._time,
            "clock": self._clock,
            "members": self._members,
            "view": self._view,
            "file": arrow.repeat(_READ_IN, rows),
            "row": np.arange(1, rows + 1),
            "file_order": np.zeros(rows, np.int32),
            **{column_of(each): values for each, values in zip(self._attributes, self._values, strict=True)},
        }
        schema = kept_schema(sorted(map(column_of, self._attributes)))
        arrays = [
            arrow.nulls(rows, field.type)
            if field.name not in columns
            else _column(columns[field.name], field.type)
            for field in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _carry(self, carried: Mapping[Attribute, str | int]) -> None:
        for attribute, values in zip(self._attributes, self._values, strict=True):
            value = carried.get(attribute)
            values.append(None if value is None else written(attribute, value))

    def _name(self, message: Message) -> str:
        key = (message.sender, message.number)
        name = self._messages.get(key)
        if name is None:
            name = self._messages[key] = message.name
        return name

    def _set(self, protocol: Protocol[Any], members: frozenset[int]) -> list[str]:
        key = (type(protocol), members)
        names = self._sets.get(key)
        if names is None:
            names = self._sets[key] = sorted(protocol.name_of(entity) for entity in members)
        return names


def _column(values: Any, kind: pa.DataType) -> Any:
    if isinstance(values, pa.Array):
        return values
    return arrow.array(values, kind)
