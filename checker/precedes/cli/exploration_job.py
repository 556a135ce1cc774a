"""`precedes explore` in a process of its own, and the messages that this process sends to its caller."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import (
    Any,
    Final,
    assert_never,
)

import msgspec
from msgspec import Struct

from precedes.core.exit_codes import Exit
from precedes.core.faults import COUNTS
from precedes.core.isolation import Channel, Isolation
from precedes.jobs.check import library_with
from precedes.jobs.explore import Explored, Search, explored, verdict_of
from precedes.protocol import Protocol, catalog, script
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.result import Observer, Sighting
from precedes.protocol.validation.integrity import Integrity
from precedes.reports import explore as printed
from precedes.reports.progress import Commentary

SOON: Final = 2.0
"""Seconds after which a search reports violations before its report."""
_OFTEN: Final = 0.2
"""Seconds between two lines of progress."""
PATIENCE: Final = 20.0
"""Seconds that an interrupted search has for its report."""


class Done(Struct, frozen=True):
    """What `explore` prints, its exit code, and the report as a page, if that was asked for."""

    text: str
    exit: Exit
    page: str | None = None


class Progress(Struct, frozen=True, tag="progress"):
    """How far the search has come."""

    text: str


class Seen(Struct, frozen=True, tag="seen"):
    """A violation that was found, before the report."""

    property: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of `explore`. `options` are those of the command, by their names there. `page`: the report is wanted as
    a page, too.
    """

    form: str
    options: dict[str, Any]
    page: bool = False

    @property
    def model(self) -> str:
        """The model as it was named."""
        return str(self.options["model"])

    @property
    def about(self) -> str:
        """For messages."""
        return f"explore {self.model}"

    def run(self, channel: Channel) -> bytes:
        """Explore every instance of the model."""
        options = self.options
        library = library_with(options["specs"])
        settings = script.settings(options["settings"])
        integrity = Integrity()
        words = ("plain", "quiescent", "order", "check_purity", "first", "live")
        search = Search(**{word: options[word] for word in words})
        found = [
            explored(
                protocol,
                self._bounds(protocol),
                options["required"],
                library,
                search,
                _Reporter(protocol.name, channel),
            )
            for protocol in catalog.models(self.model, as_written=options["as_written"], parameters=settings)
        ]
        integrity.verify(self.about)
        text = printed.as_json(found) if self.form == "json" else printed.as_text(found)
        page = _page(found) if self.page else None
        return msgspec.json.encode(Done(text, Exit.of(verdict_of(found)), page))

    def _bounds(self, protocol: Protocol[Any]) -> Bounds:
        options = self.options
        return Bounds(
            entities=options["entities"],
            messages=options["messages"],
            destinations=Destinations(options["destinations"] or protocol.destinations),
            script=script.script(options["script"], options["entities"]),
            **{kind: options[kind] for kind in COUNTS},
            ticks=options["ticks"],
            depth=options["depth"],
            seconds=options["time_limit"],
            states=options["states"],
            megabytes=options["memory"],
        ).limited()


def _page(found: Sequence[Explored]) -> str:
    """The report as a page. What makes pages takes a tenth of a second to import, which most runs need not."""
    from precedes.reports.page.explore_page import explore_page
    from precedes.reports.page.rendering import html

    return html(explore_page(found))


def answered(asked: Asked, silence: float, comments: Commentary) -> Done:
    """Explore in a process of its own. An interrupt asks for a report of what is known; a second one ends the process.

    Raises PrecedesError if there is no verdict.
    """
    seen: list[Seen] = []

    def heard(note: bytes) -> None:
        said: Progress | Seen = msgspec.json.decode(note, type=Progress | Seen)
        match said:
            case Progress(text):
                comments.now(text)
            case Seen(text=text):
                seen.append(said)
                comments.say(text)
            case _:
                assert_never(said)

    with Isolation(asked, silence=silence, heard=heard) as process:
        try:
            answer = process.answer()
        except KeyboardInterrupt:
            comments.say("interrupted: a report of what is known follows; interrupt again to end without it")
            process.interrupt(within=PATIENCE)
            answer = process.answer()
    if answer is not None:
        return msgspec.json.decode(answer, type=Done)
    text = printed.unfinished(asked.model, {each.property: each.text for each in seen}, asked.form)
    return Done(text, Exit.VIOLATED if seen else Exit.UNDECIDED)


@dataclass(slots=True)
class _Reporter(Observer):
    """Sends progress and violations to the caller during a search."""

    model: str
    channel: Channel
    started: float = field(default_factory=time.monotonic)
    told: float = 0.0
    waiting: list[Seen] = field(default_factory=list)

    def progress(self, states: int, depth: int, frontier: int) -> None:
        """Send a line now and then, and the violations found, once the search has taken a while."""
        self.channel.alive()
        now = time.monotonic()
        if now - self.told < _OFTEN:
            return
        self.told = now
        rate = states / max(now - self.started, _OFTEN)
        text = f"{self.model}: {states:,} states, depth {depth}, {frontier:,} to expand, {rate:,.0f} states/s"
        self.channel.tell(msgspec.json.encode(Progress(text)))
        if now - self.started >= SOON:
            for seen in self.waiting:
                self.channel.tell(msgspec.json.encode(seen))
            self.waiting.clear()

    def violated(self, sighting: Sighting) -> None:
        """Keep a violation until the next line of progress."""
        self.waiting.append(Seen(sighting.property, printed.sighted(self.model, sighting)))

    def interrupts(self) -> bool:
        """Whether the caller asked for a report of what is known."""
        return self.channel.interrupted
