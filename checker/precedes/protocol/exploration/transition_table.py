"""What can happen in the inner states of an exploration: what the handlers of the model say of them, with the numbers
by which the compiled tables know every value.

An inner state is a placement, the time and the protocol's own state. A handler is called once for each inner state and
each cause. What an entity has logged is not among what a handler sees: a step has a number for the events that it logs,
and the compiled tables add these to a past.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import numbering, offers, search_steps
from precedes.protocol.exploration.distinct_rows import Code
from precedes.protocol.exploration.histories import Entry, Recording, entries
from precedes.protocol.exploration.interned_values import (
    NOT_PLACED,
    PLACE,
    PLACE_BITS,
    Cause,
    InnerState,
    Interned,
    InternedPairs,
    Placement,
)
from precedes.protocol.exploration.known_additions import KnownAdditions
from precedes.protocol.exploration.matrices import Matrices
from precedes.protocol.exploration.shared_parts import SharedParts
from precedes.protocol.exploration.transmissions import Transmissions
from precedes.protocol.invariants import OfStep
from precedes.protocol.model import Here, Message, Protocol, Step, Timer, Transmit
from precedes.protocol.network import Network, Reliable, SingleChannel, Timed
from precedes.protocol.validation import declarations, errors, returned_values
from precedes.protocol.validation.equal_values import EqualValues
from precedes.protocol.validation.handler_calls import called, raise_as_mistake
from precedes.protocol.validation.symmetry_check import Exchanging

Requests: TypeAlias = Callable[[int, int], tuple[Message, ...]]
"""The messages that an entity may be asked to send, after so many requests."""


STATE_BITS: Final = PLACE_BITS
"""An inner state is kept as one number: its site, and in so many bits the protocol's state."""
STATE: Final = PLACE
HOW: Final = {
    EventKind.SEND: c.AS_SEND,
    EventKind.CRASH: c.AS_CRASH,
    EventKind.RECOVER: c.AS_RECOVERY,
}
"""How events are added to a past where their interleaving does not matter: sends come first, and a crash that no
recovery follows comes last."""


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
        self.exchanging: Exchanging | None = None
        """Told of every new call of a handler, where entities can be exchanged."""
        self.number_inner: Callable[[int], int] | None = None
        """Gives an inner state a number that was not looked at before ..."""
        self.make_inner: Callable[[int], int] | None = None
        """... and makes one that has a number already. Where entities can be exchanged, whole orbits get numbers."""
        self.rename_event: Callable[[int], None] | None = None
        """Told of every new event, where entities can be exchanged."""
        self.rounds: list[npt.NDArray[np.int32]] | None = None
        """What was asked, where the search is to be kept."""
        self.code = Code()
        self.states, self.placements, self.inners = Interned(), Interned(), InternedPairs()
        self.triggers, self.events, self.additions = Interned(), Interned(), Interned()
        self._equal = EqualValues(protocol, every=check_purity)
        self.transmissions = Transmissions(protocol, entities, self.triggers, self._equal)
        self.failing: dict[int, tuple[str, ...]] = {}
        """The invariants that steps break, by step."""
        self.met: dict[str, int] = dict.fromkeys((step.name for step in of_step), 0)
        """How many different steps exercised each invariant of steps."""
        self.wanting: set[int] = set()
        self.heard: set[int] = set()
        """The entities that were asked to send, and those that accepted it."""
        self._sites = Interned()
        """Where and when an entity is, and whether it has stopped: all of an inner state but the protocol's state."""
        self._places: dict[tuple[int, int], Here] = {}
        self._heres: list[Here] = []
        """Where a handler runs, by the number of the site ..."""
        self._site_rows: list[tuple[int, int, int, bool]] = []
        """... and what the row of an inner state begins with: entity, placement, when, whether it has stopped."""
        self._waits = bytearray()
        """Whether a message waits in a protocol's state: 1 no, 2 yes, 0 not known."""
        self._request_triggers: dict[tuple[int, int], list[int]] = {}
        """The numbers of the requests that an entity may be asked for after so many, in their order."""
        self._shared = SharedParts(self._equal)
        self._has_waiters = type(protocol).waiting is not Protocol.waiting
        self._has_timers = type(protocol).timers is not Protocol.timers
        self.may_rearrange = type(protocol).receipt_log is not Protocol.receipt_log
        self._known = KnownAdditions(recording, rearranges=self.may_rearrange)

    def begin(self, setting: list[int], *, faulty: bool, requests: Requests, renamings: int = 1) -> None:
        """Make the matrices for a setting."""
        self._requests = requests
        new = [0, *[-1] * (c.INNER_FIELDS - c.PENDING - 1)]
        if not self._has_timers:
            new[c.DUE - c.PENDING : c.EARLY - c.PENDING + 2] = [0] * 6
        if not (faulty or self.timed or self._has_timers):
            new = new[: c.FEW_INNER_FIELDS - c.PENDING]
        self.matrices = Matrices(setting, self.entities, new, faulty=faulty, renamings=renamings)
        self._inner_rows, self._step_rows = self.matrices.fresh("inners"), self.matrices.fresh("steps")
        self.transmissions.begin(self.matrices)
        self._addition((), accepted=False)
        tables = self.matrices.tables()
        numbering.place_inboxes(tables)
        numbering.past_of(tables, 0, 0, 0, -1)

    # ---- numbers ----

    def placement(self, placement: Placement) -> int:
        """The number of a placement."""
        number = self.placements.number(placement)
        if number == self.matrices.count("cut"):
            self.matrices.add("cut", *(k in placement.cut for k in range(self.entities)))
        return number

    def state(self, state: Any) -> int:
        """The number of a protocol's state."""
        new = len(self.states)
        try:
            number = self.states.number(state)
        except TypeError as error:
            raise errors.unhashable(self.protocol, "a state", state, error) from None
        if number == new:
            self._shared.share(state)
        else:
            self._equal.compare(self.states.values[number], state)
        return number

    def inner(self, inner: InnerState) -> int:
        """The number of an inner state."""
        return self._inner(self.inner_key(inner))

    def inner_key(self, inner: InnerState) -> int:
        """An inner state as one number, as `inners` has it."""
        placement, now, state, stopped, lost = inner
        return self.site(placement, now, stopped, lost) << STATE_BITS | state

    def inner_state(self, number: int) -> InnerState:
        """An inner state."""
        key = self._key_of(number)
        placement, now, stopped, lost = self._sites.values[key >> STATE_BITS]
        return InnerState(placement, now, key & STATE, stopped, lost)

    def _key_of(self, number: int) -> int:
        key = self.inners.values[number]
        if key != NOT_PLACED:
            return key
        assert self.make_inner is not None
        return self.make_inner(number)

    def called_in(self, number: int) -> tuple[Here, Any]:
        """Where a handler is called in an inner state, and with which state of the protocol."""
        key = self._key_of(number)
        return self._heres[key >> STATE_BITS], self.states.values[key & STATE]

    def site(self, placement: int, now: int, stopped: bool = False, lost: bool = False) -> int:
        """The number of a site."""
        site = self._sites.number((placement, now, stopped, lost))
        if site == len(self._heres):
            self._heres.append(self.here(placement, now))
            self._site_rows.append((self.placements.values[placement].entity, placement, now, stopped))
        return site

    def _inner(self, key: int) -> int:
        """The number of an inner state that is given by its site and the protocol's state."""
        if self.number_inner is not None:
            number = self.inners.known(key)
            return self.number_inner(key) if number is None else number
        new = len(self.inners)
        number = self.inners.number(key)
        if number == new:
            row = self._site_rows[key >> STATE_BITS]
            waiting, may_tick = self._last_of_row(key & STATE, stopped=row[-1])
            self._inner_rows += (*row, waiting, may_tick)
        return number

    def renamed_sites(self, site: int, renamed: Callable[[int], Iterable[int]]) -> list[int]:
        """What a site is after each renaming. `renamed` tells it of a placement."""
        placement, now, stopped, lost = self._sites.values[site]
        return [self.site(each, now, stopped, lost) for each in renamed(placement)]

    def add_inners(self, state: int, sites: Iterable[int]) -> None:
        """Add the rows of inner states, which differ only in the entity that is in a protocol's state."""
        rows = self._site_rows
        last: tuple[bool, int] | None = None
        for site in sites:
            row = rows[site]
            last = last or self._last_of_row(state, stopped=row[-1])
            self._inner_rows += (*row, *last)

    def entity_at(self, site: int) -> int:
        """The entity of a site."""
        return self._site_rows[site][0]

    def _last_of_row(self, state: int, *, stopped: bool) -> tuple[bool, int]:
        """Whether a message waits in an inner state, and whether time may go on, as its row has it."""
        may_tick = 1 if stopped or not self._has_timers else -1
        if stopped or not self._has_waiters:
            return False, may_tick
        waits = self._waits
        if state >= len(waits):
            waits.extend(bytes(2 * len(self.states) - len(waits)))
        if not waits[state]:
            waits[state] = 2 if self._said("waiting", self.states.values[state]) else 1
        return waits[state] == 2, may_tick

    def event(self, entry: Entry) -> int:
        """The number of an event."""
        new = len(self.events)
        number = self.events.number(entry)
        if number == new:
            self.matrices.add(
                "events", c.IN_COURSE if self.recording.interleaving else HOW.get(entry.kind, c.IN_COURSE)
            )
            if self.rename_event is not None:
                self.rename_event(number)
        return number

    def _addition(self, more: tuple[Entry, ...], *, accepted: bool) -> int:
        """The number of what a step adds to a past."""
        new = len(self.additions)
        number = self.additions.number((more, accepted))
        if number == new:
            first = self.matrices.count("logged")
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
        state = self._called("start", self.here(placement, 0))
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
        found = self._places.get((placement, now))
        if found is None:
            sitting = self.placements.values[placement]
            found = Here(sitting.entity, self.entities, now + sitting.ahead if self.timed else 0)
            self._places[placement, now] = found
        return found

    def orbit(self, component: int) -> int:
        """The same number for all renamings of a component."""
        while not self.matrices.run(self.code, search_steps.ORBIT, component):
            self.answer()
        return int(self.matrices.arrays["renamed"][component].min())

    def inner_of(self, component: int) -> InnerState:
        """The inner state of a component."""
        arrays = self.matrices.arrays
        return self.inner_state(int(arrays["locals"][arrays["components"][component, c.LOCAL], c.INNER]))

    def inbox_of(self, component: int) -> list[tuple[int, Hashable]]:
        """The packets in flight to a component, with their senders."""
        arrays = self.matrices.arrays
        first, last = arrays["inboxes"][arrays["components"][component, c.INBOX]]
        flights = map(self.transmissions.flight_of, arrays["in_flight"][first:last].tolist())
        return [(sender, self.transmissions.packets.values[packet]) for sender, packet, _ in flights]

    # ---- what is asked for ----

    def answer(self) -> None:
        """Find out everything that is asked for, and make room where that is needed."""
        sizes = self.matrices.sizes
        asked = self.matrices.arrays["asked"][: sizes[c.ASKED]]
        if self.rounds is not None and len(asked):
            self.rounds.append(asked.copy())
        first = self.matrices.count("answers")
        self._answer_all(_once(asked))
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

    def _answer_all(self, questions: Iterable[tuple[int, int, int]]) -> None:
        """Find out what is asked. Nearly all questions are about packets that come in: there are hundreds of thousands,
        and most packets are refused, or delivered and nothing else is done.
        """
        inners, states, triggers = self.inners.values, self.states.values, self.triggers.values
        sites, heres = self._sites.values, self._heres
        matrices, answers = self.matrices, self.matrices.fresh("answers")
        steps, arrive, known, mark = (
            self._step_rows,
            self.protocol.arrive,
            self._known.additions,
            self._known.mark,
        )
        exchanging, asked = self.exchanging, bool(self.of_step)
        for kind, of, cause in questions:
            if kind != c.FOR_ANSWER:
                self._answer(kind, of)
                continue
            key = inners[of]
            if key == NOT_PLACED:
                key = self._key_of(of)
            if cause < 0:
                self._answer_requests(of, key, -1 - cause)
                continue
            came = triggers[cause]
            packet, sender = came.packet, came.sender
            if self.check_purity:
                answers += (of, cause, *self._steps(of, "arrive", cause, packet, sender), 0)
                continue
            at, state = heres[key >> STATE_BITS], states[key & STATE]
            try:
                outcome = arrive(at, state, packet, sender)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a model raises is told as its mistake
                raise_as_mistake(self.protocol, "arrive", at, (state, packet, sender), error)
            if exchanging is not None and exchanging.looks_at_next():
                exchanging.compare("arrive", at, state, (packet, sender), outcome)
            if outcome is None:
                answers += (of, cause, 0, 0, 0)
                continue
            first = matrices.count("steps")
            if type(outcome) is Step:
                addition = known.get(mark(sites[key >> STATE_BITS][1], outcome, None))
                if addition is not None:
                    after = self._inner(key & ~STATE | self.state(outcome.state))
                    breaks = asked and self._breaks(first, at, state, packet, outcome)
                    steps += (after, 0, outcome.actions != (), 0, breaks, addition, of, cause, 0)
                    answers += (of, cause, first, first + 1, 0)
                    continue
            answers += (of, cause, *self._rows(of, "arrive", cause, outcome, packet, sender), 0)

    def _answer(self, kind: int, of: int) -> None:
        if kind == c.FOR_CORRUPTED:
            self._answer_corrupted(of)
            return
        inner = self.inner_state(of)
        if kind == c.FOR_TIMERS:
            self._answer_timers(of, inner)
        elif kind == c.FOR_CRASHES:
            self._write(of, c.CRASHES, self._crash(of, inner))
        elif kind == c.FOR_RECOVERIES:
            steps = (0, 0)
            if inner.stopped and not inner.lost:
                steps = self._steps(of, "recover", -1)
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
        for timer in self._called("timers", at, self.states.values[inner.state]):
            if timer.due is not None and not self.timed:
                raise errors.due_without_time(self.protocol, timer.name)
            if timer.due is None or timer.due <= at.now:
                (timeouts if timer.due is None else due).append(timer)
                may_tick = may_tick and timer.due is None
            else:
                pending = True
        for field, timers in ((c.DUE, due), (c.TIMEOUTS, timeouts)):
            first = last = self.matrices.count("steps")
            for timer in timers:
                _, last = self._steps(of, "expire", self.triggers.number(timer), timer)
            self._write(of, field, (first, last))
        later = self.inner(inner._replace(now=inner.now + 1)) if self.timed and may_tick else -1
        row = self.matrices.arrays["inners"][of]
        row[c.LATER] = later
        row[c.EARLY : c.EARLY + 2] = row[c.TIMEOUTS : c.TIMEOUTS + 2]
        row[c.MAY_TICK], row[c.PENDING] = may_tick, pending

    def _answer_requests(self, of: int, key: int, made: int) -> None:
        entity, *_, stopped = self._site_rows[key >> STATE_BITS]
        messages = () if stopped else self._requests(entity, made)
        triggers = self._request_triggers.setdefault((entity, made), [])
        first = last = self.matrices.count("steps")
        for number, message in enumerate(messages):
            if number == len(triggers):
                triggers.append(self.triggers.number(message))
            if self.check_purity:
                _, last = self._steps(of, "send", triggers[number], message)
            else:
                last = self._answer_request(of, key, triggers[number], message, last)
        if messages:
            self.wanting.add(entity)
        if last > first:
            self.heard.add(entity)
        self.matrices.add("answers", of, offers.requested(made), first, last, bool(messages))

    def _answer_request(self, of: int, key: int, by: int, message: Message, first: int) -> int:
        """Add the steps of a request, the first of which is `first`: most are like one that was looked at before. The
        last one.
        """
        site = key >> STATE_BITS
        at, state = self._heres[site], self.states.values[key & STATE]
        try:
            outcome = self.protocol.send(at, state, message)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a model raises is told as its mistake
            raise_as_mistake(self.protocol, "send", at, (state, message), error)
        if self.exchanging is not None:
            self.exchanging.watch("send", at, state, (message,), outcome)
        if outcome is None:
            return first
        if type(outcome) is Step:
            now = self._site_rows[site][2]
            addition = self._known.additions.get(self._known.mark(now, outcome, message))
            if addition is not None:
                after = self.state(outcome.state)
                emission = self.transmissions.emission(at.entity, now, outcome)
                after = self._inner(key & ~STATE | after)
                breaks = bool(self.of_step) and self._breaks(first, at, state, message, outcome)
                self._step_rows += (after, emission, outcome.actions != (), 0, breaks, addition, of, by, 0)
                return first + 1
        return self._rows(of, "send", by, outcome, message)[1]

    def _answer_corrupted(self, flight: int) -> None:
        sender, packet, _ = self.transmissions.flight_of(flight)
        original = self.transmissions.packets.values[packet]
        first = self.matrices.count("others")
        for other in self._said("corrupted", original):
            self.matrices.add("others", self.triggers.number(Cause(sender, other, original)))
        last = self.matrices.count("others")
        self.matrices.arrays["flights"][flight, c.CORRUPTED : c.CORRUPTED + 2] = first, last

    def _crash(self, of: int, inner: InnerState) -> tuple[int, int]:
        if inner.stopped:
            return 0, 0
        state = self.states.values[inner.state]
        left = self._called("crash", self.here(inner.placement, inner.now), state)
        more = self._stop(EventKind.CRASH, inner.now)
        kept = state if left is None and self._said("receipt_log", state) is not None else left
        after = self.inner(inner._replace(state=self.state(kept), stopped=True, lost=left is None))
        addition = self._addition(more, accepted=False)
        step = self.matrices.add("steps", after, 0, True, 0, False, addition, of, -1, 0)
        return step, step + 1

    def _write(self, of: int, field: int, steps: tuple[int, int]) -> None:
        """Write the steps of an inner state that need no packet."""
        self.matrices.arrays["inners"][of, field : field + 2] = steps

    # ---- handlers ----

    def _steps(self, of: int, handler: str, by: int, *arguments: Any) -> tuple[int, int]:
        """Call a handler, and add the steps that it returns: the first and the last. None, where it says: not now.

        `by`: the number of what it is called for.
        """
        at, state = self.called_in(of)
        outcome = self._called(handler, at, state, *arguments)
        if self.exchanging is not None:
            self.exchanging.watch(handler, at, state, arguments, outcome)
        return self._rows(of, handler, by, outcome, *arguments)

    def _called(self, handler: str, at: Here, *arguments: Any) -> Any:
        """What a handler returns; PrecedesError M010 where it is called twice and returns two things."""
        told = called(self.protocol, handler, at, *arguments)
        if self.check_purity and called(self.protocol, handler, at, *arguments) != told:
            raise self.impure(f"{handler} of {self.protocol.name_of(at.entity)}", *arguments)
        return told

    def _said(self, what: str, value: Any) -> Any:
        """What the model says of a state or a packet; M010 likewise."""
        told = getattr(self.protocol, what)(value)
        if self.check_purity and getattr(self.protocol, what)(value) != told:
            raise self.impure(what, value)
        return told

    def _rows(self, of: int, handler: str, by: int, outcome: object, *arguments: Any) -> tuple[int, int]:
        """Add the steps of an outcome: the first and the last."""
        first = self.matrices.count("steps")
        if outcome is None:
            return first, first
        at, state = self.called_in(of)
        patience = arguments[0].patience if handler == "expire" else 0
        options = returned_values.steps(self.protocol, outcome)
        for option, step in enumerate(options):
            after, emission, addition = self.made(handler, of, step, arguments)
            asked = bool(self.of_step and arguments)
            breaks = asked and self._breaks(first + option, at, state, arguments[0], step)
            acts = bool(step.actions)
            self._step_rows += (after, emission, acts, patience, breaks, addition, of, by, option)
        return first, first + len(options)

    def made(
        self, handler: str, of: int, step: Step[Any], arguments: tuple[Any, ...]
    ) -> tuple[int, int, int]:
        """The inner state after a step, what it transmits, and what it adds to the past. `of`: the inner state before
        it.
        """
        key = self._key_of(of)
        site = key >> STATE_BITS
        at, now = self._heres[site], self._sites.values[site][1]
        request = arguments[0] if handler == "send" else None
        mark = None if handler == "recover" else self._known.mark(now, step, request)
        addition = self._known.additions.get(mark)
        more: tuple[Entry, ...] = ()
        if addition is None:
            rearranges = self.may_rearrange and self.protocol.receipt_log(step.state) is not None
            more = entries(step, request, self.recording, now if self.timed else None, rearranges=rearranges)
            if handler == "recover":
                more = (*self._stop(EventKind.RECOVER, now), *more)
        state = self.state(step.state)
        emission = self.transmissions.emission(at.entity, now, step)
        if emission and handler != "send" and not self.protocol.answers:
            raise self._answered(handler, at, (self.states.values[key & STATE], *arguments), step)
        if handler == "recover":
            site = self.site(self._sites.values[site][0], now)
        after = self._inner(site << STATE_BITS | state)
        if addition is None:
            addition = self._addition(more, accepted=request is not None)
            if mark is not None:
                self._known.note(mark, addition, request, step)
        return after, emission, addition

    def _breaks(self, number: int, at: Here, before: Any, cause: Any, step: Step[Any]) -> bool:
        """Whether a step, which gets this number, breaks an invariant of steps."""
        failing: list[str] = []
        for invariant in self.of_step:
            judged = invariant.check(self.protocol, at, before, cause, step)
            if judged is not None:
                self.met[invariant.name] += 1
            if judged is False:
                failing.append(invariant.name)
        if failing:
            self.failing[number] = tuple(failing)
        return bool(failing)

    def broken(self, transition: int) -> tuple[str, ...]:
        """The invariants that the step of a transition breaks."""
        step = int(self.matrices.arrays["transitions"][transition, c.STEP]) if transition >= 0 else -1
        return self.failing.get(step, ())

    # ---- mistakes of a model ----

    def _answered(self, handler: str, at: Here, arguments: tuple[Any, ...], step: Step[Any]) -> PrecedesError:
        """M013, with the first packet that a step transmits and its receiver."""
        packet, receiver = next(
            (action.packet, receiver)
            for action in step.actions
            if isinstance(action, Transmit)
            for receiver in self.transmissions.receivers_of(action)
        )
        return declarations.answered(self.protocol, handler, at, arguments, packet, receiver)

    def impure(self, who: str, *arguments: Any) -> PrecedesError:
        """M010: somebody returned two things for the same arguments."""
        given = " and ".join(map(errors.short, arguments))
        return errors.mistake(
            self.protocol,
            "M010",
            f"{who} returned two things for the same arguments",
            f"it was called twice{' with ' * bool(given)}{given}; "
            "a handler is a pure function: no random numbers, no clock, nothing it changes",
        )


def _once(asked: npt.NDArray[np.int32]) -> Iterable[tuple[int, int, int]]:
    """What is asked for, each question once, in the order in which it was asked first."""
    if asked[:, 0].any():
        return dict.fromkeys(map(tuple, asked.tolist()))
    # Nearly always all questions are for answers: of whom and to what is one number.
    pairs = asked[:, 1].astype(np.int64) << 32 | asked[:, 2].astype(np.uint32)
    first = np.sort(np.unique(pairs, return_index=True)[1])
    return zip(*asked[first].T.tolist(), strict=True)


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
