"""Every delivery of the executions in columns, and the acknowledgements: what formulas ask of `DL`."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from precedes.core.execution import ACKNOWLEDGEMENT_CODES, EVENT_CODES, EventKind

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]

NEVER: Final = np.iinfo(np.int64).max


class Events(Protocol):
    """The histories of executions, as the columns of kernels have them."""

    @property
    def entity_offsets(self) -> Int64:
        """E + 1 into the N entities."""

    @property
    def event_offsets(self) -> Int64:
        """N + 1 into the events."""

    @property
    def event_kind(self) -> npt.NDArray[np.int8]:
        """The kinds of the events, by their numbers."""

    @property
    def event_message(self) -> Int32:
        """The local messages of the events."""

    @property
    def acknowledging(self) -> Bool:
        """E: it is a part of an execution of which acknowledgements are recorded."""

    @property
    def delivery(self) -> int:
        """The number of the kind that counts as delivery."""


class Deliveries(NamedTuple):
    """D deliveries of N entities, those of each entity in their order.

    offsets       N + 1  into the deliveries
    message       D      local message
    entity        D      local entity
    nth           D      which delivery of its message at its entity it is, from 1
    repeated      D      whether its message has more than one there
    event         D      number of the event
    settled       D      number of the first event after it that accepts the message there, or gives it back; or NEVER
    """

    offsets: Int64
    message: Int32
    entity: Int32
    nth: Int64
    repeated: Bool
    event: Int64
    settled: Int64


class Acknowledged(NamedTuple):
    """What N entities accepted (`ack`), and whether the E executions have any `ack` or `nack`.

    offsets       N + 1  into the messages
    messages             local messages, ascending and each once
    recorded      E
    """

    offsets: Int64
    messages: Int32
    recorded: Bool


def deliveries_of(events: Events) -> Deliveries:
    """Every delivery."""
    kind = events.event_kind
    settling = np.isin(kind, ACKNOWLEDGEMENT_CODES)
    event = np.flatnonzero((kind == events.delivery) | settling)
    entity = _entities(events, event)
    message = events.event_message[event].astype(np.int64)
    order = np.lexsort((event, message, entity))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(entity[order]) != 0) | (np.diff(message[order]) != 0)
    group = np.cumsum(begins) - 1
    acts = settling[event][order]
    # How many deliveries of the group there are up to here.
    made = np.cumsum(~acts)
    before: Int64 = (made - ~acts)[begins]
    nth: Int64 = made - before[group]
    counts = np.bincount(group, weights=~acts, minlength=int(group[-1]) + 1 if len(group) else 0)
    settled = _next(np.where(acts, event[order], NEVER), group)
    columns = np.empty((4, len(order)), np.int64)
    for row, column in enumerate((nth, counts[group] > 1, settled, acts)):
        columns[row, order] = column
    there = columns[3] == 0
    first = np.searchsorted(events.event_offsets, events.event_offsets, "left")
    return Deliveries(
        offsets=np.searchsorted(event[there], events.event_offsets[first]),
        message=message[there].astype(np.int32),
        entity=(entity[there] - _first_entities(events, entity[there])).astype(np.int32),
        nth=columns[0][there],
        repeated=columns[1][there] > 0,
        event=event[there],
        settled=columns[2][there],
    )


def acknowledged_of(events: Events) -> Acknowledged:
    """The acknowledgements."""
    kind = events.event_kind
    given = np.flatnonzero(kind == EVENT_CODES[EventKind.ACK])
    pairs = np.unique(np.stack([_entities(events, given), events.event_message[given]]), axis=1)
    recorded = events.acknowledging.copy()
    settling = _entities(events, np.flatnonzero(np.isin(kind, ACKNOWLEDGEMENT_CODES)))
    recorded[np.searchsorted(events.entity_offsets, settling, "right") - 1] = True
    entities = np.arange(int(events.entity_offsets[-1]) + 1)
    return Acknowledged(np.searchsorted(pairs[0], entities), pairs[1].astype(np.int32), recorded)


def _entities(events: Events, places: npt.NDArray[Any]) -> Int64:
    """The global numbers of the entities of some events."""
    return np.searchsorted(events.event_offsets, places, "right") - 1


def _first_entities(events: Events, entities: Int64) -> Int64:
    """The global number of the first entity of the execution of each of some entities."""
    found: Int64 = events.entity_offsets[np.searchsorted(events.entity_offsets, entities, "right") - 1]
    return found


def _next(events: Int64, group: Int64) -> Int64:
    """Of each place the least event from it on within its group, events being ascending there; or NEVER."""
    if len(events) == 0:
        return events
    last = np.flatnonzero(np.append(np.diff(group) != 0, True))
    places = np.where(events == NEVER, len(events), np.arange(len(events)))
    following = np.minimum.accumulate(places[::-1])[::-1]
    inside = following <= last[group]
    return np.where(inside, np.append(events, NEVER)[np.minimum(following, len(events))], NEVER)
