"""Tuned kernels asked of each part of an execution (`precedes.core.formula.Per`).

What asks something of single messages says it of all parts at once. What compares messages in logs is asked of a batch
in which every part is an execution: all its entities, and the messages of the part in their logs. Happens-before and
clocks are those of the whole: what asks for them holds of the parts where it holds of the whole, and is violated where
the messages that violate it are in one part; else the compiled formula decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.core.columns import offsets_of
from precedes.core.formula import Attribute
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.columnar.execution_source import ExecutionSource
from precedes.engines.columnar.kernel_columns import ALWAYS, Columns
from precedes.engines.columnar.kernels.choice import KERNELS
from precedes.engines.columnar.kernels.kernel import PLACES, Kernel, is_large
from precedes.engines.columnar.parts import Members, Parts, members_of, parts_of
from precedes.engines.columnar.positions import ascending
from precedes.logic.recognition import UNTUNED
from precedes.native.codes import DEFERRED
from precedes.native.compiled_functions import Int32Out, Int64Out, machine_code, read_only

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Values = npt.NDArray[np.int32]

OF_LOGS: Final = frozenset(
    {
        "order_preserving",
        "order_equivalent",
        "acyclic_order",
        "fifo_delivery",
        "begins",
        "prefix_order",
        "gap_free_order",
        "nothing_skipped",
        "nonuniform_total_order",
        "nonuniform_fifo_delivery",
        "every_delivery_in_order",
        "repeats_in_place",
        "ordered_until_acknowledged",
        "positions_never_go_back",
        "first_deliveries_by_position",
        "one_position_one_message",
    }
)
"""Definitions about two messages or more, and nothing but logs, deliveries and what messages carry."""

OF_ONE: Final = frozenset(
    {
        "information_equivalent",
        "information_preserving",
        "selectively_information_preserving",
        "no_creation",
        "no_duplication",
        "broadcast",
        "agreement",
        "uniform_agreement",
        "validity",
        "only_in_flight_repeats",
    }
)
"""Definitions about one message at a time."""

_OF_EVENTS: Final = frozenset({"event_kind", "event_message"})
"""The columns of events that parts have."""

SAMPLE: Final = 16
"""Of so many executions one is looked at to tell whether most hold as a whole."""

MOST: Final = 0.75
"""So large a part of them is most."""

OF_PLACES: Final = frozenset({"bounded_disorder"})
"""Definitions about logs and the places in them, which are others in a part."""

TIMED: Final = frozenset({"deadline"})
"""Definitions about one message at a time, with times: whether these fit together is asked of the whole."""


class PartKernels:
    """Judges definitions on the parts of the executions of one complete source, which are cut once."""

    def __init__(self, source: ExecutionSource, jit: bool | None) -> None:
        self._source = source
        self._compiled = is_large(source.columns(())) if jit is None else jit
        self._cuts: dict[frozenset[Attribute], Cut] = {}

    def run(self, definition: str, per: tuple[Attribute, ...], bound: int = 0) -> tuple[Values, Values]:
        """The values and the places, as of a kernel; `DEFERRED` where the compiled formula is to decide. `bound`: the
        number that is asked for.
        """
        cut = self.cut(per)
        values, places = self._judged(definition, cut, bound)
        return np.where(cut.without, np.int32(Reason.NO_ATTRIBUTE), values), places

    def run_on_pairs(self, definition: str, alike: tuple[Attribute, ...]) -> tuple[Values, Values]:
        """The same of a definition about two messages, asked of those with equal values of some attributes.

        Where a message lacks a value, it may be equal to any: then what is violated by two of a part is violated, and
        what holds of all messages holds.
        """
        cut = self.cut(alike)
        values, places = self._judged(definition, cut, 0)
        open_ones = cut.lacking & (values != FALSE)
        if open_ones.any():
            kernel = KERNELS[definition]
            whole, _ = kernel.run(self._source.columns(kernel.reads), self._compiled)
            values = np.where(open_ones, np.where(whole == TRUE, TRUE, np.int32(DEFERRED)), values)
        return values, places

    def _judged(self, definition: str, cut: Cut, bound: int) -> tuple[Values, Values]:
        if definition in UNTUNED:
            nowhere = np.full((self._source.executions, PLACES), -1, np.int32)
            return np.full(self._source.executions, DEFERRED, np.int32), nowhere
        kernel = replace(KERNELS[definition], bound=bound)
        if cut.all_inside and (definition in OF_ONE or definition in TIMED):
            return kernel.run(self._source.columns(kernel.reads), self._compiled)
        if definition in OF_ONE or definition in OF_PLACES:
            return cut.judged(kernel)
        if definition in OF_LOGS:
            return self._of_logs(kernel, cut)
        values, places = kernel.run(self._source.columns(kernel.reads), self._compiled)
        return cut.inherited(values, places), places

    def _of_logs(self, kernel: Kernel, cut: Cut) -> tuple[Values, Values]:
        """Where it holds of most wholes, these are not cut. The first ones tell."""
        executions = self._source.executions
        first = executions // SAMPLE
        columns = self._source.columns(kernel.reads)
        values = np.full(executions, DEFERRED, np.int32)
        places = np.full((executions, PLACES), -1, np.int32)
        kernel.judge((0, first), columns, self._compiled, values, places)
        if first == 0 or (values[:first] == TRUE).mean() < MOST:
            return cut.judged(kernel)
        kernel.judge((first, executions), columns, self._compiled, values, places)
        values = cut.inherited(values, places)
        left = values == DEFERRED
        if left.any():
            rest = Cut(self._source, cut.parts.among(left, columns.message_offsets), self._compiled)
            judged, shown = rest.judged(kernel)
            values, places = np.where(left, judged, values), np.where(left[:, None], shown, places)
        return values, places

    def cut(self, per: tuple[Attribute, ...]) -> Cut:
        """The parts that the values of some attributes make."""
        key = frozenset(per)
        if key not in self._cuts:
            parts = parts_of(self._source, per, self._compiled)
            self._cuts[key] = Cut(self._source, parts, self._compiled)
        return self._cuts[key]


class Cut:
    """The executions of a source cut into parts, each with all entities of its execution."""

    def __init__(self, source: ExecutionSource, parts: Parts, compiled: bool) -> None:
        self.parts = parts
        self._source = source
        self._offsets = source.columns(())
        self._compiled = compiled
        self._found: dict[str, npt.NDArray[Any]] = {}

    @cached_property
    def all_inside(self) -> bool:
        """Whether every message is in a part."""
        return bool((self.parts.part >= 0).all())

    @cached_property
    def without(self) -> npt.NDArray[np.bool_]:
        """The executions (E) that have messages and no part."""
        found: npt.NDArray[np.bool_] = (np.diff(self.parts.starts) == 0) & (
            np.diff(self._offsets.message_offsets) > 0
        )
        return found

    @cached_property
    def lacking(self) -> npt.NDArray[np.bool_]:
        """The executions (E) with a message that is in no part."""
        found = np.zeros(self._source.executions, np.bool_)
        outside = np.flatnonzero(self.parts.part < 0)
        found[np.searchsorted(self._offsets.message_offsets, outside, "right") - 1] = True
        return found

    # ---- from parts to executions ------------------------------------------------------------------------

    def judged(self, kernel: Kernel) -> tuple[Values, Values]:
        """The values and the places by a kernel that judges every part."""
        return self._united(*kernel.run(self.columns(kernel.reads), self._compiled))

    def _united(self, of_parts: Values, places: Values) -> tuple[Values, Values]:
        """The values and places of the executions, of those of their parts.

        One that is violated decides, then one that is left to the compiled formula. Where no message shows the
        violation the first of its part does.
        """
        starts, members = self.parts.starts, self._members.members
        values = np.zeros(self._source.executions, np.int32)
        found = np.full((self._source.executions, PLACES), -1, np.int32)
        some = np.flatnonzero(np.diff(starts) > 0)
        if len(some) == 0:
            return values, found
        at = starts[some]
        left = np.logical_or.reduceat(of_parts == DEFERRED, at)
        # FALSE has every bit set.
        values[some] = np.bitwise_or.reduceat(np.where(of_parts == DEFERRED, TRUE, of_parts), at)
        values[some[left & (values[some] != FALSE)]] = DEFERRED
        violated = np.flatnonzero(of_parts == FALSE)
        executions, first = np.unique(np.searchsorted(starts, violated, "right") - 1, return_index=True)
        shown = violated[first]
        found[executions, :2] = places[shown, :2]
        messages, base = places[shown, 2:], self._members.member_starts[shown]
        for column in range(PLACES - 2):
            local = messages[:, column]
            found[executions, 2 + column] = np.where(local < 0, -1, members[base + np.maximum(local, 0)])
        bare = np.all(messages < 0, axis=1)
        found[executions[bare], 2] = self.parts.firsts[shown[bare]]
        return values, found

    def inherited(self, values: Values, places: Values) -> Values:
        """The values of the executions, of those of the wholes: what holds of everything holds of every part, and what
        is violated by messages of one part is violated by this part.
        """
        kept = values == TRUE
        violated = np.flatnonzero((values == FALSE) & (places[:, 2] >= 0))
        base, part = self._offsets.message_offsets[violated], self.parts.part
        shown = places[violated, 2:]
        inside = part[base + shown[:, 0]]
        with_first = np.where(shown < 0, inside[:, None], part[base[:, None] + np.maximum(shown, 0)])
        alike = (inside >= 0) & (with_first == inside[:, None]).all(axis=1)
        kept[violated[alike]] = True
        return np.where(kept, values, np.int32(DEFERRED))

    # ---- columns of the parts ----------------------------------------------------------------------------

    def columns(self, reads: tuple[str, ...]) -> Columns:
        """The columns of executions of which each is a part."""
        whole = self._source.columns(reads)
        made = {name: self._column(name, whole, reads) for name in {*ALWAYS, *reads}}
        columns: dict[str, Any] = {name: read_only(column) for name, column in made.items()}
        return whole._replace(**columns)

    def _column(self, name: str, whole: Columns, reads: tuple[str, ...]) -> npt.NDArray[Any]:
        # Places are compared, or they are places in the log of the part.
        key = "place" if name == "send_position" and "sent" in reads else name
        if name == "event_offsets" and _OF_EVENTS.isdisjoint(reads):
            # Events are divided only for kernels that read them.
            return np.zeros(int(self._entity_offsets[-1]) + 1, np.int64)
        if key not in self._found:
            self._found[key] = self._made(key, whole)
        return self._found[key]

    def _made(self, name: str, whole: Columns) -> npt.NDArray[Any]:
        match name:
            case "entity_offsets":
                return self._entity_offsets
            case "message_offsets":
                return self._members.member_starts
            case "order_doubt" | "acknowledged_recorded":
                of_executions: npt.NDArray[Any] = getattr(whole, name)
                return of_executions[self._execution]
            case "history_doubt" | "faulty" | "unsure_stops":
                of_entities: npt.NDArray[Any] = getattr(whole, name)
                return of_entities[self._entity]
            case "sender" | "send_logged" | "send_position" | "to_all" | "claimed_position":
                of_messages: npt.NDArray[Any] = getattr(whole, name)
                return of_messages[self._message]
            case "place":
                return self._sent.places(
                    len(self._message), self._entity_offsets, self._members.member_starts
                )
            case "delivered_offsets":
                return self._delivered.offsets
            case "delivered":
                return self._delivered.entries
            case "repeated":
                return whole.repeated[self._delivered.whole]
            case "event_offsets":
                return self._events.offsets
            case "event_message":
                return self._events.entries
            case "event_kind":
                return whole.event_kind[self._events.whole]
            case "claimed_order":
                return ascending(self._made("claimed_position", whole), self._members.member_starts)
            case "sent_offsets":
                return self._sent.offsets
            case "sent":
                return self._sent.entries
            case "destination_offsets" | "destinations":
                return self._destinations[name]
            case _:
                raise KeyError(name)

    @cached_property
    def _members(self) -> Members:
        return members_of(self.parts, self._source, self._compiled)

    @cached_property
    def _execution(self) -> Int64:
        """The execution (P) that each part is of."""
        return np.repeat(np.arange(self._source.executions), np.diff(self.parts.starts))

    @cached_property
    def _entity_offsets(self) -> Int64:
        return offsets_of(np.diff(self._offsets.entity_offsets)[self._execution])

    @cached_property
    def _entity(self) -> Int64:
        """Which entity of the batch each entity of a part is."""
        return _ranges(self._offsets.entity_offsets[self._execution], self._entity_offsets)

    @cached_property
    def _message(self) -> Int64:
        """Which message of the batch each member of a part is."""
        counts = np.diff(self._members.member_starts)
        return self._members.members + np.repeat(self._offsets.message_offsets[self._execution], counts)

    @cached_property
    def _delivered(self) -> CutLogs:
        whole = self._source.columns(("delivered_offsets", "delivered"))
        return self._logs(whole.delivered_offsets, whole.delivered)

    @cached_property
    def _sent(self) -> CutLogs:
        whole = self._source.columns(("sent_offsets", "sent"))
        return self._logs(whole.sent_offsets, whole.sent)

    @cached_property
    def _events(self) -> CutLogs:
        """The events about messages of a part."""
        whole = self._source.columns(("event_message",))
        return self._logs(whole.event_offsets, whole.event_message)

    def _logs(self, offsets: Int64, entries: Int32) -> CutLogs:
        parts, wholes = self.parts, self._offsets
        entities = len(self._entity)
        room = CutRoom(
            np.empty(entities + 1, np.int64),
            np.empty(entities, np.int64),
            np.empty(len(entries), np.int32),
            np.empty(len(entries), np.int64),
        )
        places = Placing(
            wholes.entity_offsets,
            wholes.message_offsets,
            read_only(parts.starts),
            read_only(parts.part),
            read_only(self._members.local),
            read_only(self._entity_offsets),
        )
        function = machine_code(cut_logs) if self._compiled else cut_logs
        function(places, read_only(offsets), read_only(entries), room)
        length = room.cut[-1]
        return CutLogs(room.cut, room.kept[:length], room.whole[:length])

    @cached_property
    def _destinations(self) -> dict[str, npt.NDArray[Any]]:
        whole = self._source.columns(("destination_offsets", "destinations"))
        offsets = offsets_of(np.diff(whole.destination_offsets)[self._message])
        places = _ranges(whole.destination_offsets[self._message], offsets)
        return {"destination_offsets": offsets, "destinations": whole.destinations[places]}


@dataclass(frozen=True, slots=True)
class CutLogs:
    """Logs of the entities of parts: where each ends, its messages, and which entry of the whole each of these is."""

    offsets: Int64
    entries: Int32
    whole: Int64

    def places(self, messages: int, entity_offsets: Int64, message_offsets: Int64) -> Int32:
        """The place of every message in its log, -1 where it is in none."""
        found = np.full(messages, -1, np.int32)
        lengths = np.diff(self.offsets)
        part = np.searchsorted(entity_offsets, np.arange(len(lengths)), "right") - 1
        within = np.arange(len(self.entries)) - np.repeat(self.offsets[:-1], lengths)
        found[self.entries + np.repeat(message_offsets[part], lengths)] = within
        return found


class Placing(NamedTuple):
    """Where entities and messages are in a batch, and in its parts; see `Parts`. The last are the entities of parts."""

    entity_offsets: Int64
    message_offsets: Int64
    starts: Int64
    part: Int64
    local: Int64
    cut_entities: Int64


class CutRoom(NamedTuple):
    """Where logs are written that are cut: the columns of `CutLogs`, and how far each log is filled."""

    cut: Int64Out
    into: Int64Out
    kept: Int32Out
    whole: Int64Out


def cut_logs(places: Placing, offsets: Int64, entries: Int32, room: CutRoom) -> None:
    """Divide the logs of all entities into those of the parts. What is about no message is in none."""
    cut, into, kept, whole = room
    entity_offsets, message_offsets, starts, part, local, cut_entities = places
    for place in range(len(cut)):
        cut[place] = 0
    for x in range(len(entity_offsets) - 1):
        if starts[x] == starts[x + 1]:
            continue
        begin, base = entity_offsets[x], message_offsets[x]
        entities = entity_offsets[x + 1] - begin
        first = cut_entities[starts[x]]
        for entity in range(entities):
            for k in range(offsets[begin + entity], offsets[begin + entity + 1]):
                number = part[base + entries[k]] if entries[k] >= 0 else -1
                if number >= 0:
                    cut[first + number * entities + entity + 1] += 1
    for place in range(len(into)):
        into[place] = cut[place]
        cut[place + 1] += cut[place]
    for x in range(len(entity_offsets) - 1):
        if starts[x] == starts[x + 1]:
            continue
        begin, base = entity_offsets[x], message_offsets[x]
        entities = entity_offsets[x + 1] - begin
        first = cut_entities[starts[x]]
        for entity in range(entities):
            for k in range(offsets[begin + entity], offsets[begin + entity + 1]):
                number = part[base + entries[k]] if entries[k] >= 0 else -1
                if number >= 0:
                    log = first + number * entities + entity
                    kept[into[log]] = local[base + entries[k]]
                    whole[into[log]] = k
                    into[log] += 1


def _ranges(firsts: Int64, offsets: Int64) -> Int64:
    """For each item, numbers from its first on, one for each entry."""
    return np.arange(offsets[-1]) + np.repeat(firsts - offsets[:-1], np.diff(offsets))
