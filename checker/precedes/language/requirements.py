"""From a formula or a name to a requirement: the core formula, its name, and the named parts whose
conjunction it is.

`ST` is `SP` and `order_equivalent`. `SP` is `selectively_correct`, which again has two parts. A report shows
each of them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from precedes.core import formula as core
from precedes.core.diagnostics import PrecedesError, Span
from precedes.core.formula import Requirement
from precedes.core.mode import Mode, mode_of
from precedes.core.suggestions import FIELD, intended, surely
from precedes.language import syntax
from precedes.language.errors import Mistakes
from precedes.language.library import Library
from precedes.language.lowering.formulas import MAXIMUM_DEPTH, Lowering, per
from precedes.language.lowering.partial_terms import LoweringRefused
from precedes.language.lowering.terms import Terms
from precedes.language.parsing.parser import parse_sentence
from precedes.language.printer import formula_text, sentence_text
from precedes.language.restriction import among
from precedes.language.sorts.inference import Scope, infer_sentence
from precedes.language.vocabulary import RELATIONS

_SEVERAL_WORDS: Final = re.compile(r"\w+(?:[ -]\w+)+")
REQUIRED: Final = "--require"
"""Where a requirement comes from, in messages about its text, if no file has it."""
MAXIMUM_PARTS = 1_000
"""How many named parts a requirement may have, each counted where it stands."""


def requirement(text: str, library: Library, where: str | None = None) -> Requirement:
    """What `--require` asks: a name of the library or a formula. There is no scenario, so names in it are
    bound or quoted.

    `where` says in messages where the text comes from: an option, or a model's file. PrecedesError where it does not
    parse, names what is not there, or cannot be written out.
    """
    mistakes = Mistakes(where, text.split("\n"))
    if _SEVERAL_WORDS.fullmatch(text) and surely(text, library.names(), FIELD):
        # A name written as people speak: `total order`, `at-most-once`.
        told = f"there is no predicate or service {text}"
        mistakes.tell("N001", told, Span(1, 1, len(text) + 1), intended(text, library.names()))
        mistakes.check()
    hyphenless = text.replace("-", "_")
    if hyphenless != text and hyphenless in library:
        told = f"there is no predicate or service {text}"
        mistakes.tell("N001", told, Span(1, 1, len(text) + 1), intended(text, (hyphenless,)))
        mistakes.check()
    sentence = parse_sentence(text, where)
    typed = infer_sentence(sentence, library, None, mistakes)
    mistakes.check()
    result = requirement_of(typed, library, (), mistakes)
    mistakes.check()
    assert result is not None
    return result


def mode_in(name: str, library: Library) -> Mode | None:
    """In which mode a predicate or service is asked; None where its arguments cannot be quantified."""
    parameters = [parameter.name.text for parameter in library.definition(name).parameters]
    call = syntax.Call(name, tuple(map(syntax.Name, parameters)) or None)
    every = f"forall {', '.join(parameters)}: " if parameters else ""
    try:
        return mode_of(requirement(every + formula_text(call), library).formula)
    except PrecedesError:
        return None


def requirement_of(
    sentence: syntax.Sentence, library: Library, cluster: tuple[str, ...], mistakes: Mistakes
) -> Requirement | None:
    """What a sorted sentence requires; None, and told, where it cannot be written out."""
    try:
        whole = _whole(sentence, library, cluster)
    except LoweringRefused as refused:
        refused.tell(mistakes)
        return None
    if not sentence.among:
        return whole
    names = tuple(m.text if isinstance(m, syntax.Name) else cluster[m.number - 1] for m in sentence.among)
    suffix = sentence_text(replace(sentence, formula=syntax.Truth(True))).removeprefix("true")
    return _among(whole, names, suffix)


def check_scope(
    sentence: syntax.Sentence, library: Library, scope: Scope, mistakes: Mistakes
) -> syntax.Sentence:
    """A sentence of a scenario with its sorts. A name alone needs no look at the scenario."""
    if (
        isinstance(sentence.formula, syntax.Call)
        and sentence.formula.arguments is None
        and not sentence.among
    ):
        known = library.closed.get(sentence.formula.name)
        if known is not None:
            return sentence
    return infer_sentence(sentence, library, scope, mistakes)


def _whole(sentence: syntax.Sentence, library: Library, cluster: tuple[str, ...]) -> Requirement:
    formula = sentence.formula
    if _is_named(formula, library):
        return _part(formula, library, cluster, 0)
    if isinstance(formula, syntax.And) and all(_is_named(part, library) for part in formula.parts):
        parts = _distinct([_part(part, library, cluster, 0) for part in formula.parts])
        return _joined(formula_text(formula), parts, formula.span)
    name = formula_text(formula)
    return Requirement(name, Lowering(Terms(cluster)).formula(formula, {}, frozenset(), library, 0))


def _is_named(formula: syntax.Formula, library: Library) -> bool:
    """Whether a formula is a predicate or service by name, or what one asks per value."""
    if isinstance(formula, syntax.Per):
        return _is_named(formula.body, library)
    return isinstance(formula, syntax.Call) and formula.name not in RELATIONS and formula.name in library


def _part(formula: syntax.Formula, library: Library, cluster: tuple[str, ...], depth: int) -> Requirement:
    match formula:
        case syntax.Call():
            return _named(formula, library, cluster, depth)
        case syntax.Per(body, attributes=attributes):
            suffix = formula_text(formula).removeprefix(formula_text(body))
            return _per(_part(body, library, cluster, depth), attributes, suffix)
        case _:
            raise AssertionError(f"{formula_text(formula)} has no name")


def _per(whole: Requirement, attributes: tuple[core.Attribute, ...], suffix: str) -> Requirement:
    parts = tuple(_per(part, attributes, suffix) for part in whole.parts)
    return Requirement(whole.name + suffix, per(attributes, whole.formula), parts)


def _named(call: syntax.Call, library: Library, cluster: tuple[str, ...], depth: int) -> Requirement:
    """What a named predicate requires, of the arguments given or of every entity and receipt log."""
    if depth > MAXIMUM_DEPTH:
        raise LoweringRefused("N013", "too deep once its definitions are written out", call.span)
    home = library.home(call.name)
    if call.arguments is None and call.name in home.closed:
        return home.closed[call.name]
    definition = home.definition(call.name)
    parts = _distinct([_part(part, home, cluster, depth + 1) for part in _parts(definition, call, home)])
    if parts:
        result = _joined(formula_text(call), parts, call.span)
    else:
        result = Requirement(
            formula_text(call), Lowering(Terms(cluster)).formula(call, {}, frozenset(), home, 0)
        )
    if call.arguments is None:
        home.closed[call.name] = result
    return result


def _parts(definition: syntax.Definition, call: syntax.Call, home: Library) -> list[syntax.Formula]:
    """The named predicates whose conjunction the definition is, of the call's arguments; none where it is no
    such conjunction.

    A part must be of the definition's own parameters, each once: then "for all of them, both" is "both, for
    all of them". What is asked per value is a part where it has no arguments.
    """
    body = definition.body
    conjuncts = body.parts if isinstance(body, syntax.And) else (body,)
    given = dict(zip((p.name.text for p in definition.parameters), call.arguments or (), strict=False))
    sorts = {p.name.text: p.sort for p in definition.parameters}
    parts: list[syntax.Formula] = []
    for conjunct in conjuncts:
        if isinstance(conjunct, syntax.Per) and _is_named(conjunct, home) and _without_arguments(conjunct):
            parts.append(replace(conjunct, span=call.span))
            continue
        if not isinstance(conjunct, syntax.Call) or conjunct.name not in home or conjunct.name in RELATIONS:
            return []
        if conjunct.arguments is None:
            parts.append(replace(conjunct, span=call.span))
            continue
        names = [
            a.text
            for a in conjunct.arguments
            if isinstance(a, syntax.Name) and not a.quoted and a.text in sorts
        ]
        if len(names) != len(conjunct.arguments) or len(set(names)) != len(names):
            return []
        arguments = None if call.arguments is None else tuple(given[name] for name in names)
        parts.append(syntax.Call(conjunct.name, arguments, call.span))
    return parts


def _without_arguments(formula: syntax.Formula) -> bool:
    if isinstance(formula, syntax.Per):
        return _without_arguments(formula.body)
    return isinstance(formula, syntax.Call) and formula.arguments is None


def _distinct(parts: list[Requirement]) -> tuple[Requirement, ...]:
    return tuple({part.name: part for part in parts}.values())


def _joined(name: str, parts: tuple[Requirement, ...], span: Span) -> Requirement:
    if sum(map(_count, parts)) > MAXIMUM_PARTS:
        raise LoweringRefused("N013", f"{name} has too many named parts", span)
    conjuncts = core.conjunction(*(part.formula for part in parts))
    if isinstance(conjuncts, core.And):
        conjuncts = core.conjunction(*dict.fromkeys(conjuncts.parts))
    return Requirement(name, conjuncts, parts)


def _count(whole: Requirement) -> int:
    return 1 + sum(map(_count, whole.parts))


def _among(whole: Requirement, entities: tuple[str, ...], suffix: str) -> Requirement:
    parts = tuple(_among(part, entities, suffix) for part in whole.parts)
    return Requirement(whole.name + suffix, among(whole.formula, entities), parts)
