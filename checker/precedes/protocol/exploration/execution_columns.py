"""Executions of an exploration in columns, put together from the histories of their entities.

An execution is a row of numbers of histories. What is in the columns follows from the courses of events that these are,
and from what is known of each event and message, which is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from precedes.core.clock_order import Clocks
from precedes.core.columns import (
    MISSING_TIME,
    NO_ATTRIBUTES,
    NOBODY,
    NOT_RECORDED,
    Attributes,
    Batch,
    Int32,
    offsets_of,
)
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.core.formula import Attribute
from precedes.core.transposition import batch_of
from precedes.native.compiled_functions import is_loaded, machine_code
from precedes.protocol.exploration import gathered_columns
from precedes.protocol.exploration.gathered_columns import KNOWN_FIELDS, Gathered, Histories
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.exploration.histories import Histories as HistoryValues
from precedes.protocol.exploration.seen_histories import SeenHistories
from precedes.protocol.model import TICK, Message, Protocol

FEW_EVENTS: Final = 16
"""Room for so many events of an execution in the beginning."""


class _Events:
    """What columns have of the events and messages of an exploration, each in the order of its number.

    sender, to       of each message; `to` are its destinations, one message after the other
    named            of each message: the place of its name among all names
    clocks           of the events that have one; `clock` is its row there
    """

    def __init__(self, values: HistoryValues, rank: Int32) -> None:
        """`rank`: the place of each entity, by name."""
        self.has_views = False
        self.carried: list[Mapping[Attribute, str | int]] = []
        self._values = values
        self._rank = rank
        self._numbers: dict[Message, int] = {}
        self.known = 0
        self.kind, self.message, self.clock = (np.zeros(0, np.int32) for _ in range(3))
        self.time = np.zeros(0, np.int64)
        self.clocks = np.zeros((0, len(rank)), np.int64)
        self.names = np.zeros(0, np.object_)
        self.sender, self.named, self.to = (np.zeros(0, np.int32) for _ in range(3))
        self.to_offsets = np.zeros(1, np.int32)

    def look_at(self, entries: list[Entry]) -> None:
        """Know these events, which come next."""
        if not entries:
            return
        before = len(self._numbers)
        numbers = [NOBODY if entry.message is None else self._number(entry.message) for entry in entries]
        if len(self._numbers) > before:
            self._look_at_messages(list(self._numbers)[before:])
        self.known += len(entries)
        self.has_views = self.has_views or any(entry.kind is EventKind.VIEW for entry in entries)
        recorded = [entry.clock for entry in entries if entry.clock is not None]
        rows = iter(range(len(self.clocks), len(self.clocks) + len(recorded)))
        self.kind = _with(self.kind, [EVENT_CODES[entry.kind] for entry in entries])
        self.message = _with(self.message, numbers)
        times = [MISSING_TIME if entry.time is None else entry.time * TICK for entry in entries]
        self.time = _with(self.time, times)
        self.clock = _with(self.clock, [NOBODY if entry.clock is None else next(rows) for entry in entries])
        if recorded:
            self.clocks = _with(self.clocks, np.array(recorded, np.int64)[:, np.argsort(self._rank)])

    def _number(self, message: Message) -> int:
        return self._numbers.setdefault(message, len(self._numbers))

    def _look_at_messages(self, messages: list[Message]) -> None:
        self.carried += map(self._values.carried, messages)
        self.names = np.concatenate((self.names, np.array([one.name for one in messages], np.object_)))
        self.named = np.unique(self.names, return_inverse=True)[1].astype(np.int32)
        # A sender beyond the cluster is one of a message that nobody in it sent.
        senders = [
            int(self._rank[one.sender]) if one.sender < len(self._rank) else NOBODY for one in messages
        ]
        self.sender = _with(self.sender, senders)
        for message in messages:
            self.to = _with(self.to, sorted(int(self._rank[k]) for k in message.destinations))
            self.to_offsets = _with(self.to_offsets, [len(self.to)])


class ExecutionColumns:
    """Makes batches of executions of one protocol from numbered histories."""

    def __init__(self, protocol: Protocol[Any], values: HistoryValues, seen: SeenHistories) -> None:
        """`seen` has the histories; there may be more of them later."""
        self._seen = seen
        self._values = values
        names = values.names
        self._delta = None if protocol.lifetime is None else protocol.lifetime * TICK
        self._order = np.array(sorted(range(len(names)), key=names.__getitem__))
        self._entity_names = np.array([names[e] for e in self._order], np.object_)
        self._events = _Events(values, np.argsort(self._order).astype(np.int32))
        self._numbers = np.zeros(0, np.object_)
        """The names of executions: their numbers."""
        self._room = FEW_EVENTS
        """About how many events an execution has."""

    def batch(self, keys: Int32, *, interleaved: bool, clocks: bool = True) -> Batch:
        """The executions whose entities have these histories (E x n); without `clocks` none are in the columns.

        PrecedesError where a message is delivered that nobody was asked to send.
        """
        self._events.look_at(list(self._seen.entries[self._events.known :]))
        if self._events.has_views:
            return batch_of([self._execution(row, str(x), interleaved) for x, row in enumerate(keys)])
        return self._gathered(keys, interleaved=interleaved, clocks=clocks)

    def refuse_unsent(self, keys: Int32) -> None:
        """PrecedesError where a message is delivered that nobody was asked to send, in an execution of these."""
        self._events.look_at(list(self._seen.entries[self._events.known :]))
        read = self._read(keys)
        if self._by_machine(gathered_columns.first_unsent):
            unsent = machine_code(gathered_columns.first_unsent)(keys.shape[1], read)
        else:
            unsent = gathered_columns.first_unsent(
                keys.shape[1], Histories(*(each.tolist() for each in read))
            )
        if unsent >= 0:
            self._refuse(keys[unsent])

    def _refuse(self, key: Int32) -> NoReturn:
        """The error of an execution in which a message is delivered that nobody was asked to send."""
        self._execution(key, "refused", True)
        raise AssertionError("what makes executions of values refuses it, too")

    def _execution(self, key: Int32, name: str, interleaved: bool) -> Any:
        logs = [self._seen[log] for log in key.tolist()]
        return self._values.execution(logs, name, interleaved=interleaved)

    def _by_machine(self, function: Any) -> bool:
        return self._seen.table.code.by_machine or is_loaded(function)

    def _read(self, keys: Int32) -> Histories:
        events = self._events
        pasts, courses = self._seen.courses
        return Histories(
            np.ascontiguousarray(keys[:, self._order]).reshape(-1),
            pasts.reshape(-1),
            courses.reshape(-1),
            events.kind,
            events.message,
            events.named,
            events.to_offsets,
            events.to,
            np.zeros(KNOWN_FIELDS * len(events.names), np.int32),
        )

    def _written(self, keys: Int32) -> Gathered:
        """What the compiled function writes."""
        executions, entities = keys.shape
        read = self._read(keys)
        most = int(np.diff(self._events.to_offsets).max(initial=0))
        while True:
            room = self._room * executions
            write = _room(executions, entities, room, room * most)
            count = self._run(entities, read, write)
            if count < 0:
                self._refuse(keys[-1 - count])
            if count <= room:
                return write
            self._room = -(-count // executions)

    def _run(self, entities: int, read: Histories, write: Gathered) -> int:
        if self._by_machine(gathered_columns.gather):
            return int(machine_code(gathered_columns.gather)(entities, read, write))
        # Lists are read and written several times faster than arrays, one element at a time.
        lists = Gathered(*(array.tolist() for array in write))
        count = gathered_columns.gather(entities, Histories(*(array.tolist() for array in read)), lists)
        arrays: tuple[npt.NDArray[Any], ...] = write
        for array, values in zip(arrays, lists, strict=True):
            array[:] = values
        return count

    def _gathered(self, keys: Int32, *, interleaved: bool, clocks: bool) -> Batch:
        executions, entities = keys.shape
        if len(self._numbers) < executions:
            self._numbers = np.array([str(x) for x in range(executions)], np.object_)
        events, written = self._events, self._written(keys)
        of_events = written.events[: written.event_offsets[-1]]
        messages = written.messages[: written.message_offsets[-1]]
        times = events.time[of_events]
        delivered = int(written.delivered_offsets[-1])
        return Batch(
            names=self._numbers[:executions],
            unknown=np.zeros(executions, np.int32),
            contradictions={},
            entity_offsets=np.arange(0, (executions + 1) * entities, entities),
            entity_names=np.tile(self._entity_names, executions),
            message_offsets=written.message_offsets,
            message_names=events.names[messages],
            sender=events.sender[messages],
            send_logged=np.ones(len(messages), np.bool_),
            send_position=written.send_position[: len(messages)],
            send_time=times[written.send_event[: len(messages)]],
            to_all=np.zeros(len(messages), np.bool_),
            destination_offsets=written.destination_offsets[: len(messages) + 1],
            destinations=written.destinations[: written.destination_offsets[len(messages)]],
            sent_offsets=written.sent_offsets,
            sent=written.sent[: written.sent_offsets[-1]],
            delivered_offsets=written.delivered_offsets,
            delivered=written.delivered[:delivered],
            delivered_time=times[written.delivered_event[:delivered]],
            repeated=written.repeated[:delivered],
            event_offsets=written.event_offsets,
            event_kind=events.kind[of_events].astype(np.int8),
            event_message=written.event_message[: len(of_events)],
            event_time=times,
            delta=self._delta,
            interleaved=None if interleaved else np.zeros(executions * entities, np.bool_),
            clocks=self._clocks_of(of_events) if clocks else None,
            attributes=self._attributes(messages),
        )

    def _clocks_of(self, of_events: Int32) -> Clocks | None:
        clocks = self._events.clocks
        if not len(clocks):
            return None
        rows = self._events.clock[of_events]
        recorded = rows != NOBODY
        entities = clocks.shape[1]
        return Clocks(
            recorded=recorded,
            counted=np.zeros(len(rows), np.bool_),
            offsets=offsets_of(np.where(recorded, entities, 0)),
            entities=np.tile(np.arange(entities, dtype=np.int32), int(recorded.sum())),
            counts=clocks[rows[recorded]].reshape(-1),
        )

    def _attributes(self, messages: Int32) -> Attributes:
        of_messages = self._events.carried
        declared = sorted({each for carried in of_messages for each in carried}, key=lambda one: one.name)
        if not declared:
            return NO_ATTRIBUTES
        texts: dict[str, int] = {}
        values = np.full((len(declared), len(of_messages)), NOT_RECORDED, np.int64)
        for row, attribute in enumerate(declared):
            for place, carried in enumerate(of_messages):
                value = carried.get(attribute)
                if isinstance(value, str):
                    values[row, place] = texts.setdefault(value, len(texts))
                elif value is not None:
                    values[row, place] = value
        return Attributes(tuple(declared), values[:, messages], np.array([*texts], np.object_))


def _room(executions: int, entities: int, events: int, destinations: int) -> Gathered:
    """Room for executions with so many events and destinations in all."""
    return Gathered(
        event_offsets=np.zeros(executions * entities + 1, np.int64),
        events=np.empty(events, np.int32),
        event_message=np.empty(events, np.int32),
        message_offsets=np.zeros(executions + 1, np.int64),
        messages=np.empty(events, np.int32),
        send_event=np.empty(events, np.int64),
        send_position=np.empty(events, np.int32),
        destination_offsets=np.zeros(events + 1, np.int64),
        destinations=np.empty(destinations, np.int32),
        sent_offsets=np.zeros(executions * entities + 1, np.int64),
        sent=np.empty(events, np.int32),
        delivered_offsets=np.zeros(executions * entities + 1, np.int64),
        delivered=np.empty(events, np.int32),
        delivered_event=np.empty(events, np.int64),
        repeated=np.zeros(events, np.bool_),
    )


def _with(array: npt.NDArray[Any], more: Any) -> npt.NDArray[Any]:
    """An array with more at its end."""
    return np.concatenate((array, np.asarray(more, array.dtype)))
