"""What `precedes list` prints: every name of a library with its meaning and source, and the formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from precedes.language.library import Library, profile_library
from precedes.language.profiles import beside_profiles, profiles
from precedes.language.requirements import mode_in
from precedes.language.syntax import DefinitionKind
from precedes.traces.foreign.recognition import words
from precedes.traces.formats.registry import listed

FORMATS = (
    ("traces", listed()),
    ("logs of other systems", words()),
    ("reports", "text, json"),
    ("diagrams", "text, svg, png, pdf"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """A predicate or a service: what it is called, what it says and where it is from."""

    kind: DefinitionKind
    name: str
    parameters: tuple[str, ...]
    mode: str | None
    title: str | None
    source: str | None


def named(library: Library) -> Iterator[Named]:
    """Everything that a library defines, predicates first."""
    for kind in (DefinitionKind.PREDICATE, DefinitionKind.SERVICE):
        for name in library.names():
            if library.definition(name).kind is kind:
                yield _named(name, library)


def promised() -> Iterator[Named]:
    """The profiles of brokers."""
    for name in profiles():
        yield _named(name, profile_library())


def beside_promised() -> Iterator[Named]:
    """The predicates that are defined beside the profiles."""
    for name in beside_profiles():
        yield _named(name, profile_library())


def _named(name: str, library: Library) -> Named:
    definition = library.definition(name)
    mode = mode_in(name, library)
    parameters = tuple(parameter.name.text for parameter in definition.parameters)
    return Named(
        definition.kind,
        name,
        parameters,
        mode.value if mode else None,
        definition.title,
        definition.source,
    )


def listing(library: Library, models: Iterable[str], of_gate: Iterable[str]) -> str:
    """Predicates, then services, then profiles and the predicates beside them: name, parameters, mode, what it says,
    and where it is from; then models and formats, those of the gate last.
    """
    lines: list[str] = []
    for kind, entries in groupby(named(library), key=lambda each: each.kind):
        lines += [f"{kind.value}s", *_entries(entries), ""]
    lines += ["profiles", *_entries(promised()), ""]
    lines += ["predicates beside the profiles", *_entries(beside_promised()), "", "models"]
    lines += [f"  {name}" for name in models]
    lines += ["", "formats"]
    lines += [f"  {name}: {text}" for name, text in FORMATS]
    lines.append(f"  reports of the gate: {', '.join(of_gate)}")
    return "\n".join(lines) + "\n"


def _entries(entries: Iterable[Named]) -> Iterator[str]:
    for each in entries:
        parameters = f"({', '.join(each.parameters)})" if each.parameters else ""
        yield f"  {each.name}{parameters}{f'  {each.mode}' if each.mode else ''}"
        if each.title:
            yield f"      {each.title}"
        if each.source:
            yield f"      [{each.source}]"
