"""What `precedes explain NAME` prints: a definition with what it means, where it is from, and what is proved of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from precedes.core.diagnostics import PrecedesError, usage
from precedes.core.formula import Requirement
from precedes.core.mode import Mode
from precedes.core.suggestions import intended
from precedes.core.traversal import attributes_in
from precedes.jobs.infer import proved
from precedes.language.library import Library
from precedes.language.printer import statement_text
from precedes.language.profiles import profiles, service_of
from precedes.language.requirements import mode_in, requirement
from precedes.language.vocabulary import FUNCTIONS, RELATIONS, signature
from precedes.logic.contents import acknowledgements_in, groups_in, view_numbers_in, views_in

_WIDTH: Final = 100
_MODES: Final = {
    Mode.ALWAYS: "always, in every state that a model reaches",
    Mode.QUIESCENT: "quiescent, where nothing is in flight",
    Mode.MIXED: "partly quiescent: as each part below says",
}


def defined(name: str, library: Library) -> str:
    """One predicate, service, or built-in word. PrecedesError for a name that there is not."""
    if name not in library and service_of(name) in profiles():
        name = service_of(name)
    if name not in library:
        return _built_in(name, library)
    definition = library.definition(name)
    parts = [f"{name}  {definition.title}" if definition.title else name]
    if definition.source:
        parts.append(f"from: {definition.source}")
    mode = mode_in(name, library)
    if mode is not None:
        parts.append(f"mode: {_MODES[mode]}")
    parts.append(_indented(statement_text(replace(definition, title=None, source=None))))
    tree = list(_parts(name, library))
    if tree:
        widest = max(len(line) for line, _ in tree)
        parts.append(
            "It asks for\n" + "\n".join(f"{line:<{widest}}  {title}".rstrip() for line, title in tree)
        )
    needs = needed(name, library)
    if needs:
        parts.append(f"A trace needs {' and '.join(needs)}; without that, the verdict is unknown.")
    if library.home(name).below is None:
        parts += _proved(name)
    return "\n\n".join(parts) + "\n"


def _built_in(name: str, library: Library) -> str:
    for table in (RELATIONS, FUNCTIONS):
        word = table.get(name)
        if word is not None:
            return f"{signature(name, word.parameters)}  {word.meaning}\n\nBuilt into the language.\n"
    meant = intended(name, (*library.names(), *profiles(), *RELATIONS, *FUNCTIONS))
    raise usage(
        f"there is no code and no predicate or service {name}",
        f"{meant}; `precedes explain` lists the codes",
    )


def _parts(name: str, library: Library) -> Iterator[tuple[str, str]]:
    """The named parts of what a name requires, indented, each with what it says."""
    try:
        whole = requirement(name, library)
    except PrecedesError:
        # It needs arguments, so that it requires nothing by itself.
        return
    yield from _below(whole, library, 1)


def _below(whole: Requirement, library: Library, depth: int) -> Iterator[tuple[str, str]]:
    for part in whole.parts:
        named = part.name.partition(" per ")[0]
        title = library.definition(named).title if named in library else None
        yield "    " * depth + part.name, title or ""
        yield from _below(part, library, depth + 1)


def needed(name: str, library: Library) -> tuple[str, ...]:
    """What a trace must have beside sends and deliveries: without it the verdict is unknown."""
    try:
        formula = requirement(name, library).formula
    except PrecedesError:
        # It needs arguments, so that it requires nothing by itself.
        return ()
    columns = [f"the column `{attribute.name}`" for attribute in attributes_in(formula)]
    rows = ["the events `ack` and `nack`"] if acknowledgements_in(formula) else []
    if views_in(formula):
        its_id = "a whole number as its id" if view_numbers_in(formula) else "an id"
        rows.append(f"the events `view`, each with {its_id}")
    rows += ["the groups of entities"] if groups_in(formula) else []
    return (*columns, *rows)


def _proved(name: str) -> Iterator[str]:
    """What is proved of every execution of any size, from the table that is shipped."""
    known = proved()
    every = [other for names in known.equal.values() for other in names]
    if name not in every:
        return
    for words, found in (
        (
            "The same as",
            [n for n in every if n != name and known.implies(name, n) and known.implies(n, name)],
        ),
        ("It implies", [n for n in every if known.implies(name, n) and not known.implies(n, name)]),
        ("It is implied by", [n for n in every if known.implies(n, name) and not known.implies(name, n)]),
    ):
        if found:
            yield _indented(f"{words}: {', '.join(found)}", "")
    yield "Implications are proved for every number of entities and messages: docs/lattice.md."


def _indented(text: str, indent: str = "    ") -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
