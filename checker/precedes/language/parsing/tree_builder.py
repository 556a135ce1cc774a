"""From the shapes of the grammar to the nodes of the syntax tree.

The grammar does not distinguish formulas from terms, because `p` and `f(x)` may be either. This module
decides by their place in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, cast

from precedes.core.diagnostics import Span
from precedes.core.execution import EventKind
from precedes.core.formula import AttributeSort, Carrier
from precedes.core.verdict import Verdict
from precedes.language import syntax
from precedes.language.parsing.lexer import UNITS_HINT, Token, no_unit, numeral
from precedes.language.quoting import unquoted
from precedes.language.vocabulary import GROUP

_TERMS: Final = (
    syntax.Name,
    syntax.Place,
    syntax.Quantity,
    syntax.Bound,
    syntax.EntityLog,
    syntax.Apply,
    syntax.At,
    syntax.Slice,
    syntax.Shared,
    syntax.EntitySet,
    syntax.Relation,
    syntax.Arithmetic,
    syntax.Negative,
)
_DIGITS: Final = 40
_NAMED_HEAD: Final = re.compile(r"(SL|RL|H)(\w+)")
_NAMING: Final = frozenset(("NAME", "QUOTED", "INT"))
_LOG_KINDS: Final = {kind.value: kind for kind in syntax.LogKind}
_LOGS: Final = ("SL", "RL", "DL", "VL")
_UNIT_SPELLING: Final = {"µs": "us", "μs": "us"}


@dataclass(frozen=True, slots=True)
class Mistake:
    code: str
    message: str
    span: Span
    hint: str | None = None


def name_text(token: Token) -> str:
    if token.type != "QUOTED":
        return token.text
    return unquoted(token.text[1:-1])


def _to(first: Any, last: Any) -> Span:
    """From the first of two tokens or nodes to the last; the first alone where they are on different lines."""
    if type(first) is Token:
        line, column, end = first.line, first.column, first.end
    else:
        span = first.span
        line, column, end = span.line, span.column, span.end_column
    if type(last) is Token:
        return Span(line, column, last.end if last.line == line else end)
    return Span(line, column, last.span.end_column if last.span.line == line else end)


class Builder:
    """One method a rule. What cannot be is told in `mistakes`; the node returned then is not used."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def refuse(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        self.mistakes.append(Mistake(code, message, span, hint))

    # statements

    def scenario(self, parts: list[Any]) -> syntax.ScenarioHead:
        title, source = _described(parts[2:])
        return syntax.ScenarioHead(parts[1], title, source, _to(parts[0], parts[1]))

    def title(self, parts: list[Any]) -> tuple[str, str]:
        return ("title", name_text(parts[0]))

    def source(self, parts: list[Any]) -> tuple[str, str]:
        return ("source", name_text(parts[1]))

    def cluster(self, parts: list[Any]) -> syntax.Cluster:
        return syntax.Cluster(tuple(parts[1:]), _to(parts[0], parts[-1]))

    def group(self, parts: list[Any]) -> syntax.Group:
        return syntax.Group(parts[1], tuple(parts[3:]), _to(parts[0], parts[-1]))

    def set(self, parts: list[Any]) -> syntax.Set:
        return syntax.Set(parts[0].type.lower(), parts[1], _to(parts[0], parts[1]))

    def expect(self, parts: list[Any]) -> syntax.Expect:
        return syntax.Expect(Verdict.HOLDS, parts[1], _to(parts[0], parts[-1]))

    def expect_not(self, parts: list[Any]) -> syntax.Expect:
        return syntax.Expect(Verdict.VIOLATED, parts[2], _to(parts[0], parts[-1]))

    def expect_unknown(self, parts: list[Any]) -> syntax.Expect:
        return syntax.Expect(Verdict.UNKNOWN, parts[2], _to(parts[0], parts[-1]))

    def definition(self, parts: list[Any]) -> syntax.Definition:
        kind = syntax.DefinitionKind(parts[0].text)
        rest = parts[2:-2]
        parameters: tuple[syntax.Parameter, ...] = ()
        if rest and isinstance(rest[0], list):
            parameters = tuple(rest.pop(0))
        title, source = _described(rest)
        body = self.formula(parts[-1])
        return syntax.Definition(kind, parts[1], parameters, title, source, body, _to(parts[0], parts[1]))

    def parameters(self, parts: list[Any]) -> list[syntax.Parameter]:
        return [part for part in parts if isinstance(part, syntax.Parameter)]

    def parameter(self, parts: list[Any]) -> syntax.Parameter:
        name = self.variable(parts[:1]).name
        if len(parts) == 1:
            return syntax.Parameter(name)
        try:
            return syntax.Parameter(name, syntax.Sort(parts[2].text))
        except ValueError:
            sorts = ", ".join(sort.value for sort in syntax.Sort)
            self.refuse("P009", f"{parts[2].text} is not a sort", parts[2].span, f"the sorts are {sorts}")
            return syntax.Parameter(name)

    def attribute(self, parts: list[Any]) -> syntax.AttributeDeclaration:
        _, name, of, what, _, sort = parts
        span = _to(parts[0], parts[-1])
        carrier = next((each for each in Carrier if each.value == what.text), Carrier.MESSAGE)
        if of.text != "of" or what.text != carrier.value:
            hint = f"attribute {name.text} of message: {sort.text}"
            self.refuse("P016", "an attribute is one of messages, or of events", what.span, hint)
        try:
            found = AttributeSort(sort.text)
        except ValueError:
            sorts = ", ".join(each.value for each in AttributeSort)
            self.refuse(
                "P009", f"{sort.text} is not a sort of an attribute", sort.span, f"the sorts are {sorts}"
            )
            found = AttributeSort.TEXT
        return syntax.AttributeDeclaration(self.name([name]), found, carrier, span)

    def question(self, parts: list[Any]) -> syntax.Question:
        sizes = tuple(part for part in parts if isinstance(part, syntax.Size))
        return syntax.Question(syntax.QuestionKind(parts[0].text), parts[1], sizes, _to(parts[0], parts[1]))

    def size(self, parts: list[Any]) -> syntax.Size:
        span = _to(parts[0], parts[2])
        try:
            counted = syntax.Counted(parts[0].text)
        except ValueError:
            self.refuse(
                "P010",
                f"{parts[0].text} cannot be bounded",
                parts[0].span,
                "only entities and messages can be bounded",
            )
            counted = syntax.Counted.ENTITIES
        return syntax.Size(counted, parts[1].type == "EQUAL", self.integer(parts[2]), span)

    def sentence(self, parts: list[Any]) -> syntax.Sentence:
        among = tuple(part for part in parts[1:] if not isinstance(part, Token))
        return syntax.Sentence(self.formula(parts[0]), among, _to(parts[0], parts[-1]))

    # logs

    def log(self, parts: list[Any]) -> syntax.Log:
        head: Token = parts[0]
        # The head is `RL1 :`, or `RL [ Pi ] :`.
        named = parts[1].type == "LSQB"
        items = tuple(parts[6:-1] if named else parts[3:-1])
        span = _to(head, parts[-1])
        kind = _LOG_KINDS.get(head.text[:2] if head.text[:1] != "H" else "H")
        number = head.text[len(kind.value) :] if kind else ""
        if kind in (syntax.LogKind.DL, syntax.LogKind.VL):
            kind = None
        if kind is None or bool(number) == named or not ((number.isdigit() and number.isascii()) or named):
            hint = "a log is SL1, RL1 or H1, by place in the cluster, or RL[name]"
            if (named_ := _NAMED_HEAD.fullmatch(head.text)) and not named:
                hint = f"to use a name, write {named_[1]}[{named_[2]}]; {hint}"
            self.refuse("P011", f"{head.text} is not a log", head.span, hint)
            return syntax.Log(syntax.LogKind.RL, syntax.Place(1), items, span)
        owner = parts[2] if named else syntax.Place(self.whole(number, head.span), head.span)
        return syntax.Log(kind, owner, items, span)

    def mark(self, parts: list[Any]) -> syntax.Mark:
        return syntax.Mark(parts[0].span)

    def plain_entry(self, parts: list[Any]) -> syntax.Entry:
        return self.entry(None, parts)

    def event_entry(self, parts: list[Any]) -> syntax.Entry:
        return self.entry(EventKind.SEND if parts[0].type == "SEND" else EventKind.DELIVER, parts)

    def word_entry(self, parts: list[Any]) -> syntax.Entry:
        return self.entry(EventKind(parts[0].text), parts)

    def entry(self, event: EventKind | None, parts: list[Any]) -> syntax.Entry:
        # The parts are a mark of what happens, the PDU, and what may follow it; only the PDU is a tuple.
        name, sender, sequence = parts[0] if event is None else parts[2 if type(parts[1]) is Token else 1]
        destinations = time = None
        carried: tuple[syntax.Carried, ...] = ()
        for part in parts:
            if type(part) is syntax.Destinations:
                destinations = part
            elif type(part) is syntax.Quantity:
                time = part
            elif type(part) is _Brackets:
                carried = part.carried
        first = parts[0] if type(parts[0]) is Token else name
        last = (sender or name) if type(parts[-1]) is tuple else parts[-1]
        span = name.span if first is last else _to(first, last)
        return syntax.Entry(event, name, sender, sequence, destinations, time, carried, span)

    def carried(self, parts: list[Any]) -> _Brackets:
        pairs = tuple(part for part in parts if isinstance(part, syntax.Carried))
        return _Brackets(pairs, _to(parts[0], parts[-1]))

    def pair(self, parts: list[Any]) -> syntax.Carried:
        name, value = parts[0], parts[-1]
        read: syntax.Name | syntax.Quantity = self.name([value])
        if value.type in ("INT", "NUMBER"):
            read = self.quantity([value])
            read = replace(read, value=-read.value) if len(parts) == 4 else read
        return syntax.Carried(self.name([name]), read, _to(name, value))

    def change(self, parts: list[Any]) -> syntax.Change:
        members = next((part for part in parts if isinstance(part, syntax.Destinations)), None)
        time = next((part for part in parts if isinstance(part, syntax.Quantity)), None)
        view = next((part for part in parts if isinstance(part, syntax.Name)), None)
        return syntax.Change(EventKind(parts[0].text), members, time, view, _to(parts[0], parts[-1]))

    def pdu(self, parts: list[Any]) -> tuple[syntax.Name, syntax.Reference | None, int | None]:
        sender = parts[2] if len(parts) > 2 else None
        return (self.name(parts[:1]), sender, self.integer(parts[4]) if len(parts) > 4 else None)

    def braces(self, parts: list[Any]) -> syntax.Destinations:
        span = _to(parts[0], parts[-1])
        return syntax.Destinations(self.references(parts[1:-1]), False, _groups(parts), span)

    def references(self, parts: list[Any]) -> tuple[syntax.Reference, ...]:
        tokens = [part for part in parts if type(part) is Token]
        return tuple([self.reference([token]) for token in tokens if token.type in _NAMING])

    def addressed(self, parts: list[Any]) -> syntax.Name:
        """`group:billing`, among destinations."""
        kind: Token = parts[0]
        name: syntax.Name = parts[2]
        if kind.text != GROUP:
            what = f"{kind.text} is not a kind of destination"
            self.refuse(
                "P018", what, kind.span, f"a group is written {GROUP}:NAME, an entity by its name alone"
            )
        return replace(name, span=_to(kind, name))

    def digits(self, parts: list[Any]) -> syntax.Destinations:
        members: list[syntax.Reference] = []
        for part in parts:
            if type(part) is Token and part.type == "INT":
                members.extend(syntax.Place(int(digit), part.span) for digit in part.text)
            else:
                members.extend(self.references([part]))
        groups = _groups(parts)
        digits = bool(members) and not groups and all(isinstance(member, syntax.Place) for member in members)
        return syntax.Destinations(tuple(members), digits, groups, _to(parts[0], parts[-1]))

    def time(self, parts: list[Any]) -> syntax.Quantity:
        quantity: syntax.Quantity = parts[-1]
        value = -quantity.value if len(parts) == 3 else quantity.value
        return syntax.Quantity(value, quantity.unit, _to(parts[0], quantity))

    def name(self, parts: list[Any]) -> syntax.Name:
        token: Token = parts[0]
        if token.type == "QUOTED":
            return syntax.Name(name_text(token), True, token.span)
        return syntax.Name(token.text, False, token.span)

    def reference(self, parts: list[Any]) -> syntax.Reference:
        token: Token = parts[0]
        return syntax.Place(self.integer(token), token.span) if token.type == "INT" else self.name(parts)

    def quantity(self, parts: list[Any]) -> syntax.Quantity:
        token: Token = parts[0]
        digits, unit = numeral(token.text)
        if what := no_unit(token.text):
            self.refuse("P012", what, token.span, UNITS_HINT)
        if len(digits) > _DIGITS:
            self.refuse("P013", "the number is too long", token.span)
            digits = "0"
        return syntax.Quantity(Fraction(digits), _UNIT_SPELLING.get(unit, unit) or None, token.span)

    def integer(self, token: Token) -> int:
        return self.whole(token.text, token.span)

    def whole(self, digits: str, span: Span) -> int:
        if len(digits) > _DIGITS:
            self.refuse("P013", "the number is too long", span)
            return 0
        return int(digits)

    # formulas

    def formula(self, node: Any) -> syntax.Formula:
        """What was read, as a formula: a name is a predicate here."""
        if isinstance(node, syntax.Name) and not node.quoted:
            return syntax.Call(node.text, None, node.span)
        if isinstance(node, syntax.Apply):
            return syntax.Call(node.function, node.arguments, node.span)
        if isinstance(node, _TERMS):
            self.refuse(
                "P008",
                "a formula is needed here, but this is a term",
                node.span,
                "compare terms: p = q, p in L",
            )
            return syntax.Truth(True, node.span)
        return cast(syntax.Formula, node)

    def term(self, node: Any) -> syntax.Term:
        """What was read, as a term."""
        if isinstance(node, _TERMS):
            return node
        hint = (
            "comparisons cannot be chained: write a < b and b < c"
            if isinstance(node, syntax.Compare)
            else None
        )
        self.refuse("P008", "a term is needed here, but this is a formula", node.span, hint)
        return syntax.Name("x", False, node.span)

    def sides(self, parts: list[Any]) -> tuple[syntax.Formula, syntax.Formula, Span]:
        return self.formula(parts[0]), self.formula(parts[2]), _to(parts[0], parts[2])

    def formulas(self, parts: list[Any]) -> tuple[syntax.Formula, ...]:
        return tuple(self.formula(part) for part in parts if not isinstance(part, Token))

    def iff(self, parts: list[Any]) -> syntax.Iff:
        return syntax.Iff(*self.sides(parts))

    def implies(self, parts: list[Any]) -> syntax.Implies:
        return syntax.Implies(*self.sides(parts))

    def disjunction(self, parts: list[Any]) -> syntax.Or:
        return syntax.Or(self.formulas(parts), _to(parts[0], parts[-1]))

    def conjunction(self, parts: list[Any]) -> syntax.And:
        return syntax.And(self.formulas(parts), _to(parts[0], parts[-1]))

    def negation(self, parts: list[Any]) -> syntax.Not:
        return syntax.Not(self.formula(parts[1]), _to(parts[0], parts[1]))

    def quantified(self, parts: list[Any]) -> syntax.Quantified:
        variables = tuple(part for part in parts[:-1] if isinstance(part, BoundVariable))
        collection = parts[-3] if isinstance(parts[-4], Token) and parts[-4].type == "IN" else None
        return syntax.Quantified(
            syntax.Quantifier.FORALL if parts[0].type == "FORALL" else syntax.Quantifier.EXISTS,
            tuple(variable.name for variable in variables),
            None if collection is None else self.term(collection),
            self.formula(parts[-1]),
            _to(parts[0], parts[-1]),
        )

    def mode(self, parts: list[Any]) -> syntax.InMode:
        return syntax.InMode(parts[0].type == "QUIESCENT", self.formula(parts[1]), _to(parts[0], parts[1]))

    def per(self, parts: list[Any]) -> syntax.Per:
        return syntax.Per(self.formula(parts[0]), parts[2].names, _to(parts[0], parts[2]))

    def attributes(self, parts: list[Any]) -> _Attributes:
        names = tuple(self.name([part]) for part in parts if part.type == "NAME")
        return _Attributes(names, _to(parts[0], parts[-1]))

    def acyclic(self, parts: list[Any]) -> syntax.Acyclic:
        return syntax.Acyclic(parts[2].name, parts[4].name, self.formula(parts[6]), _to(parts[0], parts[-1]))

    def comparator(self, parts: list[Any]) -> Token:
        return cast(Token, parts[0])

    def comparison(self, parts: list[Any]) -> syntax.Formula:
        if len(parts) > 3:
            self.refuse(
                "P007", "comparisons cannot be chained", _to(parts[0], parts[-1]), "write a < b and b < c"
            )
        comparator = syntax.Comparator[parts[1].type]
        return syntax.Compare(comparator, self.term(parts[0]), self.term(parts[2]), _to(parts[0], parts[2]))

    def member(self, parts: list[Any]) -> syntax.Member:
        return syntax.Member(self.term(parts[0]), self.term(parts[2]), _to(parts[0], parts[2]))

    def precedes(self, parts: list[Any]) -> syntax.Precedes:
        first, log, second = (self.term(parts[index]) for index in (0, 2, 4))
        return syntax.Precedes(first, log, second, _to(parts[0], parts[4]))

    def happens_before(self, parts: list[Any]) -> syntax.HappensBefore:
        return syntax.HappensBefore(self.term(parts[0]), self.term(parts[2]), _to(parts[0], parts[2]))

    def shared(self, parts: list[Any]) -> syntax.Shared:
        logs = tuple(self.term(part) for part in parts if not isinstance(part, Token))
        return syntax.Shared(logs, _to(parts[0], parts[-1]))

    def truth(self, parts: list[Any]) -> syntax.Truth:
        return syntax.Truth(parts[0].type == "TRUE", parts[0].span)

    def undetermined(self, parts: list[Any]) -> syntax.Undetermined:
        return syntax.Undetermined(name_text(parts[1]), _to(parts[0], parts[1]))

    # terms

    def variable(self, parts: list[Any]) -> BoundVariable:
        token: Token = parts[0]
        if _log_by_place(token.text) or token.text in _LOGS:
            self.refuse("P014", f"{token.text} is a log and cannot be a variable", token.span)
        return BoundVariable(syntax.Name(token.text, False, token.span))

    def plain_name(self, parts: list[Any]) -> syntax.Term:
        token: Token = parts[0]
        if by_place := _log_by_place(token.text):
            kind, number = by_place
            place = syntax.Place(self.whole(number, token.span), token.span)
            return syntax.EntityLog(kind, place, None, token.span)
        return syntax.Name(token.text, False, token.span)

    def quoted_name(self, parts: list[Any]) -> syntax.Name:
        return syntax.Name(name_text(parts[0]), True, parts[0].span)

    def number(self, parts: list[Any]) -> syntax.Quantity:
        return self.quantity(parts)

    def bound(self, parts: list[Any]) -> syntax.Bound:
        return syntax.Bound(parts[0].type.lower(), parts[0].span)

    def apply(self, parts: list[Any]) -> syntax.Apply:
        arguments = parts[2] if isinstance(parts[2], tuple) else ()
        return syntax.Apply(parts[0].text, arguments, _to(parts[0], parts[-1]))

    def of_relation(self, parts: list[Any]) -> syntax.Call:
        """`name(p, q: F)`: what stands before the colon are variables."""
        head, _, variables, colon, body, close = parts
        plain = [v for v in variables if isinstance(v, syntax.Name) and not v.quoted]
        if len(plain) != 2 or len(variables) != 2:
            hint = f"{head.text}(p, q: F)"
            self.refuse("P017", "a relation is between two messages", _to(head, colon), hint)
            plain = [syntax.Name("p"), syntax.Name("q")]
        related = syntax.Relation(plain[0], plain[1], self.formula(body), _to(plain[0], body))
        return syntax.Call(head.text, (related,), _to(head, close))

    def arguments(self, parts: list[Any]) -> tuple[syntax.Term, ...]:
        return tuple(self.term(part) for part in parts if not isinstance(part, Token))

    def parenthesis(self, parts: list[Any]) -> Any:
        return parts[1]

    def entity_set(self, parts: list[Any]) -> syntax.EntitySet:
        members = tuple(part for part in parts if not isinstance(part, Token))
        return syntax.EntitySet(members, _to(parts[0], parts[-1]))

    def index(self, parts: list[Any]) -> syntax.Term:
        base, arguments = parts[0], parts[2]
        span = _to(base, parts[3])
        if isinstance(base, syntax.Name) and not base.quoted and base.text in _LOGS:
            places = [syntax.Place(int(a.value), a.span) if _is_place(a) else a for a in arguments]
            kind = syntax.LogKind(base.text)
            if len(places) > (2 if kind is syntax.LogKind.SL else 1):
                self.refuse(
                    "P015",
                    f"{base.text} has too many indices",
                    span,
                    "SL[i], SL[i, j], RL[i], DL[i] and VL[i] are logs",
                )
            return syntax.EntityLog(kind, places[0], places[1] if len(places) > 1 else None, span)
        if len(arguments) > 1:
            self.refuse("P015", "a log has one index here", span, "L[h] is the message at place h")
        return syntax.At(self.term(base), arguments[0], span)

    def prefix(self, parts: list[Any]) -> syntax.Slice:
        return syntax.Slice(self.term(parts[0]), None, self.term(parts[3]), _to(parts[0], parts[-1]))

    def suffix(self, parts: list[Any]) -> syntax.Slice:
        return syntax.Slice(self.term(parts[0]), self.term(parts[2]), None, _to(parts[0], parts[-1]))

    def part(self, parts: list[Any]) -> syntax.Slice:
        return syntax.Slice(
            self.term(parts[0]), self.term(parts[2]), self.term(parts[4]), _to(parts[0], parts[-1])
        )

    def arithmetic(self, parts: list[Any]) -> syntax.Arithmetic:
        operator = syntax.Operator(parts[1].text)
        return syntax.Arithmetic(operator, self.term(parts[0]), self.term(parts[2]), _to(parts[0], parts[2]))

    def negative(self, parts: list[Any]) -> syntax.Negative:
        return syntax.Negative(self.term(parts[1]), _to(parts[0], parts[1]))


@dataclass(frozen=True, slots=True)
class _Attributes:
    """What stands after `per`."""

    names: tuple[syntax.Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class _Brackets:
    """`[key=k1]` after a message."""

    carried: tuple[syntax.Carried, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A bound variable, told apart from a name in a formula."""

    name: syntax.Name


def _groups(parts: list[Any]) -> tuple[syntax.Name, ...]:
    """The groups among destinations."""
    return tuple(part for part in parts if isinstance(part, syntax.Name))


def _described(parts: list[Any]) -> tuple[str | None, str | None]:
    described = dict(parts)
    return described.get("title"), described.get("source")


def _log_by_place(word: str) -> tuple[syntax.LogKind, str] | None:
    """`RL1` as kind and number."""
    if word[:2] in _LOGS and word[2:].isascii() and word[2:].isdigit():
        return syntax.LogKind(word[:2]), word[2:]
    return None


def _is_place(term: syntax.Term) -> bool:
    return isinstance(term, syntax.Quantity) and term.unit is None and term.value.denominator == 1
