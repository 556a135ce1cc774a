"""What a check is, whatever it checks: a value that knows what its result depends on and how to come by it.

Checks are picklable: they run in processes of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from precedes.diagnostics import PrecedesError, usage
from precedes.execution import Event as ExecutionEvent
from precedes.execution import EventKind, Execution
from precedes.gate.items import Event, Item
from precedes.language.scenario_text import as_scenario


@dataclass(frozen=True, slots=True)
class Check(ABC):
    """One check of the gate. `root` is the folder of the configuration; paths are relative to it."""

    root: Path

    @property
    @abstractmethod
    def name(self) -> str:
        """As it is told, and accepted by."""

    @property
    @abstractmethod
    def cost(self) -> int:
        """Cheap ones first: 0 for figures, 1 for claims, 2 for traces, 3 for models."""

    @abstractmethod
    def key(self) -> str:
        """Of all that the result depends on."""

    @abstractmethod
    def run(self) -> tuple[Item, ...]:
        """Carry it out. PrecedesError where it cannot be."""


def files(root: Path, patterns: Iterable[str], suffix: str | None = None) -> tuple[Path, ...]:
    """The files that patterns name below a folder, in order, each once. PrecedesError for a pattern without any."""
    found: list[Path] = []
    for pattern in patterns:
        plain = root / pattern
        if plain.is_dir():
            below = sorted(path for path in plain.rglob(f"*{suffix or ''}") if path.is_file())
        elif plain.is_file():
            below = [plain]
        else:
            below = sorted(path for path in root.glob(pattern) if path.is_file())
        if not below:
            raise usage(f"no file for {pattern!r} in {root}", "patterns are relative to the configuration")
        found += below
    return tuple(dict.fromkeys(found))


def relative(path: Path, root: Path) -> str:
    """A path as reports show it: relative to the configuration where it is below, with forward slashes."""
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def line_of(path: Path, text: str) -> int:
    """The first line of a file that contains a text, 1 where none does."""
    lines: Sequence[str] = ()
    if path.is_file():
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, line in enumerate(lines, 1) if text in line), 1)


def events_of(execution: Execution) -> tuple[Event, ...]:
    """The events of an execution in words, history by history."""
    return tuple(
        Event(history.entity, _said(event, execution))
        for history in execution.histories
        for event in history.events
    )


def scenario_of(execution: Execution, name: str) -> str:
    """An execution as a scenario to keep; empty where the language has no way to write it."""
    try:
        return as_scenario(execution, name)
    except PrecedesError:
        return ""


def _said(event: ExecutionEvent, execution: Execution) -> str:
    text = event.kind.value if event.message is None else f"{event.kind.value} {event.message}"
    if event.kind is EventKind.SEND and event.message is not None:
        to = execution.messages[event.message].destinations or frozenset()
        text += f" to {', '.join(entity for entity in execution.entities if entity in to) or 'nobody'}"
    return text if event.time is None else f"{text} at {event.time} ns"
