"""What is said of names that there are not, and of what newcomers write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import precedes as package
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.suggestions import (
    FIELD,
    NAMES,
    did_you_mean,
    distance,
    intended,
    slips,
    suggestions,
    surely,
)
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.requirements import requirement

LIBRARY = standard_library().names()


def told(text: str, where: str | None = None) -> tuple[Diagnostic, ...]:
    with pytest.raises(PrecedesError) as caught:
        requirement(text, standard_library(), where)
    return caught.value.diagnostics


def test_the_words_of_the_field_lead_to_names_that_there_are() -> None:
    meanings = {name for names in FIELD.values() for name in names}
    assert {part for name in meanings for part in name.split(" and ")} <= set(LIBRARY)
    words = [word for group in FIELD for word in group]
    assert len(words) == len(set(words))
    assert not set(words) & set(LIBRARY), "such a word would never be asked about"
    for name in meanings:
        assert requirement(name, standard_library()).name == name


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("st", ("ST",)),
        ("TS", ("ST",)),
        ("OT", ("TO",)),
        ("SPP", ("SP",)),
        ("Causal_Order", ("causal_order",)),
        ("causal-order", ("causal_order",)),
        ("casual_order", ("causal_order",)),
        ("total_order", ("order_equivalent", "TO", "ST")),
        ("total_odrer", ("order_equivalent", "TO", "ST")),
        ("TotalOrder", ("order_equivalent", "TO", "ST")),
        ("fifo", ("fifo_delivery", "order_preserving")),
        ("FIFO order", ("fifo_delivery", "order_preserving")),
        ("atomic broadcast", ("TO", "ST")),
        ("at-most-once", ("no_duplication",)),
        ("exactly once", ("no_duplication and selectively_information_preserving",)),
        ("order_equivalant", ("order_equivalent",)),
        ("agreemnet", ("agreement",)),
        # Nothing is near: `reliable` has the same end as the first, and one letter of two is another word.
        ("linearizable", ()),
        ("serializable", ()),
        ("consistent", ()),
        ("SX", ()),
        ("S", ()),
        ("", ()),
        ("???", ()),
        ("zzz", ()),
        ("x" * 10_000, ()),
    ],
)
def test_what_is_meant(word: str, found: tuple[str, ...]) -> None:
    assert suggestions(word, LIBRARY, FIELD) == found


def test_capitals_come_before_the_field_and_the_field_before_spelling() -> None:
    assert suggestions("FIFO", (*LIBRARY, "fifo"), FIELD) == ("fifo",)
    assert suggestions("total_order", ("local_order", "TO"), FIELD) == ("TO",)
    assert suggestions("total_order", ("local_order",), FIELD) == ("local_order",)
    assert suggestions("locl_order", ("local_order",)) == ("local_order",)
    assert surely("locl_order", ("local_order",)) == ()


@pytest.mark.parametrize(
    ("word", "other", "number"),
    [
        ("ST", "TS", 1),
        ("ST", "SP", None),
        ("abc", "abd", 1),
        ("abcd", "badc", None),
        ("sender", "sednre", None),
        ("deliver", "delivre", 1),
        ("expect", "expect", 0),
        ("order_preserving", "ordre_preservnig", 2),
        ("order_preserving", "odrer_prseervnig", 3),
        ("a", "b", None),
        ("E1", "E2", None),
    ],
)
def test_slips(word: str, other: str, number: int | None) -> None:
    assert slips(word, other) == slips(other, word) == number


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_slips_are_as_they_are_defined(one: str, two: str) -> None:
    assert distance(one, two) == by_definition(one, two)


def by_definition(one: str, two: str) -> int:
    """Of the ways to align the ends of two words, the cheapest."""
    if not one or not two:
        return len(one) + len(two)
    ways = [
        by_definition(one[:-1], two) + 1,
        by_definition(one, two[:-1]) + 1,
        by_definition(one[:-1], two[:-1]) + (one[-1] != two[-1]),
    ]
    if len(one) > 1 and len(two) > 1 and (one[-1], one[-2]) == (two[-2], two[-1]):
        ways.append(by_definition(one[:-2], two[:-2]) + 1)
    return min(ways)


def test_one_wording() -> None:
    assert did_you_mean("st", LIBRARY) == "did you mean ST?"
    assert did_you_mean("STO", ("ST", "TO", "CO")) == "did you mean ST or TO?"
    assert did_you_mean("total_order", LIBRARY, FIELD) == "did you mean order_equivalent, TO or ST?"
    assert did_you_mean("linearizable", LIBRARY, FIELD) is None


def test_the_hint_always_says_where_the_names_are() -> None:
    assert intended("zzz", LIBRARY) == NAMES
    assert intended("st", LIBRARY) == f"did you mean ST? {NAMES}"


def test_nothing_else_suggests() -> None:
    """One module has the rule and the words for it."""
    folder = Path(package.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert {name for name, text in texts.items() if "did you mean {" in text} == {"suggestions.py"}
    assert not [name for name, text in texts.items() if "difflib" in text or " is meant?" in text]


@pytest.mark.parametrize("text", ["total order", "at-most-once", "Causal Order"])
def test_a_name_of_several_words(text: str) -> None:
    (diagnostic,) = told(text)
    assert (diagnostic.code, "did you mean " in (diagnostic.hint or "")) == ("N001", True)


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
