"""`precedes run`: the processes, and who starts them, in a process of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from precedes.cli.conformance_job import Done
from precedes.cli.simulation_job import AWAY, conditions_of, model_of
from precedes.core.exit_codes import Exit
from precedes.core.isolation import Channel, Isolation, terminated_as_interrupted
from precedes.jobs.check import library_with
from precedes.jobs.run import Question, run, tick_of
from precedes.protocol.processes.workload import Workload
from precedes.protocol.validation.integrity import Integrity
from precedes.reports import run as printed
from precedes.reports.progress import Commentary

_OFTEN: Final = 0.2
"""Seconds between two notes on the progress."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `run`. `options` are those of the command, by their names there."""

    form: str
    output: str | None
    hang_limit: float
    options: dict[str, Any]

    @property
    def about(self) -> str:
        """For messages."""
        return f"run {self.options['model']}"

    def run(self, channel: Channel) -> bytes:
        """Run, record and judge."""
        integrity = Integrity()
        options = self.options
        model = model_of(options)
        protocols = model.load()
        workload = Workload(
            model,
            conditions_of(protocols, options),
            options["seed"],
            options["executions"],
            tick_of(options["tick"], protocols[0]),
            options["at_once"],
            most_steps=options["most_steps"],
        )
        question = Question(
            workload,
            options["require"],
            library_with(options["specs"]),
            states=options["states"],
            max_violations=options["max_violations"],
            max_shown=options["max_shown"],
            silence=self.hang_limit,
        )

        said = 0.0

        def advance(what: str) -> None:
            nonlocal said
            channel.alive()
            if time.monotonic() - said > _OFTEN:
                said = time.monotonic()
                channel.tell(msgspec.json.encode(what))
            if channel.interrupted:
                raise KeyboardInterrupt

        ran = run(question, self.output, advance)
        integrity.verify(self.about)
        text = printed.as_json(ran) if self.form == "json" else printed.as_text(ran)
        return msgspec.json.encode(Done(text, Exit.of(ran.verdict)))


def answered(asked: Asked, comments: Commentary) -> Done:
    """Run in a process of its own. Raises PrecedesError if there is no verdict."""

    def heard(note: bytes) -> None:
        comments.now(msgspec.json.decode(note, type=str))

    with terminated_as_interrupted(), Isolation(asked, silence=asked.hang_limit, heard=heard) as process:
        try:
            answer = process.answer()
        except KeyboardInterrupt:
            process.leave(within=AWAY)
            raise
    assert answer is not None
    return msgspec.json.decode(answer, type=Done)
