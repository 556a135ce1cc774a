"""`precedes simulate` in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import Struct

from precedes.core.isolation import Channel, Isolation
from precedes.engines.selection import selected
from precedes.jobs.simulate import CONDITIONS, simulate
from precedes.protocol import Protocol, script
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.catalog import Named
from precedes.protocol.simulation.simulator import usual
from precedes.protocol.simulation.trace import Simulation
from precedes.protocol.validation.integrity import Integrity
from precedes.reports import simulate as printed
from precedes.traces.layout.conversion import Advance

AWAY = 10.0
"""Seconds that an interrupted job has to remove what it was writing."""


class Progress(Struct, frozen=True):
    """How much has been written."""

    executions: int
    rows: int


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `simulate`. `options` are those of the command, by their names there."""

    output: str
    options: dict[str, Any]

    @property
    def about(self) -> str:
        """For messages."""
        return f"simulate {self.options['model']}"

    def run(self, channel: Channel) -> bytes:
        """Run the model and write the trace. The answer is what is printed."""
        integrity = Integrity()
        options = self.options
        model = model_of(options)
        protocols = model.load()
        simulation = Simulation(
            model,
            conditions_of(protocols, options),
            options["seed"],
            options["executions"],
            options["most_steps"],
        )

        def advance(executions: int, rows: int) -> None:
            channel.tell(msgspec.json.encode(Progress(executions, rows)))

        def alive() -> None:
            channel.alive()
            if channel.interrupted:
                raise KeyboardInterrupt

        done = simulate(
            simulation,
            self.output,
            engine=options["engine"],
            master=options["master"],
            advance=advance,
            alive=alive,
        )
        integrity.verify(self.about)
        return msgspec.json.encode(printed.as_text(self.output, protocols, simulation, done))


def model_of(options: Mapping[str, Any]) -> Named:
    """The model that the options name. PrecedesError U001 for a setting that is none."""
    settings = script.settings(options["settings"])
    return Named(options["model"], options["as_written"], tuple(settings.items()))


def conditions_of(protocols: Sequence[Protocol[Any]], options: Mapping[str, Any]) -> tuple[Conditions, ...]:
    """The conditions of each instance: as the options say, and the usual ones of its network for the rest."""
    chosen = {name: options[name] for name in CONDITIONS if options[name] is not None}
    if options["destinations"] is not None:
        chosen["destinations"] = Destinations(options["destinations"])
    return tuple(replace(usual(protocol), **chosen) for protocol in protocols)


def simulated(asked: Asked, silence: float, advance: Advance) -> str:
    """Simulate in a process of its own. Raises PrecedesError if nothing was written."""

    def heard(note: bytes) -> None:
        progress = msgspec.json.decode(note, type=Progress)
        advance(progress.executions, progress.rows)

    # A cluster may be busy with other jobs for as long as it wants.
    on_spark = selected(asked.options["engine"], asked.options["master"]) == "spark"
    with Isolation(asked, silence=None if on_spark else silence, heard=heard) as process:
        try:
            answer = process.answer()
        except KeyboardInterrupt:
            process.leave(within=AWAY)
            raise
    assert answer is not None
    return msgspec.json.decode(answer, type=str)
