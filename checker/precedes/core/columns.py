"""Executions in columns: the twin of `precedes.core.execution` for engines that scan millions of them.

A `Batch` holds whole executions only, each with everything that was recorded. All lists are in compressed form:
`offsets[k]:offsets[k + 1]` are the entries of item k. Entities and messages have local numbers, from 0 within their
execution, in the order of their names (by code point), so that nothing depends on the order in which rows were read. N
counts entities over all executions, M messages; entity e of execution x has global number `entity_offsets[x] + e`,
messages likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.core.clock_order import ClockEdges, Clocks, Histories, compared, histories, own_counts
from precedes.core.execution import (
    ACKNOWLEDGEMENT_CODES,
    EventKind,
    view_number,
)
from precedes.core.formula import Attribute, Carrier

MISSING_TIME: Final = np.iinfo(np.int64).min
NOT_RECORDED: Final = np.iinfo(np.int64).min
NOBODY: Final = -1

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]
Names = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Members:
    """The members that events name, aligned with a batch's events. They need not be in the cluster.

    offsets              events + 1
    names
    """

    offsets: Int64
    names: Names


@dataclass(frozen=True, slots=True)
class Views:
    """The V views that the entities of a batch install.

    view                 events: local number of the view that it installs; NOBODY for any other event, and for a
                         view without an id
    offsets              E + 1  into the V views, which are in the order of their ids
    names                V      their ids
    member_offsets       V + 1
    members                     local entities, ascending; those that are not in the cluster are left out
    """

    view: Int32
    offsets: Int64
    names: Names
    member_offsets: Int64
    members: Int32

    @property
    def numbers(self) -> Int64:
        """The numbers of the V views; NOT_RECORDED where an id is no number."""
        found = map(view_number, self.names)
        return np.array([NOT_RECORDED if number is None else number for number in found], np.int64)


@dataclass(frozen=True, slots=True)
class Groups:
    """The G groups of entities, and which messages are addressed to them.

    offsets              E + 1  into the G groups, which are in the order of their names
    names                G
    member_offsets       G + 1
    members                     local entities, ascending
    addressed_offsets    M + 1
    addressed                   local groups, ascending: those that the message is addressed to by name
    """

    offsets: Int64
    names: Names
    member_offsets: Int64
    members: Int32
    addressed_offsets: Int64
    addressed: Int32


@dataclass(frozen=True, slots=True)
class Attributes:
    """What the M messages and the events of a batch carry.

    declared             A           the attributes of messages
    values               A x M       numbers, nanoseconds, or places in `texts`; NOT_RECORDED where there is none
    texts                            every text of the batch once, in any order; shared by the attributes
    of_events            B           the attributes of events
    event_values         B x events  as `values`
    """

    declared: tuple[Attribute, ...]
    values: Int64
    texts: Names
    of_events: tuple[Attribute, ...] = ()
    event_values: Int64 = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    def of(self, attribute: Attribute) -> Int64 | None:
        """The values (M, or events) of an attribute; None where it was not asked for when rows were read."""
        if attribute in self.of_events:
            found: Int64 = self.event_values[self.of_events.index(attribute)]
            return found
        return self.values[self.declared.index(attribute)] if attribute in self.declared else None


NO_ATTRIBUTES: Final = Attributes((), np.zeros((0, 0), np.int64), np.zeros(0, np.object_))


def of_carrier(attributes: Iterable[Attribute], carrier: Carrier) -> tuple[Attribute, ...]:
    """Those of some attributes that messages carry, or those that events carry."""
    return tuple(attribute for attribute in attributes if attribute.carrier is carrier)


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the rows of events were read, aligned with a batch's events.

    files                the files, each once
    file                 events: place in `files`
    row                  events: number of the row in its file, as its reader counts
    """

    files: tuple[str, ...]
    file: Int32
    row: Int64


@dataclass(frozen=True, slots=True)
class Batch:
    """E executions with N entities and M messages in all.

    names                E      the executions' ids
    unknown              E      bits of `Reason` that make all of an execution unknown: contradictions; else 0
    contradictions       {x: text}  for those executions, what contradicts what, both rows named
    entity_offsets       E + 1  into the N entities
    entity_names         N
    message_offsets      E + 1  into the M messages
    message_names        M
    sender               M      local entity, NOBODY for a message that nobody sent
    send_logged          M      whether the send stands in the sender's history
    send_position        M      place in SL of the sender, from 0 (NOBODY where not logged)
    send_time            M      nanoseconds or MISSING_TIME
    to_all               M      addressed to every entity; its list of destinations is then empty
    destination_offsets  M + 1
    destinations                local entities, ascending
    sent_offsets         N + 1  SL per entity: local messages in order of sending
    sent
    delivered_offsets    N + 1  RL per entity: local messages in order of their first delivery
    delivered
    delivered_time              aligned with `delivered`: nanoseconds or MISSING_TIME
    repeated                    aligned with `delivered`: delivered there more than once
    event_offsets        N + 1  whole histories, in order
    event_kind                  index into `EventKind` in its order of definition
    event_message               local message, NOBODY where the event has none
    event_time                  nanoseconds or MISSING_TIME
    delta, epsilon              nanoseconds, of every execution of the batch; delta None where not given
    complete                    False: what was not recorded may yet have happened
    delivery                    the kind of event that counts as delivery
    interleaved          N      False where only SL and RL are known (see `History`); None: known everywhere
    marks                N      deliveries before the entity's failure mark, NOBODY without; None: no marks
    clocks                      None: no clock is recorded
    by_clocks                   recorded clocks are evidence of what happened before what
    clock_edges                 None: these clocks add nothing to the order of rows
    history_doubt        N      reasons why the order of the entity's events is not known; None: known everywhere
    order_doubt          E      reasons why happens-before is not known; None: known everywhere
    acknowledging        E      it is a part of an execution of which acknowledgements are recorded; None: none is
    members                     None: no event names members
    views                       None: no view is installed
    groups                      None: there are no groups
    attributes                  what messages and events carry, of what was asked for
    origins                     None: it was not kept where rows were read
    """

    names: Names
    unknown: Int32
    contradictions: dict[int, str]
    entity_offsets: Int64
    entity_names: Names
    message_offsets: Int64
    message_names: Names
    sender: Int32
    send_logged: Bool
    send_position: Int32
    send_time: Int64
    to_all: Bool
    destination_offsets: Int64
    destinations: Int32
    sent_offsets: Int64
    sent: Int32
    delivered_offsets: Int64
    delivered: Int32
    delivered_time: Int64
    repeated: Bool
    event_offsets: Int64
    event_kind: Int8
    event_message: Int32
    event_time: Int64
    delta: int | None = None
    epsilon: int = 0
    complete: bool = True
    delivery: EventKind = EventKind.DELIVER
    interleaved: Bool | None = None
    marks: Int32 | None = None
    clocks: Clocks | None = None
    by_clocks: bool = False
    clock_edges: ClockEdges | None = None
    history_doubt: Int32 | None = None
    order_doubt: Int32 | None = None
    acknowledging: Bool | None = None
    members: Members | None = None
    views: Views | None = None
    groups: Groups | None = None
    attributes: Attributes = NO_ATTRIBUTES
    origins: Origins | None = None

    @property
    def acknowledgements(self) -> Int64:
        """The numbers of the events by which an entity accepted a message or gave it back."""
        return np.flatnonzero(np.isin(self.event_kind, ACKNOWLEDGEMENT_CODES))

    @property
    def executions(self) -> int:
        """E."""
        return len(self.names)


def clock_edges(batch: Batch) -> ClockEdges | None:
    """What the clocks of a batch say beyond its rows, where they are evidence and say anything."""
    if batch.clocks is None or not batch.by_clocks:
        return None
    edges = compared(histories_of(batch), batch.clocks).edges
    return edges if len(edges.earlier) else None


def own_if_counted(batch: Batch) -> Int64:
    """Of each event that its clock counts the count for its own entity, 0 of all others."""
    if batch.clocks is None or not batch.clocks.counted.any():
        return np.zeros(len(batch.event_kind), np.int64)
    return np.where(batch.clocks.counted, own_counts(histories_of(batch), batch.clocks), 0)


def histories_of(batch: Batch) -> Histories:
    """The events of a batch, as the order of its clocks is found from them."""
    return histories(
        batch.entity_offsets,
        batch.message_offsets,
        batch.event_offsets,
        batch.event_kind,
        batch.event_message,
        batch.delivery,
    )


def offsets_of(counts: Sequence[int] | npt.NDArray[Any]) -> Int64:
    """Offsets of lists of the given lengths."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
