"""`precedes explore` in a process of its own, and the messages that this process sends to its caller.

The caller reads this module only. What explores takes half a second to import, and the process alone does so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, assert_never

import msgspec
from msgspec import Struct

from precedes.core.exit_codes import Exit
from precedes.core.garbage_collection import paused
from precedes.core.isolation import Channel, Isolation
from precedes.reports.progress import Commentary

PATIENCE: Final = 20.0
"""Seconds that an interrupted search has for its report ..."""
KEEPING: Final = 600.0
"""... and where it is to be kept in a file."""


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
        """Explore every instance of the model. The process ends with it, so no garbage is looked for."""
        with paused():
            from precedes.cli.exploration_process import done

            return msgspec.json.encode(done(self, channel))


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
            process.interrupt(within=PATIENCE if asked.options["resume"] is None else KEEPING)
            answer = process.answer()
    if answer is not None:
        return msgspec.json.decode(answer, type=Done)
    from precedes.reports.explore import unfinished

    text = unfinished(asked.model, {each.property: each.text for each in seen}, asked.form)
    return Done(text, Exit.VIOLATED if seen else Exit.UNDECIDED)
