"""`precedes conform` in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from precedes.cli.options import log_reading
from precedes.core.diagnostics import usage
from precedes.core.exit_codes import Exit
from precedes.core.isolation import Channel, Isolation
from precedes.core.transposition import execution_of
from precedes.jobs import verify
from precedes.jobs.conform import LIMITS, Question, conform
from precedes.protocol import catalog, script
from precedes.protocol.conformance.verdicts import Limits
from precedes.protocol.validation.integrity import Integrity
from precedes.reports import conform as printed
from precedes.reports.progress import Commentary
from precedes.traces import Notices, expand, read_batches


class Done(Struct, frozen=True):
    """What `conform` prints, and its exit code."""

    text: str
    exit: Exit


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `conform`. `options` are those of the command, by their names there."""

    form: str
    options: dict[str, Any]

    @property
    def about(self) -> str:
        """For messages."""
        return f"conform {self.options['model']}"

    def run(self, channel: Channel) -> bytes:
        """Judge every execution of the traces."""
        options = self.options
        integrity = Integrity()
        settings = script.settings(options["settings"])
        protocols = catalog.models(options["model"], as_written=options["as_written"], parameters=settings)
        limits = Limits(**{name: options[name] for name in LIMITS}, quiescent=options["quiescent"])
        question = Question(limits, options["entities"], options["ignore"], options["max_shown"])
        notices = Notices()
        log = log_reading(options["log"], (), options["mapping"])
        words = ("traces", "cluster", "order", "strict")
        reading = verify.Question(required=(), **{word: options[word] for word in words}).options()
        batches = read_batches(expand(options["traces"], notices, log), reading, notices)
        executions = (execution_of(batch, k) for batch in batches for k in range(batch.executions))

        def advance(judged: int) -> None:
            channel.alive()
            if judged % 1000 == 0:
                channel.tell(msgspec.json.encode(judged))

        found = conform(protocols, executions, question, advance)
        integrity.verify(self.about)
        if self.form == "json":
            text = printed.as_json(found, tuple(notices.all()))
        else:
            text = printed.as_text(found, tuple(notices.all()), verbose=options["verbose"])
        return msgspec.json.encode(Done(text, Exit.of(found.verdict)))


def answered(asked: Asked, silence: float, comments: Commentary) -> Done:
    """Judge in a process of its own. Raises PrecedesError if there is no verdict."""
    if "-" in asked.options["traces"]:
        raise usage("conform does not read standard input", "write the rows to a file first")

    def heard(note: bytes) -> None:
        comments.now(f"{msgspec.json.decode(note, type=int):,} executions")

    with Isolation(asked, silence=silence, heard=heard) as process:
        answer = process.answer()
    assert answer is not None
    return msgspec.json.decode(answer, type=Done)
