"""An entity that runs: its state, and what is done with what its handlers return.

A user's request is tried at once. If the protocol refuses it, it is tried again whenever the state of that entity
changes, and so is a packet that the protocol does not accept yet. In a network with time a request may be waiting for
the clock, so it is also tried after 1, 2, 4 and so many more ticks. A timer with `due` expires at that tick. A time-out
expires after `after` ticks; if the model gives no number, when the network is empty (see `Timer`). A time-out that
changes nothing waits until the state changes before it runs again.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final, TypeAlias, assert_never

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind
from precedes.protocol.exploration.histories import EVERYTHING, Entry, entries, rearrange
from precedes.protocol.model import Choose, Here, Message, Outcome, Step, Timer, Transmit
from precedes.protocol.running.chance import Chance
from precedes.protocol.running.setting import Setting
from precedes.protocol.validation import declarations, errors, returned_values

Transmission: TypeAlias = tuple[Hashable, tuple[int, ...]]
"""A packet, and to whom it goes."""

_PARKED: Final = -1
"""The token of a timer that expired, changed nothing and has not been started again."""

_LONGEST_PAUSE: Final = 64
"""After so many times the quiet of the network a refused request is not tried again only because time has gone on."""

COUNTED: Final = (
    "requests",
    "refused",
    "packets",
    "lost",
    "duplicated",
    "corrupted",
    "vanished",
    "crashes",
    "recoveries",
    "steps",
    "waiting",
    "ticks",
)
"""What is counted in a run."""


class Wake(IntEnum):
    """What an entity is woken for."""

    REQUEST = 0
    """its user asks for a message to be sent; with the destinations"""
    EXPIRE = 1
    """a timer expires; with the timer and its token"""
    CRASH = 2
    """it stops"""
    RECOVER = 3
    """it starts again; with what it has left"""
    AGAIN = 4
    """a refused request is tried again; with the pause before it"""


class Surroundings(ABC):
    """What entities run in. `now` is the time in ticks since the beginning, whatever clocks show.

    `calling`: the handler that runs, where, and its arguments, for messages.
    """

    def __init__(self) -> None:
        self.now = 0
        self.calling: tuple[Any, ...] = ()
        self.counters: dict[str, float] = dict.fromkeys(COUNTED, 0)

    @abstractmethod
    def wake(self, time: int, entity: int, what: Wake, given: Any) -> None:
        """Wake an entity at a time."""

    @abstractmethod
    def transmit(self, sender: int, packets: Sequence[Transmission]) -> None:
        """Hand the packets of one step to the network."""

    @abstractmethod
    def stepped(self, entity: RunningEntity, choice: int) -> None:
        """A handler has returned, the one of `calling`, and what it logs has been logged. `choice`: which of several
        steps was taken. Nobody else has learned of the step yet.
        """

    @abstractmethod
    def taken(self, packets: int) -> None:
        """So many packets are under way no more."""

    @abstractmethod
    def is_quiet(self, timer: Timer) -> bool:
        """Whether a time-out without a length may expire: nothing is under way, and no other comes first."""

    @contextmanager
    def mistakes_told(self, setting: Setting) -> Iterator[None]:
        """What a handler raises is a mistake of the model: PrecedesError M005."""
        try:
            yield
        except PrecedesError:
            raise
        except (Exception, SystemExit) as error:
            if os.environ.get("PRECEDES_DEBUG"):
                raise
            handler, at, *arguments = self.calling
            raise errors.raised(setting.protocol, handler, at, tuple(arguments), error) from None


class RunningEntity:
    """One entity. `ahead`: how far its clock is ahead; `other`: what is drawn that does not concern the network."""

    def __init__(
        self, setting: Setting, around: Surroundings, entity: int, ahead: int, other: Chance
    ) -> None:
        self.setting = setting
        self.protocol = setting.protocol
        self.around = around
        self.entity = entity
        self.ahead = ahead
        self.other = other
        self.state: Any = None
        self.up = True
        self.history: list[Entry] = []
        self.pending: deque[frozenset[int]] = deque()
        self.timers: dict[Timer, int] = {}
        self._receipts: tuple[Message, ...] = ()
        self._accepted = 0
        self._asking = False
        self._held: list[tuple[Hashable, int]] = []
        self._started = 0

    def begin(self, end: float) -> None:
        """Start. `end`: about when the last request has arrived everywhere; before it, a crash may happen."""
        around, conditions = self.around, self.setting.conditions
        at = self.here()
        around.calling = ("start", at)
        self.state = self.protocol.start(at)
        if conditions.crash and self.other.uniform() < conditions.crash:
            around.wake(int(self.other.uniform() * end), self.entity, Wake.CRASH, None)
        if self.setting.has_timers:
            self._run_timers(changed=True)

    def take_over(self, accepted: int) -> None:
        """Stand for an entity that stopped elsewhere: nothing is known of it but how many requests it had accepted."""
        self.up = False
        self._accepted = accepted

    @property
    def runs_a_timer(self) -> bool:
        """Whether a timer runs that may still do something."""
        return any(token != _PARKED for token in self.timers.values())

    @property
    def starving(self) -> int:
        """How many messages wait here, in a run that has ended."""
        return len(self.protocol.waiting(self.state)) if self.up else 0

    def precedes(self, timer: Timer) -> bool:
        """Whether a time-out without a length runs that has less patience than this one."""
        return any(
            other.patience < timer.patience and token != _PARKED and other.due is None and not other.after
            for other, token in self.timers.items()
        )

    def here(self) -> Here:
        """Where its handlers run."""
        if self.setting.timed:
            return Here(self.entity, self.setting.conditions.entities, self.around.now + self.ahead)
        return self.setting.heres[self.entity]

    # ---- what happens ----

    def woken(self, what: Wake, given: Any) -> None:
        """What the entity was to be woken for."""
        match what:
            case Wake.REQUEST:
                self._request(given)
            case Wake.EXPIRE:
                self._expire(*given)
            case Wake.AGAIN:
                self._ask_again(given)
            case Wake.CRASH:
                self._crash()
            case Wake.RECOVER:
                self._recover(given)
            case _:
                assert_never(what)

    def arrive(self, packet: Hashable, sender: int) -> None:
        """A packet comes in."""
        if not self.up:
            self.around.taken(1)
            self.around.counters["vanished"] += 1
            return
        held = self._held
        if (held and self._waits(held, sender)) or not self._take(packet, sender):
            held.append((packet, sender))

    def _request(self, destinations: frozenset[int]) -> None:
        if not self.up:
            return
        pending = self.pending
        pending.append(destinations)
        if len(pending) == 1 and self._take_pending():
            self._went_on(changed=True)
        if pending and self.setting.timed and not self._asking:
            self._asking = True
            self.around.wake(self.around.now + 1, self.entity, Wake.AGAIN, 1)

    def _ask_again(self, pause: int) -> None:
        pending = self.pending
        if pending and self._take_pending():
            self._went_on(changed=True)
            pause = 0
        self._asking = bool(pending) and pause <= _LONGEST_PAUSE * self.setting.quiet
        if self._asking:
            self.around.wake(self.around.now + max(1, pause), self.entity, Wake.AGAIN, max(1, 2 * pause))

    def _waits(self, held: list[tuple[Hashable, int]], sender: int) -> bool:
        """Whether what an entity does not take yet keeps back what comes from `sender`."""
        ordered_by = self.setting.ordered_by
        return ordered_by == "receiver" or (
            ordered_by == "pair" and any(earlier == sender for _, earlier in held)
        )

    def _take(self, packet: Hashable, sender: int, *, again: bool = False) -> bool:
        at, before = self.here(), self.state
        self.around.calling = ("arrive", at, before, packet, sender)
        outcome = self.protocol.arrive(at, before, packet, sender)
        if outcome is None:
            return False
        self.around.taken(1)
        step = self._did(at, before, packet, outcome)
        if not again:
            self._went_on(changed=step.state is not before and step.state != before)
        return True

    def _take_held(self) -> bool:
        """Try what was not taken before, until something is."""
        held = self._held
        for place, (packet, sender) in enumerate(held):
            if place and self._waits(held[:place], sender):
                continue
            if self._take(packet, sender, again=True):
                del held[place]
                return True
        return False

    def _take_pending(self) -> bool:
        """Try the first of the requests that wait."""
        at, before = self.here(), self.state
        message = Message(self.entity, self._accepted + 1, self.pending[0])
        self.around.calling = ("send", at, before, message)
        outcome = self.protocol.send(at, before, message)
        if outcome is None:
            return False
        self.pending.popleft()
        self._accepted += 1
        self.around.counters["requests"] += 1
        self._did(at, before, message, outcome, message)
        return True

    def _went_on(self, *, changed: bool) -> None:
        """After a step: what waited for a change of the state is tried again."""
        if changed:
            held, pending = self._held, self.pending
            while (held and self._take_held()) or (pending and self._take_pending()):
                pass
        if self.setting.has_timers:
            self._run_timers(changed=changed)

    def _expire(self, timer: Timer, token: int) -> None:
        if self.timers.get(timer) != token:
            return
        if timer.due is None and not timer.after and not self.around.is_quiet(timer):
            self.around.wake(self.around.now + self.setting.quiet, self.entity, Wake.EXPIRE, (timer, token))
            return
        at, before = self.here(), self.state
        self.around.calling = ("expire", at, before, timer)
        step = self._did(at, before, timer, self.protocol.expire(at, before, timer))
        changed = step.state != before
        if changed or step.actions:
            del self.timers[timer]
        else:
            self.timers[timer] = _PARKED
        self._went_on(changed=changed)

    def _run_timers(self, *, changed: bool) -> None:
        at, state = self.here(), self.state
        self.around.calling = ("timers", at, state)
        wanted = self.protocol.timers(at, state)
        running = self.timers
        if not wanted:
            running.clear()
            return
        left: dict[Timer, int] = {}
        for timer in wanted:
            token = running.get(timer)
            if token is None or (changed and token == _PARKED):
                token = self._start(timer)
            left[timer] = token
        self.timers = left

    def _start(self, timer: Timer) -> int:
        now = self.around.now
        if timer.due is None:
            time = now + (timer.after or self.setting.quiet)
        elif self.setting.timed:
            time = max(now, timer.due - self.ahead)
        else:
            raise errors.due_without_time(self.protocol, timer.name)
        self._started += 1
        self.around.wake(time, self.entity, Wake.EXPIRE, (timer, self._started))
        return self._started

    def _crash(self) -> None:
        at, before = self.here(), self.state
        around = self.around
        around.calling = ("crash", at, before)
        left = self.protocol.crash(at, before)
        self.history.append(Entry(EventKind.CRASH, None, around.now))
        around.stepped(self, 0)
        around.counters["crashes"] += 1
        around.counters["vanished"] += len(self._held)
        around.taken(len(self._held))
        self.up = False
        self._held.clear()
        self.pending.clear()
        self.timers.clear()
        conditions = self.setting.conditions
        if left is not None and conditions.recovery and self.other.uniform() < conditions.recovery:
            pause = int(self.other.waiting(conditions.delay + conditions.interval))
            around.wake(around.now + pause, self.entity, Wake.RECOVER, left)

    def _recover(self, left: Any) -> None:
        at, around = self.here(), self.around
        around.calling = ("recover", at, left)
        outcome = self.protocol.recover(at, left)
        self.history.append(Entry(EventKind.RECOVER, None, around.now))
        around.counters["recoveries"] += 1
        self.up = True
        self._did(at, left, None, outcome)
        self._went_on(changed=True)

    # ---- what comes of it ----

    def _did(
        self, at: Here, before: Any, cause: Hashable, outcome: Outcome[Any], request: Message | None = None
    ) -> Step[Any]:
        """Carry out what a handler returned."""
        choice = 0
        match outcome:
            case Step():
                step = outcome
            case Choose(options):
                returned_values.steps(self.protocol, outcome)
                choice = self._chosen(options)
                step = options[choice][1]
            case _:
                raise errors.no_outcome(self.protocol, outcome)
        around, setting = self.around, self.setting
        around.counters["steps"] += 1
        self.state = step.state
        packets: list[Transmission] = []
        if request is not None or step.actions:
            returned_values.check_actions(self.protocol, step)
            self.history += entries(step, request, EVERYTHING, around.now, rearranges=setting.rearranges)
            packets = [self._transmission(each) for each in step.actions if type(each) is Transmit]
        if setting.rearranges:
            self._rearrange(step.state)
        around.stepped(self, choice)
        if packets:
            around.transmit(self.entity, packets)
        if setting.observe is not None:
            for name, more in (setting.observe(at, before, cause, step, around.now) or {}).items():
                around.counters[name] = around.counters.get(name, 0) + more
        return step

    def _chosen(self, options: tuple[tuple[float, Step[Any]], ...]) -> int:
        place = self.other.uniform() * sum(weight for weight, _ in options)
        for choice, (weight, _) in enumerate(options):
            place -= weight
            if place < 0:
                return choice
        return len(options) - 1

    def _rearrange(self, state: Any) -> None:
        """RL as the state has it."""
        log = self.protocol.receipt_log(state)
        known = self._receipts
        if log is None or log == known:
            return
        rearrange(self.history, known, log, self.around.now)
        self._receipts = log

    def _transmission(self, action: Transmit) -> Transmission:
        to = returned_values.receivers(self.protocol, action, self.setting.conditions.entities)
        if to and self.setting.silent and self.around.calling[0] != "send":
            handler, at, *given = self.around.calling
            raise declarations.answered(self.protocol, handler, at, tuple(given), action.packet, to[0])
        return action.packet, to
