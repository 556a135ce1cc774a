"""Columns of executions as machine code takes them: one tuple, whose annotations are also its types.

See `precedes.core.columns.Batch` for what is in them. A kernel and a generated function name what they read; what they
do not read is empty, for some columns are found only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, get_type_hints

import numpy as np
import numpy.typing as npt

from precedes.core.columns import MISSING_TIME, NOBODY, Batch, Groups, own_if_counted
from precedes.core.execution import EVENT_CODES, UNKNOWN_NAME, EventKind
from precedes.engines.columnar.deliveries import acknowledged_of, deliveries_of
from precedes.engines.columnar.installations import installed_of, views_of_events
from precedes.engines.columnar.positions import ascending, claimed_of
from precedes.native.compiled_functions import element_type, names_used, read_only

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]


class Columns(NamedTuple):
    """What machine code can read of executions.

    faulty                      entities: whether the last crash is not followed by a recovery
    unsure_stops                entities: whether there are crashes and recoveries, in an order that is not known
    edge_offsets, edge_earlier  which events recorded clocks put before each event, beyond its rows; without events
    where they put none
    event_own                   the count that an event's own clock has for it, 0 where the clock does not count it
    delta                       `MISSING_TIME` where none is given
    bound                       the number that is asked for, see `precedes.logic.plan.Step`
    delivery                    the number in `event_kind` of what counts as delivery
    made_...                    every delivery, see `deliveries.Deliveries`
    acknowledged_...            see `deliveries.Acknowledged`
    acknowledging               it is a part of an execution of which acknowledgements are recorded, see `Batch`
    to_group_offsets, to_groups the groups that messages are addressed to, see `Groups`
    group_..., view_...         see `Groups` and `Views`
    named_group_offsets, named_groups the local numbers of the groups of which quantifiers speak
    event_view                  the local view that an event installs, see `Views`
    installed_...               see `installations.Installed`
    view_of_event               the view in which an event happens, see `installations.views_of_events`
    claimed_position            what the messages have as attribute `position`
    claimed_order               the messages of each execution in this order, see `positions.ascending`
    """

    entity_offsets: Int64
    message_offsets: Int64
    unknown: Int32
    order_doubt: Int32
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
    interleaved: Bool
    history_doubt: Int32
    faulty: Bool
    unsure_stops: Bool
    event_offsets: Int64
    event_kind: Int8
    event_message: Int32
    event_time: Int64
    event_own: Int64
    edge_offsets: Int64
    edge_earlier: Int64
    clock_recorded: Bool
    clock_offsets: Int64
    clock_entities: Int32
    clock_counts: Int64
    made_offsets: Int64
    made_message: Int32
    made_entity: Int32
    made_nth: Int64
    made_repeated: Bool
    made_time: Int64
    made_event: Int64
    made_settled: Int64
    acknowledged_offsets: Int64
    acknowledged_messages: Int32
    acknowledged_recorded: Bool
    acknowledging: Bool
    to_group_offsets: Int64
    to_groups: Int32
    group_offsets: Int64
    group_member_offsets: Int64
    group_members: Int32
    named_group_offsets: Int64
    named_groups: Int32
    view_offsets: Int64
    view_member_offsets: Int64
    view_members: Int32
    view_numbers: Int64
    event_view: Int32
    view_of_event: Int32
    installed_offsets: Int64
    installed_views: Int32
    installed_again: Bool
    installed_unknown: Bool
    claimed_position: Int64
    claimed_order: Int32
    delta: int
    epsilon: int
    delivery: int
    complete: bool
    bound: int

    @property
    def executions(self) -> int:
        """How many they are."""
        return len(self.message_offsets) - 1

    @property
    def events(self) -> int:
        """How many events they have."""
        return int(self.event_offsets[-1])


NUMBERS: Final = frozenset({"delta", "epsilon", "delivery", "complete", "bound"})
"""What there is once for all executions."""

ALWAYS: Final = frozenset({"entity_offsets", "message_offsets", "event_offsets"})
"""What everything reads."""


class Setting(Protocol):
    """What there is once for all executions, as a batch and the options of a run have it."""

    @property
    def delta(self) -> int | None:
        """See `Batch`."""

    @property
    def epsilon(self) -> int:
        """See `Batch`."""

    @property
    def delivery(self) -> EventKind:
        """See `Batch`."""

    @property
    def complete(self) -> bool:
        """See `Batch`."""


def columns_of(batch: Batch, reads: Collection[str]) -> Columns:
    """The columns of a batch that are read, as arrays."""
    return ColumnTable(lambda name: column_of(batch, name), batch).columns(reads)


def columns_by(find: Callable[[str], Any], reads: Collection[str], setting: Setting) -> Columns:
    """The columns that are read, as arrays, each found by its name."""
    nothing = _nothing()
    wanted = ALWAYS.union(reads)
    found = {
        name: read_only(np.asarray(find(name), nothing[name].dtype)) if name in wanted else nothing[name]
        for name in nothing
    }
    return Columns(
        **found,
        delta=MISSING_TIME if setting.delta is None else setting.delta,
        epsilon=setting.epsilon,
        delivery=EVENT_CODES[setting.delivery],
        complete=setting.complete,
        bound=0,
    )


class ColumnTable:
    """Columns that are found when they are first read; those `found` beforehand need not be."""

    def __init__(
        self, find: Callable[[str], Any], setting: Setting, found: dict[str, npt.NDArray[Any]] | None = None
    ) -> None:
        self._find = find
        self._setting = setting
        self._found = {} if found is None else found
        self._read: dict[frozenset[str], Columns] = {}

    def columns(self, reads: Collection[str]) -> Columns:
        """The columns that are read, as arrays."""
        wanted = frozenset(reads)
        if wanted not in self._read:
            self._read[wanted] = columns_by(self._column, wanted, self._setting)
        return self._read[wanted]

    def _column(self, name: str) -> npt.NDArray[Any]:
        if name not in self._found:
            self._found |= self._derived(name) or {name: self._find(name)}
        return self._found[name]

    def _derived(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """The columns of deliveries, acknowledgements or installations, which are made of others; none for another
        name.
        """
        if name == "made_time":
            return {name: self.columns(("event_time",)).event_time[self._column("made_event")]}
        if name == "view_of_event":
            columns = self.columns(("event_view",))
            return {name: views_of_events(columns.event_view, columns.event_offsets)}
        if name == "claimed_order":
            columns = self.columns(("claimed_position",))
            return {name: ascending(columns.claimed_position, columns.message_offsets)}
        for prefix, make, reads in _DERIVED:
            if name.startswith(prefix):
                made = make(self.columns(reads))
                return {f"{prefix}{each}": column for each, column in made._asdict().items()}
        return {}


_OF_DELIVERIES: Final = ("event_kind", "event_message", "acknowledging")
_DERIVED: Final[tuple[tuple[str, Callable[[Columns], Any], tuple[str, ...]], ...]] = (
    ("made_", deliveries_of, _OF_DELIVERIES),
    ("acknowledged_", acknowledged_of, _OF_DELIVERIES),
    ("installed_", installed_of, ("event_kind", "event_view")),
)
"""How columns are made of others, by what their names begin with."""


def columns_read(function: Callable[..., Any]) -> frozenset[str]:
    """The columns that a function and its helpers read."""
    return names_used(function).intersection(Columns._fields) - NUMBERS


def listed(columns: Columns) -> Columns:
    """The same as lists: Python goes through these faster than through arrays."""
    lists: Any = (column.tolist() if isinstance(column, np.ndarray) else column for column in columns)
    return Columns(*lists)


@cache
def _nothing() -> dict[str, npt.NDArray[Any]]:
    """Every column without entries."""
    return {
        name: read_only(np.zeros(0, element_type(hint)))
        for name, hint in get_type_hints(Columns).items()
        if hint not in (int, bool)
    }


def column_of(batch: Batch, name: str) -> Any:
    """A column of a batch by its name in `Columns`."""
    match name:
        case "interleaved":
            known = batch.interleaved
            return np.ones(int(batch.entity_offsets[-1]), np.bool_) if known is None else known
        case "history_doubt":
            doubt = batch.history_doubt
            return np.zeros(int(batch.entity_offsets[-1]), np.int32) if doubt is None else doubt
        case "order_doubt":
            return np.zeros(batch.executions, np.int32) if batch.order_doubt is None else batch.order_doubt
        case "faulty":
            return faulty(batch.event_offsets, batch.event_kind)
        case "unsure_stops":
            return _unsure_stops(batch)
        case "edge_offsets" | "edge_earlier":
            edges = batch.clock_edges
            return np.zeros(0, np.int64) if edges is None else getattr(edges, name.removeprefix("edge_"))
        case "claimed_position":
            return claimed_of(batch.attributes, int(batch.message_offsets[-1]))
        case "acknowledging":
            parts = batch.acknowledging
            return np.zeros(batch.executions, np.bool_) if parts is None else parts
        case "to_group_offsets" | "to_groups" | "group_offsets" | "group_member_offsets" | "group_members":
            if batch.groups is None:
                return no_groups(name, batch.executions, int(batch.message_offsets[-1]))
            return getattr(batch.groups, _OF_GROUPS[name])
        case "named_group_offsets" | "named_groups":
            if batch.groups is None:
                return no_groups(name, batch.executions, int(batch.message_offsets[-1]))
            return _named_groups(batch.groups)[name]
        case "event_view" | "view_offsets" | "view_member_offsets" | "view_members" | "view_numbers":
            if batch.views is None:
                return no_views(name, batch.executions, len(batch.event_kind))
            return getattr(batch.views, name.removeprefix("event_" if name == "event_view" else "view_"))
        case "event_own":
            return own_if_counted(batch)
        case "clock_recorded" | "clock_offsets" | "clock_entities" | "clock_counts":
            if batch.clocks is None:
                return no_clocks(name, len(batch.event_kind))
            return getattr(batch.clocks, name.removeprefix("clock_"))
        case _:
            return getattr(batch, name)


_OF_GROUPS: Final = {
    "to_group_offsets": "addressed_offsets",
    "to_groups": "addressed",
    "group_offsets": "offsets",
    "group_member_offsets": "member_offsets",
    "group_members": "members",
}
"""What the columns of groups are called in `Groups`."""


def no_groups(name: str, executions: int, messages: int) -> npt.NDArray[Any]:
    """A column of groups, of executions that have none."""
    lengths = {
        "to_group_offsets": messages + 1,
        "group_offsets": executions + 1,
        "named_group_offsets": executions + 1,
        "group_member_offsets": 1,
    }
    return np.zeros(lengths.get(name, 0), np.int64)


def _named_groups(groups: Groups) -> dict[str, npt.NDArray[Any]]:
    """The groups of which quantifiers speak, by their local numbers."""
    named = np.flatnonzero(groups.names != UNKNOWN_NAME)
    execution = np.searchsorted(groups.offsets, named, "right") - 1
    return {
        "named_group_offsets": np.searchsorted(named, groups.offsets).astype(np.int64),
        "named_groups": (named - groups.offsets[execution]).astype(np.int32),
    }


def no_views(name: str, executions: int, events: int) -> npt.NDArray[Any]:
    """A column of views, of executions in which none is installed."""
    if name == "event_view":
        return np.full(events, NOBODY, np.int32)
    return np.zeros({"view_offsets": executions + 1, "view_member_offsets": 1}.get(name, 0), np.int64)


def faulty(event_offsets: Int64, event_kind: Int8) -> Bool:
    """Of each entity, whether its last crash is not followed by a recovery."""
    found = np.zeros(len(event_offsets) - 1, np.bool_)
    crash, recovery = EVENT_CODES[EventKind.CRASH], EVENT_CODES[EventKind.RECOVER]
    stops = np.flatnonzero((event_kind == crash) | (event_kind == recovery))
    # Of several at one entity the last is the one that stays.
    found[np.searchsorted(event_offsets, stops, "right") - 1] = event_kind[stops] == crash
    return found


def _unsure_stops(batch: Batch) -> Bool:
    entities = len(batch.event_offsets) - 1
    if batch.history_doubt is None:
        return np.zeros(entities, np.bool_)
    found: Bool = batch.history_doubt != 0
    for kind in (EventKind.CRASH, EventKind.RECOVER):
        events = np.flatnonzero(batch.event_kind == EVENT_CODES[kind])
        has = np.zeros(entities, np.bool_)
        has[np.searchsorted(batch.event_offsets, events, "right") - 1] = True
        found = found & has
    return found


def no_clocks(name: str, events: int) -> npt.NDArray[Any]:
    """A column of clocks, of events of which none has one."""
    if name == "clock_recorded":
        return np.zeros(events, np.bool_)
    kind = np.int32 if name == "clock_entities" else np.int64
    return np.zeros(events + 1 if name == "clock_offsets" else 0, kind)
