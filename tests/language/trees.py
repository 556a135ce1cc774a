"""Random syntax trees: everything that the parser can make, whether or not its names and sorts make sense.

Written against `Choices`: hypothesis shrinks a failing tree, and thousands more come from seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st

from precedes.core.execution import EventKind
from precedes.core.formula import AttributeSort
from precedes.core.verdict import Verdict
from precedes.language import syntax
from precedes.testing.choices import Choices, chance, pick
from tests.strategies.drawn import Drawn

WORDS = (
    "p",
    "q",
    "i",
    "L",
    "ST",
    "1C",
    "x_1",
    "été",
    "μήνυμα",
    "電文",
    "E12",
    "H1",
    "size",
    "messages",
    "µ",
    "p₁",
    "view",
    "group",
    "groups",
)
ODD = (
    *(
        "a b",
        "",
        'say "a"',
        "back\\slash",
        "# no comment",
        "expect",
        "12",
        "10ms",
        "view",
        "δ-1",
        "<",
        "]",
        "RL1",
        "a_{",
    ),
    *("tab\there", "'", "é́", "\u2028", "1.5", "𝔛"),
)
T = TypeVar("T")
ABOUT_ONE = (EventKind.ARRIVE, EventKind.DISCARD, EventKind.ACK, EventKind.NACK)
"""Kinds that are written as words."""
UNITS = (None, "ns", "us", "ms", "s", "min")


@st.composite
def files(draw: Callable[[st.SearchStrategy[int]], int]) -> syntax.SourceFile:
    """Random files of a few statements."""
    return file(Drawn(draw))


def file(choices: Choices) -> syntax.SourceFile:
    """One random file."""
    return syntax.SourceFile(tuple(statement(choices) for _ in range(choices.integer(0, 4))))


# ---- statements --------------------------------------------------------------------------------------------


def statement(choices: Choices) -> syntax.Statement:
    """One random statement of any kind."""
    match choices.integer(0, 8):
        case 0:
            return syntax.Cluster(several(choices, name, 1, 4))
        case 7:
            return syntax.Group(name(choices), several(choices, reference, 0, 3))
        case 6:
            return syntax.AttributeDeclaration(variable(choices), pick(choices, tuple(AttributeSort)))
        case 1:
            return syntax.ScenarioHead(name(choices), described(choices), described(choices))
        case 2:
            return syntax.Set(pick(choices, ("delta", "epsilon")), quantity(choices))
        case 3:
            kinds = (syntax.LogKind.SL, syntax.LogKind.RL, syntax.LogKind.H)
            return syntax.Log(pick(choices, kinds), reference(choices), several(choices, item, 0, 4))
        case 4:
            return syntax.Expect(pick(choices, tuple(Verdict)), sentence(choices))
        case 5:
            kind = pick(choices, tuple(syntax.QuestionKind))
            sizes = several(choices, size, 0, 2) if kind is syntax.QuestionKind.FIND else ()
            return syntax.Question(kind, sentence(choices), sizes)
        case _:
            return syntax.Definition(
                pick(choices, tuple(syntax.DefinitionKind)),
                name(choices),
                several(choices, parameter, 0, 3),
                described(choices),
                described(choices),
                formula(choices),
            )


def several(choices: Choices, make: Callable[[Choices], T], least: int, most: int) -> tuple[T, ...]:
    """Between `least` and `most` of these."""
    return tuple(make(choices) for _ in range(choices.integer(least, most)))


def described(choices: Choices) -> str | None:
    """A title or a source."""
    return pick(choices, ODD) if chance(choices, 60) else None


def name(choices: Choices) -> syntax.Name:
    """A name, quoted or not."""
    return syntax.Name(pick(choices, ODD), True) if chance(choices, 25) else variable(choices)


def variable(choices: Choices) -> syntax.Name:
    """A name that needs no quotes."""
    return syntax.Name(pick(choices, WORDS))


def log_name(choices: Choices) -> syntax.Name:
    """A message in a log, where `view` is reserved."""
    found = name(choices)
    return syntax.Name("p") if found == syntax.Name("view") else found


def reference(choices: Choices) -> syntax.Reference:
    """An entity by place or name."""
    return syntax.Place(choices.integer(0, 30)) if chance(choices, 50) else log_name(choices)


def parameter(choices: Choices) -> syntax.Parameter:
    """A parameter, with or without its sort."""
    return syntax.Parameter(variable(choices), pick(choices, (None, *syntax.Sort)))


def size(choices: Choices) -> syntax.Size:
    """A bound of a search."""
    return syntax.Size(pick(choices, tuple(syntax.Counted)), chance(choices, 50), choices.integer(0, 20))


def quantity(choices: Choices) -> syntax.Quantity:
    """A number that is not negative, with or without a unit."""
    value = Fraction(choices.integer(0, 10**6), 10 ** choices.integer(0, 12))
    return syntax.Quantity(value, pick(choices, UNITS))


# ---- logs --------------------------------------------------------------------------------------------------


def item(choices: Choices) -> syntax.LogItem:
    """Anything that stands in a log."""
    event = pick(
        choices,
        (None, EventKind.SEND, EventKind.DELIVER, *ABOUT_ONE, "mark", "change"),
    )
    match event:
        case "mark":
            return syntax.Mark()
        case "change":
            kind = pick(choices, (EventKind.CRASH, EventKind.RECOVER, EventKind.VIEW, EventKind.LOCAL))
            if kind is not EventKind.VIEW:
                return syntax.Change(kind, None, time(choices))
            view = log_name(choices) if chance(choices, 50) else None
            return syntax.Change(kind, destinations(choices), time(choices), view)
        case _:
            assert not isinstance(event, str)
            sender = reference(choices) if chance(choices, 25) else None
            sequence = choices.integer(0, 99) if sender is not None and chance(choices, 50) else None
            addressed = event not in ABOUT_ONE and chance(choices, 50)
            to = destinations(choices) if addressed else None
            carried = several(choices, pair, 1, 3) if chance(choices, 25) else ()
            return syntax.Entry(event, log_name(choices), sender, sequence, to, time(choices), carried)


def pair(choices: Choices) -> syntax.Carried:
    """What a message carries, in brackets."""
    value = log_name(choices) if chance(choices, 60) else time(choices) or quantity(choices)
    attribute = variable(choices)
    return syntax.Carried(syntax.Name("key") if attribute.text == "view" else attribute, value)


def destinations(choices: Choices) -> syntax.Destinations:
    """Destinations in braces, or by digits."""
    if chance(choices, 30):
        return syntax.Destinations(several(choices, lambda c: syntax.Place(c.integer(0, 9)), 1, 3), True)
    return syntax.Destinations(several(choices, reference, 0, 3), groups=several(choices, log_name, 0, 2))


def time(choices: Choices) -> syntax.Quantity | None:
    """A time, negative ones too, or none."""
    if chance(choices, 50):
        return None
    found = quantity(choices)
    return syntax.Quantity(-found.value, found.unit) if chance(choices, 25) else found


# ---- formulas ----------------------------------------------------------------------------------------------


def sentence(choices: Choices) -> syntax.Sentence:
    """A formula, sometimes asked of some entities."""
    return syntax.Sentence(formula(choices), several(choices, reference, 0, 2))


def formula(choices: Choices, depth: int = 4) -> syntax.Formula:
    """A random formula of at most this depth."""
    if depth == 0 or chance(choices, 30):
        return atom(choices)

    def inner(choices: Choices) -> syntax.Formula:
        return formula(choices, depth - 1)

    match choices.integer(0, 9):
        case 7:
            return syntax.Per(inner(choices), several(choices, variable, 1, 3))
        case 0:
            return syntax.Not(inner(choices))
        case 1:
            return syntax.And(several(choices, inner, 2, 3))
        case 2:
            return syntax.Or(several(choices, inner, 2, 3))
        case 3:
            return syntax.Implies(inner(choices), inner(choices))
        case 4:
            return syntax.Iff(inner(choices), inner(choices))
        case 5:
            return syntax.Acyclic(variable(choices), variable(choices), inner(choices))
        case 6:
            return syntax.InMode(chance(choices, 50), inner(choices))
        case _:
            within = collection(choices) if chance(choices, 50) else None
            quantifier = pick(choices, tuple(syntax.Quantifier))
            return syntax.Quantified(quantifier, several(choices, variable, 1, 3), within, inner(choices))


def atom(choices: Choices) -> syntax.Formula:
    """A random atom."""
    match choices.integer(0, 7):
        case 0:
            return syntax.Call(pick(choices, WORDS))
        case 1:
            return syntax.Truth(chance(choices, 50))
        case 2:
            if chance(choices, 20):
                related = syntax.Relation(variable(choices), variable(choices), formula(choices, 1))
                return syntax.Call(pick(choices, WORDS), (related,))
            return syntax.Call(pick(choices, WORDS), several(choices, term, 0, 3))
        case 3:
            return syntax.Undetermined(pick(choices, ODD))
        case 4:
            return syntax.Member(term(choices), collection(choices))
        case 5:
            return syntax.Precedes(term(choices), term(choices), term(choices))
        case 6:
            return syntax.HappensBefore(term(choices), term(choices))
        case _:
            return syntax.Compare(pick(choices, tuple(syntax.Comparator)), term(choices), term(choices))


def collection(choices: Choices) -> syntax.Term:
    """What can stand after `in`."""
    match choices.integer(0, 2):
        case 0:
            return term(choices)
        case 1:
            return syntax.Shared(several(choices, term, 2, 3))
        case _:
            return syntax.EntitySet(
                several(choices, lambda c: name(c) if chance(c, 50) else syntax.Place(3), 1, 3)
            )


def term(choices: Choices, depth: int = 3) -> syntax.Term:
    """A random term of at most this depth."""
    if depth == 0 or chance(choices, 50):
        return _leaf(choices)

    def inner(choices: Choices) -> syntax.Term:
        return term(choices, depth - 1)

    def entity(choices: Choices) -> syntax.Term:
        """A whole number in `RL[...]` is a place."""
        found = inner(choices)
        whole = isinstance(found, syntax.Quantity) and found.unit is None and found.value.denominator == 1
        return syntax.Place(7) if whole else found

    match choices.integer(0, 7):
        case 7:
            return syntax.EntityLog(pick(choices, (syntax.LogKind.DL, syntax.LogKind.VL)), entity(choices))
        case 0:
            return syntax.Apply(pick(choices, WORDS), several(choices, inner, 0, 2))
        case 1:
            return syntax.EntityLog(syntax.LogKind.RL, entity(choices))
        case 2:
            return syntax.EntityLog(
                syntax.LogKind.SL, entity(choices), entity(choices) if chance(choices, 50) else None
            )
        case 3:
            return syntax.At(inner(choices), inner(choices))
        case 4:
            start, stop = pick(choices, ((False, True), (True, False), (True, True)))
            return syntax.Slice(
                inner(choices), inner(choices) if start else None, inner(choices) if stop else None
            )
        case 5:
            return syntax.Negative(inner(choices))
        case _:
            return syntax.Arithmetic(pick(choices, tuple(syntax.Operator)), inner(choices), inner(choices))


def _leaf(choices: Choices) -> syntax.Term:
    match choices.integer(0, 3):
        case 0:
            return name(choices)
        case 1:
            return quantity(choices)
        case 2:
            return syntax.Bound(pick(choices, ("delta", "epsilon")))
        case _:
            kind = pick(choices, tuple(kind for kind in syntax.LogKind if kind is not syntax.LogKind.H))
            return syntax.EntityLog(kind, syntax.Place(choices.integer(0, 12)))
