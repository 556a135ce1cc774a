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
    installs = events.event_kind == EVENT_CODES[EventKind.VIEW]
    known = installs & (view != NOBODY)
    installing = np.flatnonzero(known)
    offsets = offsets_of(known)[events.event_offsets]
    unknown = np.diff(offsets[events.entity_offsets]) == 0
    without = np.flatnonzero(installs & ~known)
    if len(without):
        entity = np.searchsorted(events.event_offsets, without, "right") - 1
        unknown[np.searchsorted(events.entity_offsets, entity, "right") - 1] = True
    entities = len(events.event_offsets) - 1
    entity = np.repeat(np.arange(entities), np.diff(offsets))
    size = int(view[installing].max(initial=0)) + 1
    keys = entity * size + view[installing]
    if not _repeats(keys):
        return Installed(offsets, view[installing], np.zeros(len(installing), np.bool_), unknown)
    keys, first, counts = np.unique(keys, return_index=True, return_counts=True)
    order = np.lexsort((first, keys // size))
    return Installed(
        offsets_of(np.bincount(entity[first], minlength=entities)),
        view[installing[first[order]]],
        counts[order] > 1,
        unknown,
    )


def _repeats(keys: Int64) -> bool:
    """Whether one of these numbers occurs twice."""
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def views_of_events(event_view: Int32, event_offsets: Int64) -> Int32:
    """Of each event the last view that its entity installed before, and whose id is known; or NOBODY."""
    places = np.where(event_view == NOBODY, -1, np.arange(len(event_view)))
    before = np.append(-1, np.maximum.accumulate(places)[:-1])[: len(places)]
    begins = np.repeat(event_offsets[:-1], np.diff(event_offsets))
    there = before >= begins
    return np.where(there, event_view[np.where(there, before, 0)], NOBODY).astype(np.int32)
