"""Which views entities install, in columns: what formulas ask of `VL`, and the views in which events happen."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NOBODY, Bool, Int32, Int64, offsets_of
from precedes.core.execution import EVENT_CODES, EventKind


class Installations(Protocol):
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
    def event_view(self) -> Int32:
        """Of each event the local view that it installs; NOBODY for any other, and for a view without an id."""


class Installed(NamedTuple):
    """What N entities installed.

    offsets       N + 1  into the views
    views                local views of each entity, in the order of their first installations
    again                whether the entity installs it more than once
    unknown       E      whether no view is installed in the execution, or one without an id
    """

    offsets: Int64
    views: Int32
    again: Bool
    unknown: Bool


def installed_of(events: Installations) -> Installed:
    """What entities installed."""
    view = events.event_view
    installing = np.flatnonzero(events.event_kind == EVENT_CODES[EventKind.VIEW])
    entity = np.searchsorted(events.event_offsets, installing, "right") - 1
    without = view[installing] == NOBODY
    execution = np.searchsorted(events.entity_offsets, entity, "right") - 1
    unknown = np.ones(len(events.entity_offsets) - 1, np.bool_)
    unknown[execution[~without]] = False
    unknown[execution[without]] = True
    installing, entity = installing[~without], entity[~without]
    size = int(view[installing].max(initial=0)) + 1
    keys, first, counts = np.unique(entity * size + view[installing], return_index=True, return_counts=True)
    order = np.lexsort((first, keys // size))
    entities = len(events.event_offsets) - 1
    return Installed(
        offsets_of(np.bincount(entity[first], minlength=entities)),
        view[installing[first[order]]],
        counts[order] > 1,
        unknown,
    )


def views_of_events(event_view: Int32, event_offsets: Int64) -> Int32:
    """Of each event the last view that its entity installed before, and whose id is known; or NOBODY."""
    places = np.where(event_view == NOBODY, -1, np.arange(len(event_view)))
    before = np.append(-1, np.maximum.accumulate(places)[:-1])[: len(places)]
    begins = np.repeat(event_offsets[:-1], np.diff(event_offsets))
    there = before >= begins
    return np.where(there, event_view[np.where(there, before, 0)], NOBODY).astype(np.int32)
