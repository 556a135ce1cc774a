"""Where names are introduced, and what another name changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError, Span
from precedes.editor.analysis import analyze
from precedes.editor.references import Edit, applied, definition, renamed
from tests.editor.texts import at

SCENARIO = (
    'scenario s\ncluster E1 E2\nSL1: < a b ]\nRL2: < b a ]\nexpect a <[RL2] b or a = "a"\nexpect f(RL2)\n'
)
DEFINED = "predicate f(L) := forall p, q in L: p = q or exists q: p ~> q\n"


def edited(text: str, name: str) -> str:
    analysis, line, column = at(text)
    return applied(analysis.text, renamed(analysis, line, column, name))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("scenario s\ncluster E1 E2\nSL1: < a ]\nRL2: < ¦a ]\n", 3, 8),
        ("scenario s\ncluster E1 E2\nSL1: < a{2¦} ]\n", 2, 12),
        ("scenario s\ncluster E1 E2\nRL2¦: < ]\n", 2, 12),
        ("scenario s\ncluster E1 E2\nRL1: < a ]\nRL2: < ¦a ]\n", 3, 8),
        ("predicate f(L) := forall p in L: exists p: p¦ in L\n", 1, 41),
        ("predicate f(L) := ¦g(L)\npredicate g(M) := true\n", 2, 11),
        ("attribute due of message: text\nclaim f per ¦due\n", 1, 11),
    ],
)
def test_a_name_is_introduced_in_the_text(text: str, line: int, column: int) -> None:
    place = definition(*at(text))
    assert place is not None
    assert (place.path, place.span.line, place.span.column) == (None, line, column)


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        ("claim ¦ST implies SP", "services.prec", "service ST"),
        ("claim ST per ¦key", "attributes.prec", "attribute key"),
        ("claim ¦kafka_partition implies SP", "kafka.prec", "service kafka_partition"),
    ],
)
def test_a_name_is_introduced_in_the_library(text: str, name: str, written: str) -> None:
    place = definition(*at(text))
    assert place is not None
    assert place.path is not None
    assert place.path.name == name
    line = Path(place.path).read_text(encoding="utf-8").splitlines()[place.span.line - 1]
    assert line.startswith(written)
    assert line[place.span.column - 1 : place.span.end_column - 1] == written.split()[1]


@pytest.mark.parametrize("text", ["¦claim ST", "claim f¦oo", "# ¦a\n", "¦", "claim ¦sent(p)"])
def test_what_is_introduced_nowhere(text: str) -> None:
    assert definition(*at(text)) is None


def test_a_message_gets_another_name() -> None:
    text = edited(SCENARIO.replace("< a b ]", "< ¦a b ]"), "a 2")
    assert text.splitlines()[2:5] == [
        'SL1: < "a 2" b ]',
        'RL2: < b "a 2" ]',
        'expect "a 2" <[RL2] b or "a 2" = "a 2"',
    ]


def test_an_entity_by_its_place_stays() -> None:
    text = edited("scenario s\ncluster ¦E1 E2\nH1: < !a{1,E1} ]\nexpect a in RL[E1]\n", "P")
    assert text == "scenario s\ncluster P E2\nH1: < !a{1,P} ]\nexpect a in RL[P]\n"


def test_a_variable_is_that_of_what_binds_it() -> None:
    assert edited(DEFINED.replace("p, q in", "p, ¦q in"), "r") == (
        "predicate f(L) := forall p, r in L: p = r or exists q: p ~> q\n"
    )


def test_a_definition_is_renamed_where_it_is_used() -> None:
    assert edited(DEFINED.replace("f(L)", "f¦(L)") + SCENARIO, "same") == (DEFINED + SCENARIO).replace(
        "f(", "same("
    )


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        (SCENARIO.replace("< a b ]", "< ¦a b ]"), "b", "b has another meaning here"),
        (DEFINED.replace("p, q in", "¦p, q in"), "q", "q has another meaning here"),
        (DEFINED.replace("f(L)", "f¦(L)"), "forall", "forall cannot be the name of a definition"),
        (DEFINED.replace("f(L)", "f¦(L)"), "two words", "two words cannot be the name of a definition"),
        (DEFINED.replace("f(L)", "f¦(L)"), "sent", "sent has another meaning here"),
        ("claim ¦ST implies SP", "x", "ST is not introduced in this file"),
        ("scenario s\ncluster E1 E2\nRL2: < a{¦2} ]\n", "x", "this is E2, by its place in the cluster"),
        ("¦claim ST", "x", "there is no name here"),
    ],
)
def test_a_name_that_cannot_be(text: str, name: str, told: str) -> None:
    analysis, line, column = at(text)
    with pytest.raises(PrecedesError, match=told):
        renamed(analysis, line, column, name)


def test_every_name_of_a_file_can_be_another() -> None:
    """And back again, which gives the same file."""
    text = (Path(__file__).parents[2] / "specs/library/crashes.prec").read_text(encoding="utf-8")[:900]
    first = analyze(text)
    places = {one.symbol: one.span for one in first.occurrences if one.defines}
    assert len(places) > 5
    for symbol, span in list(places.items())[:8]:
        other = applied(text, renamed(first, span.line, span.column, "another_name"))
        assert other != text
        again = analyze(other)
        assert applied(other, renamed(again, span.line, span.column, symbol.name)) == text


def test_edits_do_not_move_each_other() -> None:
    edits = (Edit(Span(1, 1, 3), "x"), Edit(Span(2, 1, 3), "yy"), Edit(Span(1, 6, 6), "-"))
    assert applied("ab cd\nef", edits) == "x cd-\nyy"
