"""The transition table: the interned local states of an exploration, each with what it can do.

A local state is a placement, the time, the entity's own state with its history, and the packets in flight to it. It
is interned: a small integer, its component of the global state, stands for it. What it can do by itself is computed
once and then looked up, because an entity depends on others only through the packets in flight to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.protocol.exploration.histories import Entry, Recording, entries, extended, with_receipts
from precedes.protocol.exploration.inboxes import Flight, Inbox, next_to_arrive, put, without
from precedes.protocol.invariants import OfStep
from precedes.protocol.model import Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.moves import Arrived, Crashed, Expired, Lost, Move, Recovered, Requested, Vanished
from precedes.protocol.network import Timed
from precedes.protocol.validation import declarations, errors, returned_values

Emission: TypeAlias = tuple[tuple[int, tuple[Flight, ...]], ...]
"""What a step transmits: flights by receiver."""

Transition: TypeAlias = tuple[int, Emission, Move]
"""The component after a step, what the step transmits, and what it is."""

Tried: TypeAlias = tuple[int, Emission, Step[Any], tuple[str, ...]]
"""The local state after a step, what it transmits, the step, and the invariants that it breaks."""

Watch: TypeAlias = Callable[[str, Here, Any, tuple[Any, ...], object], None]
"""Told of every new call of a handler: which, where, the state, what else it was called with, what it returned."""

NONE: Final[tuple[Transition, ...]] = ()


@dataclass(frozen=True, slots=True)
class Placement:
    """An entity under conditions that never change: how far its clock is ahead, and from whom nothing reaches it."""

    entity: int
    ahead: int = 0
    cut: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class LocalState:
    """What an entity is in: how many requests it has accepted, and the number of its history.

    `stopped`: it has crashed, and its state is what it has left; `lost` where that is nothing and it cannot recover.
    """

    state: int
    """The number of its protocol's state."""
    requests: int
    log: int
    stopped: bool = False
    lost: bool = False


@dataclass(slots=True)
class InternedState:
    """What a component is, and what it can do: worked out when that is first asked for, None until then.

    `due` are timers that expire before time goes on, `timeouts` those that expire where nothing else can happen.
    `may_tick`: time may go on as far as this one is concerned; `is_pending`: time must go on for something to happen.
    """

    placement: int
    now: int
    local: int
    inbox: Inbox
    arrivals: tuple[Transition, ...] | None = None
    due: tuple[Transition, ...] = NONE
    timeouts: tuple[Transition, ...] = NONE
    early: tuple[Transition, ...] = NONE
    may_tick: bool = True
    is_pending: bool = False
    requests: tuple[Transition, ...] | None = None
    wants: bool = False
    faults: dict[str, tuple[Transition, ...]] | None = None
    ticked: int | None = None


class TransitionTable:
    """All interned local states of one exploration, each once, with their transitions."""

    def __init__(
        self,
        protocol: Protocol[Any],
        entities: int,
        recording: Recording,
        of_step: tuple[OfStep, ...] = (),
        *,
        check_purity: bool = False,
    ) -> None:
        self.protocol = protocol
        self.entities = entities
        self.recording = recording
        self.network = protocol.network
        self.timed = isinstance(self.network, Timed)
        self.of_step = of_step
        self.check_purity = check_purity
        self.watch: Watch | None = None
        self.rearranges = False
        self.rows: list[InternedState] = []
        self.logs: list[tuple[Entry, ...]] = [()]
        self.seen_log: list[int] = []
        """The number of the history that a component shows to formulas; empty where none is kept."""
        self.locals: list[LocalState] = []
        self.states: list[Any] = []
        self.packets: list[Hashable] = []
        self.placements: list[Placement] = []
        self.broken: dict[int, tuple[str, ...]] = {}
        """The moves, by `id`, whose step breaks invariants, and which."""
        self.met: dict[str, int] = dict.fromkeys((step.name for step in of_step), 0)
        """How many different steps exercised each invariant of steps."""
        self._numbers: dict[tuple[int, int, int, Inbox], int] = {}
        self._log_numbers: dict[tuple[Entry, ...], int] = {(): 0}
        self._local_numbers: dict[tuple[int, int, int, bool, bool], int] = {}
        self._state_numbers: dict[Any, int] = {}
        self._packet_numbers: dict[Hashable, int] = {}
        self._placement_numbers: dict[Placement, int] = {}
        self._puts: dict[tuple[int, tuple[Flight, ...]], int] = {}
        self._tried: dict[tuple[int, int, int, str, Hashable], tuple[Tried, ...] | None] = {}

    # ---- numbers ----

    def component(self, placement: int, now: int, local: int, inbox: Inbox) -> int:
        """The number of a component."""
        key = (placement, now, local, inbox)
        number = self._numbers.get(key)
        if number is None:
            number = len(self.rows)
            self._numbers[key] = number
            self.rows.append(InternedState(placement, now, local, inbox))
            if self.recording.logs:
                self.seen_log.append(self._seen_log(local))
        return number

    def placement(self, placement: Placement) -> int:
        """The number of a placement."""
        number = self._placement_numbers.setdefault(placement, len(self.placements))
        if number == len(self.placements):
            self.placements.append(placement)
        return number

    def state(self, state: Any) -> int:
        """The number of a protocol's state."""
        try:
            number = self._state_numbers.setdefault(state, len(self.states))
        except TypeError as error:
            raise self._unusable("a state", state, error) from None
        if number == len(self.states):
            self.states.append(state)
        return number

    def local(self, state: Any, requests: int, log: int, *, stopped: bool = False, lost: bool = False) -> int:
        """The number of what an entity is in."""
        return self.local_of(self.state(state), requests, log, stopped=stopped, lost=lost)

    def local_of(self, state: int, requests: int, log: int, *, stopped: bool, lost: bool) -> int:
        """The number of what an entity is in, its protocol's state being given by its number."""
        key = (state, requests, log, stopped, lost)
        number = self._local_numbers.get(key)
        if number is None:
            number = self._local_numbers[key] = len(self.locals)
            self.locals.append(LocalState(*key))
        return number

    def state_of(self, local: int) -> Any:
        """The protocol's state of what an entity is in."""
        return self.states[self.locals[local].state]

    def log(self, entries_: tuple[Entry, ...]) -> int:
        """The number of a history."""
        number = self._log_numbers.setdefault(entries_, len(self.logs))
        if number == len(self.logs):
            self.logs.append(entries_)
        return number

    def packet(self, packet: Hashable) -> int:
        """The number of a packet."""
        try:
            number = self._packet_numbers.setdefault(packet, len(self.packets))
        except TypeError as error:
            raise self._unusable("a packet", packet, error) from None
        if number == len(self.packets):
            self.packets.append(packet)
        return number

    def _seen_log(self, local: int) -> int:
        here = self.locals[local]
        state = self.states[here.state]
        if state is None:
            return here.log
        receipts = self.protocol.receipt_log(state)
        if receipts is None:
            return here.log
        self.rearranges = True
        return self.log(with_receipts(self.logs[here.log], receipts))

    def start(self, placement: int, *, stopped: bool) -> int:
        """The component of an entity in the beginning."""
        here = self.here(placement, 0)
        state = self.called("start", here)
        if stopped:
            log = 0
            if self.recording.logs and self.recording.crashes:
                log = self._longer(log, (Entry(EventKind.CRASH, None, 0 if self.timed else None),))
            return self.component(placement, 0, self.local(None, 0, log, stopped=True, lost=True), ())
        return self.component(placement, 0, self.local(state, 0, 0), ())

    def here(self, placement: int, now: int) -> Here:
        """Where a handler runs."""
        sitting = self.placements[placement]
        return Here(sitting.entity, self.entities, now + sitting.ahead if self.timed else 0)

    def put(self, component: int, flights: tuple[Flight, ...]) -> int:
        """The component when flights to it have been transmitted."""
        key = (component, flights)
        number = self._puts.get(key)
        if number is None:
            row = self.rows[component]
            cut = self.placements[row.placement].cut
            reaching = tuple(flight for flight in flights if flight[0] not in cut) if cut else flights
            number = self.component(row.placement, row.now, row.local, put(self.network, row.inbox, reaching))
            self._puts[key] = number
        return number

    # ---- what a component can do ----

    def worked_out(self, component: int) -> InternedState:
        """The row of a component, with its arrivals and timers."""
        row = self.rows[component]
        if row.arrivals is not None:
            return row
        here = self.locals[row.local]
        found: list[Transition] = []
        open_places = []
        for place in next_to_arrive(self.network, row.inbox, row.now):
            made = self._arrivals(row, place, self.packets[row.inbox[place][1]], None, copied=False)
            found += made
            if made:
                open_places.append(place)
        row.arrivals = tuple(found)
        if isinstance(self.network, Timed):
            longest = self.network.longest
            row.may_tick = not any(row.inbox[place][2] + longest <= row.now for place in open_places)
            row.is_pending = bool(row.inbox)
        if not here.stopped:
            self._timers(row)
        return row

    def _timers(self, row: InternedState) -> None:
        at = self.here(row.placement, row.now)
        timers = self.called("timers", at, self.state_of(row.local))
        due: list[Transition] = []
        timeouts: list[Transition] = []
        early: list[Transition] = []
        for timer in timers:
            if timer.due is None:
                timeouts += self._expiry(row, timer, early=False)
                early += self._expiry(row, timer, early=True)
            elif not self.timed:
                raise errors.due_without_time(self.protocol, timer.name)
            elif timer.due <= at.now:
                due += self._expiry(row, timer, early=False)
                row.may_tick = False
            else:
                row.is_pending = True
        row.due, row.timeouts, row.early = tuple(due), tuple(timeouts), tuple(early)

    def requested(self, component: int, messages: tuple[Message, ...]) -> tuple[Transition, ...]:
        """The steps that accept one of the requests that may be made of a component; none where all are refused."""
        row = self.rows[component]
        if row.requests is None:
            row.wants = bool(messages) and not self.locals[row.local].stopped
            found: list[Transition] = []
            for message in messages if row.wants else ():
                found += self._moves(row, row.inbox, "send", (message,), _request_of(message)) or ()
            row.requests = tuple(found)
        return row.requests

    def fault(self, component: int, kind: str) -> tuple[Transition, ...]:
        """What a fault of a kind makes of a component."""
        row = self.rows[component]
        if row.faults is None:
            row.faults = {}
        found = row.faults.get(kind)
        if found is None:
            found = row.faults[kind] = tuple(_FAULTS[kind](self, row))
        return found

    def ticked(self, component: int) -> int:
        """The component one tick later."""
        row = self.rows[component]
        if row.ticked is None:
            row.ticked = self.component(row.placement, row.now + 1, row.local, row.inbox)
        return row.ticked

    def _arrivals(
        self, row: InternedState, place: int, packet: Hashable, original: Hashable, *, copied: bool
    ) -> list[Transition]:
        here = self.locals[row.local]
        sender = row.inbox[place][0]
        entity = self.placements[row.placement].entity
        inbox = row.inbox if copied else without(row.inbox, place)
        if here.stopped:
            gone = self.component(row.placement, row.now, row.local, inbox)
            return [] if copied else [(gone, (), Vanished(entity, sender, packet))]
        made = self._moves(
            row,
            inbox,
            "arrive",
            (packet, sender),
            lambda at, step: Arrived(at, sender, packet, step, copied, original),
        )
        return made or []

    def _expiry(self, row: InternedState, timer: Timer, *, early: bool) -> list[Transition]:
        made = self._moves(
            row, row.inbox, "expire", (timer,), lambda entity, step: Expired(entity, timer, step, early)
        )
        return made or []

    def _after(self, row: InternedState, local: int, inbox: Inbox) -> int:
        return self.component(row.placement, row.now, local, inbox)

    def lost(self, row: InternedState) -> list[Transition]:
        """The network loses what would be next to come in."""
        entity = self.placements[row.placement].entity
        return [
            (
                self._after(row, row.local, without(row.inbox, place)),
                (),
                Lost(entity, row.inbox[place][0], self.packets[row.inbox[place][1]]),
            )
            for place in next_to_arrive(self.network, row.inbox, row.now)
        ]

    def duplicated(self, row: InternedState) -> list[Transition]:
        """Something comes in and a copy of it stays under way."""
        return [
            transition
            for place in next_to_arrive(self.network, row.inbox, row.now)
            for transition in self._arrivals(row, place, self.packets[row.inbox[place][1]], None, copied=True)
        ]

    def corrupted(self, row: InternedState) -> list[Transition]:
        """Something comes in as something else."""
        found: list[Transition] = []
        for place in next_to_arrive(self.network, row.inbox, row.now):
            packet = self.packets[row.inbox[place][1]]
            for other in self.protocol.corrupted(packet):
                found += self._arrivals(row, place, other, packet, copied=False)
        return found

    def crashed(self, row: InternedState) -> list[Transition]:
        """The entity stops."""
        here = self.locals[row.local]
        if here.stopped:
            return []
        at = self.here(row.placement, row.now)
        state = self.states[here.state]
        left = self.called("crash", at, state)
        log = here.log
        if self.recording.logs and self.recording.crashes:
            log = self._longer(log, (Entry(EventKind.CRASH, None, row.now if self.timed else None),))
        kept = state if left is None and self.protocol.receipt_log(state) is not None else left
        local = self.local(kept, here.requests, log, stopped=True, lost=left is None)
        return [(self._after(row, local, row.inbox), (), Crashed(at.entity))]

    def recovered(self, row: InternedState) -> list[Transition]:
        """The entity starts again."""
        here = self.locals[row.local]
        if not here.stopped or here.lost:
            return []
        return self._moves(row, row.inbox, "recover", (), Recovered) or []

    # ---- handlers ----

    def _moves(
        self,
        row: InternedState,
        inbox: Inbox,
        handler: str,
        arguments: tuple[Any, ...],
        move: Callable[[int, Step[Any]], Move],
    ) -> list[Transition] | None:
        """What a handler may do, the rest of the inbox being `inbox`. None: not now."""
        tried = self._steps(handler, row, arguments)
        if tried is None:
            return None
        entity = self.placements[row.placement].entity
        found: list[Transition] = []
        for local, emission, step, failing in tried:
            made = move(entity, step)
            found.append((self.component(row.placement, row.now, local, inbox), emission, made))
            if failing:
                self.broken[id(made)] = failing
        return found

    def _steps(
        self, handler: str, row: InternedState, arguments: tuple[Any, ...]
    ) -> tuple[Tried, ...] | None:
        now = row.now if self.timed else 0
        key = (row.placement, now, row.local, handler, arguments)
        if key not in self._tried:
            here = self.locals[row.local]
            at = self.here(row.placement, now)
            state = self.states[here.state]
            outcome = self.called(handler, at, state, *arguments)
            if self.check_purity and self.called(handler, at, state, *arguments) != outcome:
                raise errors.mistake(
                    self.protocol,
                    "M010",
                    f"{handler} of {self.protocol.name_of(at.entity)} returned two things for the same arguments",
                    f"it was called twice with {errors.short(state)} and {errors.short(arguments)}; "
                    "a handler is a pure function: no random numbers, no clock, nothing it changes",
                )
            if self.watch is not None:
                self.watch(handler, at, state, arguments, outcome)
            self._tried[key] = (
                None
                if outcome is None
                else tuple(
                    self._made(handler, row, here, at, step, arguments)
                    for step in returned_values.steps(self.protocol, outcome)
                )
            )
        return self._tried[key]

    def _made(
        self,
        handler: str,
        row: InternedState,
        here: LocalState,
        at: Here,
        step: Step[Any],
        arguments: tuple[Any, ...],
    ) -> Tried:
        request = arguments[0] if handler == "send" else None
        time = row.now if self.timed else None
        rearranges = self.protocol.receipt_log(step.state) is not None
        more = entries(step, request, self.recording, time, rearranges=rearranges)
        if handler == "recover" and self.recording.logs and self.recording.crashes:
            more = (Entry(EventKind.RECOVER, None, time), *more)
        log = self._longer(here.log, more)
        local = self.local(step.state, here.requests + (request is not None), log)
        emission = self._emission(at.entity, row.now, step)
        if emission and handler != "send" and not self.protocol.answers:
            receiver, flights = emission[0]
            packet = self.packets[flights[0][1]]
            given = (self.states[here.state], *arguments)
            raise declarations.answered(self.protocol, handler, at, given, packet, receiver)
        failing: list[str] = []
        for invariant in self.of_step if arguments else ():
            judged = invariant.check(self.protocol, at, self.states[here.state], arguments[0], step)
            if judged is not None:
                self.met[invariant.name] += 1
            if judged is False:
                failing.append(invariant.name)
        return local, emission, step, tuple(failing)

    def _longer(self, log: int, more: tuple[Entry, ...]) -> int:
        return self.log(extended(self.logs[log], more, self.recording)) if more else log

    def _emission(self, entity: int, now: int, step: Step[Any]) -> Emission:
        flights: dict[int, list[Flight]] = {}
        for action in step.actions:
            if isinstance(action, Transmit):
                number = self.packet(action.packet)
                flight = (entity, number, now) if self.timed else (entity, number)
                for receiver in returned_values.receivers(self.protocol, action, self.entities):
                    flights.setdefault(receiver, []).append(flight)
        return tuple((receiver, tuple(sent)) for receiver, sent in flights.items())

    # ---- mistakes of a model ----

    def called(self, handler: str, at: Here, *arguments: Any) -> Any:
        """What a handler returns; PrecedesError M005 where it raises."""
        try:
            return getattr(self.protocol, handler)(at, *arguments)
        except PrecedesError:
            raise
        except (Exception, SystemExit) as error:
            if os.environ.get("PRECEDES_DEBUG"):
                raise
            raise errors.raised(self.protocol, handler, at, arguments, error) from None

    def _unusable(self, what: str, value: Any, error: TypeError) -> PrecedesError:
        return errors.mistake(
            self.protocol,
            "M007",
            f"{what} cannot be hashed ({error}): {errors.short(value)}",
            "states and packets are frozen values: frozen dataclasses, tuples, frozensets, numbers",
        )


_FAULTS: Final[dict[str, Callable[[TransitionTable, InternedState], list[Transition]]]] = {
    "losses": TransitionTable.lost,
    "duplicates": TransitionTable.duplicated,
    "corruptions": TransitionTable.corrupted,
    "crashes": TransitionTable.crashed,
    "recoveries": TransitionTable.recovered,
}


def _request_of(message: Message) -> Callable[[int, Step[Any]], Move]:
    return lambda entity, step: Requested(entity, message, step)
