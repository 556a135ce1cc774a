"""The compiled CMD carries the s-records of the models, message by message."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from experiments.s_records_kernel import SERVER, TOPOLOGIES, carried, requests
from precedes.protocol import Here, Message, Step, Transmit
from precedes.protocol.bounds import Conditions
from precedes.protocol.network import Reliable
from precedes.protocol.running.chance import Chance, normal_delays
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.cmd.auxiliary import Auxiliary, s_records
from precedes_models.cmd.protocol import Cmd

DELAY = 1_000_000
WIDE = Conditions(delay=DELAY, deviation=0.3 * DELAY)


def of_model(protocol: Auxiliary, topology: str, load: float, number: int) -> tuple[list[int], int]:
    """The s-records of each message, and how many messages came to wait in a Queue."""
    carries: list[int] = []
    queued = 0

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> None:
        nonlocal queued
        queued += len(step.state.queue) > len(before.queue)
        if isinstance(cause, Message):
            carries.extend(s_records(a.packet) for a in step.actions if isinstance(a, Transmit))

    Simulator(
        protocol,
        Conditions(entities=5, messages=150),
        requests=requests(topology, 5, 150, DELAY / load),
        delays=normal_delays(WIDE, Reliable()),
        observe=observe,
    ).run(1, number)
    return carries, queued


@pytest.mark.parametrize("load", [pytest.param(0.3, marks=pytest.mark.slow), 4.0])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_compiled_protocol_is_the_models(topology: str, load: float) -> None:
    for number in (1, 2) if load < 1 else (1,):
        compiled = carried(
            1, number, requests(topology, 5, 150, DELAY / load), normal_delays(WIDE, Reliable()), 5
        )
        queued = int(compiled.queued.sum())
        assert (compiled.records.tolist(), queued) == of_model(Cmd(), topology, load, number)
        assert (compiled.auxiliary.tolist(), queued) == of_model(Auxiliary(), topology, load, number)
        assert queued > 0


def test_topologies_are_what_they_are_called() -> None:
    pairs = {
        name: [pair(Chance(1, number, "network"), 6) for number in range(2_000)]
        for name, pair in TOPOLOGIES.items()
    }
    assert all(sender != destination for found in pairs.values() for sender, destination in found)
    assert set(pairs["ring"]) == {(k, (k + 1) % 6) for k in range(6)}
    assert len(set(pairs["uniform"])) == len(set(pairs["hot spot"])) == 30
    assert all(
        (sender == SERVER) != (destination == SERVER) for sender, destination in pairs["client-server"]
    )
    assert 900 < sum(sender == SERVER for sender, _ in pairs["client-server"]) < 1_100
    # Of the others five sixths times a half, and a fifth of the rest.
    assert 900 < sum(destination == SERVER for _, destination in pairs["hot spot"]) < 1_100
