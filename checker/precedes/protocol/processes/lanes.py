"""One execution in one process: an entity in real time, or the channel that all entities share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Final, Protocol

from msgspec import Raw

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.model import Timer
from precedes.protocol.network import Timed
from precedes.protocol.processes.links import Links
from precedes.protocol.processes.wire import Begin, Letter
from precedes.protocol.running.chance import Chance
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.running.entity import COUNTED, RunningEntity, Surroundings, Wake
from precedes.protocol.running.medium import Medium, Place
from precedes.protocol.running.setting import Setting
from precedes.protocol.validation import errors

_SECOND: Final = 10**9
_SEND: Final = -1
"""Beside the kinds of `Wake`: a packet that the network has delayed leaves."""


class Way(Protocol):
    """How a lane reaches the other processes, and is called when it is time. `seed`, `tick`: those of the workload."""

    seed: int
    tick: int

    def put(self, ticket: int, to: int, number: int, letter: Letter | None) -> None:
        """Send a datagram."""

    def call_at(self, seconds: float, call: Callable[[], None]) -> None:
        """Call at a time of the monotonic clock."""

    def idle(self, ticket: int) -> None:
        """The lane has nothing to do."""

    def failed(self, error: PrecedesError) -> None:
        """The model has made a mistake."""


class Lane(ABC):
    """An execution under way in this process. `now`: the time in ticks since it began."""

    now: int
    counters: dict[str, float]

    def __init__(self, setting: Setting, begin: Begin, way: Way) -> None:
        self.setting = setting
        self.ticket = begin.ticket
        self.number = begin.number
        self.late = 0
        """How often something was later than the network of the model allows."""
        self._at = begin.at
        self._way = way
        self.links = Links(lambda to, number, letter: way.put(begin.ticket, to, number, letter), self._take)
        self._heap: list[tuple[int, float, int, int, Any]] = []
        self._pushed = 0
        self._due: float | None = None
        self._told: tuple[int, int] | None = None
        self._closed = False

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """Whether nothing happens here any more unless something comes in."""

    @abstractmethod
    def _take(self, letter: Letter) -> None:
        """A letter has come."""

    @abstractmethod
    def _happen(self, due: int, kind: int, given: Any) -> None:
        """Something happens that was due at a time."""

    def came(self, source: int, number: int, letter: Letter | None) -> None:
        """A datagram has come."""
        self.go_on()
        if not self._closed:
            with self._mistakes_stop():
                self.links.came(source, number, letter)
        self.go_on()

    def go_on(self) -> None:
        """Everything whose time has come happens, in order. What happens in one go happens at one time."""
        if self._closed:
            return
        heap = self._heap
        self.now = (time.monotonic_ns() - self._at) // self._way.tick
        with self._mistakes_stop():
            while heap and heap[0][0] <= self.now:
                due, _, _, kind, given = heappop(heap)
                self._happen(due, kind, given)
        if heap:
            self._call_at(heap[0][0])
        if self.is_idle and self._told != (self.links.sent, self.links.taken):
            self._told = self.links.sent, self.links.taken
            self._way.idle(self.ticket)

    def close(self) -> None:
        """Nothing happens any more."""
        self._closed = True

    @contextmanager
    def _mistakes_stop(self) -> Iterator[None]:
        """A mistake of the model ends the run."""
        try:
            yield
        except PrecedesError as error:
            self._way.failed(error)

    def _push(self, due: int, tie: float, kind: int, given: Any) -> None:
        self._pushed += 1
        heappush(self._heap, (due, tie, self._pushed, kind, given))

    def _call_at(self, ticks: int) -> None:
        seconds = (self._at + ticks * self._way.tick) / _SECOND
        if self._due is None or seconds < self._due:
            self._due = seconds
            self._way.call_at(seconds, self._called)

    def _called(self) -> None:
        self._due = None
        self.go_on()

    def _hand(self, to: int, letter: Letter) -> None:
        self.links.hand(to, letter, time.monotonic())


class ChannelLane(Lane):
    """The channel: what it is given goes to every receiver in one order, but each may miss some."""

    def __init__(self, setting: Setting, begin: Begin, way: Way) -> None:
        super().__init__(setting, begin, way)
        self.now = 0
        self.counters = dict.fromkeys(COUNTED, 0)
        self._medium = Medium(
            setting, Chance(way.seed, begin.number, "the channel"), self.counters, self._carry
        )

    @property
    def is_idle(self) -> bool:
        return not self._heap

    def _take(self, letter: Letter) -> None:
        # The channel does not read packets: it hands on the bytes.
        self._medium.transmit(letter.sender, letter, letter.to, self.now)

    def _carry(self, place: Place, _sender: int, receiver: int, packet: Hashable) -> None:
        self._push(*place, _SEND, (receiver, packet))

    def _happen(self, _due: int, _kind: int, given: Any) -> None:
        receiver, letter = given
        self._hand(receiver, Letter(letter.sender, letter.sent, letter.packet))


class EntityLane(Lane, Surroundings):
    """An entity. Its user's requests are those of a simulation with the same seed and number."""

    def __init__(self, setting: Setting, begin: Begin, way: Way, entity: int, encoding: Encoding) -> None:
        Surroundings.__init__(self)
        Lane.__init__(self, setting, begin, way)
        self._encoding = encoding
        self._channel = setting.conditions.entities if setting.ordered_by == "receiver" else None
        self._owed = 0
        self._moved = 0
        seed, number = way.seed, begin.number
        own = Chance(seed, number, f"entity {entity}")
        network = Chance(seed, number, f"network of entity {entity}")
        self._medium = Medium(setting, network, self.counters, self._carry)
        skew = setting.conditions.skew
        self.entity = RunningEntity(setting, self, entity, own.below(skew + 1) if skew else 0, own)

    def begin(self) -> None:
        """Start the entity, and note what its user will ask."""
        requests = self.setting.requests(Chance(self._way.seed, self.number, "network"))
        for request in requests:
            if request.sender == self.entity.entity:
                self.wake(request.time, request.sender, Wake.REQUEST, request.destinations)
        end = max((request.time for request in requests), default=0) + self.setting.conditions.delay
        with self._mistakes_stop(), self.mistakes_told(self.setting):
            self.entity.begin(end)
        self.go_on()

    @property
    def is_idle(self) -> bool:
        return not self._owed and not self.entity.runs_a_timer

    # ---- what comes in and what happens ----

    def _take(self, letter: Letter) -> None:
        network = self.setting.protocol.network
        if isinstance(network, Timed) and self.now > letter.sent + network.longest:
            self.late += 1
        self._moved = self.now
        packet = self._encoding.decode(bytes(letter.packet))
        with self.mistakes_told(self.setting):
            self.entity.arrive(packet, letter.sender)

    def _happen(self, due: int, kind: int, given: Any) -> None:
        if kind == _SEND:
            self._owed -= 1
            receiver, packet = given
            sent, encoded = packet
            self._hand(receiver, Letter(self.entity.entity, sent, Raw(encoded)))
            return
        if kind == Wake.EXPIRE:
            timer, token = given
            if self.setting.timed and due < self.now and self.entity.timers.get(timer) == token:
                self.late += 1
        else:
            self._owed -= 1
        with self.mistakes_told(self.setting):
            self.entity.woken(Wake(kind), given)
        if self.counters["steps"] > self.setting.most_steps:
            raise errors.endless(self.setting.protocol, self.number, self._way.seed, self.setting.most_steps)

    # ---- what the entity runs in ----

    def wake(self, time: int, _entity: int, what: Wake, given: Any) -> None:
        if what == Wake.RECOVER:
            # What is left is what a disk would have: bytes.
            given = self._encoding.decode(self._encoding.encode(given))
        self._owed += what != Wake.EXPIRE
        self._push(time, 0.0, what, given)

    def transmit(self, sender: int, packet: Hashable, to: tuple[int, ...]) -> None:
        self._moved = self.now
        if self._channel is None:
            self._medium.transmit(sender, packet, to, self.now)
        elif to:
            self._hand(self._channel, Letter(sender, self.now, Raw(self._encoding.encode(packet)), to))

    def taken(self, packets: int) -> None:
        """Nobody counts here what is under way."""

    def is_quiet(self, timer: Timer) -> bool:
        """Nobody sees the whole network. It is taken to be empty after a time in which nothing came or went here, the
        longer the more patience the time-out has.
        """
        return self.now - self._moved >= self.setting.quiet * (1 + timer.patience)

    def _carry(self, place: Place, _sender: int, receiver: int, packet: Hashable) -> None:
        self._owed += 1
        self._push(*place, _SEND, (receiver, (self.now, self._encoding.encode(packet))))
