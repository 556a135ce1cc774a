"""What `precedes list` prints: every name of a library with its meaning and source, and the formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from precedes.language.library import Library
from precedes.language.requirements import mode_in
from precedes.language.syntax import DefinitionKind
from precedes.traces.formats.registry import listed

FORMATS = (("traces", listed()), ("reports", "text, json"), ("diagrams", "text, svg"))


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
            definition = library.definition(name)
            if definition.kind is kind:
                mode = mode_in(name, library)
                parameters = tuple(parameter.name.text for parameter in definition.parameters)
                yield Named(
                    kind, name, parameters, mode.value if mode else None, definition.title, definition.source
                )


def listing(library: Library, models: Iterable[str], of_gate: Iterable[str]) -> str:
    """Predicates, then services: name, parameters, mode, what it says, and where it is from; then models and formats,
    those of the gate last.
    """
    lines: list[str] = []
    for kind, entries in groupby(named(library), key=lambda each: each.kind):
        lines.append(f"{kind.value}s")
        for each in entries:
            parameters = f"({', '.join(each.parameters)})" if each.parameters else ""
            lines.append(f"  {each.name}{parameters}{f'  {each.mode}' if each.mode else ''}")
            if each.title:
                lines.append(f"      {each.title}")
            if each.source:
                lines.append(f"      [{each.source}]")
        lines.append("")
    lines.append("models")
    lines += [f"  {name}" for name in models]
    lines += ["", "formats"]
    lines += [f"  {name}: {text}" for name, text in FORMATS]
    lines.append(f"  reports of the gate: {', '.join(of_gate)}")
    return "\n".join(lines) + "\n"
