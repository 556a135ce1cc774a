"""The interned values of an exploration, each with the number by which the compiled tables know it, and what the
handlers of the model say of them.

An inner state is a placement, the time and the protocol's own state. A handler is called once for each inner state and
each cause. What an entity has logged is not among what a handler sees: a step has a number for the events that it logs,
and the compiled tables add these to a past.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import numbering, offers, search_steps
from precedes.protocol.exploration.distinct_rows import Code
from precedes.protocol.exploration.histories import Entry, Recording, entries
from precedes.protocol.exploration.matrices import Matrices
from precedes.protocol.invariants import OfStep
from precedes.protocol.model import Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.moves import Arrived, Crashed, Expired, Lost, Move, Recovered, Requested, Vanished
from precedes.protocol.network import Network, Reliable, SingleChannel, Timed
from precedes.protocol.validation import declarations, errors, returned_values
from precedes.protocol.validation.handler_calls import called

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


class InnerState(NamedTuple):
    """What an entity is in: where and when, and the number of its protocol's state.

    `stopped`: it has crashed, and its state is what it has left; `lost` where that is nothing and it cannot recover.
    """

    placement: int
    now: int
    state: int
    stopped: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Cause:
    """A packet that comes in. `original`: what it was before the network corrupted it."""

    sender: int
    packet: Hashable
    original: Hashable = None


Trigger: TypeAlias = Cause | Message | Timer | None
"""What a handler is called for: a packet, a request, a timer, or a recovery."""

HOW: Final = {
    EventKind.SEND: c.AS_SEND,
    EventKind.CRASH: c.AS_CRASH,
    EventKind.RECOVER: c.AS_RECOVERY,
}
"""How events are added to a past where their interleaving does not matter: sends come first, and a crash that no
recovery follows comes last."""


class Interned:
    """Values with numbers, in the order in which they came."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value. TypeError where it cannot be hashed."""
        values = self.values
        new = len(values)
        number = self._numbers.setdefault(value, new)
        if number == new:
            values.append(value)
        return number

    def known(self, value: Any) -> int | None:
        """The number of a value; None where it has none."""
        return self._numbers.get(value)

    def reserve(self, count: int) -> int:
        """Keep so many numbers for values that are placed later. The first of them."""
        first = len(self.values)
        self.values += [None] * count
        return first

    def place(self, number: int, value: Any) -> None:
        """Give a value a number that was kept for it."""
        self.values[number] = value
        self._numbers[value] = number

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
        self.number_inner: Callable[[InnerState], int] = self._number_inner
        """Gives an inner state a number that was not looked at before ..."""
        self.make_inner: Callable[[int], InnerState] | None = None
        """... and makes one that has a number already. Where entities can be exchanged, whole orbits get numbers."""
        self.rename_flight: Callable[[int], None] | None = None
        """Told of every new flight, where entities can be exchanged; and so of events."""
        self.rename_event: Callable[[int], None] | None = None
        self.rounds: list[npt.NDArray[np.int32]] | None = None
        """What was asked, where the search is to be kept."""
        self.code = Code()
        self.states, self.packets, self.placements = Interned(), Interned(), Interned()
        self.inners, self.triggers, self.flights = Interned(), Interned(), Interned()
        self.emissions, self.events, self.additions = Interned(), Interned(), Interned()
        self.failing: dict[int, tuple[str, ...]] = {}
        """The invariants that steps break, by step."""
        self.met: dict[str, int] = dict.fromkeys((step.name for step in of_step), 0)
        """How many different steps exercised each invariant of steps."""
        self.wanting: set[int] = set()
        self.heard: set[int] = set()
        """The entities that were asked to send, and those that accepted it."""
        self._heres: dict[tuple[int, int], Here] = {}
        self._waits: dict[int, bool] = {}
        self._has_timers = type(protocol).timers is not Protocol.timers
        self.may_rearrange = type(protocol).receipt_log is not Protocol.receipt_log

    def begin(self, setting: list[int], *, faulty: bool, requests: Requests, renamings: int = 1) -> None:
        """Make the matrices for a setting."""
        self._requests = requests
        new = [0, *[-1] * (c.INNER_FIELDS - c.PENDING - 1)]
        if not self._has_timers:
            new[c.DUE - c.PENDING : c.EARLY - c.PENDING + 2] = [0] * 6
        self.matrices = Matrices(setting, self.entities, new, faulty=faulty, renamings=renamings)
        self._emitted({})
        self._addition((), accepted=False)
        tables = self.matrices.tables()
        numbering.place_inboxes(tables)
        numbering.past_of(tables, 0, 0, 0, -1)

    # ---- numbers ----

    def placement(self, placement: Placement) -> int:
        """The number of a placement."""
        number = self.placements.number(placement)
        if number == self.matrices.used["cut"]:
            self.matrices.add("cut", *(k in placement.cut for k in range(self.entities)))
        return number

    def state(self, state: Any) -> int:
        """The number of a protocol's state."""
        try:
            return self.states.number(state)
        except TypeError as error:
            raise errors.unhashable(self.protocol, "a state", state, error) from None

    def packet(self, packet: Hashable) -> int:
        """The number of a packet."""
        try:
            return self.packets.number(packet)
        except TypeError as error:
            raise errors.unhashable(self.protocol, "a packet", packet, error) from None

    def inner(self, inner: InnerState) -> int:
        """The number of an inner state."""
        number = self.inners.known(inner)
        return self.number_inner(inner) if number is None else number

    def inner_state(self, number: int) -> InnerState:
        """An inner state."""
        found: InnerState | None = self.inners.values[number]
        if found is None:
            assert self.make_inner is not None
            return self.make_inner(number)
        return found

    def _number_inner(self, inner: InnerState) -> int:
        number = self.inners.number(inner)
        entity = self.placements.values[inner.placement].entity
        self.add_inners(inner, ((entity, inner.placement),))
        return number

    def add_inners(self, inner: InnerState, placements: Sequence[tuple[int, int]]) -> None:
        """Add the rows of an inner state, or of what it is in several placements, each with its entity."""
        waiting = not inner.stopped and self._has_waiting(inner.state)
        last = (inner.now, inner.stopped, waiting, 1 if inner.stopped or not self._has_timers else -1)
        rows: list[int] = []
        for placement in placements:
            rows += placement
            rows += last
        self.matrices.extend("inners", len(placements), rows)

    def _has_waiting(self, state: int) -> bool:
        if state not in self._waits:
            self._waits[state] = bool(self.protocol.waiting(self.states.values[state]))
        return self._waits[state]

    def flight(self, sender: int, packet: int, sent: int) -> int:
        """The number of a flight."""
        number = self.flights.number((sender, packet, sent))
        if number == self.matrices.used["flights"]:
            cause = self.triggers.number(Cause(sender, self.packets.values[packet]))
            self.matrices.add("flights", sender, packet, sent, cause, -1, -1)
            if self.rename_flight is not None:
                self.rename_flight(number)
        return number

    def event(self, entry: Entry) -> int:
        """The number of an event."""
        number = self.events.number(entry)
        if number == self.matrices.used["events"]:
            self.matrices.add(
                "events", c.IN_COURSE if self.recording.interleaving else HOW.get(entry.kind, c.IN_COURSE)
            )
            if self.rename_event is not None:
                self.rename_event(number)
        return number

    def _addition(self, more: tuple[Entry, ...], *, accepted: bool) -> int:
        """The number of what a step adds to a past."""
        number = self.additions.number((more, accepted))
        if number == self.matrices.used["additions"]:
            first = self.matrices.used["logged"]
            for entry in more:
                self.matrices.add("logged", self.event(entry))
            self.matrices.add("additions", first, first + len(more), accepted)
        return number

    def history(self, past: int) -> tuple[Entry, ...]:
        """The history of an entity with a past."""
        arrays, events = self.matrices.arrays, self.events.values
        _, sends, rest, crash = arrays["pasts"][past].tolist()
        found = [events[crash]] if crash >= 0 else []
        for last in (rest, sends):
            course = last
            while course:
                course, event = arrays["courses"][course].tolist()
                found.append(events[event])
        return tuple(reversed(found))

    def start(self, placement: int, *, stopped: bool) -> int:
        """The component of an entity in the beginning."""
        state = called(self.protocol, "start", self.here(placement, 0))
        more = self._stop(EventKind.CRASH, 0) if stopped else ()
        if stopped:
            inner = self.inner(InnerState(placement, 0, self.state(None), stopped=True, lost=True))
        else:
            inner = self.inner(InnerState(placement, 0, self.state(state)))
        addition = self._addition(more, accepted=False)
        while True:
            tables = self.matrices.tables()
            found = numbering.component_of(
                tables, numbering.local_of(tables, inner, numbering.past_after(tables, 0, addition)), 0
            )
            if found >= 0:
                return found
            self.answer()

    def _stop(self, kind: EventKind, now: int) -> tuple[Entry, ...]:
        """What is logged of a crash or a recovery."""
        if not (self.recording.logs and self.recording.crashes):
            return ()
        return (Entry(kind, None, now if self.timed else None),)

    def here(self, placement: int, now: int) -> Here:
        """Where a handler runs."""
        found = self._heres.get((placement, now))
        if found is None:
            sitting = self.placements.values[placement]
            found = Here(sitting.entity, self.entities, now + sitting.ahead if self.timed else 0)
            self._heres[placement, now] = found
        return found

    def orbit(self, component: int) -> int:
        """The same number for all renamings of a component."""
        while not self.matrices.run(self.code, search_steps.ORBIT, component):
            self.answer()
        return int(self.matrices.arrays["renamed"][component].min())

    def inner_of(self, component: int) -> InnerState:
        """The inner state of a component."""
        return self.inner_state(numbering.inner_of(self.matrices.tables(), component))

    def inbox_of(self, component: int) -> list[tuple[int, Hashable]]:
        """The packets in flight to a component, with their senders."""
        arrays = self.matrices.arrays
        first, last = arrays["inboxes"][arrays["components"][component, c.INBOX]]
        flights = [self.flights.values[flight] for flight in arrays["in_flight"][first:last]]
        return [(sender, self.packets.values[packet]) for sender, packet, _ in flights]

    # ---- what is asked for ----

    def answer(self) -> None:
        """Find out everything that is asked for, and make room where that is needed."""
        sizes, used = self.matrices.sizes, self.matrices.used
        asked = self.matrices.arrays["asked"][: sizes[c.ASKED]]
        if self.rounds is not None and len(asked):
            self.rounds.append(asked.copy())
        first = used["answers"]
        for kind, of, cause in dict.fromkeys(map(tuple, asked.tolist())):
            self._answer(kind, of, cause)
        self.matrices.place_answers(self.code, first)
        if sizes[c.BLOCKED] & c.FULL:
            self.matrices.make_room(self.code)
        sizes[c.ASKED] = sizes[c.BLOCKED] = 0

    def kept(self) -> dict[str, npt.NDArray[Any]]:
        """What was asked, in its order, and what followed from the answers."""
        rounds = self.rounds or []
        return {
            "asked": np.concatenate([np.zeros((0, 3), np.int32), *rounds]),
            "rounds": np.array([len(each) for each in rounds], np.int64),
            **self.matrices.kept(),
        }

    def take_up(self, kept: Mapping[str, npt.NDArray[Any]], alive: Callable[[], None]) -> None:
        """Ask again what was asked, and have what followed from the answers. `alive` is called now and then."""
        sizes, first = self.matrices.sizes, 0
        for count in kept["rounds"].tolist():
            alive()
            self.matrices.arrays["asked"][:count] = kept["asked"][first : first + count]
            sizes[c.ASKED], sizes[c.BLOCKED] = count, c.ASKS
            # An answer may be written into a row of an earlier round, which has to stand there before it.
            self.matrices.write()
            self.answer()
            first += count
        self.matrices.take_up(self.code, kept)

    def _answer(self, kind: int, of: int, cause: int) -> None:
        if kind == c.FOR_CORRUPTED:
            self._answer_corrupted(of)
            return
        inner = self.inner_state(of)
        if kind == c.FOR_ANSWER:
            if cause < 0:
                self._answer_requests(of, inner, -1 - cause)
            else:
                came: Cause = self.triggers.values[cause]
                first, last = self._steps(of, inner, "arrive", cause, came.packet, came.sender)
                self.matrices.add("answers", of, cause, first, last, 0)
        elif kind == c.FOR_TIMERS:
            self._answer_timers(of, inner)
        elif kind == c.FOR_CRASHES:
            self._write(of, c.CRASHES, self._crash(of, inner))
        elif kind == c.FOR_RECOVERIES:
            steps = (0, 0)
            if inner.stopped and not inner.lost:
                steps = self._steps(of, inner, "recover", -1)
            self._write(of, c.RECOVERIES, steps)
        else:
            assert kind == c.FOR_LATER
            later = self.inner(inner._replace(now=inner.now + 1))
            self.matrices.arrays["inners"][of, c.LATER] = later

    def _answer_timers(self, of: int, inner: InnerState) -> None:
        at = self.here(inner.placement, inner.now)
        due: list[Timer] = []
        timeouts: list[Timer] = []
        may_tick, pending = True, False
        for timer in called(self.protocol, "timers", at, self.states.values[inner.state]):
            if timer.due is not None and not self.timed:
                raise errors.due_without_time(self.protocol, timer.name)
            if timer.due is None or timer.due <= at.now:
                (timeouts if timer.due is None else due).append(timer)
                may_tick = may_tick and timer.due is None
            else:
                pending = True
        for field, timers in ((c.DUE, due), (c.TIMEOUTS, timeouts)):
            first = last = self.matrices.used["steps"]
            for timer in timers:
                _, last = self._steps(of, inner, "expire", self.triggers.number(timer), timer)
            self._write(of, field, (first, last))
        later = self.inner(inner._replace(now=inner.now + 1)) if self.timed and may_tick else -1
        row = self.matrices.arrays["inners"][of]
        row[c.LATER] = later
        row[c.EARLY : c.EARLY + 2] = row[c.TIMEOUTS : c.TIMEOUTS + 2]
        row[c.MAY_TICK], row[c.PENDING] = may_tick, pending

    def _answer_requests(self, of: int, inner: InnerState, made: int) -> None:
        entity = self.placements.values[inner.placement].entity
        messages = () if inner.stopped else self._requests(entity, made)
        first = last = self.matrices.used["steps"]
        for message in messages:
            _, last = self._steps(of, inner, "send", self.triggers.number(message), message)
        if messages:
            self.wanting.add(entity)
        if last > first:
            self.heard.add(entity)
        self.matrices.add("answers", of, offers.requested(made), first, last, bool(messages))

    def _answer_corrupted(self, flight: int) -> None:
        sender, packet, _ = self.flights.values[flight]
        original = self.packets.values[packet]
        first = self.matrices.used["others"]
        for other in self.protocol.corrupted(original):
            self.matrices.add("others", self.triggers.number(Cause(sender, other, original)))
        last = self.matrices.used["others"]
        self.matrices.arrays["flights"][flight, c.CORRUPTED : c.CORRUPTED + 2] = first, last

    def _crash(self, of: int, inner: InnerState) -> tuple[int, int]:
        if inner.stopped:
            return 0, 0
        state = self.states.values[inner.state]
        left = called(self.protocol, "crash", self.here(inner.placement, inner.now), state)
        more = self._stop(EventKind.CRASH, inner.now)
        kept = state if left is None and self.protocol.receipt_log(state) is not None else left
        after = self.inner(inner._replace(state=self.state(kept), stopped=True, lost=left is None))
        addition = self._addition(more, accepted=False)
        step = self.matrices.add("steps", after, 0, True, 0, False, addition, of, -1, 0)
        return step, step + 1

    def _write(self, of: int, field: int, steps: tuple[int, int]) -> None:
        """Write the steps of an inner state that need no packet."""
        self.matrices.arrays["inners"][of, field : field + 2] = steps

    # ---- handlers ----

    def _steps(self, of: int, inner: InnerState, handler: str, by: int, *arguments: Any) -> tuple[int, int]:
        """Call a handler, and add the steps that it returns: the first and the last. None, where it says: not now.

        `by`: the number of what it is called for.
        """
        first = self.matrices.used["steps"]
        at, state = self.here(inner.placement, inner.now), self.states.values[inner.state]
        outcome = called(self.protocol, handler, at, state, *arguments)
        if self.check_purity and called(self.protocol, handler, at, state, *arguments) != outcome:
            raise self._impure(handler, at, state, arguments)
        if self.watch is not None:
            self.watch(handler, at, state, arguments, outcome)
        if outcome is None:
            return first, first
        steps = returned_values.steps(self.protocol, outcome)
        patience = arguments[0].patience if handler == "expire" else 0
        for option, step in enumerate(steps):
            after, emission, addition = self._made(handler, inner, at, step, arguments)
            failing = self._failing(at, state, arguments, step) if self.of_step and arguments else ()
            acts = bool(step.actions)
            number = self.matrices.add(
                "steps", after, emission, acts, patience, bool(failing), addition, of, by, option
            )
            if failing:
                self.failing[number] = failing
        return first, first + len(steps)

    def _made(
        self, handler: str, inner: InnerState, at: Here, step: Step[Any], arguments: tuple[Any, ...]
    ) -> tuple[int, int, int]:
        """The inner state after a step, what it transmits, and what it adds to the past."""
        request = arguments[0] if handler == "send" else None
        rearranges = self.may_rearrange and self.protocol.receipt_log(step.state) is not None
        time = inner.now if self.timed else None
        more = entries(step, request, self.recording, time, rearranges=rearranges)
        if handler == "recover":
            more = (*self._stop(EventKind.RECOVER, inner.now), *more)
        state = self.state(step.state)
        emission, first = self._emission(at.entity, inner.now, step)
        if first is not None and handler != "send" and not self.protocol.answers:
            before = self.states.values[inner.state]
            raise declarations.answered(self.protocol, handler, at, (before, *arguments), *first)
        after = self.inner(InnerState(inner.placement, inner.now, state))
        return after, emission, self._addition(more, accepted=request is not None)

    def _failing(self, at: Here, before: Any, arguments: tuple[Any, ...], step: Step[Any]) -> tuple[str, ...]:
        """The invariants that a step breaks."""
        failing: list[str] = []
        for invariant in self.of_step:
            judged = invariant.check(self.protocol, at, before, arguments[0], step)
            if judged is not None:
                self.met[invariant.name] += 1
            if judged is False:
                failing.append(invariant.name)
        return tuple(failing)

    def _emission(self, entity: int, now: int, step: Step[Any]) -> tuple[int, tuple[Hashable, int] | None]:
        """The number of what a step transmits; and of it the first packet, with its receiver."""
        flights: dict[int, list[int]] = {}
        for action in step.actions:
            if type(action) is Transmit:
                flight = self.flight(entity, self.packet(action.packet), now if self.timed else 0)
                for receiver in returned_values.receivers(self.protocol, action, self.entities):
                    flights.setdefault(receiver, []).append(flight)
        if not flights:
            return 0, None
        receiver, sent = next(iter(flights.items()))
        return self._emitted(flights), (self.packets.values[self.flights.values[sent[0]][1]], receiver)

    def _emitted(self, flights: dict[int, list[int]]) -> int:
        """The number of an emission: flights by their receivers."""
        number = self.emissions.number(tuple((receiver, tuple(sent)) for receiver, sent in flights.items()))
        if number == self.matrices.used["emissions"]:
            first = self.matrices.used["groups"]
            for receiver, sent in flights.items():
                begin = self.matrices.used["sent"]
                for flight in sent:
                    self.matrices.add("sent", flight)
                self.matrices.add("groups", receiver, begin, self.matrices.used["sent"])
            self.matrices.add("emissions", first, self.matrices.used["groups"])
        return number

    # ---- what is shown ----

    def step(self, number: int) -> Step[Any]:
        """A step, by calling its handler again. PrecedesError M010 where that returns something else now."""
        row = self.matrices.arrays["steps"][number].tolist()
        inner = self.inner_state(row[c.WHENCE])
        at, state = self.here(inner.placement, inner.now), self.states.values[inner.state]
        trigger: Trigger = self.triggers.values[row[c.BY]] if row[c.BY] >= 0 else None
        handler, arguments = _call(trigger)
        outcome = called(self.protocol, handler, at, state, *arguments)
        steps = () if outcome is None else returned_values.steps(self.protocol, outcome)
        made = steps[row[c.OPTION] :][:1]
        expected = (row[c.AFTER], row[c.EMISSION], row[c.ADDS])
        if not made or self._made(handler, inner, at, made[0], arguments) != expected:
            raise self._impure(handler, at, state, arguments)
        return made[0]

    def move(self, entity: int, transition: int) -> Move:
        """The move that a transition of an entity is."""
        _, _, step, kind, cause = self.matrices.arrays["transitions"][transition].tolist()
        if kind == c.CRASHED:
            return Crashed(entity)
        made = Step(None) if step < 0 else self.step(step)
        by = -1 if step < 0 else int(self.matrices.arrays["steps"][step, c.BY])
        if kind == c.REQUESTED_MOVE:
            return Requested(entity, self.triggers.values[by], made)
        if kind in (c.EXPIRED, c.EXPIRED_EARLY):
            return Expired(entity, self.triggers.values[by], made, kind == c.EXPIRED_EARLY)
        if kind == c.RECOVERED:
            return Recovered(entity, made)
        came: Cause = self.triggers.values[cause]
        if kind == c.LOST:
            return Lost(entity, came.sender, came.packet)
        if kind == c.VANISHED:
            return Vanished(entity, came.sender, came.packet)
        assert kind in (c.ARRIVED, c.COPIED)
        return Arrived(entity, came.sender, came.packet, made, kind == c.COPIED, came.original)

    def broken(self, transition: int) -> tuple[str, ...]:
        """The invariants that the step of a transition breaks."""
        step = int(self.matrices.arrays["transitions"][transition, c.STEP]) if transition >= 0 else -1
        return self.failing.get(step, ())

    # ---- mistakes of a model ----

    def _impure(self, handler: str, at: Here, state: Any, arguments: tuple[Any, ...]) -> PrecedesError:
        return errors.mistake(
            self.protocol,
            "M010",
            f"{handler} of {self.protocol.name_of(at.entity)} returned two things for the same arguments",
            f"it was called twice with {errors.short(state)} and {errors.short(arguments)}; "
            "a handler is a pure function: no random numbers, no clock, nothing it changes",
        )


def _call(trigger: Trigger) -> tuple[str, tuple[Any, ...]]:
    """The handler that is called for something, and with what."""
    match trigger:
        case Cause(sender, packet):
            return "arrive", (packet, sender)
        case Message():
            return "send", (trigger,)
        case Timer():
            return "expire", (trigger,)
        case None:
            return "recover", ()
        case _:
            assert_never(trigger)


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
