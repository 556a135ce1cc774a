"""One execution in one process: an entity in real time, or the network that all entities share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Final, Protocol

import msgspec
from msgspec import Raw

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.model import Timer
from precedes.protocol.network import Timed
from precedes.protocol.processes.links import Links
from precedes.protocol.processes.recording import Record
from precedes.protocol.processes.wire import Begin, Letter, Parcel, Part
from precedes.protocol.running.chance import Chance, Request
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.running.entity import COUNTED, RunningEntity, Surroundings, Transmission, Wake
from precedes.protocol.running.medium import Medium, Place
from precedes.protocol.running.move_log import move_of
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
    def begin(self) -> None:
        """Begin the execution here."""

    @abstractmethod
    def _take(self, letter: Letter) -> None:
        """A letter has come."""

    @abstractmethod
    def _happen(self, due: int, kind: int, given: Any) -> None:
        """Something happens that was due at a time."""

    @property
    def has_stopped(self) -> bool:
        """Whether what runs here has stopped for good, and nothing of it is on its way out of this process."""
        return False

    @property
    def part(self) -> Part:
        """What this process had in the execution."""
        return Part({**self.counters, "ticks": self.now}, self.late, self.links.resent)

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

    def _hand(self, place: int, letter: Letter) -> None:
        self.links.hand(place, letter, time.monotonic())


class NetworkLane(Lane):
    """The network as a process. Where it is one channel, what it is given goes to every receiver in one order, but each
    may miss some.
    """

    def __init__(self, setting: Setting, begin: Begin, way: Way, encoding: Encoding) -> None:
        super().__init__(setting, begin, way)
        self.now = 0
        self.counters = dict.fromkeys(COUNTED, 0)
        self._encoding = encoding
        self._places: list[int | None] = list(begin.places[:-1])
        self._order: list[int] = []
        chance = Chance(way.seed, begin.number, "the channel")
        self._medium = Medium(setting, chance, self.counters, self._carry, self._corrupted)

    @property
    def is_idle(self) -> bool:
        return not self._heap

    @property
    def part(self) -> Part:
        channel = tuple(self._order) if self.setting.ordered_by == "receiver" else None
        return msgspec.structs.replace(super().part, channel=channel)

    def begin(self) -> None:
        self.go_on()

    def gone(self, entity: int, taken: int) -> None:
        """The process of an entity was killed, after it had taken so many letters."""
        place = self._places[entity]
        assert place is not None
        self._places[entity] = None
        self.counters["vanished"] += self.links.give_up(place, taken)
        self.go_on()

    def back(self, entity: int, place: int) -> None:
        """An entity is in another process now."""
        self._places[entity] = place

    def _take(self, letter: Letter) -> None:
        self._order.append(letter.sender)
        for parcel in letter.parcels:
            self._medium.transmit(letter.sender, (letter.sent, bytes(parcel.packet)), parcel.to, letter.sent)

    def _corrupted(self, packet: tuple[int, bytes]) -> list[tuple[int, bytes]]:
        """Nothing else here reads a packet."""
        sent, text = packet
        others = self.setting.protocol.corrupted(self._encoding.decode(text))
        return [(sent, self._encoding.encode(other)) for other in others]

    def _carry(self, place: Place, sender: int, receiver: int, packet: Hashable) -> None:
        self._push(*place, _SEND, (sender, receiver, packet))

    def _happen(self, _due: int, _kind: int, given: Any) -> None:
        sender, receiver, (sent, packet) = given
        place = self._places[receiver]
        if place is None:
            self.counters["vanished"] += 1
            return
        self._hand(place, Letter(sender, sent, (Parcel(Raw(packet)),)))


class EntityLane(Lane, Surroundings):
    """An entity. Its user's requests are those of a simulation with the same seed and number. What it does is recorded
    before it acts.
    """

    def __init__(self, setting: Setting, begin: Begin, way: Way, entity: int, record: Record) -> None:
        Surroundings.__init__(self)
        Lane.__init__(self, setting, begin, way)
        self._record = record
        self._encoding = record.encoding
        entities, conditions = setting.conditions.entities, setting.conditions
        self._places = begin.places
        self._network = begin.places[entities] if len(begin.places) > entities else None
        self._owed = 0
        self._moved = 0
        self._stopping = False
        self.due: int | None = None
        """When the entity starts again after it has stopped."""
        seed, number = way.seed, begin.number
        own = Chance(seed, number, f"entity {entity}")
        network = Chance(seed, number, f"network of entity {entity}")
        self._medium = Medium(setting, network, self.counters, self._carry)
        skew = conditions.skew
        self.entity = RunningEntity(setting, self, entity, own.below(skew + 1) if skew else 0, own)

    def begin(self) -> None:
        """Start the entity, and note what its user will ask."""
        requests = self._ask_for(0)
        end = max((request.time for request in requests), default=0) + self.setting.conditions.delay
        with self._mistakes_stop(), self.mistakes_told(self.setting):
            self.entity.begin(end)
            self._remember()
        self.go_on()

    def take_over(self, due: int) -> None:
        """Start an entity again whose process was killed, with what that has left on the disk."""
        self.entity.take_over(self._record.accepted())
        self._owed += 1
        self._push(due, 0.0, Wake.RECOVER, self._record.left())
        self._ask_for(due)
        self.go_on()

    def _ask_for(self, first: int) -> Sequence[Request]:
        """What the user asks, from a tick on."""
        requests = self.setting.requests(Chance(self._way.seed, self.number, "network"))
        for request in requests:
            if request.sender == self.entity.entity and request.time >= first:
                self.wake(request.time, request.sender, Wake.REQUEST, request.destinations)
        return requests

    @property
    def is_idle(self) -> bool:
        return not self._stopping and not self._owed and not self.entity.runs_a_timer

    @property
    def has_stopped(self) -> bool:
        return self._stopping and self.links.has_handed_over

    @property
    def part(self) -> Part:
        self.counters["refused"] = len(self.entity.pending)
        self.counters["waiting"] = self.entity.starving
        return super().part

    def close(self) -> None:
        if not self._closed:
            self._record.close()
        super().close()

    # ---- what comes in and what happens ----

    def came(self, source: int, number: int, letter: Letter | None) -> None:
        # Who has stopped learns only that what it had sent has come.
        if letter is None or not self._stopping:
            super().came(source, number, letter)

    def _take(self, letter: Letter) -> None:
        network = self.setting.protocol.network
        if isinstance(network, Timed) and self.now > letter.sent + network.longest:
            self.late += 1
        self._moved = self.now
        for parcel in letter.parcels:
            packet = self._encoding.decode(bytes(parcel.packet))
            with self.mistakes_told(self.setting):
                self.entity.arrive(packet, letter.sender)

    def _happen(self, due: int, kind: int, given: Any) -> None:
        if self._stopping:
            return
        if kind == _SEND:
            self._owed -= 1
            receiver, sent, encoded = given
            self._hand(self._places[receiver], Letter(self.entity.entity, sent, (Parcel(Raw(encoded)),)))
            return
        if kind == Wake.EXPIRE:
            timer, token = given
            if self.setting.timed and due < self.now and self.entity.timers.get(timer) == token:
                self.late += 1
        else:
            self._owed -= 1
        with self.mistakes_told(self.setting):
            self.entity.woken(Wake(kind), given)
        self._stopping = kind == Wake.CRASH
        if self.counters["steps"] > self.setting.most_steps:
            raise errors.endless(self.setting.protocol, self.number, self._way.seed, self.setting.most_steps)

    # ---- what the entity runs in ----

    def wake(self, time: int, _entity: int, what: Wake, given: Any) -> None:
        if what == Wake.RECOVER:
            # Another process does that, with what is on the disk.
            self.due = time
            return
        self._owed += what != Wake.EXPIRE
        self._push(time, 0.0, what, given)

    def stepped(self, entity: RunningEntity, choice: int) -> None:
        """What the entity has logged is in a file before it acts, and what would be left of it, too."""
        self._record.moved(move_of(self.now, self.calling, choice))
        self._record.log(entity.history)
        if self.calling[0] != "crash":
            self._remember()

    def _remember(self) -> None:
        """Write what would be left after a crash, where somebody may read it."""
        conditions = self.setting.conditions
        if conditions.crash and conditions.recovery:
            here = self.entity.here()
            self.calling = ("crash", here, self.entity.state)
            left = self.setting.protocol.crash(here, self.entity.state)
            if left is not None:
                self._record.remember(left)

    def transmit(self, sender: int, packets: Sequence[Transmission]) -> None:
        self._moved = self.now
        if self._network is None:
            for packet, to in packets:
                self._medium.transmit(sender, packet, to, self.now)
            return
        parcels = tuple(Parcel(Raw(self._encoding.encode(packet)), to) for packet, to in packets if to)
        if parcels:
            self._hand(self._network, Letter(sender, self.now, parcels))

    def taken(self, packets: int) -> None:
        """Nobody counts here what is under way."""

    def is_quiet(self, timer: Timer) -> bool:
        """Nobody sees the whole network. It is taken to be empty after a time in which nothing came or went here, the
        longer the more patience the time-out has.
        """
        return self.now - self._moved >= self.setting.quiet * (1 + timer.patience)

    def _carry(self, place: Place, _sender: int, receiver: int, packet: Hashable) -> None:
        self._owed += 1
        self._push(*place, _SEND, (receiver, self.now, self._encoding.encode(packet)))
