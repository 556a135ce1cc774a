"""What the gate found out: one item for each thing that was stated, whatever kind of check it came from."""

from __future__ import annotations

import hashlib
import posixpath
from typing import Literal, TypeAlias

from msgspec import Struct

Result: TypeAlias = Literal["passed", "failed", "undecided"]


class Place(Struct, frozen=True):
    """A line of a file of the project; `path` is relative to the configuration, with forward slashes."""

    path: str
    line: int = 1

    def below(self, prefix: str) -> Place:
        """The same place, seen from above."""
        return Place(posixpath.normpath(prefix + self.path), self.line)


class Event(Struct, frozen=True):
    """One step of a counterexample: what happened at an entity, in words."""

    entity: str
    text: str


class Mark(Struct, frozen=True):
    """A place of a counterexample that the finding is about: a message at an entity, and the kind of event there."""

    entity: str
    kind: str
    message: str


class Stated(Struct, frozen=True):
    """What was required, so that a later run can tell whether less is required: its text, and the texts of the
    definitions that are not of the standard library."""

    text: str
    definitions: str = ""


class Item(Struct, frozen=True):
    """One thing that was stated and what came of it.

    `check` names the check as in "explore cmd"; `subject` what was stated in it. The two are stable from run to run
    and name the item, also where it is accepted. `facts` are numbers that a baseline compares: states, executions.
    `marks` are the places in `scenario` that show what is violated.
    """

    rule: str
    check: str
    subject: str
    result: Result
    message: str
    place: Place
    detail: str = ""
    events: tuple[Event, ...] = ()
    scenario: str = ""
    stated: Stated | None = None
    facts: dict[str, int] = {}
    proof: Literal["", "proved", "bounded"] = ""
    marks: tuple[Mark, ...] = ()

    @property
    def name(self) -> str:
        """Of all items of a gate, this one's alone."""
        return f"{self.check}: {self.subject}"

    @property
    def fingerprint(self) -> str:
        """The same from run to run for the same finding: without lines, numbers and names of executions."""
        return hashlib.sha256(f"{self.rule}\0{self.check}\0{self.subject}".encode()).hexdigest()[:32]
