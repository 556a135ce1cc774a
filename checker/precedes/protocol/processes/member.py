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
from precedes.protocol.processes import recording, wire
from precedes.protocol.processes.lanes import ChannelLane, EntityLane, Lane
from precedes.protocol.processes.wire import Datagram, Letter
from precedes.protocol.processes.workload import Workload
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.simulation.simulator import Simulator, name_of
from precedes.protocol.validation import errors
from precedes.record import Recorder

_KEEPING: Final = 0.05
"""Seconds between two looks at what has to be acknowledged or sent again."""
_BUFFER: Final = 1 << 22
"""Bytes that the system is asked to keep for a socket; it may allow less, and then more is sent again."""


@dataclass(frozen=True, slots=True)
class Process:
    """What a process is to do. `party`: the entity, or behind the last entity the channel. It records into `folder`."""

    workload: Workload
    party: int
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
        self._say(wire.Hello(self._process.token, self._process.party, own.getsockname()[1]))
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
        """What comes in; what is not of this run, or of an execution that is not under way here, is left alone."""
        try:
            datagram = wire.datagram_of(data)
        except msgspec.DecodeError:
            return
        lane = self._lanes.get(datagram.ticket)
        if datagram.token == self._process.token and lane is not None:
            lane.came(datagram.source, datagram.number, datagram.letter)

    def put(self, ticket: int, to: int, number: int, letter: Letter | None) -> None:
        """Send a datagram."""
        datagram = Datagram(self._process.token, ticket, self._process.party, number, letter)
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
            for lane in self._lanes.values():
                lane.links.keep(now)

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
                case wire.Ask(ticket):
                    lane = self._lanes[ticket]
                    lane.go_on()
                    self._say(wire.Still(ticket, lane.is_idle, lane.links.sent, lane.links.taken))
                case wire.End(ticket):
                    self._end(ticket)
                case wire.Stop():
                    return
                case _:
                    assert_never(order)

    def _begin(self, begin: wire.Begin) -> None:
        which = (begin.number - 1) % len(self._simulators)
        setting = self._simulators[which].setting
        if self._process.party == self._process.workload.entities:
            self._lanes[begin.ticket] = ChannelLane(setting, begin, self)
            self._lanes[begin.ticket].go_on()
            return
        lane = EntityLane(setting, begin, self, self._process.party, self._encodings[which])
        self._lanes[begin.ticket] = lane
        lane.begin()

    def _end(self, ticket: int) -> None:
        lane = self._lanes.pop(ticket)
        lane.close()
        counters = dict(lane.counters)
        counters["ticks"] = lane.now
        if isinstance(lane, EntityLane):
            counters["refused"] = len(lane.entity.pending)
            counters["waiting"] = lane.entity.starving
            self._record(lane)
        self._say(wire.Ended(ticket, counters, lane.late, lane.links.resent))

    def _record(self, lane: EntityLane) -> None:
        """What the entity logged, once it is final: a protocol may rearrange what it received."""
        path = recording.path_of(self._process.folder, lane.ticket, self._process.party)
        entities = lane.setting.conditions.entities
        with Recorder(path, name_of(lane.number)) as recorder:
            for row in recording.rows_of(
                lane.setting.protocol, entities, self._process.party, lane.entity.history
            ):
                recorder.write(row)
