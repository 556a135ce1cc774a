"""Executions of an exploration in columns, put together from the histories of their entities.

A history is written into columns once. An execution is a row of numbers of histories, and its columns are gathered from
theirs.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Any, Final, NamedTuple

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
    Int64,
    offsets_of,
)
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.core.formula import Attribute
from precedes.core.transposition import batch_of
from precedes.protocol.exploration.histories import Entry, Histories
from precedes.protocol.model import TICK, Message, Protocol

NEVER_SENT: Final = -2
_SEND: Final = EVENT_CODES[EventKind.SEND]
_DELIVER: Final = EVENT_CODES[EventKind.DELIVER]

LETTERS: Final = 26
"""Up to so many entities the names of messages are in the order of their senders."""


class _Event(NamedTuple):
    kind: int
    message: int
    time: int
    entry: Entry


class _Lists:
    """Lists of numbers, one after the other."""

    def __init__(self) -> None:
        self._values = array("q")
        self._offsets = array("q", [0])
        self._added: list[Sequence[int]] = []
        """Lists that are not among the values yet: many are added one by one."""

    def add(self, values: Sequence[int]) -> None:
        """Add a list."""
        self._added.append(values)

    def _arrays(self) -> tuple[Int64, Int64]:
        """All values, and where each list begins and ends; views, which are not kept."""
        if self._added:
            ends = accumulate(map(len, self._added), initial=len(self._values))
            self._offsets.extend(islice(ends, 1, None))
            self._values.extend(chain.from_iterable(self._added))
            self._added.clear()
        return np.asarray(memoryview(self._values)), np.asarray(memoryview(self._offsets))

    def counts(self, lists: npt.NDArray[Any]) -> Int64:
        """The lengths of some lists."""
        _, offsets = self._arrays()
        lengths: Int64 = offsets[lists + 1] - offsets[lists]
        return lengths

    def gathered(self, lists: npt.NDArray[Any]) -> Int64:
        """The entries of some lists, one list after the other."""
        values, offsets = self._arrays()
        counts = offsets[lists + 1] - offsets[lists]
        starts = offsets[lists] - offsets_of(counts)[:-1]
        places = np.repeat(starts, counts) + np.arange(int(counts.sum()))
        gathered: Int64 = values[places]
        return gathered


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The messages of executions, each with its local number.

    offsets     E + 1  into the M messages
    messages    M      the numbers of the messages, by name within their execution
    send_times  M
    first       E x n  where the sends of an entity begin in `sent`
    sent        M      the messages by sender, in the order of sending
    numbers     M      aligned with `sent`: their local numbers
    sender, place      of every message: its sender, and how many this one sent before
    """

    offsets: Int64
    messages: Int64
    send_times: Int64
    first: Int64
    sent: Int64
    numbers: Int64
    sender: Int64
    place: Int64

    def local(self, messages: Int64, counts: Int64) -> Int32:
        """The local numbers of messages in the histories of all entities, each of which has so many of them; NOBODY for
        none, and `NEVER_SENT`.
        """
        entities = self.first.shape[1]
        found = np.full(len(messages), NOBODY, np.int32)
        some = np.flatnonzero(messages != NOBODY)
        execution = (np.repeat(np.arange(len(counts)), counts) // entities)[some]
        wanted = messages[some]
        sender = self.sender[wanted]
        first = self.first[execution, np.minimum(sender, entities - 1)]
        there = np.where(sender < entities, first + self.place[wanted], len(self.sent))
        inside = np.minimum(there, max(len(self.sent) - 1, 0))
        was_sent = (there < len(self.sent)) & (self.sent[inside] == wanted) if len(self.sent) else there < 0
        found[some] = NEVER_SENT
        found[some[was_sent]] = self.numbers[there[was_sent]]
        return found

    def never_sent(self, local: Int32) -> bool:
        """Whether one of them was never sent."""
        return bool(len(local)) and int(local.min()) == NEVER_SENT


class ExecutionColumns:
    """Makes batches of executions of one protocol from numbered histories."""

    def __init__(
        self, protocol: Protocol[Any], histories: Histories, logs: Sequence[tuple[Entry, ...]]
    ) -> None:
        """`logs` are the histories by their numbers; there may be more of them later."""
        self._logs = logs
        self._histories = histories
        names = histories.names
        self._delta = None if protocol.lifetime is None else protocol.lifetime * TICK
        self._order = np.array(sorted(range(len(names)), key=names.__getitem__))
        self._rank = np.argsort(self._order)
        self._entity_names = np.array([names[e] for e in self._order], np.object_)
        self._events: dict[int, _Event] = {}
        """What is known of events, by their identity. Each is kept, so that no other has it."""
        self._messages: dict[Message, int] = {}
        self._message_names: list[str] = []
        self._sender = array("q")
        self._place = array("q")
        self._destinations = _Lists()
        self._carried: list[Mapping[Attribute, str | int]] = []
        self._kinds, self._of_events, self._times = _Lists(), _Lists(), _Lists()
        self._sent, self._sent_times, self._named = _Lists(), _Lists(), _Lists()
        self._delivered, self._delivered_times, self._repeated = _Lists(), _Lists(), _Lists()
        self._clock_sizes, self._clocks = _Lists(), _Lists()
        self._places = np.zeros(0, np.int64)
        """The place of each history in the lists, -1 for one that is not written yet."""
        self._written = 0
        self._has_views = self._has_clocks = False

    def batch(self, keys: npt.NDArray[np.int32], *, interleaved: bool) -> Batch:
        """The executions whose entities have these histories (E x n).

        PrecedesError where a message is delivered that nobody was asked to send.
        """
        places = self._places_of(keys)
        if self._has_views or keys.shape[1] > LETTERS:
            return batch_of([self._execution(row, str(x), interleaved) for x, row in enumerate(keys)])
        return self._gathered(keys, places, interleaved=interleaved)

    def _places_of(self, keys: npt.NDArray[np.int32]) -> Int64:
        """The places of histories in the lists; those that are new are written."""
        more = len(self._logs) - len(self._places)
        self._places = np.concatenate((self._places, np.full(more, -1, np.int64)))
        distinct = np.unique(keys)
        for log in distinct[self._places[distinct] < 0].tolist():
            self._write(self._logs[log])
            self._places[log] = self._written
            self._written += 1
        places: Int64 = self._places[keys]
        return places

    def _execution(self, key: npt.NDArray[np.int32], name: str, interleaved: bool) -> Any:
        logs = [self._logs[log] for log in key.tolist()]
        return self._histories.execution(logs, name, interleaved=interleaved)

    # ---- histories ----

    def _message(self, message: Message) -> int:
        number = self._messages.setdefault(message, len(self._message_names))
        if number == len(self._message_names):
            self._message_names.append(message.name)
            self._sender.append(message.sender)
            self._place.append(message.number - 1)
            self._destinations.add(sorted(int(self._rank[k]) for k in message.destinations))
            self._carried.append(self._histories.carried(message))
        return number

    def _event(self, entry: Entry) -> _Event:
        """The numbers of an event. It is the same object in every history that has it, and is looked at once."""
        number = NOBODY if entry.message is None else self._message(entry.message)
        time = MISSING_TIME if entry.time is None else entry.time * TICK
        self._has_views = self._has_views or entry.kind is EventKind.VIEW
        self._has_clocks = self._has_clocks or entry.clock is not None
        known = self._events[id(entry)] = _Event(EVENT_CODES[entry.kind], number, time, entry)
        return known

    def _write(self, log: tuple[Entry, ...]) -> None:
        sent: dict[int, int] = {}
        delivered: dict[int, int] = {}
        repeated: set[int] = set()
        kinds, messages, times = [], [], []
        for entry in log:
            kind, number, time, _ = self._events.get(id(entry)) or self._event(entry)
            kinds.append(kind)
            messages.append(number)
            times.append(time)
            if kind == _SEND:
                sent.setdefault(number, time)
            elif kind == _DELIVER:
                if number in delivered:
                    repeated.add(number)
                delivered.setdefault(number, time)
        self._kinds.add(kinds)
        self._of_events.add(messages)
        self._times.add(times)
        self._sent.add(list(sent))
        self._sent_times.add(list(sent.values()))
        names = [self._message_names[message] for message in sent]
        self._named.add(sorted(range(len(sent)), key=names.__getitem__))
        self._delivered.add(list(delivered))
        self._delivered_times.add(list(delivered.values()))
        self._repeated.add([m in repeated for m in delivered])
        clocks = [entry.clock for entry in log] if self._has_clocks else [None] * len(log)
        self._clock_sizes.add([NOBODY if clock is None else len(clock) for clock in clocks])
        self._clocks.add([clock[k] for clock in clocks if clock is not None for k in self._order])

    # ---- executions ----

    def _gathered(self, keys: npt.NDArray[np.int32], places: Int64, *, interleaved: bool) -> Batch:
        executions, entities = keys.shape
        logs = places[:, self._order].ravel()
        numbers = self._numbered(places)
        messages = numbers.messages
        event_counts = self._kinds.counts(logs)
        of_events = numbers.local(self._of_events.gathered(logs), event_counts)
        if numbers.never_sent(of_events):
            for x, row in enumerate(keys):
                self._execution(row, str(x), interleaved)
        return Batch(
            names=np.array([str(x) for x in range(executions)], np.object_),
            unknown=np.zeros(executions, np.int32),
            contradictions={},
            entity_offsets=offsets_of([entities] * executions),
            entity_names=np.tile(self._entity_names, executions),
            message_offsets=numbers.offsets,
            message_names=np.array(self._message_names, np.object_)[messages],
            sender=self._rank[np.array(self._sender)[messages]].astype(np.int32),
            send_logged=np.ones(len(messages), np.bool_),
            send_position=np.array(self._place)[messages].astype(np.int32),
            send_time=numbers.send_times,
            to_all=np.zeros(len(messages), np.bool_),
            destination_offsets=offsets_of(self._destinations.counts(messages)),
            destinations=self._destinations.gathered(messages).astype(np.int32),
            sent_offsets=offsets_of(self._sent.counts(logs)),
            sent=numbers.local(self._sent.gathered(logs), self._sent.counts(logs)),
            delivered_offsets=offsets_of(self._delivered.counts(logs)),
            delivered=numbers.local(self._delivered.gathered(logs), self._delivered.counts(logs)),
            delivered_time=self._delivered_times.gathered(logs),
            repeated=self._repeated.gathered(logs).astype(np.bool_),
            event_offsets=offsets_of(event_counts),
            event_kind=self._kinds.gathered(logs).astype(np.int8),
            event_message=of_events,
            event_time=self._times.gathered(logs),
            delta=self._delta,
            interleaved=None if interleaved else np.zeros(len(logs), np.bool_),
            clocks=self._clocks_of(logs),
            attributes=self._attributes(messages),
        )

    def _numbered(self, keys: Int64) -> _Numbers:
        senders = keys.ravel()
        counts = self._sent.counts(senders)
        first = offsets_of(counts)[:-1]
        offsets = offsets_of(counts.reshape(keys.shape).sum(axis=1))
        in_order = np.repeat(first, counts) + self._named.gathered(senders)
        local = np.empty(len(in_order), np.int64)
        local[in_order] = np.arange(len(in_order)) - np.repeat(offsets[:-1], np.diff(offsets))
        sent = self._sent.gathered(senders)
        return _Numbers(
            offsets=offsets,
            messages=sent[in_order],
            send_times=self._sent_times.gathered(senders)[in_order],
            first=first.reshape(keys.shape),
            sent=sent,
            numbers=local,
            sender=np.array(self._sender, np.int64),
            place=np.array(self._place, np.int64),
        )

    def _clocks_of(self, logs: Int64) -> Clocks | None:
        if not self._has_clocks:
            return None
        sizes = self._clock_sizes.gathered(logs)
        entities = np.arange(len(self._order), dtype=np.int32)
        recorded = sizes != NOBODY
        return Clocks(
            recorded=recorded,
            counted=np.zeros(len(sizes), np.bool_),
            offsets=offsets_of(np.maximum(sizes, 0)),
            entities=np.tile(entities, int(recorded.sum())),
            counts=self._clocks.gathered(logs),
        )

    def _attributes(self, messages: Int64) -> Attributes:
        declared = sorted({each for carried in self._carried for each in carried}, key=lambda one: one.name)
        if not declared:
            return NO_ATTRIBUTES
        texts: dict[str, int] = {}
        values = np.full((len(declared), len(self._carried)), NOT_RECORDED, np.int64)
        for row, attribute in enumerate(declared):
            for place, carried in enumerate(self._carried):
                value = carried.get(attribute)
                if isinstance(value, str):
                    values[row, place] = texts.setdefault(value, len(texts))
                elif value is not None:
                    values[row, place] = value
        return Attributes(tuple(declared), values[:, messages], np.array([*texts], np.object_))
