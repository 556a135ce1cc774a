"""Direct runs: every packet of a message comes in where the message is delivered, and nothing comes in before.

Such a run is found without a search, by about one look-up for each event, and most executions of a program that does
its protocol have one. Where there is none, nothing is known: the search decides. It is a run of the model only where
the network lets packets come in at any time and in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from precedes.core.columns import Batch
from precedes.core.execution import EventKind, Execution
from precedes.core.transposition import batch_of
from precedes.protocol.conformance.handlers import Done, Handlers
from precedes.protocol.conformance.observation import Reading, places
from precedes.protocol.conformance.recorded_columns import Clock, RecordedColumns
from precedes.protocol.model import Message, Protocol
from precedes.protocol.moves import Arrived, Began, Move, Requested
from precedes.protocol.network import Reliable

_MOST_REMEMBERED: Final = 150_000
"""Steps after which they are forgotten, so that a trace of any length is judged in bounded memory."""
_SHIFT: Final = 32
"""A key is two numbers in one: that of an entity in a state, and that of a message or of a packet."""

Logged: TypeAlias = tuple[bool, int, Clock | None]
"""Whether an event is a send, the number of its message, and its clock."""


class Taken(NamedTuple):
    """A step of an entity: what it is then, what it logs, the packets that it transmits, by their receivers, and the
    move that it is in a run.
    """

    after: int
    logged: tuple[Logged, ...]
    packets: dict[int, int]
    move: Move


class DirectRuns:
    """The direct runs of one model. `quiescent`: nothing may be in flight at the end of a run. Recorded states are left
    to the search.
    """

    def __init__(self, protocol: Protocol[Any], reading: Reading, *, quiescent: bool) -> None:
        self.protocol = protocol
        self.reading = reading
        self.quiescent = quiescent
        self.possible = not reading.state and _is_possible(protocol, quiescent=quiescent)
        self._clusters: dict[int, _Cluster] = {}
        self._places: dict[tuple[str, ...], tuple[tuple[int, ...], int]] = {}

    def has_run(self, batch: Batch) -> Iterator[bool]:
        """Of each execution, whether a direct run has what was recorded. PrecedesError for mistakes of the model."""
        if not self.possible:
            yield from (False for _ in range(batch.executions))
            return
        columns = RecordedColumns(batch, self.reading.ignored)
        for execution, plain in enumerate(columns.plain):
            yield plain and self._run(columns, execution) is not None

    def behavior(self, execution: Execution) -> tuple[Move, ...] | None:
        """The moves of a direct run; None where there is none."""
        if not self.possible:
            return None
        columns = RecordedColumns(batch_of([execution]), self.reading.ignored)
        run = self._run(columns, 0) if columns.plain[0] else None
        return None if run is None else (Began(), *run.moves)

    def _run(self, columns: RecordedColumns, execution: int) -> _Run | None:
        first, stop = columns.entity_offsets[execution : execution + 2]
        names = tuple(columns.names[first:stop].tolist())
        known = self._places.get(names)
        if known is None:
            found = places(self.protocol, names, self.reading.entities)
            known = self._places[names] = tuple(found[name] for name in names), len(found)
        place, size = known
        cluster = self._clusters.get(size)
        if cluster is None or cluster.size > _MOST_REMEMBERED:
            cluster = self._clusters[size] = _Cluster(self.protocol, size, self.reading.ignored)
        run = _Run(cluster, columns, first, place)
        return run if run.has_everything() and not (self.quiescent and run.in_flight) else None


class _Cluster:
    """What was computed for clusters of one size: steps by the keys of what leads to them."""

    def __init__(self, protocol: Protocol[Any], size: int, ignored: frozenset[str]) -> None:
        self.handlers = Handlers(protocol, size, remembers=False)
        self.entities = size
        self.logs_views = EventKind.VIEW.value not in ignored
        self.start = [self._key(self.handlers.start(entity, 0), entity) for entity in range(size)]
        self.messages: list[Message] = []
        self._numbers: dict[Message, int] = {}
        self._named: dict[tuple[int, ...], int] = {}
        self._sent: dict[int, tuple[Taken, ...]] = {}
        self._arrived: dict[int, tuple[Taken, ...]] = {}

    @property
    def size(self) -> int:
        """How much is remembered."""
        return len(self._sent) + len(self._arrived)

    def message(self, columns: RecordedColumns, message: int, sender: int, place: Sequence[int]) -> int:
        """The number of a recorded message of the entity at a place."""
        to = place if columns.to_all[message] else [place[k] for k in columns.destinations(message)]
        name = (sender, columns.number[message], *to)
        number = self._named.get(name)
        if number is None:
            number = self._named[name] = self._number(Message(sender, columns.number[message], frozenset(to)))
        return number

    def sent(self, key: int, message: int) -> tuple[Taken, ...]:
        """What comes of a request."""
        asked = key << _SHIFT | message
        found = self._sent.get(asked)
        if found is None:
            state, entity = divmod(key, self.entities)
            request = self.messages[message]
            done = self.handlers.requested(entity, 0, state, request)
            moves = [Requested(entity, request, one.step) for one in done]
            found = self._sent[asked] = self._taken(entity, done, moves)
        return found

    def arrived(self, key: int, flight: int) -> tuple[Taken, ...]:
        """What comes of a packet."""
        asked = key << _SHIFT | flight
        found = self._arrived.get(asked)
        if found is None:
            state, entity = divmod(key, self.entities)
            sender, packet, _ = self.handlers.flights[flight]
            done = self.handlers.arrived(entity, 0, state, packet, sender)
            value = self.handlers.packets[packet]
            moves = [Arrived(entity, sender, value, one.step) for one in done]
            found = self._arrived[asked] = self._taken(entity, done, moves)
        return found

    def _taken(self, entity: int, done: Sequence[Done], moves: Sequence[Move]) -> tuple[Taken, ...]:
        """The steps that log sends and deliveries only, and transmit nothing twice to one entity."""
        found: list[Taken] = []
        for one, move in zip(done, moves, strict=True):
            logged, packets = self._logged(one), dict(one.emission)
            if logged is not None and len(packets) == len(one.emission):
                found.append(Taken(self._key(one.state, entity), logged, packets, move))
        return tuple(found)

    def _logged(self, done: Done) -> tuple[Logged, ...] | None:
        """What of a step is recorded in an execution of sends and deliveries; None where it is something else, too."""
        found: list[Logged] = []
        for entry in done.entries:
            if entry.kind in (EventKind.SEND, EventKind.DELIVER) and entry.message is not None:
                is_send = entry.kind is EventKind.SEND
                found.append((is_send, self._number(entry.message), entry.clock))
            elif entry.kind is EventKind.VIEW and self.logs_views:
                return None
        return tuple(found)

    def _number(self, message: Message) -> int:
        number = self._numbers.setdefault(message, len(self.messages))
        if number == len(self.messages):
            self.messages.append(message)
        return number

    def _key(self, state: int, entity: int) -> int:
        return state * self.entities + entity


class _Run:
    """One direct run, as far as it has come. `first`: the number of the first entity of the execution in the columns.
    `place`: of each of its entities the place in the model.
    """

    def __init__(self, cluster: _Cluster, columns: RecordedColumns, first: int, place: Sequence[int]) -> None:
        self.cluster = cluster
        self.columns = columns
        self.place = place
        self.next = columns.event_offsets[first : first + len(place)]
        self.stop = columns.event_offsets[first + 1 : first + len(place) + 1]
        self.keys = [cluster.start[k] for k in place]
        plain = columns.width == cluster.entities and list(place) == list(range(cluster.entities))
        events = range(self.next[0], self.stop[-1]) if place else range(0)
        self.clocks = columns.clocks if plain else columns.placed(events, place, cluster.entities)
        self.numbers: dict[int, int] = {}
        self.packets: dict[int, dict[int, int]] = {}
        """What is in flight of each message, by its receivers."""
        self.in_flight = 0
        self.moves: list[Move] = []

    def has_everything(self) -> bool:
        """Whether the run has all events: entity after entity, each as far as it comes without a message that has not
        been sent yet."""
        waiting = [k for k, stop in enumerate(self.stop) if self.next[k] < stop]
        while waiting:
            before = sum(self.next)
            if not all(self._goes_on(k) for k in waiting):
                return False
            if sum(self.next) == before:
                return False
            waiting = [k for k in waiting if self.next[k] < self.stop[k]]
        return True

    def _goes_on(self, k: int) -> bool:
        """Follow one entity; False where it does something else than was recorded."""
        columns, cluster, entity = self.columns, self.cluster, self.place[k]
        event, stop, key = self.next[k], self.stop[k], self.keys[k]
        while event < stop:
            message = columns.message[event]
            if columns.is_send[event]:
                number = self.numbers[message] = cluster.message(columns, message, entity, self.place)
                steps = cluster.sent(key, number)
            else:
                packets = self.packets.get(message)
                if packets is None:
                    break
                flight = packets.pop(entity, None)
                if flight is None:
                    return False
                self.in_flight -= 1
                steps = cluster.arrived(key, flight)
            for step in steps:
                if self._is_recorded(step.logged, event, stop):
                    break
            else:
                return False
            if columns.is_send[event]:
                self.packets[message] = step.packets.copy()
            self.in_flight += len(step.packets)
            self.moves.append(step.move)
            key = step.after
            event += len(step.logged)
        self.next[k], self.keys[k] = event, key
        return True

    def _is_recorded(self, logged: Sequence[Logged], event: int, stop: int) -> bool:
        """Whether the events from one on are what a step logs, at least one. A clock counts where both have one."""
        if not logged or event + len(logged) > stop:
            return False
        columns = self.columns
        for place, (is_send, message, clock) in enumerate(logged, event):
            recorded = self.clocks[place]
            if columns.is_send[place] is not is_send or self.numbers.get(columns.message[place]) != message:
                return False
            if clock is not None and recorded is not None and clock != recorded:
                return False
        return True


def _is_possible(protocol: Protocol[Any], *, quiescent: bool) -> bool:
    """Whether direct runs are runs of a model, and whether one that is over is known to be."""
    network = protocol.network
    if not isinstance(network, Reliable) or network.fifo:
        return False
    has_timers = type(protocol).timers is not Protocol.timers
    rearranges = type(protocol).receipt_log is not Protocol.receipt_log
    return not rearranges and not (quiescent and has_timers)
