"""A process of a cluster: a socket, the executions under way, and a line to who started it."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never

import msgspec

from precedes.core.diagnostics import PrecedesError
from precedes.core.isolation import Channel
from precedes.protocol.processes import wire
from precedes.protocol.processes.lanes import EntityLane, Lane, NetworkLane
from precedes.protocol.processes.recording import Files, Record, Rows
from precedes.protocol.processes.wire import Datagram, Letter
from precedes.protocol.processes.workload import Workload
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.simulation.simulator import Simulator
from precedes.protocol.validation import errors

_KEEPING: Final = 0.05
"""Seconds between two looks at what has to be acknowledged or sent again."""
_BUFFER: Final = 1 << 22
"""Bytes that the system is asked to keep for a socket; it may allow less, and then more is sent again."""


@dataclass(frozen=True, slots=True)
class Process:
    """What a process is to do. `place`: its number among all of the run. It records into `folder`."""

    workload: Workload
    place: int
    called: str
    port: int
    token: str
    folder: str

    @property
    def about(self) -> str:
        """For messages."""
        return f"run: {self.called}"

    def run(self, channel: Channel) -> bytes:
        """Take part in executions until there is none. PrecedesError for mistakes of the model."""
        asyncio.run(Member(self, channel).serve())
        return b"null"


class Member(asyncio.DatagramProtocol):
    """The process at work."""

    def __init__(self, process: Process, channel: Channel) -> None:
        self._process = process
        self._channel = channel
        self._simulators: Sequence[Simulator] = process.workload.simulators()
        self._encodings = [Encoding(each.setting.protocol) for each in self._simulators]
        self._lanes: dict[int, Lane] = {}
        self._begun = 0
        self._early: dict[int, list[Datagram]] = {}
        self._ports: tuple[int, ...] = ()
        self.seed = process.workload.seed
        self.tick = process.workload.tick

    async def serve(self) -> None:
        """From the first word to the last."""
        self._loop = asyncio.get_running_loop()
        self._failure: asyncio.Future[None] = self._loop.create_future()
        self._loop.set_exception_handler(lambda _, told: self._fail(told.get("exception"), told["message"]))
        transport, _ = await self._loop.create_datagram_endpoint(lambda: self, local_addr=(wire.HOST, 0))
        self._transport: Any = transport
        own = transport.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        reader, self._writer = await asyncio.open_connection(wire.HOST, self._process.port)
        self._say(wire.Hello(self._process.token, self._process.place, own.getsockname()[1]))
        work = [asyncio.ensure_future(self._obey(reader)), asyncio.ensure_future(self._keep())]
        try:
            await asyncio.wait([*work, self._failure], return_when=asyncio.FIRST_COMPLETED)
            for each in (self._failure, *work):
                if each.done():
                    each.result()
        finally:
            for each in work:
                each.cancel()
            transport.close()
            self._writer.close()

    # ---- with the other processes ----

    def datagram_received(self, data: bytes, _addr: Any) -> None:
        """What comes in; what is not of this run, or of an execution that has ended here, is left alone."""
        try:
            datagram = wire.datagram_of(data)
        except msgspec.DecodeError:
            return
        if datagram.token != self._process.token:
            return
        lane = self._lanes.get(datagram.ticket)
        if lane is not None:
            lane.came(datagram.source, datagram.number, datagram.letter)
        elif datagram.ticket > self._begun:
            # Another process was told to begin before this one was.
            self._early.setdefault(datagram.ticket, []).append(datagram)

    def put(self, ticket: int, to: int, number: int, letter: Letter | None) -> None:
        """Send a datagram."""
        datagram = Datagram(self._process.token, ticket, self._process.place, number, letter)
        data = wire.encode(datagram)
        if len(data) > wire.LARGEST:
            raise errors.mistake(
                self._lanes[ticket].setting.protocol,
                "M018",
                f"a packet of {len(data):,} bytes is larger than a datagram",
                f"a datagram has room for {wire.LARGEST:,} bytes",
            )
        self._transport.sendto(data, (wire.HOST, self._ports[to]))

    def call_at(self, seconds: float, call: Callable[[], None]) -> None:
        """Call at a time of the monotonic clock, which is that of the loop."""
        self._loop.call_at(seconds, call)

    def failed(self, error: PrecedesError) -> None:
        """End the process with an error."""
        self._fail(error, "")

    def _fail(self, error: BaseException | None, message: str) -> None:
        if not self._failure.done():
            self._failure.set_exception(error or RuntimeError(message))

    async def _keep(self) -> None:
        """What has to be done from time to time."""
        while True:
            await asyncio.sleep(_KEEPING)
            self._channel.alive()
            now = time.monotonic()
            for ticket, lane in list(self._lanes.items()):
                lane.links.keep(now)
                if lane.has_stopped:
                    self._stopped(ticket)

    # ---- with who started it ----

    def idle(self, ticket: int) -> None:
        """Say that a lane has nothing to do."""
        links = self._lanes[ticket].links
        self._say(wire.Idle(ticket, links.sent, links.taken))

    def _say(self, word: wire.Word) -> None:
        self._writer.write(wire.encode(word) + b"\n")

    async def _obey(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            order = wire.order_of(line)
            match order:
                case wire.Ports(ports):
                    self._ports = ports
                case wire.Begin():
                    self._begin(order)
                case wire.TakeOver(begun, entity, due):
                    successor = self._entity_lane(begun, entity)
                    self._lanes[begun.ticket] = successor
                    successor.take_over(due)
                    self._catch_up(begun.ticket)
                case wire.Gone(ticket, entity, taken):
                    self._network(ticket).gone(entity, taken)
                case wire.Back(ticket, entity, place):
                    self._network(ticket).back(entity, place)
                    self._say(wire.Known(ticket, entity))
                case wire.Ask(ticket):
                    self._answer(ticket)
                case wire.End(ticket):
                    lane = self._lanes.pop(ticket)
                    lane.close()
                    self._say(wire.Ended(ticket, lane.part))
                case wire.Stop():
                    return
                case _:
                    assert_never(order)

    def _begin(self, begin: wire.Begin) -> None:
        party = begin.places.index(self._process.place)
        is_network = party == self._process.workload.entities
        lane = self._network_lane(begin) if is_network else self._entity_lane(begin, party)
        self._lanes[begin.ticket] = lane
        lane.begin()
        self._catch_up(begin.ticket)

    def _which(self, begin: wire.Begin) -> int:
        """Which instance of the model an execution is of."""
        return (begin.number - 1) % len(self._simulators)

    def _network_lane(self, begin: wire.Begin) -> NetworkLane:
        which = self._which(begin)
        return NetworkLane(self._simulators[which].setting, begin, self, self._encodings[which])

    def _entity_lane(self, begin: wire.Begin, entity: int) -> EntityLane:
        which = self._which(begin)
        setting = self._simulators[which].setting
        files = Files(self._process.folder, begin.ticket, entity)
        record = Record(files, begin.number, Rows(setting, entity), self._encodings[which])
        return EntityLane(setting, begin, self, entity, record)

    def _catch_up(self, ticket: int) -> None:
        """Take what has come in for an execution before it began here."""
        self._begun = max(self._begun, ticket)
        for early in self._early.pop(ticket, ()):
            self._lanes[ticket].came(early.source, early.number, early.letter)

    def _network(self, ticket: int) -> NetworkLane:
        lane = self._lanes[ticket]
        assert isinstance(lane, NetworkLane)
        return lane

    def _answer(self, ticket: int) -> None:
        """Say whether there is still nothing to do. One that has stopped has said what there is to say."""
        lane = self._lanes.get(ticket)
        if lane is not None:
            lane.go_on()
            self._say(wire.Still(ticket, lane.is_idle, lane.links.sent, lane.links.taken))

    def _stopped(self, ticket: int) -> None:
        """An entity has stopped. Whoever started this process kills it when it hears of that."""
        lane = self._lanes.pop(ticket)
        assert isinstance(lane, EntityLane)
        lane.close()
        self._say(wire.Stopped(ticket, lane.part, lane.links.sent, lane.links.taken, lane.due))
