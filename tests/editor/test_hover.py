"""What is told of a place."""

from __future__ import annotations

import pytest

from precedes.editor.hover import note
from precedes.language.vocabulary import FUNCTIONS, KEYWORDS, RELATIONS, STATEMENTS, SYMBOLS
from tests.editor.texts import at

SCENARIO = """\
scenario s "a title"
cluster E1 E2 "node 3"
group w: E2 3
SL1: < a{2} b{group:w} ]
SL2: < c{} ]
H3: < view v{1,3} ?a ?b ?b ]
expect a <[RL1] b and w in dest(b) and v in VL[E1]
"""


def told(text: str) -> str | None:
    found = note(*at(text))
    return None if found is None else found.markdown


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("< a{2}", "< ¦a{2}", 'message a: sent by E1 to E2; delivered by "node 3"'),
        ("b and w", "¦b and w", 'message b: sent by E1 to group w; delivered by "node 3"'),
        ("c{}", "¦c{}", "message c: sent by E2 to nobody; delivered by nobody"),
        ('"node 3"', '"nod¦e 3"', 'entity "node 3", number 3 of the cluster'),
        ("H3", "¦H3", 'entity "node 3", number 3 of the cluster'),
        ("w in", "¦w in", 'group w: E2, "node 3"'),
        ("v in", "¦v in", 'view v: E1, "node 3"'),
        ("scenario s", "scenario ¦s", '```precedes\nscenario s "a title"\n```'),
    ],
)
def test_names_of_a_scenario(before: str, after: str, wanted: str) -> None:
    assert told(SCENARIO.replace(before, after, 1)) == wanted


def test_a_scenario_with_mistakes_still_says_what_a_name_is() -> None:
    assert told(SCENARIO.replace("< a{2}", "< ¦a{2}") + "expect STT\n") == "message a"


def test_a_definition_is_told_with_its_source() -> None:
    assert told("claim ¦ST implies SP") == (
        "```precedes\nservice ST := SP and order_equivalent\n```\n\n"
        "selective, totally ordered\n\n*1994, §2.4, definition*"
    )
    assert told('predicate ¦f "t" := true') == "```precedes\npredicate f := true\n```\n\nt"


def test_a_variable_has_a_sort() -> None:
    assert told("claim forall p: sent(¦p)") == "variable p: message"
    assert told("predicate f(¦x) := x in RL[x]") == "variable x"


def test_an_attribute_is_told_as_it_is_declared() -> None:
    assert told("claim ST per ¦key") == "```precedes\nattribute key of message: text\n```"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("claim ¦forall p: sent(p)", "every x and y in C"),
        ("claim ¦∀ p: sent(p)", "every x and y in C"),
        ("¦claim ST", "must be proved"),
        ("claim ¦sent(p)", "somebody sent p"),
        ("claim p ¦<[L] q", "both are in L and p comes first"),
        ("claim p in ¦RL[i]", "each message at its first delivery"),
        ("claim x ¦>= y", "of two times, two durations or two numbers"),
        ("¦group w: a", "entities that take messages for one another"),
    ],
)
def test_words_of_the_language(text: str, wanted: str) -> None:
    assert wanted in (told(text) or "")


@pytest.mark.parametrize("text", ["# ¦a comment", "¦", 'scenario s "ti¦tle"', "claim x ¦(y)"])
def test_of_other_places_nothing_is_told(text: str) -> None:
    assert told(text) is None


def test_every_word_has_a_note() -> None:
    from precedes.editor.hover import built_in, word

    without = {"SOURCE", "WITH", "UNKNOWN"}
    """They stand inside the form of another word."""
    assert {kind for kind in {*KEYWORDS.values(), *STATEMENTS} if not word(kind)} == without
    assert all(built_in(name) for name in (*FUNCTIONS, *RELATIONS))
    assert word(SYMBOLS["~>"])
