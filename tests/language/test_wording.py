"""What is said of names that there are not, and of what newcomers write."""

from __future__ import annotations

import pytest

from precedes.diagnostics import Diagnostic, PrecedesError
from precedes.language.compiling import compile_text
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.language.wording import FIELD, NAMES, candidates, intended, surely

LIBRARY = standard_library().names()


def told(text: str, where: str | None = None) -> tuple[Diagnostic, ...]:
    with pytest.raises(PrecedesError) as caught:
        requirement(text, standard_library(), where)
    return caught.value.diagnostics


def test_the_words_of_the_field_lead_to_names_that_there_are() -> None:
    assert {name for names in FIELD.values() for name in names} <= set(LIBRARY)
    words = [word for group in FIELD for word in group]
    assert len(words) == len(set(words))
    assert not set(words) & set(LIBRARY), "such a word would never be asked about"


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("st", "ST"),
        ("Causal_Order", "causal_order"),
        ("causal-order", "causal_order"),
        ("total_order", "order_equivalent"),
        ("TotalOrder", "order_equivalent"),
        ("fifo", "order_preserving"),
        ("at-most-once", "no_duplication"),
        ("exactly once", "no_duplication"),
        ("order_equivalant", "order_equivalent"),
    ],
)
def test_what_is_meant(word: str, first: str) -> None:
    assert candidates(word, LIBRARY)[0] == first


def test_capitals_come_before_the_field_and_the_field_before_spelling() -> None:
    assert candidates("FIFO", (*LIBRARY, "fifo")) == ("fifo",)
    assert candidates("total_order", LIBRARY) == ("order_equivalent", "TO", "ST")
    assert candidates("total_order", ("local_order",)) == ("local_order",)
    assert surely("locl_order", ("local_order",)) == ()


def test_the_hint_always_says_where_the_names_are() -> None:
    assert intended("zzz", LIBRARY) == NAMES
    assert intended("st", LIBRARY) == f"ST is meant? {NAMES}"
    assert intended("total_order", LIBRARY) == f"order_equivalent, TO or ST is meant? {NAMES}"


@pytest.mark.parametrize("text", ["total order", "at-most-once", "Causal Order"])
def test_a_name_of_several_words(text: str) -> None:
    (diagnostic,) = told(text)
    assert (diagnostic.code, "is meant?" in (diagnostic.hint or "")) == ("N001", True)


def test_formulas_of_several_words_are_formulas() -> None:
    assert requirement("ST and TO", standard_library()).name == "ST and TO"
    assert told("TO an ST")[0].code == "P004"


def test_it_is_said_where_the_text_came_from() -> None:
    assert told("nonsense", "--require")[0].render().startswith("--require:1:1: N001")
    assert told("(ST", "primary.py: claims")[0].render().startswith("primary.py: claims:1:")


def test_a_predicate_that_is_compared_is_one_mistake() -> None:
    (diagnostic,) = told("deadline <= 100ms")
    assert "--delta 100ms" in (diagnostic.hint or "")
    (diagnostic,) = told("forall p: 5s > deadline")
    assert "--delta 5s" in (diagnostic.hint or "")


def test_a_free_variable_is_to_be_bound() -> None:
    assert "forall i" in (told("forall p in RL[i]: sent(p)")[0].hint or "")


@pytest.mark.parametrize("entry", ["a", '"a b"', "a@1", "a{1}"])
def test_a_history_says_what_happens(entry: str) -> None:
    with pytest.raises(PrecedesError) as caught:
        compile_text(f"scenario s\ncluster E1\nH1: < !x {entry} ]\n")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["S017"]
    assert compile_text("scenario s\ncluster E1\nRL1: < a ]\n").scenarios
