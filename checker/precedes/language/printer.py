"""From the syntax tree back to text. Parsing the text gives the same tree again.

There is one layout, the shortest that reads well: ASCII forms, and parentheses only where they are necessary
or around a quantifier that is an operand.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, assert_never

from precedes.core.execution import EventKind
from precedes.core.verdict import Verdict
from precedes.language import syntax
from precedes.language.parsing.lexer import is_plain
from precedes.language.quoting import quoted

_ANYTHING, _IFF, _IMPLIES, _OR, _AND, _NOT, _PER = range(7)
_SUM, _PRODUCT, _FACTOR, _POSTFIX = range(4)
_SIGNS: Final = {EventKind.SEND: "!", EventKind.DELIVER: "?"}
BETWEEN_LOGS: Final = 3
"""Spaces between two logs that stand beside each other, in figures and in files."""


def source_text(source: syntax.SourceFile) -> str:
    """A file, one statement a line, a blank line before each scenario."""
    lines: list[str] = []
    for statement in source.statements:
        if isinstance(statement, syntax.ScenarioHead) and lines:
            lines.append("")
        lines.append(statement_text(statement))
    return "".join(line + "\n" for line in lines)


def statement_text(statement: syntax.Statement) -> str:
    """One statement."""
    match statement:
        case syntax.ScenarioHead(name, title, source):
            return f"scenario {_name(name)}{_described(title, source)}"
        case syntax.Cluster(entities):
            return "cluster " + " ".join(_name(entity) for entity in entities)
        case syntax.Group(name, members):
            return f"group {_name(name)}:" + "".join(f" {_reference(member)}" for member in members)
        case syntax.Log(kind, owner, items):
            inside = " ".join(_item(item) for item in items)
            return f"{_log(kind, owner)}: < {inside + ' ' if inside else ''}]"
        case syntax.Set(bound, value):
            return f"{bound} {quantity_text(value)}"
        case syntax.Expect(expected, sentence):
            words = {Verdict.HOLDS: "", Verdict.VIOLATED: "not ", Verdict.UNKNOWN: "unknown "}
            text = sentence_text(sentence)
            if (expected is Verdict.HOLDS and text.startswith("not ")) or (
                expected is not Verdict.HOLDS
                and isinstance(sentence.formula, syntax.And | syntax.Or | syntax.Implies | syntax.Iff)
            ):
                text = f"({formula_text(sentence.formula)}){_among(sentence)}"
            return f"expect {words[expected]}{text}"
        case syntax.Definition(kind, name, parameters, title, source, body):
            shown = ", ".join(p.name.text + (f": {p.sort.value}" if p.sort else "") for p in parameters)
            head = f"{kind.value} {_name(name)}{f'({shown})' if shown else ''}{_described(title, source)}"
            return f"{head} := {formula_text(body)}"
        case syntax.AttributeDeclaration(name, sort, carrier):
            return f"attribute {_name(name)} of {carrier.value}: {sort.value}"
        case syntax.Question(kind, sentence, sizes):
            bounds = ", ".join(f"{s.counted.value} {'=' if s.exactly else '<='} {s.number}" for s in sizes)
            return f"{kind.value} {sentence_text(sentence)}{f' with {bounds}' if bounds else ''}"
        case _:
            assert_never(statement)


def sentence_text(sentence: syntax.Sentence) -> str:
    """A formula, with the entities that it is asked of."""
    return formula_text(sentence.formula) + _among(sentence)


def formula_text(formula: syntax.Formula) -> str:
    """A formula."""
    return _formula(formula, _ANYTHING)


def term_text(term: syntax.Term) -> str:
    """A term."""
    return _term(term, _SUM)


# ---- formulas ----------------------------------------------------------------------------------------------


def _formula(formula: syntax.Formula, level: int) -> str:
    """`level` is the weakest connective that may stand here without parentheses."""
    match formula:
        case syntax.Truth(value):
            return "true" if value else "false"
        case syntax.Undetermined(why):
            return f"undetermined {quoted(why)}"
        case syntax.Call(name, arguments):
            return name if arguments is None else f"{name}({', '.join(map(term_text, arguments))})"
        case syntax.Compare(comparator, left, right):
            return f"{term_text(left)} {comparator.value} {term_text(right)}"
        case syntax.Member(element, collection):
            return f"{term_text(element)} in {_collection(collection)}"
        case syntax.Precedes(first, log, second):
            return f"{term_text(first)} <[{term_text(log)}] {term_text(second)}"
        case syntax.HappensBefore(first, second):
            return f"{term_text(first)} ~> {term_text(second)}"
        case syntax.Not(body):
            return _wrapped(f"not {_formula(body, _NOT)}", level > _NOT)
        case syntax.And(parts):
            return _wrapped(" and ".join(_formula(part, _NOT) for part in parts), level > _AND)
        case syntax.Or(parts):
            return _wrapped(" or ".join(_formula(part, _AND) for part in parts), level > _OR)
        case syntax.Implies(left, right):
            return _wrapped(f"{_formula(left, _OR)} implies {_formula(right, _IMPLIES)}", level > _IMPLIES)
        case syntax.Iff(left, right):
            return _wrapped(f"{_formula(left, _IFF)} iff {_formula(right, _IMPLIES)}", level > _IFF)
        case syntax.Quantified(quantifier, variables, collection, body):
            names = ", ".join(variable.text for variable in variables)
            within = "" if collection is None else f" in {_collection(collection)}"
            # As an operand it would reach into what follows, so that only where anything may stand it goes
            # without parentheses.
            return _wrapped(
                f"{quantifier.value} {names}{within}: {_formula(body, _ANYTHING)}", level > _ANYTHING
            )
        case syntax.InMode(quiescent, body):
            mode = "quiescent" if quiescent else "always"
            return _wrapped(f"{mode} {_formula(body, _ANYTHING)}", level > _ANYTHING)
        case syntax.Per(body, names):
            keys = ", ".join(name.text for name in names)
            return _wrapped(
                f"{_formula(body, _PER)} per {keys if len(names) == 1 else f'({keys})'}", level > _PER
            )
        case syntax.Acyclic(first, second, body):
            return f"acyclic({first.text}, {second.text}: {formula_text(body)})"
        case _:
            assert_never(formula)


def _wrapped(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


# ---- terms -------------------------------------------------------------------------------------------------


def _term(term: syntax.Term, level: int) -> str:
    match term:
        case syntax.Name():
            return _name(term)
        case syntax.Place(number):
            return str(number)
        case syntax.Quantity():
            return quantity_text(term)
        case syntax.Bound(name):
            return name
        case syntax.EntityLog(kind, syntax.Place(number), None):
            return f"{kind.value}{number}"
        case syntax.EntityLog(kind, entity, to):
            return f"{kind.value}[{term_text(entity)}{'' if to is None else ', ' + term_text(to)}]"
        case syntax.Apply(function, arguments):
            return f"{function}({', '.join(map(term_text, arguments))})"
        case syntax.At(log, place):
            return f"{_term(log, _POSTFIX)}[{term_text(place)}]"
        case syntax.Slice(log, start, stop):
            ends = ("" if start is None else term_text(start), "" if stop is None else term_text(stop))
            return f"{_term(log, _POSTFIX)}[{ends[0]}..{ends[1]}]"
        case syntax.Shared() | syntax.EntitySet():
            return _collection(term)
        case syntax.Relation(first, second, body):
            return f"{first.text}, {second.text}: {formula_text(body)}"
        case syntax.Arithmetic(operator, left, right):
            own = _SUM if operator in (syntax.Operator.PLUS, syntax.Operator.MINUS) else _PRODUCT
            text = f"{_term(left, own)} {operator.value} {_term(right, own + 1)}"
            return _wrapped(text, level > own)
        case syntax.Negative(inner):
            return _wrapped(f"-{_term(inner, _FACTOR)}", level > _FACTOR)
        case _:
            assert_never(term)


def _collection(term: syntax.Term) -> str:
    if isinstance(term, syntax.Shared):
        return " & ".join(map(term_text, term.parts))
    if isinstance(term, syntax.EntitySet):
        return "{" + ", ".join(map(_reference, term.members)) + "}"
    return term_text(term)


def quantity_text(quantity: syntax.Quantity) -> str:
    """A number as it was written, with its unit."""
    return _decimal(quantity.value) + (quantity.unit or "")


def _decimal(value: Fraction) -> str:
    """A number whose decimal expansion ends, as everything that was read does."""
    places = 0
    scaled = abs(value)
    while scaled.denominator != 1:
        scaled *= 10
        places += 1
        if places > 60:
            raise ValueError(f"{value} has no finite decimal expansion")
    digits = str(scaled.numerator).rjust(places + 1, "0")
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if value < 0 else text


# ---- names and logs ----------------------------------------------------------------------------------------


def _name(name: syntax.Name, in_log: bool = False) -> str:
    return quoted(name.text) if name.quoted or not is_plain(name.text, in_log) else name.text


def _reference(reference: syntax.Reference, in_log: bool = False) -> str:
    return _name(reference, in_log) if isinstance(reference, syntax.Name) else str(reference.number)


def _described(title: str | None, source: str | None) -> str:
    return ("" if title is None else f" {quoted(title)}") + (
        "" if source is None else f" source {quoted(source)}"
    )


def _among(sentence: syntax.Sentence) -> str:
    return "".join((" among ", " ".join(map(_reference, sentence.among)))) if sentence.among else ""


def _log(kind: syntax.LogKind, owner: syntax.Reference) -> str:
    return (
        f"{kind.value}{owner.number}" if isinstance(owner, syntax.Place) else f"{kind.value}[{_name(owner)}]"
    )


def _item(item: syntax.LogItem) -> str:
    match item:
        case syntax.Mark():
            return "||"
        case syntax.Change(event, members, time, view):
            name = "" if view is None else f" {_name(view, in_log=True)}"
            return f"{event.value}{name}{_destinations(members)}{_time(time)}"
        case syntax.Entry(event, message, sender, sequence, destinations, time, carried):
            pdu = _name(message, in_log=True)
            if sender is not None:
                pdu += f"^{_reference(sender, in_log=True)}" + ("" if sequence is None else f"({sequence})")
            if event is None:
                pdu += _destinations(destinations)
            elif event in _SIGNS:
                pdu = f"{_SIGNS[event]}{pdu}{_destinations(destinations)}"
            else:
                pdu = f"{event.value}({pdu})"
            return pdu + carried_text(carried) + _time(time)
        case _:
            assert_never(item)


def _destinations(destinations: syntax.Destinations | None) -> str:
    if destinations is None:
        return ""
    if destinations.digits:
        return "_{" + "".join(_reference(member) for member in destinations.members) + "}"
    members = [_reference(member, in_log=True) for member in destinations.members]
    groups = [f"group:{_name(group, in_log=True)}" for group in destinations.groups]
    return "{" + ",".join((*members, *groups)) + "}"


def carried_text(carried: tuple[syntax.Carried, ...]) -> str:
    """What stands in brackets after a message; nothing where it carries nothing."""
    if not carried:
        return ""
    pairs = (
        f"{_name(each.attribute, in_log=True)}="
        + (
            _name(each.value, in_log=True)
            if isinstance(each.value, syntax.Name)
            else quantity_text(each.value)
        )
        for each in carried
    )
    return f"[{', '.join(pairs)}]"


def _time(time: syntax.Quantity | None) -> str:
    return "" if time is None else f"@{quantity_text(time)}"
