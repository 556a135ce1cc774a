"""Where a thing is introduced, where it is named, and how it is given another name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

from precedes.core.diagnostics import Span, usage
from precedes.editor.analysis import Analysis, analyze
from precedes.editor.occurrences import Kind, Occurrence, Symbol
from precedes.language.library import Library, standard_library
from precedes.language.parsing.lexer import is_plain
from precedes.language.quoting import quoted, written
from precedes.language.syntax import SourceFile


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text itself, or in a file of the library if there is a `path`."""

    span: Span
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that takes the place of another; nothing else changes."""

    span: Span
    text: str


def definition(analysis: Analysis, line: int, column: int) -> Place | None:
    """Where the name at a place is introduced: in the text, or in the library."""
    one = analysis.occurrence_at(line, column)
    if one is None:
        return None
    own = [each for each in named(analysis, one.symbol) if each.defines]
    if own:
        return Place(own[0].span)
    return _shipped(one.symbol, analysis.library)


def named(analysis: Analysis, symbol: Symbol) -> tuple[Occurrence, ...]:
    """Every place where a thing is named, in the order of the text."""
    return tuple(one for one in analysis.occurrences if one.symbol == symbol)


def _shipped(symbol: Symbol, library: Library) -> Place | None:
    if symbol.kind is Kind.DEFINITION and symbol.name in library:
        statement, source = library.written(symbol.name)
        folder = () if library.home(symbol.name) is standard_library() else ("profiles",)
        return Place(statement.name.span, _path(source, folder))
    if symbol.kind is Kind.ATTRIBUTE and library.attribute(symbol.name) is not None:
        declaration, source = library.declared(symbol.name)
        return Place(declaration.name.span, _path(source, ()))
    return None


def _path(source: SourceFile, folder: tuple[str, ...]) -> Path:
    with as_file(files("precedes_specs").joinpath(*folder, str(source.path))) as path:
        return path


# ---- other names -------------------------------------------------------------------------------------------


def renamable(analysis: Analysis, line: int, column: int) -> Occurrence:
    """The name at a place. PrecedesError (U001) if there is none, or if it is not of this text."""
    one = analysis.occurrence_at(line, column)
    if one is None:
        raise usage("there is no name here that could be changed")
    if one.by_place:
        what = f"this is {one.symbol.name}, by its place in the cluster"
        raise usage(what, "change the name where it is written")
    if not any(each.defines for each in named(analysis, one.symbol)):
        raise usage(f"{one.symbol.name} is not introduced in this file, so it cannot be renamed here")
    return one


def renamed(analysis: Analysis, line: int, column: int, name: str) -> tuple[Edit, ...]:
    """What changes if the thing at a place gets another name.

    PrecedesError (U001) if there is nothing to rename, if the name cannot stand everywhere, or if the text would then
    say something else, because the name is taken.
    """
    symbol = renamable(analysis, line, column).symbol
    text = _as_written(symbol, name)
    edits = tuple(Edit(one.span, text) for one in named(analysis, symbol) if not one.by_place)
    after = analyze(applied(analysis.text, edits))
    new = replace(symbol, name=name)
    expected = [
        replace(one, symbol=new if one.symbol == symbol else one.symbol).symbol
        for one in analysis.occurrences
    ]
    if [one.symbol for one in after.occurrences] != expected or len(after.mistakes) > len(analysis.mistakes):
        raise usage(
            f"{name} has another meaning here", f"choose a name that is free instead of {symbol.name}"
        )
    return edits


def _as_written(symbol: Symbol, name: str) -> str:
    """A name as it has to be written; some things can only have plain names."""
    match symbol.kind:
        case Kind.DEFINITION | Kind.ATTRIBUTE | Kind.VARIABLE | Kind.BUILT_IN:
            if not is_plain(name):
                what = "a name of letters, digits and _ that is no reserved word"
                raise usage(f"{name} cannot be the name of a {symbol.kind.value}", what)
            return name
        case Kind.SCENARIO:
            return name if is_plain(name) else quoted(name)
        case Kind.ENTITY | Kind.MESSAGE | Kind.GROUP | Kind.VIEW:
            return written(name)


def applied(text: str, edits: tuple[Edit, ...]) -> str:
    """A text after edits that do not touch each other."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: (one.span.line, one.span.column), reverse=True):
        line = lines[edit.span.line - 1]
        lines[edit.span.line - 1] = (
            line[: edit.span.column - 1] + edit.text + line[edit.span.end_column - 1 :]
        )
    return "\n".join(lines)
