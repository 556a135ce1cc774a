"""Facts about a model that are needed before its checks can be made: how many instances it has, and from
which files it is made.

To know them, the model must be read, and reading it runs it. So a survey is a job in a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.isolation import Channel, Isolation
from precedes.gate.config import Conformance, Model, Simulation
from precedes.gate.entry import Entry
from precedes.gate.reads import Reads, is_own
from precedes.protocol import Protocol

Table: TypeAlias = Model | Simulation | Conformance
"""An `[[explore]]`, a `[[simulate]]` or a `[[conform]]`."""


class Instance(Struct, frozen=True):
    """One instance of a model: how it is told apart from the others, and what it says where the table says nothing: the
    last tick of a request (0 in a network without time) and the destination sets."""

    label: str
    last_request: int
    destinations: str


class Survey(Struct, frozen=True):
    """The instances of a model as one table sets it, or its mistakes. `sources`: every file that it is made of."""

    instances: tuple[Instance, ...] = ()
    sources: tuple[str, ...] = ()
    mistakes: tuple[Diagnostic, ...] = ()


def surveys(
    root: Path, tables: Mapping[Entry, Table], jobs: int, silence: float
) -> tuple[tuple[Survey, ...], tuple[Diagnostic, ...]]:
    """A survey of each table, in their order, and all mistakes. Files are read in a process each, what is installed in
    one together."""
    groups: dict[str, list[int]] = {}
    for number, table in enumerate(tables.values()):
        groups.setdefault(table.model if is_file(table.model) else "installed models", []).append(number)

    def surveyed(about: str, numbers: Sequence[int]) -> tuple[Survey, ...]:
        job = _Surveying(about, root, tuple(list(tables.values())[number] for number in numbers))
        try:
            with Isolation(job, silence=silence) as process:
                answer = process.answer()
        except PrecedesError as error:
            return tuple(Survey(mistakes=error.diagnostics) for _ in numbers)
        assert answer is not None
        return msgspec.json.decode(answer, type=tuple[Survey, ...])

    found: dict[int, Survey] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for numbers, results in zip(
            groups.values(), pool.map(surveyed, groups.keys(), groups.values()), strict=True
        ):
            found |= zip(numbers, results, strict=True)
    ordered = tuple(found[number] for number in range(len(tables)))
    mistakes = (
        mistake
        for (entry, table), survey in zip(tables.items(), ordered, strict=True)
        for one in survey.mistakes
        for mistake in entry.placed((one,), *_setting_of(one, table))
    )
    return ordered, tuple(dict.fromkeys(mistakes))


def _setting_of(mistake: Diagnostic, table: Table) -> tuple[str, str | None]:
    """The setting that a mistake of a model is about, and the value: a parameter of `set`, or the model itself."""
    if mistake.code != "M004":
        return "model", table.model
    return "set", next((name for name in table.set if name in mistake.message.split()), None)


def is_file(model: str) -> bool:
    """Whether a model is named by its file."""
    return model.endswith(".py")


def protocols(root: Path, table: Table) -> tuple[Protocol[Any], ...]:
    """The instances of a model, in this process."""
    from precedes.protocol.catalog import models

    named = str(root / table.model) if is_file(table.model) else table.model
    return models(named, as_written=table.as_written, parameters={k: str(v) for k, v in table.set.items()})


@dataclass(frozen=True, slots=True)
class _Surveying:
    about: str
    root: Path
    tables: tuple[Table, ...]

    def run(self, channel: Channel) -> bytes:
        reads = Reads()
        found = []
        for table in self.tables:
            channel.alive()
            try:
                found.append(_survey(self.root, table, reads))
            except PrecedesError as error:
                found.append(Survey(mistakes=error.diagnostics))
        return msgspec.json.encode(found)


def _survey(root: Path, table: Table, reads: Reads) -> Survey:
    from precedes.protocol.exploration.state_space import last_request

    made = protocols(root, table)
    instances = (
        Instance(label, last_request(protocol.network, None), protocol.destinations)
        for label, protocol in zip(_labels(table, made), made, strict=True)
    )
    sources = {*_modules(made[0]), *reads.paths}
    if is_file(table.model):
        sources.add((root / table.model).resolve())
    return Survey(tuple(instances), tuple(sorted(map(str, sources))))


def _labels(table: Table, made: Sequence[Protocol[Any]]) -> Iterator[str]:
    """Of each instance the model, how it is set, and what it has that others have not."""
    parameters = [protocol.parameters() for protocol in made]
    varied = [name for name in parameters[0] if any(one[name] != parameters[0][name] for one in parameters)]
    written = " as written" if table.as_written else ""
    for one in parameters:
        given = {**table.set, **{name: one[name] for name in varied}}
        yield f"{table.model}{written}{''.join(f' {name}={_shown(value)}' for name, value in sorted(given.items()))}"


def _shown(value: object) -> str:
    """A set has no order of its own, and the name of a check is to be the same in every run."""
    return "{" + ", ".join(sorted(map(_shown, value))) + "}" if isinstance(value, frozenset) else str(value)


def _modules(protocol: Protocol[Any]) -> Iterator[Path]:
    """The modules that a model may be made of: all that are loaded now, wherever they lie, but for those of Python, of
    installed packages and of this program, whose versions are in every key."""
    package = type(protocol).__module__.partition(".")[0]
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if name is None:
            continue
        path = Path(name).resolve()
        if module.__name__.partition(".")[0] == package or is_own(path):
            yield path
