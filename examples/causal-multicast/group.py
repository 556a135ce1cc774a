"""Entities, their links and their processes, and executions of them that are recorded.

Each execution is a file of its own, and the folder is the trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from causal_entity import Entity, Packet
from lossy_network import Link, Network

from precedes.record import Recorder

LOSS = 0.2
BUSY = 20.0
"""Messages are sent within this time, twice the longest delay: some are answers to others, and some cross."""


@dataclass(frozen=True, slots=True)
class Program:
    """What runs: the class of the entities, and of the links between them."""

    entity: type[Entity] = Entity
    link: type[Link] = Link


class Group:
    """Entities with a link from each to each other one, whose processes record what happens.

    Args:
        program: What runs.
        recorder: Gets a row for each send, each arrival and each delivery.
        network: Carries everything.
        names: The entities.
    """

    def __init__(self, program: Program, recorder: Recorder, network: Network, names: list[str]) -> None:
        self._processes = {name: recorder.entity(name) for name in names}
        self._links = {
            (one, other): program.link(network, partial(self._arrived, other))
            for one in names
            for other in names
            if one != other
        }
        self._entities = {
            name: program.entity(name, partial(self._transmit, name), process.deliver)
            for name, process in self._processes.items()
        }

    def send(self, sender: str, receivers: list[str]) -> None:
        """Let a process send a message. The recorder makes up its name."""
        headers = self._processes[sender].send(to=receivers)
        self._entities[sender].send(headers, receivers)

    def _transmit(self, sender: str, receiver: str, packet: Packet) -> None:
        self._links[sender, receiver].put(packet)

    def _arrived(self, receiver: str, packet: Packet) -> None:
        self._processes[receiver].arrive(packet.message)
        self._entities[receiver].receive(packet)


def run(program: Program, recorder: Recorder, seed: int, entities: int = 3, messages: int = 6) -> None:
    """One execution, from the first send until nothing is on its way any more.

    Args:
        program: What runs.
        recorder: Gets what happens.
        seed: Everything that is left to chance follows from it.
        entities: How many entities there are, at least two.
        messages: How many messages they send, each to one or more of the others.
    """
    random = Random(seed)
    network = Network(random, LOSS)
    names = [f"E{number}" for number in range(1, entities + 1)]
    group = Group(program, recorder, network, names)
    for _ in range(messages):
        sender = random.choice(names)
        others = [name for name in names if name != sender]
        receivers = sorted(random.sample(others, random.randint(1, len(others))))
        network.after(random.uniform(0, BUSY), partial(group.send, sender, receivers))
    network.run()


def record(
    program: Program, folder: Path, executions: int = 200, entities: int = 3, messages: int = 6
) -> None:
    """Record executions in a new folder, a file for each.

    Args:
        program: What runs.
        folder: The trace. It must not be there yet, because a recorder adds to what a file has.
        executions: How many; the seed of each is its number.
        entities: How many entities each has.
        messages: How many messages each has.

    Raises:
        FileExistsError: The folder is there.
    """
    folder.mkdir(parents=True)
    for seed in range(executions):
        with Recorder(folder / f"{seed:03}.jsonl", f"{seed:03}") as recorder:
            run(program, recorder, seed, entities, messages)
