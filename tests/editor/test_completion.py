"""What is suggested where."""

from __future__ import annotations

import pytest

from precedes.editor.completion import Role, suggestions
from precedes.language.vocabulary import EVERY, GROUP, KEYWORDS, STATEMENTS
from tests.editor.texts import at

FILE = """\
attribute due of message: time
predicate own(L) := true
scenario s
cluster E1 E2 "node 3"
group w: E1
SL1: < a{2} "b c" ]
H2: < view v{1} ]
"""


def suggested(text: str) -> list[str]:
    return [one.text for one in suggestions(*at(text)).found]


def with_role(text: str, role: Role) -> list[str]:
    return [one.text for one in suggestions(*at(text)).found if one.role is role]


def test_statements_where_a_line_begins() -> None:
    words = {word for word, kind in KEYWORDS.items() if kind in STATEMENTS and word.isascii()}
    assert set(suggested("¦")) == {*words, GROUP}
    assert words <= set(suggested("claim ST\nex¦"))
    assert not words & set(suggested("claim ST ¦")) - {"delta", "epsilon"}


def test_logs_that_are_missing() -> None:
    assert with_role(FILE + "¦", Role.LOG) == [
        *(f"SL{place}: < " for place in (2, 3)),
        *(f"RL{place}: < " for place in (1, 2, 3)),
        *(f"H{place}: < " for place in (1, 3)),
    ]


def test_what_the_grammar_allows() -> None:
    assert suggested("claim p ¦") == ["among", "and", "iff", "implies", "in", "or", "per"]
    assert "not" in suggested("claim ¦")
    assert "unknown" in suggested("expect ¦")
    assert "unknown" not in suggested("expect not ¦")
    assert suggested("find ST with ¦") == ["entities", "messages"]


def test_names_in_a_formula() -> None:
    found = suggestions(*at(FILE + "expect forall p, q in RL2: ¦")).found
    names = {one.text: one for one in found}
    assert [one.text for one in found if one.role is Role.VARIABLE] == ["p", "q"]
    assert {"own", "ST", "kafka_partition", "sent", "dest", "due(", "key(", "RL["} <= set(names)
    assert {"E1", '"node 3"', "a", '"b c"', "w", "v"} <= set(names)
    assert (names["ST"].detail, names["ST"].markdown) == ("service", "selective, totally ordered")
    assert len(names) == len(found)


def test_names_of_scenarios_are_in_scenarios_only() -> None:
    assert not {"E1", "a", "w"} & set(suggested(FILE + "claim ¦"))


@pytest.mark.parametrize(
    ("text", "role", "wanted"),
    [
        ("SL2: < ¦", Role.MESSAGE, ["a", '"b c"']),
        ("SL2: < a{¦", Role.ENTITY, ["E1", "E2", '"node 3"']),
        ("SL2: < a{1, ¦", Role.ENTITY, ["E1", "E2", '"node 3"']),
        ("SL2: < a{group:¦", Role.GROUP, ["w"]),
        ("SL2: < a^¦", Role.ENTITY, ["E1", "E2", '"node 3"']),
        ("RL[¦", Role.ENTITY, ["E1", "E2", '"node 3"']),
        ("H1: < ack(¦", Role.MESSAGE, ["a", '"b c"']),
        ("group x: ¦", Role.ENTITY, ["E1", "E2", '"node 3"']),
        ("expect ST among ¦", Role.ENTITY, ["E1", "E2", '"node 3"']),
        ("attribute x ¦", Role.SORT, ["of"]),
        ("attribute x of ¦", Role.SORT, ["message", "event"]),
        ("attribute x of event: ¦", Role.SORT, ["text", "number", "time", "duration"]),
        ("expect acyclic(x, y: ¦", Role.VARIABLE, ["x", "y"]),
        ("predicate f(L, M: log) := ¦", Role.VARIABLE, ["L", "M"]),
    ],
)
def test_names_where_they_can_stand(text: str, role: Role, wanted: list[str]) -> None:
    assert with_role(FILE + text, role) == wanted


def test_everything_of_a_sort() -> None:
    assert set(EVERY) <= set(with_role("claim forall p in ¦", Role.KEYWORD))
    assert not set(EVERY) & set(suggested("claim forall p: ¦"))


def test_attributes() -> None:
    assert with_role(FILE + "SL2: < a[¦", Role.ATTRIBUTE)[:3] == ["due", "key", "topic"]
    assert with_role("claim ST per ¦", Role.ATTRIBUTE) == with_role("claim ST per (key, ¦", Role.ATTRIBUTE)
    assert "redelivered" not in suggested("claim ST per ¦")
    assert "log" in suggested("predicate f(L: ¦")


def test_words_of_histories_are_in_histories_only() -> None:
    assert "crash" in suggested(FILE + "H1: < ¦")
    assert "crash" not in suggested(FILE + "SL2: < ¦")


@pytest.mark.parametrize(
    "text",
    [
        *("# ¦", "claim ST # s¦", 'scenario s "ti¦', "scenario ¦", "cluster a ¦", "claim forall ¦"),
        *("claim exists p, ¦", "predicate ¦", "attribute ¦", FILE + "SL2: < a[key=¦"),
    ],
)
def test_nothing_is_suggested_where_something_new_stands(text: str) -> None:
    assert suggested(text) == []


def test_the_word_that_was_begun_is_replaced() -> None:
    span = suggestions(*at("claim\n  ca¦usal")).span
    assert (span.line, span.column, span.end_column) == (2, 3, 5)
