"""One simulated execution: events in the order of their times.

A run ends when nothing is left to happen. A user's request is tried at once. If the protocol refuses it, it
is tried again whenever the state of that entity changes, and so is a packet that the protocol does not accept
yet. In a network with time a request may be waiting for the clock, so it is also tried after 1, 2, 4 and so
many more ticks. A timer with `due` expires at that tick. A time-out expires after `after` ticks; if the model
gives no number, when the network is empty (see `Timer`). A time-out that changes nothing waits until the
state changes before it runs again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Any, Final

from precedes.core.execution import EventKind
from precedes.protocol.exploration.histories import EVERYTHING, Entry, entries
from precedes.protocol.model import Choose, Here, Message, Outcome, Step, Timer, Transmit
from precedes.protocol.running.chance import Chance
from precedes.protocol.running.setting import Recorded, Setting
from precedes.protocol.validation import declarations, errors, returned_values

_REQUEST, _ARRIVE, _EXPIRE, _CRASH, _RECOVER, _AGAIN = range(6)
_PARKED: Final = -1
"""The token of a timer that expired, changed nothing and has not been started again."""

_LONGEST_PAUSE: Final = 64
"""After so many times the quiet of the network a refused request is not tried again only because time has gone on."""


class Running:
    """A run under way."""

    def __init__(self, setting: Setting, seed: int, number: int) -> None:
        self.setting = setting
        self.protocol = setting.protocol
        self.number, self.seed = number, seed
        self.network = Chance(seed, number, "network")
        self.other = Chance(seed, number, "other")
        conditions = setting.conditions
        self.entities = entities = conditions.entities
        self.now = 0
        self.heap: list[tuple[int, float, int, int, int, Any]] = []
        self.pushed = 0
        self.under_way = 0
        self.calling: tuple[Any, ...] = ()
        self.ahead = [
            self.other.below(conditions.skew + 1) if conditions.skew else 0 for _ in range(entities)
        ]
        self.histories: list[list[Entry]] = [[] for _ in range(entities)]
        self.receipts: list[tuple[Message, ...]] = [()] * entities
        self.accepted = [0] * entities
        self.pending: list[deque[frozenset[int]]] = [deque() for _ in range(entities)]
        self.asking = [False] * entities
        self.held: list[list[tuple[Hashable, int]]] = [[] for _ in range(entities)]
        self.timers: list[dict[Timer, int]] = [{} for _ in range(entities)]
        self.last: dict[Any, tuple[int, float]] = {}
        self.up = [True] * entities
        self.counters: dict[str, float] = dict.fromkeys(
            (
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
            ),
            0,
        )
        self.states: list[Any] = [None] * entities

    def recorded(self) -> Recorded:
        """What came of it."""
        protocol, counters = self.protocol, self.counters
        counters["ticks"] = self.now
        counters["refused"] = sum(map(len, self.pending))
        counters["waiting"] = sum(
            len(protocol.waiting(state)) for state, up in zip(self.states, self.up, strict=True) if up
        )
        states = tuple(state if up else None for state, up in zip(self.states, self.up, strict=True))
        return Recorded(tuple(map(tuple, self.histories)), states, counters)

    def go(self) -> None:
        """From the beginning until nothing is left to happen."""
        self._begin()
        heap, most_steps, counters = self.heap, self.setting.most_steps, self.counters
        while heap:
            self.now, _, _, kind, entity, what = heappop(heap)
            if kind == _ARRIVE:
                self._arrive(entity, what[0], what[1])
            elif kind == _REQUEST:
                self._request(entity, what)
            elif kind == _EXPIRE:
                self._expire(entity, what[0], what[1])
            elif kind == _AGAIN:
                self._ask_again(entity, what)
            elif kind == _CRASH:
                self._crash(entity)
            else:
                self._recover(entity, what)
            if counters["steps"] > most_steps:
                raise errors.mistake(
                    self.protocol,
                    "M011",
                    f"execution {self.number} of seed {self.seed} takes more than {most_steps:,} steps",
                    "entities that go on forever never end a run; allow more steps if this one only takes long",
                )

    def _begin(self) -> None:
        setting, conditions = self.setting, self.setting.conditions
        requests = setting.requests(self.network)
        for request in requests:
            self._push(request.time, _REQUEST, request.sender, request.destinations)
        end = max((request.time for request in requests), default=0) + conditions.delay
        for entity in range(self.entities):
            at = self._here(entity)
            self.calling = ("start", at)
            self.states[entity] = self.protocol.start(at)
            if conditions.crash and self.other.uniform() < conditions.crash:
                self._push(int(self.other.uniform() * end), _CRASH, entity, None)
            if setting.has_timers:
                self._run_timers(entity, changed=True)

    def _here(self, entity: int) -> Here:
        if self.setting.timed:
            return Here(entity, self.entities, self.now + self.ahead[entity])
        return self.setting.heres[entity]

    def _push(self, time: int, kind: int, entity: int, what: Any) -> None:
        self.pushed += 1
        heappush(self.heap, (time, self.other.uniform(), self.pushed, kind, entity, what))

    # ---- what happens ----

    def _request(self, entity: int, destinations: frozenset[int]) -> None:
        if not self.up[entity]:
            return
        pending = self.pending[entity]
        pending.append(destinations)
        if len(pending) == 1 and self._take_pending(entity):
            self._went_on(entity, changed=True)
        if pending and self.setting.timed and not self.asking[entity]:
            self.asking[entity] = True
            self._push(self.now + 1, _AGAIN, entity, 1)

    def _ask_again(self, entity: int, pause: int) -> None:
        pending = self.pending[entity]
        if pending and self._take_pending(entity):
            self._went_on(entity, changed=True)
            pause = 0
        self.asking[entity] = bool(pending) and pause <= _LONGEST_PAUSE * self.setting.quiet
        if self.asking[entity]:
            self._push(self.now + max(1, pause), _AGAIN, entity, max(1, 2 * pause))

    def _arrive(self, entity: int, packet: Hashable, sender: int) -> None:
        if not self.up[entity]:
            self.under_way -= 1
            self.counters["vanished"] += 1
            return
        held = self.held[entity]
        if (held and self._waits(held, sender)) or not self._take(entity, packet, sender):
            held.append((packet, sender))

    def _waits(self, held: list[tuple[Hashable, int]], sender: int) -> bool:
        """Whether what an entity does not take yet keeps back what comes from `sender`."""
        ordered_by = self.setting.ordered_by
        return ordered_by == "receiver" or (
            ordered_by == "pair" and any(earlier == sender for _, earlier in held)
        )

    def _take(self, entity: int, packet: Hashable, sender: int, *, again: bool = False) -> bool:
        at, before = self._here(entity), self.states[entity]
        self.calling = ("arrive", at, before, packet, sender)
        outcome = self.protocol.arrive(at, before, packet, sender)
        if outcome is None:
            return False
        self.under_way -= 1
        step = self._did(at, before, packet, outcome)
        if not again:
            self._went_on(entity, changed=step.state is not before and step.state != before)
        return True

    def _take_held(self, entity: int) -> bool:
        """Try what was not taken before, until something is."""
        held = self.held[entity]
        for place, (packet, sender) in enumerate(held):
            if place and self._waits(held[:place], sender):
                continue
            if self._take(entity, packet, sender, again=True):
                del held[place]
                return True
        return False

    def _take_pending(self, entity: int) -> bool:
        """Try the first of the requests that wait."""
        at, before = self._here(entity), self.states[entity]
        destinations = self.pending[entity][0]
        message = Message(entity, self.accepted[entity] + 1, destinations)
        self.calling = ("send", at, before, message)
        outcome = self.protocol.send(at, before, message)
        if outcome is None:
            return False
        self.pending[entity].popleft()
        self.accepted[entity] += 1
        self.counters["requests"] += 1
        self._did(at, before, message, outcome, message)
        return True

    def _went_on(self, entity: int, *, changed: bool) -> None:
        """After a step: what waited for a change of the state is tried again."""
        if changed:
            held, pending = self.held[entity], self.pending[entity]
            while (held and self._take_held(entity)) or (pending and self._take_pending(entity)):
                pass
        if self.setting.has_timers:
            self._run_timers(entity, changed=changed)

    def _expire(self, entity: int, timer: Timer, token: int) -> None:
        running = self.timers[entity]
        if running.get(timer) != token:
            return
        if timer.due is None and not timer.after and not self._is_quiet(timer):
            self._push(self.now + self.setting.quiet, _EXPIRE, entity, (timer, token))
            return
        at, before = self._here(entity), self.states[entity]
        self.calling = ("expire", at, before, timer)
        step = self._did(at, before, timer, self.protocol.expire(at, before, timer))
        changed = step.state != before
        if changed or step.actions:
            del running[timer]
        else:
            running[timer] = _PARKED
        self._went_on(entity, changed=changed)

    def _is_quiet(self, timer: Timer) -> bool:
        """Whether the network is empty, and no time-out runs that has less patience."""
        return not self.under_way and not any(
            other.patience < timer.patience and token != _PARKED and other.due is None and not other.after
            for running in self.timers
            for other, token in running.items()
        )

    def _run_timers(self, entity: int, *, changed: bool) -> None:
        at, state = self._here(entity), self.states[entity]
        self.calling = ("timers", at, state)
        wanted = self.protocol.timers(at, state)
        running = self.timers[entity]
        if not wanted:
            running.clear()
            return
        left: dict[Timer, int] = {}
        for timer in wanted:
            token = running.get(timer)
            if token is None or (changed and token == _PARKED):
                token = self._start(entity, timer)
            left[timer] = token
        self.timers[entity] = left

    def _start(self, entity: int, timer: Timer) -> int:
        if timer.due is None:
            time = self.now + (timer.after or self.setting.quiet)
        elif self.setting.timed:
            time = max(self.now, timer.due - self.ahead[entity])
        else:
            raise errors.due_without_time(self.protocol, timer.name)
        token = self.pushed + 1
        self._push(time, _EXPIRE, entity, (timer, token))
        return token

    def _crash(self, entity: int) -> None:
        at, before = self._here(entity), self.states[entity]
        self.calling = ("crash", at, before)
        left = self.protocol.crash(at, before)
        self.histories[entity].append(Entry(EventKind.CRASH, None, self.now))
        self.counters["crashes"] += 1
        self.counters["vanished"] += len(self.held[entity])
        self.under_way -= len(self.held[entity])
        self.up[entity] = False
        self.held[entity].clear()
        self.pending[entity].clear()
        self.timers[entity].clear()
        conditions = self.setting.conditions
        if left is not None and conditions.recovery and self.other.uniform() < conditions.recovery:
            pause = int(self.other.waiting(conditions.delay + conditions.interval))
            self._push(self.now + pause, _RECOVER, entity, left)

    def _recover(self, entity: int, left: Any) -> None:
        at = self._here(entity)
        self.calling = ("recover", at, left)
        outcome = self.protocol.recover(at, left)
        self.histories[entity].append(Entry(EventKind.RECOVER, None, self.now))
        self.counters["recoveries"] += 1
        self.up[entity] = True
        self._did(at, left, None, outcome)
        self._went_on(entity, changed=True)

    # ---- what comes of it ----

    def _did(
        self, at: Here, before: Any, cause: Hashable, outcome: Outcome[Any], request: Message | None = None
    ) -> Step[Any]:
        """Carry out what a handler returned."""
        match outcome:
            case Step():
                step = outcome
            case Choose(options):
                returned_values.steps(self.protocol, outcome)
                step = self._chosen(options)
            case _:
                raise errors.no_outcome(self.protocol, outcome)
        entity, counters = at.entity, self.counters
        counters["steps"] += 1
        self.states[entity] = step.state
        rearranges = self.setting.rearranges
        if request is not None or step.actions:
            returned_values.check_actions(self.protocol, step)
            self.histories[entity] += entries(step, request, EVERYTHING, self.now, rearranges=rearranges)
            for action in step.actions:
                if type(action) is Transmit:
                    self._transmit(entity, action)
        if rearranges:
            self._rearrange(entity, step.state)
        observe = self.setting.observe
        if observe is not None:
            for name, more in (observe(at, before, cause, step, self.now) or {}).items():
                counters[name] = counters.get(name, 0) + more
        return step

    def _chosen(self, options: tuple[tuple[float, Step[Any]], ...]) -> Step[Any]:
        place = self.other.uniform() * sum(weight for weight, _ in options)
        for weight, step in options:
            place -= weight
            if place < 0:
                return step
        return options[-1][1]

    def _rearrange(self, entity: int, state: Any) -> None:
        """RL as the state has it: a delivery stands where the message came to its place."""
        log = self.protocol.receipt_log(state)
        known = self.receipts[entity]
        if log is None or log == known:
            return
        kept = 0
        while kept < min(len(log), len(known)) and log[kept] == known[kept]:
            kept += 1
        history = self.histories[entity]
        if kept < len(known):
            places = [k for k, entry in enumerate(history) if entry.kind is EventKind.DELIVER]
            gone = frozenset(places[kept:])
            history[:] = [entry for k, entry in enumerate(history) if k not in gone]
        history += [Entry(EventKind.DELIVER, message, self.now) for message in log[kept:]]
        self.receipts[entity] = log

    def _transmit(self, sender: int, action: Transmit) -> None:
        packet = action.packet
        conditions, chance, counters = self.setting.conditions, self.network, self.counters
        to = returned_values.receivers(self.protocol, action, self.entities)
        if to and self.setting.silent and self.calling[0] != "send":
            handler, at, *given = self.calling
            raise declarations.answered(self.protocol, handler, at, tuple(given), packet, to[0])
        for receiver in to:
            counters["packets"] += 1
            if conditions.loss and chance.uniform() < conditions.loss:
                counters["lost"] += 1
                continue
            arriving = packet
            if conditions.corruption and chance.uniform() < conditions.corruption:
                others = self.protocol.corrupted(packet)
                if others:
                    counters["corrupted"] += 1
                    arriving = others[chance.below(len(others))]
            self._under_way(sender, receiver, arriving)
            if conditions.duplication and chance.uniform() < conditions.duplication:
                counters["duplicated"] += 1
                self._under_way(sender, receiver, arriving)

    def _under_way(self, sender: int, receiver: int, packet: Hashable) -> None:
        setting = self.setting
        place = (self.now + setting.delay(self.network), self.network.uniform())
        if setting.ordered_by is not None:
            channel = receiver if setting.ordered_by == "receiver" else (sender, receiver)
            place = self.last[channel] = max(place, self.last.get(channel, (0, 0.0)))
        self.under_way += 1
        self.pushed += 1
        heappush(self.heap, (*place, self.pushed, _ARRIVE, receiver, (packet, sender)))
