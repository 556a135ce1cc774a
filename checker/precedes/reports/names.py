"""What `precedes list` prints: every name of a library with its meaning and source, and the formats."""

from __future__ import annotations

from collections.abc import Iterable

from precedes.language.library import Library
from precedes.language.requirements import mode_in
from precedes.language.syntax import DefinitionKind

FORMATS = (
    (
        "traces",
        "JSON Lines (.jsonl, .ndjson, .json), CSV (.csv), Parquet (.parquet); text also as .gz and .zst",
    ),
    ("reports", "text, json"),
    ("diagrams", "text, svg"),
)


def listing(library: Library, models: Iterable[str], of_gate: Iterable[str]) -> str:
    """Predicates, then services: name, parameters, mode, what it says, and where it is from; then models and formats,
    those of the gate last.
    """
    lines: list[str] = []
    for heading, kind in (("predicates", DefinitionKind.PREDICATE), ("services", DefinitionKind.SERVICE)):
        lines.append(heading)
        for name in library.names():
            definition = library.definition(name)
            if definition.kind is not kind:
                continue
            parameters = (
                f"({', '.join(p.name.text for p in definition.parameters)})" if definition.parameters else ""
            )
            mode = mode_in(name, library)
            lines.append(f"  {name}{parameters}{f'  {mode.value}' if mode else ''}")
            if definition.title:
                lines.append(f"      {definition.title}")
            if definition.source:
                lines.append(f"      [{definition.source}]")
        lines.append("")
    lines.append("models")
    lines += [f"  {name}" for name in models]
    lines += ["", "formats"]
    lines += [f"  {name}: {text}" for name, text in FORMATS]
    lines.append(f"  reports of the gate: {', '.join(of_gate)}")
    return "\n".join(lines) + "\n"
