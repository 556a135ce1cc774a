"""The interned values of an exploration, each with the number by which the compiled tables know it, and what the
handlers of the model say of them.

A local state is a placement, the time, the entity's own state and its history. A handler is called once for each state
of the protocol and each cause; what it does to a local state follows from that and from the history.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, assert_never

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import expansion
from precedes.protocol.exploration.distinct_rows import Code
from precedes.protocol.exploration.histories import Entry, Recording, entries, extended, with_receipts
from precedes.protocol.exploration.matrices import Matrices
from precedes.protocol.invariants import OfStep
from precedes.protocol.model import Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.moves import Arrived, Crashed, Expired, Lost, Move, Recovered, Requested, Vanished
from precedes.protocol.network import Network, Reliable, SingleChannel, Timed
from precedes.protocol.validation import declarations, errors, returned_values

Watch: TypeAlias = Callable[[str, Here, Any, tuple[Any, ...], object], None]
"""Told of every new call of a handler: which, where, the state, what else it was called with, what it returned."""

Requests: TypeAlias = Callable[[int, int], tuple[Message, ...]]
"""The messages that an entity may be asked to send, after so many requests."""


@dataclass(frozen=True, slots=True)
class Placement:
    """An entity under conditions that never change: how far its clock is ahead, and from whom nothing reaches it."""

    entity: int
    ahead: int = 0
    cut: frozenset[int] = frozenset()


class LocalState(NamedTuple):
    """What an entity is in: where and when, the number of its protocol's state, how many requests it has accepted, and
    the number of its history.

    `stopped`: it has crashed, and its state is what it has left; `lost` where that is nothing and it cannot recover.
    """

    placement: int
    now: int
    state: int
    requests: int
    log: int
    stopped: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Cause:
    """A packet that comes in. `original`: what it was before the network corrupted it."""

    sender: int
    packet: Hashable
    original: Hashable = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a handler did: the number of the state after it, whether it accepted a request, what it added to the
    history, the number of what it transmits, the step, and the invariants that it breaks.
    """

    state: int
    accepted: bool
    entries: tuple[Entry, ...]
    emission: int
    step: Step[Any]
    failing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A step of a local state: what was done, and the request or the timer that made it, if one did."""

    done: Done | None
    request: Message | None = None
    timer: Timer | None = None


class Interned:
    """Values with numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value. TypeError where it cannot be hashed."""
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number

    def __len__(self) -> int:
        return len(self.values)


class TransitionTable:
    """All interned values of one exploration, and what the handlers say of them."""

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
        self.rename: Callable[[int], None] | None = None
        """Told of every new local state, where entities can be exchanged."""
        self.rename_flight: Callable[[int], None] | None = None
        self.rearranges = False
        self.code = Code()
        self.states, self.logs, self.packets = Interned(), Interned(), Interned()
        self.placements, self.locals, self.causes = Interned(), Interned(), Interned()
        self.flights, self.emissions = Interned(), Interned()
        self.views = Interned()
        """What invariants see of an entity: placement, time and state."""
        self.steps: list[Taken] = []
        self.met: dict[str, int] = dict.fromkeys((step.name for step in of_step), 0)
        """How many different steps exercised each invariant of steps."""
        self.wanting: set[int] = set()
        self.heard: set[int] = set()
        """The entities that were asked to send, and those that accepted it."""
        self._done: dict[tuple[int, int, int, str, Hashable], tuple[Done, ...] | None] = {}
        self._waits: dict[int, bool] = {}
        self._has_timers = type(protocol).timers is not Protocol.timers
        self.logs.number(())

    def begin(self, setting: list[int], *, faulty: bool, requests: Requests, renamings: int = 1) -> None:
        """Make the matrices for a setting."""
        self._requests = requests
        self.matrices = Matrices(setting, self.entities, faulty=faulty, renamings=renamings)
        self.matrices.add("emissions", (0, 0))
        self.emissions.number(())
        c.place_inboxes(self.matrices.tables())

    # ---- numbers ----

    def placement(self, placement: Placement) -> int:
        """The number of a placement."""
        number = self.placements.number(placement)
        if number == self.matrices.used["cut"]:
            self.matrices.add("cut", [k in placement.cut for k in range(self.entities)])
        return number

    def state(self, state: Any) -> int:
        """The number of a protocol's state."""
        try:
            return self.states.number(state)
        except TypeError as error:
            raise self._unusable("a state", state, error) from None

    def packet(self, packet: Hashable) -> int:
        """The number of a packet."""
        try:
            return self.packets.number(packet)
        except TypeError as error:
            raise self._unusable("a packet", packet, error) from None

    def log(self, entries_: tuple[Entry, ...]) -> int:
        """The number of a history."""
        return self.logs.number(entries_)

    def local(self, local: LocalState, like: int | None = None) -> int:
        """The number of a local state. `like`: another one of which it is a renaming."""
        number = self.locals.number(local)
        if number < self.matrices.used["locals"]:
            return number
        row = [-1] * c.LOCAL_FIELDS
        row[c.ENTITY] = self.placements.values[local.placement].entity
        row[c.PLACEMENT] = local.placement
        row[c.NOW] = local.now
        row[c.STOPPED] = local.stopped
        row[c.LOG] = self._seen_log(local) if self.recording.logs else 0
        row[c.VIEW] = -1 if local.stopped else self.views.number((local.placement, local.now, local.state))
        if local.stopped:
            row[c.WAITING], row[c.PENDING], row[c.MAY_TICK] = 0, 0, 1
        elif like is None:
            row[c.WAITING] = self._has_waiting(local.state)
        else:
            row[c.WAITING] = self.matrices.arrays["locals"][like, c.WAITING]
        row[c.PENDING], row[c.WANTS] = 0, 0
        if not self._has_timers:
            row[c.DUE : c.EARLY + 2], row[c.MAY_TICK] = [0] * 6, 1
        self.matrices.add("locals", row)
        if self.rename is not None:
            self.matrices.add("renamed_locals", -1)
        if like is None and self.rename is not None:
            self.rename(number)
        return number

    def _has_waiting(self, state: int) -> bool:
        if state not in self._waits:
            self._waits[state] = bool(self.protocol.waiting(self.states.values[state]))
        return self._waits[state]

    def _seen_log(self, here: LocalState) -> int:
        state = self.states.values[here.state]
        if state is None:
            return here.log
        receipts = self.protocol.receipt_log(state)
        if receipts is None:
            return here.log
        self.rearranges = True
        return self.log(with_receipts(self.logs.values[here.log], receipts))

    def flight(self, sender: int, packet: int, sent: int) -> int:
        """The number of a flight."""
        number = self.flights.number((sender, packet, sent))
        if number == self.matrices.used["flights"]:
            cause = self.causes.number(Cause(sender, self.packets.values[packet]))
            self.matrices.add("flights", (sender, packet, sent, cause, -1, -1))
            if self.rename_flight is not None:
                self.matrices.add("renamed_flights", -1)
                self.rename_flight(number)
        return number

    def start(self, placement: int, *, stopped: bool) -> int:
        """The local state of an entity in the beginning."""
        here = self.here(placement, 0)
        state = self.called("start", here)
        if stopped:
            log = 0
            if self.recording.logs and self.recording.crashes:
                log = self._longer(log, (Entry(EventKind.CRASH, None, 0 if self.timed else None),))
            return self.local(LocalState(placement, 0, self.state(None), 0, log, stopped=True, lost=True))
        return self.local(LocalState(placement, 0, self.state(state), 0, 0))

    def here(self, placement: int, now: int) -> Here:
        """Where a handler runs."""
        sitting = self.placements.values[placement]
        return Here(sitting.entity, self.entities, now + sitting.ahead if self.timed else 0)

    def component(self, local: int) -> int:
        """The number of the component with an empty inbox."""
        while (found := c.component_of(self.matrices.tables(), local, 0)) < 0:
            self.answer()
        return found

    def orbit(self, component: int) -> int:
        """The same number for all renamings of a component."""
        while not self.code(expansion.orbit)(self.matrices.tables(), component):
            self.answer()
        return int(self.matrices.arrays["renamed"][component].min())

    def local_of(self, component: int) -> LocalState:
        """The local state of a component."""
        found: LocalState = self.locals.values[self.matrices.arrays["components"][component, c.LOCAL]]
        return found

    def inbox_of(self, component: int) -> list[tuple[int, Hashable]]:
        """The packets in flight to a component, with their senders."""
        arrays = self.matrices.arrays
        first, last = arrays["inboxes"][arrays["components"][component, c.INBOX]]
        flights = [self.flights.values[flight] for flight in arrays["in_flight"][first:last]]
        return [(sender, self.packets.values[packet]) for sender, packet, _ in flights]

    # ---- what is asked for ----

    def answer(self) -> None:
        """Find out everything that is asked for, and make room where that is needed."""
        sizes = self.matrices.sizes
        asked = self.matrices.arrays["asked"][: sizes[c.ASKED]].tolist()
        for kind, of, cause in dict.fromkeys(map(tuple, asked)):
            self._answer(kind, of, cause)
        if sizes[c.BLOCKED] & c.FULL:
            self.matrices.make_room(self.code)
        sizes[c.ASKED] = sizes[c.BLOCKED] = 0

    def _answer(self, kind: int, of: int, cause: int) -> None:
        if kind == c.FOR_ANSWER:
            self._answer_packet(of, cause)
        elif kind == c.FOR_TIMERS:
            self._answer_timers(of)
        elif kind == c.FOR_REQUESTS:
            self._answer_requests(of)
        elif kind == c.FOR_CRASHES:
            self._answer_crash(of)
        elif kind == c.FOR_RECOVERIES:
            here: LocalState = self.locals.values[of]
            done = self._done_by(of, "recover", None) if here.stopped and not here.lost else None
            self._write(of, c.RECOVERIES, [(each, Taken(each)) for each in done or ()])
        elif kind == c.FOR_CORRUPTED:
            self._answer_corrupted(of)
        else:
            assert kind == c.FOR_LATER
            local: LocalState = self.locals.values[of]
            number = self.local(local._replace(now=local.now + 1))
            self.matrices.arrays["locals"][of, c.LATER] = number

    def _answer_packet(self, local: int, cause: int) -> None:
        came: Cause = self.causes.values[cause]
        done = self._done_by(local, "arrive", cause, came.packet, came.sender)
        first, last = self._steps(local, [(each, Taken(each)) for each in done or ()])
        head = int(self.matrices.arrays["locals"][local, c.STEPS])
        answer = self.matrices.add("answers", (cause, first, last, head))
        self.matrices.arrays["locals"][local, c.STEPS] = answer

    def _answer_timers(self, local: int) -> None:
        here: LocalState = self.locals.values[local]
        at = self.here(here.placement, here.now)
        due: list[tuple[Done, Taken]] = []
        timeouts: list[tuple[Done, Taken]] = []
        may_tick, pending = True, False
        for timer in self.called("timers", at, self.states.values[here.state]):
            if timer.due is not None and not self.timed:
                raise errors.due_without_time(self.protocol, timer.name)
            if timer.due is None or timer.due <= at.now:
                done = self._done_by(local, "expire", timer, timer) or ()
                (timeouts if timer.due is None else due).extend(
                    (each, Taken(each, timer=timer)) for each in done
                )
                may_tick = may_tick and timer.due is None
            else:
                pending = True
        self._write(local, c.DUE, due)
        self._write(local, c.TIMEOUTS, timeouts)
        later = self.local(here._replace(now=here.now + 1)) if self.timed and may_tick else -1
        rows = self.matrices.arrays["locals"]
        rows[local, c.LATER] = later
        rows[local, c.EARLY : c.EARLY + 2] = rows[local, c.TIMEOUTS : c.TIMEOUTS + 2]
        rows[local, c.MAY_TICK], rows[local, c.PENDING] = may_tick, pending

    def _answer_requests(self, local: int) -> None:
        here: LocalState = self.locals.values[local]
        entity = self.placements.values[here.placement].entity
        messages = () if here.stopped else self._requests(entity, here.requests)
        found: list[tuple[Done, Taken]] = []
        for message in messages:
            found += (
                (each, Taken(each, message)) for each in self._done_by(local, "send", message, message) or ()
            )
        if messages:
            self.wanting.add(entity)
            self.matrices.arrays["locals"][local, c.WANTS] = 1
        if found:
            self.heard.add(entity)
        self._write(local, c.REQUESTS, found)

    def _answer_corrupted(self, flight: int) -> None:
        sender, packet, _ = self.flights.values[flight]
        original = self.packets.values[packet]
        first = self.matrices.used["others"]
        for other in self.protocol.corrupted(original):
            self.matrices.add("others", self.causes.number(Cause(sender, other, original)))
        last = self.matrices.used["others"]
        self.matrices.arrays["flights"][flight, c.CORRUPTED : c.CORRUPTED + 2] = first, last

    def _answer_crash(self, local: int) -> None:
        here: LocalState = self.locals.values[local]
        if here.stopped:
            self._write(local, c.CRASHES, [])
            return
        state = self.states.values[here.state]
        left = self.called("crash", self.here(here.placement, here.now), state)
        more: tuple[Entry, ...] = ()
        if self.recording.logs and self.recording.crashes:
            more = (Entry(EventKind.CRASH, None, here.now if self.timed else None),)
        kept = state if left is None and self.protocol.receipt_log(state) is not None else left
        after = here._replace(
            state=self.state(kept), log=self._longer(here.log, more), stopped=True, lost=left is None
        )
        step = self.matrices.add("steps", (self.local(after), 0, True, 0, False))
        self.steps.append(Taken(None))
        self.matrices.arrays["locals"][local, c.CRASHES : c.CRASHES + 2] = step, step + 1

    def _write(self, local: int, field: int, taken: list[tuple[Done, Taken]]) -> None:
        """Write the steps of a local state that need no packet."""
        first, last = self._steps(local, taken)
        self.matrices.arrays["locals"][local, field : field + 2] = first, last

    def _steps(self, local: int, taken: list[tuple[Done, Taken]]) -> tuple[int, int]:
        first = len(self.steps)
        here: LocalState = self.locals.values[local]
        for done, one in taken:
            requests, log = here.requests + done.accepted, self._longer(here.log, done.entries)
            after = self.local(LocalState(here.placement, here.now, done.state, requests, log))
            patience = 0 if one.timer is None else one.timer.patience
            acts, breaks = bool(done.step.actions), bool(done.failing)
            self.matrices.add("steps", (after, done.emission, acts, patience, breaks))
            self.steps.append(one)
        return first, len(self.steps)

    # ---- handlers ----

    def _done_by(self, local: int, handler: str, cause: Hashable, *arguments: Any) -> tuple[Done, ...] | None:
        """What a handler does, by the number of the packet or by what else it is called with. None: not now."""
        here: LocalState = self.locals.values[local]
        key = (here.placement, here.now, here.state, handler, cause)
        if key not in self._done:
            at = self.here(here.placement, here.now)
            state = self.states.values[here.state]
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
            self._done[key] = (
                None
                if outcome is None
                else tuple(
                    self._made(handler, here, at, step, arguments)
                    for step in returned_values.steps(self.protocol, outcome)
                )
            )
        return self._done[key]

    def _made(
        self, handler: str, here: LocalState, at: Here, step: Step[Any], arguments: tuple[Any, ...]
    ) -> Done:
        request = arguments[0] if handler == "send" else None
        time = here.now if self.timed else None
        rearranges = self.protocol.receipt_log(step.state) is not None
        more = entries(step, request, self.recording, time, rearranges=rearranges)
        if handler == "recover" and self.recording.logs and self.recording.crashes:
            more = (Entry(EventKind.RECOVER, None, time), *more)
        state = self.state(step.state)
        emission, first = self._emission(at.entity, here.now, step)
        before = self.states.values[here.state]
        if first is not None and handler != "send" and not self.protocol.answers:
            raise declarations.answered(self.protocol, handler, at, (before, *arguments), *first)
        failing: list[str] = []
        for invariant in self.of_step if arguments else ():
            judged = invariant.check(self.protocol, at, before, arguments[0], step)
            if judged is not None:
                self.met[invariant.name] += 1
            if judged is False:
                failing.append(invariant.name)
        return Done(state, request is not None, more, emission, step, tuple(failing))

    def _longer(self, log: int, more: tuple[Entry, ...]) -> int:
        return self.log(extended(self.logs.values[log], more, self.recording)) if more else log

    def _emission(self, entity: int, now: int, step: Step[Any]) -> tuple[int, tuple[Hashable, int] | None]:
        """The number of what a step transmits; and of it the first packet, with its receiver."""
        flights: dict[int, list[int]] = {}
        for action in step.actions:
            if isinstance(action, Transmit):
                flight = self.flight(entity, self.packet(action.packet), now if self.timed else 0)
                for receiver in returned_values.receivers(self.protocol, action, self.entities):
                    flights.setdefault(receiver, []).append(flight)
        emission = tuple((receiver, tuple(sent)) for receiver, sent in flights.items())
        number = self.emissions.number(emission)
        if number == self.matrices.used["emissions"]:
            first = self.matrices.used["groups"]
            for receiver, sent in emission:
                begin = self.matrices.used["sent"]
                for flight in sent:
                    self.matrices.add("sent", flight)
                self.matrices.add("groups", (receiver, begin, self.matrices.used["sent"]))
            self.matrices.add("emissions", (first, self.matrices.used["groups"]))
        if not emission:
            return number, None
        receiver, sent = emission[0]
        return number, (self.packets.values[self.flights.values[sent[0]][1]], receiver)

    def move(self, entity: int, transition: int) -> Move:
        """The move that a transition of an entity is."""
        _, _, step, kind, cause = self.matrices.arrays["transitions"][transition].tolist()
        taken = self.steps[step] if step >= 0 else Taken(None)
        made = Step(None) if taken.done is None else taken.done.step
        came = self.causes.values[cause] if cause >= 0 else None
        if kind == c.REQUESTED_MOVE:
            assert taken.request is not None
            return Requested(entity, taken.request, made)
        if kind in (c.EXPIRED, c.EXPIRED_EARLY):
            assert taken.timer is not None
            return Expired(entity, taken.timer, made, kind == c.EXPIRED_EARLY)
        if kind == c.CRASHED:
            return Crashed(entity)
        if kind == c.RECOVERED:
            return Recovered(entity, made)
        assert came is not None
        if kind == c.LOST:
            return Lost(entity, came.sender, came.packet)
        if kind == c.VANISHED:
            return Vanished(entity, came.sender, came.packet)
        assert kind in (c.ARRIVED, c.COPIED)
        return Arrived(entity, came.sender, came.packet, made, kind == c.COPIED, came.original)

    def broken(self, transition: int) -> tuple[str, ...]:
        """The invariants that the step of a transition breaks."""
        step = int(self.matrices.arrays["transitions"][transition, c.STEP]) if transition >= 0 else -1
        done = self.steps[step].done if step >= 0 else None
        return () if done is None else done.failing

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


def kind_of(network: Network) -> int:
    """The number of a kind of network in the compiled tables."""
    match network:
        case SingleChannel():
            return c.ONE_CHANNEL
        case Timed():
            return c.TIMED
        case Reliable(fifo=fifo):
            return c.FIFO if fifo else c.IN_ANY_ORDER
        case _:
            assert_never(network)
