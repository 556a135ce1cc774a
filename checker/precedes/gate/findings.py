"""The results of the gate: one item for each statement, whatever kind of check it comes from.

Outputs know only the summary of all items.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from precedes.core.diagnostics import Diagnostic
from precedes.core.outcome import VERDICTS, Outcome
from precedes.core.verdict import Verdict
from precedes.gate.config import Severity
from precedes.gate.scope import Scope

Result: TypeAlias = Literal["passed", "failed", "undecided"]

RESULTS: Final[Mapping[Verdict, Result]] = {
    Verdict.HOLDS: "passed",
    Verdict.VIOLATED: "failed",
    Verdict.UNKNOWN: "undecided",
}
"""The result of an item by the verdict on it, and that of a run."""


def result_of(outcome: Outcome) -> Result:
    """The result of a statement that came out so."""
    return RESULTS[VERDICTS[outcome]]


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


@dataclass(frozen=True, slots=True)
class Judged:
    """An item, how much it counts here, and how it stands to the baseline: new, standing, or nothing of both.

    `strict`: what is undecided counts as what failed does.
    """

    item: Item
    severity: Severity
    standing: str = ""
    accepted: bool = False
    strict: bool = False

    @property
    def counts(self) -> bool:
        """Whether it fails the gate."""
        failed = self.item.result == "failed" or (self.strict and self.item.result == "undecided")
        return failed and self.severity == "error" and not self.accepted


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to. `scopes`: how far each check goes, by its name. `fixed` names what the baseline has as
    violated and is not any more. `mistakes`: why other checks could not run; then all else is about those that did."""

    judged: tuple[Judged, ...]
    checks: int
    reused: int
    fixed: tuple[str, ...]
    compared: bool
    outcome: Outcome
    scopes: Mapping[str, Scope] = field(default_factory=dict)
    mistakes: tuple[Diagnostic, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """Without their standing."""
        return tuple(judged.item for judged in self.judged)

    def below(self, prefix: str) -> Summary:
        """The same with the paths of places behind a prefix."""
        if not prefix:
            return self
        judged = tuple(
            replace(one, item=msgspec.structs.replace(one.item, place=one.item.place.below(prefix)))
            for one in self.judged
        )
        return replace(self, judged=judged)

    def told(self) -> tuple[Judged, ...]:
        """What is worth telling: everything that did not pass, unless its rule is off."""
        return tuple(
            judged for judged in self.judged if judged.item.result != "passed" and judged.severity != "off"
        )
