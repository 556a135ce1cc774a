"""Libraries of definitions: the standard library, and the libraries of files on top of it.

A definition sees the definitions of its own library and of the libraries below it. So a file may define a
name again without changing what the standard library means by it. Sorts are inferred when a definition is
first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from precedes.core.execution import EventKind
from precedes.core.formula import Attribute, Requirement
from precedes.language import syntax
from precedes.language.errors import Mistakes
from precedes.language.parsing.parser import parse
from precedes.language.sorts.inference import Signature, calls, infer_definition
from precedes.language.vocabulary import COLUMNS, FUNCTIONS, RELATIONS

_BUILT_IN: Final = (COLUMNS - {"redelivered"}) | {kind.value for kind in EventKind}
"""What no attribute is called: other columns of a trace, and words that stand in a history."""


class Library:
    """Definitions by name: `"ST" in library`, and `for name in library`.

    `load_library` makes one. Nothing that is done with it changes what it says.
    """

    def __init__(
        self,
        sources: Sequence[syntax.SourceFile],
        below: Library | None = None,
        mistakes: Mistakes | None = None,
        further: Callable[[], Library] | None = None,
        shipped: bool = False,
    ) -> None:
        """A name defined twice, or built in, is told to `mistakes`; without these it is a PrecedesError. `further` has
        definitions that may be used by name, but are in no list of names; it is asked for what is not found elsewhere.
        What is `shipped` needs no definition in a file; the lowest library always is.
        """
        self.below = below
        self._shipped = shipped or below is None
        self._further = further
        self.closed: dict[str, Requirement] = {}
        """What a name without arguments requires, as far as it was asked; kept here by `requirements`."""
        self._own: dict[str, tuple[syntax.Definition, syntax.SourceFile]] = {}
        self._typed: dict[str, syntax.Definition] = {}
        self._attributes: dict[str, tuple[Attribute, syntax.AttributeDeclaration, syntax.SourceFile]] = {}
        for source in sources:
            here = (
                Mistakes(source.path, source.lines)
                if mistakes is None
                else mistakes.elsewhere(source.path, source.lines)
            )
            for statement in source.statements:
                if isinstance(statement, syntax.Definition):
                    self._add(statement, source, here)
                elif isinstance(statement, syntax.AttributeDeclaration):
                    self._declare(statement, source, here)
            if mistakes is None:
                here.check()

    def _add(self, definition: syntax.Definition, source: syntax.SourceFile, mistakes: Mistakes) -> None:
        name = definition.name.text
        if name in RELATIONS:
            mistakes.tell("N008", f"{name} is built in and cannot be defined", definition.name.span)
        elif name in self._own:
            first, where = self._own[name]
            line = f"line {first.span.line}" + ("" if where is source else f" of {where.path}")
            mistakes.tell("N008", f"{name} is defined twice", definition.name.span, f"first in {line}")
        else:
            self._own[name] = (definition, source)

    def _declare(
        self, statement: syntax.AttributeDeclaration, source: syntax.SourceFile, mistakes: Mistakes
    ) -> None:
        """A library may say again what one below it says, but nothing else: a name is one column of a trace."""
        name = statement.name.text
        known = self.attribute(name)
        if name in _BUILT_IN or (name in FUNCTIONS and name != "position"):
            hint = f"give it another name, such as message_{name}"
            mistakes.tell("N008", f"{name} is built in and cannot be declared", statement.name.span, hint)
        elif known is not None and (known.sort, known.carrier) != (statement.sort, statement.carrier):
            hint = f"attribute {name} of {known.carrier.value}: {known.sort.value}"
            how = "with another sort" if known.carrier is statement.carrier else f"of {known.carrier.value}s"
            mistakes.tell("N008", f"{name} is already declared {how}", statement.name.span, hint)
        else:
            declared = Attribute(name, statement.sort, statement.carrier)
            self._attributes.setdefault(name, (declared, statement, source))

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name; None where none is declared."""
        if name in self._attributes:
            return self._attributes[name][0]
        return None if self.below is None else self.below.attribute(name)

    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, those of this library first."""
        below = () if self.below is None else self.below.attributes()
        return tuple(dict.fromkeys((*self._attributes, *below)))

    def names(self) -> tuple[str, ...]:
        """Every name, those of this library first, in the order of their definitions."""
        below = () if self.below is None else self.below.names()
        return tuple(dict.fromkeys((*self._own, *below)))

    def __contains__(self, name: str) -> bool:
        return self._home(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def home(self, name: str) -> Library:
        """The library that a definition belongs to; KeyError where there is none of that name."""
        found = self._home(name)
        if found is None:
            raise KeyError(name)
        return found

    def _home(self, name: str) -> Library | None:
        if name in self._own:
            return self
        if self.below is not None:
            return self.below._home(name)
        if self._further is None:
            return None
        further = self._further()
        return further if name in further._own else None

    def definition(self, name: str) -> syntax.Definition:
        """A definition with its sorts; KeyError where there is none. PrecedesError where it is mistaken."""
        home = self.home(name)
        if name not in home._typed:
            mistakes = Mistakes(None, ())
            home._infer(name, mistakes)
            mistakes.check()
        return home._typed[name]

    def written(self, name: str) -> tuple[syntax.Definition, syntax.SourceFile]:
        """A definition as it was written, and the file that it is in; KeyError where there is none of that name."""
        return self.home(name)._own[name]

    def declared(self, name: str) -> tuple[syntax.AttributeDeclaration, syntax.SourceFile]:
        """The same of an attribute."""
        if name in self._attributes:
            _, statement, source = self._attributes[name]
            return statement, source
        if self.below is None:
            raise KeyError(name)
        return self.below.declared(name)

    def added(self, formula: syntax.Formula) -> tuple[syntax.AttributeDeclaration | syntax.Definition, ...]:
        """The definitions that a formula rests on and that are not shipped, as they were written, each after those
        that it calls itself, and the attributes that are declared beside them: what a file has to hold in which the
        formula is to mean the same.
        """
        found: dict[str, syntax.Definition] = {}

        def gather(calling: syntax.Formula, seen_from: Library) -> None:
            for call in calls(calling):
                if call.name in seen_from and call.name not in found:
                    home = seen_from.home(call.name)
                    if not home._shipped:
                        definition, _ = home._own[call.name]
                        gather(definition.body, home)
                        found[call.name] = definition

        gather(formula, self)
        return (*self._declared_above(), *found.values())

    def _declared_above(self) -> tuple[syntax.AttributeDeclaration, ...]:
        """The attributes that libraries above the lowest declare."""
        if self.below is None:
            return ()
        return (*self.below._declared_above(), *(statement for _, statement, _ in self._attributes.values()))

    def own(self) -> tuple[str, ...]:
        """The names that this library adds to those below."""
        return tuple(self._own)

    def signature(self, name: str) -> Signature | None:
        """The sorts that the parameters of a definition may have; None where there is none of that name."""
        if name not in self:
            return None
        return _signature(self.home(name)._typed.get(name) or self.definition(name))

    def check(self, mistakes: Mistakes) -> None:
        """Tell every mistake in the definitions of this library."""
        for name in self._own:
            if name not in self._typed:
                self._infer(name, mistakes)

    def _infer(self, wanted: str, mistakes: Mistakes) -> None:
        """Infer a definition after those that it calls, without recursion over them.

        A mistaken one is kept as it was written.
        """
        open_: dict[str, None] = {}
        waiting = [wanted]
        while waiting:
            name = waiting[-1]
            if name in self._typed:
                waiting.pop()
                continue
            definition, source = self._own[name]
            here = mistakes.elsewhere(source.path, source.lines)
            if name in open_:
                del open_[name]
                waiting.pop()
                self._typed[name] = infer_definition(definition, _SoFar(self), here)
                continue
            open_[name] = None
            for call in calls(definition.body):
                if call.name in open_:
                    way = list(open_)
                    circle = _way((*way[way.index(call.name) :], call.name))
                    hint = "definitions are inserted where they are used, and this one would have no end"
                    here.tell("N007", f"{call.name} is used in its own definition: {circle}", call.span, hint)
                    self._typed[name] = definition
                elif call.name in self._own and call.name not in self._typed:
                    waiting.append(call.name)
            if name in self._typed:
                del open_[name]

    def _signature_so_far(self, name: str) -> Signature | None:
        if name not in self._own:
            return None if self.below is None else self.below.signature(name)
        return _signature(self._typed.get(name, self._own[name][0]))


@dataclass(frozen=True, slots=True)
class _SoFar:
    """A library while its definitions are inferred: of one that is not yet, the sorts that are written are known."""

    library: Library

    def signature(self, name: str) -> Signature | None:
        return self.library._signature_so_far(name)

    def attribute(self, name: str) -> Attribute | None:
        return self.library.attribute(name)

    def attributes(self) -> tuple[str, ...]:
        return self.library.attributes()

    def __iter__(self) -> Iterator[str]:
        return iter(self.library)


def _signature(definition: syntax.Definition) -> Signature:
    """The sorts of the parameters; any sort where a mistake left one open, so that it is told once."""
    return tuple((p.sort,) if p.sort else tuple(syntax.Sort) for p in definition.parameters)


def _way(names: tuple[str, ...]) -> str:
    shown = names if len(names) <= 8 else (*names[:4], "...", *names[-3:])
    return " -> ".join(shown)


@cache
def standard_library() -> Library:
    """The library in specs/precedes_specs, read once a process. Its definitions may use profiles by name, too."""
    return Library(_shipped("precedes_specs"), further=profile_library)


@cache
def profile_library() -> Library:
    """The profiles of brokers in specs/precedes_specs/profiles, on top of the standard library, read when a profile is
    asked for: what brokers promise is not among the names that `infer` tries and the lattice compares.
    """
    return Library(_shipped("precedes_specs", "profiles"), standard_library(), shipped=True)


def _shipped(package: str, *folder: str) -> list[syntax.SourceFile]:
    found = {
        one.name: one for one in files(package).joinpath(*folder).iterdir() if one.name.endswith(".prec")
    }
    return [parse(found[name].read_text(encoding="utf-8"), name) for name in sorted(found)]
