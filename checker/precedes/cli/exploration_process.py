"""What the process of `precedes explore` does: it explores every instance of a model, and tells how far it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from precedes.cli.exploration_job import Asked, Done, Progress, Seen
from precedes.core.counts import counted
from precedes.core.exit_codes import Exit
from precedes.core.faults import COUNTS
from precedes.core.isolation import Channel
from precedes.jobs.check import library_with
from precedes.jobs.explore import Explored, Search, explored, refuse_several, verdict_of
from precedes.protocol import Protocol, catalog, script
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.result import Observer, Sighting, SoFar
from precedes.protocol.validation.integrity import EXPLORING, Integrity
from precedes.reports import explore as printed
from precedes.reports.time_left import time_left

SOON: Final = 2.0
"""Seconds after which a search reports violations before its report."""
FEW: Final = 1_000
"""States of which nothing is known of the time left."""
_OFTEN: Final = 0.2
"""Seconds between two lines of progress."""


def done(asked: Asked, channel: Channel) -> Done:
    """Explore every instance of the model."""
    options = asked.options
    library = library_with(options["specs"])
    settings = script.settings(options["settings"])
    integrity = Integrity(EXPLORING)
    words = ("plain", "quiescent", "order", "check_purity", "first", "live")
    resume = None if options["resume"] is None else Path(options["resume"])
    search = Search(**{word: options[word] for word in words}, resume=resume)
    found = []
    protocols = catalog.models(asked.model, as_written=options["as_written"], parameters=settings)
    refuse_several(search, protocols)
    for protocol in protocols:
        bounds = _bounds(options, protocol)
        reporter = _Reporter(protocol.name, bounds, channel)
        found.append(explored(protocol, bounds, options["required"], library, search, reporter))
    integrity.verify(asked.about)
    text = printed.as_json(found) if asked.form == "json" else printed.as_text(found)
    page = _page(found) if asked.page else None
    return Done(text, Exit.of(verdict_of(found)), page)


def _bounds(options: dict[str, Any], protocol: Protocol[Any]) -> Bounds:
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


@dataclass(slots=True)
class _Reporter(Observer):
    """Sends progress and violations to the caller during a search."""

    model: str
    bounds: Bounds
    channel: Channel
    started: float = field(default_factory=time.monotonic)
    told: float = 0.0
    before: int | None = None
    """How many states there were in the beginning: a search that goes on has some."""
    waiting: list[Seen] = field(default_factory=list)

    def progress(self, so_far: SoFar) -> None:
        """Send a line now and then, and the violations found, once the search has taken a while."""
        self.channel.alive()
        now = time.monotonic()
        if now - self.told < _OFTEN:
            return
        self.told = now
        if self.before is None:
            self.before = so_far.states - 1
        seconds = max(now - self.started, _OFTEN)
        rate = (so_far.states - self.before) / seconds
        size = f"{counted(so_far.states, 'state')}, {rate:,.0f}/s, {so_far.frontier:,} to expand"
        left = f", {time_left(self.bounds, so_far, seconds, rate)}" if so_far.states > FEW else ""
        # A narrow terminal cuts the end off.
        told = Progress(f"{self.model}: {size}{left}, depth {so_far.depth}")
        self.channel.tell(msgspec.json.encode(told))
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
