"""`precedes conform` in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from precedes.cli.options import log_reading
from precedes.cli.simulation_job import model_of
from precedes.core.diagnostics import usage
from precedes.core.exit_codes import Exit
from precedes.core.isolation import Channel, Isolation
from precedes.engines.selection import selected
from precedes.jobs import verify
from precedes.jobs.conform import LIMITS, Question, conform
from precedes.protocol.conformance.verdicts import Limits
from precedes.protocol.validation.integrity import Integrity
from precedes.reports import conform as printed
from precedes.reports.page.conform_page import MOST_CASES, conform_page
from precedes.reports.page.rendering import html
from precedes.reports.progress import Commentary
from precedes.traces import Notices


class Done(Struct, frozen=True):
    """What `conform` prints, its exit code, and the report as a page, if that was asked for."""

    text: str
    exit: Exit
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `conform`. `options` are those of the command, by their names there. `page`: the report is wanted as
    a page, too.
    """

    form: str
    options: dict[str, Any]
    page: bool = False

    @property
    def about(self) -> str:
        """For messages."""
        return f"conform {self.options['model']}"

    def run(self, channel: Channel) -> bytes:
        """Judge every execution of the traces."""
        options = self.options
        integrity = Integrity()
        model = model_of(options)
        limits = Limits(**{name: options[name] for name in LIMITS}, quiescent=options["quiescent"])
        most = options["max_shown"]
        kept = max(most, MOST_CASES) if self.page else most
        state = tuple(_named(text) for text in options["state"])
        question = Question(limits, options["entities"], options["ignore"], state, kept)
        notices = Notices()
        log = log_reading(options["log"], (), options["mapping"])
        words = ("traces", "cluster", "order", "strict", "engine", "master")
        trace = verify.Question(required=(), log=log, **{word: options[word] for word in words})

        def advance(judged: int) -> None:
            channel.alive()
            if judged % 1000 == 0:
                channel.tell(msgspec.json.encode(judged))

        found = conform(model, trace, question, notices, advance)
        integrity.verify(self.about)
        told, shown = tuple(notices.all()), found.first(most)
        if self.form == "json":
            text = printed.as_json(shown, told)
        else:
            text = printed.as_text(shown, told, verbose=options["verbose"])
        page = html(conform_page(found, told)) if self.page else None
        return msgspec.json.encode(Done(text, Exit.of(found.verdict), page))


def _named(text: str) -> tuple[str, str]:
    """A field of states and its attribute. PrecedesError U001."""
    name, equals, attribute = (part.strip() for part in text.partition("="))
    if not (name and equals and attribute):
        raise usage(f"--state {text} names no attribute", "write --state FIELD=ATTRIBUTE")
    return name, attribute


def answered(asked: Asked, silence: float, comments: Commentary) -> Done:
    """Judge in a process of its own. Raises PrecedesError if there is no verdict."""
    if "-" in asked.options["traces"]:
        raise usage("conform does not read standard input", "write the rows to a file first")

    def heard(note: bytes) -> None:
        comments.now(f"{msgspec.json.decode(note, type=int):,} executions")

    # A cluster may be busy with other jobs for as long as it wants.
    on_spark = selected(asked.options["engine"], asked.options["master"]) == "spark"
    with Isolation(asked, silence=None if on_spark else silence, heard=heard) as process:
        answer = process.answer()
    assert answer is not None
    return msgspec.json.decode(answer, type=Done)
