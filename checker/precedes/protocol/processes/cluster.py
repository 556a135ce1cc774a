"""Starts the processes of a cluster, has them run executions, and knows when one has ended.

An execution has ended when no process has anything to do and nothing is under way between them. Each says when it has
nothing to do, and how many letters it has handed over and taken. When the sums agree, all are asked once more: if
nothing has changed since, there was a moment at which nothing was under way (Mattern, Algorithms for distributed
termination detection, 1987: the four counter method).

Where entities stop, an execution has processes of its own. One whose entity has stopped is killed, and another, which
was started before and knows nothing of the execution, takes over if the entity starts again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, assert_never

import msgspec

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.isolation import Isolation
from precedes.protocol.model import Protocol
from precedes.protocol.processes import wire
from precedes.protocol.processes.member import Process
from precedes.protocol.processes.recording import Files
from precedes.protocol.processes.workload import Workload, network_of
from precedes.protocol.running import move_log
from precedes.protocol.validation import errors

_AHEAD: Final = 20_000_000
"""Nanoseconds from the order to begin to the beginning, so that all processes know of it by then."""
_TRIES: Final = 25
"""How often an execution is run again in which the machine was late."""
_UP: Final = 60.0
"""Seconds for all processes to be there."""
_AWAY: Final = 5.0
"""Seconds for all processes to go by themselves after the last execution."""
_SPARE: Final = "a process that takes over"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An execution: its number, its rows as JSON Lines, what was counted, and its moves, as `move_log` reads them."""

    number: int
    rows: bytes
    counters: Mapping[str, float]
    moves: bytes


Take: TypeAlias = Callable[[Recorded], None]
"""Told of each execution, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What came of all executions together.

    Attributes:
        counters: What was counted, as in a simulation.
        seconds: How long it took, from the first beginning to the last end.
        late: How many times an execution was put aside because the machine was late, and run again.
        resent: How many datagrams the system lost, so that they were sent again.
        most: The most of each counter in one execution.
        processes: How many processes there were at a time, spare ones apart.
        killed: How many of them were killed because their entity stopped.
    """

    counters: Mapping[str, float]
    most: Mapping[str, float]
    seconds: float
    late: int
    resent: int
    processes: int
    killed: int


@dataclass(slots=True)
class _Ticket:
    """An execution under way.

    Attributes:
        begun: What the processes were told.
        places: The process of each entity and of the network; None for one that was killed.
        sent: How many letters killed processes had handed over.
        taken: How many they had taken.
        awaited: How many entities wait for a process to start again in.
        known: Of each of these, whether the network knows of it.
        idle: What each process said last when it had nothing to do.
    """

    begun: wire.Begin
    places: list[int | None]
    sent: int = 0
    taken: int = 0
    awaited: int = 0
    known: dict[int, asyncio.Event] = field(default_factory=dict)
    idle: dict[int, tuple[int, int]] = field(default_factory=dict)
    asked: dict[int, tuple[int, int]] | None = None
    still: dict[int, wire.Still] = field(default_factory=dict)
    parts: list[wire.Part] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def running(self) -> set[int]:
        """The processes that take part."""
        return {place for place in self.places if place is not None}

    def adds_up(self, said: Mapping[int, tuple[int, int]]) -> bool:
        """Whether as many letters were taken as were handed over."""
        sent = self.sent + sum(sent for sent, _ in said.values())
        return sent == self.taken + sum(taken for _, taken in said.values())

    def counters(self) -> dict[str, float]:
        """What was counted in all processes."""
        found: Counter[str] = Counter()
        for each in self.parts:
            found.update({name: count for name, count in each.counters.items() if name != "ticks"})
        return {**found, "ticks": max(each.counters["ticks"] for each in self.parts)}


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
        network = network_of(workload, self._protocols[0])
        self._roles = [*names, *([] if network is None else [network])]
        self._crews = workload.at_once if workload.kills else 1
        self._token = secrets.token_hex(8)
        self._processes: list[Isolation] = []
        self._killed: set[int] = set()
        self._up: dict[int, asyncio.Event] = {}
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._ports: dict[int, int] = {}
        self._tickets: dict[int, _Ticket] = {}
        self._watching: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._given = 0
        self._done: dict[int, Recorded] = {}
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
        return Totals(
            self._totals,
            self._most,
            seconds,
            self._late,
            self._resent,
            processes=len(self._roles) * self._crews,
            killed=len(self._killed),
        )

    async def _run(self) -> float:
        server = await asyncio.start_server(self._connected, wire.HOST, 0)
        self._port = server.sockets[0].getsockname()[1]
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._spares: asyncio.Queue[int] = asyncio.Queue()
        # Each process has a thread that waits for it: those of all executions under way, their successors and spares.
        with ThreadPoolExecutor(3 * self._workload.at_once * len(self._roles)) as self._waiting:
            work = asyncio.ensure_future(self._all())
            try:
                either: list[asyncio.Future[Any]] = [work, self._failure]
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if not work.done():
                    # A process whose neighbor has failed may fail, too: the first one tells why.
                    self._failure.result()
                return await work
            finally:
                await self._put_away(work)
                server.close()

    async def _put_away(self, work: asyncio.Future[float]) -> None:
        """No process stays. Those that were told to stop have time for it; a spare one may not be there yet."""
        if work.done() and not work.cancelled() and work.exception() is None:
            await asyncio.wait([self._watching[place] for place in self._writers], timeout=_AWAY)
        work.cancel()
        for task in self._tasks - set(self._watching.values()):
            task.cancel()
        for isolation in self._processes:
            # A process that has just ended has no line any more on which it could be told to end.
            with suppress(ValueError):
                isolation.interrupt(within=0)
        await asyncio.gather(work, *self._tasks, return_exceptions=True)
        if self._failure.done():
            # Somebody has asked for it, or the work has failed for a reason of its own.
            self._failure.exception()
        for writer in self._writers.values():
            writer.close()

    async def _all(self) -> float:
        """All executions, some of them at the same time."""
        free: asyncio.Queue[list[int | None]] = asyncio.Queue()
        crews = [[self._started(name) for name in self._roles] for _ in range(self._crews)]
        for place in range(self._workload.at_once):
            free.put_nowait(list(crews[place % len(crews)]))
        spares = [self._started(_SPARE) for _ in crews if self._workload.kills]
        await self._are_up([*(place for crew in crews for place in crew), *spares])
        for place in spares:
            self._spares.put_nowait(place)
        began = time.monotonic()

        async def one(number: int) -> None:
            places = await free.get()
            try:
                await self._execution(number, places)
            finally:
                free.put_nowait(places)

        tasks = [asyncio.ensure_future(one(number)) for number in range(1, self._workload.executions + 1)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        seconds = time.monotonic() - began
        self._tell(wire.Stop(), self._writers)
        return seconds

    async def _execution(self, number: int, places: list[int | None]) -> None:
        """One execution, again and again while the machine is late. `places`: its processes, renewed where one ends."""
        for _ in range(_TRIES):
            for party, place in enumerate(places):
                places[party] = await self._spare() if place is None else place
            ticket = await self._attempt(number, places)
            state = self._tickets.pop(ticket)
            places[:] = state.places
            recorded = self._recorded(ticket, state)
            self._resent += sum(each.resent for each in state.parts)
            if not any(each.late for each in state.parts):
                self._hand_on(recorded)
                return
            self._late += 1
        raise errors.mistake(
            self._protocol(number),
            "M019",
            f"execution {number}: in each of {_TRIES} attempts a packet or a timer was later than the model allows",
            f"let a tick be longer than {self._workload.tick / 1e6:g} ms (--tick), or run fewer at once (--at-once)",
        )

    async def _attempt(self, number: int, places: list[int | None]) -> int:
        """Run an execution until nothing happens any more, and have it recorded; the number of its ticket."""
        self._given += 1
        ticket = self._given
        playing = tuple(place for place in places if place is not None)
        begun = wire.Begin(ticket, number, time.monotonic_ns() + _AHEAD, playing)
        state = self._tickets[ticket] = _Ticket(begun, list(places))
        self._tell(begun, playing)
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

    def _recorded(self, ticket: int, state: _Ticket) -> Recorded:
        number = state.begun.number
        files = [Files(self._folder, ticket, entity).taken() for entity in range(self._workload.entities)]
        channel = next((each.channel for each in state.parts if each.channel is not None), None)
        moves = move_log.joined([moves for _, moves in files], channel)
        return Recorded(number, b"".join(rows for rows, _ in files), state.counters(), moves)

    def _hand_on(self, recorded: Recorded) -> None:
        """Executions end in any order, and are handed on in that of their numbers."""
        self._totals.update(recorded.counters)
        for name, count in recorded.counters.items():
            self._most[name] = max(count, self._most.get(name, 0))
        self._done[recorded.number] = recorded
        while self._next in self._done:
            self._take(self._done.pop(self._next))
            self._next += 1

    # ---- processes that start and end ----

    def _started(self, name: str) -> int:
        """Start a process; its number."""
        place = len(self._processes)
        called = f"{self._protocols[0].name}, {name}"
        process = Process(self._workload, place, called, self._port, self._token, self._folder)
        isolation = Isolation(process, silence=self._silence)
        self._processes.append(isolation)
        self._up[place] = asyncio.Event()
        self._watching[place] = self._go_on_with(self._watched(place, isolation))
        return place

    def _go_on_with(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done_with)
        return task

    def _done_with(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._failure.done():
            self._failure.set_exception(error)

    async def _watched(self, place: int, isolation: Isolation) -> None:
        """A process that ends before it is told to ends the run, unless it was killed."""
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._waiting, _answer, isolation)
        except PrecedesError:
            if place not in self._killed:
                raise

    async def _are_up(self, places: Sequence[int]) -> None:
        """Wait until processes are there. PrecedesError M015."""
        try:
            async with asyncio.timeout(_UP):
                for place in places:
                    await self._up[place].wait()
        except TimeoutError:
            missing = sum(not self._up[place].is_set() for place in places)
            said = f"no verdict on run: {missing} of {len(places)} processes did not start within {_UP:g} s"
            hint = "stop what else the machine does"
            raise PrecedesError((Diagnostic("M015", said, hint=hint),)) from None

    def _start_a_spare(self) -> None:
        """Have one process more, which takes over where another is killed."""

        async def start() -> None:
            place = self._started(_SPARE)
            await self._are_up([place])
            self._spares.put_nowait(place)

        self._go_on_with(start())

    async def _spare(self) -> int:
        """A process that knows of no execution; another one starts in its place."""
        place = await self._spares.get()
        self._start_a_spare()
        return place

    def _stopped(self, place: int, word: wire.Stopped) -> None:
        """An entity has stopped: kill its process. What the network still has for it is lost."""
        state = self._tickets[word.ticket]
        entity = state.places.index(place)
        self._killed.add(place)
        self._processes[place].kill()
        self._writers.pop(place).close()
        state.places[entity] = None
        state.parts.append(word.part)
        state.sent += word.sent
        state.taken += word.taken
        state.idle.pop(place, None)
        network = state.places[-1]
        assert network is not None
        self._tell(wire.Gone(word.ticket, entity, word.taken), [network])
        if word.due is not None:
            state.awaited += 1
            self._go_on_with(self._taken_over(state, entity, network, word.due))

    async def _taken_over(self, state: _Ticket, entity: int, network: int, due: int) -> None:
        """An entity starts again in another process."""
        place = await self._spare()
        known = state.known[entity] = asyncio.Event()
        self._tell(wire.Back(state.begun.ticket, entity, place), [network])
        # Before that, what the entity transmits when it starts again might come back to nobody.
        await known.wait()
        state.places[entity] = place
        state.awaited -= 1
        self._tell(wire.TakeOver(state.begun, entity, due), [place])

    # ---- with the processes ----

    def _tell(self, order: wire.Order, places: Iterable[int]) -> None:
        line = wire.encode(order) + b"\n"
        for place in places:
            self._writers[place].write(line)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await reader.readline()
        try:
            word = wire.word_of(hello)
        except msgspec.DecodeError:
            word = None
        if not isinstance(word, wire.Hello) or word.token != self._token:
            writer.close()
            return
        self._writers[word.place] = writer
        self._ports[word.place] = word.port
        ports = tuple(self._ports.get(place, 0) for place in range(len(self._processes)))
        self._tell(wire.Ports(ports), self._writers)
        self._up[word.place].set()
        # A process that ends in the middle of a line is told of by its answer.
        with suppress(ConnectionError):
            while line := await reader.readline():
                self._hear(word.place, wire.word_of(line))

    def _hear(self, place: int, word: wire.Word) -> None:
        match word:
            case wire.Idle(ticket, sent, taken):
                state = self._tickets[ticket]
                state.idle[place] = sent, taken
                self._ask(ticket, state)
            case wire.Still(ticket):
                state = self._tickets[ticket]
                state.still[place] = word
                self._answered(ticket, state)
            case wire.Known(ticket, entity):
                self._tickets[ticket].known[entity].set()
            case wire.Stopped(ticket):
                self._stopped(place, word)
                state = self._tickets[ticket]
                self._answered(ticket, state)
                self._ask(ticket, state)
            case wire.Ended(ticket):
                state = self._tickets[ticket]
                state.parts.append(word.part)
                state.ended.add(place)
                if state.ended >= state.running():
                    state.over.set()
            case wire.Hello():
                pass
            case _:
                assert_never(word)

    def _ask(self, ticket: int, state: _Ticket) -> None:
        """Ask all once more where nothing is under way by what they have said."""
        running = state.running()
        if state.asked is not None or state.awaited or state.idle.keys() != running:
            return
        if state.adds_up(state.idle):
            state.asked = dict(state.idle)
            state.still.clear()
            self._tell(wire.Ask(ticket), running)

    def _answered(self, ticket: int, state: _Ticket) -> None:
        """All have answered who were asked and were not killed since."""
        if state.asked is None or state.still.keys() < state.running():
            return
        asked, state.asked = state.asked, None
        now = {place: (each.sent, each.taken) for place, each in state.still.items()}
        if now == asked and all(each.idle for each in state.still.values()):
            self._tell(wire.End(ticket), state.running())
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
