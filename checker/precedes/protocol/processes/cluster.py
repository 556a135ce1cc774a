"""Starts the processes of a cluster, has them run executions, and knows when one has ended.

An execution has ended when no process has anything to do and nothing is under way between them. Each says when it has
nothing to do, and how many letters it has handed over and taken. When the sums agree, all are asked once more: if
nothing has changed since, there was a moment at which nothing was under way (Mattern, Algorithms for distributed
termination detection, 1987: the four counter method).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, assert_never

import msgspec

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.isolation import Isolation
from precedes.protocol.model import Protocol
from precedes.protocol.processes import recording, wire
from precedes.protocol.processes.member import Process
from precedes.protocol.processes.workload import Workload, has_channel
from precedes.protocol.validation import errors

_AHEAD: Final = 20_000_000
"""Nanoseconds from the order to begin to the beginning, so that all processes know of it by then."""
_TRIES: Final = 25
"""How often an execution is run again in which the machine was late."""
_UP: Final = 60.0
"""Seconds for all processes to be there."""
_AWAY: Final = 5.0
"""Seconds for all processes to go by themselves after the last execution."""

Take: TypeAlias = Callable[[int, bytes, Mapping[str, float]], None]
"""Told of each execution, in the order of their numbers: its number, its rows as JSON Lines, what was counted."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What came of all executions together.

    Attributes:
        counters: What was counted, as in a simulation.
        seconds: How long it took, from the first beginning to the last end.
        late: How many times an execution was put aside because the machine was late, and run again.
        resent: How many datagrams the system lost, so that they were sent again.
        most: The most of each counter in one execution.
    """

    counters: Mapping[str, float]
    most: Mapping[str, float]
    seconds: float
    late: int
    resent: int


@dataclass(slots=True)
class _Ticket:
    """An execution under way. `idle`: what each process said last when it had nothing to do."""

    number: int
    idle: dict[int, tuple[int, int]] = field(default_factory=dict)
    asked: dict[int, tuple[int, int]] | None = None
    still: dict[int, wire.Still] = field(default_factory=dict)
    ended: list[wire.Ended] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def counters(self) -> dict[str, float]:
        """What was counted in all processes."""
        found: Counter[str] = Counter()
        for each in self.ended:
            found.update({name: count for name, count in each.counters.items() if name != "ticks"})
        return {**found, "ticks": max(each.counters["ticks"] for each in self.ended)}


class Cluster:
    """The processes of one run.

    Args:
        workload: What is run.
        folder: Where the processes record what is then handed on.
        take: Told of each execution.
        silence: Seconds without progress after which a process counts as hung.
    """

    def __init__(self, workload: Workload, folder: str, take: Take, silence: float) -> None:
        self._workload = workload
        self._folder = folder
        self._take = take
        self._silence = silence
        self._protocols = [each.setting.protocol for each in workload.simulators()]
        names = [self._protocols[0].name_of(entity) for entity in range(workload.entities)]
        self._names = [*names, *(["the channel"] if has_channel(self._protocols[0]) else [])]
        self._token = secrets.token_hex(8)
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._ports: dict[int, int] = {}
        self._tickets: dict[int, _Ticket] = {}
        self._given = 0
        self._done: dict[int, tuple[bytes, dict[str, float]]] = {}
        self._next = 1
        self._totals: Counter[str] = Counter()
        self._most: dict[str, float] = {}
        self._late = self._resent = 0

    def run(self, alive: Callable[[], None]) -> Totals:
        """Run all executions. `alive` is called several times a second; what it raises ends the run.

        PrecedesError for mistakes of the model, a process that ends or hangs (M015), an execution that does not end
        (M011), and a machine that is too slow for the model (M019).
        """
        with ThreadPoolExecutor(1) as pool:
            # In a thread of its own, because the caller may have a loop that runs.
            loop = asyncio.new_event_loop()
            task = loop.create_task(self._run())
            working: Future[float] = pool.submit(_until_done, loop, task)
            try:
                while not wait([working], timeout=0.1).done:
                    alive()
            except BaseException:
                loop.call_soon_threadsafe(task.cancel)
                wait([working])
                raise
            seconds = working.result()
        return Totals(self._totals, self._most, seconds, self._late, self._resent)

    async def _run(self) -> float:
        server = await asyncio.start_server(self._connected, wire.HOST, 0)
        port = server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        self._up = asyncio.Event()
        started: list[Isolation] = []
        answers: list[asyncio.Future[bytes | None]] = []
        with ThreadPoolExecutor(len(self._names)) as pool:
            work = asyncio.ensure_future(self._all())
            try:
                for party, name in enumerate(self._names):
                    called = f"{self._protocols[0].name}, {name}"
                    process = Process(self._workload, party, called, port, self._token, self._folder)
                    started.append(Isolation(process, silence=self._silence))
                    answers.append(loop.run_in_executor(pool, _answer, started[-1]))
                return await self._first_failure(work, answers)
            finally:
                if work.done() and not work.cancelled() and work.exception() is None:
                    await asyncio.wait(answers, timeout=_AWAY)
                work.cancel()
                for isolation, answer in zip(started, answers, strict=True):
                    # A process that has just ended has no line any more on which it could be told to end.
                    with suppress(ValueError):
                        if not answer.done():
                            isolation.interrupt(within=0)
                await asyncio.gather(work, *answers, return_exceptions=True)
                server.close()
                for writer in self._writers.values():
                    writer.close()

    async def _first_failure(
        self, work: asyncio.Future[float], answers: list[asyncio.Future[bytes | None]]
    ) -> float:
        """What the work comes to, unless a process ends before."""
        waiting: list[asyncio.Future[Any]] = [work, *answers]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            # A process whose neighbor has failed may fail, too: the first one tells why.
            for each in answers:
                if each.done():
                    each.result()
        return await work

    async def _all(self) -> float:
        """All executions, some of them at the same time."""
        try:
            async with asyncio.timeout(_UP):
                await self._up.wait()
        except TimeoutError:
            missing = [name for party, name in enumerate(self._names) if party not in self._ports]
            said = f"no verdict on run: {', '.join(missing)} did not start within {_UP:g} s"
            hint = "stop what else the machine does"
            raise PrecedesError((Diagnostic("M015", said, hint=hint),)) from None
        self._tell(wire.Ports(tuple(self._ports[party] for party in range(len(self._names)))))
        began = time.monotonic()
        room = asyncio.Semaphore(self._workload.at_once)

        async def one(number: int) -> None:
            async with room:
                await self._execution(number)

        tasks = [asyncio.ensure_future(one(number)) for number in range(1, self._workload.executions + 1)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        self._tell(wire.Stop())
        return time.monotonic() - began

    async def _execution(self, number: int) -> None:
        """One execution, again and again while the machine is late."""
        for _ in range(_TRIES):
            ticket = await self._attempt(number)
            rows = self._recorded(ticket)
            self._resent += sum(each.resent for each in self._tickets[ticket].ended)
            state = self._tickets.pop(ticket)
            if not any(each.late for each in state.ended):
                self._hand_on(number, rows, state.counters())
                return
            self._late += 1
        raise errors.mistake(
            self._protocol(number),
            "M019",
            f"execution {number}: in each of {_TRIES} attempts a packet or a timer was later than the model allows",
            f"let a tick be longer than {self._workload.tick / 1e6:g} ms (--tick), or run fewer at once (--at-once)",
        )

    async def _attempt(self, number: int) -> int:
        """Run an execution until nothing happens any more, and have it recorded; the number of its ticket."""
        self._given += 1
        ticket = self._given
        state = self._tickets[ticket] = _Ticket(number)
        self._tell(wire.Begin(ticket, number, time.monotonic_ns() + _AHEAD))
        try:
            async with asyncio.timeout(self._workload.longest):
                await state.over.wait()
        except TimeoutError:
            raise errors.mistake(
                self._protocol(number),
                "M011",
                f"execution {number} of seed {self._workload.seed} has not ended after {self._workload.longest:g} s",
                "entities that go on forever never end a run; where the machine needs longer than a time-out, let "
                "a tick be longer (--tick), or run fewer at once (--at-once)",
            ) from None
        return ticket

    def _protocol(self, number: int) -> Protocol[Any]:
        return self._protocols[(number - 1) % len(self._protocols)]

    def _recorded(self, ticket: int) -> bytes:
        rows = b""
        for entity in range(self._workload.entities):
            path = recording.path_of(self._folder, ticket, entity)
            rows += path.read_bytes()
            path.unlink()
        return rows

    def _hand_on(self, number: int, rows: bytes, counters: dict[str, float]) -> None:
        """Executions end in any order, and are handed on in that of their numbers."""
        self._totals.update(counters)
        for name, count in counters.items():
            self._most[name] = max(count, self._most.get(name, 0))
        self._done[number] = rows, counters
        while self._next in self._done:
            self._take(self._next, *self._done.pop(self._next))
            self._next += 1

    # ---- with the processes ----

    def _tell(self, order: wire.Order) -> None:
        line = wire.encode(order) + b"\n"
        for writer in self._writers.values():
            writer.write(line)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await reader.readline()
        try:
            word = wire.word_of(hello)
        except msgspec.DecodeError:
            word = None
        if not isinstance(word, wire.Hello) or word.token != self._token:
            writer.close()
            return
        self._writers[word.party] = writer
        self._ports[word.party] = word.port
        if len(self._ports) == len(self._names):
            self._up.set()
        # A process that ends in the middle of a line is told of by its answer.
        with suppress(ConnectionError):
            while line := await reader.readline():
                self._hear(word.party, wire.word_of(line))

    def _hear(self, party: int, word: wire.Word) -> None:
        match word:
            case wire.Idle(ticket, sent, taken):
                state = self._tickets[ticket]
                state.idle[party] = sent, taken
                self._ask(ticket, state)
            case wire.Still(ticket):
                state = self._tickets[ticket]
                state.still[party] = word
                if len(state.still) == len(self._names):
                    self._answered(ticket, state)
            case wire.Ended(ticket):
                state = self._tickets[ticket]
                state.ended.append(word)
                if len(state.ended) == len(self._names):
                    state.over.set()
            case wire.Hello():
                pass
            case _:
                assert_never(word)

    def _ask(self, ticket: int, state: _Ticket) -> None:
        """Ask all once more where nothing is under way by what they have said."""
        if state.asked is not None or len(state.idle) < len(self._names):
            return
        if sum(sent for sent, _ in state.idle.values()) == sum(taken for _, taken in state.idle.values()):
            state.asked = dict(state.idle)
            state.still.clear()
            self._tell(wire.Ask(ticket))

    def _answered(self, ticket: int, state: _Ticket) -> None:
        asked, state.asked = state.asked, None
        now = {party: (each.sent, each.taken) for party, each in state.still.items()}
        if now == asked and all(each.idle for each in state.still.values()):
            self._tell(wire.End(ticket))
        else:
            self._ask(ticket, state)


def _answer(isolation: Isolation) -> bytes | None:
    """In a thread of its own: wait for the answer of a process, and end it in any case."""
    with isolation:
        return isolation.answer()


def _until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[float]) -> float:
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(task)
    finally:
        loop.close()
