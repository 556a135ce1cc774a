"""A search whose frontier is divided by hash over Spark's workers, beside the search in one process.

    python -m benchmarks.exploring_on_spark [MESSAGES ...]

The question is that of `benchmarks.exploring`: the auxiliary procedure of the CMD paper among three entities, every
interleaving, states without histories. Every worker takes the same step, `FoundStates.expand`, on the states that fall
to it, layer by layer. A state travels as one hash for each of its components; what a component is goes through the
driver, once. What was visited is kept beside each part, as hashes of states, and is handed from layer to layer. This is
less than a search for users needs: there are no parents, so no behaviors, and nothing is judged.

Both have the same number of states, which is checked. The results are written to build/exploring-on-spark.json.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import expansion, numbering, offers
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.found_states import FoundStates
from precedes.protocol.exploration.histories import needed
from precedes.protocol.exploration.interned_values import InnerState, Placement
from precedes.protocol.exploration.state_space import Space
from precedes.protocol.exploration.transition_table import TransitionTable
from precedes_models.cmd.auxiliary import LEMMA_6, Auxiliary

RESULT: Final = Path("build/exploring-on-spark.json")
MASTERS: Final = ("local[2]", "local-cluster[2,1,1024]")
SIZES: Final = (5,)
PARTS: Final = 2
PROTOCOL: Final = Auxiliary(queue=False)

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Row:
    """One search: seconds by the clock, without the start of Spark, and of the processor, as far as Python ran; `step`
    is what the workers needed for the steps alone.
    """

    where: str
    messages: int
    states: int
    layers: int
    seconds: float
    processor: float
    step: float | None
    load: float

    @property
    def rate(self) -> float:
        """States a second."""
        return self.states / self.seconds


class Component(NamedTuple):
    """A component as a value, the same in every process."""

    placement: Placement
    now: int
    state: Any
    stopped: bool
    lost: bool
    made: int
    inbox: tuple[tuple[int, Any], ...]


class Worker:
    """The tables of one process, and the components that it knows by their hashes."""

    def __init__(self, messages: int) -> None:
        bounds = Bounds(3, messages, Destinations.UNICAST)
        self.table = TransitionTable(PROTOCOL, bounds.entities, needed(()))
        self.space = Space(self.table, bounds)
        self.table.code.by_machine = True
        self.numbers: dict[int, int] = {}
        self.hashes: list[int] = []
        self.values: dict[int, bytes] = {}
        """The components that others may not know yet, by their hashes."""
        self.layers = 0
        """Of how many layers it knows what others found."""

    def beginning(self) -> Hashes:
        """The state in which behaviors begin, by hashes."""
        states = np.array([state for state, _ in self.space.initial()], np.int32)
        return self.by_hashes(states)

    def expanded(self, states: Hashes) -> Hashes:
        """The successors of states, each once."""
        found = FoundStates(self.table, expansion.EVERY)
        found._states.add(self.by_numbers(states))
        found._make_room(0)
        count, first = found.count, 0
        while first < count:
            last = min(count, first + found.chunk)
            found.expand(first, last)
            first = last
        return self.by_hashes(found.rows[count : found.count])

    def by_hashes(self, states: npt.NDArray[np.int32]) -> Hashes:
        """States with the hashes of their components, and their budget."""
        self._learn_hashes()
        known = np.array(self.hashes, np.uint64)
        return np.concatenate((known[states[:, :-1]], states[:, -1:].astype(np.uint64)), axis=1)

    def by_numbers(self, states: Hashes) -> npt.NDArray[np.int32]:
        """The same with the numbers of this process."""
        distinct, places = np.unique(states[:, :-1], return_inverse=True)
        numbers = np.array([self.numbers[each] for each in distinct.tolist()], np.int32)
        components = numbers[places].reshape(len(states), -1)
        return np.concatenate((components, states[:, -1:].astype(np.int32)), axis=1)

    def learn(self, components: dict[int, bytes]) -> None:
        """Know components of others."""
        self._learn_hashes()
        for code, value in components.items():
            if code not in self.numbers:
                number = self._made(pickle.loads(value))
                self._learn_hashes()
                assert self.hashes[number] == code
        self.values.clear()

    def _learn_hashes(self) -> None:
        table = self.table
        for number in range(len(self.hashes), int(table.matrices.sizes[c.COMPONENTS])):
            value = self._value(number)
            told = canonical(value).encode()
            code = int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big")
            self.hashes.append(code)
            self.numbers[code] = number
            self.values[code] = pickle.dumps(value)

    def _value(self, number: int) -> Component:
        arrays = self.table.matrices.arrays
        inner = self.table.inner_of(number)
        local = int(arrays["components"][number, c.LOCAL])
        made = int(arrays["pasts"][arrays["locals"][local, c.PAST], c.MADE])
        inbox = sorted(self.table.inbox_of(number), key=canonical)
        placement = self.table.placements.values[inner.placement]
        state = self.table.states.values[inner.state]
        return Component(placement, inner.now, state, inner.stopped, inner.lost, made, tuple(inbox))

    def _made(self, value: Component) -> int:
        table = self.table
        inner = table.inner(
            InnerState(
                table.placement(value.placement),
                value.now,
                table.state(value.state),
                value.stopped,
                value.lost,
            )
        )
        flights = [table.flight(sender, table.packet(packet), 0) for sender, packet in value.inbox]
        while True:
            tables = table.matrices.tables()
            length = 0
            for flight in flights:
                length = offers.inserted(tables, flight, length)
            local = numbering.local_of(tables, inner, numbering.past_of(tables, value.made, 0, 0, -1))
            number = numbering.component_of(tables, local, numbering.inbox_of(tables, length))
            if number >= 0:
                return int(number)
            table.answer()


def canonical(value: Any) -> str:
    """A text that is the same for equal values in every process."""
    if is_dataclass(value):
        parts = [canonical(getattr(value, each.name)) for each in fields(value)]
        return f"{type(value).__name__}({','.join(parts)})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(canonical, value)))}}}"
    if isinstance(value, tuple):
        return f"({','.join(map(canonical, value))})"
    return repr(value)


WORKERS: Final[dict[int, Worker]] = {}
"""The worker of this process for a number of messages."""


def worker_of(messages: int) -> Worker:
    """The worker of this process."""
    if messages not in WORKERS:
        WORKERS[messages] = Worker(messages)
    return WORKERS[messages]


def codes_of(states: Hashes) -> Hashes:
    """A hash of each state."""
    code = np.zeros(len(states), np.uint64)
    for column in states.T:
        code = (code ^ (code >> np.uint64(29)) ^ column) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(32))


def on_spark(context: Any, messages: int) -> tuple[int, int, float, float]:
    """Search on Spark: how many states there are, in how many layers, and seconds of the processor of the workers: for
    all that they did, and for the steps alone.
    """
    began = time.process_time()
    whole, alone = context.accumulator(0.0), context.accumulator(0.0)
    root = str(Path(__file__).resolve().parents[1])
    start = worker_of(messages).beginning()
    known = dict(worker_of(messages).values)
    new = context.parallelize([(0, pickle.dumps(start))], PARTS).partitionBy(PARTS)
    visited = context.parallelize([(0, pickle.dumps(codes_of(start)))], PARTS).partitionBy(PARTS)
    total, layers = len(start), 0
    shared = [context.broadcast(known.copy())]
    while True:
        known_to_all = tuple(shared)

        def expand(
            part: Iterator[tuple[int, bytes]], shared: tuple[Any, ...] = known_to_all
        ) -> Iterator[tuple[int, bytes]]:
            if root not in sys.path:
                sys.path.insert(0, root)
            from benchmarks.exploring_on_spark import codes_of, worker_of

            started = time.process_time()
            worker = worker_of(messages)
            # A part may come to another process than before, which has missed a layer.
            for layer in range(worker.layers, len(shared)):
                worker.learn(shared[layer].value)
            worker.layers = len(shared)
            for _, states in part:
                rows = pickle.loads(states)
                before = time.process_time()
                found = worker.expanded(rows)
                alone.add(time.process_time() - before)
                owner = (codes_of(found) % PARTS).astype(int)
                for k in range(PARTS):
                    yield k, pickle.dumps(found[owner == k])
            yield -1, pickle.dumps(worker.values)
            whole.add(time.process_time() - started)

        made = new.mapPartitions(expand, preservesPartitioning=False).cache()
        fresh = {}
        for _, values in made.filter(lambda pair: pair[0] < 0).collect():
            fresh |= pickle.loads(values)
        fresh = {code: value for code, value in fresh.items() if code not in known}
        known |= fresh
        shared.append(context.broadcast(fresh))
        arrived = made.filter(lambda pair: pair[0] >= 0).groupByKey(PARTS).cogroup(visited, PARTS)

        def merge(pair: tuple[int, tuple[Any, Any]]) -> tuple[int, tuple[bytes, bytes]]:
            started = time.process_time()
            done = merged(pair[1])
            whole.add(time.process_time() - started)
            return pair[0], done

        both = arrived.map(merge, preservesPartitioning=True).cache()
        new = both.mapValues(lambda pair: pair[0]).filter(lambda pair: len(pickle.loads(pair[1])) > 0)
        visited = both.mapValues(lambda pair: pair[1])
        count = both.map(lambda pair: len(pickle.loads(pair[1][0]))).sum()
        layers += 1
        total += count
        if not count:
            return total, layers, whole.value + time.process_time() - began, alone.value


def merged(given: tuple[Any, Any]) -> tuple[bytes, bytes]:
    """Of what arrived at a part, the states that are new, and the hashes of all that were visited there."""
    lists, before = given
    arrived = [pickle.loads(each) for group in lists for each in group]
    seen = np.sort(np.concatenate([np.zeros(0, np.uint64), *map(pickle.loads, before)]))
    states = np.concatenate(arrived) if arrived else np.zeros((0, 4), np.uint64)
    codes, places = np.unique(codes_of(states), return_index=True)
    place = np.searchsorted(seen, codes)
    is_new = np.ones(len(codes), np.bool_)
    inside = place < len(seen)
    is_new[inside] = seen[place[inside]] != codes[inside]
    return pickle.dumps(states[places[is_new]]), pickle.dumps(np.concatenate((seen, codes[is_new])))


def in_one_process(messages: int) -> Row:
    """The plain search of the command, for the same question."""
    started, processor = time.monotonic(), time.process_time()
    found = explore(
        PROTOCOL, Bounds(3, messages, Destinations.UNICAST), [], invariants=(LEMMA_6,), plain=True
    )
    seconds, processor = time.monotonic() - started, time.process_time() - processor
    return Row(
        "one process", messages, found.states, found.depth, seconds, processor, None, os.getloadavg()[0]
    )


def measured(messages: int) -> Iterator[Row]:
    """A row for each way, each after a smaller search that is not counted, so that compiled code is loaded."""
    from precedes.engines.spark.java import use_java
    from precedes.engines.spark.session import session

    in_one_process(messages - 2)
    yield in_one_process(messages)
    use_java()
    for master in MASTERS:
        spark = session(master)
        context = spark.sparkContext
        on_spark(context, messages - 2)
        started = time.monotonic()
        states, layers, processor, step = on_spark(context, messages)
        seconds = time.monotonic() - started
        yield Row(master, messages, states, layers, seconds, processor, step, os.getloadavg()[0])
        spark.stop()


def main(sizes: list[int]) -> None:
    """Measure, print and write."""
    rows = []
    for messages in sizes:
        for row in measured(messages):
            rows.append(row)
            print(
                f"{row.where:<24} {row.messages} messages  {row.states:,} states  {row.layers} layers  "
                f"{row.seconds:.1f} s  {row.processor:.1f} s of the processor  {row.rate:,.0f} states a second"
                f"  load {row.load:.1f}",
                flush=True,
            )
        assert len({row.states for row in rows if row.messages == messages}) == 1
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    # What Spark's workers unpickle must stand in a module that they can import.
    importlib.import_module("benchmarks.exploring_on_spark").main(
        [int(each) for each in sys.argv[1:]] or list(SIZES)
    )
