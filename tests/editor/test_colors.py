"""The colors for editors: they know the words that the parser knows, and put none of them into the wrong place."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from precedes.language.errors import Mistakes
from precedes.language.parsing.lexer import scan
from precedes.language.vocabulary import FUNCTIONS, HISTORY_WORDS, KEYWORDS, RELATIONS, SYMBOLS, UNITS
from tools import colors

GRAMMAR = json.loads(colors.FILE.read_text(encoding="utf-8"))
MANIFEST = json.loads((colors.FILE.parents[1] / "package.json").read_text(encoding="utf-8"))


def test_the_file_is_current() -> None:
    assert colors.FILE.read_text(encoding="utf-8") == colors.text(), "python -m tools.colors"


def expressions(part: Any) -> list[str]:
    """Every expression in a part of the grammar."""
    if isinstance(part, list):
        return [each for one in part for each in expressions(one)]
    if not isinstance(part, dict):
        return []
    own = [part[key] for key in ("match", "begin", "end") if isinstance(part.get(key), str)]
    return own + [each for one in part.values() for each in expressions(one)]


def test_every_expression_is_one() -> None:
    found = expressions(GRAMMAR)
    assert len(found) > 15
    for each in found:
        re.compile(each)


def scope(text: str, place: int = 0) -> str:
    """What the first rule of the grammar that fits says of the word at a place; the earliest rule wins."""
    for name in (one["include"].removeprefix("#") for one in GRAMMAR["patterns"]):
        rule = GRAMMAR["repository"][name]
        found = re.compile(rule.get("match") or rule["begin"]).match(text, place)
        if found and found.end() > place:
            captures = rule.get("captures", rule.get("beginCaptures"))
            return str(captures["1"]["name"] if captures else rule["name"])
    return ""


@pytest.mark.parametrize("word", KEYWORDS)
def test_every_reserved_word_has_a_color(word: str) -> None:
    [*_, statement] = scan(f"{word} x", Mistakes(None, ()))
    assert statement.tokens[0].type == KEYWORDS[word]
    assert re.match(r"keyword|constant", scope(f"{word} x")), word


def test_every_other_word_and_sign_has_a_color() -> None:
    inside = [
        one
        for one in GRAMMAR["repository"]["log"]["patterns"]
        if one.get("name", "").startswith("keyword.other")
    ]
    assert [
        word for word in HISTORY_WORDS if not any(re.fullmatch(one["match"], word) for one in inside)
    ] == []
    assert {scope(f"{name}(p)") for name in (*FUNCTIONS, *RELATIONS)} == {"support.function.precedes"}
    assert {scope(f"10{unit} ") for unit in UNITS} == {"constant.numeric.precedes"}
    brackets = {"(", ")", "[", "]", "{", "}", "\\{", "\\}", ",", ":"}
    assert {sign for sign in SYMBOLS if not scope(f"{sign} x").startswith("keyword.operator")} == brackets


@pytest.mark.parametrize("text", ["forallx", "expected", "nots", "E1", "x"])
def test_names_have_none(text: str) -> None:
    assert scope(f"{text} ") == ""


def test_the_extension_names_files_that_there_are() -> None:
    folder = colors.FILE.parents[1]
    contributed = MANIFEST["contributes"]
    paths = [
        contributed["grammars"][0]["path"],
        contributed["languages"][0]["configuration"],
        MANIFEST["main"],
    ]
    assert all((folder / path).is_file() for path in paths)
    assert contributed["grammars"][0]["scopeName"] == GRAMMAR["scopeName"]
    assert contributed["languages"][0]["extensions"] == [f".{each}" for each in GRAMMAR["fileTypes"]]
    json.loads((folder / "language-configuration.json").read_text(encoding="utf-8"))


def test_the_bracket_that_ends_a_log_closes_none() -> None:
    [grammar] = MANIFEST["contributes"]["grammars"]
    ends = GRAMMAR["repository"]["log"]["endCaptures"]["0"]["name"]
    assert any(ends.startswith(f"{scope}.") for scope in grammar["unbalancedBracketScopes"])
